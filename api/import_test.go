package api_test

import (
	"net/url"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// imported is a registration with the id and number of another registry.
func imported(text, kind string, id, version int) map[string]any {
	return map[string]any{"schema": text, "schemaType": kind, "id": id, "version": version}
}

// 10.2, 10.3, C93: a registry is copied over REST, texts byte for byte, and goes
// on above the highest id.
func c93Import(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("PUT", "/mode", `{"mode":"IMPORT"}`), 200, `{"mode":"IMPORT"}`)
	avro := `{"namespace": "com.acme", "type": "record", "name": "User", "fields": [{"type": "long", "name": "id"}]}`
	json := `{ "type": "object", "minProperties": 1.50 }`
	proto := "syntax = \"proto3\";\n// kept\nmessage M {}\n"
	c.want(c.do("PUT", "/config/a", `{"normalize":true,"compatibility":"FULL"}`), 200, nil)
	for i, one := range []struct{ subject, text, kind string }{{"a", avro, "AVRO"}, {"j", json, "JSON"}, {"p", proto, "PROTOBUF"}} {
		for range 2 { // repeating it gives the same answer
			a := c.want(c.do("POST", "/subjects/"+one.subject+"/versions?normalize=true", imported(one.text, one.kind, 40+i, 3)), 200, nil)
			if a.member(t, "id") != float64(40+i) || a.member(t, "version") != 3.0 || a.member(t, "schema") != one.text {
				t.Errorf("%s: %s", one.subject, a)
			}
		}
		if a := c.do("GET", "/subjects/"+one.subject+"/versions/3/schema", nil); a.body != one.text {
			t.Errorf("%s: the text became %q", one.subject, a.body)
		}
		if a := c.do("GET", "/schemas/ids/4"+string(rune('0'+i)), nil); a.member(t, "schema") != one.text {
			t.Errorf("%s by id: %s", one.subject, a)
		}
	}
	for _, row := range []struct {
		body map[string]any
		code int
	}{
		{imported(`"int"`, "AVRO", 40, 4), 42205},                           // the id is another's
		{imported(`"int"`, "AVRO", 50, 3), 42205},                           // the number is another's
		{schema(`"int"`), 42205},                                            // no id
		{imported(`{"type":"nonsense"}`, "AVRO", 50, 4), 42201},             // no schema
		{imported(``, "AVRO", 50, 4), 42201},                                // no text
		{imported(`"int"`, "AVRO", 0, 4), 42205},                            // ids start at 1
		{map[string]any{"schema": `"int"`, "id": 50, "version": -2}, 42201}, // no number
	} {
		c.fails(c.do("POST", "/subjects/a/versions", row.body), row.code)
	}
	// Gaps, and what is incompatible, are as they are there.
	c.want(c.do("POST", "/subjects/a/versions", imported(`"int"`, "AVRO", 50, 9)), 200, nil)
	c.want(c.do("GET", "/subjects/a/versions", nil), 200, `[3,9]`)
	c.want(c.do("DELETE", "/subjects/a/versions/9", nil), 200, `9`)
	c.want(c.do("PUT", "/mode", `{"mode":"READWRITE"}`), 200, nil)
	// An auto-registering producer finds the imported id, under any subject.
	c.want(c.do("DELETE", "/config/a", nil), 200, nil)
	sent := `{"type":"record","name":"User","namespace":"com.acme","fields":[{"name":"id","type":"long"}]}`
	for subject, version := range map[string]float64{"a": 3, "new": 1} {
		a := c.want(c.do("POST", "/subjects/"+subject+"/versions", schema(sent)), 200, nil)
		if a.member(t, "id") != 40.0 || a.member(t, "version") != version || subject == "new" && a.member(t, "schema") != avro {
			t.Errorf("%s: %s", subject, a)
		}
		if a := c.do("POST", "/subjects/"+subject, schema(sent)); a.member(t, "id") != 40.0 {
			t.Errorf("looked up in %s: %s", subject, a)
		}
	}
	if id, version := c.register("a", schema(record("com.acme.User", "id:long", "n:int=0"))); id != 51 || version != 10 {
		t.Errorf("registered after the import: id %d, version %d", id, version)
	}
	c.fails(c.do("POST", "/subjects/a/versions", imported(`"long"`, "AVRO", 60, 11)), 42205, "IMPORT")
}

