package jsonschema_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
)

// aspects are changes of a schema that can be made apart from each other: each
// is the text of keywords before and after. Between them they name every rule
// that may refuse.
var aspects = []struct {
	plain   string // keywords that stay, for all of a group
	changes [][2]string
}{
	{`"type":"string"`, [][2]string{{``, `"maxLength":4`}, {`"minLength":1`, `"minLength":2`}, {`"pattern":"^[a-z]*$"`, `"pattern":"^[a-y]*$"`}}},
	{``, [][2]string{{`"type":["string","null"]`, `"type":"string"`}, {`"maxLength":9`, `"maxLength":5`}}},
	{``, [][2]string{{`"type":"string"`, `"type":"integer"`}}},
	{``, [][2]string{{`"type":"number"`, `"type":"integer"`}, {`"minimum":0`, `"minimum":1`}, {`"maximum":100`, `"maximum":50`}}},
	{`"type":"integer"`, [][2]string{{``, `"multipleOf":2`}, {`"minimum":-9007199254740993`, `"minimum":-9007199254740992`}}},
	{`"type":"integer"`, [][2]string{{`"multipleOf":4`, `"multipleOf":6`}}},
	{``, [][2]string{{`"enum":["a","b",3]`, `"enum":["a","b"]`}}},
	{``, [][2]string{{`"enum":["a","b"]`, `"enum":["b","c"]`}}},
	{`"type":"array"`, [][2]string{{`"maxItems":9`, `"maxItems":4`}, {``, `"uniqueItems":true`}, {`"items":{"type":"number"}`, `"items":{"type":"integer"}`}, {``, `"minItems":1`}}},
	{`"type":"array"`, [][2]string{{``, `"contains":{"const":1}`}, {``, `"items":{"type":["integer","string"]}`}}},
	{`"type":"array"`, [][2]string{{`"contains":{"enum":[1,2]}`, `"contains":{"const":1}`}}},
	{`"type":"object","properties":{"p":{},"q":{}}`, [][2]string{{``, `"required":["q"]`}, {``, `"additionalProperties":false`}, {``, `"minProperties":1`}}},
	{`"type":"object"`, [][2]string{{``, `"required":["r","s"]`}, {`"maxProperties":9`, `"maxProperties":4`}, {``, `"propertyNames":{"maxLength":5}`}}},
	{`"type":"object"`, [][2]string{{`"properties":{"p":{}}`, `"properties":{"p":{},"n":{"type":"integer"}}`}, {``, `"patternProperties":{"^x-":{"type":"string"}}`}, {``, `"dependencies":{"card":["cvv"]}`}}},
	{`"type":"object","additionalProperties":false`, [][2]string{{`"properties":{"p":{},"gone":{}}`, `"properties":{"p":{}}`}}},
	{`"type":"object","additionalProperties":false`, [][2]string{{`"properties":{"p":{},"nick":{"type":"string"}}`, `"properties":{"p":{},"login":{"type":"string"}}`}}},
	{`"type":"object"`, [][2]string{{`"additionalProperties":{"type":"number"}`, `"additionalProperties":{"type":"integer"}`}, {``, `"dependencies":{"a":{"required":["b"]}}`}}},
	{``, [][2]string{{`"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]`, `"anyOf":[{"type":"string"},{"type":"integer"}]`}}},
	{``, [][2]string{{`"oneOf":[{"type":"string"},{"type":"boolean"},{"type":"null"}]`, `"oneOf":[{"type":"string"},{"type":"boolean"}]`}}},
	{``, [][2]string{{`"allOf":[{"type":"string"}]`, `"allOf":[{"type":"string"},{"maxLength":3}]`}, {``, `"not":{"const":"no"}`}}},
	{`"type":"integer"`, [][2]string{{`"not":{"minimum":10}`, `"not":{"minimum":5}`}}},
	{``, [][2]string{{`"if":{"type":"number"},"then":{"minimum":0}`, `"if":{"type":"number"},"then":{"minimum":1}`}}},
	{``, [][2]string{
		{
			`"anyOf":[{"type":"object","properties":{"k":{"const":1},"v":{"type":"string"}},"required":["k"]},{"type":"object","properties":{"k":{"const":2},"v":{}},"required":["k"]}]`,
			`"anyOf":[{"type":"object","properties":{"k":{"const":1},"v":{"type":"string","maxLength":2}},"required":["k"]},{"type":"object","properties":{"k":{"const":2},"v":{"type":"integer"}},"required":["k"]}]`,
		},
	}},
}

// manifold makes a schema of several slots, each with several aspects, in a
// layout of its own; which aspects are the new ones is told by a mask.
type manifold struct {
	slots  []int
	swap   []bool // of each aspect: its new text is the old one
	count  int
	draft  string
	layout []int
}

