package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// part is a SchemaTags.
func part(path, kind string, tags ...string) map[string]any {
	return map[string]any{"schemaEntity": map[string]any{"entityPath": path, "entityType": kind}, "tags": tags}
}

func adding(body map[string]any, members ...any) map[string]any {
	out := map[string]any{}
	for name, v := range body {
		out[name] = v
	}
	for i := 0; i+1 < len(members); i += 2 {
		out[members[i].(string)] = members[i+1]
	}
	return out
}

const (
	avroUser  = `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"}]}`
	jsonUser  = `{"type":"object","properties":{"id":{"type":"integer"}}}`
	protoUser = "syntax = \"proto3\";\npackage acme;\n\nmessage User {\n  int64 id = 1;\n}\n"
)

// Tags that come with a registration, are found, and are taken over, in every
// format.
func TestInlineTags(t *testing.T) {
	t.Parallel()
	for _, f := range []struct{ kind, text, record, field, tagged string }{
		{"AVRO", avroUser, "com.acme.User", "com.acme.User.id", `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long","confluent:tags":["A","PII"]}]}`},
		{"JSON", jsonUser, "object", "object.id", `{"type":"object","properties":{"id":{"type":"integer","confluent:tags":["A","PII"]}}}`},
		{
			"PROTOBUF", protoUser, ".acme.User", ".acme.User.id",
			"syntax = \"proto3\";\npackage acme;\n\nimport \"confluent/meta.proto\";\n\nmessage User {\n  int64 id = 1 [(confluent.field_meta) = {\n    tags: [\n      \"A\",\n      \"PII\"\n    ]\n  }];\n}\n",
		},
	} {
		t.Run(f.kind, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, api.Options{})
			plain := typed(f.kind, f.text)
			a := c.do("POST", "/subjects/s/versions", adding(plain, "schemaTagsToAdd", []any{part(f.field, "sr_field", "PII", "A", "PII")}))
			if got := a.member(t, "schema"); a.status != 200 || got != f.tagged {
				t.Fatalf("registered with tags: %v\nwant %s", a, f.tagged)
			}
			again := c.do("POST", "/subjects/s/versions", adding(plain, "schemaTagsToAdd", []any{part(f.field, "sr_field", "A", "PII")}))
			c.wantMember(again, "version", 1.0)
			c.wantMember(again, "id", 1.0)
			c.wantMember(c.do("POST", "/subjects/s", adding(plain, "schemaTagsToAdd", []any{part(f.field, "sr_field", "A", "PII")})), "version", 1.0)
			c.wantMember(c.do("POST", "/subjects/s", typed(f.kind, f.tagged)), "version", 1.0)

			want := `[{"schemaEntity":{"entityPath":"` + f.field + `","entityType":"sr_field"},"tags":["A","PII"]}]`
			for _, path := range []string{"/schemas/ids/1?findTags=*", "/schemas/ids/1?find_tags=PII", "/subjects/s/versions/1?findTags=X&findTags=A"} {
				if got, _ := json.Marshal(c.do("GET", path, nil).member(t, "schemaTags")); string(got) != want {
					t.Errorf("%s found %s", path, got)
				}
			}
			for _, path := range []string{"/schemas/ids/1?findTags=B", "/schemas/ids/1?findTags=", "/subjects/s/versions/1"} {
				if got := c.do("GET", path, nil).member(t, "schemaTags"); got != nil {
					t.Errorf("%s found %v", path, got)
				}
			}

			// Taken over from the latest version, without the one to be removed.
			c.want(c.do("PUT", "/config/s", `{"compatibility":"NONE"}`), 200, `{"compatibility":"NONE"}`)
			other := strings.NewReplacer(`"long"`, `"string"`, `"integer"`, `"string"`, "int64", "string").Replace(f.text)
			a = c.do("POST", "/subjects/s/versions", adding(typed(f.kind, other), "propagateSchemaTags", true, "schemaTagsToRemove", []any{part(f.field, "sr_field", "A")},
				"schemaTagsToAdd", []any{part(f.record, "sr_record", "GDPR")}))
			c.wantMember(a, "version", 2.0)
			want = `[{"schemaEntity":{"entityPath":"` + f.record + `","entityType":"sr_record"},"tags":["GDPR"]},{"schemaEntity":{"entityPath":"` + f.field + `","entityType":"sr_field"},"tags":["PII"]}]`
			if got, _ := json.Marshal(c.do("GET", "/subjects/s/versions/2?findTags=*", nil).member(t, "schemaTags")); string(got) != want {
				t.Errorf("taken over: %s", got)
			}

			// Derived from a version.
			a = c.do("POST", "/subjects/s/versions/1/tags", map[string]any{"newVersion": 3, "tagsToRemove": []any{part(f.field, "sr_field", "A", "PII")}, "metadata": map[string]any{"properties": map[string]any{"owner": "me"}}})
			c.wantMember(a, "version", 3.0)
			if got, _ := json.Marshal(a.member(t, "metadata")); string(got) != `{"properties":{"confluent:version":"3","owner":"me"}}` {
				t.Errorf("metadata of the derived version: %s", got)
			}
			if got := a.member(t, "schema").(string); strings.Contains(got, "tags") {
				t.Errorf("the tags are still there: %s", got)
			}
			c.fails(c.do("POST", "/subjects/s/versions/1/tags", `{"newVersion":3}`), 42201, "next version is 4")
			c.fails(c.do("POST", "/subjects/s/versions/1/tags", map[string]any{"tagsToAdd": []any{part("none", "sr_field", "A")}}), 42201, "none", "no field")
			c.fails(c.do("POST", "/subjects/s/versions", adding(plain, "schemaTagsToAdd", []any{part(f.field, "sr_record", "A")})), 42201, "record")
			c.fails(c.do("POST", "/subjects/s/versions/9/tags", `{}`), 40402)
			c.fails(c.do("POST", "/subjects/t/versions/1/tags", `{}`), 40401)
			c.fails(c.do("POST", "/subjects/s/versions/0/tags", `{}`), 42202)
			if got := c.do("POST", "/compatibility/subjects/s/versions?verbose=true", adding(plain, "schemaTagsToAdd", []any{part("none", "sr_field", "A")})); !strings.Contains(got.body, "none") || got.member(t, "is_compatible") != false {
				t.Errorf("a check with a bad tag path: %s", got)
			}
		})
	}
}

