package avro_test

import (
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
	events := mustParse(b, `{"type":"array","items":`+eventSchema+`}`)
	reads := func(name, schema string, payload []byte) costtest.Case {
		s := mustParse(b, schema)
		return costtest.Case{Name: name, Do: func() { s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{}) }}
	}
	var usual []byte
	for one := eventPayload(14); len(usual)+len(one)+2 < megabyte; {
		usual = append(append(usual, 2), one...)
	}
	usual = append(usual, 0)
	if r := events.Reads(events, schemas.Payload{Bytes: usual}, schemas.ReadOptions{}); !r.OK() {
		b.Fatal(r.Violations)
	}
	many := func(unit string, end string) []byte {
		return append([]byte(strings.Repeat(unit, megabyte/len(unit))), end...)
	}
	tree := `{"type":"record","name":"Tree","fields":[{"name":"kids","type":{"type":"array","items":"Tree"}}]}`
	costtest.Dearest(b, costtest.Case{Name: "events", Do: func() { events.Reads(events, schemas.Payload{Bytes: usual}, schemas.ReadOptions{}) }}, []costtest.Case{
		reads("a block for each int", `{"type":"array","items":"int"}`, many("\x02\x02", "\x00")),
		reads("a block with its size for each empty string", `{"type":"array","items":"string"}`, many("\x01\x02\x00", "\x00")),
		reads("a million empty strings", `{"type":"array","items":"string"}`, append(long(nil, megabyte), many("\x00", "\x00")...)),
		reads("a million enum symbols", `{"type":"array","items":{"type":"enum","name":"E","symbols":["A","B"]}}`, append(long(nil, megabyte), many("\x02", "\x00")...)),
		reads("a billion nulls", `{"type":"array","items":"null"}`, long(nil, 1<<30)),
		reads("a billion empty records", `{"type":"array","items":{"type":"record","name":"R","fields":[]}}`, long(nil, 1<<30)),
		reads("a map of one empty key again and again", `{"type":"map","values":"null"}`, append(long(nil, megabyte), many("\x00", "\x00")...)),
		reads("a tree of a million levels", tree, many("\x02", "")),
		reads("a million siblings", tree, append(long(nil, megabyte), many("\x00", "\x00")...)),
		reads("invalid UTF-8 at the end of a megabyte", `"string"`, append(long(nil, megabyte+1), many("a", "\xff")...)),
		reads("a string that is longer than the payload", `"string"`, append(long(nil, 1<<40), many("a", "")...)),
	})
}
