package jsonschema_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// TestWithin reads a schema anew with another text in the place of what it refers
// to, itself or through another.
func TestWithin(t *testing.T) {
	t.Parallel()
	texts := map[string]schemas.Source{
		"far":  {Type: schemas.JSON, Text: `{"type":"integer"}`},
		"near": {Type: schemas.JSON, Text: `{"items":{"$ref":"far.json"}}`, References: []schemas.Reference{{Name: "far.json", Subject: "far", Version: 1}}},
	}
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: ref.Version, Source: texts[ref.Subject]}, nil
	})
	source := schemas.Source{Type: schemas.JSON, Text: `{"$ref":"near.json"}`, References: []schemas.Reference{{Name: "near.json", Subject: "near", Version: 1}}}
	parsed, err := jsonschema.Format.Parse(t.Context(), source, resolver, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := parsed.(*jsonschema.Schema)
	fits := func(s *jsonschema.Schema, text string) bool {
		return s.Reads(s, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{}).OK()
	}
	for _, c := range []struct{ reference, text, fits, refused string }{
		{"far.json", `{"type":"string"}`, `["a"]`, `[1]`},
		{"near.json", `{"minItems":1,"items":{"$ref":"far.json"}}`, `[1]`, `[]`},
	} {
		other, err := s.Within(c.reference, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if !fits(other, c.fits) || fits(other, c.refused) || other.Fingerprint() == s.Fingerprint() {
			t.Errorf("with %s as %s it takes %s: %t, and %s: %t", c.reference, c.text, c.fits, fits(other, c.fits), c.refused, fits(other, c.refused))
		}
	}
	if !fits(s, `[1]`) || fits(s, `["a"]`) || !fits(s, `[]`) {
		t.Error("the schema itself changed")
	}
	for _, c := range []struct{ reference, text, want string }{
		{"gone.json", `{}`, "it refers to nothing of that name"},
		{"far.json", `{"type":`, "far.json"},
		{"far.json", `{"type":"integr"}`, "far.json"},
	} {
		if _, err := s.Within(c.reference, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s: want %q, got %v", c.reference, c.text, c.want, err)
		}
	}
}
