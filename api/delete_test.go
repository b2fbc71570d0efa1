package api_test

import (
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// C30, C34: the table of deletions, line by line; decision 5 of the
// specifications says how numbers go on.
func c30Deletion(t *testing.T) {
	t.Parallel()
	a, b := schema(record("R", "a:int")), schema(record("R", "a:int", "b:int=0"))
	start := func(t *testing.T) *client {
		c := newClient(t, api.Options{})
		c.register("s", a)
		c.register("s", b)
		return c
	}
	t.Run("version", func(t *testing.T) {
		t.Parallel()
		c := start(t)
		c.want(c.do("DELETE", "/subjects/s/versions/2", nil), 200, `2`)
		c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[1]`)
		c.want(c.do("GET", "/subjects/s/versions?deleted=true", nil), 200, `[1,2]`)
		c.want(c.do("GET", "/subjects/s/versions?deletedOnly=true", nil), 200, `[2]`)
		c.want(c.do("GET", "/subjects/s/versions?deletedAsNegative=true&deletedOnly=true", nil), 200, `[1,-2]`) // C82
		c.fails(c.do("GET", "/subjects/s/versions/2", nil), 40402, "2")
		if got := c.want(c.do("GET", "/subjects/s/versions/2?deleted=true", nil), 200, nil); got.member(t, "deleted") != true {
			t.Errorf("want deleted:true, got %s", got)
		}
		c.fails(c.do("GET", "/subjects/s/versions/2/schema", nil), 40402)
		c.want(c.do("GET", "/subjects/s/versions/2/schema?deleted=true", nil), 200, nil)
		c.fails(c.do("POST", "/subjects/s", b), 40403)
		c.want(c.do("POST", "/subjects/s?deleted=true", b), 200, nil)
		c.want(c.do("GET", "/schemas/ids/2", nil), 200, nil) // consumers read old messages
		c.want(c.do("GET", "/schemas/ids/2/subjects", nil), 200, `[]`)
		c.want(c.do("GET", "/schemas/ids/2/subjects?deleted=true", nil), 200, `["s"]`)
		c.want(c.do("GET", "/schemas/ids/2/versions", nil), 200, `[]`)
		c.want(c.do("GET", "/schemas/ids/2/versions?deleted=true", nil), 200, `[{"subject":"s","version":2}]`)
		c.fails(c.do("DELETE", "/subjects/s/versions/2", nil), 40406, "s", "2")
		c.want(c.do("GET", "/subjects/s/versions/latest?deleted=true", nil), 200, c.do("GET", "/subjects/s/versions/1", nil).body)
		c.want(c.do("DELETE", "/subjects/s/versions/latest", nil), 200, `1`)
		c.fails(c.do("GET", "/subjects/s/versions", nil), 40401, "s")
		if id, version := c.register("s", a); id != 1 || version != 3 {
			t.Errorf("registered again: want id 1 v3, got id %d v%d", id, version)
		}
		c.want(c.do("GET", "/subjects/s/versions?deleted=true", nil), 200, `[2,3]`)
	})
	t.Run("permanent", func(t *testing.T) {
		t.Parallel()
		c := start(t)
		c.fails(c.do("DELETE", "/subjects/s/versions/2?permanent=true", nil), 40407, "s", "2")
		c.fails(c.do("DELETE", "/subjects/s/versions/latest?permanent=true", nil), 40407)
		c.do("DELETE", "/subjects/s/versions/2", nil)
		c.want(c.do("DELETE", "/subjects/s/versions/2?permanent=True", nil), 200, `2`)
		c.fails(c.do("GET", "/subjects/s/versions/2?deleted=true", nil), 40402)
		c.fails(c.do("DELETE", "/subjects/s/versions/2?permanent=true", nil), 40402)
		c.fails(c.do("GET", "/schemas/ids/2", nil), 40403, "2")
		c.fails(c.do("GET", "/schemas/ids/2/schema", nil), 40403)
		c.fails(c.do("GET", "/schemas/ids/2/subjects", nil), 40403)
		c.fails(c.do("GET", "/schemas/ids/2/versions", nil), 40403)
		if id, version := c.register("s", b); id != 3 || version != 3 {
			t.Errorf("neither id nor number comes again: want id 3 v3, got id %d v%d", id, version)
		}
	})
	t.Run("subject", func(t *testing.T) {
		t.Parallel()
		c := start(t)
		c.fails(c.do("DELETE", "/subjects/s?permanent=true", nil), 40405, "s")
		c.want(c.do("DELETE", "/subjects/s", nil), 200, `[1,2]`)
		c.want(c.do("GET", "/subjects", nil), 200, `[]`)
		c.want(c.do("GET", "/subjects?deleted=true", nil), 200, `["s"]`)
		c.fails(c.do("DELETE", "/subjects/s", nil), 40404, "s", "permanent=true")
		c.want(c.do("DELETE", "/subjects/s?permanent=true", nil), 200, `[1,2]`)
		c.fails(c.do("DELETE", "/subjects/s?permanent=true", nil), 40401, "s")
		c.fails(c.do("DELETE", "/subjects/s", nil), 40401)
		c.fails(c.do("DELETE", "/subjects/never", nil), 40401, "never")
		if id, _ := c.register("s", a); id != 3 {
			t.Errorf("ids never come again: got %d", id) // C35
		}
	})
	t.Run("versions", func(t *testing.T) {
		t.Parallel()
		c := start(t)
		for _, v := range []string{"0", "-2", "x", "1.0", "2147483648", "%20"} {
			c.fails(c.do("GET", "/subjects/s/versions/"+v, nil), 42202)
			c.fails(c.do("DELETE", "/subjects/s/versions/"+v, nil), 42202)
			c.fails(c.do("GET", "/subjects/s/versions/"+v+"/schema", nil), 42202)
			c.fails(c.do("GET", "/subjects/s/versions/"+v+"/referencedby", nil), 42202)
			c.fails(c.do("POST", "/compatibility/subjects/s/versions/"+v, a), 42202)
		}
		c.fails(c.do("GET", "/subjects/s/versions/3", nil), 40402, "3")
		c.fails(c.do("GET", "/subjects/x/versions/1", nil), 40401, "x")
		c.fails(c.do("GET", "/subjects/x/versions/latest", nil), 40401)
		c.fails(c.do("DELETE", "/subjects/x/versions/1", nil), 40401)
		c.fails(c.do("DELETE", "/subjects/s/versions/7", nil), 40402)
	})
}

// C31, C32: what is referenced stays.
func c31References(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("base", schema(record("Base", "a:int")))
	c.register("top", typed("AVRO", `{"type":"record","name":"Top","fields":[{"name":"b","type":"Base"}]}`, ref("Base", "base", 1)))
	c.fails(c.do("DELETE", "/subjects/base/versions/1", nil), 42206, "base", "1")
	c.fails(c.do("DELETE", "/subjects/base", nil), 42206, "base")
	c.want(c.do("DELETE", "/subjects/top", nil), 200, `[1]`)
	c.want(c.do("GET", "/subjects/base/versions/1/referencedby", nil), 200, `[]`)
	c.want(c.do("GET", "/subjects/base/versions/1/referencedby?deleted=true", nil), 200, `[2]`)
	c.want(c.do("DELETE", "/subjects/base/versions/1", nil), 200, `1`) // live referrers only
	c.fails(c.do("DELETE", "/subjects/base/versions/1?permanent=true", nil), 42206)
	c.fails(c.do("DELETE", "/subjects/base?permanent=true", nil), 42206)
	c.want(c.do("DELETE", "/subjects/top?permanent=true", nil), 200, `[1]`)
	c.want(c.do("DELETE", "/subjects/base?permanent=true", nil), 200, `[1]`)
	// References among a subject's own versions do not block it.
	c.register("own", schema(record("Own", "a:int")))
	c.want(c.do("PUT", "/config/own", `{"compatibility":"NONE"}`), 200, nil)
	c.register("own", typed("AVRO", `{"type":"record","name":"Two","fields":[{"name":"o","type":"Own"}]}`, ref("Own", "own", 1)))
	c.want(c.do("DELETE", "/subjects/own", nil), 200, `[1,2]`)
	c.want(c.do("DELETE", "/subjects/own?permanent=true", nil), 200, `[1,2]`)
}
