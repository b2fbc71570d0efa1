package protobuf_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func encode(t *testing.T, fd *descriptorpb.FileDescriptorProto) string {
	t.Helper()
	raw, err := proto.Marshal(fd)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func TestDescriptorAsText(t *testing.T) {
	t.Parallel()
	// As the clients send it: default json_name everywhere, map entries as
	// messages, absolute names.
	text := `syntax = "proto3";
package acme;

import "confluent/meta.proto";

message User {
  option (confluent.message_meta) = {
    doc: "d"
  };

  string first_name = 1;
  optional int32 age = 3;
  string other = 4 [json_name = "o"];
  repeated double scores = 5 [packed = false];

  oneof way {
    .acme.Kind kind = 6;
    .acme.User self = 7;
  }
}
enum Kind {
  K0 = 0;
}
`
	s := parse(t, text)
	serialized, err := s.Serialized()
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, serialized)
	if diff := cmp.Diff(text, d.Canonical()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.Source().Text != serialized {
		t.Error("the source is not what was sent")
	}
	if !d.Equivalent(s) || d.Fingerprint() != s.Fingerprint() {
		t.Error("descriptor and text of one file are different schemas")
	}
	checkFixpoint(t, d, nil)
}

func TestDescriptorWithMap(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto3"; message A { map<string, A> by_name = 1; }`)
	serialized, err := s.Serialized()
	if err != nil {
		t.Fatal(err)
	}
	d := parse(t, serialized)
	want := dots(`syntax = "proto3";

message A {
  repeated .A.ByNameEntry by_name = 1;

  message ByNameEntry {
    option map_entry = true;
··
    string key = 1;
    .A value = 2;
  }
}
`)
	if diff := cmp.Diff(want, d.Canonical()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a, _ := s.Normalized()
	b, _ := d.Normalized()
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("normalized, text and descriptor differ:\n%s", diff)
	}
	checkFixpoint(t, d, nil)
}

// TestLongDescriptor: base64 looks like one long name, or number, to a scanner
// of texts.
func TestLongDescriptor(t *testing.T) {
	t.Parallel()
	for _, text := range []string{everything2, everything3, everything2023} {
		s := parse(t, text)
		serialized, err := s.Serialized()
		if err != nil {
			t.Fatal(err)
		}
		if len(serialized) < 2000 {
			t.Fatal("too short to tell")
		}
		checkFixpoint(t, parse(t, serialized), nil)
		if _, err := protobuf.Outline("a.proto", serialized, schemas.Limits{}); err != nil {
			t.Error(err)
		}
	}
}

func TestDescriptorRefused(t *testing.T) {
	t.Parallel()
	message := func(change func(*descriptorpb.DescriptorProto)) *descriptorpb.FileDescriptorProto {
		m := &descriptorpb.DescriptorProto{Name: proto.String("A"), Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("x"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		}}}
		change(m)
		return &descriptorpb.FileDescriptorProto{Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{m}}
	}
	for name, change := range map[string]func(*descriptorpb.DescriptorProto){
		"a name that is text":       func(m *descriptorpb.DescriptorProto) { m.Name = proto.String("A {} message B") },
		"an empty name":             func(m *descriptorpb.DescriptorProto) { m.Field[0].Name = proto.String("") },
		"no type":                   func(m *descriptorpb.DescriptorProto) { m.Field[0].Type = nil },
		"number 0":                  func(m *descriptorpb.DescriptorProto) { m.Field[0].Number = proto.Int32(0) },
		"a negative number":         func(m *descriptorpb.DescriptorProto) { m.Field[0].Number = proto.Int32(-1) },
		"a number twice":            func(m *descriptorpb.DescriptorProto) { m.Field = append(m.Field, m.Field[0]) },
		"a oneof that is not there": func(m *descriptorpb.DescriptorProto) { m.Field[0].OneofIndex = proto.Int32(7) },
		"a type that is text":       func(m *descriptorpb.DescriptorProto) { m.Field[0].TypeName = proto.String("string x = 2; int32") },
		"required in proto3": func(m *descriptorpb.DescriptorProto) {
			m.Field[0].Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
		},
		"an unknown type": func(m *descriptorpb.DescriptorProto) { m.Field[0].TypeName = proto.String(".no.Such") },
		"a reserved number": func(m *descriptorpb.DescriptorProto) {
			m.ReservedRange = []*descriptorpb.DescriptorProto_ReservedRange{{Start: proto.Int32(1), End: proto.Int32(2)}}
		},
		"a group without its body": func(m *descriptorpb.DescriptorProto) {
			m.Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_GROUP.Enum()
			m.Field[0].TypeName = proto.String(".A.X")
		},
		"an uninterpreted option": func(m *descriptorpb.DescriptorProto) {
			m.Options = &descriptorpb.MessageOptions{UninterpretedOption: []*descriptorpb.UninterpretedOption{{}}}
		},
		"a default that is text": func(m *descriptorpb.DescriptorProto) {
			m.Field[0].DefaultValue = proto.String("1] x")
			m.Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
		},
		"an import that is not there": func(m *descriptorpb.DescriptorProto) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fd := message(change)
			if name == "an import that is not there" {
				fd.Dependency = []string{"no/such.proto"}
			}
			_, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: encode(t, fd)}, nil, schemas.ParseOptions{})
			if err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestDescriptorWithoutJSONNames(t *testing.T) {
	t.Parallel()
	fd := &descriptorpb.FileDescriptorProto{
		Name: proto.String("ignored.proto"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("A"), Field: []*descriptorpb.FieldDescriptorProto{
			{Name: proto.String("x"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()},
			{Name: proto.String("y"), Number: proto.Int32(2), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()},
		}}},
	}
	want := "syntax = \"proto3\";\n\nmessage A {\n  string x = 1;\n  string y = 2;\n}\n"
	if diff := cmp.Diff(want, parse(t, encode(t, fd)).Canonical()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDescriptorOfProto2(t *testing.T) {
	t.Parallel()
	text := `syntax = "proto2";
package p;

message A {
  reserved 20 to 30, 40;
  reserved "old";

  required string s = 1 [
    ctype = CORD,
    default = "a\"b"
  ];
  optional bytes b = 2 [default = "\001\377\\\n"];
  optional float f = 3 [default = -inf];
  repeated .p.A more = 4;

  oneof o {
    int32 n = 5;

    group H = 6 {
      optional bool q = 1;
    }
  }

  optional group G = 7 {
    optional bool q = 1;
  }

  extensions 100 to 200;
  extensions 1000 to max;
}
enum E {
  reserved 5 to 7;
  reserved "W";
  option allow_alias = true;
  X = 1;
  Y = 1;
}

extend .p.A {
  optional .p.E e = 100;
}

service S {
  rpc M (.p.A) returns (stream .p.A) {
    option idempotency_level = NO_SIDE_EFFECTS;
  };
}
`
	s := parse(t, text)
	serialized, err := s.Serialized()
	if err != nil {
		t.Fatal(err)
	}
	// Descriptors of proto2 do not name their syntax.
	want := strings.TrimPrefix(s.Canonical(), "syntax = \"proto2\";\n")
	if diff := cmp.Diff(want, parse(t, serialized).Canonical()); diff != "" {
		t.Errorf("(-text +descriptor):\n%s", diff)
	}
}

func TestWithoutExtensions(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto2";
import "google/protobuf/descriptor.proto";
import "confluent/meta.proto";
extend google.protobuf.FieldOptions { optional string mine = 50001; }
message A {
  extensions 100 to 200;
  extend A { optional int32 x = 100; }
  optional string s = 1 [(mine) = "x", deprecated = true, (confluent.field_meta).doc = "d"];
}`)
	want := `syntax = "proto2";

import "google/protobuf/descriptor.proto";
import "confluent/meta.proto";

message A {
  optional string s = 1 [
    deprecated = true,
    (confluent.field_meta).doc = "d"
  ];
}
`
	if diff := cmp.Diff(want, s.WithoutExtensions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(s.Canonical(), "extend A") {
		t.Error("the schema itself was changed")
	}
}

func TestSerialized(t *testing.T) {
	t.Parallel()
	s := parse(t, `syntax = "proto3"; package p; message A { google.protobuf.Timestamp t = 1; }`)
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
	want := &descriptorpb.FileDescriptorProto{
		Name: proto.String("default"), Package: proto.String("p"), Syntax: proto.String("proto3"),
		// A reader of the descriptor needs the import that the text left out.
		Dependency: []string{"google/protobuf/timestamp.proto"},
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("A"), Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("t"), JsonName: proto.String("t"), Number: proto.Int32(1),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(),
			TypeName: proto.String(".google.protobuf.Timestamp"),
		}}}},
	}
	if !proto.Equal(want, fd) {
		t.Errorf("got %v, want %v", fd, want)
	}
}

// A descriptor of proto2 does not say whether its text had a syntax line.
func TestProto2LineIsNoDifference(t *testing.T) {
	t.Parallel()
	written := parseTags(t, "syntax = \"proto2\";\nmessage A { optional int32 a = 1; }")
	text, err := protobuf.Format.Form(written, "serialized")
	if err != nil {
		t.Fatal(err)
	}
	again := parseTags(t, text)
	if !again.Equivalent(written) || !written.Equivalent(again) {
		t.Errorf("the serialized form is another schema:\n%s", again.Canonical())
	}
	if like := protobuf.Format.Likeness; again.Canonical() == written.Canonical() || like(again.Canonical()) != like(written.Canonical()) {
		t.Errorf("the two are unlike:\n%s%s", again.Canonical(), written.Canonical())
	}
	if third := parseTags(t, "syntax = \"proto3\";\nmessage A { optional int32 a = 1; }"); third.Equivalent(written) || third.Equivalent(again) {
		t.Error("proto3 counts as proto2")
	}
}
