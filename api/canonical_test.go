package api_test

import (
	"encoding/base64"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// The contract's worked examples of canonical texts: as sent, plainly and
// normalized.
const (
	avroSent = `{ "namespace": "com.acme", "name": "User", "type": "record", "zprop": 1, "aprop": {"b": 2, "a": 1},
  "aliases": ["Person", "com.acme.Account"],
  "fields": [ {"type": {"type": "long"}, "name": "id", "order": "ascending"},
              {"name": "tags", "default": [], "type": {"items": "string", "type": "array"}, "doc": ""},
              {"name": "amount", "type": {"scale": 2, "type": "bytes", "precision": 10, "logicalType": "decimal"}},
              {"name": "parent", "default": null, "type": ["null", "User"]} ] }`
	avroPlain      = `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"},{"name":"tags","type":{"type":"array","items":"string"},"doc":"","default":[]},{"name":"amount","type":{"type":"bytes","scale":2,"precision":10,"logicalType":"decimal"}},{"name":"parent","type":["null","User"],"default":null}],"zprop":1,"aprop":{"b":2,"a":1},"aliases":["Person","Account"]}`
	avroNormalized = `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"},{"name":"tags","type":{"type":"array","items":"string"},"doc":"","default":[]},{"name":"amount","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}},{"name":"parent","type":["null","User"],"default":null}],"aprop":{"a":1,"b":2},"zprop":1,"aliases":["Account","Person"]}`

	jsonSent       = `{ "type": "object", "properties": { "b": {"type":"number","minimum":1.50}, "a": {"type":"string"} } }`
	jsonPlain      = `{"type":"object","properties":{"b":{"type":"number","minimum":1.50},"a":{"type":"string"}}}`
	jsonNormalized = `{"properties":{"a":{"type":"string"},"b":{"minimum":1.50,"type":"number"}},"type":"object"}`

	protoSent = `syntax = "proto3"; // a comment
package acme;
import "google/protobuf/timestamp.proto";
option java_package = "com.acme";
message User {
  reserved 5, 7 to 9; reserved "old";
  string name = 2 [deprecated = true, json_name = "n"];
  int64 id = 1;
  map<string, Kind> kinds = 6;
  repeated Inner inners = 10;
  oneof contact { string email = 3; string phone = 4; }
  message Inner { google.protobuf.Timestamp at = 1; }
}
enum Kind { UNKNOWN = 0; A = 1; }
`
	protoNormalized = `syntax = "proto3";
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
`
)

// C20, C21, C22, C23: what is stored is the canonical text, or the normalized
// one where the request or the config in force asks for it.
func c20Canonical(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ kind, sent, plain, normalized, plainGUID, normalizedGUID string }{
		{"AVRO", avroSent, avroPlain, avroNormalized, "3ee77d86-ed6f-ad34-bfaa-aa330a3a08bd", "cd22cf28-89f2-39aa-230f-4fc62d9a9502"},
		{"JSON", jsonSent, jsonPlain, jsonNormalized, "", ""},
		{"PROTOBUF", protoSent, "", protoNormalized, "", ""},
	} {
		t.Run(row.kind, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, api.Options{})
			text := func(path, guid string) string {
				t.Helper()
				a := c.want(c.do("GET", path, nil), 200, nil)
				if got := a.member(t, "guid"); guid != "" && got != guid {
					t.Errorf("%s: want the GUID %s, got %v", path, guid, got)
				}
				s, _ := a.member(t, "schema").(string)
				return s
			}
			c.register("plain", typed(row.kind, row.sent))
			if got := text("/subjects/plain/versions/1", row.plainGUID); row.plain != "" && got != row.plain {
				t.Errorf("want\n%s\ngot\n%s", row.plain, got)
			}
			c.want(c.do("POST", "/subjects/asked/versions?normalize=true", typed(row.kind, row.sent)), 200, nil)
			c.do("PUT", "/config/configured", `{"normalize":true}`)
			c.register("configured", typed(row.kind, row.sent))
			for _, subject := range []string{"asked", "configured"} {
				if got := text("/subjects/"+subject+"/versions/1", row.normalizedGUID); got != row.normalized {
					t.Errorf("%s: want\n%s\ngot\n%s", subject, row.normalized, got)
				}
			}
			c.want(c.do("POST", "/subjects/asked?normalize=true", typed(row.kind, row.sent)), 200, nil)
			c.want(c.do("POST", "/subjects/configured", typed(row.kind, row.sent)), 200, nil)
		})
	}
}

