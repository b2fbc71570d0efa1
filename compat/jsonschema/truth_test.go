package jsonschema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// TestTruth: own cases of what the search has to prove, to refute and to leave
// open; every refutation carries a witness.
func TestTruth(t *testing.T) {
	t.Parallel()
	const d2020 = `"$schema":"https://json-schema.org/draft/2020-12/schema",`
	const d2019 = `"$schema":"https://json-schema.org/draft/2019-09/schema",`
	const yes, no, open = compat.Safe, compat.Breaks, compat.Unchecked
	for _, c := range []struct {
		name, old, next   string
		backward, forward compat.Answer
	}{
		{"integer bounds respelled", `{"type":"integer","exclusiveMinimum":4}`, `{"type":"integer","minimum":4.5}`, yes, yes},
		{"bounds beyond 53 bits", `{"type":"integer","minimum":9007199254740993}`, `{"type":"integer","minimum":9007199254740992}`, yes, no},
		{"integers below an end at 0", `{"type":"integer"}`, `{"type":"integer","minimum":0}`, no, yes},
		{
			"a narrower member in a tagged union", `{"anyOf":[{"type":"object","properties":{"k":{"const":1},"v":{"type":"integer"}},"required":["k"]},{"type":"object","properties":{"k":{"const":2}},"required":["k"]}]}`,
			`{"anyOf":[{"type":"object","properties":{"k":{"const":1},"v":{"type":"integer","minimum":0}},"required":["k"]},{"type":"object","properties":{"k":{"const":2}},"required":["k"]}]}`, no, yes,
		},
		{"a step of two steps", `{"allOf":[{"multipleOf":4},{"multipleOf":6}]}`, `{"multipleOf":12}`, yes, yes},
		{"no multiple between the ends", `{"type":"number","minimum":1,"maximum":2,"multipleOf":3}`, `false`, yes, yes},
		{"a fraction as a step", `{"type":"integer"}`, `{"type":"integer","multipleOf":0.5}`, yes, yes},
		{"a needle between two patterns", `{"type":"string","pattern":"^[a-f]{7}$"}`, `{"type":"string","pattern":"^([a-e]{7}|[b-f]{7})$"}`, no, yes},
		{"patterns respelled", `{"type":"string","pattern":"^(ab)*$"}`, `{"type":"string","pattern":"^(?:(?:ab)(?:ab)*)?$"}`, yes, yes},
		{"a length that a pattern implies", `{"type":"string","pattern":"^[0-9]{3}$"}`, `{"type":"string","pattern":"^[0-9]{3}$","minLength":3,"maxLength":3}`, yes, yes},
		{"a word boundary", `{"type":"string","pattern":"^a b$"}`, `{"type":"string","pattern":"a\\b"}`, yes, no},
		{"lookahead, the same", `{"type":"string","pattern":"^(?=.*a)b"}`, `{"type":"string","pattern":"^(?=.*a)b","title":"t"}`, yes, yes},
		{
			"tagged branches in another order", `{"anyOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]}]}`,
			`{"oneOf":[{"properties":{"k":{"const":2}},"required":["k"]},{"properties":{"k":{"const":1}},"required":["k"]}]}`, no, yes,
		},
		{
			"tagged objects, anyOf to oneOf", `{"type":"object","anyOf":[{"properties":{"k":{"const":1}},"required":["k"]},{"properties":{"k":{"const":2}},"required":["k"]}]}`,
			`{"type":"object","oneOf":[{"properties":{"k":{"const":2}},"required":["k"]},{"properties":{"k":{"const":1}},"required":["k"]}]}`, yes, yes,
		},
		{"a union covers jointly", `{"type":"integer"}`, `{"anyOf":[{"maximum":0},{"minimum":1}]}`, yes, no},
		{"oneOf overlaps in one number, and in all that is none", `{"type":"number"}`, `{"oneOf":[{"maximum":5},{"minimum":5}]}`, no, yes},
		{
			"names told apart by pattern", `{"patternProperties":{"^a":{"type":"string"}},"additionalProperties":{"type":"integer"}}`,
			`{"patternProperties":{"^[^a]":{"type":"integer"}},"additionalProperties":true}`, yes, no,
		},
		{"names of a finite set", `{"type":"object","propertyNames":{"enum":["a","b"]}}`, `{"type":"object","maxProperties":2}`, yes, no},
		{"required in a closed object that lacks it", `{"type":"object","required":["x"],"additionalProperties":false}`, `false`, yes, yes},
		{"a list that a recursion shortens", `{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`, `false`, yes, yes},
		{"recursion unfolded", `{"properties":{"n":{"$ref":"#"}},"additionalProperties":false}`, `{"properties":{"n":{"properties":{"n":{"$ref":"#"}},"additionalProperties":false}},"additionalProperties":false}`, yes, yes},
		{"recursion narrowed below", `{"properties":{"n":{"$ref":"#"},"v":{}}}`, `{"properties":{"n":{"$ref":"#"},"v":{"type":"string"}}}`, no, yes},
		{"contains narrowed under all", `{"type":"array","items":{"enum":[1,2]},"contains":{"const":2},"minItems":1}`, `{"type":"array","contains":{"enum":[2,3]}}`, yes, no},
		{"few values, unique", `{"type":"array","items":{"enum":[1,2]},"uniqueItems":true}`, `{"type":"array","maxItems":2}`, yes, no},
		{"unique in one item", `{"type":"array","maxItems":1}`, `{"type":"array","maxItems":1,"uniqueItems":true}`, yes, yes},
		{"two of a kind and one allowed", `{` + d2019 + `"type":"array","contains":{"type":"string"},"minContains":2}`, `{` + d2019 + `"type":"array","contains":{"type":"string"},"maxContains":1}`, no, no},
		{"unevaluated for additional", `{` + d2020 + `"properties":{"a":{}},"unevaluatedProperties":false}`, `{` + d2020 + `"properties":{"a":{}},"additionalProperties":false}`, yes, yes},
		{
			"unevaluated sees into the branch that holds", `{` + d2020 + `"type":"object","anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true}}],"unevaluatedProperties":false}`,
			`{` + d2020 + `"type":"object","properties":{"a":{"const":1},"b":true},"additionalProperties":false}`, yes, yes,
		},
		{"if and then as an implication", `{"if":{"type":"string"},"then":{"minLength":2}}`, `{"anyOf":[{"not":{"type":"string"}},{"minLength":2}]}`, yes, yes},
		{"a dependency as a schema", `{"type":"object","dependencies":{"a":["b"]}}`, `{"type":"object","anyOf":[{"not":{"required":["a"]}},{"required":["a","b"]}]}`, yes, yes},
		{"a lone dynamic anchor", `{` + d2020 + `"$dynamicAnchor":"n","properties":{"c":{"$dynamicRef":"#n"},"v":{"type":"integer"}}}`, `{` + d2020 + `"properties":{"c":{"$ref":"#"},"v":{"type":"number"}}}`, yes, no},
		{"a format that readers may assert", `{"type":"string"}`, `{"type":"string","format":"email"}`, open, yes},
		{"a format that nobody knows", `{"type":"string"}`, `{"type":"string","format":"x-iban"}`, yes, yes},
		{"a format in a draft where it is a remark", `{` + d2020 + `"type":"string"}`, `{` + d2020 + `"type":"string","format":"email"}`, yes, yes},
		{"a value that is no string of a new format", `{"enum":["a",1]}`, `{"enum":["a",1],"format":"ipv4"}`, open, yes},
		{"a value that is a string of a new format", `{"enum":["1.2.3.4",1]}`, `{"enum":["1.2.3.4",1],"format":"ipv4"}`, yes, yes},
		{"a member that is no string of a new format", `{"const":{"a":["x"]}}`, `{"const":{"a":["x"]},"properties":{"a":{"items":{"format":"ipv4"}}}}`, open, yes},
		{"a value of the same format", `{"enum":["a","1.2.3.4"],"format":"ipv4"}`, `{"type":"string","format":"ipv4"}`, yes, no},
		{"anything under nothing", `false`, `{"type":"string"}`, yes, no},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			old, err := parseWith(c.old, nil)
			if err != nil {
				t.Fatal(err)
			}
			next, err := parseWith(c.next, nil)
			if err != nil {
				t.Fatal(err)
			}
			effects, changes := jsoncompat.Checker.Truth(old, next, compat.Budget{})
			whole := effects[compat.Data]
			if whole.NewReadsOld.Answer != c.backward || whole.OldReadsNew.Answer != c.forward {
				t.Errorf("new reads old %s, old reads new %s; want %s and %s", whole.NewReadsOld.Answer, whole.OldReadsNew.Answer, c.backward, c.forward)
			}
			for d, outcome := range []compat.Outcome{whole.NewReadsOld, whole.OldReadsNew} {
				proved := 0
				for _, change := range changes {
					w := change.Witness[compat.Data][d]
					if w == nil {
						continue
					}
					proved++
					writer, reader := old, next
					if d == 1 {
						writer, reader = next, old
					}
					p := schemas.Payload{Bytes: w.Bytes}
					if !writer.Reads(writer, p, schemas.ReadOptions{}).OK() || reader.Reads(writer, p, schemas.ReadOptions{}).OK() {
						t.Errorf("%s: the witness %s proves nothing", change.Rule, w.JSON)
					}
				}
				if (outcome.Answer == compat.Breaks) != (proved > 0) {
					t.Errorf("direction %d %s, with %d witnesses", d, outcome.Answer, proved)
				}
			}
		})
	}
}

