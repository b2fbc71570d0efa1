package jsonschema_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// mended asks for a pair with repairs.
func mended(t testing.TB, old, next string, level compat.Level, policy compat.VerdictPolicy) compat.Report {
	t.Helper()
	return compat.Check(compat.Question{
		Checkers: []compat.Checker{jsoncompat.Checker}, Subject: "s", Level: level, VerdictPolicy: policy,
		Next: mustParse(t, next), History: []compat.Old{{Label: "1", Version: 1, Schema: mustParse(t, old)}},
		Variant: func(_ schemas.Schema, text string) (schemas.Schema, error) {
			return jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{})
		},
	})
}

// Every rule whose changes may hurt has a repair that works on its own example,
// at each level under which it is told as a break.
func TestEveryBreakHasARepair(t *testing.T) {
	t.Parallel()
	for _, r := range jsoncompat.Checker.Rules {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			for _, level := range []compat.Level{compat.Backward, compat.Forward, compat.Full} {
				for _, policy := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
					report := mended(t, r.Old, r.New, level, policy)
					for _, f := range report.Compared[0].Findings {
						if f.Severity != compat.SeverityBreaking {
							continue
						}
						if len(f.Repairs) == 0 {
							t.Errorf("%s, %s: %s (%s) has no repair", level, policy, f.Rule, f.Message)
						}
						for _, repair := range f.Repairs {
							again := mended(t, r.Old, repair.Schema, level, policy)
							if repair.First || repair.Whole != again.Compatible {
								t.Errorf("%s, %s: %q is said to pass: %v; it does: %v", level, policy, repair.Text, repair.Whole, again.Compatible)
							}
						}
					}
				}
			}
		})
	}
}