// C17: a descriptor in base64, which is how some clients register Protobuf, is
// the schema that its text is.
func c17Descriptors(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("user.proto"), Package: proto.String("acme"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("User"), Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("id"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), JsonName: proto.String("id"),
		}}}},
	}
	raw, err := proto.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	encoded := typed("PROTOBUF", base64.StdEncoding.EncodeToString(raw))
	text := typed("PROTOBUF", "syntax = \"proto3\";\npackage acme;\nmessage User { int64 id = 1; }\n")
	first, _ := c.register("s", encoded)
	second, version := c.register("s", text)
	if first != second || version != 1 {
		t.Errorf("the descriptor has id %d, its text id %d v%d", first, second, version)
	}
	c.want(c.do("POST", "/subjects/s", encoded), 200, nil)
	if a := c.do("GET", "/schemas/ids/1", nil); a.member(t, "guid") != "a56a0ae8-d9e4-24d4-aa70-3560740d7536" {
		t.Errorf("want vector H, got %s", a)
	}
}

// C33: registering again what was soft-deleted hides the old number, which goes
// on being known; one that is referenced stays.
func c33RegisterAgainAfterDeletion(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	c.do("DELETE", "/subjects/s/versions/1", nil)
	if id, version := c.register("s", schema(record("R", "a:int"))); id != 1 || version != 2 {
		t.Errorf("want id 1 v2, got id %d v%d", id, version)
	}
	c.want(c.do("GET", "/subjects/s/versions?deleted=true", nil), 200, `[2]`)
	c.fails(c.do("GET", "/subjects/s/versions/1", nil), 40402)
	c.want(c.do("GET", "/subjects/s/versions/1?deleted=true", nil), 200, nil)

	c.register("base", schema(record("Base", "a:int")))
	c.register("top", typed("AVRO", `{"type":"record","name":"Top","fields":[{"name":"b","type":"Base"}]}`, ref("Base", "base", 1)))
	c.do("DELETE", "/subjects/top", nil)
	c.do("DELETE", "/subjects/base", nil)
	if _, version := c.register("base", schema(record("Base", "a:int"))); version != 2 {
		t.Errorf("want v2, got v%d", version)
	}
	c.want(c.do("GET", "/subjects/base/versions?deleted=true", nil), 200, `[1,2]`)
}

// C35: ids and numbers go on where they were, also after a restart.
func c35Restart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c.db")
	start := func() (*client, func()) {
		t.Helper()
		journal, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r := open(t, journal)
		c := &client{t: t, server: api.New(r, api.Options{}), header: map[string][]string{}}
		c.server.Observe(func(r *api.Route, _, _ int) { c.route.Store(r) })
		return c, func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	c, stop := start()
	c.register("s", schema(`"string"`))
	c.register("t", schema(`"int"`))
	c.do("DELETE", "/subjects/t", nil)
	c.do("DELETE", "/subjects/t?permanent=true", nil)
	before := c.do("GET", "/schemas/ids/1", nil)
	installed := c.do("GET", "/v1/metadata/id", nil)
	stop()
	c, stop = start()
	defer stop()
	c.want(c.do("GET", "/schemas/ids/1", nil), 200, before.body)
	c.want(c.do("GET", "/v1/metadata/id", nil), 200, installed.body)
	if id, version := c.register("t", schema(`"int"`)); id != 3 || version != 2 {
		t.Errorf("want id 3 v2, got id %d v%d", id, version)
	}
}
