package api_test

import (
	"encoding/base64"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/api"
)

const extended = "syntax = \"proto2\";\npackage acme;\n\nmessage Boat {\n  optional string name = 1;\n\n  extensions 100 to 199;\n}\n\nextend Boat {\n  optional string flag = 100;\n}\n"

// forms registers a schema per type and gives the paths that answer their text.
func forms(t *testing.T) (c *client, avro, message []string) {
	t.Helper()
	c = newClient(t, api.Options{})
	c.register("user", schema(record("com.acme.User", "id:long")))
	c.want(c.do("POST", "/subjects/order/versions", map[string]any{
		"schema":     `{"type":"record","name":"Order","namespace":"com.acme","fields":[{"name":"buyer","type":"User"},{"name":"seller","type":"User"}]}`,
		"references": []map[string]any{{"name": "com.acme.User", "subject": "user", "version": 1}},
	}), 200, nil)
	c.register("boat", typed("PROTOBUF", extended))
	paths := func(id, subject string) []string {
		guid, _ := c.do("GET", "/schemas/ids/"+id, nil).member(t, "guid").(string)
		return []string{"/schemas/ids/" + id, "/schemas/guids/" + guid, "/subjects/" + subject + "/versions/1", "/subjects/" + subject + "/versions/latest"}
	}
	return c, paths("2", "order"), paths("3", "boat")
}

// 5.1.4: format= changes the text that is shown and nothing else.
func TestFormats(t *testing.T) {
	t.Parallel()
	c, avro, message := forms(t)
	const resolved = `{"type":"record","name":"Order","namespace":"com.acme","fields":[{"name":"buyer","type":{"type":"record","name":"User","fields":[{"name":"id","type":"long"}]}},{"name":"seller","type":"User"}]}`
	for _, path := range avro {
		plain := c.do("GET", path, nil)
		a := c.want(c.do("GET", path+"?format=resolved", nil), 200, nil)
		if got := a.member(t, "schema"); got != resolved {
			t.Errorf("%s resolved: %v", path, got)
		}
		if a.member(t, "guid") != plain.member(t, "guid") {
			t.Errorf("%s: the form changes the GUID", path)
		}
		for _, ignored := range []string{"", "default", "logical", "serialized", "RESOLVED", "nonsense"} {
			if a := c.do("GET", path+"?format="+ignored, nil); a.body != plain.body {
				t.Errorf("%s?format=%s: want the text as it is, got %s", path, ignored, a)
			}
		}
	}
	for _, path := range []string{"/schemas/ids/2/schema", "/subjects/order/versions/1/schema"} {
		if a := c.do("GET", path+"?format=resolved", nil); a.body != resolved {
			t.Errorf("%s resolved: %s", path, a)
		}
	}
	for _, path := range message {
		a := c.want(c.do("GET", path+"?format=ignore_extensions", nil), 200, nil)
		if got, want := a.member(t, "schema"), "syntax = \"proto2\";\npackage acme;\n\nmessage Boat {\n  optional string name = 1;\n}\n"; got != want {
			t.Errorf("%s without extensions: %q", path, got)
		}
		text, _ := c.do("GET", path+"?format=serialized", nil).member(t, "schema").(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatalf("%s: %v in %q", path, err, text)
		}
		var file descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(raw, &file); err != nil || file.GetMessageType()[0].GetName() != "Boat" || len(file.GetExtension()) != 1 {
			t.Errorf("%s: %v, %v", path, err, &file)
		}
	}
	// C17: what was shown so is the same schema when it comes back.
	const plain = "syntax = \"proto3\";\npackage acme;\n\nmessage Crew {\n  string name = 1;\n}\n"
	c.register("crew", typed("PROTOBUF", plain))
	text, _ := c.do("GET", "/subjects/crew/versions/1?format=serialized", nil).member(t, "schema").(string)
	a := c.want(c.do("POST", "/subjects/crew/versions?format=serialized", typed("PROTOBUF", text)), 200, nil)
	if a.member(t, "id") != 4.0 || a.member(t, "version") != 1.0 || a.member(t, "schema") != text {
		t.Errorf("registering the descriptor: %s", a)
	}
	a = c.want(c.do("POST", "/subjects/crew?format=serialized", typed("PROTOBUF", plain)), 200, nil)
	if a.member(t, "id") != 4.0 || a.member(t, "schema") != text {
		t.Errorf("looking the text up: %s", a)
	}
	if a := c.do("GET", "/schemas/ids/9?format=resolved", nil); a.code != 40403 {
		t.Errorf("an unknown id: %s", a)
	}
}

// C44: maxId only when asked. The ids of a GUID.
func c44MaxID(t *testing.T) {
	t.Parallel()
	c, _, _ := forms(t)
	for query, want := range map[string]any{"": nil, "?fetchMaxId=false": nil, "?fetchMaxId=true": 3.0, "?fetch_max_id=True": 3.0} {
		if got := c.do("GET", "/schemas/ids/1"+query, nil).member(t, "maxId"); got != want {
			t.Errorf("%q: want %v, got %v", query, want, got)
		}
	}
	c.register("more", schema(`"string"`))
	if got := c.do("GET", "/schemas/ids/1?fetchMaxId=true", nil).member(t, "maxId"); got != 4.0 {
		t.Errorf("after another registration: %v", got)
	}
	c.want(c.do("GET", "/schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d/ids", nil), 200, `[{"context":".","id":4}]`)
	c.want(c.do("GET", "/schemas/guids/095D71CF12556B9D5E330AD575B3DF5D/ids", nil), 200, `[{"context":".","id":4}]`)
	c.want(c.do("GET", "/schemas/guids/00000000-0000-0000-0000-000000000000/ids", nil), 200, `[]`)
	c.want(c.do("GET", "/schemas/guids/nonsense/ids", nil), 200, `[]`)
}