// Rules of a derived version act on those of the version before it.
func TestTagsChangeRules(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	rule := func(name string) map[string]any {
		return map[string]any{"name": name, "type": "CEL", "expr": "true"}
	}
	c.register("s", adding(typed("AVRO", avroUser), "ruleSet", map[string]any{"domainRules": []any{rule("a"), rule("b")}}))
	names := func(a answer) (list []string) {
		set, _ := a.member(t, "ruleSet").(map[string]any)
		rules, _ := set["domainRules"].([]any)
		for _, r := range rules {
			list = append(list, r.(map[string]any)["name"].(string))
		}
		return list
	}
	for _, row := range []struct {
		body map[string]any
		want string
	}{
		{map[string]any{"tagsToAdd": []any{part("User", "sr_record", "X")}}, "a b"},
		{map[string]any{"rulesToMerge": map[string]any{"domainRules": []any{rule("c")}}, "rulesToRemove": []string{"a"}}, "b c"},
		{map[string]any{"rulesToRemove": []string{"c", "none"}}, "b"},
		{map[string]any{"ruleSet": map[string]any{"domainRules": []any{rule("z")}}}, "z"},
	} {
		a := c.do("POST", "/subjects/s/versions/1/tags", row.body)
		if got := strings.Join(names(a), " "); a.status != 200 || got != row.want {
			t.Errorf("%v: rules %q, want %q: %s", row.body, got, row.want, a)
		}
	}
	c.fails(c.do("POST", "/subjects/s/versions/1/tags", `{"rulesToMerge":{"domainRules":[{"name":"1"}]}}`), 42210)
}

