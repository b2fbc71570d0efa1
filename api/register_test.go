package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

const user = `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"}]}`

// The worked examples of the contract, member by member.
func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	sent := schema(`{"type":"record","name":"User","namespace":"com.acme","fields":[{"type":"long","name":"id"}]}`)
	c.want(c.do("POST", "/subjects/users-value/versions", sent), 200, map[string]any{"id": 1.0, "version": 1.0, "guid": "03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca", "schemaType": "AVRO", "schema": user})
	whole := map[string]any{"subject": "users-value", "version": 1.0, "guid": "03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca", "schemaType": "AVRO", "schema": user, "ts": 1767225600000.0, "deleted": false}
	c.want(c.do("GET", "/schemas/ids/1", nil), 200, whole)
	delete(whole, "subject")
	delete(whole, "version")
	for _, guid := range []string{"03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca", "03F121250E8FE0B83E84A1EE2BDBBFCA"} {
		c.want(c.do("GET", "/schemas/guids/"+guid, nil), 200, whole)
	}
	whole["subject"], whole["version"], whole["id"] = "users-value", 1.0, 1.0
	for _, version := range []string{"1", "latest", "LATEST", "-1", "+1"} {
		c.want(c.do("GET", "/subjects/users-value/versions/"+version, nil), 200, whole)
	}
	c.want(c.do("GET", "/schemas", nil), 200, []any{whole})
	delete(whole, "ts")
	delete(whole, "deleted")
	c.want(c.do("POST", "/subjects/users-value", sent), 200, whole) // answered by content: no time, no deletion
	a := c.do("POST", "/compatibility/subjects/users-value/versions/latest?verbose=true", schema(strings.Replace(user, `}]}`, `},{"name":"mail","type":"string"}]}`, 1)))
	messages, _ := a.member(t, "messages").([]any)
	if a.member(t, "is_compatible") != false || len(messages) != 4 {
		t.Fatalf("want four messages, got %s", a)
	}
	for i, text := range []string{"READER_FIELD_MISSING_DEFAULT_VALUE", "{oldSchemaVersion: 1}", "{oldSchema: '", "{validateFields: 'false', compatibility: 'BACKWARD'}"} {
		if m, _ := messages[i].(string); !strings.Contains(m, text) {
			t.Errorf("message %d does not say %s: %s", i, text, m)
		}
	}
}