// C55: what entering IMPORT wants, at each scope.
func c55EnteringImport(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("common", schema(record("Common", "id:long")))
	c.register("s", map[string]any{"schema": `{"type":"record","name":"S","fields":[{"name":"c","type":"Common"}]}`, "references": []any{ref("Common", "common", 1)}})
	for _, path := range []string{"/mode", "/mode/s", "/mode/:.__GLOBAL:"} {
		c.fails(c.do("PUT", path, `{"mode":"IMPORT"}`), 42205, "live")
	}
	c.want(c.do("PUT", "/mode/:.empty:", `{"mode":"IMPORT"}`), 200, nil)
	c.want(c.do("PUT", "/mode/s?force=true", `{"mode":"IMPORT"}`), 200, nil)
	c.want(c.do("DELETE", "/mode/s", nil), 200, `{"mode":"IMPORT"}`)
	c.want(c.do("DELETE", "/subjects/s", nil), 200, `[1]`)
	c.want(c.do("DELETE", "/subjects/common", nil), 200, `[1]`)
	c.fails(c.do("PUT", "/mode/common", `{"mode":"IMPORT"}`), 42206, "common")
	c.want(c.do("PUT", "/mode/s", `{"mode":"IMPORT"}`), 200, nil)
	c.fails(c.do("GET", "/subjects/s/versions?deleted=true", nil), 40401)
	c.want(c.do("PUT", "/mode", `{"mode":"IMPORT"}`), 200, nil)
	c.want(c.do("GET", "/subjects?deleted=true", nil), 200, `[]`)
	c.fails(c.do("PUT", "/mode/s", `{"mode":"FORWARD"}`), 42204, "FORWARD")
	c.want(c.do("PUT", "/mode/:.__GLOBAL:", `{"mode":"FORWARD"}`), 200, `{"mode":"FORWARD"}`)
}

// C14, C54: what each mode lets through.
func c54ModeMatrix(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct {
		name, scope   string
		fresh, withID int // code of registering something new, without and with an id
		change        int // code of deleting and configuring
	}{
		{"READWRITE", "", 0, 42205, 0},
		{"READONLY", "", 42205, 42205, 42205},
		{"READONLY_OVERRIDE", "", 42205, 42205, 42205},
		{"IMPORT", "", 42205, 0, 0},
		{"FORWARD", "/:.__GLOBAL:", 42205, 0, 0},
	} {
		c := newClient(t, api.Options{})
		c.register("s", schema(`"string"`))
		c.register("gone", schema(`"string"`))
		c.want(c.do("PUT", "/mode"+mode.scope+"?force=true", `{"mode":"`+mode.name+`"}`), 200, nil)
		code := func(want int, method, path string, body any) {
			t.Helper()
			if a := c.do(method, path, body); a.code != want {
				t.Errorf("%s: %s %s: want %d, got %s", mode.name, method, path, want, a)
			}
		}
		code(0, "POST", "/subjects/s/versions", schema(`"string"`))
		code(0, "POST", "/subjects/s/versions", imported(`"string"`, "AVRO", 1, 1))
		code(0, "POST", "/subjects/s", schema(`"string"`))
		code(0, "POST", "/compatibility/subjects/s/versions/latest", schema(`"string"`))
		code(0, "GET", "/subjects/s/versions/1", nil)
		code(mode.fresh, "POST", "/subjects/n/versions", schema(`"int"`))
		code(mode.withID, "POST", "/subjects/i/versions", imported(`"long"`, "AVRO", 70, 1))
		code(mode.change, "DELETE", "/subjects/gone/versions/1", nil)
		code(mode.change, "PUT", "/config/s", `{"compatibility":"FULL"}`)
		code(0, "PUT", "/mode/s", `{"mode":"READWRITE"}`)
		code(0, "DELETE", "/mode/s", nil)
		code(0, "GET", "/mode/"+url.PathEscape("s")+"?defaultToGlobal=true", nil)
	}
}