func newManifold(r *rand.Rand) manifold {
	m := manifold{draft: []string{draft7, draft7, draft2019, draft2020}[r.IntN(4)]}
	for range 2 + r.IntN(4) {
		slot := r.IntN(len(aspects))
		m.slots = append(m.slots, slot)
		m.count += len(aspects[slot].changes)
		m.layout = append(m.layout, r.IntN(6))
	}
	for range m.count {
		m.swap = append(m.swap, r.IntN(4) == 0)
	}
	return m
}

func (m manifold) text(isNew func(aspect int) bool) string {
	var properties, definitions, required []string
	aspect := 0
	for i, slot := range m.slots {
		var words []string
		if aspects[slot].plain != "" {
			words = append(words, aspects[slot].plain)
		}
		for _, c := range aspects[slot].changes {
			word := c[0]
			if isNew(aspect) != m.swap[aspect] {
				word = c[1]
			}
			if word != "" {
				words = append(words, word)
			}
			aspect++
		}
		text := "{" + strings.Join(words, ",") + "}"
		name := fmt.Sprintf("s%d", i)
		switch m.layout[i] {
		case 0:
			text = `{"type":"array","items":` + text + `}`
		case 1:
			definitions = append(definitions, `"`+name+`":`+text)
			text = `{"$ref":"#/definitions/` + name + `"}`
		case 2:
			text = `{"type":"object","properties":{"in":` + text + `}}`
		case 3:
			required = append(required, `"`+name+`"`)
		}
		properties = append(properties, `"`+name+`":`+text)
	}
	return `{"$schema":"` + m.draft + `","type":"object","definitions":{` + strings.Join(definitions, ",") + `},"required":[` + strings.Join(required, ",") +
		`],"properties":{` + strings.Join(properties, ",") + `}}`
}

// TestEveryFindingHasItsWitness makes several changes at once and asks for a
// witness of each that has one when it is made alone: verified by both sides of
// ours, and by the referees outside the ledger. CARTORIO_HUNT is the duration of
// a long run.
func TestEveryFindingHasItsWitness(t *testing.T) {
	t.Parallel()
	l := readLedger(t)
	pairs, seed, end := 60, uint64(1), time.Time{}
	if testing.Short() {
		pairs = 15
	}
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CARTORIO_HUNT: %v", err)
		}
		pairs, seed, end = 1<<40, rand.Uint64(), time.Now().Add(d)
	}
	type about struct {
		rule, path string
		direction  int
	}
	due, given, pure, verified, refereed, loose := 0, 0, 0, 0, 0, 0
	for i := 0; i < pairs && (end.IsZero() || time.Now().Before(end)); i++ {
		m := newManifold(rand.New(rand.NewPCG(seed, uint64(i))))
		oldText := m.text(func(int) bool { return false })
		nextText := m.text(func(int) bool { return true })
		old, next := mustParse(t, oldText), mustParse(t, nextText)
		_, changes := jsoncompat.Checker.Truth(old, next, compat.Budget{})
		got := map[about]*compat.Witness{}
		for _, c := range changes {
			for d, w := range c.Witness[compat.Data] {
				if w == nil {
					continue
				}
				got[about{c.Rule, c.Path, d}] = w
				side, other := [2]schemas.Schema{old, next}, [2]string{oldText, nextText}
				writer, reader := side[d], side[1-d]
				p := schemas.Payload{Bytes: w.Bytes}
				if !writer.Reads(writer, p, schemas.ReadOptions{}).OK() || reader.Reads(writer, p, schemas.ReadOptions{}).OK() {
					t.Errorf("pair %d of seed %d: %s at %s: %s proves nothing", i, seed, c.Rule, c.Path, w.JSON)
				}
				verified++
				wrote, read := judgesOf(other[d], nil), judgesOf(other[1-d], nil)
				for k := range wrote {
					a, judged := wrote[k].accept(w.JSON)
					b, also := read[k].accept(w.JSON)
					if !judged || !also {
						continue
					}
					refereed++
					if (!a || b) && !l.excuses(wrote[k].name, oldText, nextText) {
						t.Errorf("pair %d of seed %d: %s does not see that %s breaks %s at %s\n%s => %s", i, seed, wrote[k].name, w.JSON, c.Rule, c.Path, oldText, nextText)
					}
				}
			}
		}
		for one := range m.count {
			alone := mustParse(t, m.text(func(a int) bool { return a == one }))
			undone := [2]schemas.Schema{mustParse(t, m.text(func(a int) bool { return a != one })), alone}
			_, single := jsoncompat.Checker.Truth(old, alone, compat.Budget{})
			for _, c := range single {
				for d, w := range c.Witness[compat.Data] {
					if w == nil {
						continue
					}
					// A witness of the change alone proves it among the others too,
					// unless they exclude it.
					p := schemas.Payload{Bytes: w.Bytes}
					side := [2]schemas.Schema{old, next}
					if !side[d].Reads(side[d], p, schemas.ReadOptions{}).OK() || side[1-d].Reads(side[d], p, schemas.ReadOptions{}).OK() {
						loose++
						continue
					}
					if !slices.ContainsFunc(changes, func(o compat.Change) bool { return o.Rule == c.Rule && o.Path == c.Path }) {
						loose++ // told as part of another change
						continue
					}
					due++
					found := got[about{c.Rule, c.Path, d}]
					if found == nil {
						if testing.Verbose() {
							t.Logf("pair %d of seed %d: %s at %s (%d) has no witness, though %s proves it: %s => %s", i, seed, c.Rule, c.Path, d, w.JSON, oldText, nextText)
						}
						continue
					}
					given++
					// The very change is to blame: with it undone the value passes.
					if undone[d].Reads(side[d], schemas.Payload{Bytes: found.Bytes}, schemas.ReadOptions{}).OK() {
						pure++
					}
				}
			}
		}
	}
	if due == 0 {
		t.Fatal("no finding was due a witness")
	}
	t.Logf("%d of %d findings that were due a witness have one: %.2f %%; %d pass once that very change is undone; %d more are excluded or told by other changes", given, due, 100*float64(given)/float64(due), pure, loose)
	t.Logf("%d witnesses verified by both sides, %d judgments by the referees", verified, refereed)
	l.told(t)
	if given*100 < due*99 {
		t.Errorf("under 99 %%")
	}
}

