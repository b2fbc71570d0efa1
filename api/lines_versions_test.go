package api_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

var registerLines = []line{
	{name: "C10", says: "the table of 5.4", script: `
		PUT /config {"compatibility":"NONE"} => 200
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/t/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "int" => 200 "id":2,"version":2
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		GET /subjects/s/versions/latest => 200 "version":2
		POST /subjects/d/versions avro {"type":"fixed","name":"F","size":2} => 200 "id":3,"version":1
		POST /subjects/d/versions avro {"size": 2, "name": "F", "type": "fixed"} => 200 "id":3,"version":1
		POST /subjects/d/versions avro {"type":"fixed","name":"F","doc":"d","size":2} => 200 "id":4,"version":2
		POST /subjects/:.c:s/versions avro "string" => 200 "id":1,"version":1 & "guid":"095d71cf-1255-6b9d-5e33-0ad575b3df5d"
		POST /subjects/s/versions avro "string" with {"version":5} => 42201
		POST /subjects/s/versions avro "string" with {"version":3} => 200 "id":5,"version":3 & "confluent:version":"3"
	`, checks: []func(*testing.T){c10RegisterAgain}},
	{name: "C11", says: "white space is idempotent", script: `
		POST /subjects/s/versions avro {   "type":   "string"} => 200 "id":1,"version":1
		POST /subjects/s/versions avro {   "type":   "string"} => 200 "id":1,"version":1
		GET /schemas/ids/1/schema => 200 ="string"
	`},
	// P2 has a rule without a name, which no request can have; it is a test of
	// package schemas.
	{name: "C12", says: "GUID vectors", script: `
		PUT /mode {"mode":"IMPORT"} => 200
		POST /subjects/p/versions avro {"type":"record","name":"myrecord","fields":[{"type":"string","default":null,"name":"f"}]} with {"id":1} => 200 "guid":"1d20cbb9-e5e3-5e97-54e7-da170b6e5ddb"
	`, checks: []func(*testing.T){c12GUIDs, c12Attachments}},
	{name: "C13", says: "references make new identity, -1 is pinned", script: `
		POST /subjects/base/versions avro {"type":"record","name":"Base","fields":[]} => 200 "id":1
		POST /subjects/s/versions avro {"type":"record","name":"S","fields":[{"name":"b","type":"Base"}]} with {"references":[{"name":"Base","subject":"base","version":-1}]} => 200 "id":2 & "references":[{"name":"Base","subject":"base","version":1}]
		POST /subjects/base/versions avro {"type":"record","name":"Base","fields":[{"name":"x","type":"int","default":0}]} => 200 "version":2
		POST /subjects/s/versions avro {"type":"record","name":"S","fields":[{"name":"b","type":"Base"}]} with {"references":[{"name":"Base","subject":"base","version":-1}]} => 200 "id":4,"version":2 & "references":[{"name":"Base","subject":"base","version":2}]
	`, checks: []func(*testing.T){c13References}},
	{name: "C14", says: "idempotent in READONLY and IMPORT", script: `
		POST /subjects/s/versions avro "string" => 200 "id":1
		PUT /mode {"mode":"READONLY"} => 200
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "int" => 42205
		PUT /mode?force=true {"mode":"IMPORT"} => 200
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "int" => 42205
	`, checks: []func(*testing.T){c14IdempotentInReadOnly}},
	{name: "C15", says: "a version that is not the next is 42201", script: `
		POST /subjects/s/versions avro "string" with {"version":2} => 42201
		POST /subjects/s/versions avro "string" with {"version":1} => 200 "version":1
		POST /subjects/s/versions avro "string" with {"version":3} => 42201
		POST /subjects/s/versions avro "string" with {"version":-2} => 42201
	`},
	{name: "C16", says: "the sequence of confluent:version", script: `
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "string" with {"version":2} => 200 "id":2,"version":2 & "confluent:version":"2"
		POST /subjects/s/versions avro "string" with {"version":3} => 200 "id":3,"version":3 & "confluent:version":"3"
		POST /subjects/s avro "string" with {"metadata":{"properties":{"confluent:version":"1"}}} => 200 "version":1
		POST /subjects/s avro "string" with {"metadata":{"properties":{"confluent:version":"2"}}} => 200 "version":2
	`, checks: []func(*testing.T){c16ManagedVersion}},
	{name: "C17", says: "base64 descriptor is the text; serialized round-trips", checks: []func(*testing.T){c17Descriptors, c17RoundTrips}},
	{name: "C18", says: "unknown type, empty schema, string field with default null are 42201", script: `
		POST /subjects/s/versions {"schema":"x","schemaType":"XML"} => 42201
		POST /subjects/s/versions {"schema":"\"string\"","schemaType":"avro"} => 42201
		POST /subjects/s/versions {"schema":""} => 42201
		POST /subjects/s/versions {} => 42201
		POST /subjects/s/versions avro {"type":"record","name":"R","fields":[{"name":"f","type":"string","default":null}]} => 42201
	`, checks: []func(*testing.T){c18Invalid}},
	{name: "C19", says: "unresolved reference is 42201", script: `
		POST /subjects/s/versions avro {"type":"record","name":"R","fields":[{"name":"f","type":"Base"}]} => 42201
		POST /subjects/s/versions avro {"type":"record","name":"R","fields":[{"name":"f","type":"Base"}]} with {"references":[{"name":"Base","subject":"base","version":1}]} => 42201 base
		POST /subjects/s/versions avro "string" with {"references":[{"name":"Base"}]} => 42201
		POST /subjects/s avro "string" with {"references":[{"name":"Base","subject":"base","version":1}]} => 40401
		POST /compatibility/subjects/s/versions json {"$ref":"http://example.com/x"} => 42201
	`},
}

