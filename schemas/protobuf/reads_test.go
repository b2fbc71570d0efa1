package protobuf_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const readsSchema = `syntax = "proto2"; package p;
message Order {
  optional int32 i = 1;
  optional string s = 2;
  optional bytes b = 3;
  repeated int32 list = 4;
  repeated fixed32 fixed = 5 [packed = true];
  optional Order self = 6;
  optional group G = 7 { optional int32 a = 1; }
  optional E e = 8;
  map<string, Must> m = 9;
  oneof o { Must must = 10; int32 n = 11; }
  repeated E es = 12;
  optional fixed64 f64 = 13;
  optional bool t = 14;
  extensions 100 to 200;
}
message Must { required int32 x = 1; required int32 y = 2; }
enum E { E0 = 0; E2 = 2; EN = -1; E100 = 100; }
extend Order { optional Must ext = 100; }`

func TestReadsOwn(t *testing.T) {
	t.Parallel()
	s := parse(t, readsSchema)
	strict := parse(t, `syntax = "proto3"; package p; message Order { string s = 2; repeated string ss = 3; map<string, string> m = 4; }`)
	for _, c := range []struct {
		name, payload string
		in            schemas.Schema
		want          string // "kind rule offset payload schema", empty when it is read
		loss          string
	}{
		{name: "nothing", payload: ""},
		{name: "every kind of field", payload: "0801 120161 1a02fffe 2001 2002 2203030405 2a0401000000 32020801 3b08013c 4002 691000000000000000 7001"},
		{name: "a varint of ten bytes", payload: "08ffffffffffffffffff01"},
		{name: "a varint longer than it need be", payload: "088100"},
		{name: "a varint of eleven bytes", payload: "08ffffffffffffffffffff01", want: "payload_unreadable varint 1  "},
		{name: "a varint over 64 bits", payload: "08ffffffffffffffffff02", want: "payload_unreadable varint 1  "},
		{name: "a varint cut off", payload: "0880", want: "payload_unreadable varint 1  "},
		{name: "a tag cut off", payload: "80", want: "payload_unreadable varint 0  "},
		{name: "field 0", payload: "0001", want: "payload_unreadable field-number 0  "},
		{name: "a field number over the largest", payload: "8080808010 01", want: "payload_unreadable field-number 0  "},
		{name: "the largest field number", payload: "f8ffffff0f 01"},
		{name: "wire type 6", payload: "fe0101", want: "payload_unreadable wire-type 2  "},
		{name: "wire type 7 on a known field", payload: "0f01", want: "payload_unreadable wire-type 1  "},
		{name: "a string cut off", payload: "120561", want: "payload_unreadable truncated 1  "},
		{name: "a length beyond all bounds", payload: "12ffffffffffffffff7f", want: "payload_unreadable truncated 1  "},
		{name: "fixed64 cut off", payload: "6901", want: "payload_unreadable truncated 1  "},
		{name: "packed fixed32 of three bytes", payload: "2a03010203", want: "payload_unreadable truncated 2  "},
		{name: "packed varints cut off", payload: "220180", want: "payload_unreadable varint 2  "},
		{name: "an empty packed block", payload: "2200"},
		{name: "proto2 does not check UTF-8", payload: "1202fffe"},
		{name: "proto3 does", in: strict, payload: "1202fffe", want: "payload_unreadable utf8 2 /s /messages/Order/fields/2"},
		{name: "in a list", in: strict, payload: "1a0161 1a01ff", want: "payload_unreadable utf8 5 /ss/1 /messages/Order/fields/3"},
		{name: "in a map's key", in: strict, payload: "22060a01ff120161", want: "payload_unreadable utf8 4 /m/0/key /messages/Order/messages/MEntry/fields/1"},
		{name: "a surrogate in UTF-8", in: strict, payload: "1203eda080", want: "payload_unreadable utf8 2 /s /messages/Order/fields/2"},
		{name: "a group left open", payload: "3b0801", want: "payload_unreadable truncated 3 /g /messages/Order/fields/7"},
		{name: "the end of another group", payload: "3b44", want: "payload_unreadable end-group 1 /g /messages/Order/fields/7"},
		{name: "an end without a start", payload: "3c", want: "payload_unreadable end-group 0  "},
		{name: "a group that ends outside its message", payload: "32013b 3c", want: "payload_unreadable truncated 3 /self/g /messages/Order/fields/7"},
		{name: "an unknown field of each wire type", payload: "a80601 a906 0000000000000000 aa060161 ab06 0801 ac06 ad06 00000000"},
		{name: "an unknown group left open", payload: "ab060801", want: "payload_unreadable truncated 2  "},
		{name: "an unknown group with a wrong end", payload: "ab06b406", want: "payload_unreadable truncated 2  "},
		{name: "a required field missing", payload: "52020801", want: "payload_invalid required -1 /must /messages/Must/fields/2"},
		{name: "both halves of a message", payload: "52020801 52021002"},
		{name: "a oneof whose incomplete member is replaced", payload: "52020801 5801"},
		{name: "a oneof whose incomplete member comes last", payload: "5801 52020801", want: "payload_invalid required -1 /must /messages/Must/fields/2"},
		{name: "a map entry without its value", payload: "4a030a0161", want: "payload_invalid required -1 /m/0/value /messages/Must/fields/1"},
		{name: "a map entry without its key", payload: "4a06120408011002"},
		{name: "a map entry that a later one replaces", payload: "4a030a0161 4a090a0161120408011002"},
		{name: "an extension's required field", payload: "a206020801", want: "payload_invalid required -1 /[p.ext] /messages/Must/fields/2"},
		{name: "an extension", payload: "a2060408011002"},
		{name: "a declared number", payload: "4002 40ffffffffffffffffff01 4064"},
		{name: "a closed enum's undeclared number", payload: "4001", loss: "1 /e /messages/Order/fields/8"},
		{name: "a closed enum's undeclared number in a list", payload: "62020002 6001", loss: "1 /es /messages/Order/fields/12"},
		{name: "a known field in another wire type", payload: "0a0101", loss: "1 /i /messages/Order/fields/1"},
		{name: "packed numbers for a singular field", payload: "0a03010203", loss: "1 /i /messages/Order/fields/1"},
		{name: "a message instead of a group", payload: "3a020801", loss: "1 /g /messages/Order/fields/7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := c.in
			if in == nil {
				in = s
			}
			got := in.Reads(in, schemas.Payload{Bytes: unhex(t, c.payload)}, schemas.ReadOptions{})
			first := ""
			if !got.OK() {
				v := got.Violations[0]
				first = fmt.Sprintf("%s %s %d %s %s", v.Kind, v.Rule, v.Offset, v.Payload, v.Schema)
				if v.Text == "" {
					t.Error("the violation says nothing")
				}
			}
			if first != c.want {
				t.Errorf("got %q, want %q", first, c.want)
			}
			loss := ""
			for _, l := range got.Losses {
				loss = fmt.Sprintf("%d %s %s", l.Kind, l.Payload, l.Schema)
			}
			if loss != c.loss {
				t.Errorf("loss %q, want %q", loss, c.loss)
			}
		})
	}
}

