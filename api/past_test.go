package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
)

// asOf answers what was so at a revision or time, for every read that has it.
func TestAsOf(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))                                    // revision 2
	c.want(c.do("PUT", "/config/s", `{"compatibility":"NONE"}`), 200, nil) // 3
	c.register("s", schema(`"int"`))                                       // 4
	c.want(c.do("PUT", "/mode/t", `{"mode":"READONLY"}`), 200, nil)        // 5
	c.want(c.do("PUT", "/config/old", `{"alias":"s"}`), 200, nil)          // 6
	c.want(c.do("DELETE", "/subjects/s/versions/1", nil), 200, `1`)        // 7
	c.want(c.do("DELETE", "/subjects/s/versions/1?permanent=true", nil), 200, `1`)
	for _, row := range []struct {
		path, at string
		code     int
		body     string // contained in the answer
	}{
		{"/subjects", "1", 0, `[]`},
		{"/subjects", "2", 0, `["s"]`},
		{"/subjects/s/versions", "1", 40401, ``},
		{"/subjects/s/versions", "2", 0, `[1]`},
		{"/subjects/s/versions", "4", 0, `[1,2]`},
		{"/subjects/s/versions", "7", 0, `[2]`},
		{"/subjects/s/versions?deleted=true", "7", 0, `[1,2]`},
		{"/subjects/s/versions?deleted=true", "8", 0, `[2]`},
		{"/subjects/old/versions", "5", 40401, ``},
		{"/subjects/old/versions", "6", 0, `[1,2]`},
		{"/subjects/s/versions/latest", "3", 0, `"schema":"","ts":1767225600000,"deleted":false,"erased":true`},
		{"/subjects/s/versions/latest", "4", 0, `"version":2`},
		{"/subjects/s/versions/2", "3", 40402, ``},
		{"/subjects/s/versions/2/schema", "4", 0, `"int"`},
		{"/subjects/s/versions/1/schema", "4", 40403, `erased`},
		{"/schemas/ids/1", "4", 0, `"erased":true`},
		{"/schemas/ids/1?format=resolved&findTags=*", "4", 0, `"erased":true`},
		{"/schemas/ids/1/schema", "4", 40403, `erased`},
		{"/schemas/ids/2", "3", 40403, ``},
		{"/schemas/ids/2?fetchMaxId=true", "4", 0, `"maxId":2`},
		{"/schemas/ids/2/schema", "4", 0, `"int"`},
		{"/schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d", "1", 40403, ``},
		{"/schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d", "2", 0, `"erased":true`},
		{"/schemas", "2", 0, `"version":1`},
		{"/schemas?aliases=true", "6", 0, `"aliases":["old"]`},
		{"/config", "2", 0, `{"compatibilityLevel":"BACKWARD"}`},
		{"/config/s", "2", 40408, ``},
		{"/config/s", "3", 0, `{"compatibilityLevel":"NONE"}`},
		{"/mode", "2", 0, `{"mode":"READWRITE"}`},
		{"/mode/t", "4", 40409, ``},
		{"/mode/t?defaultToGlobal=true", "4", 0, `{"mode":"READWRITE"}`},
		{"/mode/t", "5", 0, `{"mode":"READONLY"}`},
		{"/contexts/.c/subjects", "2", 0, `[]`},
		{"/subjects", "99", 400, `the newest is 8`},
		{"/subjects", "-1", 400, `write a revision`},
		{"/subjects", "yesterday", 400, `yesterday`},
		{"/subjects", "2999-01-01T00:00:00Z", 400, `future`},
		{"/subjects", "2025-12-31T23:59:59.999Z", 0, `[]`},
		{"/subjects", epoch.Format(time.RFC3339), 0, `["s"]`},
		{"/subjects/s/versions", epoch.In(time.FixedZone("", 3600)).Format(time.RFC3339), 0, `[2]`},
		{"/subjects", "", 0, `["s"]`},
		{"/subjects/s/metadata", "2", 400, `past`},
		{"/schemas/types", "2", 400, `past`},
		{"/contexts", "2", 400, `past`},
	} {
		join := "?"
		if strings.Contains(row.path, "?") {
			join = "&"
		}
		path := row.path + join + "asOf=" + url.QueryEscape(row.at)
		a := c.do("GET", path, nil)
		if a.code != row.code || !strings.Contains(a.body, row.body) {
			t.Errorf("%s: want %d with %s, got %s", path, row.code, row.body, a)
		}
		if revision := a.header.Get("Cartorio-Revision"); a.code == 0 && len(row.at) == 1 && revision != row.at {
			t.Errorf("%s answers as of revision %q", path, revision)
		}
	}
	// What writes has no past.
	c.fails(c.do("PUT", "/config/s?asOf=2", `{"compatibility":"FULL"}`), 400, "past")
	c.fails(c.do("DELETE", "/subjects/s?asOf=2", nil), 400, "past")
	c.want(c.do("GET", "/subjects/s/versions", nil), 200, `[2]`)
}

// An answer about the past forgets an erased text like every other.
func TestAsOfIsNotRemembered(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))
	first := c.do("GET", "/schemas/ids/1/schema?asOf=2", nil)
	c.want(first, 200, nil)
	c.do("DELETE", "/subjects/s", nil)
	c.do("DELETE", "/subjects/s?permanent=true", nil)
	c.header = http.Header{"If-None-Match": {first.header.Get("Etag")}}
	c.fails(c.do("GET", "/schemas/ids/1/schema?asOf=2", nil), 40403, "erased")
}
