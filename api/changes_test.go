package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
)

// everything makes an event of nearly every kind, each in a request that has its
// number as id.
func (c *client) everything() {
	c.t.Helper()
	secret := map[string]any{"properties": map[string]any{"password": "hunter2"}, "sensitive": []string{"password"}}
	for i, r := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/subjects/s/versions", map[string]any{"schema": `"string"`, "metadata": secret}},
		{"PUT", "/config/s", map[string]any{"compatibility": "NONE", "overrideMetadata": secret}},
		{"PUT", "/config/s", `{"compatibility":"FULL"}`},
		{"PUT", "/config", `{"compatibility":"NONE"}`},
		{"DELETE", "/config", nil},
		{"PUT", "/mode/s", `{"mode":"READONLY"}`},
		{"PUT", "/mode/s", `{"mode":null}`},
		{"POST", "/contexts/.c/subjects/t/versions", schema(`"int"`)},
		{"DELETE", "/subjects/:.c:t/versions/1", nil},
		{"DELETE", "/subjects/:.c:t?permanent=true", nil},
		{"DELETE", "/contexts/.c", nil},
		{"POST", "/subjects/s/versions/1/tags", `{"metadata":{"properties":{"owner":"me"}}}`},
		{"PUT", "/api/v1/exceptions?subject=s", `{"exceptions":[{"fingerprint":"0123456789abcdef0123456789abcdef","reason":"nobody reads it","owner":"me","until":"2026-12-31T00:00:00Z"}]}`},
		{"DELETE", "/api/v1/exceptions?subject=s", nil},
		{"PUT", "/mode?force=true", `{"mode":"IMPORT"}`},
		{"DELETE", "/mode?recursive=true", nil},
		{"DELETE", "/subjects/s", nil},
	} {
		c.header = http.Header{"X-Request-Id": {fmt.Sprint("r-", i)}}
		if a := c.do(r.method, r.path, r.body); a.status >= 300 {
			c.t.Fatalf("%s %s: %s", r.method, r.path, a)
		}
	}
	c.header = http.Header{}
}

type change struct {
	Revision             int
	Time, Actor, Request string
	Kind, Subject        string
	Before, After        json.RawMessage
}

// The feed tells who asked for what, in which request, before and after; in
// pages, and without secrets.
func TestChanges(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.everything()
	var all []change
	for next := 0; ; {
		a := c.do("GET", fmt.Sprintf("/api/v1/changes?limit=4&after=%d", next), nil)
		if strings.Contains(a.body, "hunter2") {
			t.Errorf("a secret is told: %s", a)
		}
		var page struct {
			Changes   []change
			Next, End int
		}
		if err := json.Unmarshal([]byte(a.body), &page); err != nil || a.status != 200 {
			t.Fatalf("%s: %v", a, err)
		}
		all = append(all, page.Changes...)
		if len(page.Changes) == 0 {
			if page.Next != page.End || len(all) != page.End {
				t.Errorf("the end is %d and %d, after %d changes", page.Next, page.End, len(all))
			}
			break
		}
		next = page.Next
	}
	seen := map[string]bool{}
	for i, one := range all {
		seen[one.Kind] = true
		if one.Revision != i+1 || one.Time != "2026-01-01T00:00:00.000Z" || one.Actor != "anonymous" || i > 0 && !strings.HasPrefix(one.Request, "r-") {
			t.Errorf("change %d: %+v", i+1, one)
		}
	}
	for _, kind := range registry.Kinds() {
		if !seen[kind] && kind != registry.KindMarksSet { // which only an empty registry takes
			t.Errorf("no change is %s", kind)
		}
	}
	if got := string(all[3].Before) + string(all[3].After); !strings.Contains(got, `"compatibility":"NONE"`) || !strings.Contains(got, `"compatibility":"FULL"`) || all[3].Subject != "s" {
		t.Errorf("the third change: %+v %s", all[3], got)
	}
	var whole struct{ Changes []change }
	if err := json.Unmarshal([]byte(c.do("GET", "/api/v1/changes", nil).body), &whole); err != nil || len(whole.Changes) != len(all) {
		t.Errorf("one page has %d of %d changes, %v", len(whole.Changes), len(all), err)
	}
	for _, row := range []struct {
		query string
		code  int
	}{{"after=999", 400}, {"after=x", 404}, {"after=-1", 404}, {"limit=x", 404}, {"limit=-1", 0}, {"after=&limit=", 0}, {"after=99999999999999999999", 404}} {
		if a := c.do("GET", "/api/v1/changes?"+row.query, nil); a.code != row.code {
			t.Errorf("%s: want %d, got %s", row.query, row.code, a)
		}
	}
}

// events reads a stream: "comment" or "id kind".
type events struct {
	*http.Response
	lines *bufio.Scanner
}

func (c *client) stream(ctx context.Context, address, query string, header http.Header) (*events, error) {
	q, err := http.NewRequestWithContext(ctx, "GET", "http://"+address+"/api/v1/changes"+query, nil)
	if err != nil {
		return nil, err
	}
	q.Header = header.Clone()
	if q.Header == nil {
		q.Header = http.Header{}
	}
	q.Header.Set("Accept", "text/event-stream")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	return &events{r, bufio.NewScanner(r.Body)}, nil
}

