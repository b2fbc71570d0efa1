package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

var update = flag.Bool("update", false, "write the goldens anew")

// epoch is the moment at which every test registers.
var epoch = time.UnixMilli(1767225600000).UTC()

// client asks one server of its own, and holds every answer against the rules
// that bind all of them.
type client struct {
	t      testing.TB
	server *api.Server
	header http.Header
	route  atomic.Pointer[api.Route] // that answered last
}

func openRegistry(t testing.TB) *registry.Registry {
	t.Helper()
	journal, err := sqlite.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, journal)
}

func openOn(t testing.TB, journal registry.Journal) *registry.Registry {
	t.Helper()
	r := open(t, journal)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("closing the registry: %v", err)
		}
	})
	return r
}

// open leaves closing to the caller.
func open(t testing.TB, journal registry.Journal) *registry.Registry {
	t.Helper()
	r, err := registry.Open(context.Background(), journal, registry.Options{
		Formats:  []schemas.Format{avro.Format, jsonschema.Format, protobuf.Format},
		Checkers: checkers.All(),
		Now:      func() time.Time { return epoch },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newClient(t testing.TB, o api.Options) *client {
	t.Helper()
	c := &client{t: t, server: api.New(openRegistry(t), o), header: http.Header{}}
	c.server.Observe(func(r *api.Route, _, _ int) { c.route.Store(r) })
	return c
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	code   int // error_code, 0 for none
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

func (a answer) json(t testing.TB) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("the body %q is no JSON: %v", a.body, err)
	}
	return v
}

func (a answer) member(t testing.TB, name string) any {
	t.Helper()
	o, _ := a.json(t).(map[string]any)
	return o[name]
}

// do sends a request and judges the answer. A body that is no string is sent as
// JSON; nil is none.
func (c *client) do(method, path string, body any) answer {
	c.t.Helper()
	c.route.Store(nil)
	a := c.send(method, path, body)
	c.judge(method, path, &a)
	return a
}

// send only sends; many callers may at once.
func (c *client) send(method, path string, body any) answer {
	c.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			c.t.Error(err)
		}
		in = bytes.NewReader(text)
	}
	r := httptest.NewRequestWithContext(context.Background(), method, path, in)
	for name, values := range c.header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	return answer{status: w.Code, header: w.Header(), body: w.Body.String()}
}

// judge holds an answer against what binds every answer.
func (c *client) judge(method, path string, a *answer) {
	c.t.Helper()
	asked := method + " " + path
	if a.header.Get("X-Request-Id") == "" {
		c.t.Errorf("%s: no X-Request-ID", asked)
	}
	if a.header.Get("Cache-Control") == "" {
		c.t.Errorf("%s: no Cache-Control", asked)
	}
	if a.status >= 500 && a.status != 503 {
		c.t.Errorf("%s: %s", asked, a)
	}
	if method == http.MethodHead || a.status == 204 || a.status == 304 {
		if a.body != "" {
			c.t.Errorf("%s: %d with a body %q", asked, a.status, a.body)
		}
		return
	}
	if a.header.Get("Content-Encoding") != "" {
		return
	}
	if a.status != 200 {
		c.refused(asked, a)
		return
	}
	if c.route.Load() == nil || c.route.Load().Answer == nil {
		if method != http.MethodOptions {
			c.t.Errorf("%s: a success without a route", asked)
		}
		return
	}
	if c.route.Load().Answer.Text {
		return
	}
	for _, wrong := range misfits(c.route.Load().Answer, a.json(c.t), "") {
		c.t.Errorf("%s: %s: %s", asked, wrong, a.body)
	}
}

