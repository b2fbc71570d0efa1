package protobuf_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func addTexts(f *testing.F) {
	for _, c := range canonicalCases {
		f.Add(c.text)
	}
	for _, text := range []string{
		readsSchema, everything2, everything3, everything2023, "", "\ufeff", "Cgd4LnByb3RvEgRhY21lIg4KAUESCQoBeBgBIAIoCQ==",
		`syntax = "proto3"; import "google/type/money.proto"; message A { google.type.Money m = 1; }`,
		`edition = "2024"; export message A {}`, `message A { optional int32 x = 1 [default = -0x7fffffff]; }`,
		`syntax = "proto3"; option (a.b).c = { [x.y]: <a: 1 b: [1, 2]>, [type.googleapis.com/a.B] { c: inf } };`,
	} {
		f.Add(text)
	}
}

// FuzzParse: no text makes the parser panic, and every error says something.
func FuzzParse(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			t.Skip("longer than 16 KiB: the limits have tests of their own, and short texts find more in the time")
		}
		source := schemas.Source{Type: schemas.Protobuf, Text: text}
		strict, err := protobuf.Parse(t.Context(), source, nil, schemas.ParseOptions{})
		if err != nil && err.Error() == "" {
			t.Fatal("an error without a text")
		}
		stored, problem := protobuf.Parse(t.Context(), source, nil, schemas.ParseOptions{Mode: schemas.Stored})
		if err == nil && (problem != nil || stored.Canonical() != strict.Canonical() || stored.Fingerprint() != strict.Fingerprint()) {
			t.Fatalf("accepted anew and not as stored: %v", problem)
		}
		if _, problem := protobuf.Outline("a.proto", text, schemas.Limits{}); err == nil && problem != nil {
			t.Fatalf("accepted and has no outline: %v", problem)
		}
	})
}

// FuzzDescriptor: no bytes sent as a descriptor make the parser panic, and what
// is accepted is a text like any other.
func FuzzDescriptor(f *testing.F) {
	for _, text := range []string{everything2, everything3, everything2023, readsSchema} {
		serialized, err := parse(f, text).Serialized()
		if err != nil {
			f.Fatal(err)
		}
		raw, err := base64.StdEncoding.DecodeString(serialized)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for _, c := range canonicalCases {
		if serialized, err := parse(f, c.text).Serialized(); err == nil {
			raw, _ := base64.StdEncoding.DecodeString(serialized)
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 1<<14 {
			t.Skip("longer than 16 KiB: the limits have tests of their own, and short descriptors find more in the time")
		}
		s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: base64.StdEncoding.EncodeToString(raw)}, nil, schemas.ParseOptions{})
		if err == nil {
			checkFixpoint(t, s, nil)
		}
	})
}

// FuzzCanonical: what is accepted prints as a text that is accepted, prints the
// same and means the same.
func FuzzCanonical(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			t.Skip("longer than 16 KiB: the limits have tests of their own, and short texts find more in the time")
		}
		s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
		if err != nil {
			return
		}
		checkFixpoint(t, s, nil)
		checkMeaning(t, s, nil)
	})
}

// The three schemas hold every kind of field in every way that it can be
// declared.
var (
	everything2    = everything("proto2")
	everything3    = everything("proto3")
	everything2023 = everything("2023")
)

