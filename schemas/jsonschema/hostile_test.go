//go:build unix

package jsonschema_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func parse(text string) (schemas.Schema, error) {
	return jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{})
}

func mustParse(t testing.TB, text string) schemas.Schema {
	t.Helper()
	s, err := parse(text)
	if err != nil {
		t.Fatalf("parse %.200s: %v", text, err)
	}
	return s
}

func repeat(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

// chain is n definitions, each made of the next one twice.
func chain(n int, keyword, last string) string {
	return fmt.Sprintf(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/a0","$defs":{%s,"a%d":%s}}`,
		repeat(n, func(i int) string {
			return fmt.Sprintf(`"a%d":{"%s":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, keyword, i+1, i+1)
		}), n, last)
}

func TestHostileSchemas(t *testing.T) {
	const text = 1 << 20
	fill := func(before, piece, after string) string {
		return before + strings.Repeat(piece, (text-len(before)-len(after))/len(piece)) + after
	}
	for _, c := range []struct{ name, schema string }{
		{"nested 5,000 deep", strings.Repeat(`{"items":`, 5000) + "true" + strings.Repeat("}", 5000)},
		{"arrays 100,000 deep", strings.Repeat(`[`, 100_000)},
		{"an exponent of a million", `{"multipleOf":1e-1000001}`},
		{"an exponent beyond int64", `{"minimum":1e99999999999999999999}`},
		{"a number of half a million digits", `{"minimum":1` + strings.Repeat("0", 500_000) + `}`},
		{"maxLength beyond int64", `{"maxLength":1e30}`},
		{"a chain that doubles, anyOf", chain(60, "anyOf", `{"type":"string"}`)},
		{"a chain that doubles, allOf", chain(60, "allOf", `{"type":"string"}`)},
		{"a long chain of references", `{"$ref":"#/definitions/a0","definitions":{` +
			repeat(15_000, func(i int) string { return fmt.Sprintf(`"a%d":{"$ref":"#/definitions/a%d"}`, i, i+1) }) + `,"a15000":{}}}`},
		{"a circle of 15,000 references", `{"$ref":"#/definitions/a0","definitions":{` +
			repeat(15_000, func(i int) string { return fmt.Sprintf(`"a%d":{"$ref":"#/definitions/a%d"}`, i, (i+1)%15_000) }) + `}}`},
		{"19,000 properties", `{"properties":{` + repeat(19_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`},
		{"19,000 broken properties", `{"properties":{` + repeat(19_000, func(i int) string { return fmt.Sprintf(`"p%d":{"minLength":-1}`, i) }) + `}}`},
		{"19,000 broken references", `{"properties":{` + repeat(19_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#/x/%d"}`, i, i) }) + `}}`},
		{"too many declarations", `{"properties":{` + repeat(25_000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`},
		{"a name of half a megabyte over 19,000 schemas", `{"properties":{"` + strings.Repeat("n", 500_000) + `":{"properties":{` +
			repeat(19_000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}}}`},
		{"half a megabyte of name over broken schemas", `{"properties":{"` + strings.Repeat("n", 500_000) + `":{"properties":{` +
			repeat(15_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":1}`, i) }) + `}}}}`},
		{"a long required", `{"required":[` + repeat(80_000, func(i int) string { return fmt.Sprintf(`"n%d"`, i) }) + `]}`},
		{"a long enum", `{"enum":[` + repeat(100_000, func(i int) string { return fmt.Sprintf(`"n%d"`, i) }) + `]}`},
		{"19,000 large patterns", `{"patternProperties":{` + repeat(19_000, func(i int) string { return fmt.Sprintf(`"%d[a-z]{999}":{}`, i) }) + `}}`},
		{"19,000 Unicode classes", `{"patternProperties":{` + repeat(19_000, func(i int) string { return fmt.Sprintf(`"%d[\\p{L}\\p{N}]+":{}`, i) }) + `}}`},
		{"one pattern of a megabyte", fill(`{"pattern":"`, "a|", `b"}`)},
		{"one class of a megabyte", fill(`{"pattern":"[`, "ac", `]"}`)},
		{"nested repeats", `{"pattern":"((((a{0,100}){0,100}){0,100}){0,100}){0,100}"}`},
		{"nested groups", `{"pattern":"` + strings.Repeat("(", 400_000) + strings.Repeat(")", 400_000) + `"}`},
		{"anchors that collide", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{` +
			repeat(15_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$anchor":"a"}`, i) }) + `}}`},
		{"identifiers", `{"$defs":{` + repeat(15_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$id":"http://x/%d"}`, i, i) }) + `}}`},
		{"dynamic anchors", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a"},` +
			repeat(8_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$id":"http://x/%d","$dynamicAnchor":"a"}`, i, i) }) + `}}`},
		{"references into unknown keywords", `{"x":[` + repeat(9_000, func(int) string { return "{}" }) + `],"properties":{` +
			repeat(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#/x/%d"}`, i, i) }) + `}}`},
		{"references to late anchors", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{` +
			repeat(7_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$ref":"#a%d"}`, i, i) }) + `},"$defs":{` +
			repeat(7_000, func(i int) string { return fmt.Sprintf(`"p%d":{"$anchor":"a%d"}`, i, i) }) + `}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			within(t, func() {
				s, err := parse(c.schema)
				t.Logf("%d bytes: %.200v", len(c.schema), err)
				if err == nil && s.Canonical() == "" {
					t.Error("accepted without a canonical text")
				}
			})
		})
	}
}

func TestHostilePayloads(t *testing.T) {
	integers := strings.Repeat("1e400,", 170_000) + "1"
	tree := `{"$ref":"#/definitions/n","definitions":{"n":{"anyOf":[
		{"type":"object","properties":{"a":{"$ref":"#/definitions/n"}},"required":["x"]},
		{"type":"object","properties":{"a":{"$ref":"#/definitions/n"}},"required":["y"]},
		{"type":"null"}]}}}`
	for _, c := range []struct {
		name, schema, payload string
		want                  schemas.ViolationKind // 0 is a payload that fits
	}{
		{"an exponent of five million, integer", `{"type":"integer"}`, "1e5000000", schemas.TooLarge},
		{"an exponent of five million, minimum", `{"minimum":1}`, "1e5000000", schemas.TooLarge},
		{"an exponent of five million, multipleOf", `{"multipleOf":3}`, "1e5000000", schemas.TooLarge},
		{"an exponent of five million, enum", `{"enum":[1]}`, "1e-5000000", schemas.TooLarge},
		{"an exponent of five million, uniqueItems", `{"uniqueItems":true}`, "[1e5000000,1e5000000]", schemas.TooLarge},
		{"a megabyte of large exponents, multipleOf", `{"items":{"multipleOf":1e-400}}`, "[" + integers + "]", 0},
		{"a megabyte of large exponents, long divisor", `{"items":{"multipleOf":` + strings.Repeat("7", 999) + `}}`, "[" + integers + "]", schemas.Invalid},
		{"a number of a million digits", `{"type":"integer"}`, strings.Repeat("9", 1_000_000), schemas.TooLarge},
		{"9,000 deep, recursive", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), schemas.TooLarge},
		{"127 deep, recursive", `{"items":{"$ref":"#"}}`, strings.Repeat("[", 127) + strings.Repeat("]", 127), 0},
		{"invalid UTF-8", `{"type":"string"}`, "\"\xff\"", schemas.Unreadable},
		{"a lone surrogate", `{"type":"string"}`, `"\ud800"`, schemas.Unreadable},
		{"a member twice", `{"type":"object"}`, `{"a":1,"a":2}`, schemas.Unreadable},
		{"text behind the value", `{}`, `{} {}`, schemas.Unreadable},
		{"nothing", `{}`, ``, schemas.Unreadable},
		{"a chain that doubles, anyOf, refused", chain(60, "anyOf", `{"type":"string"}`), `1`, schemas.Invalid},
		{"a chain that doubles, allOf, accepted", chain(60, "allOf", `{"type":"string"}`), `"a"`, 0},
		{"a chain that doubles, allOf, refused", chain(60, "allOf", `{"type":"string"}`), `1`, schemas.Invalid},
		{"a chain that doubles, oneOf", chain(60, "oneOf", `{"type":"string"}`), `"a"`, schemas.Invalid},
		{"a chain that doubles under unevaluated", strings.Replace(chain(60, "anyOf", `{"properties":{"a":true}}`), `"$ref"`, `"unevaluatedProperties":false,"$ref"`, 1), `{"a":1,"b":1}`, schemas.Invalid},
		{"a recursive union, refused at the bottom", tree, strings.Repeat(`{"a":`, 120) + `1` + strings.Repeat(`}`, 120), schemas.Invalid},
		{"a recursive union of required", tree, strings.Repeat(`{"y":1,"a":`, 120) + `null` + strings.Repeat(`}`, 120), 0},
		{"half a million equal items", `{"uniqueItems":true}`, "[" + strings.Repeat("1,", 500_000) + "1]", schemas.Invalid},
		{"200,000 distinct items", `{"uniqueItems":true}`, "[" + repeat(200_000, func(i int) string { return fmt.Sprint(i) }) + "]", 0},
		{
			"items alike but for their end", `{"uniqueItems":true}`,
			"[" + repeat(1_000, func(i int) string { return `["` + strings.Repeat("a", 1000) + `",` + fmt.Sprint(i) + "]" }) + "]", 0,
		},
		{
			"unique at every level", `{"uniqueItems":true,"items":{"$ref":"#"}}`,
			strings.Repeat("[0,", 120) + "[" + repeat(100_000, func(i int) string { return fmt.Sprint(i) }) + "]" + strings.Repeat("]", 120), schemas.TooComplex,
		},
		{"a backtracking pattern", `{"pattern":"(?=(a+)+$)b"}`, `"` + strings.Repeat("a", 100_000) + `b"`, schemas.TooComplex},
		{"a back reference that backtracks", `{"pattern":"^(a*)*(a*)*\\1\\2c$"}`, `"` + strings.Repeat("a", 5_000) + `"`, schemas.TooComplex},
		{"a loop that recurs", `{"pattern":"(?=c)|^(ab|c)*$(?!x)"}`, `"` + strings.Repeat("ab", 500_000) + `"`, schemas.TooComplex},
		{"the classic, in linear time", `{"pattern":"^(a+)+$"}`, `"` + strings.Repeat("a", 1_000_000) + `b"`, schemas.Invalid},
		{
			"300 patterns over 30,000 names", `{"patternProperties":{` + repeat(300, func(i int) string { return fmt.Sprintf(`"^x%d":false`, i) }) + `}}`,
			"{" + repeat(30_000, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + "}", schemas.TooComplex,
		},
		{
			"10,000 alternatives over 50,000 items", `{"items":{"anyOf":[` + repeat(10_000, func(i int) string { return fmt.Sprintf(`{"const":%d}`, i) }) + `]}}`,
			"[" + strings.Repeat("9999,", 50_000) + "0]", schemas.TooComplex,
		},
		{"contains over contains", `{"contains":{"contains":{"contains":{"const":1}}}}`, "[" + strings.Repeat("[[0],[0],[0]],", 50_000) + "[[1]]]", 0},
		{
			"a long list of dependencies", `{"dependencies":{` + repeat(5_000, func(i int) string { return fmt.Sprintf(`"n%d":["n%d"]`, i, i+1) }) + `}}`,
			"{" + repeat(5_001, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + "}", 0,
		},
		{
			"required over many members", `{"items":{"required":[` + repeat(1_000, func(i int) string { return fmt.Sprintf(`"n%d"`, i) }) + `]}}`,
			"[" + strings.Repeat("{},", 100_000) + "{}]", schemas.Invalid,
		},
		{"a dynamic reference that never descends", `{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"http://x/a","$ref":"b",
			"$defs":{"d":{"$dynamicAnchor":"n","$ref":"b"},"b":{"$id":"b","$dynamicRef":"#n","$defs":{"n":{"$dynamicAnchor":"n"}}}}}`, `1`, schemas.TooComplex},
		{"deep arrays in breadth", `{"items":{"$ref":"#"}}`, "[" + strings.Repeat("[[[[]]]],", 100_000) + "[]]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustParse(t, c.schema)
			within(t, func() {
				got := s.Reads(s, schemas.Payload{Bytes: []byte(c.payload)}, schemas.ReadOptions{})
				var kind schemas.ViolationKind
				if !got.OK() {
					kind = got.Violations[0].Kind
				}
				if kind != c.want {
					t.Errorf("want %v, got %v: %.300v", c.want, kind, got.Violations)
				}
				t.Logf("%.200v", got.Violations)
			})
		})
	}
}