func TestTagBodies(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", typed("AVRO", avroUser))
	for _, row := range []struct {
		tags string
		code int
	}{
		{`[]`, 0},
		{`null`, 0},
		{`{}`, 400},
		{`[null]`, 400},
		{`[{}]`, 400},
		{`[{"schemaEntity":null,"tags":["A"]}]`, 400},
		{`[{"schemaEntity":{"entityPath":"User.id"},"tags":["A"]}]`, 400},
		{`[{"schemaEntity":{"entityPath":"User.id","entityType":"field"},"tags":["A"]}]`, 400},
		{`[{"schemaEntity":{"entityPath":7,"entityType":"sr_field"},"tags":["A"]}]`, 400},
		{`[{"schemaEntity":{"entityPath":"User.id","entityType":"sr_field"},"tags":[7]}]`, 400},
		{`[{"schemaEntity":{"entityPath":"User.id","entityType":"sr_field"}}]`, 0},
		{`[{"schemaEntity":{"entityPath":"","entityType":"sr_field"},"tags":["A"]}]`, 42201},
		{`[{"schemaEntity":{"entityPath":"User.id","entityType":"sr_field"},"tags":["A"]}]`, 0},
	} {
		for _, member := range []string{"schemaTagsToAdd", "schemaTagsToRemove"} {
			body := `{"schema":` + string(quoted(avroUser)) + `,"` + member + `":` + row.tags + `}`
			if a := c.do("POST", "/subjects/s/versions", body); a.code != row.code {
				t.Errorf("%s %s: want %d, got %s", member, row.tags, row.code, a)
			}
		}
	}
	c.fails(c.do("POST", "/subjects/s/versions", `{"schema":"\"int\"","propagateSchemaTags":"yes"}`), 400)
	c.do("PUT", "/mode/s?force=true", `{"mode":"IMPORT"}`)
	c.fails(c.do("POST", "/subjects/s/versions", `{"schema":"\"int\"","id":77,"propagateSchemaTags":true}`), 42205, "IMPORT")
}

// A reserved field is neither used nor given up under validateFields.
func TestReservedFields(t *testing.T) {
	t.Parallel()
	for kind, text := range map[string]string{"AVRO": avroUser, "JSON": jsonUser, "PROTOBUF": protoUser} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, api.Options{})
			reserving := func(names string) map[string]any {
				return adding(typed(kind, text), "metadata", map[string]any{"properties": map[string]any{"confluent:reserved": names}})
			}
			c.register("free", reserving("id")) // without validateFields it is a property like others
			c.want(c.do("PUT", "/config", `{"validateFields":true,"compatibility":"NONE"}`), 200, `{"validateFields":true,"compatibility":"NONE"}`)
			c.fails(c.do("POST", "/subjects/s/versions", reserving("x, id")), 409, "FIELD_CONFLICTS_WITH_RESERVED_FIELD", "reserved field id")
			c.register("s", reserving("x, y"))
			c.fails(c.do("POST", "/subjects/s/versions", reserving("y")), 409, "RESERVED_FIELD_REMOVED", "reserved field x")
			a := c.do("POST", "/compatibility/subjects/s/versions/latest?verbose=true", reserving("y,id"))
			for _, want := range []string{`"is_compatible":false`, "RESERVED_FIELD_REMOVED", "FIELD_CONFLICTS_WITH_RESERVED_FIELD", "validateFields: 'true'"} {
				if !strings.Contains(a.body, want) {
					t.Errorf("the check says %s, want %s", a.body, want)
				}
			}
			c.register("s", reserving("x,y,z"))
			c.register("s", typed(kind, text)) // inherits what is reserved
		})
	}
}

func quoted(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}

// wantMember expects one member of a good answer.
func (c *client) wantMember(a answer, name string, want any) {
	c.t.Helper()
	if got := a.member(c.t, name); a.status != 200 || got != want {
		c.t.Errorf("member %s: want %v, got %s", name, want, a)
	}
}
