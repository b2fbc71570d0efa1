package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	v5 "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// referee compiles a schema with the required library. It loads nothing: neither
// file nor address.
func referee(text string) (s *v5.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the referee panicked: %v", p)
		}
	}()
	c := v5.NewCompiler()
	c.Draft = v5.Draft7
	c.LoadURL = func(address string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not loaded", address) }
	if err := c.AddResource("mem:///input.json", strings.NewReader(text)); err != nil {
		return nil, err
	}
	return c.Compile("mem:///input.json")
}

func refereeSays(s *v5.Schema, payload string) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the referee panicked: %v", p)
		}
	}()
	d := json.NewDecoder(bytes.NewReader([]byte(payload)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return false, err
	}
	return s.Validate(v) == nil, nil
}

// generator makes schemas and values that have something to do with each other:
// few names, few numbers, few strings.
type generator struct{ *rand.Rand }

func (g generator) one(options ...string) string { return options[g.IntN(len(options))] }

func (g generator) value(depth int) string {
	switch n := g.IntN(9); {
	case n < 2 || depth <= 0 && n > 6:
		return g.one("0", "1", "-1", "2.5", "1.0", "3", "10", "1e1", "0.1")
	case n < 4:
		return g.one(`""`, `"a"`, `"ab"`, `"abc"`, `"é"`, `"b1"`)
	case n == 4:
		return g.one("true", "false", "null")
	case n < 7:
		return "[" + g.list(depth, func() string { return g.value(depth - 1) }) + "]"
	}
	var members []string
	for _, name := range []string{"a", "b", "c", "ab"} {
		if g.IntN(2) == 0 {
			members = append(members, `"`+name+`":`+g.value(depth-1))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) list(depth int, f func() string) string {
	parts := make([]string, g.IntN(4))
	for i := range parts {
		parts[i] = f()
	}
	return strings.Join(parts, ",")
}

func (g generator) schema(depth int, modern bool) string {
	if depth <= 0 || g.IntN(8) == 0 {
		return g.one("true", "false", "{}", `{"type":"string"}`, `{"type":"integer"}`, `{"$ref":"#/definitions/d"}`, `{"$ref":"#/definitions/e"}`, `{"const":1}`)
	}
	sub := func() string { return g.schema(depth-1, modern) }
	three := func() string { return sub() + "," + sub() }
	words := []func() string{
		func() string {
			return `"type":` + g.one(`"string"`, `"number"`, `"integer"`, `"object"`, `"array"`, `["null","boolean"]`)
		},
		func() string { return `"enum":[` + g.value(1) + `,"z",{"z":1}]` },
		func() string { return `"minimum":` + g.one("0", "1", "2.5") },
		func() string { return `"exclusiveMaximum":` + g.one("1", "3", "10") },
		func() string { return `"multipleOf":` + g.one("1", "2", "0.5", "0.1") },
		func() string { return `"minLength":` + g.one("1", "2") },
		func() string { return `"pattern":` + g.one(`"^a"`, `"b"`, `"\\d$"`, `"^.$"`) },
		func() string { return `"minItems":` + g.one("1", "2") },
		func() string { return `"uniqueItems":true` },
		func() string { return `"contains":` + sub() },
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"patternProperties":{"^a":` + sub() + `}` },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"propertyNames":` + sub() },
		func() string { return `"required":["` + g.one("a", "b", "c") + `"]` },
		func() string { return `"maxProperties":` + g.one("1", "2") },
		func() string { return `"allOf":[` + three() + `]` },
		func() string { return `"anyOf":[` + three() + `]` },
		func() string { return `"oneOf":[` + three() + `]` },
		func() string { return `"not":` + sub() },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
	}
	if modern {
		words = append(words,
			func() string { return `"prefixItems":[` + three() + `]` }, func() string { return `"items":` + sub() },
			func() string { return `"unevaluatedProperties":` + g.one("false", `{"type":"string"}`) },
			func() string { return `"unevaluatedItems":` + g.one("false", `{"type":"integer"}`) },
			func() string { return `"dependentSchemas":{"a":` + sub() + `}` }, func() string { return `"dependentRequired":{"a":["b"]}` },
			func() string { return `"maxContains":1,"minContains":0,"contains":` + sub() },
			func() string { return `"$ref":"#/definitions/d"` },
		)
	} else {
		words = append(words, func() string { return `"items":` + sub() }, func() string { return `"items":[` + three() + `],"additionalItems":` + sub() },
			func() string { return `"dependencies":{"a":["b"],"b":` + sub() + `}` })
	}
	seen := map[string]bool{}
	var members []string
	for range 1 + g.IntN(4) {
		member := words[g.IntN(len(words))]()
		name, _, _ := strings.Cut(member, ":")
		if !seen[name] && (!seen[`"contains"`] || !strings.Contains(member, "Contains")) {
			seen[name] = true
			members = append(members, member)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) document(modern bool) string {
	dialect := jsonschema.Draft7
	if modern {
		dialect = jsonschema.Draft2020
	}
	return fmt.Sprintf(`{"$schema":"%s","allOf":[%s],"definitions":{"d":%s,"e":{"properties":{"a":{"$ref":"#/definitions/e"}},"required":["b"]}}}`,
		dialect.URI(), g.schema(3, modern), strings.ReplaceAll(g.schema(1, modern), "#/definitions/d", "#/definitions/e"))
}

// TestReferee reads generated payloads with generated schemas, with our reader
// and the required library: they must agree.
func TestReferee(t *testing.T) {
	t.Parallel()
	const seed = 20261130
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	judged, valid := 0, 0
	for i := range 1_500 {
		text := g.document(i%2 == 0)
		theirs, refused := referee(text)
		ours, err := parse(text)
		if (refused == nil) != (err == nil) {
			t.Errorf("seed %d: %s\nours: %v\nreferee: %v", seed, text, err, refused)
		}
		if err != nil || refused != nil {
			continue
		}
		for range 12 {
			payload := g.value(3)
			want, err := refereeSays(theirs, payload)
			if err != nil {
				t.Errorf("%s on %s: %v", text, payload, err)
				continue
			}
			judged++
			got := ours.Reads(ours, schemas.Payload{Bytes: []byte(payload)}, schemas.ReadOptions{})
			if got.OK() {
				valid++
			}
			if remembered, err := jsonschema.ReadsRemembering(ours, []byte(payload), false); err != nil || remembered != want {
				t.Errorf("seed %d: %s\non %s: referee says %v, we, remembering, %v, %v", seed, text, payload, want, remembered, err)
			}
			if got.OK() != want {
				t.Errorf("seed %d: %s\non %s: referee says %v, we %v", seed, text, payload, want, got.Violations)
			}
		}
	}
	if judged < 5_000 || valid < judged/20 {
		t.Errorf("only %d pairs were judged, %d of them valid", judged, valid)
	}
	t.Logf("%d pairs, %d of them valid", judged, valid)
}
