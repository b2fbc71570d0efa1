package protobuf_test

// optionCases are about option values, defaults and what has no order.
var optionCases = []canonicalCase{
	{
		name: "option values and their escapes",
		text: `syntax = "proto3";
import "confluent/meta.proto";
message A {
  option (confluent.message_meta) = { tags: "t1" doc: 'it''s "x"\n\001\x7f\\' params: [{key: "k", value: "v"}] tags: ["t2", "t3"] };
  string x = 1 [(confluent.field_meta).tags = "b", deprecated = true, (.confluent.field_meta).doc = "d", (confluent.field_meta).tags = "a"];
}`,
		canonical: `syntax = "proto3";

import "confluent/meta.proto";

message A {
  option (confluent.message_meta) = {
    tags: [
      "t1",
      "t2",
      "t3"
    ],
    doc: "its \"x\"\n\001\177\\",
    params: [
      {
        key: "k",
        value: "v"
      }
    ]
  };

  string x = 1 [
    (confluent.field_meta).tags = "b",
    deprecated = true,
    (.confluent.field_meta).doc = "d",
    (confluent.field_meta).tags = "a"
  ];
}
`,
		normalized: `syntax = "proto3";

import "confluent/meta.proto";

message A {
  option (confluent.message_meta) = {
    doc: "its \"x\"\n\001\177\\",
    params: [
      {
        key: "k",
        value: "v"
      }
    ],
    tags: [
      "t1",
      "t2",
      "t3"
    ]
  };

  string x = 1 [
    (confluent.field_meta) = {
      doc: "d",
      tags: [
        "b",
        "a"
      ]
    },
    deprecated = true
  ];
}
`,
	},
	{
		name: "defaults: as written, and in decimal",
		text: `message A {
  optional int32 a = 0x01 [default = 0x10];
  optional int64 b = 2 [default = -017];
  optional double c = 3 [default = 1.5e3];
  optional float d = 4 [default = -inf];
  optional double e = 5 [default = 0.0001];
  optional bytes f = 6 [default = "\xff\"a", json_name = "F"];
  optional bool g = 7 [default = true];
  optional double h = 8 [default = nan];
}`,
		canonical: `
message A {
  optional int32 a = 1 [default = 0x10];
  optional int64 b = 2 [default = -017];
  optional double c = 3 [default = 1.5e3];
  optional float d = 4 [default = -inf];
  optional double e = 5 [default = 0.0001];
  optional bytes f = 6 [
    default = "\377\"a",
    json_name = "F"
  ];
  optional bool g = 7 [default = true];
  optional double h = 8 [default = nan];
}
`,
		normalized: `
message A {
  optional int32 a = 1 [default = 16];
  optional int64 b = 2 [default = -15];
  optional double c = 3 [default = 1500];
  optional float d = 4 [default = -inf];
  optional double e = 5 [default = 0.0001];
  optional bytes f = 6 [
    default = "\377\"a",
    json_name = "F"
  ];
  optional bool g = 7 [default = true];
  optional double h = 8 [default = nan];
}
`,
	},
	{
		name: "oneofs by their lowest member, extend blocks by extendee",
		text: `syntax = "proto2";
message A { extensions 100 to 200; oneof z { string b = 9; string a = 4; } oneof y { string c = 3; } }
extend A { optional string q = 102; }
message B { extensions 100; }
extend B { optional string s = 100; }
extend .A { optional string r = 101; }`,
		canonical: `syntax = "proto2";

message A {
  oneof z {
    string b = 9;
    string a = 4;
  }
  oneof y {
    string c = 3;
  }

  extensions 100 to 200;
}
message B {
  extensions 100;
}

extend A {
  optional string q = 102;
}
extend B {
  optional string s = 100;
}
extend .A {
  optional string r = 101;
}
`,
		normalized: `
message A {
  oneof y {
    string c = 3;
  }
  oneof z {
    string a = 4;
    string b = 9;
  }

  extensions 100 to 200;
}
message B {
  extensions 100;
}

extend .A {
  optional string r = 101;
  optional string q = 102;
}
extend .B {
  optional string s = 100;
}
`,
	},
	{
		name: "hand-written map entries are folded when normalized",
		text: `syntax = "proto3";
message A {
  message E { option map_entry = true; string key = 1; A value = 2; }
  repeated E e = 1;
  map<int32, string> f = 2;
}`,
		canonical: dots(`syntax = "proto3";

message A {
  repeated E e = 1;
  map<int32, string> f = 2;

  message E {
    option map_entry = true;
··
    string key = 1;
    A value = 2;
  }
}
`),
		normalized: `syntax = "proto3";

message A {
  map<string, .A> e = 1;
  map<int32, string> f = 2;
}
`,
	},
	{
		name: "names that a package part hides, and types without an import",
		text: `syntax = "proto3";
package com.google.x;
import "google/protobuf/timestamp.proto";
message A { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2; }`,
		canonical: `syntax = "proto3";
package com.google.x;

import "google/protobuf/timestamp.proto";

message A {
  google.protobuf.Timestamp t = 1;
  google.protobuf.Duration d = 2;
}
`,
		normalized: `syntax = "proto3";
package com.google.x;

import "google/protobuf/timestamp.proto";

message A {
  .google.protobuf.Timestamp t = 1;
  .google.protobuf.Duration d = 2;
}
`,
	},
	{
		name:       "features of an edition",
		text:       `edition = "2023"; option features.field_presence = IMPLICIT; option features.enum_type = CLOSED; message A { string x = 1 [features.field_presence = EXPLICIT]; }`,
		canonical:  "edition = \"2023\";\n\noption features.field_presence = IMPLICIT;\noption features.enum_type = CLOSED;\n\nmessage A {\n  string x = 1 [features.field_presence = EXPLICIT];\n}\n",
		normalized: "edition = \"2023\";\n\noption features = {\n  enum_type: CLOSED,\n  field_presence: IMPLICIT\n};\n\nmessage A {\n  string x = 1 [features = {\n    field_presence: EXPLICIT\n  }];\n}\n",
	},
	{
		name:       "a file of options only",
		text:       `syntax = "proto3"; option java_package = "a" 'b';`,
		canonical:  "syntax = \"proto3\";\n\noption java_package = \"ab\";\n",
		normalized: "syntax = \"proto3\";\n\noption java_package = \"ab\";\n",
	},
}
