package sr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// seen is a request as a registry saw it.
type seen struct {
	Method, URI, Body string
	Header            http.Header
}

// registry answers what a test says and keeps what it was asked.
type registry struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func serve(t *testing.T, answer http.HandlerFunc) *registry {
	t.Helper()
	r := &registry{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.seen = append(r.seen, seen{q.Method, q.RequestURI, string(body), q.Header.Clone()})
		r.mu.Unlock()
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *registry) requests() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.seen...)
}

func body(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.schemaregistry.v1+json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// client makes a client that notes how long it would wait instead of waiting.
func client(t *testing.T, o sr.Options) (*sr.Client, *[]time.Duration) {
	t.Helper()
	c, err := sr.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	waits := &[]time.Duration{}
	c.SetWait(func(ctx context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return ctx.Err()
	})
	return c, waits
}

var ctx = context.Background()

func TestErrorsWrapSentinels(t *testing.T) {
	t.Parallel()
	all := []error{schemas.ErrSubjectUnknown, schemas.ErrVersionUnknown, schemas.ErrSchemaUnknown, schemas.ErrUnreachable, schemas.ErrRefused, schemas.ErrUnintelligible}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   error
		code   int
	}{
		{"subject", 404, `{"error_code":40401,"message":"Subject 'a' not found."}`, schemas.ErrSubjectUnknown, 40401},
		{"version", 404, `{"error_code":40402,"message":"x"}`, schemas.ErrVersionUnknown, 40402},
		{"schema", 404, `{"error_code":40403,"message":"x"}`, schemas.ErrSchemaUnknown, 40403},
		{"no own config", 404, `{"error_code":40408,"message":"x"}`, nil, 40408},
		{"no such path", 404, `{"error_code":404,"message":"HTTP 404 Not Found"}`, schemas.ErrUnintelligible, 404},
		{"a web server's 404", 404, `<html>not here</html>`, schemas.ErrUnintelligible, 0},
		{"unauthorized", 401, `{"error_code":401,"message":"x"}`, schemas.ErrRefused, 401},
		{"unauthorized, plug-in", 401, `{"error_code":40101,"message":"x"}`, schemas.ErrRefused, 40101},
		{"unauthorized, HTML", 401, `<html>`, schemas.ErrRefused, 0},
		{"forbidden", 403, `{"error_code":40301,"message":"x"}`, schemas.ErrRefused, 40301},
		{"timeout", 408, ``, schemas.ErrUnreachable, 0},
		{"too many", 429, `{"error_code":429,"message":"x"}`, schemas.ErrUnreachable, 429},
		{"internal", 500, `{"error_code":50001,"message":"x"}`, schemas.ErrUnreachable, 50001},
		{"bad gateway, HTML", 502, `<html>bad gateway</html>`, schemas.ErrUnreachable, 0},
		{"unavailable", 503, ``, schemas.ErrUnreachable, 0},
		{"gateway timeout", 504, ``, schemas.ErrUnreachable, 0},
		{"incompatible", 409, `{"error_code":409,"message":"x"}`, nil, 409},
		{"invalid", 422, `{"error_code":42201,"message":"x"}`, nil, 42201},
		{"redirect", 302, ``, schemas.ErrUnintelligible, 0},
		{"captive portal", 200, `<html>log in</html>`, schemas.ErrUnintelligible, 0},
		{"no schema in it", 200, `{"subject":"a"}`, schemas.ErrUnintelligible, 0},
		{"unknown type", 200, `{"schema":"x","schemaType":"XSD"}`, schemas.ErrUnintelligible, 0},
		{"bad guid", 200, `{"schema":"x","guid":"nope"}`, schemas.ErrUnintelligible, 0},
		{"wrong member type", 200, `{"schema":7}`, schemas.ErrUnintelligible, 0},
		{"empty answer", 200, ``, schemas.ErrUnintelligible, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, body(tt.status, tt.body))
			c, _ := client(t, sr.Options{URLs: []string{r.URL}})
			_, err := c.ByID(ctx, schemas.ID{Number: 7})
			var e *sr.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v is no *sr.Error", err)
			}
			for _, s := range all {
				if want := errors.Is(s, tt.want); errors.Is(err, s) != want {
					t.Errorf("errors.Is(%v, %v) is not %v", err, s, want)
				}
			}
			if e.Status != tt.status || e.Code != tt.code {
				t.Errorf("status %d, code %d", e.Status, e.Code)
			}
			if !strings.Contains(err.Error(), "/schemas/ids/7") {
				t.Errorf("%q does not say what was asked", err)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	get := func(c *sr.Client) error { _, err := c.Types(ctx); return err }
	register := func(c *sr.Client) error {
		_, err := c.Register(ctx, schemas.ParseSubject("a"), sr.Registration{Source: schemas.Source{Type: schemas.Avro, Text: `"string"`}})
		return err
	}
	remove := func(c *sr.Client) error {
		_, err := c.DeleteVersion(ctx, schemas.ParseSubject("a"), 1, false)
		return err
	}
	for _, tt := range []struct {
		name   string
		status int
		call   func(*sr.Client) error
		want   int
	}{
		{"408", 408, get, 3},
		{"429", 429, get, 3},
		{"500", 500, get, 3},
		{"502", 502, get, 3},
		{"503", 503, get, 3},
		{"504", 504, get, 3},
		{"501 is final", 501, get, 1},
		{"404 is final", 404, get, 1},
		{"401 is final", 401, get, 1},
		{"registering may be repeated", 500, register, 3},
		{"deleting may not", 500, remove, 1},
		{"deleting was refused unseen", 503, remove, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, body(tt.status, `{"error_code":1,"message":"x"}`))
			c, waits := client(t, sr.Options{URLs: []string{r.URL}})
			if err := tt.call(c); err == nil {
				t.Fatal("no error")
			}
			if n := len(r.requests()); n != tt.want || len(*waits) != tt.want-1 {
				t.Errorf("%d requests and %d waits, want %d tries", n, len(*waits), tt.want)
			}
			for i, d := range *waits {
				if bound := 200 * time.Millisecond << i; d < 0 || d >= bound {
					t.Errorf("wait %d is %v, want under %v", i, d, bound)
				}
			}
		})
	}
}