func TestReadsEditions(t *testing.T) {
	t.Parallel()
	s := parse(t, `edition = "2023"; package p;
message A {
  int32 must = 1 [features.field_presence = LEGACY_REQUIRED];
  string any = 2 [features.utf8_validation = NONE];
  string text = 3;
  B group = 4 [features.message_encoding = DELIMITED];
  C closed = 5;
  map<string, string> m = 6 [features.utf8_validation = NONE];
}
message B { int32 x = 1; }
enum C { option features.enum_type = CLOSED; C0 = 0; }`)
	for payload, want := range map[string]string{
		"":                      "required",
		"0801":                  "",
		"0801 1201ff":           "",
		"0801 1a01ff":           "utf8",
		"0801 230801 24":        "",
		"0801 2801":             "",
		"0801 32060a01ff1201ff": "",
	} {
		got := s.Reads(s, schemas.Payload{Bytes: unhex(t, payload)}, schemas.ReadOptions{})
		rule := ""
		if !got.OK() {
			rule = got.Violations[0].Rule
		}
		if rule != want {
			t.Errorf("%s: %q, want %q", payload, rule, want)
		}
	}
}

func TestReadsMessages(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto2"; package p; message A { required int32 x = 1; message B { required int32 x = 2; } }`)
	moved := parse(t, `syntax = "proto2"; package q; message Z {} message A { optional int32 x = 1; message B { optional int32 x = 2; } }`)
	none := parse(t, `syntax = "proto2"; enum E { E0 = 0; }`)
	other := parse(t, `syntax = "proto2"; message Q { optional int32 x = 1; }`)
	for _, c := range []struct {
		name           string
		reader, writer schemas.Schema
		message        string
		payload        string
		rule           string
	}{
		{"the first", s, s, "", "0801", ""},
		{"by name", s, s, "p.A.B", "1001", ""},
		{"with a leading dot", s, s, ".p.A.B", "1001", ""},
		{"of another shape", s, s, "p.A.B", "0801", "required"},
		{"unknown", s, s, "p.Nope", "0801", "message"},
		{"none at all", none, none, "", "", "message"},
		{"of the same name in another package", moved, s, "p.A.B", "1001", ""},
		{"the writer's first, not the reader's", moved, s, "", "0801", ""},
		{"the reader's first when nothing else fits", other, s, "", "0801", ""},
		{"not the reader's first when it was named", other, s, "p.A", "0801", "message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.reader.Reads(c.writer, schemas.Payload{Bytes: unhex(t, c.payload), Message: c.message}, schemas.ReadOptions{})
			rule := ""
			if !got.OK() {
				rule = got.Violations[0].Rule
			}
			if rule != c.rule {
				t.Errorf("got %+v, want %q", got, c.rule)
			}
		})
	}
}

