package jsonschema_test

import (
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
)

// FuzzDiff asks of every pair that it is answered, twice alike, and that a
// schema reads itself.
func FuzzDiff(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"string"}`, `{"type":["string","null"],"maxLength":3}`},
		{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"patternProperties":{"^b":{"not":{"const":1}}}}`},
		{`{"items":[{"enum":[1,"a"]}],"additionalItems":{"minimum":1}}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{},{}],"items":false,"contains":{}}`},
		{`{"allOf":[{"required":["a"]},{"dependencies":{"a":["b"]}}]}`, `{"oneOf":[{"required":["a"],"properties":{"a":{"default":1}}},false]}`},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"n","anyOf":[{"type":"string","enum":["a"]},{"unevaluatedProperties":{"$dynamicRef":"#n"}}],"x":1}`, `true`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, old, next string) {
		a, err := parseWith(old, nil)
		if err != nil {
			return
		}
		b, err := parseWith(next, nil)
		if err != nil {
			return
		}
		budget := compat.Budget{Steps: 100_000}
		first, err := jsoncompat.Checker.Reference(b, a, compat.Strict, budget)
		second, again := jsoncompat.Checker.Reference(b, a, compat.Strict, budget)
		if (err == nil) != (again == nil) || !slices.EqualFunc(first, second, func(x, y compat.Difference) bool { return x.Type == y.Type && x.Path == y.Path }) {
			t.Fatalf("two answers: %v %v, %v %v", first, err, second, again)
		}
		if err != nil {
			return
		}
		loose, err := jsoncompat.Checker.Reference(b, a, compat.Lenient, budget)
		if err == nil && isCompatible(first) && !isCompatible(loose) {
			t.Fatalf("LENIENT refuses what STRICT accepts: %v", loose)
		}
		if self, err := jsoncompat.Checker.Reference(a, a, compat.Strict, budget); err == nil && !isCompatible(self) {
			t.Fatalf("%s does not read itself: %v", old, self)
		}
	})
}
