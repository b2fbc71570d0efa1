package api_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// C60: what is not there is compatible, unless it was named.
func c60Unknown(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	body := schema(`"string"`)
	for _, path := range []string{"/versions/latest", "/versions/-1", "/versions", "/versions/"} {
		c.want(c.do("POST", "/compatibility/subjects/s"+path, body), 200, `{"is_compatible":true}`)
		c.want(c.do("POST", "/compatibility/subjects/s"+path+"?verbose=true", body), 200, `{"is_compatible":true,"messages":[]}`)
	}
	c.fails(c.do("POST", "/compatibility/subjects/s/versions/1", body), 40402, "1")
	c.register("s", body)
	c.fails(c.do("POST", "/compatibility/subjects/s/versions/2", body), 40402, "2")
	c.fails(c.do("POST", "/compatibility/subjects/s/versions/0", body), 42202)
	c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[1]`) // nothing was stored
}

// C61: the verbose forms.
func c61Verbose(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	good, bad := schema(record("R", "a:long")), schema(record("R", "a:string"))
	for _, path := range []string{"/compatibility/subjects/s/versions", "/compatibility/subjects/s/versions/1"} {
		a := c.want(c.do("POST", path, good), 200, `{"is_compatible":true}`)
		if a.header.Get("Cartorio-Risks") == "" {
			t.Error("no Cartorio-Risks")
		}
		c.want(c.do("POST", path+"?verbose=true", good), 200, `{"is_compatible":true,"messages":[]}`)
		c.want(c.do("POST", path, bad), 200, `{"is_compatible":false}`)
		a = c.want(c.do("POST", path+"?verbose=True", bad), 200, nil)
		messages, _ := a.member(t, "messages").([]any)
		if a.member(t, "is_compatible") != false || len(messages) < 4 || !strings.Contains(a.body, "TYPE_MISMATCH") {
			t.Errorf("want messages, got %s", a)
		}
		for _, invalid := range []map[string]any{schema("{"), typed("XML", "x"), schema(""), typed("AVRO", `"string"`, ref("B", "nowhere", 1)), typed("AVRO", `{"type":"array","items":"B"}`, ref("B", "nowhere", 1))} {
			if invalid["schema"] == "" || invalid["references"] != nil && invalid["schema"] == `"string"` {
				continue // whether these can be taken is the domain's question
			}
			c.fails(c.do("POST", path, invalid), 42201)
			a := c.want(c.do("POST", path+"?verbose=true", invalid), 200, nil)
			if messages, _ := a.member(t, "messages").([]any); a.member(t, "is_compatible") != false || len(messages) != 1 {
				t.Errorf("want the reason as a message, got %s", a)
			}
		}
	}
}

// C62: what is soft-deleted is not compared with.
func c62SoftDeleted(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	c.do("DELETE", "/subjects/s/versions/1", nil)
	c.want(c.do("POST", "/compatibility/subjects/s/versions", schema(record("R", "a:string"))), 200, `{"is_compatible":true}`)
	c.want(c.do("POST", "/compatibility/subjects/s/versions/latest", schema(record("R", "a:string"))), 200, `{"is_compatible":true}`)
	c.fails(c.do("POST", "/compatibility/subjects/s/versions/1", schema(record("R", "a:string"))), 40402)
	if _, version := c.register("s", schema(record("R", "a:string"))); version != 2 {
		t.Errorf("want version 2, got %d", version)
	}
}

// C63: NONE allows another type; every other level does not.
func c63OtherType(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))
	other := typed("JSON", `{"type":"string"}`)
	for _, level := range []string{"BACKWARD", "FORWARD", "FULL", "BACKWARD_TRANSITIVE"} {
		c.do("PUT", "/config/s", map[string]any{"compatibility": level})
		c.want(c.do("POST", "/compatibility/subjects/s/versions", other), 200, `{"is_compatible":false}`)
		c.fails(c.do("POST", "/subjects/s/versions", other), 409)
	}
	c.do("PUT", "/config/s", `{"compatibility":"NONE"}`)
	c.want(c.do("POST", "/compatibility/subjects/s/versions", other), 200, `{"is_compatible":true}`)
	c.register("s", other)
}

// C64: transitive levels look at all, the others at the latest, and a named
// version stands alone.
func c64Transitive(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(record("R", "a:int")))
	c.register("s", schema(record("R", "a:int", "b:string=\"x\"")))
	next := schema(record("R", "a:int", "b:string"))
	for _, level := range []string{"BACKWARD", "BACKWARD_TRANSITIVE"} {
		c.do("PUT", "/config/s", map[string]any{"compatibility": level})
		c.want(c.do("POST", "/compatibility/subjects/s/versions", next), 200, map[string]any{"is_compatible": level == "BACKWARD"})
		c.want(c.do("POST", "/compatibility/subjects/s/versions/latest", next), 200, `{"is_compatible":true}`)
		c.want(c.do("POST", "/compatibility/subjects/s/versions/2", next), 200, `{"is_compatible":true}`)
		c.want(c.do("POST", "/compatibility/subjects/s/versions/1", next), 200, `{"is_compatible":false}`)
	}
	c.fails(c.do("POST", "/subjects/s/versions", next), 409, "{oldSchemaVersion: 1}")
}