// next is the next event; "" is the end of the stream.
func (e *events) next() string {
	id, kind, data := "", "", ""
	for e.lines.Scan() {
		switch name, value, _ := strings.Cut(e.lines.Text(), ": "); name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "", ":":
			if id == "" {
				if e.lines.Text() != "" {
					return "comment"
				}
				continue
			}
			if !json.Valid([]byte(data)) {
				return "broken " + data
			}
			return id + " " + kind
		}
	}
	return ""
}

// event is the next event that is no comment.
func (e *events) event() string {
	for {
		if got := e.next(); got != "comment" {
			return got
		}
	}
}

// A stream begins where it is told to, goes on as the registry changes, beats,
// and ends cleanly when the server stops.
func TestStreamOfChanges(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.server.Observe(nil) // streams end while others are asked
	open := c.server.Streams(20*time.Millisecond, 5*time.Second)
	address, served := c.serve()
	c.send("POST", "/subjects/s/versions", schema(`"string"`))
	for _, row := range []struct {
		query  string
		header http.Header
		want   []string
	}{
		{"", nil, []string{"1 installed", "2 version-registered"}},
		{"?after=1", nil, []string{"2 version-registered"}},
		{"?after=0", http.Header{"Last-Event-Id": {"1"}}, []string{"2 version-registered"}},
		{"?after=2", nil, nil},
	} {
		e, err := c.stream(t.Context(), address, row.query, row.header)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Header.Get("Content-Type"); got != "text/event-stream" || e.StatusCode != 200 {
			t.Errorf("%d %s", e.StatusCode, got)
		}
		for _, want := range row.want {
			if got := e.event(); got != want {
				t.Errorf("%s %v: got %q, want %q", row.query, row.header, got, want)
			}
		}
		if got := e.next(); got != "comment" {
			t.Errorf("the heartbeat is %q", got)
		}
		_ = e.Body.Close()
	}
	e, err := c.stream(t.Context(), address, "?after=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Body.Close()
	for i, want := range []string{"3 config-set", "4 config-set"} {
		c.send("PUT", "/config/s", fmt.Sprintf(`{"compatibility":%q}`, []string{"NONE", "FULL"}[i]))
		if got := e.event(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// Those who went are noticed.
	for deadline := time.Now().Add(10 * time.Second); open() > 1 && time.Now().Before(deadline); {
		e.next()
	}
	if n := open(); n != 1 {
		t.Errorf("%d streams are open", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		t.Errorf("a stream holds the server: %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if got := e.event(); got != "" || e.lines.Err() != nil {
		t.Errorf("after the end: %q, %v", got, e.lines.Err())
	}
}

// Streams refuse as every request does, and are bounded in number.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.server.Observe(nil) // streams end while others are asked
	address, _ := c.serve()
	defer c.server.Shutdown(context.Background())
	for query, want := range map[string]int{"?after=x": 404, "?after=99": 400} {
		e, err := c.stream(t.Context(), address, query, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(e.Body)
		if e.StatusCode != want || !strings.Contains(string(body), `"error_code":`+fmt.Sprint(want)) {
			t.Errorf("%s: %d %s", query, e.StatusCode, body)
		}
		_ = e.Body.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range api.MostStreams {
		e, err := c.stream(ctx, address, "", nil)
		if err != nil || e.StatusCode != 200 {
			t.Fatal(err, e)
		}
		defer e.Body.Close()
	}
	e, err := c.stream(ctx, address, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Body.Close()
	if e.StatusCode != 503 || e.Header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %d %v", e.StatusCode, e.Header)
	}
}

// A reader that takes nothing is dropped; it can come back to where it was.
func TestSlowReadersAreDropped(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.server.Observe(nil) // streams end while others are asked
	open := c.server.Streams(time.Millisecond, 20*time.Millisecond)
	address, _ := c.serve()
	defer c.server.Shutdown(context.Background())
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(1 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /api/v1/changes HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\r\n")
	// Enough changes to fill what lies between: long metadata, set and cleared.
	long := strings.Repeat("x", 256<<10)
	dropped := false
	for i := 0; i < 200 && !dropped; i++ {
		c.send("PUT", "/config/s", map[string]any{"overrideMetadata": map[string]any{"properties": map[string]any{"p": long + fmt.Sprint(i)}}})
		dropped = i > 10 && open() == 0
	}
	for deadline := time.Now().Add(10 * time.Second); open() > 0 && time.Now().Before(deadline); {
		c.send("PUT", "/config/s", `{"compatibility":"NONE"}`)
		c.send("PUT", "/config/s", `{"compatibility":null}`)
	}
	if n := open(); n != 0 {
		t.Errorf("%d streams are open to a reader that takes nothing", n)
	}
}

// Whoever does not name the event stream gets pages.
func TestChangesNegotiate(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, accept := range []string{"", "*/*", "text/*, application/json", "text/event-stream;q=0, */*"} {
		c.header = http.Header{"Accept": {accept}}
		if a := c.do("GET", "/api/v1/changes", nil); !slices.Contains([]string{vendorV1, plain, vendor}, a.header.Get("Content-Type")) {
			t.Errorf("%q is answered with %s", accept, a.header.Get("Content-Type"))
		}
	}
	c.header = http.Header{"Accept": {"text/event-stream"}}
	c.fails(c.do("GET", "/subjects", nil), 406)
}
