package jsonschema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

var seeds = []string{
	`{}`, `true`, `{"type":"object","properties":{"a":{"$ref":"#/definitions/t"}},"definitions":{"t":{"minimum":1.50}}}`,
	`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://x/a","$dynamicAnchor":"n","prefixItems":[{"$dynamicRef":"#n"}],"unevaluatedItems":false}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"additionalProperties":{"$recursiveRef":"#"}}`,
	`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/","maximum":5,"exclusiveMaximum":true,"dependencies":{"a":["b"]}}`,
	`{"pattern":"^(?=a)b\\1","patternProperties":{"[^]":{}},"oneOf":[{"not":{}},{"if":{},"then":false}]}`,
	`{"enum":[1,1.0,"é",{"a":[]}],"const":null,"multipleOf":0.01,"title":"\ud83d\ude00"}`,
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			_, _ = parseReferring(text, schemas.Stored, nil)
			return
		}
		if _, err := parseReferring(text, schemas.Stored, nil); err != nil {
			t.Fatalf("a new schema that cannot be read once stored: %v", err)
		}
		if got := s.Reads(s, schemas.Payload{Bytes: []byte(`{"a":[1,"b",null]}`)}, schemas.ReadOptions{}); !got.OK() && got.Violations[0].Text == "" {
			t.Fatal("a violation without a text")
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			return
		}
		again, err := parse(s.Canonical())
		if err != nil {
			t.Fatalf("the canonical text is refused: %v", err)
		}
		if again.Canonical() != s.Canonical() || again.Fingerprint() != s.Fingerprint() {
			t.Fatalf("not idempotent: %s, then %s", s.Canonical(), again.Canonical())
		}
		normalized, _ := s.Normalized()
		sorted, err := parse(normalized)
		if err != nil {
			t.Fatalf("the normalized text is refused: %v", err)
		}
		if twice, _ := sorted.Normalized(); twice != normalized {
			t.Fatalf("normalizing is not idempotent: %s, then %s", normalized, twice)
		}
	})
}

func FuzzReads(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, `{"a":[1,2.50,"x",{"b":null}]}`)
		f.Add(s, `[[[]],"é",1e400]`)
		f.Add(s, `{"a\u00e9":"\ud83d\ude00\n","b":-0.5E-7,"c":[true,false,null]} `)
	}
	f.Fuzz(func(t *testing.T, schema, payload string) {
		s, err := parse(schema)
		if err != nil {
			return
		}
		p := schemas.Payload{Bytes: []byte(payload)}
		first := s.Reads(s, p, schemas.ReadOptions{Formats: true})
		second := s.Reads(s, p, schemas.ReadOptions{Formats: true})
		_, err = jsontext.Parse(payload, jsontext.Options{Depth: 128, Digits: 1_000, Exponent: 400, Strict: true})
		if refused := !first.OK() && (first.Violations[0].Kind == schemas.Unreadable || first.Violations[0].Kind == schemas.TooLarge); refused != (err != nil) {
			t.Fatalf("%q: the tape says %v, the tree %v", payload, first.Violations, err)
		}
		if first.OK() != second.OK() || len(first.Violations) != len(second.Violations) {
			t.Fatalf("two readings differ: %v, %v", first.Violations, second.Violations)
		}
		if verdict := s.Reads(s, p, schemas.ReadOptions{Formats: true, Verdict: true}); verdict.OK() != first.OK() {
			t.Fatalf("the verdict alone is %v, with its reasons %v", verdict.Violations, first.Violations)
		}
		if annotated := s.Reads(s, p, schemas.ReadOptions{}); first.OK() && !annotated.OK() && !negates(schema) {
			t.Fatalf("asserting formats made %s valid", payload)
		}
	})
}

// negates tells whether a stricter part may make the whole laxer.
func negates(schema string) bool {
	return slices.ContainsFunc([]string{"not", "oneOf", "if", "ontains", "unevaluated", `\`}, func(part string) bool {
		return strings.Contains(schema, part)
	})
}
