package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

const documentPath = "../docs/openapi.json"

// docs/http.md is what the list of routes says to people.
func TestReference(t *testing.T) {
	t.Parallel()
	const path = "../docs/http.md"
	got := api.Reference()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil { //nolint:gosec // a document of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is not what the routes say: run go generate ./api", path)
	}
	for _, r := range api.Routes() {
		if n := strings.Count(string(got), "| `"+r.Method+" "+r.Path+"` |"); n != 1 {
			t.Errorf("%s has %s %s %d times", path, r.Method, r.Path, n)
		}
	}
	for code := range api.Meanings() {
		if !strings.Contains(string(got), fmt.Sprintf("\n| %d |", code)) {
			t.Errorf("%s lacks the code %d", path, code)
		}
	}
}

// docs/openapi.json is what the list of routes says; go generate writes it.
func TestDocument(t *testing.T) {
	t.Parallel()
	got := api.Document()
	if *update {
		if err := os.WriteFile(documentPath, got, 0o644); err != nil { //nolint:gosec // a document of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s is not what the routes say: run go generate ./api", documentPath)
	}
	var d struct {
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(got, &d); err != nil {
		t.Fatal(err)
	}
	for _, r := range api.Routes() {
		if d.Paths[r.Path][strings.ToLower(r.Method)] == nil {
			t.Errorf("the document lacks %s %s", r.Method, r.Path)
		}
	}
	for part := range strings.SplitSeq(string(got), `"$ref": "#/components/schemas/`) {
		if name, _, ok := strings.Cut(part, `"`); ok && !strings.HasPrefix(part, "{") && d.Components.Schemas[name] == nil {
			t.Errorf("the document refers to %s, which it lacks", name)
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{BasePath: "/sr", Version: "1.2.3"})
	d, _ := c.want(c.do("GET", "/sr/openapi.json", nil), 200, nil).json(t).(map[string]any)
	if info, _ := d["info"].(map[string]any); info["version"] != "1.2.3" {
		t.Errorf("the document's version is %v", info["version"])
	}
	if servers, _ := json.Marshal(d["servers"]); string(servers) != `[{"url":"/sr"}]` {
		t.Errorf("the document's servers are %s", servers)
	}
}
