package jsonschema_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// TestReference holds the reference answer to the change catalogue. want is
// BACKWARD then FORWARD, under STRICT and, when it differs, under LENIENT.
//
// Source: JSON Schema specification 5, columns "drop-in".
func TestReference(t *testing.T) {
	t.Parallel()
	const modern = `"$schema":"https://json-schema.org/draft/2020-12/schema"`
	const four = `"$schema":"http://json-schema.org/draft-04/schema#"`
	for _, c := range []struct{ name, old, next, want string }{
		{"title", `{"type":"string"}`, `{"type":"string","title":"t","description":"d","$comment":"c","examples":[1]}`, "yes yes"},
		{"id", `{"$id":"http://x/a","type":"string"}`, `{"$id":"http://x/b","type":"string"}`, "yes yes"},
		{"default changed", `{"type":"string","default":"a"}`, `{"type":"string","default":"b"}`, "yes yes"},
		{"type list gains", `{"type":["string"]}`, `{"type":["string","null"]}`, "yes no"},
		{"nullable through oneOf", `{"type":"string"}`, `{"oneOf":[{"type":"null"},{"type":"string"}]}`, "yes no"},
		{"integer to number", `{"type":"integer"}`, `{"type":"number"}`, "yes no"},
		{"disjoint types", `{"type":"integer"}`, `{"type":"string"}`, "no no"},
		{"type put on the empty schema", `{}`, `{"type":"string"}`, "no yes"},
		{"type put beside its keywords", `{"minLength":1}`, `{"type":"string","minLength":1}`, "yes yes"},
		{"empty lists all seven", `{}`, `{"type":["null","boolean","integer","number","string","array","object"]}`, "no yes"},
		{"empty and true", `{}`, `true`, "yes yes"},
		{"integer dropped beside number", `{"type":["number","integer"]}`, `{"type":["number"]}`, "no yes"},
		{"to false", `{"type":"string"}`, `false`, "no yes"},
		{"connect bytes", `{"type":"string","connect.type":"bytes"}`, `{"type":"boolean","connect.type":"bytes"}`, "yes yes"},
		{"minimum added", `{"type":"number"}`, `{"type":"number","minimum":1}`, "no yes"},
		{"minimum raised", `{"type":"number","minimum":1}`, `{"type":"number","minimum":2}`, "no yes"},
		{"exclusiveMinimum lowered", `{"exclusiveMinimum":2}`, `{"exclusiveMinimum":1}`, "yes no"},
		{"exclusiveMaximum lowered alone", `{"exclusiveMaximum":5}`, `{"exclusiveMaximum":4}`, "no yes"},
		{"exclusiveMaximum lowered under a maximum", `{"maximum":100,"exclusiveMaximum":50}`, `{"maximum":100,"exclusiveMaximum":40}`, "yes yes"},
		{"exclusiveMaximum lowered over a maximum", `{"maximum":10,"exclusiveMaximum":50}`, `{"maximum":10,"exclusiveMaximum":40}`, "no yes"},
		{"exclusive becomes inclusive", `{"exclusiveMaximum":5}`, `{"maximum":5}`, "no no"},
		{"draft-04 flag added", `{` + four + `,"maximum":5}`, `{` + four + `,"maximum":5,"exclusiveMaximum":true}`, "yes yes"},
		{"bounds past 53 bits", `{"minimum":-9007199254740993}`, `{"minimum":-9007199254740992}`, "yes yes"},
		{"multipleOf to a divisor", `{"multipleOf":4}`, `{"multipleOf":2}`, "yes no"},
		{"multipleOf to neither", `{"multipleOf":4}`, `{"multipleOf":6}`, "no no"},
		{"multipleOf of decimals", `{"multipleOf":0.3}`, `{"multipleOf":0.1}`, "yes no"},
		{"minLength 0 added", `{"type":"string"}`, `{"type":"string","minLength":0}`, "no yes"},
		{"pattern added", `{"type":"string"}`, `{"type":"string","pattern":"a"}`, "no yes"},
		{"pattern replaced", `{"pattern":"^a"}`, `{"pattern":"a"}`, "no no"},
		{"format added", `{"type":"string"}`, `{"type":"string","format":"ipv4"}`, "yes yes"},
		{"format alone, modern", `{` + modern + `}`, `{` + modern + `,"format":"ipv4"}`, "yes yes"},
		{"format alone, draft-07", `{}`, `{"format":"ipv4"}`, "no yes"},
		{"a keyword of another type", `{"type":"integer"}`, `{"type":"integer","maxLength":3}`, "no yes"},
		{"enum put on a type", `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "no yes"},
		{"enum extended", `{"enum":["a"]}`, `{"enum":["a","b"]}`, "yes no"},
		{"enum member swapped", `{"enum":["a","b"]}`, `{"enum":["a","c"]}`, "no no"},
		{"enum reordered", `{"enum":["a","b"]}`, `{"enum":["b","a"]}`, "yes yes"},
		{"enum members respelled", `{"enum":[1]}`, `{"enum":[1.0]}`, "no no"},
		{"enum to const", `{"enum":["a"]}`, `{"const":"a"}`, "no no"},
		{"const changed", `{"const":"a"}`, `{"const":"b"}`, "no no"},
		{"optional added, open", `{"type":"object"}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "no yes, yes yes"},
		{"optional added, closed", `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false,"properties":{"a":{"type":"string"}}}`, "yes no, yes yes"},
		{"unconstrained added, open", `{"type":"object"}`, `{"type":"object","properties":{"a":{}}}`, "yes yes"},
		{"required added, open", `{"type":"object"}`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, "no yes"},
		{"required with default added, open", `{"type":"object"}`, `{"type":"object","required":["a"],"properties":{"a":{"type":"string","default":""}}}`, "no yes, yes yes"},
		{"required added, closed", `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"string"}}}`, "no no, no yes"},
		{"required with default added, closed", `{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"string","default":""}}}`, "yes no, yes yes"},
		{"renamed, closed", `{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"properties":{"b":{"type":"string"}},"additionalProperties":false}`, "no no, yes yes"},
		{"declared becomes required", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"string"}},"required":["a"]}`, "no yes"},
		{"declared with default becomes required", `{"properties":{"a":{"default":1}}}`, `{"properties":{"a":{"default":1}},"required":["a"]}`, "yes yes"},
		{"undeclared becomes required", `{"type":"object"}`, `{"type":"object","required":["a"]}`, "yes yes"},
		{"closed", `{"type":"object"}`, `{"type":"object","additionalProperties":false}`, "no yes, yes yes"},
		{"true spelled out", `{"type":"object"}`, `{"type":"object","additionalProperties":true}`, "yes yes"},
		{"the empty schema spelled out", `{"type":"object"}`, `{"type":"object","additionalProperties":{}}`, "no yes, yes yes"},
		{"rest widened", `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"number"}}`, "yes no"},
		{"added, covered", `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"integer"},"properties":{"a":{"type":"number"}}}`, "yes no"},
		{"added, not covered", `{"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"},"properties":{"a":{"type":"number"}}}`, "no no"},
		{"opened while added", `{"type":"object","additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string"}}}`, "yes no, yes yes"},
		{"patternProperties added, open", `{"type":"object"}`, `{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, "yes yes"},
		{"schema of a pattern narrowed", `{"patternProperties":{"^x":{"type":"number"}}}`, `{"patternProperties":{"^x":{"type":"integer"}}}`, "yes yes"},
		{"added beside a pattern that does not match", `{"patternProperties":{"^x":{"type":"string"}}}`, `{"patternProperties":{"^x":{"type":"string"}},"properties":{"a":{"type":"string"}}}`, "yes no, yes yes"},
		{"removed under two patterns", `{"properties":{"x-n":{"type":"integer"}},"additionalProperties":false}`, `{"patternProperties":{"^x":{"type":"integer"},"n$":{"type":"string"}},"additionalProperties":false}`, "yes yes"},
		{"propertyNames added", `{"type":"object"}`, `{"type":"object","propertyNames":{"pattern":"^a"}}`, "yes yes"},
		{"minProperties added", `{"type":"object"}`, `{"type":"object","minProperties":1}`, "no yes"},
		{"dependency added", `{"type":"object"}`, `{"type":"object","dependencies":{"a":["b"]}}`, "no yes"},
		{"dependency extended", `{"dependencies":{"a":["b"]}}`, `{"dependencies":{"a":["b","c"]}}`, "no yes"},
		{"dependency rewritten", `{"dependencies":{"a":["b"]}}`, `{"dependencies":{"a":{"required":["b"]}}}`, "no no"},
		{"dependency schema tightened", `{"dependencies":{"a":{"minProperties":1}}}`, `{"dependencies":{"a":{"minProperties":2}}}`, "no yes"},
		{"keywords that the draft does not know", `{"type":"object"}`, `{"type":"object","dependentRequired":{"a":["b"]},"unevaluatedProperties":false,"prefixItems":[{}]}`, "yes yes"},
		{"dependencies in 2020-12", `{` + modern + `,"type":"object"}`, `{` + modern + `,"type":"object","dependencies":{"a":["b"]}}`, "yes yes"},
		{"unevaluatedProperties added", `{` + modern + `,"type":"object"}`, `{` + modern + `,"type":"object","unevaluatedProperties":false}`, "no yes, yes yes"},
		{"unevaluatedProperties added beside $defs", `{` + modern + `,"type":"object"}`, `{` + modern + `,"type":"object","$defs":{},"unevaluatedProperties":false}`, "yes yes"},
		{"unevaluatedProperties added beside an unknown keyword", `{` + modern + `,"type":"object"}`, `{` + modern + `,"type":"object","x-team":"a","unevaluatedProperties":false}`, "yes yes"},
		{"unevaluated exchanged for additional", `{` + modern + `,"type":"object","unevaluatedProperties":false}`, `{` + modern + `,"type":"object","additionalProperties":false}`, "no no, yes yes"},
		{"items added", `{"type":"array"}`, `{"type":"array","items":{"type":"string"}}`, "no yes"},
		{"items {} added", `{"type":"array"}`, `{"type":"array","items":{}}`, "no yes"},
		{"closed tuple extended", `{"items":[{"type":"string"}],"additionalItems":false}`, `{"items":[{"type":"string"},{"type":"string"}],"additionalItems":false}`, "yes no"},
		{"open tuple extended", `{"items":[{"type":"string"}]}`, `{"items":[{"type":"string"},{"type":"string"}]}`, "no yes"},
		{"open tuple extended by anything", `{"items":[{"type":"string"}]}`, `{"items":[{"type":"string"},{}]}`, "yes yes"},
		{"tuple closed", `{"items":[{"type":"string"}]}`, `{"items":[{"type":"string"}],"additionalItems":false}`, "no yes"},
		{"list to open tuple", `{"items":{"type":"string"}}`, `{"items":[{"type":"string"}]}`, "no no"},
		{"closed tuple to list", `{"items":[{"type":"string"}],"additionalItems":false}`, `{"items":{"type":"string"}}`, "no no"},
		{"additionalItems without a tuple", `{"type":"array","additionalItems":true}`, `{"type":"array","additionalItems":false}`, "no yes"},
		{"uniqueItems added", `{"type":"array"}`, `{"type":"array","uniqueItems":true}`, "no yes"},
		{"contains added, draft-07", `{"type":"array"}`, `{"type":"array","contains":{"const":1}}`, "yes yes"},
		{"contains added, 2020-12", `{` + modern + `,"type":"array"}`, `{` + modern + `,"type":"array","contains":{"const":1}}`, "no yes"},
		{"contains with minContains 0 added", `{` + modern + `,"type":"array"}`, `{` + modern + `,"type":"array","contains":{"const":1},"minContains":0}`, "no yes"},
		{"contains narrowed", `{` + modern + `,"contains":{"enum":[1,2]}}`, `{` + modern + `,"contains":{"const":1}}`, "yes yes"},
		{"minContains raised", `{` + modern + `,"contains":{"const":1},"minContains":1}`, `{` + modern + `,"contains":{"const":1},"minContains":2}`, "no yes"},
		{"unevaluatedItems added", `{` + modern + `,"prefixItems":[{}]}`, `{` + modern + `,"prefixItems":[{}],"unevaluatedItems":false}`, "no yes"},
		{"anyOf branch added", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"},{"type":"number"}]}`, "yes no"},
		{"anyOf branch widened", `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `{"anyOf":[{"type":"number"},{"type":"null"}]}`, "yes no"},
		{"two branches fall under one", `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, `{"anyOf":[{"type":"number"},{"type":"string"}]}`, "no no"},
		{"oneOf branch repeated", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"oneOf":[{"type":"string"},{"type":"string"},{"type":"null"}]}`, "yes yes"},
		{"oneOf to anyOf", `{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "yes no"},
		{"allOf part added", `{"allOf":[{"type":"string"},{"minLength":1}]}`, `{"allOf":[{"type":"string"},{"minLength":1},{"enum":["a"]}]}`, "no yes"},
		{"allOf merged", `{"allOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]}`, `{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, "no no, yes no"},
		{"a single part unwrapped", `{"allOf":[{"type":"string"}]}`, `{"type":"string"}`, "yes yes"},
		{"not added", `{"type":"string"}`, `{"type":"string","not":{"const":"a"}}`, "no yes"},
		{"negated widened", `{"not":{"type":"integer"}}`, `{"not":{"type":"number"}}`, "no yes"},
		{"double negation", `{"type":"string"}`, `{"not":{"not":{"type":"string"}}}`, "no no"},
		{"if added beside a type", `{"type":"string"}`, `{"type":"string","if":{"minLength":1},"then":{"maxLength":3}}`, "no yes"},
		{"then tightened", `{"if":{"type":"number"},"then":{"minimum":0}}`, `{"if":{"type":"number"},"then":{"minimum":1}}`, "yes yes"},
		{"enum put on a branch, 2020-12", `{` + modern + `,"anyOf":[{"type":"boolean"},{"type":"string"}]}`, `{` + modern + `,"anyOf":[{"type":"boolean"},{"type":"string","enum":["x"]}]}`, "yes no"},
		{"extracted", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"$ref":"#/definitions/t"}},"definitions":{"t":{"type":"string"}}}`, "yes yes"},
		{"definitions renamed", `{` + modern + `,"$ref":"#/$defs/t","definitions":{"t":{"type":"string"}}}`, `{` + modern + `,"$ref":"#/$defs/t","$defs":{"t":{"type":"string"}}}`, "yes yes"},
		{"recursive widened", `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}`, "yes no"},
		{"recursive unfolded", `{"properties":{"next":{"$ref":"#"}}}`, `{"properties":{"next":{"properties":{"next":{"$ref":"#"}}}}}`, "yes yes"},
		{"keyword beside $ref, draft-07", `{"$ref":"#/definitions/t","definitions":{"t":{"type":"string"}}}`, `{"$ref":"#/definitions/t","maxLength":3,"definitions":{"t":{"type":"string"}}}`, "yes yes"},
		{"keyword beside $ref, 2020-12", `{` + modern + `,"$ref":"#/$defs/t","$defs":{"t":{"type":"string"}}}`, `{` + modern + `,"$ref":"#/$defs/t","maxLength":3,"$defs":{"t":{"type":"string"}}}`, "no yes"},
		{"only the dialect", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{` + modern + `,"type":"object","properties":{"a":{"type":"string"}}}`, "yes yes"},
		{"draft-04 bound as a number", `{` + four + `,"maximum":5,"exclusiveMaximum":true}`, `{"exclusiveMaximum":5}`, "no no"},
		{"tuple moved to prefixItems", `{"items":[{"type":"string"}],"additionalItems":false}`, `{` + modern + `,"prefixItems":[{"type":"string"}],"items":false}`, "yes yes"},
		{"dependencies moved", `{"dependencies":{"a":["b"]}}`, `{` + modern + `,"dependentRequired":{"a":["b"]}}`, "yes yes"},
		{"const starts to count", `{` + four + `,"const":1}`, `{"const":1}`, "no yes"},
	} {
		strict, lenient, differs := strings.Cut(c.want, ", ")
		if !differs {
			lenient = strict
		}
		for policy, want := range map[compat.Policy]string{compat.Strict: strict, compat.Lenient: lenient} {
			back, wanted := answer(t, c.old, c.next, policy)
			if got := back + " " + wanted; got != want {
				t.Errorf("%s, policy %d: want %s, got %s", c.name, policy, want, got)
			}
		}
		for _, same := range []string{c.old, c.next} {
			if back, forward := answer(t, same, same, compat.Strict); back != "yes" || forward != "yes" {
				t.Errorf("%s: a schema does not read itself: %s", c.name, same)
			}
		}
	}
}

func answer(t *testing.T, old, next string, policy compat.Policy) (backward, forward string) {
	t.Helper()
	a, err := parseWith(old, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := parseWith(next, nil)
	if err != nil {
		t.Fatal(err)
	}
	say := func(reader, writer schemas.Schema) string {
		list, err := jsoncompat.Checker.Reference(reader, writer, policy, compat.Budget{})
		switch {
		case err != nil:
			return err.Error()
		case isCompatible(list):
			return "yes"
		}
		return "no"
	}
	return say(b, a), say(a, b)
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, next string
		want            []string
	}{
		{"nested paths", `{"properties":{"a":{"items":{"maxLength":3}}}}`, `{"properties":{"a":{"items":{"maxLength":2}}}}`, []string{"MAX_LENGTH_DECREASED #/properties/a/items/maxLength"}},
		{"through a reference", `{"properties":{"a":{"$ref":"#/definitions/t"}},"definitions":{"t":{"minimum":1}}}`, `{"properties":{"a":{"$ref":"#/definitions/t"}},"definitions":{"t":{"minimum":2}}}`, []string{"MINIMUM_INCREASED #/properties/a/minimum"}},
		{
			"a cycle that narrows below itself", `{"properties":{"next":{"$ref":"#"},"v":{"type":"number"}}}`, `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`,
			[]string{"TYPE_NARROWED #/properties/next/properties/v", "TYPE_NARROWED #/properties/v"},
		},
		{"parts of a union", `{"anyOf":[{"type":"string","maxLength":1},{"type":"null"}]}`, `{"anyOf":[{"type":"null"},{"type":"string","maxLength":2}]}`, []string{"MAX_LENGTH_INCREASED #/anyOf/0/maxLength"}},
		{
			"covered by the rest", `{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"number"}}`, `{"additionalProperties":{"type":"number"}}`,
			[]string{"TYPE_EXTENDED #/properties/a", "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/a"},
		},
	} {
		old, _ := parseWith(c.old, nil)
		next, _ := parseWith(c.next, nil)
		list, err := jsoncompat.Checker.Reference(next, old, compat.Strict, compat.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range list {
			got = append(got, d.Type+" "+d.Path)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\nwant %v\n got %v", c.name, c.want, got)
		}
	}
}

// TestCycleRemembersNoGuess compares a union inside a cycle: the branch that is
// tried first leans on the open pair, which fails later.
func TestCycleRemembersNoGuess(t *testing.T) {
	t.Parallel()
	schema := func(v string) string {
		return `{"properties":{"child":{"anyOf":[{"$ref":"#"},{"type":"null"}]},"v":{"type":"` + v + `"}}}`
	}
	if back, forward := answer(t, schema("number"), schema("string"), compat.Strict); back != "no" || forward != "no" {
		t.Errorf("want no no, got %s %s", back, forward)
	}
	if back, forward := answer(t, schema("integer"), schema("number"), compat.Strict); back != "yes" || forward != "no" {
		t.Errorf("want yes no, got %s %s", back, forward)
	}
}

func TestNotChecked(t *testing.T) {
	t.Parallel()
	broken, err := jsonschema.Format.Parse(t.Context(), schemas.Source{Type: schemas.JSON, Text: `{"$ref":"nowhere.json"}`}, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := parseWith(`{"type":"string"}`, nil)
	for name, pair := range map[string][2]schemas.Schema{
		"a broken reader": {broken, whole}, "a broken writer": {whole, broken}, "no schema at all": {whole, nil},
	} {
		if _, err := jsoncompat.Checker.Reference(pair[0], pair[1], compat.Strict, compat.Budget{}); !errors.Is(err, compat.ErrNotChecked) {
			t.Errorf("%s: want ErrNotChecked, got %v", name, err)
		}
	}
	if _, err := jsoncompat.Checker.Reference(whole, whole, compat.Strict, compat.Budget{Steps: 1}); err != nil {
		t.Errorf("one step is enough for a plain pair: %v", err)
	}
	big, _ := parseWith(`{"properties":{"a":{},"b":{}}}`, nil)
	if _, err := jsoncompat.Checker.Reference(big, big, compat.Strict, compat.Budget{Steps: 1}); !errors.Is(err, compat.ErrNotChecked) {
		t.Errorf("an exhausted budget: want ErrNotChecked, got %v", err)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	got := jsoncompat.Checker.Message(compat.Difference{Type: "TYPE_CHANGED", Path: "#/properties/a"}, "new", "old", "json.type-narrowed")
	want := `{errorType:"TYPE_CHANGED", description:"The new schema does not accept all that the old schema does at path '#/properties/a': type changed (json.type-narrowed)'}`
	if got != want {
		t.Errorf("want %s\n got %s", want, got)
	}
}

func BenchmarkReference(b *testing.B) {
	object := func(n int, kind string) string {
		return `{"type":"object","additionalProperties":false,"properties":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"p%d":{"type":"%s","title":"t%d"}`, i, kind, i)
		}) + `}}`
	}
	recursive := func(kind string) string {
		return `{"properties":{"v":{"type":"` + kind + `"},"l":{"$ref":"#"},"r":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}`
	}
	for _, c := range []struct{ name, old, next string }{
		{"small", object(5, "integer"), object(6, "number")},
		{"500 properties", object(500, "integer"), object(501, "number")},
		{"recursive", recursive("integer"), recursive("number")},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, err := parseWith(c.old, nil)
			if err != nil {
				b.Fatal(err)
			}
			next, err := parseWith(c.next, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := jsoncompat.Checker.Reference(next, old, compat.Strict, compat.Budget{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
