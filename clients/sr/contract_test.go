package sr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// step is one request and answer of the recorded corpus, which judges the server
// too. Its form is told beside it.
type step struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
		Text         *string
	}
	Answer struct {
		Status      int
		ContentType string
		Body        json.RawMessage
		Text        *string
	}
}

// TestContract plays the corpus as a server: the client has to send each recorded
// request, member for member, and to understand its answer.
func TestContract(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../api/testdata/contract/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded conversations: %v", err)
	}
	played, left := 0, map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var talk struct{ Steps []step }
		if err := json.Unmarshal(text, &talk); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for i, s := range talk.Steps {
			name := fmt.Sprintf("%s/%d %s %s", strings.TrimSuffix(filepath.Base(file), ".json"), i+1, s.Request.Method, s.Request.Path)
			call, why := callOf(s)
			if call == nil {
				left[why]++
				continue
			}
			played++
			t.Run(name, func(t *testing.T) { playStep(t, s, call) })
		}
	}
	t.Logf("played %d steps; left out: %v", played, left)
	if played < 100 {
		t.Errorf("only %d steps were played", played)
	}
	for why := range left {
		if strings.HasPrefix(why, "no method for it") {
			t.Errorf("the client cannot send %d of the recorded requests", left[why])
		}
	}
}

func playStep(t *testing.T, s step, call func(*sr.Client) (any, error)) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if d := cmp.Diff(normal(t, s.Request.Method, s.Request.Path, s.Request.Body), normalRequest(t, q)); d != "" {
			t.Errorf("the request (-recorded +sent): %s", d)
		}
		w.Header().Set("Content-Type", s.Answer.ContentType)
		w.WriteHeader(s.Answer.Status)
		body := string(s.Answer.Body)
		if s.Answer.Text != nil {
			body = *s.Answer.Text
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	c, err := sr.New(sr.Options{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := call(c)
	if s.Answer.Status >= 300 {
		var e *sr.Error
		var want struct {
			Code int `json:"error_code"`
		}
		if err := json.Unmarshal(s.Answer.Body, &want); err != nil {
			t.Fatal(err)
		}
		if !errors.As(err, &e) || e.Status != s.Answer.Status || e.Code != want.Code || e.Message == "" {
			t.Fatalf("%v, want status %d and code %d", err, s.Answer.Status, want.Code)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Answer.Text != nil {
		if got != *s.Answer.Text {
			t.Errorf("text %q, want %q", got, *s.Answer.Text)
		}
		return
	}
	if len(s.Answer.Body) == 0 || got == nil {
		return
	}
	var want any
	if err := json.Unmarshal(s.Answer.Body, &want); err != nil {
		t.Fatal(err)
	}
	if list, ok := want.([]any); ok && len(list) == 0 {
		want = []any{}
	}
	if few, ok := got.(only); ok {
		all, _ := want.(map[string]any)
		part := only{}
		for name := range few {
			part[name] = all[name]
		}
		want = part
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the answer (-recorded +understood): %s", d)
	}
}

// sent is a request without what does not count: the order of parameters, and
// those that say what is so anyway.
type sent struct {
	Method string
	Path   []string
	Query  map[string][]string
	Body   any
}

func normal(t *testing.T, method, target string, body []byte) sent {
	t.Helper()
	path, rawQuery, _ := strings.Cut(target, "?")
	s := sent{Method: method, Query: map[string][]string{}}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			continue
		}
		text, err := url.PathUnescape(part)
		if err != nil {
			t.Fatal(err)
		}
		if text == "-1" {
			text = "latest"
		}
		s.Path = append(s.Path, text)
	}
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range query {
		if len(values) == 1 && (values[0] == "false" || values[0] == "") {
			continue
		}
		s.Query[name] = values
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &s.Body); err != nil {
			t.Fatal(err)
		}
		s.Body = plain(s.Body)
		if members, ok := s.Body.(map[string]any); ok && members["schemaType"] == nil && members["schema"] != nil {
			members["schemaType"] = "AVRO"
		}
	}
	return s
}

// plain drops members that say what is so without them; a config's null, which
// clears, and an empty metadata, which says none, do count.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name, value := range v {
			if name == "ruleSet" && value == nil || name == "disabled" && value == false || name == "schema" && value == "" {
				delete(v, name)
				continue
			}
			v[name] = plain(value)
		}
		if len(v) == 1 && v["schemaType"] == "AVRO" {
			delete(v, "schemaType")
		}
	}
	return v
}

func normalRequest(t *testing.T, q *http.Request) sent {
	t.Helper()
	var body json.RawMessage
	if err := json.NewDecoder(q.Body).Decode(&body); err != nil {
		body = nil
	}
	return normal(t, q.Method, q.RequestURI, body)
}

// only is what a call understands of an answer that has more.
type only map[string]any

// wire is v as a body of the contract has it.
func wire(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// view writes what was found as the contract would, for comparing.
func view(f schemas.Found, id bool) map[string]any {
	out := map[string]any{"schemaType": string(f.Source.Type), "schema": f.Source.Text}
	if f.Subject.Name != "" {
		out["subject"] = f.Subject.String()
	}
	if f.Version != 0 {
		out["version"] = float64(f.Version)
	}
	if id && f.ID.Number != 0 {
		out["id"] = float64(f.ID.Number)
	}
	if f.GUID != (schemas.GUID{}) {
		out["guid"] = f.GUID.String()
	}
	if f.Time != (time.Time{}) {
		out["ts"] = float64(f.Time.UnixMilli())
		out["deleted"] = f.Deleted
	}
	var refs []any
	for _, r := range f.Source.References {
		refs = append(refs, map[string]any{"name": r.Name, "subject": r.Subject, "version": float64(r.Version)})
	}
	if refs != nil {
		out["references"] = refs
	}
	if f.Metadata != nil {
		out["metadata"] = wire(sr.MetadataBody(f.Metadata))
	}
	if f.RuleSet != nil {
		out["ruleSet"] = wire(sr.RuleSetBody(f.RuleSet))
	}
	return out
}

func texts[T any](list []T) []any {
	out := []any{}
	for _, one := range list {
		out = append(out, fmt.Sprint(one))
	}
	return out
}

func numbers[T ~int32](list []T) []any {
	out := []any{}
	for _, one := range list {
		out = append(out, float64(one))
	}
	return out
}