// c17RoundTrips: what format=serialized answers registers as the version that it
// was read from, in every syntax. A map<> comes back as the message that it
// stands for, which only normalizing undoes (contract 5.1.3).
func c17RoundTrips(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"proto3":              "syntax = \"proto3\";\npackage acme;\nmessage User { int64 id = 1; repeated string m = 2; oneof o { string a = 3; } }\n",
		"proto2":              "syntax = \"proto2\";\nmessage User { optional int64 id = 1 [default = 5]; required string s = 2; }\n",
		"proto2 without line": "message User { optional int64 id = 1; }\n",
	} {
		c := newClient(t, api.Options{})
		c.register("s", typed("PROTOBUF", text))
		for _, path := range []string{"/schemas/ids/1?format=serialized", "/subjects/s/versions/latest?format=serialized"} {
			serialized, _ := c.do("GET", path, nil).member(t, "schema").(string)
			again := typed("PROTOBUF", serialized)
			a := c.do("POST", "/subjects/s/versions", again)
			c.wantMember(a, "version", 1.0)
			c.wantMember(a, "id", 1.0)
			c.wantMember(c.do("POST", "/subjects/s", again), "version", 1.0)
			if t.Failed() {
				t.Fatalf("%s by %s", name, path)
			}
		}
		c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[1]`)
	}
}

// canonical registers a text plainly and normalized, and compares what is kept.
func canonical(kind, sent, plain, normalized string) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		c := newClient(t, api.Options{})
		c.register("plain", typed(kind, sent))
		c.want(c.do("POST", "/subjects/normalized/versions?normalize=true", typed(kind, sent)), 200, nil)
		for subject, want := range map[string]string{"plain": plain, "normalized": normalized} {
			if got := c.do("GET", "/subjects/"+subject+"/versions/latest/schema", nil).body; got != want {
				t.Errorf("%s: want\n%s\ngot\n%s", subject, want, got)
			}
		}
	}
}

const (
	protoPlain = `syntax = "proto3";
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
`
	// A blank line inside a nested block carries the block's indentation.
	nestedSent  = "syntax = \"proto3\";\nmessage A { message B { reserved 5; int32 b = 1; message C { reserved 6; int32 c = 1; } } }\n"
	nestedPlain = "syntax = \"proto3\";\n\nmessage A {\n  message B {\n    reserved 5;\n  \n    int32 b = 1;\n  \n    message C {\n      reserved 6;\n    \n      int32 c = 1;\n    }\n  }\n}\n"
)

var canonicalLines = []line{
	{name: "C20", says: "the Avro example both ways", checks: []func(*testing.T){canonical("AVRO", avroSent, avroPlain, avroNormalized), c20Canonical}},
	{name: "C21", says: "the JSON example both ways", checks: []func(*testing.T){canonical("JSON", jsonSent, jsonPlain, jsonNormalized)}},
	{name: "C22", says: "the Protobuf example both ways, with indented blank lines", checks: []func(*testing.T){
		canonical("PROTOBUF", protoSent, protoPlain, protoNormalized), canonical("PROTOBUF", nestedSent, nestedPlain, nestedPlain),
	}},
	{name: "C23", says: "normalize through config, not in IMPORT", script: `
		PUT /config/s {"normalize":true} => 200
		POST /subjects/s/versions json {"type":"object","minProperties":1} => 200
		GET /subjects/s/versions/1/schema => 200 {"minProperties":1,"type":"object"}
		PUT /config/i {"normalize":true} => 200
		PUT /mode/i {"mode":"IMPORT"} => 200
		POST /subjects/i/versions?normalize=true json {"type": "object","minProperties":1} with {"id":9} => 200
		GET /subjects/i/versions/1/schema => 200 {"type": "object","minProperties":1}
	`},
	{name: "C24", says: "<, > and & unescaped in raw text", script: `
		POST /subjects/s/versions json {"title":"<a> & 'b' é \u2028"} => 200 <a> & 'b' & !\u003c
		GET /schemas/ids/1/schema => 200 "<a> & 'b' é
		GET /schemas/ids/1 => 200 !\u003c & !\u0026
	`, checks: []func(*testing.T){c24Unescaped}},
}

var deleteLines = []line{
	{name: "C30", says: "the table of 5.11 line by line, numbers never reused", script: `
		PUT /config {"compatibility":"NONE"} => 200
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/s/versions avro "int" => 200 "id":2,"version":2
		DELETE /subjects/s/versions/2 => 200 =2
		GET /subjects/s/versions => 200 =[1]
		GET /subjects/s/versions?deleted=true => 200 =[1,2]
		GET /subjects/s/versions/2 => 40402
		GET /subjects/s/versions/2?deleted=true => 200 "deleted":true
		POST /subjects/s avro "int" => 40403
		POST /subjects/s?deleted=true avro "int" => 200 "version":2
		GET /schemas/ids/2 => 200
		DELETE /subjects/s/versions/2 => 40406
		DELETE /subjects/s/versions/latest => 200 =1
		GET /subjects/s/versions => 40401
		POST /subjects/s/versions avro "string" => 200 "id":1,"version":3
		GET /subjects/s/versions?deleted=true => 200 =[2,3]
		DELETE /subjects/s/versions/2?permanent=true => 200 =2
		GET /subjects/s/versions/2?deleted=true => 40402
		DELETE /subjects/s/versions/2?permanent=true => 40402
		DELETE /subjects/s?permanent=true => 40405
		DELETE /subjects/s => 200 =[3]
		DELETE /subjects/s => 40404
		DELETE /subjects/s?permanent=true => 200 =[3]
		DELETE /subjects/s => 40401
		POST /subjects/s/versions avro "string" => 200 "id":3,"version":4
	`, checks: []func(*testing.T){c30Deletion}},
	{name: "C31", says: "42206 soft and permanent with live and soft-deleted referrer", script: `
		POST /subjects/base/versions avro {"type":"record","name":"Base","fields":[]} => 200
		POST /subjects/s/versions avro {"type":"record","name":"S","fields":[{"name":"b","type":"Base"}]} with {"references":[{"name":"Base","subject":"base","version":1}]} => 200
		DELETE /subjects/base/versions/1 => 42206 subject=base,version=1
		DELETE /subjects/base => 42206
		DELETE /subjects/s => 200
		DELETE /subjects/base/versions/1 => 200
		DELETE /subjects/base/versions/1?permanent=true => 42206
		DELETE /subjects/base?permanent=true => 42206
		DELETE /subjects/s?permanent=true => 200
		DELETE /subjects/base?permanent=true => 200 =[1]
	`, checks: []func(*testing.T){c31References}},
	{name: "C32", says: "references among its own versions do not hold a subject", script: `
		PUT /config {"compatibility":"NONE"} => 200
		POST /subjects/s/versions avro {"type":"record","name":"Base","fields":[]} => 200
		POST /subjects/s/versions avro {"type":"record","name":"S","fields":[{"name":"b","type":"Base"}]} with {"references":[{"name":"Base","subject":"s","version":1}]} => 200
		DELETE /subjects/s/versions/1 => 42206
		DELETE /subjects/s => 200 =[1,2]
		DELETE /subjects/s?permanent=true => 200 =[1,2]
	`},
	{name: "C33", says: "a soft-deleted version of the same id is removed, and kept if referenced", checks: []func(*testing.T){c33RegisterAgainAfterDeletion}},
	{name: "C34", says: "ids resolve after a soft delete, 40403 after a permanent one", script: `
		POST /subjects/s/versions avro "string" => 200 "id":1
		DELETE /subjects/s => 200
		GET /schemas/ids/1 => 200 "deleted":true
		GET /schemas/ids/1/schema => 200
		GET /schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d => 200
		DELETE /subjects/s?permanent=true => 200
		GET /schemas/ids/1 => 40403
		GET /schemas/ids/1/schema => 40403
		GET /schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d => 40403
	`},
	{name: "C35", says: "the counter never goes back, also after a restart", checks: []func(*testing.T){c35Restart}},
}

var idLines = []line{
	{name: "C40", says: "shared across subjects", script: `
		POST /subjects/a/versions avro "string" => 200 "id":1
		POST /subjects/b/versions avro "string" => 200 "id":1,"version":1
		POST /subjects/c/versions avro "string" with {"metadata":{"properties":{"k":"v"}}} => 200 "id":2
		POST /subjects/d/versions json {"type":"string","title":"t"} => 200 "id":3
		POST /subjects/e/versions avro {"type":"string","title":"t"} => 200 "id":4
		GET /schemas/ids/1/subjects => 200 =["a","b"]
	`},
	{name: "C41", says: "independent per context, equal GUID", checks: []func(*testing.T){c41IDsPerContext}},
	{name: "C42", says: "subjects and versions of an id, [] when only deleted, 40403 unknown", script: `
		POST /subjects/a/versions avro "string" => 200
		GET /schemas/ids/1/subjects => 200 =["a"]
		GET /schemas/ids/1/versions => 200 =[{"subject":"a","version":1}]
		DELETE /subjects/a => 200
		GET /schemas/ids/1/subjects => 200 =[]
		GET /schemas/ids/1/versions => 200 =[]
		GET /schemas/ids/1/subjects?deleted=true => 200 =["a"]
		GET /schemas/ids/9/subjects => 40403
		GET /schemas/ids/9/versions => 40403
	`, checks: []func(*testing.T){c42Places}},
	{name: "C43", says: "the rules of subject=", checks: []func(*testing.T){c43IDOfSubject}},
	{name: "C44", says: "maxId only when asked", script: `
		POST /subjects/a/versions avro "string" => 200
		POST /subjects/b/versions avro "int" => 200
		GET /schemas/ids/1 => 200 !maxId
		GET /schemas/ids/1?fetchMaxId=true => 200 "maxId":2
		GET /schemas/ids/1?fetch_max_id=True => 200 "maxId":2
	`, checks: []func(*testing.T){c44MaxID}},
}