// C10, C11, C15: what registering again comes to.
func c10RegisterAgain(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.do("PUT", "/config", `{"compatibility":"NONE"}`)
	a, b := schema(record("R", "a:int")), schema(record("R", "a:int", "b:string"))
	for _, row := range []struct {
		name, subject string
		body          map[string]any
		id, version   int
	}{
		{"A", "s", a, 1, 1},
		{"A again", "s", a, 1, 1},
		{"A under t", "t", a, 1, 1},
		{"B", "s", b, 2, 2},
		{"then A again", "s", a, 1, 1},
		{"A with other white space", "s", schema("  " + strings.ReplaceAll(record("R", "a:int"), ",", " , ")), 1, 1},
		{"A with other member order", "s", schema(`{"fields":[{"type":"int","name":"a"}],"name":"R","type":"record"}`), 1, 1},
		{"A with a doc", "s", schema(`{"type":"record","name":"R","doc":"d","fields":[{"name":"a","type":"int"}]}`), 3, 3},
	} {
		if id, version := c.register(row.subject, row.body); id != row.id || version != row.version {
			t.Errorf("%s: want id %d v%d, got id %d v%d", row.name, row.id, row.version, id, version)
		}
	}
	c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[1,2,3]`)
	next := schema(record("R", "c:int"))
	next["version"] = 9
	c.fails(c.do("POST", "/subjects/s/versions", next), 42201, "9", "4")
	spaced := schema(`{   "type":   "string"}`)
	for range 2 {
		if id, _ := c.register("spaced", spaced); id != 4 {
			t.Errorf("white space: want id 4, got %d", id)
		}
	}
}

// C12: the GUID vectors of the contract that need no metadata.
func c12GUIDs(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, row := range []struct {
		name, subject string
		body          map[string]any
		guid          string
	}{
		{"A", "a", schema(`"string"`), "095d71cf-1255-6b9d-5e33-0ad575b3df5d"},
		{"B", "user", schema(user), "03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca"},
		{"C", "order", typed("AVRO", `{"type":"record","name":"Order","namespace":"com.acme","fields":[{"name":"buyer","type":"User"}]}`, ref("com.acme.User", "user", 1)), "031e66a8-e5e3-a712-9dd0-0df4de2fe564"},
		{"G", "g", typed("JSON", `{"type":"object"}`), "01fc056e-ed58-c88f-e1c5-07fcd84dd4b7"},
		{"H", "h", typed("PROTOBUF", "syntax = \"proto3\";\npackage acme;\nmessage User { int64 id = 1; }\n"), "a56a0ae8-d9e4-24d4-aa70-3560740d7536"},
	} {
		a := c.do("POST", "/subjects/"+row.subject+"/versions", row.body)
		if got := a.member(t, "guid"); got != row.guid {
			t.Errorf("%s: want %s, got %s", row.name, row.guid, a)
		}
		got := c.want(c.do("GET", "/schemas/guids/"+row.guid, nil), 200, nil)
		if got.member(t, "subject") != nil || got.member(t, "schema") != a.member(t, "schema") {
			t.Errorf("%s by GUID: %s", row.name, got)
		}
	}
	c.fails(c.do("GET", "/schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5e", nil), 40403, "095d71cf")
	c.fails(c.do("GET", "/schemas/guids/x", nil), 40403, "x")
}

// C13: references are identity, -1 is pinned and comes back pinned.
func c13References(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.do("PUT", "/config", `{"compatibility":"NONE"}`)
	c.register("base", schema(record("Base", "a:int")))
	text := `{"type":"record","name":"Top","fields":[{"name":"b","type":"Base"}]}`
	first, _ := c.register("top", typed("AVRO", text, ref("Base", "base", -1)))
	c.register("base", schema(record("Base", "a:int", "b:int=0")))
	second, version := c.register("top", typed("AVRO", text, ref("Base", "base", -1)))
	if first == second || version != 2 {
		t.Errorf("moving a pin: ids %d and %d, version %d", first, second, version)
	}
	for v, pinned := range map[string]float64{"1": 1, "2": 2} {
		a := c.want(c.do("GET", "/subjects/top/versions/"+v, nil), 200, nil)
		want := []any{map[string]any{"name": "Base", "subject": "base", "version": pinned}}
		if got := a.member(t, "references"); !equal(got, want) {
			t.Errorf("version %s: want references %v, got %v", v, want, got)
		}
		if got := a.member(t, "schema"); got != text {
			t.Errorf("version %s: the text is %v", v, got)
		}
	}
	c.want(c.do("GET", "/subjects/base/versions/1/referencedby", nil), 200, []any{float64(first)})
	c.want(c.do("GET", "/subjects/base/versions/latest/referencedby", nil), 200, []any{float64(second)})
	c.want(c.do("GET", "/subjects/top/versions/1/referencedby", nil), 200, `[]`)
	c.want(c.do("GET", "/subjects/top/versions/1?referenceFormat=qualified", nil), 200, c.do("GET", "/subjects/top/versions/1?reference_format=QUALIFIED", nil).body)
}

// C14: registering what is there succeeds in READONLY.
func c14IdempotentInReadOnly(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))
	c.want(c.do("PUT", "/mode", `{"mode":"readonly"}`), 200, `{"mode":"READONLY"}`)
	if id, version := c.register("s", schema(`{"type":"string"}`)); id != 1 || version != 1 {
		t.Errorf("want id 1 v1, got id %d v%d", id, version)
	}
	c.fails(c.do("POST", "/subjects/s/versions", schema(`"int"`)), 42205, "s")
	c.fails(c.do("DELETE", "/subjects/s", nil), 42205)
	c.fails(c.do("DELETE", "/subjects/s/versions/1", nil), 42205)
	c.fails(c.do("PUT", "/config/s", `{"compatibility":"FULL"}`), 42205) // C57
	c.fails(c.do("DELETE", "/config/s", nil), 42205, "s")
	c.want(c.do("POST", "/subjects/s", schema(`"string"`)), 200, nil)
	c.want(c.do("POST", "/compatibility/subjects/s/versions", schema(`"string"`)), 200, `{"is_compatible":true}`)
	c.want(c.do("DELETE", "/mode", nil), 200, `{"mode":"READONLY"}`)
	c.register("t", schema(`"int"`))
}

// C18, C19: what is no schema.
func c18Invalid(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, row := range []struct {
		body any
		says string
	}{
		{typed("XML", "<a/>"), "XML"},
		{typed("avro", `"string"`), "avro"},
		{typed("Json", "{}"), "Json"},
		{`{}`, ""},
		{`{"schema":""}`, ""},
		{`{"schema":" "}`, ""},
		{`{"schema":null}`, ""},
		{schema(`{"type":"record","name":"R","fields":[{"name":"a","type":"string","default":null}]}`), "default"},
		{schema("{"), ""},
		{schema(`"nope"`), "nope"},
		{typed("JSON", "{"), ""},
		{typed("JSON", "[]"), ""},
		{typed("PROTOBUF", "message {"), ""},
		{typed("AVRO", `{"type":"record","name":"R","fields":[{"name":"a","type":"B"}]}`, ref("B", "nowhere", 1)), "nowhere"},
		{typed("AVRO", `"string"`, map[string]any{"name": "B"}), ""},
		{typed("JSON", `{"$ref":"http://127.0.0.1:9/x.json"}`), "127.0.0.1:9"},
	} {
		c.fails(c.do("POST", "/subjects/s/versions", row.body), 42201, row.says)
	}
	var many []any
	for range 20_001 {
		many = append(many, ref("B", "s", 1))
	}
	c.fails(c.do("POST", "/subjects/s/versions", typed("AVRO", `"string"`, many...)), 42201, "20000")
	c.fails(c.do("POST", "/subjects/s/versions", schema(`"`+strings.Repeat("x", 1<<20)+`"`)), 42209, "1048576")
	c.want(c.do("GET", "/subjects", nil), 200, `[]`)
	// On lookup an unknown subject says so; a known one says the text is bad.
	c.fails(c.do("POST", "/subjects/s", schema(`"string"`)), 40401, "s")
	c.register("s", schema(`"string"`))
	c.fails(c.do("POST", "/subjects/s", schema(`"int"`)), 40403)
	c.fails(c.do("POST", "/subjects/s", schema("")), 40403)
	c.fails(c.do("POST", "/subjects/s", schema("{")), 42201)
	c.fails(c.do("POST", "/subjects/s", typed("XML", "x")), 42201)
}

// C24, C07: texts come back exact.
func c24Unescaped(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	text := `{"type":"record","name":"R","doc":"<a> & 'b' ` + "\u2028\u2029é" + ` \"q\" \\ \n","fields":[]}`
	c.register("s", schema(text))
	for _, path := range []string{"/schemas/ids/1/schema", "/subjects/s/versions/latest/schema"} {
		if a := c.do("GET", path, nil); a.body != text || a.header.Get("Content-Type") != vendorV1 {
			t.Errorf("%s: want %s, got %s %q", path, text, a, a.header.Get("Content-Type"))
		}
	}
	a := c.do("GET", "/schemas/ids/1", nil)
	if strings.Contains(a.body, `\u00`) || strings.Contains(a.body, `\u2028`) || a.member(t, "schema") != text {
		t.Errorf("the text is escaped: %s", a.body)
	}
	proto := "syntax = \"proto3\";\npackage acme;\n\nmessage User {\n  int64 id = 1;\n}\n"
	c.register("p", typed("PROTOBUF", proto))
	if a := c.do("GET", "/subjects/p/versions/1/schema", nil); a.body != proto {
		t.Errorf("want the text itself, got %q", a.body)
	}
	// A subject that stands in a message is escaped as JSON wants, no more.
	c.fails(c.do("GET", "/subjects/%22%3C%0A%FF/versions", nil), 40401, `\"<\n`)
}

