package protobuf_test

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
	s := parse(b, `syntax = "proto3"; import "google/protobuf/any.proto";
message All { repeated Event events = 1; repeated int32 numbers = 2; map<string, int32> by = 3; All one = 4; repeated string words = 5; google.protobuf.Any any = 6; oneof o { int32 x = 7; int32 y = 8; } repeated Kind kinds = 9; }
enum Kind { A = 0; B = 1; }
message Event { string id = 1; int64 at = 2; double rating = 3; repeated string tags = 4; }`)
	reads := func(name, payload string) costtest.Case {
		p := schemas.Payload{Bytes: []byte(payload), Message: "All"}
		return costtest.Case{Name: name, Do: func() { s.Reads(s, p, schemas.ReadOptions{}) }}
	}
	many := func(unit string) string { return strings.Repeat(unit, megabyte/len(unit)) }
	usual := many("\x0a\x28\x0a\x0f5f0c3b1e-7d1a-4\x10\xb9\x60\x19\x00\x00\x00\x00\x00\x00\x12\x40\x22\x09d\xc3\xa9j\xc3\xa0 vu")
	if r := s.Reads(s, schemas.Payload{Bytes: []byte(usual), Message: "All"}, schemas.ReadOptions{}); !r.OK() {
		b.Fatal(r.Violations)
	}
	costtest.Dearest(b, reads("events", usual), []costtest.Case{
		reads("unknown numbers", many("\x78\x01")),
		reads("unknown groups", many("\x7b\x7c")),
		reads("groups that do not end", many("\x7b")),
		reads("one message again and again", many("\x22\x00")),
		reads("empty events", many("\x0a\x00")),
		reads("empty map entries", many("\x1a\x00")),
		reads("map entries with the key of another wire type", many("\x1a\x02\x08\x01")),
		reads("numbers not packed", many("\x10\x01")),
		reads("numbers packed one by one", many("\x12\x01\x01")),
		reads("numbers of ten bytes", many("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
		reads("empty words", many("\x2a\x00")),
		reads("one of two by turns", many("\x38\x01\x40\x01")),
		reads("a kind that is not known", many("\x48\x07")),
		reads("an any again and again", many("\x32\x02\x0a\x00")),
		reads("invalid UTF-8 at the end", many("\x2a\x01a")+"\x2a\x01\xff"),
	})
}