// A repair says what it does, and keeps what was sent but for that.
func TestRepairTexts(t *testing.T) {
	t.Parallel()
	const lines = `{
  "type": "object",
  "properties": {
    "id": {"type": "integer"},
    "nick": {
      "type": "string"
    }
  },
  "required": ["id"],
  "additionalProperties": false
}
`
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(lines) }
	const nick = ",\n    \"nick\": {\n      \"type\": \"string\"\n    }"
	for _, c := range []struct {
		name, old, next string
		level           compat.Level
		text, want      string
	}{
		{
			"a property goes back where it stood, on its lines", lines, replace(nick, ""), compat.Backward,
			`keep the property "nick", and mark it deprecated`, replace("\"type\": \"string\"\n", "\"type\": \"string\",\n      \"deprecated\": true\n"),
		},
		{"a member stays optional", lines, replace(`["id"]`, `["id", "nick"]`), compat.Backward, `leave the member "nick" optional`, lines},
		{"the only one required", `{"required":["a"]}`, `{"required":["b","a"]}`, compat.Backward, `leave the member "b" optional`, `{"required":["a"]}`},
		{"old readers need a member", `{"required":["a"]}`, `{"title":"T"}`, compat.Forward, `keep the member "a" required`, `{"title":"T", "required": ["a"]}`},
		{"an object stays open", `{"properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false}`, compat.Backward, "leave additionalProperties out", `{"properties":{"a":{}}}`},
		{"a bound stays", `{"type":"integer","maximum":9}`, `{"type":"integer","maximum":5,"title":"T"}`, compat.Backward, "keep maximum 9", `{"type":"integer","maximum":9,"title":"T"}`},
		{"a type joins", `{"properties":{"a":{"type":"string"}}}`, `{"properties":{"a":{"type":"integer"}}}`, compat.Backward, "let both stand: the type integer or string", `{"properties":{"a":{"type":["integer", "string"]}}}`},
		{
			"a new type beside the old", `{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"properties":{"a":{"type":"integer"}},"additionalProperties":false}`, compat.Backward,
			`keep the property "a" as it was, and put "a_integer" of the new type beside it`, `{"properties":{"a":{"type":"string"}, "a_integer": {"type":"integer"}},"additionalProperties":false}`,
		},
		{"a value stays", `{"enum":["a","b"]}`, `{"enum":["b", "c"]}`, compat.Backward, `keep "a" among the values, and stop to write it`, `{"enum":["b", "c", "a"]}`},
		{"a constant becomes a choice", `{"const":1}`, `{"const":2}`, compat.Backward, `keep 1 among the values, and stop to write it`, `{"enum": [2, 1]}`},
		{"an alternative stays", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"}]}`, compat.Backward, `keep {"type":"null"} in anyOf`, `{"anyOf":[{"type":"string"}, {"type":"null"}]}`},
		{
			"a definition comes along", `{"properties":{"a":{"$ref":"#/definitions/m"}},"additionalProperties":false,"definitions":{"m":{"type":"object","properties":{"n":{"$ref":"#/definitions/k"}}},"k":{}}}`,
			`{"properties":{},"additionalProperties":false}`, compat.Backward, `keep the property "a", and mark it deprecated`,
			`{"properties":{"a": {"$ref":"#/definitions/m", "deprecated": true}},"additionalProperties":false, "definitions": {"m": {"type":"object","properties":{"n":{"$ref":"#/definitions/k"}}}, "k": {}}}`,
		},
		{
			"both names", `{"properties":{"nick":{"type":"string"}},"required":["nick"],"additionalProperties":false}`, `{"properties":{"login":{"type":"string"}},"required":["login"],"additionalProperties":false}`, compat.Backward,
			`keep the property "nick" beside "login", and write both while consumers move`,
			`{"properties":{"login":{"type":"string"}, "nick": {"type":"string", "deprecated": true}},"additionalProperties":false}`,
		},
		{
			"the old name", `{"properties":{"nick":{"type":"string"}},"required":["nick"],"additionalProperties":false}`, `{"properties":{"login":{"type":"string"}},"required":["login"],"additionalProperties":false}`, compat.Full,
			`keep the name "nick"`, `{"properties":{"nick":{"type":"string"}},"required":["nick"],"additionalProperties":false}`,
		},
		{
			"a new property is left open", `{"properties":{}}`, `{"properties":{"a":{"type":"string","title":"A"}}}`, compat.Backward,
			`leave open what the property "a" holds, as it was`, `{"properties":{"a":{"title":"A"}}}`,
		},
		{"strings of either pattern", `{"pattern":"^a"}`, `{"pattern":"^b"}`, compat.Backward, "let strings of either pattern stand", `{"pattern":"(?:^b)|(?:^a)"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var offered []string
			for _, f := range mended(t, c.old, c.next, c.level, compat.Sound).Compared[0].Findings {
				for _, repair := range f.Repairs {
					if repair.Text == c.text {
						if repair.Schema != c.want {
							t.Errorf("want %s, got %s", c.want, repair.Schema)
						}
						return
					}
					offered = append(offered, repair.Text)
				}
			}
			t.Errorf("want %q, offered %q", c.text, offered)
		})
	}
}

// TestRepairsOfManyChanges: whatever repairs are shown hold, and the text with
// all of them passes; the share of breaks that have one is printed.
func TestRepairsOfManyChanges(t *testing.T) {
	t.Parallel()
	pairs := 12
	if testing.Short() {
		pairs = 4
	}
	breaks, repaired, shown, wholes := 0, 0, 0, 0
	for i := range pairs {
		m := newManifold(rand.New(rand.NewPCG(7, uint64(i))))
		old, next := m.text(func(int) bool { return false }), m.text(func(int) bool { return true })
		report := mended(t, old, next, compat.Backward, compat.Both)
		for _, c := range report.Compared {
			for _, f := range c.Findings {
				if f.Severity != compat.SeverityBreaking {
					continue
				}
				breaks++
				if len(f.Repairs) > 0 {
					repaired++
				} else {
					t.Logf("%s at %s has no repair: %s => %s", f.Rule, f.Path, old, next)
				}
				for _, repair := range f.Repairs {
					shown++
					again := mended(t, old, repair.Schema, compat.Backward, compat.Both)
					for _, left := range again.Compared[0].Findings {
						if left.Rule == f.Rule && left.Path == f.Path && left.Severity == compat.SeverityBreaking {
							t.Errorf("%q leaves %s at %s", repair.Text, f.Rule, f.Path)
						}
					}
				}
			}
			if c.Repaired != "" {
				wholes++
				if again := mended(t, old, c.Repaired, compat.Backward, compat.Both); !again.Compatible {
					t.Errorf("with all repairs it does not pass: %v", again.Messages)
				}
			}
		}
	}
	t.Logf("%d pairs: %d of %d breaks have a repair, %d repairs shown; %d pairs pass with theirs", pairs, repaired, breaks, shown, wholes)
	if repaired*100 < breaks*95 {
		t.Error("under 95 % of the breaks have a repair")
	}
}

// TestRepairsInReferences: a change that stands in what the schema refers to is
// repaired there, and the repair is the text of that.
func TestRepairsInReferences(t *testing.T) {
	t.Parallel()
	const main = `{"type":"object","properties":{"a":{"$ref":"other.json"},"b":{"$ref":"other.json#/definitions/b"}}}`
	refs := func(text string) []reference {
		return []reference{{Name: "other.json", Subject: "other", Version: 1, Schema: json.RawMessage(text)}}
	}
	check := func(t *testing.T, old, next, oldOther, nextOther string, level compat.Level) []compat.Finding {
		t.Helper()
		ask := compat.Question{Checkers: []compat.Checker{jsoncompat.Checker}, Level: level, VerdictPolicy: compat.Both}
		sides := make([]schemas.Schema, 2)
		for i, one := range [][2]string{{old, oldOther}, {next, nextOther}} {
			s, err := parseWith(one[0], refs(one[1]))
			if err != nil {
				t.Fatal(err)
			}
			sides[i] = s
		}
		ask.History, ask.Next = []compat.Old{{Label: "1", Version: 1, Schema: sides[0]}}, sides[1]
		ask.Variant = func(_ schemas.Schema, text string) (schemas.Schema, error) { return parseWith(text, refs(nextOther)) }
		return compat.Check(ask).Compared[0].Findings
	}
	for _, c := range []struct {
		name, old, next, oldOther, nextOther string
		text, want, reference                string
	}{
		{
			"a bound", main, main, `{"type":"integer","maximum":9,"definitions":{"b":{}}}`, `{"type":"integer", "maximum":5,"definitions":{"b":{}}}`,
			"keep maximum 9", `{"type":"integer", "maximum":9,"definitions":{"b":{}}}`, "other.json",
		},
		{
			"a definition of it", main, main, `{"definitions":{"b":{"type":["string","null"]}}}`, `{"definitions":{ "b":{"type":"string"}}}`,
			"let both stand: the type string or null", `{"definitions":{ "b":{"type":["string", "null"]}}}`, "other.json",
		},
		{
			"a property with a definition that it needs", main, main, `{"properties":{"x":{"$ref":"#/definitions/x"}},"additionalProperties":false,"definitions":{"x":{"type":"string"},"b":{}}}`,
			`{"properties":{},"additionalProperties":false,"definitions":{"b":{}}}`, `keep the property "x", and mark it deprecated`,
			`{"properties":{"x": {"$ref":"#/definitions/x", "deprecated": true}},"additionalProperties":false,"definitions":{"b":{}, "x": {"type":"string"}}}`, "other.json",
		},
		{
			"the reference itself", `{"properties":{"a":{"type":"string"}}}`, main, `{"definitions":{"b":{}}}`, `{"maxLength":3,"definitions":{"b":{}}}`,
			"", "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var offered []string
			found := c.text == ""
			for _, f := range check(t, c.old, c.next, c.oldOther, c.nextOther, compat.Backward) {
				for _, r := range f.Repairs {
					offered = append(offered, r.Text+" in "+r.Reference)
					next, other := r.Schema, c.nextOther
					if r.Reference != "" {
						next, other = c.next, r.Schema
					}
					for _, left := range check(t, c.old, next, c.oldOther, other, compat.Backward) {
						if left.Severity == compat.SeverityBreaking && (r.Whole || left.Rule == f.Rule && left.Path == f.Path) {
							t.Errorf("%q leaves %s at %s", r.Text, left.Rule, left.Path)
						}
					}
					if r.Text == c.text {
						found = true
						if r.Schema != c.want || r.Reference != c.reference || !r.Whole {
							t.Errorf("want %s of %q, got %+v", c.want, c.reference, r)
						}
					}
				}
			}
			if !found {
				t.Errorf("want %q, offered %q", c.text, offered)
			}
		})
	}
}
