package jsonschema_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// grower makes schemas and payloads that have something to do with each other:
// few names, few numbers, few strings.
type grower struct {
	*rand.Rand
	draft string
	// bare schemas refer to nothing: they are parts of a resource of their own.
	bare bool
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
		return g.one("0", "1", "-1", "2.5", "1.0", "3", "10", "1e1", "0.1", "4", "6", "9007199254740993", "9007199254740992", "1e30", "1000000000000000000000000000001", "1e-30", "-0")
	case n < 4:
		return g.one(`""`, `"a"`, `"ab"`, `"abc"`, `"é"`, `"b1"`, `"aa"`, `"2020-02-30"`, `"2020-02-29"`, `"a@b.cc"`, `"127.0.0.1"`, `"\ud83d\ude00"`)
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
		if g.bare {
			return g.one(always, `{"type":"string"}`, `{"type":"integer"}`, `{"enum":[1,"a"]}`, `{"type":["number","null"]}`)
		}
		return g.one(always, `{"type":"string"}`, `{"type":"integer"}`, `{"$ref":"#/definitions/d"}`, `{"$ref":"#/definitions/e"}`, `{"enum":[1,"a"]}`, `{"type":["number","null"]}`)
	}
	sub := func() string { return g.schema(depth - 1) }
	two := func() string { return sub() + "," + sub() }
	words := []func() string{
		func() string {
			return `"type":` + g.one(`"string"`, `"number"`, `"integer"`, `"object"`, `"object"`, `"array"`, `["null","boolean"]`, `["object","string"]`)
		},
		func() string { return `"enum":[` + g.payload(1) + `,"z",{"z":1}]` },
		func() string { return `"enum":[9007199254740993,1e30,"a",{"a":1e-30}]` },
		func() string { return `"minimum":` + g.one("0", "1", "2.5", "9007199254740993") },
		func() string { return `"maximum":` + g.one("0", "3", "10", "9007199254740992", "1e30") },
		func() string {
			return `"multipleOf":` + g.one("1", "2", "0.5", "0.1", "3", "1e-30", "9007199254740993")
		},
		func() string { return `"format":` + g.one(`"date"`, `"email"`, `"ipv4"`, `"x-none"`) },
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
	if modern && !g.bare {
		words = append(words, func() string { return `"$ref":"#/definitions/e"` })
	}
	if modern {
		words = append(words,
			func() string { return `"unevaluatedProperties":` + g.one("false", `{"type":"string"}`) },
			func() string { return `"unevaluatedItems":` + g.one("false", `{"type":"integer"}`) },
			func() string { return `"dependentSchemas":{"a":` + sub() + `}` }, func() string { return `"dependentRequired":{"a":["b"]}` },
			func() string { return `"contains":` + sub() + `,"minContains":2` }, func() string { return `"contains":` + sub() + `,"maxContains":1` },
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
	return g.next(g.document(depth), func() string { return g.document(depth) })
}

// next makes a successor of a text: changed in a few places, or another one.
func (g *grower) next(old string, another func() string) (string, string) {
	if g.IntN(6) > 0 {
		return old, g.mutate(old)
	}
	if g.IntN(2) == 0 {
		g.draft = drafts[g.IntN(len(drafts))]
	}
	return old, another()
}

// grown is a pair of schemas with what they refer to.
type grown struct {
	old, next         string
	oldRefs, nextRefs []reference
}

// related makes a pair whose schemas refer: to resources of an address of their
// own, to anchors, to other subjects, or dynamically.
func (g grower) related(depth int) (p grown) {
	g.draft = drafts[g.IntN(len(drafts))]
	other := func() string { return g.document(depth - 1) }
	switch g.IntN(4) {
	case 0:
		p.old, p.next = g.next(g.addressed(depth), func() string { return g.addressed(depth) })
	case 1:
		if g.draft != draft2019 && g.draft != draft2020 {
			g.draft = g.one(draft2019, draft2020)
		}
		p.old, p.next = g.next(g.recursive(depth), func() string { return g.recursive(depth) })
	default:
		p.old, p.next = g.next(g.referring(depth), func() string { return g.referring(depth) })
		a, b := g.next(other(), other)
		if g.IntN(2) == 0 {
			b = a
		}
		ref := func(text string) []reference {
			return []reference{{Name: "other.json", Subject: "other", Version: 1, Schema: json.RawMessage(text)}}
		}
		p.oldRefs, p.nextRefs = ref(a), ref(b)
	}
	return p
}

// addressed is a document of several resources, named by addresses and anchors.
func (g grower) addressed(depth int) string {
	id := `"$id"`
	if g.draft == draft4 {
		id = `"id"`
	}
	g.bare = true
	ref := g.one("sub/d.json", "http://x.test/sub/d.json", "sub/d.json#/definitions/i", "#/definitions/p")
	anchor := `"p":` + g.schema(1)
	if (g.draft == draft2019 || g.draft == draft2020) && g.IntN(2) == 0 {
		ref, anchor = "#here", `"p":{"$anchor":"here","allOf":[`+g.schema(depth)+`]}`
	}
	return `{"$schema":"` + g.draft + `",` + id + `:"http://x.test/root.json","definitions":{` + anchor + `,"d":{` + id + `:"sub/d.json","definitions":{"i":` + g.schema(1) +
		`},"allOf":[` + g.schema(depth-1) + `],"properties":{"a":{"$ref":"` + g.one("#/definitions/i", "#", "../root.json", "../root.json#/definitions/p") + `"}}}},"properties":{"a":{"$ref":"` + ref +
		`"},"b":` + g.schema(1) + `},"allOf":[{"$ref":"` + ref + `"}]}`
}

// referring is a document that refers to another subject.
func (g grower) referring(depth int) string {
	ref := `{"$ref":"other.json` + g.one("", "#", "#/definitions/d", "#/definitions/e") + `"}`
	return `{"$schema":"` + g.draft + `","definitions":{"d":{"type":"string"},"e":` + ref + `},"` + g.one("allOf", "anyOf", "oneOf") + `":[` + ref + `,` + g.schema(depth-1) +
		`],"properties":{"a":` + ref + `,"c":` + g.schema(1) + `}}`
}

// recursive is a tree whose nodes another resource says more of.
func (g grower) recursive(depth int) string {
	anchor, ref := `"$dynamicAnchor":"n"`, `"$dynamicRef":"#n"`
	if g.draft == draft2019 {
		anchor, ref = `"$recursiveAnchor":true`, `"$recursiveRef":"#"`
	}
	outer := anchor
	if g.IntN(3) == 0 {
		outer = `"title":"plain"`
	}
	g.bare = true
	return `{"$schema":"` + g.draft + `","$id":"http://x.test/outer.json",` + outer + `,"$ref":"tree.json","` + g.one(`unevaluatedProperties":false`, `minProperties":1`, `maxProperties":2`, `required":["a"]`) +
		`,"$defs":{"t":{"$id":"tree.json",` + anchor + `,"type":"object","properties":{"a":` + g.schema(depth-1) + `,"b":{` + ref + `},"c":{"type":"array","items":{` + ref + `}}}}}}`
}