func everything(syntax string) string {
	var b strings.Builder
	number := 0
	field := func(format string, args ...any) {
		number++
		fmt.Fprintf(&b, "  "+format+" = %d;\n", append(args, number)...)
	}
	scalars := strings.Fields("double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes E M")
	if syntax == "2023" {
		b.WriteString("edition = \"2023\";\n")
	} else {
		fmt.Fprintf(&b, "syntax = %q;\n", syntax)
	}
	b.WriteString("message M {\n")
	optional := "optional "
	if syntax == "2023" {
		optional = ""
	}
	for _, kind := range scalars {
		field("%s%s a_%s", optional, kind, strings.ToLower(kind))
		field("repeated %s r_%s", kind, strings.ToLower(kind))
		if syntax == "proto3" {
			field("%s i_%s", kind, strings.ToLower(kind))
		}
		field("map<string, %s> m_%s", kind, strings.ToLower(kind))
	}
	b.WriteString("  oneof o {\n")
	for _, kind := range scalars {
		field("%s o_%s", kind, strings.ToLower(kind))
	}
	b.WriteString("  }\n")
	for _, key := range strings.Fields("int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool") {
		field("map<%s, M> k_%s", key, key)
	}
	switch syntax {
	case "proto2":
		number += 3
		fmt.Fprintf(&b, "  optional group G = %d { required int32 must = 1; optional M m = 2; }\n", number-2)
		fmt.Fprintf(&b, "  repeated group H = %d { optional string s = 1; }\n", number-1)
		b.WriteString("  optional R r = 5000;\n  repeated int32 packed = 5001 [packed = true];\n")
	case "2023":
		b.WriteString("  M group = 4000 [features.message_encoding = DELIMITED];\n  string raw = 4001 [features.utf8_validation = NONE];\n")
		b.WriteString("  repeated int32 expanded = 4002 [features.repeated_field_encoding = EXPANDED];\n  R r = 5000;\n")
	}
	b.WriteString("}\nenum E { E0 = 0; E1 = 1; E2 = -2; E3 = 1000; }\n")
	switch syntax {
	case "proto2":
		b.WriteString("message R { required int32 a = 1; required string b = 2; repeated R more = 3; }\n")
	case "2023":
		b.WriteString("message R { int32 a = 1 [features.field_presence = LEGACY_REQUIRED]; string b = 2 [features.field_presence = LEGACY_REQUIRED]; repeated R more = 3; }\n")
	}
	return b.String()
}

// dynamic is the message M of a schema for protobuf-go, made from the schema's
// own descriptor.
func dynamic(t testing.TB, s *protobuf.Schema) protoreflect.MessageType {
	t.Helper()
	text, err := s.Serialized()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	fd := &descriptorpb.FileDescriptorProto{}
	if err := proto.Unmarshal(raw, fd); err != nil {
		t.Fatal(err)
	}
	file, err := protodesc.NewFile(fd, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessageType(file.Messages().Get(0))
}

// referee asks protobuf-go whether it reads a payload; known is false for what
// it has no answer to: it panics on some maps.
func referee(message protoreflect.MessageType, payload []byte) (m proto.Message, err error, known bool) {
	defer func() {
		if p := recover(); p != nil {
			known = false
		}
	}()
	m = message.New().Interface()
	err = proto.UnmarshalOptions{RecursionLimit: 1000}.Unmarshal(payload, m)
	return m, err, true
}

// checkAgreement demands that Reads accepts exactly what protobuf-go accepts.
func checkAgreement(t *testing.T, s *protobuf.Schema, message protoreflect.MessageType, payload []byte) {
	t.Helper()
	got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
	slow := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
	if got.OK() != slow.OK() || len(got.Losses) != len(slow.Losses) {
		t.Fatalf("%x: the readers disagree: %+v, %+v", payload, got, slow)
	}
	if verdict := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Verdict: true}); verdict.OK() != slow.OK() {
		t.Fatalf("%x: the verdict is %+v, the reasons are %+v", payload, verdict, slow)
	}
	if !got.OK() && got.Violations[0].Kind == schemas.TooLarge {
		return // protobuf-go allows deeper nesting
	}
	if len(got.Losses) > 0 {
		return // protobuf-go keeps undeclared numbers of closed enums, required fields depend on it
	}
	_, err, known := referee(message, payload)
	if !known {
		return
	}
	if got.OK() != (err == nil) {
		for i := range payload {
			// Inside unknown groups protobuf-go takes field numbers beyond 2^29-1,
			// which no tag of 32 bits can hold.
			if v, n := protowire.ConsumeVarint(payload[i:]); n > 0 && v>>3 >= 1<<29 && err == nil {
				return
			}
		}
		t.Fatalf("%x: we say %+v, protobuf-go says %v", payload, got.Violations, err)
	}
}

func FuzzReads(f *testing.F) {
	type side struct {
		schema  *protobuf.Schema
		message protoreflect.MessageType
	}
	var sides []side
	for _, text := range []string{everything2, everything3, everything2023} {
		s := parse(f, text)
		sides = append(sides, side{s, dynamic(f, s)})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		m := sides[i%3].message.New()
		populate(r, m, 3)
		raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte("\x22\x06\x08\x01\x0a\x00\x10\x01"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > 4096 {
			t.Skip("longer than 4 KiB: the bounds have tests of their own, and short payloads find more in the time")
		}
		for _, side := range sides {
			checkAgreement(t, side.schema, side.message, payload)
			for _, writer := range sides {
				for _, unknown := range []bool{false, true} {
					slow := side.schema.Reads(writer.schema, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true, Unknown: unknown})
					if verdict := side.schema.Reads(writer.schema, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Verdict: true, Unknown: unknown}); verdict.OK() != slow.OK() {
						t.Fatalf("%x: the verdict is %+v, the reasons are %+v", payload, verdict, slow)
					}
				}
			}
			_, _ = side.schema.ToJSON(schemas.Payload{Bytes: payload}, schemas.ReadOptions{})
		}
	})
}

