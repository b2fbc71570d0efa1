package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/api"
)

// conversation is a file of testdata/contract; its README says what each member
// means.
type conversation struct {
	About string `json:"about"`
	Steps []step `json:"steps"`
}

type step struct {
	Request request   `json:"request"`
	Ignore  []string  `json:"ignore,omitempty"`
	Answer  *recorded `json:"answer"`
}

type request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
	Text    *string           `json:"text,omitempty"`
}

type recorded struct {
	Status      int               `json:"status"`
	ContentType string            `json:"contentType,omitempty"`
	Headers     map[string]string `json:"headers,omitempty"`
	Body        json.RawMessage   `json:"body,omitempty"`
	Text        *string           `json:"text,omitempty"`
}

// TestCorpus plays the recorded conversations, and finds that together they ask
// every route.
func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/contract/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("the corpus has %d files, %v", len(files), err)
	}
	asked := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var talk conversation
		if err := json.Unmarshal(text, &talk); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c := newClient(t, api.Options{})
		for i := range talk.Steps {
			s := &talk.Steps[i]
			got := c.record(s.Request)
			if c.route.Load() != nil {
				asked[c.route.Load().Method+" "+c.route.Load().Path] = true
			}
			if *update {
				s.Answer = got
				continue
			}
			if s.Answer == nil {
				t.Errorf("%s: step %d has no answer", file, i+1)
				continue
			}
			if diff := cmp.Diff(withoutExamples(t, s, s.Answer), withoutExamples(t, s, got)); diff != "" {
				t.Errorf("%s: step %d: %s %s (-recorded +got):\n%s", file, i+1, s.Request.Method, s.Request.Path, diff)
			}
		}
		if !*update {
			continue
		}
		var out bytes.Buffer
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(talk); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil { //nolint:gosec // a golden of the repository
			t.Fatal(err)
		}
	}
	for _, r := range api.Routes() {
		// The root takes POST for old health checks; the document is a golden of
		// its own, and figures are never twice the same.
		if id := r.Method + " " + r.Path; !asked[id] && id != "POST /" && id != "GET /openapi.json" && id != "GET /metrics" {
			t.Errorf("no conversation asks %s", id)
		}
	}
}

// record asks and keeps what is worth keeping.
func (c *client) record(r request) *recorded {
	c.t.Helper()
	var body any
	if r.Text != nil {
		body = *r.Text
	} else if r.Body != nil {
		body = string(r.Body)
	}
	c.header = http.Header{}
	if body != nil {
		c.header.Set("Content-Type", vendorV1)
	}
	for name, value := range r.Headers {
		c.header.Set(name, value)
	}
	a := c.do(r.Method, r.Path, body)
	got := &recorded{Status: a.status, ContentType: a.header.Get("Content-Type"), Headers: map[string]string{}}
	for _, name := range []string{"Allow", "Etag", "Cache-Control", "Cartorio-Risks"} {
		if value := a.header.Get(name); value != "" && value != "no-cache, no-store, must-revalidate" {
			got.Headers[name] = value
		}
	}
	switch {
	case a.body == "":
	case c.route.Load() != nil && c.route.Load().Answer.Text && a.status == http.StatusOK:
		got.Text = &a.body
	default:
		got.Body = json.RawMessage(a.body)
	}
	return got
}

// withoutExamples is an answer without what is recorded as an example only.
func withoutExamples(t *testing.T, s *step, r *recorded) any {
	t.Helper()
	m := map[string]any{"status": r.Status, "contentType": r.ContentType}
	for name, value := range r.Headers {
		m[name] = value
	}
	if r.Text != nil {
		m["text"] = *r.Text
	}
	if r.Body == nil {
		return m
	}
	var body any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	if o, ok := body.(map[string]any); ok {
		if o["error_code"] != nil {
			o["message"] = o["message"] != ""
		}
		if list, ok := o["messages"].([]any); ok {
			o["messages"] = strconv.Itoa(len(list)) + " of them"
		}
	}
	for _, pointer := range s.Ignore {
		forget(body, strings.Split(pointer, "/")[1:])
	}
	m["body"] = body
	return m
}

func forget(v any, at []string) {
	o, ok := v.(map[string]any)
	if !ok {
		return
	}
	if len(at) == 1 {
		if _, there := o[at[0]]; there {
			o[at[0]] = "…"
		}
		return
	}
	forget(o[at[0]], slices.Clone(at[1:]))
}
