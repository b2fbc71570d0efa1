package jsonschema_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
)

// grower makes schemas and payloads that have something to do with each other:
// few names, few numbers, few strings.
type grower struct {
	*rand.Rand
	draft string
}

const (
	draft4    = "http://json-schema.org/draft-04/schema#"
	draft6    = "http://json-schema.org/draft-06/schema#"
	draft7    = "http://json-schema.org/draft-07/schema#"
	draft2019 = "https://json-schema.org/draft/2019-09/schema"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

var drafts = []string{draft4, draft6, draft7, draft2019, draft2020}

func (g grower) one(options ...string) string { return options[g.IntN(len(options))] }

func (g grower) list(most int, f func() string) string {
	parts := make([]string, g.IntN(most+1))
	for i := range parts {
		parts[i] = f()
	}
	return strings.Join(parts, ",")
}

func (g grower) payload(depth int) string {
	switch n := g.IntN(9); {
	case n < 2 || depth <= 0 && n > 6:
		return g.one("0", "1", "-1", "2.5", "1.0", "3", "10", "1e1", "0.1", "4", "6")
	case n < 4:
		return g.one(`""`, `"a"`, `"ab"`, `"abc"`, `"é"`, `"b1"`, `"aa"`)
	case n == 4:
		return g.one("true", "false", "null")
	case n < 7:
		return "[" + g.list(3, func() string { return g.payload(depth - 1) }) + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c", "ab", "x"} {
		if g.IntN(5) < 2 {
			members = append(members, `"`+name+`":`+g.payload(depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// schema is a random subschema of g's draft.
func (g grower) schema(depth int) string {
	modern := g.draft == draft2019 || g.draft == draft2020
	always := g.one("true", "false", "{}")
	if g.draft == draft4 {
		always = "{}"
	}
	if depth <= 0 || g.IntN(8) == 0 {
		return g.one(always, `{"type":"string"}`, `{"type":"integer"}`, `{"$ref":"#/definitions/d"}`, `{"$ref":"#/definitions/e"}`, `{"enum":[1,"a"]}`, `{"type":["number","null"]}`)
	}
	sub := func() string { return g.schema(depth - 1) }
	two := func() string { return sub() + "," + sub() }
	words := []func() string{
		func() string {
			return `"type":` + g.one(`"string"`, `"number"`, `"integer"`, `"object"`, `"object"`, `"array"`, `["null","boolean"]`, `["object","string"]`)
		},
		func() string { return `"enum":[` + g.payload(1) + `,"z",{"z":1}]` },
		func() string { return `"minimum":` + g.one("0", "1", "2.5") },
		func() string { return `"maximum":` + g.one("0", "3", "10") },
		func() string { return `"multipleOf":` + g.one("1", "2", "0.5", "0.1", "3") },
		func() string { return `"minLength":` + g.one("1", "2") },
		func() string { return `"maxLength":` + g.one("1", "2") },
		func() string { return `"pattern":` + g.one(`"^a"`, `"b"`, `"\\d$"`, `"^.$"`, `"^[ab]*$"`) },
		func() string { return `"minItems":` + g.one("1", "2") },
		func() string { return `"maxItems":` + g.one("1", "2") },
		func() string { return `"uniqueItems":true` },
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"properties":{"a":` + sub() + `}` },
		func() string {
			return `"properties":{"a":` + sub() + `},"required":["a"],"additionalProperties":` + g.one("false", sub())
		},
		func() string { return `"patternProperties":{` + g.one(`"^a"`, `"b$"`, `"."`) + `:` + sub() + `}` },
		func() string { return `"additionalProperties":` + g.one("false", sub(), sub()) },
		func() string { return `"required":["` + g.one("a", "b", "c") + `"]` },
		func() string { return `"minProperties":` + g.one("1", "2") },
		func() string { return `"maxProperties":` + g.one("1", "2") },
		func() string { return `"dependencies":{"a":["b"],"b":` + sub() + `}` },
		func() string { return `"allOf":[` + two() + `]` },
		func() string { return `"anyOf":[` + two() + `]` },
		func() string { return `"oneOf":[` + two() + `]` },
		func() string { return `"not":` + sub() },
	}
	if g.draft == draft4 {
		words = append(words, func() string { return `"minimum":1,"exclusiveMinimum":true` })
	} else {
		words = append(words,
			func() string { return `"exclusiveMaximum":` + g.one("1", "3", "10") },
			func() string { return `"const":` + g.payload(1) },
			func() string { return `"contains":` + sub() },
			func() string { return `"propertyNames":` + sub() },
		)
	}
	if g.draft != draft4 && g.draft != draft6 {
		words = append(words, func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() })
	}
	if g.draft == draft2020 {
		words = append(words, func() string { return `"prefixItems":[` + two() + `]` }, func() string { return `"items":` + sub() })
	} else {
		words = append(words, func() string { return `"items":` + sub() }, func() string { return `"items":[` + two() + `],"additionalItems":` + sub() })
	}
	if modern {
		words = append(words,
			func() string { return `"unevaluatedProperties":` + g.one("false", `{"type":"string"}`) },
			func() string { return `"unevaluatedItems":` + g.one("false", `{"type":"integer"}`) },
			func() string { return `"dependentSchemas":{"a":` + sub() + `}` }, func() string { return `"dependentRequired":{"a":["b"]}` },
			func() string { return `"contains":` + sub() + `,"minContains":2` }, func() string { return `"contains":` + sub() + `,"maxContains":1` },
			func() string { return `"$ref":"#/definitions/e"` },
		)
	}
	var parts []string
	names := map[string]bool{}
	for range 1 + g.IntN(3) {
		word := words[g.IntN(len(words))]()
		name, _, _ := strings.Cut(word, ":")
		taken := func(n string) bool { return names[n] && strings.Contains(word, n) }
		if !names[name] && !taken(`"required"`) && !taken(`"additionalProperties"`) {
			names[name] = true
			for _, n := range []string{`"required"`, `"additionalProperties"`, `"contains"`} {
				if strings.Contains(word, n+":") {
					names[n] = true
				}
			}
			parts = append(parts, word)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (g grower) document(depth int) string {
	d := g.schema(depth)
	if d == "true" || d == "false" {
		d = "{}"
	}
	return `{"$schema":"` + g.draft + `","definitions":{"d":` + strings.ReplaceAll(g.schema(1), `{"$ref":"#/definitions/d"}`, "{}") +
		`,"e":` + g.one(`{"properties":{"a":{"$ref":"#/definitions/e"}}}`, `{"type":["array","integer"],"items":{"$ref":"#/definitions/e"}}`) + `},"allOf":[` + d + `]}`
}

// mutate changes one thing, or a few, of a document's text.
func (g grower) mutate(text string) string {
	swaps := [][2]string{
		{`"integer"`, `"number"`},
		{`"number"`, `"integer"`},
		{`"minimum":0`, `"minimum":1`},
		{`"maximum":3`, `"maximum":10`},
		{`"oneOf"`, `"anyOf"`},
		{`"anyOf"`, `"oneOf"`},
		{`"allOf":[{`, `"anyOf":[{`},
		{`"required":["a"]`, `"required":["b"]`},
		{`"type":"string"`, `"type":["string","null"]`},
		{`"a":`, `"c":`},
		{`"minLength":1`, `"minLength":2`},
		{`false`, `{}`},
		{`{}`, `{"type":"string"}`},
		{`"^a"`, `"^[ab]"`},
		{`"not":`, `"title":"t","not":`},
		{`"minItems":1`, `"minItems":2`},
		{`"maxProperties":1`, `"maxProperties":2`},
		{`"items":{`, `"items":{"title":"t",`},
		{`"multipleOf":1`, `"multipleOf":2`},
		{`"const":`, `"default":`},
		{`"dependencies":`, `"$comment_":`},
		{`"unevaluatedProperties":false`, `"additionalProperties":false`},
		{`"uniqueItems":true`, `"uniqueItems":false`},
	}
	for range 1 + g.IntN(2) {
		s := swaps[g.IntN(len(swaps))]
		if at := strings.Count(text, s[0]); at > 0 {
			n := g.IntN(at)
			parts := strings.SplitN(text, s[0], n+2)
			text = strings.Join(parts[:n+1], s[0]) + s[1] + parts[n+1]
		}
	}
	return text
}

// pair makes two texts and the drafts they are in.
func (g grower) pair(depth int) (old, next string) {
	g.draft = drafts[g.IntN(len(drafts))]
	old = g.document(depth)
	switch g.IntN(6) {
	case 0:
		if g.IntN(2) == 0 {
			g.draft = drafts[g.IntN(len(drafts))]
		}
		return old, g.document(depth)
	default:
		return old, g.mutate(old)
	}
}

// TestSoundnessHunt holds Truth to random pairs and payloads: nothing that one
// side of a pair called safe accepts is refused by the other, judged by our own
// validator and by the referee where both sides of it agree with ours; and what
// is called a break has a witness. CARTORIO_HUNT is the duration of a long run.
func TestSoundnessHunt(t *testing.T) {
	t.Parallel()
	const short = 2 * time.Second
	duration := short
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CARTORIO_HUNT: %v", err)
		}
		duration = d
	} else if testing.Short() {
		duration = short / 4
	}
	// An ordinary run is the same everywhere; a hunt draws anew.
	seed := uint64(1)
	if os.Getenv("CARTORIO_HUNT") != "" {
		seed = rand.Uint64()
	}
	if text := os.Getenv("CARTORIO_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("CARTORIO_SEED: %v", err)
		}
	}
	l := readLedger(t)
	pairs, safe, open, breaks, payloads, refereed := 0, 0, 0, 0, 0, 0
	end := time.Now().Add(duration)
	for i := uint64(0); time.Now().Before(end) && !t.Failed(); i++ {
		g := grower{Rand: rand.New(rand.NewPCG(seed, i))}
		oldText, nextText := g.pair(1 + g.IntN(3))
		old, err := parseWith(oldText, nil)
		if err != nil {
			continue
		}
		next, err := parseWith(nextText, nil)
		if err != nil {
			continue
		}
		pairs++
		start := time.Now()
		effects, _ := jsoncompat.Checker.Truth(old, next, compat.Budget{})
		if took := time.Since(start); took > 5*time.Second {
			t.Logf("seed %d, pair %d took %v: %s => %s", seed, i, took, oldText, nextText)
		}
		whole := effects[compat.Data]
		oldJudges, nextJudges := judgesOf(oldText, nil), judgesOf(nextText, nil)
		for _, d := range []struct {
			outcome        compat.Outcome
			writer, reader schemas.Schema
			a, b           []judge
		}{{whole.NewReadsOld, old, next, oldJudges, nextJudges}, {whole.OldReadsNew, next, old, nextJudges, oldJudges}} {
			switch d.outcome.Answer {
			case compat.Breaks:
				breaks++
				continue
			case compat.Unchecked:
				open++
				if os.Getenv("CARTORIO_OPEN") != "" {
					t.Logf("open: %s => %s", d.writer.Canonical(), d.reader.Canonical())
				}
				continue
			case compat.Safe:
			}
			safe++
			for range 40 {
				text := g.payload(3)
				p := schemas.Payload{Bytes: []byte(text)}
				if !d.writer.Reads(d.writer, p, schemas.ReadOptions{}).OK() {
					continue
				}
				payloads++
				if r := d.reader.Reads(d.writer, p, schemas.ReadOptions{}); !r.OK() {
					t.Errorf("seed %d, pair %d: %s is called safe and breaks: %s\n%s => %s", seed, i, text, r.Violations[0].Text, d.writer.Canonical(), d.reader.Canonical())
				}
				for k := range d.a {
					wrote, judged := d.a[k].accept(text)
					read, also := d.b[k].accept(text)
					if !judged || !also || !wrote {
						continue
					}
					refereed++
					if !read && !l.excuses(d.a[k].name, oldText, nextText) {
						t.Errorf("seed %d, pair %d: %s refuses %s, which is called safe\n%s => %s", seed, i, d.a[k].name, text, d.writer.Canonical(), d.reader.Canonical())
					}
				}
			}
		}
	}
	t.Logf("%d pairs: %d directions safe, %d break, %d open; %d payloads, %d judgments by the referees", pairs, safe, breaks, open, payloads, refereed)
	l.told(t)
}
