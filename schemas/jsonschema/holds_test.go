package jsonschema_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func nodeOf(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*jsonschema.Schema)
}

func TestNodeHolds(t *testing.T) {
	t.Parallel()
	n := nodeOf(t, `{"properties":{"a":{"type":"integer"}}}`).Root().Property("a")
	for text, want := range map[string]bool{"1": true, "1.0": true, `"a"`: false, "null": false} {
		if ok, decided := n.Holds(text, 0); ok != want || !decided {
			t.Errorf("%s: got %v, decided %v", text, ok, decided)
		}
	}
	if _, decided := n.Holds(`{`, 0); decided {
		t.Error("a broken text was decided")
	}
	if _, decided := n.Holds(`1`, -1); !decided {
		t.Error("the default budget does not reach for one number")
	}
}

func TestAssertsFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"format":"ipv4"}`:   true,
		`{"format":"x-iban"}`: false,
		`{"minLength":1}`:     false,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","format":"ipv4"}`: false,
	} {
		if got := nodeOf(t, text).Root().AssertsFormat(); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestSoleDynamicAnchorIsSettled(t *testing.T) {
	t.Parallel()
	const draft = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://e.test/a","$dynamicAnchor":"n",`
	alone := nodeOf(t, draft+`"properties":{"next":{"$dynamicRef":"#n"}}}`)
	if alone.IsDynamic() || !alone.Root().Property("next").Dynamic.Fixed {
		t.Error("the only resource that declares an anchor does not settle it")
	}
	two := nodeOf(t, draft+`"properties":{"next":{"$dynamicRef":"#n"}},"$defs":{"b":{"$id":"b","$dynamicAnchor":"n","type":"object"}}}`)
	if !two.IsDynamic() {
		t.Error("two resources declare the anchor, and it was settled")
	}
}

// TestRefusals: what is inside of alternatives is told too, behind the union.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, ok := mustParse(t, `{"anyOf":[{"type":"string","maxLength":1},{"oneOf":[{"const":1},{"type":"null"}]}]}`).(*jsonschema.Schema)
	if !ok {
		t.Fatal("no schema of ours")
	}
	var got []string
	for _, v := range s.Refusals(`"ab"`, 0) {
		got = append(got, string(v.Schema))
	}
	want := []string{"/anyOf", "/anyOf/0/maxLength", "/anyOf/1/oneOf", "/anyOf/1/oneOf/0/const", "/anyOf/1/oneOf/1/type"}
	if !slices.Equal(got, want) {
		t.Errorf("want %v, got %v", want, got)
	}
	for text, steps := range map[string]int{`"a"`: 0, `{`: 0, `"abc"`: 1} {
		if list := s.Refusals(text, steps); list != nil {
			t.Errorf("%s in %d steps: %v", text, steps, list)
		}
	}
}

// TestPlaceOf: a member's own place, and the node's where it has none.
func TestPlaceOf(t *testing.T) {
	t.Parallel()
	root := nodeOf(t, "{\n  \"properties\": {\"a\": {\n    \"maxLength\": 3}}}").Root()
	n := root.Property("a")
	if p := n.PlaceOf("maxLength"); p.Pointer != "/properties/a/maxLength" || p.Position.Line != 3 || p.Position.Column != 18 {
		t.Errorf("got %+v", p)
	}
	if p := n.PlaceOf("minLength"); p != n.Place() {
		t.Errorf("got %+v", p)
	}
}