// TestTruthOfWhatCannotBeRead: no answer is no yes.
func TestTruthOfWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	old, err := parseWith(`{"type":"string"}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken, err := jsonschema.Format.Parse(t.Context(), schemas.Source{Type: schemas.JSON, Text: `{"$ref":"#/nowhere"}`}, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil {
		t.Fatal(err)
	}
	if effects, changes := jsoncompat.Checker.Truth(old, broken, compat.Budget{}); effects != nil || changes != nil {
		t.Errorf("got %v, %v", effects, changes)
	}
}

// TestSpentBudgetIsOpen: whatever the budget, what is not proved is not safe.
func TestSpentBudgetIsOpen(t *testing.T) {
	t.Parallel()
	old, err := parseWith(fields(20, `{"type":"integer"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := parseWith(fields(20, `{"type":"number"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for steps := 1; steps < 20_000; steps = steps*2 + 1 {
		effects, _ := jsoncompat.Checker.Truth(old, next, compat.Budget{Steps: steps})
		if e := effects[compat.Data]; e.NewReadsOld.Answer == compat.Breaks || e.OldReadsNew.Answer == compat.Safe {
			t.Errorf("with %d steps: %v", steps, e)
		}
	}
}

func FuzzTruth(f *testing.F) {
	for _, r := range jsoncompat.Checker.Rules {
		f.Add(r.Old, r.New, `{"id":1,"nick":"a"}`)
	}
	f.Add(`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"oneOf":[{"$ref":"#/oneOf/1"},{"patternProperties":{"^b":{"not":{"const":1}}}}]}`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, oldText, nextText, payload string) {
		old, err := parseWith(oldText, nil)
		if err != nil {
			return
		}
		next, err := parseWith(nextText, nil)
		if err != nil {
			return
		}
		effects, _ := jsoncompat.Checker.Truth(old, next, compat.Budget{Steps: 200_000})
		p := schemas.Payload{Bytes: []byte(payload)}
		if !old.Reads(old, p, schemas.ReadOptions{}).OK() {
			return
		}
		if r := next.Reads(old, p, schemas.ReadOptions{}); effects[compat.Data].NewReadsOld.Answer == compat.Safe && !r.OK() && r.Violations[0].Kind == schemas.Invalid {
			t.Fatalf("%s is called safe, and refuses %s: %s", nextText, payload, r.Violations[0].Text)
		}
	})
}

// TestMeaningNeedsAHuman: what validators do not see and may still change what a
// value means is told as a risk; what was added or taken away is at least noted.
func TestMeaningNeedsAHuman(t *testing.T) {
	t.Parallel()
	const d2020 = `"$schema":"https://json-schema.org/draft/2020-12/schema",`
	for _, c := range []struct {
		name, old, next, rule, path string
		severity                    compat.Severity
	}{
		{"a description", `{"description":"in cents"}`, `{"description":"in euros"}`, "json.annotation-changed", "$", compat.Risk},
		{"a title", `{"title":"net"}`, `{"title":"gross"}`, "json.annotation-changed", "$", compat.Risk},
		{"a comment", `{"$comment":"UTC"}`, `{"$comment":"local time"}`, "json.annotation-changed", "$", compat.Risk},
		{"a description that is new", `{}`, `{"description":"in euros"}`, "json.annotation-changed", "$", compat.Note},
		{"a unit", `{"properties":{"a":{"type":"integer","unit":"cents"}}}`, `{"properties":{"a":{"type":"integer","unit":"euros"}}}`, "json.attribute-changed", "$.a@unit", compat.Risk},
		{"a unit that is new", `{"type":"integer"}`, `{"type":"integer","x-unit":"euros"}`, "json.attribute-changed", "$@x-unit", compat.Risk},
		{"another attribute", `{"x-team":"a"}`, `{"x-team":"b"}`, "json.attribute-changed", "$@x-team", compat.Note},
		{"a default", `{"default":1}`, `{"default":2}`, "json.default-changed", "$", compat.Risk},
		{"a default that is new", `{}`, `{"default":2}`, "json.default-changed", "$", compat.Note},
		{"read-only", `{"readOnly":false}`, `{"readOnly":true}`, "json.annotation-changed", "$", compat.Risk},
		{"read-only spelled out", `{}`, `{"readOnly":false}`, "json.annotation-changed", "$", compat.Note},
		{"write-only", `{"writeOnly":true}`, `{}`, "json.annotation-changed", "$", compat.Risk},
		{"a format that asserts nothing", `{` + d2020 + `"type":"string","format":"date"}`, `{` + d2020 + `"type":"string","format":"date-time"}`, "json.format-changed", "$", compat.Risk},
		{"a format that readers may assert", `{"type":"string"}`, `{"type":"string","format":"date"}`, "json.format-added", "$", compat.Risk},
		{"an encoding", `{` + d2020 + `"type":"string"}`, `{` + d2020 + `"type":"string","contentEncoding":"base64"}`, "json.content-changed", "$", compat.Risk},
		{"deprecated", `{}`, `{"deprecated":true}`, "json.annotation-changed", "$", compat.Note},
		{
			"a description beside a reference", `{"properties":{"a":{"$ref":"#/definitions/m","description":"in cents"}},"definitions":{"m":{"type":"integer"}}}`,
			`{"properties":{"a":{"$ref":"#/definitions/m","description":"in euros"}},"definitions":{"m":{"type":"integer"}}}`, "json.annotation-changed", "$.a", compat.Risk,
		},
		{
			"a rename that nobody refuses", `{"properties":{"nick":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `{"properties":{"login":{"type":"string"}},"additionalProperties":{"type":"string"}}`,
			"json.property-renamed", "$.login", compat.Risk,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report := compat.Check(compat.Question{
				Checkers: []compat.Checker{jsoncompat.Checker}, Subject: "s", Level: compat.Backward, VerdictPolicy: compat.Sound,
				Next: mustParse(t, c.next), History: []compat.Old{{Label: "1", Version: 1, Schema: mustParse(t, c.old)}},
			})
			for _, f := range report.Compared[0].Findings {
				if f.Rule == c.rule && f.Path == c.path {
					if f.Severity != c.severity {
						t.Errorf("want %s, got %s: %s", c.severity, f.Severity, f.Message)
					}
					return
				}
			}
			t.Errorf("%s at %s is not told: %v", c.rule, c.path, report.Compared[0].Findings)
		})
	}
}

// TestRenames: what went and what came is told once where it looks like one
// thing, and apart where it does not.
func TestRenames(t *testing.T) {
	t.Parallel()
	object := func(properties string, required ...string) string {
		quoted := make([]string, len(required))
		for i := range required {
			quoted[i] = `"` + required[i] + `"`
		}
		return `{"type":"object","properties":{` + properties + `},"required":[` + strings.Join(quoted, ",") + `],"additionalProperties":false}`
	}
	const short = `{"type":"string","maxLength":9}`
	for _, c := range []struct {
		name, old, next string
		want            []string
	}{
		{"one for one", object(`"a":`+short, "a"), object(`"b":`+short, "b"), []string{"json.property-renamed $.b"}},
		{"the words changed with it", object(`"a":{"type":"string","title":"A"}`), object(`"b":{"type":"string","title":"B"}`), []string{"json.annotation-changed $.b", "json.property-renamed $.b"}},
		{"of two, the one that says the same", object(`"a":` + short + `,"n":{"type":"integer"}`), object(`"b":` + short + `,"x":{"type":"null"}`), []string{"json.property-added $.x", "json.property-removed $.n", "json.property-renamed $.b"}},
		{"two candidates are none", object(`"a":` + short), object(`"b":` + short + `,"c":` + short), []string{"json.property-added $.b", "json.property-added $.c", "json.property-removed $.a"}},
		{"another type is none", object(`"a":` + short), object(`"b":{"type":"integer"}`), []string{"json.property-added $.b", "json.property-removed $.a"}},
		{"properties that say nothing are none", object(`"a":{}`), object(`"b":{}`), []string{"json.property-added $.b", "json.property-removed $.a"}},
		{"no longer required, and renamed", object(`"a":`+short, "a"), object(`"b":` + short), []string{"json.property-renamed $.b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, changes := jsoncompat.Checker.Truth(mustParse(t, c.old), mustParse(t, c.next), compat.Budget{})
			var got []string
			for _, change := range changes {
				got = append(got, change.Rule+" "+change.Path)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}