func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	n := 0
	r := serve(t, func(w http.ResponseWriter, q *http.Request) {
		if n++; n < 3 {
			body(503, ``)(w, q)
			return
		}
		body(200, `["AVRO"]`)(w, q)
	})
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	types, err := c.Types(ctx)
	if err != nil || len(types) != 1 {
		t.Fatalf("%v, %v", types, err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, header string
		tries        int
		atLeast      time.Duration
		told         time.Duration
	}{
		{"seconds", "2", 3, 2 * time.Second, 2 * time.Second},
		{"too long to wait", "3600", 1, 0, time.Hour},
		{"nonsense", "soon", 3, 0, 0},
		{"negative", "-1", 3, 0, 0},
		{"a date that is past", "Mon, 02 Jan 2006 15:04:05 GMT", 3, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Retry-After", tt.header)
				body(429, `{"error_code":429,"message":"x"}`)(w, q)
			})
			c, waits := client(t, sr.Options{URLs: []string{r.URL}})
			_, err := c.Types(ctx)
			var e *sr.Error
			if !errors.As(err, &e) || e.RetryAfter != tt.told {
				t.Fatalf("%v", err)
			}
			if n := len(r.requests()); n != tt.tries {
				t.Errorf("%d tries, want %d", n, tt.tries)
			}
			for _, d := range *waits {
				if d < tt.atLeast {
					t.Errorf("waited %v, was asked for %v", d, tt.atLeast)
				}
			}
		})
	}
}