func mustParse(t testing.TB, text string) schemas.Schema {
	t.Helper()
	s, err := parseWith(text, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

// TestWitnessesBlameTheirChange: own cases of changes made together, each with
// the very witness that proves it.
func TestWitnessesBlameTheirChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, next string
		want            map[string]string // rule and path: new reads old
	}{
		{
			"a type at one property, a length at another",
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","maxLength":9}}}`,
			`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","maxLength":3}}}`,
			map[string]string{"json.type-changed $.a": `{"a":""}`, "json.max-length-lowered $.b": `{"b":"aaaa"}`},
		},
		{
			"two members required", `{"type":"object"}`, `{"type":"object","required":["a","b"]}`,
			map[string]string{"json.member-required $.a": `{"b":null}`, "json.member-required $.b": `{"a":null}`},
		},
		{
			"two properties gone from a closed object",
			`{"properties":{"a":{},"b":{"type":"string"}},"additionalProperties":false}`, `{"properties":{},"additionalProperties":false}`,
			map[string]string{"json.property-removed $.a": `{"a":null}`, "json.property-removed $.b": `{"b":""}`},
		},
		{
			"a required enum that still fits", `{"properties":{"k":{"enum":["x","y"]},"n":{"type":"number"}},"required":["k","n"]}`,
			`{"properties":{"k":{"enum":["y"]},"n":{"type":"number","minimum":1}},"required":["k","n"]}`,
			map[string]string{"json.values-narrowed $.k": `{"k":"x","n":1}`, "json.lower-bound-raised $.n": `{"k":"y","n":0}`},
		},
		{
			"each alternative of a union",
			`{"anyOf":[{"properties":{"k":{"const":1},"v":{"type":"string"}},"required":["k"]},{"properties":{"k":{"const":2},"v":{"type":"number"}},"required":["k"]}],"type":"object"}`,
			`{"anyOf":[{"properties":{"k":{"const":1},"v":{"type":"string","maxLength":2}},"required":["k"]},{"properties":{"k":{"const":2},"v":{"type":"integer"}},"required":["k"]}],"type":"object"}`,
			map[string]string{
				`json.max-length-lowered $/anyOf(k=1).v`: `{"k":1,"v":"aaa"}`,
				`json.type-narrowed $/anyOf(k=2).v`:      `{"k":2,"v":0.5}`,
			},
		},
		{
			"two keywords of one string", `{"type":"string","minLength":1,"pattern":"^[a-z]*$"}`, `{"type":"string","minLength":2,"pattern":"^[a-y]*$"}`,
			map[string]string{"json.min-length-raised $": `"a"`, "json.pattern-changed $": `"az"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, changes := jsoncompat.Checker.Truth(mustParse(t, c.old), mustParse(t, c.next), compat.Budget{})
			got := map[string]string{}
			for _, change := range changes {
				if w := change.Witness[compat.Data][0]; w != nil {
					got[change.Rule+" "+change.Path] = w.JSON
				}
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}