// TestReadsOther reads with one schema what another wrote. Losses are given as
// kind and pointer.
func TestReadsOther(t *testing.T) {
	t.Parallel()
	message := func(fields string) string {
		return `syntax = "proto3"; message A {` + fields + `} message P { int32 x = 1; int32 y = 2; } enum E { E0 = 0; E1 = 1; }`
	}
	message2 := func(fields string) string {
		return `syntax = "proto2"; message A {` + fields + `} enum C { C0 = 0; C1 = 1; } enum D { D0 = 0; D1 = 1; D2 = 2; }`
	}
	const lost, altered, outOfRange = "lost", "altered", "out of range"
	for _, c := range []struct {
		name           string
		writer, reader string
		payload        string
		want           string // empty when nothing is lost; "refused" with a rule
	}{
		{"a field that is gone", message("int32 a = 1; int32 b = 2;"), message("int32 a = 1;"), "08011001", ""},
		{"a field that is new", message("int32 a = 1;"), message("int32 a = 1; int32 b = 2;"), "0801", ""},
		{"a rename", message("int32 a = 1;"), message("int32 b = 1;"), "0801", ""},
		{"a renumbering", message("int32 a = 1;"), message("int32 a = 2;"), "0801", lost + " /a"},
		{"a renumbering, value zero", message("int32 a = 1;"), message("int32 a = 2;"), "0800", ""},
		{"numbers swapped", message("int32 a = 1; int32 b = 2;"), message("int32 b = 1; int32 a = 2;"), "0801", lost + " /a"},
		{"a number taken over by another field of the writer", message("int32 a = 1; int32 b = 2;"), message("int32 b = 1;"), "0801", lost + " /a"},

		{"int32 to int64", message("int32 a = 1;"), message("int64 a = 1;"), "08ffffffffffffffffff01", ""},
		{"int64 to int32, in range", message("int64 a = 1;"), message("int32 a = 1;"), "0805", ""},
		{"int64 to int32", message("int64 a = 1;"), message("int32 a = 1;"), "088080808008", outOfRange + " /a"},
		{"int32 to uint32, negative", message("int32 a = 1;"), message("uint32 a = 1;"), "08ffffffffffffffffff01", outOfRange + " /a"},
		{"int32 to bool", message("int32 a = 1;"), message("bool a = 1;"), "0802", outOfRange + " /a"},
		{"int32 to bool, 1", message("int32 a = 1;"), message("bool a = 1;"), "0801", ""},
		{"bool to int64", message("bool a = 1;"), message("int64 a = 1;"), "0801", ""},
		{"int32 to sint32", message("int32 a = 1;"), message("sint32 a = 1;"), "0801", altered + " /a"},
		{"sint64 to sint32", message("sint64 a = 1;"), message("sint32 a = 1;"), "088080808010", outOfRange + " /a"},
		{"sint32 to bool", message("sint32 a = 1;"), message("bool a = 1;"), "0804", outOfRange + " /a"},
		{"fixed32 to sfixed32", message("fixed32 a = 1;"), message("sfixed32 a = 1;"), "0dffffffff", outOfRange + " /a"},
		{"fixed32 to float", message("fixed32 a = 1;"), message("float a = 1;"), "0d01000000", altered + " /a"},
		{"double to fixed64", message("double a = 1;"), message("fixed64 a = 1;"), "09000000000000f03f", altered + " /a"},
		{"NaN stays NaN", message("float a = 1; int32 b = 2;"), message("float a = 1; int64 b = 2; int32 c = 3;"), "0d0000c07f", ""},
		{"int32 to fixed32", message("int32 a = 1;"), message("fixed32 a = 1;"), "0801", lost + " /a"},
		{"int32 to string", message("int32 a = 1;"), message("string a = 1;"), "0801", lost + " /a"},
		{"int32 to string, zero", message("int32 a = 1;"), message("string a = 1;"), "0800", ""},
		{"optional int32 to string, zero", message("optional int32 a = 1;"), message("string a = 1;"), "0800", ""},
		{"optional int32 to optional string, zero", message("optional int32 a = 1;"), message("optional string a = 1;"), "0800", lost + " /a"},
		{"int32 to open enum", message("int32 a = 1;"), message("E a = 1;"), "0863", ""},
		{"open enum to int32", message("E a = 1;"), message("int32 a = 1;"), "0863", ""},
		{"string to bytes", message("string a = 1;"), message("bytes a = 1;"), "0a0161", ""},
		{"bytes to string", message("bytes a = 1;"), message("string a = 1;"), "0a0161", ""},
		{"bytes to string, no UTF-8", message("bytes a = 1;"), message("string a = 1;"), "0a01ff", "refused utf8"},
		{"message to bytes", message("P a = 1;"), message("bytes a = 1;"), "0a020801", ""},
		{"message to string", message("P a = 1;"), message("string a = 1;"), "0a020801", altered + " /a"},
		{"string to message", message("string a = 1;"), message("P a = 1;"), "0a020801", altered + " /a"},
		{"string to message, cut off", message("string a = 1;"), message("P a = 1;"), "0a0161", "refused truncated"},
		{"message to int32", message("P a = 1;"), message("int32 a = 1;"), "0a020801", lost + " /a"},
		{"message to another of its shape", message("P a = 1;"), `syntax = "proto3"; message A { Q a = 1; } message Q { int32 z = 1; }`, "0a020801", ""},

		{"singular to repeated", message("string a = 1;"), message("repeated string a = 1;"), "0a0161", ""},
		{"one element to singular", message("repeated string a = 1;"), message("string a = 1;"), "0a0161", ""},
		{"two elements to singular", message("repeated string a = 1;"), message("string a = 1;"), "0a01610a0162", altered + " /a"},
		{"two messages to singular", message("repeated P a = 1;"), message("P a = 1;"), "0a0208010a021001", altered + " /a"},
		{"packed numbers to singular", message("repeated int32 a = 1;"), message("int32 a = 1;"), "0a0101", lost + " /a"},
		{"expanded numbers to singular", message("repeated int32 a = 1;"), message("int32 a = 1;"), "08010802", altered + " /a"},
		{"packed and expanded", message("repeated int32 a = 1 [packed = true];"), message("repeated int32 a = 1 [packed = false];"), "0a020102 0803", ""},
		{"string to repeated int32", message("string a = 1;"), message("repeated int32 a = 1;"), "0a0161", altered + " /a"},
		{"string to repeated int32, malformed", message("string a = 1;"), message("repeated int32 a = 1;"), "0a02c3a9", "refused varint"},
		{"repeated int32 to repeated fixed32", message("repeated int32 a = 1;"), message("repeated fixed32 a = 1;"), "0a0401020304", altered + " /a"},
		{"repeated int32 to repeated fixed32, odd", message("repeated int32 a = 1;"), message("repeated fixed32 a = 1;"), "0a03010203", "refused truncated"},
		{"repeated int64 to repeated int32", message("repeated int64 a = 1;"), message("repeated int32 a = 1;"), "0a0601 8080808008", outOfRange + " /a/1"},
		{"repeated string to repeated bytes", message("repeated string a = 1;"), message("repeated bytes a = 1;"), "0a0161 0a0162", ""},

		{"a map to its entries", message("map<int32, int32> a = 1;"), `syntax = "proto3"; message A { repeated X a = 1; } message X { int32 key = 1; int32 value = 2; }`, "0a0408011002", ""},
		{"a map value out of range", message("map<string, int64> a = 1;"), message("map<string, int32> a = 1;"), "0a090a0161108080808008", outOfRange + " /a/0/value"},
		{"keys that become one", message("map<int32, int32> a = 1;"), message("map<bool, int32> a = 1;"), "0a0408011001 0a0408021001", outOfRange + " /a/1/key; " + lost + " /a"},

		{"fields that come to exclude one another", message("int32 a = 1; int32 b = 2;"), message("oneof o { int32 a = 1; int32 b = 2; }"), "08011001", lost + " /a"},
		{"one of them alone", message("int32 a = 1; int32 b = 2;"), message("oneof o { int32 a = 1; int32 b = 2; }"), "1001", ""},
		{"a oneof dissolved", message("oneof o { int32 a = 1; int32 b = 2; }"), message("int32 a = 1; int32 b = 2;"), "08011001", ""},
		{"a oneof renamed and grown", message("oneof o { int32 a = 1; int32 b = 2; }"), message("oneof q { int32 a = 1; int32 b = 2; int32 c = 3; }"), "08011001", ""},

		{"closed enums: a value the reader lacks", message2("optional D a = 1;"), message2("optional C a = 1;"), "0802", lost + " /a"},
		{"closed enums: in a list", message2("repeated D a = 1;"), message2("repeated C a = 1;"), "08010802", lost + " /a"},
		{"closed enums: a value both have", message2("optional D a = 1;"), message2("optional C a = 1;"), "0801", ""},
		{"a required field the writer does not know", message2("optional int32 a = 1;"), message2("optional int32 a = 1; required int32 b = 2;"), "0801", "refused required"},
		{"a required field the writer left out", message2("optional int32 a = 1;"), message2("required int32 a = 1;"), "", "refused required"},
		{"group to message", message2("optional group G = 1 { optional int32 x = 1; }"), message2("optional A g = 1; optional int32 x = 2;"), "0b08010c", lost + " /g"},
		{"proto2 to proto3", message2("optional string a = 1;"), message("string a = 1;"), "0a01ff", "refused utf8"},
		{"deep inside", message("repeated P a = 1;"), `syntax = "proto3"; message A { repeated P a = 1; } message P { sint32 x = 1; int32 y = 2; }`, "0a021001 0a020801", altered + " /a/1/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, r := parse(t, c.writer), parse(t, c.reader)
			got := r.Reads(w, schemas.Payload{Bytes: unhex(t, c.payload)}, schemas.ReadOptions{})
			var parts []string
			for _, v := range got.Violations {
				parts = append(parts, "refused "+v.Rule)
			}
			for _, l := range got.Losses {
				parts = append(parts, []string{"", lost, altered, outOfRange}[l.Kind]+" "+string(l.Payload))
				if l.Text == "" || l.Schema == "" {
					t.Errorf("a loss says too little: %+v", l)
				}
			}
			if text := strings.Join(parts, "; "); text != c.want {
				t.Errorf("got %q, want %q: %+v", text, c.want, got)
			}
		})
	}
}

