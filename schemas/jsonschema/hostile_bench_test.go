package jsonschema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// BenchmarkReadsHostile reads payloads of a megabyte that were made to cost, beside
// one that was not. The goal is 20 times its time.
//
// Source: performance 2 and 7.
func BenchmarkReadsHostile(b *testing.B) {
	const megabyte = 1 << 20
	reads := func(name, schema, payload string) costtest.Case {
		s := mustParse(b, schema)
		p := schemas.Payload{Bytes: []byte(payload)}
		return costtest.Case{Name: name, Do: func() { s.Reads(s, p, schemas.ReadOptions{}) }}
	}
	array := func(unit string) string {
		return "[" + strings.Repeat(unit+",", megabyte/(len(unit)+1)) + unit + "]"
	}
	usual := string(orderOf(14_500))
	if s := mustParse(b, order); !read(s, usual).OK() {
		b.Fatal(read(s, usual).Violations)
	}
	numbers := `{"items":{"type":"integer","minimum":0,"maximum":1e9,"multipleOf":3}}`
	costtest.Dearest(b, reads("an order", order, usual), []costtest.Case{
		reads("the largest exponents", numbers, array("1e400")),
		reads("the smallest exponents", numbers, array("1e-400")),
		reads("exponents beyond all bounds", numbers, array("1e5000000")),
		reads("numbers of a thousand digits", numbers, array(strings.Repeat("7", 1000))),
		reads("a number of a million digits", numbers, strings.Repeat("7", megabyte)),
		reads("brackets that do not end", numbers, strings.Repeat("[", megabyte)),
		reads("items that must differ", `{"uniqueItems":true}`, "["+repeat(150_000, func(i int) string { return fmt.Sprint(i) })+"]"),
		reads("members that must differ in one", `{"uniqueItems":true}`, "["+repeat(40_000, func(i int) string { return fmt.Sprintf(`{"a":%d,"b":1}`, i) })+"]"),
		reads("names that match no pattern", `{"patternProperties":{"^(a|b)*x$":{"type":"null"},"z$":false}}`, "{"+repeat(60_000, func(i int) string { return fmt.Sprintf(`"abab%d":1`, i) })+"}"),
		reads("one name twice", `{"type":"object"}`, "{"+repeat(60_000, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) })+`,"k1":1}`),
		reads("a pattern that backtracks", `{"pattern":"^(a+)+$"}`, `"`+strings.Repeat("a", megabyte)+`!"`),
		reads("escapes", `{"maxLength":100}`, `"`+strings.Repeat(`\u00e9`, megabyte/6)+`"`),
		reads("alternatives of which the last fits", `{"items":{"oneOf":[{"type":"string"},{"required":["a"]},{"type":"null"},{"minimum":5,"type":"number"},{"const":1}]}}`, array("1")),
		reads("what a reference to itself refuses", `{"anyOf":[{"type":"null"},{"items":{"$ref":"#"}}]}`, array("[[[1]]]")),
		reads("invalid UTF-8 at the end", `{}`, `"`+strings.Repeat("a", megabyte)+"\xff\""),
	})
}

// BenchmarkReadsApplicators is a schema of what compares alternatives, looks at a
// value more than once or remembers what was looked at, beside v5.
func BenchmarkReadsApplicators(b *testing.B) {
	const schema = `{"type":"object","properties":{
		"kind":{"anyOf":[{"const":"person"},{"const":"company"}]},
		"who":{"oneOf":[{"type":"object","required":["name","birth"],"properties":{"name":{"type":"string"},"birth":{"type":"string","format":"date"}}},
			{"type":"object","required":["name","number"],"properties":{"name":{"type":"string"},"number":{"type":"integer"}}}]},
		"lines":{"type":"array","uniqueItems":true,"contains":{"required":["sku"]},"items":{"allOf":[{"required":["sku"]},{"properties":{"sku":{"type":"string"},"count":{"type":"integer","not":{"const":0}}}}]}},
		"labels":{"type":"object","propertyNames":{"pattern":"^[a-z]+$"},"patternProperties":{"^x":{"type":"string"}},"additionalProperties":{"type":["string","number"]}}},
		"if":{"properties":{"kind":{"const":"company"}}},"then":{"required":["lines"]},"else":{"required":["who"]},"dependencies":{"lines":["kind"]}}`
	payload := fmt.Appendf(nil, `{"kind":"company","who":{"name":"Acme","number":12},"labels":{"region":"south","xray":"y","tier":3},"lines":[%s]}`,
		repeat(20, func(i int) string { return fmt.Sprintf(`{"sku":"sku-%d","count":%d}`, i, i+1) }))
	s := mustParse(b, schema)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			if got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}); !got.OK() {
				b.Fatal(got.Violations)
			}
		}
	})
	b.Run("referee", func(b *testing.B) {
		theirs, err := referee(schema)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		defer costtest.Processor(b)()
		for b.Loop() {
			d := json.NewDecoder(bytes.NewReader(payload))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				b.Fatal(err)
			}
			if err := theirs.Validate(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