// The 409 keeps the form that people search for.
func TestIncompatible(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		options api.Options
		code    int
	}{{api.Options{}, 409}, {api.Options{Incompatible40901: true}, 40901}} {
		c := newClient(t, row.options)
		c.register("s", schema(record("R", "a:int")))
		a := c.fails(c.do("POST", "/subjects/s/versions", schema(record("R", "a:int", "b:string"))), row.code)
		message, _ := a.member(t, "message").(string)
		if a.status != http.StatusConflict || !strings.HasPrefix(message, `schema incompatible with an earlier one for subject "s", details: [{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'`) || !strings.HasSuffix(message, ", {validateFields: 'false', compatibility: 'BACKWARD'}]") {
			t.Errorf("the message is %s", message)
		}
		if a.header.Get("Cartorio-Risks") == "" {
			t.Error("no Cartorio-Risks")
		}
		c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[1]`)
		c.want(c.do("POST", "/subjects/s/versions?force=true", schema(record("R", "a:int", "b:string"))), 200, nil)
	}
}

func TestRefuseEmptySubject(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{RefuseEmptySubject: true})
	c.fails(c.do("POST", "/subjects/*/versions", schema(`"string"`)), 42208)
	c.fails(c.do("POST", "/subjects/:.:/versions", schema(`"string"`)), 42208)
	c.register("s", schema(`"string"`))
	for _, subject := range []string{"a%00b", "a%0Ab", "__GLOBAL", "__EMPTY", "%7F"} {
		c.fails(c.do("POST", "/subjects/"+subject+"/versions", schema(`"string"`)), 42208)
	}
	free := newClient(t, api.Options{})
	free.register("*", schema(`"string"`))
	free.register(":.:", schema(`"string"`))
	free.want(free.do("GET", "/subjects", nil), 200, `["","*"]`)
}
