package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
)

// Every code that the domain declares has its number on the wire, and every
// number its meaning. The declarations are read from the source, so that a code
// added there fails here.
func TestEveryCodeHasItsNumber(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../registry/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if !strings.HasPrefix(name.Name, "Code") {
					continue
				}
				number, known := api.Wire()[registry.Code(codes)]
				if !known {
					t.Errorf("%s has no number on the wire", name.Name)
				}
				if api.Meanings()[number] == "" {
					t.Errorf("%s is %d on the wire, which has no meaning", name.Name, number)
				}
				codes++
			}
		}
	}
	if codes < 20 || len(api.Wire()) != codes {
		t.Errorf("the domain has %d codes, the wire %d", codes, len(api.Wire()))
	}
}

// The list of routes is whole: each says what it is, what it takes, what it
// answers and how it fails, and stands once.
func TestRoutes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	segment := regexp.MustCompile(`^(\{[a-z]+\}|[a-z0-9.]+)$`)
	for _, r := range api.Routes() {
		id := r.Method + " " + r.Path
		if seen[id] {
			t.Errorf("%s stands twice", id)
		}
		seen[id] = true
		if !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("%s: the doc %q is no sentence", id, r.Doc)
		}
		if r.Answer == nil || r.Handle == nil {
			t.Errorf("%s: no answer or no handler", id)
		}
		if (r.Body != nil) && r.Method != "POST" && r.Method != "PUT" {
			t.Errorf("%s has a body", id)
		}
		if !slices.IsSorted(r.Errors) {
			t.Errorf("%s: its errors are not in order", id)
		}
		for _, code := range r.Codes() {
			if api.Meanings()[code] == "" {
				t.Errorf("%s: %d has no meaning", id, code)
			}
		}
		if r.Body != nil && !slices.Contains(r.Errors, 422) {
			t.Errorf("%s reads a body and does not document 422", id)
		}
		if strings.Contains(r.Path, "{version}") && r.Answer.Name != "RegisterSchemaResponse" && !slices.Contains(r.Errors, 42202) {
			t.Errorf("%s does not document 42202", id)
		}
		for part := range strings.SplitSeq(strings.Trim(r.Path, "/"), "/") {
			if part != "" && !segment.MatchString(part) {
				t.Errorf("%s: the segment %q", id, part)
			}
		}
		names := map[string]bool{}
		for _, q := range r.Query {
			if names[q.Name] || q.Name == "" || !slices.Contains([]string{"string", "integer", "boolean"}, q.Type) {
				t.Errorf("%s: the parameter %+v", id, q)
			}
			names[q.Name] = true
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d routes", len(seen))
	}
}
