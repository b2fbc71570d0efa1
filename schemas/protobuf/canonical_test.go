package protobuf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// parse parses a text that has no references.
func parse(t testing.TB, text string) *protobuf.Schema {
	t.Helper()
	s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s.(*protobuf.Schema)
}

// dots makes the spaces of otherwise empty lines visible in this file.
func dots(text string) string { return strings.ReplaceAll(text, "·", " ") }

// canonicalCase is a text and what it is printed as.
type canonicalCase struct{ name, text, canonical, normalized string }

var canonicalCases = append([]canonicalCase{
	{
		name:       "comments, layout and empty statements go",
		text:       "// c\n\nsyntax='proto3' ; /* d */ ;;\nmessage   A{;string x=1;;}\r\n;",
		canonical:  "syntax = \"proto3\";\n\nmessage A {\n  string x = 1;\n}\n",
		normalized: "syntax = \"proto3\";\n\nmessage A {\n  string x = 1;\n}\n",
	},
	{
		name:       "an absent syntax line stays absent",
		text:       "message A { optional string x = 1; }",
		canonical:  "\nmessage A {\n  optional string x = 1;\n}\n",
		normalized: "\nmessage A {\n  optional string x = 1;\n}\n",
	},
	{
		name:       "a proto2 line goes only when normalized",
		text:       "syntax = \"proto2\"; message A {}",
		canonical:  "syntax = \"proto2\";\n\nmessage A {}\n",
		normalized: "\nmessage A {}\n",
	},
	{
		name:       "an edition line stays in its place",
		text:       "edition = \"2023\"; package p; message A { reserved x, y; reserved 3; string s = 1; }",
		canonical:  "edition = \"2023\";\npackage p;\n\nmessage A {\n  reserved x, y;\n  reserved 3;\n\n  string s = 1;\n}\n",
		normalized: "edition = \"2023\";\npackage p;\n\nmessage A {\n  reserved 3;\n  reserved x;\n  reserved y;\n\n  string s = 1;\n}\n",
	},
	{
		name: "the contract's example",
		text: `syntax = "proto3";
package acme;
option java_package = "com.acme"; // the option stands before the import
import "google/protobuf/timestamp.proto";
enum Kind { UNKNOWN = 0; A = 1; }
message User {
  message Inner { google.protobuf.Timestamp at = 1; }
  string name = 2 [json_name = "n", deprecated = true];
  int64 id = 1;
  reserved 5, 7 to 9;
  reserved "old";
  map<string, Kind> kinds = 6;
  repeated Inner inners = 10;
  oneof contact { string email = 3; string phone = 4; }
}`,
		canonical: `syntax = "proto3";
package acme;

import "google/protobuf/timestamp.proto";

option java_package = "com.acme";

message User {
  reserved 5, 7 to 9;
  reserved "old";

  string name = 2 [
    deprecated = true,
    json_name = "n"
  ];
  int64 id = 1;
  map<string, Kind> kinds = 6;
  repeated Inner inners = 10;

  oneof contact {
    string email = 3;
    string phone = 4;
  }

  message Inner {
    google.protobuf.Timestamp at = 1;
  }
}
enum Kind {
  UNKNOWN = 0;
  A = 1;
}
`,
		normalized: `syntax = "proto3";
package acme;

import "google/protobuf/timestamp.proto";

option java_package = "com.acme";

message User {
  reserved 5;
  reserved 7 to 9;
  reserved "old";

  int64 id = 1;
  string name = 2 [
    deprecated = true,
    json_name = "n"
  ];
  map<string, .acme.Kind> kinds = 6;
  repeated .acme.User.Inner inners = 10;

  oneof contact {
    string email = 3;
    string phone = 4;
  }

  message Inner {
    .google.protobuf.Timestamp at = 1;
  }
}
enum Kind {
  UNKNOWN = 0;
  A = 1;
}
`,
	},
	{
		name: "imports: plain, then public; sorted when normalized",
		text: `syntax = "proto3";
import "google/protobuf/timestamp.proto";
import public "google/protobuf/duration.proto";
import "google/protobuf/any.proto";
message A { google.protobuf.Any a = 1; google.protobuf.Timestamp t = 2; }`,
		canonical: `syntax = "proto3";

import "google/protobuf/timestamp.proto";
import "google/protobuf/any.proto";
import public "google/protobuf/duration.proto";

message A {
  google.protobuf.Any a = 1;
  google.protobuf.Timestamp t = 2;
}
`,
		normalized: `syntax = "proto3";

import "google/protobuf/any.proto";
import "google/protobuf/timestamp.proto";
import public "google/protobuf/duration.proto";

message A {
  .google.protobuf.Any a = 1;
  .google.protobuf.Timestamp t = 2;
}
`,
	},
	{
		name: "weak imports go, unless the text would not parse without",
		text: `syntax = "proto2";
import weak "google/protobuf/timestamp.proto";
import weak "google/protobuf/any.proto";
message A { optional google.protobuf.Any a = 1; }`,
		canonical:  "syntax = \"proto2\";\n\nimport \"google/protobuf/any.proto\";\n\nmessage A {\n  optional google.protobuf.Any a = 1;\n}\n",
		normalized: "\nimport \"google/protobuf/any.proto\";\n\nmessage A {\n  optional .google.protobuf.Any a = 1;\n}\n",
	},
	{
		name: "every section of a message, with the indentation of empty lines",
		text: `syntax = "proto2";
message Outer { message M {
  enum E { E0 = 0; }
  message N {}
  extend M { optional int32 ext = 102; }
  extensions 100 to 199, 300 to max;
  optional group G = 5 { optional int32 a = 1; }
  oneof o { option (p.oo) = true; int32 b = 4; group H = 3 { } }
  required int32 c = 2;
  option deprecated = false;
  reserved 10, 12 to 14;
} }
package p;
import "google/protobuf/descriptor.proto";
extend google.protobuf.OneofOptions { optional bool oo = 5000; }`,
		canonical: dots(`syntax = "proto2";
package p;

import "google/protobuf/descriptor.proto";

message Outer {
  message M {
    reserved 10, 12 to 14;
··
    option deprecated = false;
··
    required int32 c = 2;
··
    oneof o {
      option (p.oo) = true;
····
      int32 b = 4;
····
      group H = 3 {}
    }
··
    optional group G = 5 {
      optional int32 a = 1;
    }
··
    extensions 100 to 199, 300 to max;
··
    extend M {
      optional int32 ext = 102;
    }
··
    message N {}
    enum E {
      E0 = 0;
    }
  }
}

extend google.protobuf.OneofOptions {
  optional bool oo = 5000;
}
`),
		normalized: dots(`package p;

import "google/protobuf/descriptor.proto";

message Outer {
  message M {
    reserved 10;
    reserved 12 to 14;
··
    option deprecated = false;
··
    required int32 c = 2;
··
    oneof o {
      option (p.oo) = true;
····
      int32 b = 4;
····
      group H = 3 {}
    }
··
    optional group G = 5 {
      optional int32 a = 1;
    }
··
    extensions 100 to 199;
    extensions 300 to max;
··
    extend .p.Outer.M {
      optional int32 ext = 102;
    }
··
    message N {}
    enum E {
      E0 = 0;
    }
  }
}

extend .google.protobuf.OneofOptions {
  optional bool oo = 5000;
}
`),
	},
	{
		name: "an enum has no empty lines inside; values by number, then name, behind the first",
		text: `syntax = "proto2";
enum E { option allow_alias = true; Z = 3; C = 1; B = 1; A = 2 [deprecated = true]; D = -1; reserved 7, 9 to max; reserved "x", "w"; }`,
		canonical: `syntax = "proto2";

enum E {
  reserved 7, 9 to max;
  reserved "x", "w";
  option allow_alias = true;
  Z = 3;
  C = 1;
  B = 1;
  A = 2 [deprecated = true];
  D = -1;
}
`,
		normalized: `
enum E {
  reserved 7;
  reserved 9 to max;
  reserved "w";
  reserved "x";
  option allow_alias = true;
  Z = 3;
  D = -1;
  B = 1;
  C = 1;
  A = 2 [deprecated = true];
}
`,
	},
	{
		name: "services",
		text: `syntax = "proto3";
message Q {}
service S {
  rpc B (stream Q) returns (stream Q) { option deprecated = true; option idempotency_level = IDEMPOTENT; }
  rpc A (Q) returns (.Q) {}
  option deprecated = true;
}
service T {}`,
		canonical: `syntax = "proto3";

message Q {}

service S {
  option deprecated = true;

  rpc B (stream Q) returns (stream Q) {
    option deprecated = true;
    option idempotency_level = IDEMPOTENT;
  };
  rpc A (Q) returns (.Q);
}
service T {}
`,
		normalized: `syntax = "proto3";

message Q {}

service S {
  option deprecated = true;

  rpc B (stream .Q) returns (stream .Q) {
    option deprecated = true;
    option idempotency_level = IDEMPOTENT;
  };
  rpc A (.Q) returns (.Q);
}
service T {}
`,
	},
}, optionCases...)

func TestCanonicalTexts(t *testing.T) {
	t.Parallel()
	for _, c := range canonicalCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, c.text)
			if diff := cmp.Diff(c.canonical, s.Canonical()); diff != "" {
				t.Errorf("canonical (-want +got):\n%s", diff)
			}
			normalized, refs := s.Normalized()
			if diff := cmp.Diff(c.normalized, normalized); diff != "" {
				t.Errorf("normalized (-want +got):\n%s", diff)
			}
			if len(refs) > 0 {
				t.Errorf("references from nowhere: %v", refs)
			}
			checkFixpoint(t, s, nil)
			checkMeaning(t, s, nil)
		})
	}
}

// TestVectorH is a published vector of the GUID formula.
func TestVectorH(t *testing.T) {
	t.Parallel()
	s := parse(t, "syntax = \"proto3\";package acme;message User { /* no */ int64 id=1; }")
	if got := schemas.GUIDOf(s.Canonical(), nil, nil, nil).String(); got != "a56a0ae8-d9e4-24d4-aa70-3560740d7536" {
		t.Errorf("GUID is %s", got)
	}
}