// populate sets random fields of m.
func populate(r *rand.Rand, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for range 1 + r.IntN(6) {
		fd := fields.Get(r.IntN(fields.Len()))
		switch {
		case fd.IsMap():
			mp := m.Mutable(fd).Map()
			for range r.IntN(3) {
				key := scalar(r, fd.MapKey()).MapKey()
				if fd.MapValue().Message() == nil {
					mp.Set(key, scalar(r, fd.MapValue()))
				} else if v := mp.NewValue(); depth > 0 {
					populate(r, v.Message(), depth-1)
					mp.Set(key, v)
				}
			}
		case fd.IsList():
			list := m.Mutable(fd).List()
			for range r.IntN(4) {
				if fd.Message() == nil {
					list.Append(scalar(r, fd))
				} else if v := list.NewElement(); depth > 0 {
					populate(r, v.Message(), depth-1)
					list.Append(v)
				}
			}
		case fd.Message() != nil:
			if depth > 0 {
				populate(r, m.Mutable(fd).Message(), depth-1)
			}
		default:
			m.Set(fd, scalar(r, fd))
		}
	}
}

func scalar(r *rand.Rand, fd protoreflect.FieldDescriptor) protoreflect.Value {
	n := r.Uint64() >> r.IntN(64)
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n%2 == 1)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(fd.Enum().Values().Get(r.IntN(fd.Enum().Values().Len())).Number())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(int32(n)) / 8)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(int64(n)) / 8)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{byte(n), 0xff})
	default:
		return protoreflect.ValueOfString(strings.Repeat("é", r.IntN(5)))
	}
}

// TestReadsAgreesWithProtobufGo reads random payloads and broken ones.
func TestReadsAgreesWithProtobufGo(t *testing.T) {
	t.Parallel()
	for i, text := range []string{everything2, everything3, everything2023} {
		s := parse(t, text)
		message := dynamic(t, s)
		seed := uint64(i)
		r := rand.New(rand.NewPCG(seed, 7))
		accepted := 0
		for range 600 {
			m := message.New()
			populate(r, m, 4)
			raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			checkAgreement(t, s, message, raw)
			if s.Reads(s, schemas.Payload{Bytes: raw}, schemas.ReadOptions{}).OK() {
				accepted++
			}
			for range 5 {
				if len(raw) == 0 {
					break
				}
				broken := append([]byte{}, raw...)
				switch r.IntN(3) {
				case 0:
					broken[r.IntN(len(broken))] ^= 1 << r.IntN(8)
				case 1:
					broken = broken[:r.IntN(len(broken))]
				case 2:
					at := r.IntN(len(broken))
					broken = append(broken[:at:at], broken[min(len(broken), at+1+r.IntN(3)):]...)
				}
				checkAgreement(t, s, message, broken)
			}
		}
		if accepted < 100 {
			t.Errorf("schema %d: only %d payloads were read at all", i, accepted)
		}
	}
}

// TestReadsAgreesOnEvolution reads with fields taken away and put back, and
// compares what is told to be lost with what protobuf-go sees.
func TestReadsAgreesOnEvolution(t *testing.T) {
	t.Parallel()
	writer := parse(t, everything3)
	reader := parse(t, strings.ReplaceAll(strings.ReplaceAll(everything3, " int32 ", " int64 "), " uint32 ", " uint64 "))
	message := dynamic(t, writer)
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		m := message.New()
		populate(r, m, 3)
		raw, err := proto.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		payload := schemas.Payload{Bytes: raw}
		if got := reader.Reads(writer, payload, schemas.ReadOptions{}); !got.OK() || len(got.Losses) > 0 {
			t.Fatalf("%x: widening loses: %+v", raw, got)
		}
		// The slow reader must come to the same.
		if got := reader.Reads(writer, payload, schemas.ReadOptions{Value: true}); !got.OK() || len(got.Losses) > 0 {
			t.Fatalf("%x: widening loses, slowly: %+v", raw, got)
		}
	}
}