func TestNextURL(t *testing.T) {
	t.Parallel()
	dead := httptest.NewServer(nil)
	dead.Close()
	r := serve(t, body(200, `["AVRO"]`))
	c, waits := client(t, sr.Options{URLs: []string{dead.URL, r.URL}})
	for range 2 {
		if _, err := c.Types(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if len(*waits) != 0 {
		t.Errorf("waited %v before the next URL", *waits)
	}
	c, _ = client(t, sr.Options{URLs: []string{dead.URL}})
	if _, err := c.Types(ctx); !errors.Is(err, schemas.ErrUnreachable) {
		t.Errorf("a dead registry: %v", err)
	}
	// Nothing was sent to a dead address, so even a delete goes on to the next.
	r2 := serve(t, body(200, `1`))
	c, _ = client(t, sr.Options{URLs: []string{dead.URL, r2.URL}})
	if v, err := c.DeleteVersion(ctx, schemas.ParseSubject("a"), 1, false); err != nil || v != 1 {
		t.Errorf("delete over the second URL = %d, %v", v, err)
	}
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	left, leave := context.WithCancel(ctx)
	defer leave()
	r := serve(t, func(_ http.ResponseWriter, q *http.Request) {
		leave()
		select {
		case <-hang:
		case <-q.Context().Done():
		}
	})
	defer close(hang)
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	_, err := c.Types(left)
	if !errors.Is(err, schemas.ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller's end: %v", err)
	}
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests after the caller left", n)
	}
	c, _ = client(t, sr.Options{URLs: []string{r.URL}, Timeout: 20 * time.Millisecond})
	if _, err = c.Types(ctx); !errors.Is(err, schemas.ErrUnreachable) {
		t.Errorf("the client's own timeout: %v", err)
	}
}

func TestAnswerLimit(t *testing.T) {
	t.Parallel()
	r := serve(t, body(200, `["`+strings.Repeat("a", 5000)+`"]`))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}, Answer: 1000})
	if _, err := c.Types(ctx); !errors.Is(err, schemas.ErrUnintelligible) || !strings.Contains(err.Error(), "1000") {
		t.Errorf("an answer over the limit: %v", err)
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	r := serve(t, body(200, `[]`))
	withUser := strings.Replace(r.URL, "http://", "http://ana:s3cret@", 1)
	for _, tt := range []struct {
		name string
		o    sr.Options
		want string
	}{
		{"none", sr.Options{URLs: []string{r.URL}}, ""},
		{"basic", sr.Options{URLs: []string{r.URL}, User: "ana", Password: "s3cret"}, "Basic YW5hOnMzY3JldA=="},
		{"in the URL", sr.Options{URLs: []string{withUser}}, "Basic YW5hOnMzY3JldA=="},
		{"bearer", sr.Options{URLs: []string{r.URL}, Token: sr.StaticToken("t0ken")}, "Bearer t0ken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := client(t, tt.o)
			if _, err := c.Types(ctx); err != nil {
				t.Fatal(err)
			}
			all := r.requests()
			if got := all[len(all)-1].Header.Get("Authorization"); got != tt.want {
				t.Errorf("Authorization: %q, want %q", got, tt.want)
			}
		})
	}
	c, _ := client(t, sr.Options{URLs: []string{r.URL}, Token: func(context.Context) (string, error) { return "", errors.New("no token today") }})
	if _, err := c.Types(ctx); !errors.Is(err, schemas.ErrRefused) || !strings.Contains(err.Error(), "no token today") {
		t.Errorf("a token that cannot be had: %v", err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	c, _ = client(t, sr.Options{URLs: []string{strings.Replace(gone.URL, "http://", "http://ana:s3cret@", 1)}})
	if _, err := c.Types(ctx); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("an error tells the password: %v", err)
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    sr.Options
	}{
		{"no URL", sr.Options{}},
		{"no scheme", sr.Options{URLs: []string{"localhost:8081"}}},
		{"ftp", sr.Options{URLs: []string{"ftp://localhost"}}},
		{"no host", sr.Options{URLs: []string{"http://"}}},
		{"query", sr.Options{URLs: []string{"http://localhost?a=b"}}},
		{"unparsable", sr.Options{URLs: []string{"http://ana:s3cret@local host"}}},
		{"user and token", sr.Options{URLs: []string{"http://localhost"}, User: "a", Token: sr.StaticToken("t")}},
	} {
		if _, err := sr.New(tt.o); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFoundIsWhole(t *testing.T) {
	t.Parallel()
	answer := `{"subject":":.eu:orders-value","version":3,"id":9,"guid":"095D71CF-1255-6B9D-5E33-0AD575B3DF5D","schemaType":"PROTOBUF",
	"references":[{"name":"a.proto","subject":"a","version":1}],
	"metadata":{"tags":{"x":["PII"]},"properties":{"owner":"me"},"sensitive":["owner"]},
	"ruleSet":{"migrationRules":[{"name":"m","type":"JSONATA","mode":"UPGRADE","kind":"TRANSFORM","disabled":true}],"enableAt":"ALL"},
	"schema":"syntax = \"proto3\";","ts":1767225600123,"deleted":true,"unknownMember":{}}`
	r := serve(t, body(200, answer))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	got, err := c.ByVersion(ctx, schemas.ParseSubject(":.eu:orders-value"), 3)
	if err != nil {
		t.Fatal(err)
	}
	guid, _ := schemas.ParseGUID("095d71cf-1255-6b9d-5e33-0ad575b3df5d")
	want := schemas.Found{
		Subject: schemas.Subject{Context: ".eu", Name: "orders-value"}, Version: 3, ID: schemas.ID{Context: ".eu", Number: 9}, GUID: guid,
		Source:   schemas.Source{Type: schemas.Protobuf, Text: `syntax = "proto3";`, References: []schemas.Reference{{Name: "a.proto", Subject: "a", Version: 1}}},
		Metadata: &schemas.Metadata{Tags: map[string][]string{"x": {"PII"}}, Properties: map[string]string{"owner": "me"}, Sensitive: []string{"owner"}},
		RuleSet:  &schemas.RuleSet{Migration: []schemas.ContractRule{{Name: "m", Type: "JSONATA", Mode: "UPGRADE", Kind: "TRANSFORM", Disabled: true}}, EnableAt: "ALL"},
		Deleted:  true, Time: time.UnixMilli(1767225600123).UTC(),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOldRegistries(t *testing.T) {
	t.Parallel()
	r := serve(t, func(w http.ResponseWriter, q *http.Request) {
		switch {
		case strings.HasSuffix(q.URL.Path, "/versions"):
			body(200, `{"id":7}`)(w, q)
		case q.Method == http.MethodPost:
			body(200, `{"subject":"a","version":4,"id":7,"schema":"\"int\""}`)(w, q)
		default:
			body(200, `{"schema":"\"int\""}`)(w, q)
		}
	})
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	f, err := c.Register(ctx, schemas.ParseSubject("a"), sr.Registration{Source: schemas.Source{Type: schemas.Avro, Text: `"int"`}})
	if err != nil || f.Version != 4 || f.ID.Number != 7 {
		t.Errorf("an answer of the id alone: %+v, %v", f, err)
	}
	f, err = c.ByID(ctx, schemas.ID{Number: 7})
	if err != nil || f.Source.Type != schemas.Avro || f.ID.Number != 7 || f.ID.Context != schemas.DefaultContext || f.GUID != (schemas.GUID{}) {
		t.Errorf("an answer of the text alone: %+v, %v", f, err)
	}
}

func TestSilenceIsNoYes(t *testing.T) {
	t.Parallel()
	r := serve(t, body(200, `{}`))
	c, _ := client(t, sr.Options{URLs: []string{r.URL}})
	got, err := c.CheckAll(ctx, schemas.ParseSubject("a"), sr.Registration{}, false)
	if got.Compatible || !errors.Is(err, schemas.ErrUnintelligible) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := c.SetConfig(ctx, sr.Global, sr.Config{Level: "FULL"}, "compatibility"); err == nil {
		t.Error("a member was both set and cleared")
	}
}

func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"subject": "orders-value", "version": 3, "id": 7, "schema": `"string"`})
	}))
	defer server.Close()

	client, err := sr.New(sr.Options{URLs: []string{server.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := client.Latest(context.Background(), schemas.ParseSubject("orders-value"))
	switch {
	case errors.Is(err, schemas.ErrSubjectUnknown):
		fmt.Println("nobody registered it")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(found.Subject, found.Version, found.ID, found.Source.Text)
	}
	// Output: orders-value 3 7 "string"
}

func TestErrorSaysEachFactOnce(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*sr.Error{
		"ask the registry: GET http://r/x: code 40402: Version 9 not found":                      {Status: 404, Code: 40402, Message: "Version 9 not found.", Err: schemas.ErrVersionUnknown},
		"ask the registry: GET http://r/x: status 401: who are you: registry refused the caller": {Status: 401, Code: 401, Message: "who are you", Err: schemas.ErrRefused},
		"ask the registry: GET http://r/x: status 418, code 42205: no":                           {Status: 418, Code: 42205, Message: "no"},
		"ask the registry: GET http://r/x: status 404: subject is unknown":                       {Status: 404, Err: schemas.ErrSubjectUnknown},
		"ask the registry: GET http://r/x: registry is unreachable":                              {Err: schemas.ErrUnreachable},
	} {
		e.Method, e.URL = "GET", "http://r/x"
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