func TestReadsValue(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto3";
message A { int32 an_int = 1; uint64 u = 2; double d = 3; bool b = 4; string s = 5; bytes y = 6; E e = 7; repeated E es = 8; A a = 9; map<int32, A> m = 10; optional int32 o = 11; float f = 12; sint64 z = 13; }
enum E { E0 = 0; E1 = 1; }`)
	payload := unhex(t, "08ffffffffffffffffff01 10ffffffffffffffffff01 19000000000000f83f 2001 2a0161 3201ff 3801 42020163 4a020802 52060805 1202 0803 52020806 5800 650000c03f 6801")
	got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
	want := map[string]any{
		"anInt": int64(-1), "u": uint64(1<<64 - 1), "d": 1.5, "b": true, "s": "a", "y": []byte{0xff}, "e": "E1",
		"es": []any{"E1", int64(99)}, "a": map[string]any{"anInt": int64(2)},
		"m": map[string]any{"5": map[string]any{"anInt": int64(3)}, "6": map[string]any{}},
		"o": int64(0), "f": 1.5, "z": int64(-1),
	}
	if diff := cmp.Diff(want, got.Value); diff != "" || !got.OK() {
		t.Errorf("(-want +got):\n%s\n%+v", diff, got.Violations)
	}
}

func TestReadsUnknownFields(t *testing.T) {
	t.Parallel()
	s := parse(t, readsSchema)
	for payload, rule := range map[string]string{"a80601": "unknown-field", "0a0101": "wire-type", "4001": "enum", "3203a80601": "unknown-field"} {
		got := s.Reads(s, schemas.Payload{Bytes: unhex(t, payload)}, schemas.ReadOptions{Unknown: true})
		if got.OK() || got.Violations[0].Rule != rule || got.Violations[0].Kind != schemas.Invalid {
			t.Errorf("%s: %+v, want %s", payload, got, rule)
		}
	}
}

// TestHostilePayloads reads what makes other readers slow, hungry or dead.
func TestHostilePayloads(t *testing.T) {
	s := parse(t, readsSchema+` message Wide { repeated Order orders = 1; repeated bool bools = 2; repeated string texts = 3; map<int32, bool> m = 4; }`)
	utf8 := parse(t, `syntax = "proto3"; message Wide { repeated string texts = 4; }`)
	deep := func(n int, open, end string) []byte {
		b := bytes.Repeat(unhex(t, open), n)
		return append(b, bytes.Repeat(unhex(t, end), n)...)
	}
	nest := func(n int) []byte {
		var b []byte
		for range n {
			size := len(b)
			head := []byte{0x32}
			for ; size >= 0x80; size >>= 7 {
				head = append(head, byte(size)|0x80)
			}
			b = append(append(head, byte(size)), b...)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		payload []byte
		message string
		options schemas.ReadOptions
		want    schemas.ViolationKind // 0 when it is read
	}{
		{"127 levels of messages", nest(127), "", schemas.ReadOptions{}, 0},
		{"128 levels of messages", nest(128), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"100,000 levels of messages", nest(10_000), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"three levels where two are allowed", nest(2), "", schemas.ReadOptions{Depth: 2}, schemas.TooLarge},
		{"a million open groups", deep(1_000_000, "3b", "3c"), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"a million unknown open groups", deep(1_000_000, "ab06", "ac06"), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"a million unknown groups never closed", deep(1_000_000, "ab06", ""), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"bytes over the size", make([]byte, 9<<20), "", schemas.ReadOptions{}, schemas.TooLarge},
		{"a length of two gigabytes", unhex(t, "12ffffffff07"), "", schemas.ReadOptions{}, schemas.Unreadable},
		{"a map's key twice, the second in another wire type", unhex(t, "22060801 0a00 1001"), "p.Wide", schemas.ReadOptions{}, 0},
		{"a million empty messages", bytes.Repeat(unhex(t, "0a00"), 1_000_000), "p.Wide", schemas.ReadOptions{}, 0},
		{"a million empty messages, as a value", bytes.Repeat(unhex(t, "0a00"), 1_100_000), "p.Wide", schemas.ReadOptions{Value: true}, schemas.TooComplex},
		{"a million empty strings, as a value", bytes.Repeat(unhex(t, "1a00"), 1_100_000), "p.Wide", schemas.ReadOptions{Value: true}, schemas.TooComplex},
		{"more steps than allowed", bytes.Repeat(unhex(t, "0a00"), 100), "p.Wide", schemas.ReadOptions{Steps: 99}, schemas.TooComplex},
		{"as many steps as allowed", bytes.Repeat(unhex(t, "0a00"), 100), "p.Wide", schemas.ReadOptions{Steps: 100}, 0},
		{"a million unknown fields", bytes.Repeat(unhex(t, "a80600"), 1_000_000), "", schemas.ReadOptions{}, 0},
		{"a million texts that are no UTF-8", bytes.Repeat(unhex(t, "2201ff"), 1_000_000), "p.Wide", schemas.ReadOptions{}, schemas.Unreadable},
		{"a million of undeclared numbers", bytes.Repeat(unhex(t, "4001"), 1_000_000), "", schemas.ReadOptions{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := costtest.Spent()
			in := s
			if strings.Contains(c.name, "UTF-8") {
				in, c.message = utf8, "Wide"
			}
			got := in.Reads(in, schemas.Payload{Bytes: c.payload, Message: c.message}, c.options)
			if took := costtest.Spent() - start; took > costtest.Slower*3*time.Second {
				t.Errorf("took %v of the processor", took)
			}
			kind := schemas.ViolationKind(0)
			if !got.OK() {
				kind = got.Violations[0].Kind
			}
			if kind != c.want {
				t.Errorf("got %v, want %v: %.300v", kind, c.want, got.Violations)
			}
			if len(got.Violations) > 50 || len(got.Losses) > 50 {
				t.Errorf("%d violations and %d losses are told", len(got.Violations), len(got.Losses))
			}
		})
	}
}

func TestReadsAllocatesNothing(t *testing.T) {
	s := parse(t, readsSchema)
	next := parse(t, strings.Replace(readsSchema, "optional bool t = 14;", "optional bool t = 14; optional string more = 15;", 1))
	payload := schemas.Payload{Bytes: unhex(t, "0801 120161 1a02fffe 2001 2203030405 2a0401000000 32020801 3b08013c 4002 4a090a0161120408011002 52040801 1002 a80601")}
	for name, reader := range map[string]schemas.Schema{"own": s, "a later version": next} {
		if got := reader.Reads(s, payload, schemas.ReadOptions{}); !got.OK() || len(got.Losses) > 0 {
			t.Fatalf("%s: %+v", name, got)
		}
		if n := testing.AllocsPerRun(100, func() { reader.Reads(s, payload, schemas.ReadOptions{}) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestJSONMapping(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto3"; package p; import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto";
message A { int64 big_number = 1; repeated string s = 2; map<int32, A> m = 3; google.protobuf.Timestamp t = 4; google.protobuf.Any any = 5; bytes b = 6; E e = 7; }
enum E { E0 = 0; E1 = 1; }`)
	text := `{"bigNumber":"9007199254740993","s":["a"],"m":{"5":{"s":["b"]}},"t":"1970-01-01T00:00:01Z","any":{"@type":"x/p.A","s":["c"]},"b":"/w==","e":"E1"}`
	raw, err := s.FromJSON("p.A", []byte(text), schemas.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Reads(s, schemas.Payload{Bytes: raw}, schemas.ReadOptions{}); !got.OK() || len(got.Losses) > 0 {
		t.Fatalf("what was made is not read: %+v", got)
	}
	back, err := s.ToJSON(schemas.Payload{Bytes: raw}, schemas.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(back) != text {
		t.Errorf("got  %s\nwant %s", back, text)
	}
	for name, bad := range map[string]string{
		"no JSON": `{`, "an unknown member": `{"x":1}`, "a member twice": `{"s":["a"],"s":["b"]}`, "another type": `{"s":1}`,
		"an unknown Any": `{"any":{"@type":"x/p.Nope"}}`, "deep": strings.Repeat(`{"m":{"1":`, 500) + "{}" + strings.Repeat("}}", 500),
		"a huge exponent": `{"bigNumber":1e2000000000}`, "invalid UTF-8": "{\"s\":[\"\xff\"]}",
	} {
		if _, err := s.FromJSON("", []byte(bad), schemas.ReadOptions{}); err == nil || !strings.HasPrefix(err.Error(), "read the message from JSON: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string]string{"no payload": "08", "an unknown Any": "2a0a0a08782f702e4e6f7065", "a map's key twice": "1a0608010a001200"} {
		_, err := s.ToJSON(schemas.Payload{Bytes: unhex(t, bad)}, schemas.ReadOptions{})
		if err == nil && name != "a map's key twice" || err != nil && !strings.HasPrefix(err.Error(), "write the payload as JSON: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.FromJSON("p.Nope", []byte(`{}`), schemas.ReadOptions{}); err == nil {
		t.Error("an unknown message is made")
	}
}

// TestEntryOfRecursiveMessage: an entry without a value holds an empty message,
// also where the message is the one around.
func TestEntryOfRecursiveMessage(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto2"; message M { map<int32, M> m = 1; required int32 id = 2; }`)
	for payload, ok := range map[string]bool{"1001": true, "0a020801" + "1001": false, "0a06080112021001" + "1001": true} {
		if got := s.Reads(s, schemas.Payload{Bytes: unhex(t, payload)}, schemas.ReadOptions{}); got.OK() != ok {
			t.Errorf("%s is read: %t, want %t: %+v", payload, got.OK(), ok, got.Violations)
		}
	}
}