// refused checks the error shape, and that the route documents the code.
func (c *client) refused(asked string, a *answer) {
	c.t.Helper()
	var e struct {
		Code    int    `json:"error_code"`
		Message string `json:"message"`
	}
	d := json.NewDecoder(strings.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil || e.Code == 0 || e.Message == "" {
		c.t.Errorf("%s: %d is no error of the contract: %q", asked, a.status, a.body)
		return
	}
	a.code = e.Code
	if want := e.Code; want != a.status && want/100 != a.status {
		c.t.Errorf("%s: status %d with error_code %d", asked, a.status, e.Code)
	}
	documented := []int{400, 404, 405, 413}
	if c.route.Load() != nil {
		documented = c.route.Load().Codes()
		if slices.Contains(documented, 409) {
			documented = append(documented, 40901)
		}
	}
	if !slices.Contains(documented, e.Code) {
		c.t.Errorf("%s: the route does not document %d: %s", asked, e.Code, e.Message)
	}
}

// misfits lists what of v is not of the shape s. null fits nothing but the few
// shapes of our own that say so.
func misfits(s *api.Shape, v any, at string) []string {
	wrong := func() []string { return []string{fmt.Sprintf("%q is %T where %s is promised", at, v, s.Type)} }
	switch v := v.(type) {
	case nil:
		if !s.Null {
			return wrong()
		}
	case string:
		if s.Type != "string" {
			return wrong()
		}
		if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
			return []string{fmt.Sprintf("%q is %q, none of %v", at, v, s.Enum)}
		}
	case float64:
		if s.Type != "integer" || v != float64(int64(v)) {
			return wrong()
		}
	case bool:
		if s.Type != "boolean" {
			return wrong()
		}
	case []any:
		if s.Type != "array" {
			return wrong()
		}
		var all []string
		for i, item := range v {
			all = append(all, misfits(s.Items, item, fmt.Sprintf("%s/%d", at, i))...)
		}
		return all
	case map[string]any:
		if s.Type != "object" {
			return wrong()
		}
		if s.Members == nil && s.Name == "" {
			return nil // the OpenAPI document describes itself
		}
		var all []string
		for _, m := range s.Members {
			value, ok := v[m.Name]
			switch {
			case ok:
				all = append(all, misfits(m.Shape, value, at+"/"+m.Name)...)
			case m.Required:
				all = append(all, fmt.Sprintf("%q lacks %s", at, m.Name))
			}
			delete(v, m.Name)
		}
		for name := range v {
			all = append(all, fmt.Sprintf("%q has %s, which the shape does not know", at, name))
		}
		return all
	default:
		return wrong()
	}
	return nil
}

// want fails unless the answer has the status and, as JSON, the body; code is
// wanted of a failure.
func (c *client) want(a answer, status int, body any) answer {
	c.t.Helper()
	if a.status != status {
		c.t.Fatalf("want status %d, got %s", status, a)
	}
	if text, ok := body.(string); ok {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			c.t.Fatalf("the wanted body %q is no JSON: %v", text, err)
		}
		body = v
	}
	if body != nil {
		if got := a.json(c.t); !reflect.DeepEqual(got, body) {
			c.t.Fatalf("want the body\n%s", cmp.Diff(body, got))
		}
	}
	return a
}

// fails fails unless the answer has the error_code.
func (c *client) fails(a answer, code int, says ...string) answer {
	c.t.Helper()
	if a.code != code {
		c.t.Fatalf("want error_code %d, got %s", code, a)
	}
	for _, text := range says {
		if !strings.Contains(a.body, text) {
			c.t.Fatalf("the message does not say %q: %s", text, a.body)
		}
	}
	return a
}

// schema is the body of a request with an Avro text.
func schema(text string) map[string]any { return map[string]any{"schema": text} }

// typed is the body of a request with a text of a type.
func typed(kind, text string, references ...any) map[string]any {
	m := map[string]any{"schema": text, "schemaType": kind}
	if len(references) > 0 {
		m["references"] = references
	}
	return m
}

func ref(name, subject string, version int) map[string]any {
	return map[string]any{"name": name, "subject": subject, "version": version}
}

// register registers under s and gives id and version.
func (c *client) register(s string, body map[string]any) (id, version int) {
	c.t.Helper()
	a := c.do("POST", "/subjects/"+s+"/versions", body)
	if a.status != 200 {
		c.t.Fatalf("registering under %s: %s", s, a)
	}
	i, _ := a.member(c.t, "id").(float64)
	v, _ := a.member(c.t, "version").(float64)
	return int(i), int(v)
}

// record is an Avro record with the given fields, each "name:type" or
// "name:type=default".
func record(name string, fields ...string) string {
	var parts []string
	for _, f := range fields {
		n, kind, _ := strings.Cut(f, ":")
		kind, value, ok := strings.Cut(kind, "=")
		part := fmt.Sprintf(`{"name":%q,"type":%q`, n, kind)
		if ok {
			part += `,"default":` + value
		}
		parts = append(parts, part+"}")
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(parts, ","))
}

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
