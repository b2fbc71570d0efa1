package formats_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// prepared are schemas with payloads of theirs, and options.
var prepared = []struct {
	name     string
	of       schemas.Type
	text     string
	message  string
	options  schemas.ReadOptions
	payloads []string
}{
	{
		"avro", schemas.Avro, `{"type":"record","name":"R","fields":[{"name":"id","type":"long"},{"name":"s","type":["null","string"]},{"name":"list","type":{"type":"array","items":{"type":"enum","name":"E","symbols":["A","B"]}}},{"name":"m","type":{"type":"map","values":"boolean"}}]}`, "",
		schemas.ReadOptions{},
		[]string{"\x0e\x02\x08abcd\x04\x00\x02\x00\x02\x02a\x01\x00", "\x0e\x00\x00\x00"},
	},
	{"avro, bounded", schemas.Avro, `{"type":"array","items":{"type":"array","items":"null"}}`, "", schemas.ReadOptions{Bytes: 8, Depth: 2, Steps: 40, Violations: 2}, []string{"\x02\x08\x00\x00", "\x04\x08\x00\x10\x00\x00"}},
	{"avro, verdict", schemas.Avro, `{"type":"record","name":"R","fields":[{"name":"id","type":"long"}]}`, "", schemas.ReadOptions{Verdict: true}, []string{"\x02"}},
	{"avro, without end", schemas.Avro, `{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`, "", schemas.ReadOptions{}, []string{""}},
	{
		"protobuf", schemas.Protobuf, "syntax = \"proto2\"; message O { required int64 id = 1; optional string s = 2; repeated Line lines = 3; optional E e = 4; } message Line { optional fixed32 n = 1; repeated sint32 p = 2 [packed = true]; } enum E { A = 0; B = 1; }", "",
		schemas.ReadOptions{},
		[]string{"\x08\x01\x12\x04abcd\x1a\x07\x0d\x01\x00\x00\x00\x12\x00\x20\x01", "\x08\x01\x20\x05"},
	},
	{"protobuf, by name", schemas.Protobuf, "syntax = \"proto3\"; package p; message A {} message B { string s = 1; int32 n = 2; }", "p.B", schemas.ReadOptions{Unknown: true, Bytes: 12}, []string{"\x0a\x02ab\x10\x05", "\x1a\x00"}},
	{
		"protobuf, groups", schemas.Protobuf, "syntax = \"proto2\"; message G { optional group A = 1 { required string s = 2; } optional G g = 3; repeated E e = 4 [packed = true]; } enum E { Z = 0; B = 1; }", "",
		schemas.ReadOptions{Verdict: true, Depth: 3},
		[]string{"\x0b\x12\x01a\x0c\x1a\x06\x1a\x04\x0b\x12\x00\x0c\x22\x02\x00\x01", "\x0b\x0c\x0b\x12\x00\x0c"},
	},
	{"protobuf, no message", schemas.Protobuf, "syntax = \"proto3\"; package p; message A {}", "p.C", schemas.ReadOptions{}, []string{""}},
	{
		"json", schemas.JSON, `{"type":"object","required":["id"],"additionalProperties":false,"properties":{"id":{"type":"integer","minimum":1},"s":{"type":"string","pattern":"^a","maxLength":4},"l":{"type":"array","items":{"enum":[1,"a",null]}},"u":{"anyOf":[{"type":"boolean"},{"const":3.0}]}}}`, "",
		schemas.ReadOptions{},
		[]string{`{"id":1,"s":"abc","l":[1,"a",null],"u":true}`, ` {"u":3,"id":12e0} `, `{"id":1,"id":2}`},
	},
	{"json, bounded", schemas.JSON, `{"items":{"$ref":"#"},"uniqueItems":true}`, "", schemas.ReadOptions{Bytes: 24, Depth: 3, Steps: 12, Violations: 1}, []string{`[[1],[2,3]]`, `[[[[]]]]`}},
	{"json, formats", schemas.JSON, `{"format":"date"}`, "", schemas.ReadOptions{Formats: true}, []string{`"2024-02-29"`, `"2023-02-29"`}},
	{"json, value", schemas.JSON, `{}`, "", schemas.ReadOptions{Value: true}, []string{`1`}},
}

func prepare(t testing.TB, of schemas.Type, text string) schemas.Schema {
	t.Helper()
	f, ok := formats.Named(of)
	if !ok {
		t.Fatalf("no format %s", of)
	}
	s, err := f.Parse(context.Background(), schemas.Source{Type: of, Text: text}, nil, schemas.ParseOptions{Mode: schemas.Stored})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agree holds what is made ready to what Reads tells.
func agree(t *testing.T, s schemas.Schema, judge schemas.Judge, message string, payload []byte, o schemas.ReadOptions) {
	t.Helper()
	want := s.Reads(s, schemas.Payload{Bytes: payload, Message: message}, o)
	got := judge(payload)
	if got == nil {
		got = &schemas.Reading{}
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("%q: made ready it is\n%+v, and read\n%+v", payload, *got, want)
	}
	o.Verdict = !o.Verdict
	if other := s.Reads(s, schemas.Payload{Bytes: payload, Message: message}, o); other.OK() != want.OK() {
		t.Errorf("%q: %v, and with Verdict turned to %v %v", payload, want.OK(), o.Verdict, other.OK())
	}
}

func TestPreparedAnswersAsReads(t *testing.T) {
	t.Parallel()
	none := map[string]bool{"avro, without end": true, "protobuf, no message": true, "json, value": true}
	for _, tt := range prepared {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := prepare(t, tt.of, tt.text)
			judge := s.(schemas.Preparer).Prepare(tt.message, tt.options)
			if (judge == nil) != none[tt.name] {
				t.Fatalf("made ready: %v", judge != nil)
			}
			if judge == nil {
				return
			}
			for _, p := range tt.payloads {
				agree(t, s, judge, tt.message, []byte(p), tt.options)
				for i := range p { // cut off, changed, left out, and too long
					agree(t, s, judge, tt.message, []byte(p[:i]), tt.options)
					agree(t, s, judge, tt.message, []byte(p[:i]+p[i+1:]), tt.options)
					for _, c := range []byte{0, 1, 2, 3, 0x0a, 0x12, 0x7f, 0x80, 0xff, '"', '1', ',', '}'} {
						agree(t, s, judge, tt.message, []byte(p[:i]+string([]byte{c})+p[i+1:]), tt.options)
					}
				}
				agree(t, s, judge, tt.message, []byte(p+strings.Repeat("\x00", 30)), tt.options)
			}
		})
	}
}

func FuzzPrepared(f *testing.F) {
	type ready struct {
		schema  schemas.Schema
		judge   schemas.Judge
		message string
		options schemas.ReadOptions
	}
	var list []ready
	for _, one := range prepared {
		s := prepare(f, one.of, one.text)
		judge := s.(schemas.Preparer).Prepare(one.message, one.options)
		if judge == nil {
			continue
		}
		for _, p := range one.payloads {
			f.Add(uint8(len(list)), []byte(p))
		}
		list = append(list, ready{s, judge, one.message, one.options})
	}
	f.Fuzz(func(t *testing.T, which uint8, payload []byte) {
		r := list[int(which)%len(list)]
		agree(t, r.schema, r.judge, r.message, payload, r.options)
	})
}
