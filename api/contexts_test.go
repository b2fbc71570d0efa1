package api_test

import (
	"net/http"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// two has a subject of one name in two contexts, and one in the second only.
func two(t *testing.T) *client {
	t.Helper()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))
	c.register("s", schema(`{"type":"string","n":1}`))
	c.register(":.c:s", schema(`{"type":"string","n":1}`))
	c.register(":.c:t", schema(`"string"`))
	return c
}

// C41: each context counts its own ids; a schema has one GUID everywhere.
func c41IDsPerContext(t *testing.T) {
	t.Parallel()
	c := two(t)
	for path, want := range map[string]string{
		"/subjects/s/versions/1": "1 .", "/subjects/:.c:s/versions/1": "1 .c", "/subjects/:.c:t/versions/1": "2 .c",
	} {
		a := c.do("GET", path, nil)
		if a.member(t, "id") != float64(want[0]-'0') {
			t.Errorf("%s: want %s, got %s", path, want, a)
		}
	}
	const guid = "095d71cf-1255-6b9d-5e33-0ad575b3df5d"
	c.want(c.do("GET", "/schemas/guids/"+guid+"/ids", nil), 200, `[{"context":".","id":1},{"context":".c","id":2}]`)
	for _, path := range []string{"/schemas/ids/1", "/schemas/ids/2?subject=:.c:", "/contexts/.c/schemas/ids/2", "/contexts/.c/schemas/guids/" + guid} {
		if got := c.do("GET", path, nil).member(t, "guid"); got != guid {
			t.Errorf("%s has the GUID %v", path, got)
		}
	}
	for path, want := range map[string]any{"/schemas/ids/1?fetchMaxId=true": 2.0, "/contexts/c/schemas/ids/1?fetchMaxId=true": 2.0} {
		if got := c.do("GET", path, nil).member(t, "maxId"); got != want {
			t.Errorf("%s: maxId %v, want %v", path, got, want)
		}
	}
	c.register("u", schema(`"int"`))
	if got := c.do("GET", "/contexts/c/schemas/ids/1?fetchMaxId=true", nil).member(t, "maxId"); got != 2.0 {
		t.Errorf("another context's registration moves maxId to %v", got)
	}
}

// C43: which schema an id with subject= stands for.
func c43IDOfSubject(t *testing.T) {
	t.Parallel()
	c := two(t)
	for query, want := range map[string]string{
		"": "s 2", "?subject=": "s 2", "?subject=:.c:": ":.c:t 1", "?subject=:.c:t": ":.c:t 1", "?subject=s": "s 2", "?subject=t": ":.c:t 1", "?subject=nobody": "s 2", "?subject=:.:s": "s 2",
	} {
		a := c.do("GET", "/schemas/ids/2"+query, nil)
		subject, _ := a.member(t, "subject").(string)
		version, _ := a.member(t, "version").(float64)
		if got := subject + " " + string(rune('0'+int(version))); got != want {
			t.Errorf("%s: want %s, got %s", query, want, a)
		}
	}
	for _, query := range []string{"?subject=:.c:s", "?subject=:.d:", "?subject=:.d:s"} {
		c.fails(c.do("GET", "/schemas/ids/2"+query, nil), 40403)
	}
}

// C70: the table of 2.3, each form beside the one it means.
func c70ContextURLs(t *testing.T) {
	t.Parallel()
	c := two(t)
	c.want(c.do("PUT", "/config/:.c:s", `{"compatibility":"FULL"}`), 200, nil)
	c.want(c.do("PUT", "/mode/:.c:s", `{"mode":"READONLY"}`), 200, nil)
	c.want(c.do("PUT", "/config/:.c:", `{"compatibility":"NONE"}`), 200, nil)
	c.want(c.do("PUT", "/contexts/c/mode", `{"mode":"READWRITE"}`), 200, nil)
	for path, means := range map[string]string{
		"/contexts/.c/subjects/s/versions":         "/subjects/:.c:s/versions",
		"/contexts/c/subjects/s/versions/latest":   "/subjects/:.c:s/versions/latest",
		"/contexts/:.c:/subjects/s/versions/1":     "/subjects/:.c:s/versions/1",
		"/contexts/%3A.c/subjects/s/versions/1":    "/subjects/:.c:s/versions/1",
		"/contexts/.c/subjects/:.:s/versions":      "/subjects/s/versions",
		"/contexts/.c/subjects/:.c:s/versions":     "/subjects/:.c:s/versions",
		"/contexts/.c/config/s":                    "/config/:.c:s",
		"/contexts/.c/mode/s":                      "/mode/:.c:s",
		"/contexts/.c/config":                      "/config/:.c:",
		"/contexts/.c/mode":                        "/mode/:.c:",
		"/contexts/.c/subjects":                    "/subjects?subjectPrefix=:.c:",
		"/contexts/.c/subjects?subjectPrefix=t":    "/subjects?subjectPrefix=:.c:t",
		"/contexts/.c/subjects?subjectPrefix=:*:s": "/subjects?subjectPrefix=:*:s",
		"/contexts/.c/schemas":                     "/schemas?subjectPrefix=:.c:",
		"/contexts/.c/schemas/ids/1":               "/schemas/ids/1?subject=:.c:",
		"/contexts/.c/schemas/ids/1?subject=s":     "/schemas/ids/1?subject=:.c:s",
		"/contexts/.c/schemas/ids/1/versions":      "/schemas/ids/1/versions?subject=:.c:",
		"/contexts/.c/schemas/ids/1/subjects":      "/schemas/ids/1/subjects?subject=:.c:",
		"/contexts/.c/schemas/types":               "/schemas/types",
		"/contexts/.c/v1/metadata/id":              "/v1/metadata/id",
		"/contexts/.c/contexts":                    "/contexts",
		"/contexts/./subjects/s/versions":          "/subjects/s/versions",
		"/contexts/:.:/subjects":                   "/subjects?subjectPrefix=",
		"/contexts/./config":                       "/config",
		"/contexts/.__GLOBAL/config":               "/config/:.__GLOBAL:",
	} {
		got, want := c.do("GET", path, nil), c.do("GET", means, nil)
		if got.status != want.status || got.code != want.code || got.code == 0 && got.body != want.body {
			t.Errorf("%s: want as %s: %s, got %s", path, means, want, got)
		}
	}
	body := schema(`{"type":"string","n":2}`)
	c.want(c.do("POST", "/contexts/.c/compatibility/subjects/s/versions/latest", body), 200, `{"is_compatible":true}`)
	c.want(c.do("POST", "/contexts/.c/compatibility/subjects/s/versions", body), 200, `{"is_compatible":true}`)
	c.want(c.do("POST", "/contexts/.c/subjects/t/versions", body), 200, nil)
	if got := c.do("POST", "/contexts/.c/subjects/t", body).member(t, "subject"); got != ":.c:t" {
		t.Errorf("registered under %v", got)
	}
	c.want(c.do("DELETE", "/contexts/.c/subjects/t/versions/latest", nil), 200, `2`)
	c.want(c.do("DELETE", "/contexts/.c/mode?recursive=true", nil), 200, `{"mode":"READWRITE"}`)
	c.want(c.do("DELETE", "/contexts/.c/config/s", nil), 200, `{"compatibilityLevel":"FULL","compatibility":"FULL"}`)
	c.fails(c.do("GET", "/mode/:.c:s", nil), 40409)
	c.fails(c.do("POST", "/contexts/.__GLOBAL/subjects/s/versions", body), 42208, ".__GLOBAL")
}

// C71: all contexts, or the default one only.
func c71Prefixes(t *testing.T) {
	t.Parallel()
	c := two(t)
	for query, want := range map[string]string{
		"": `[":.c:s",":.c:t","s"]`, "?subjectPrefix=": `["s"]`, "?subjectPrefix=:.:": `["s"]`, "?subjectPrefix=:*:": `[":.c:s",":.c:t","s"]`, "?subjectPrefix=:*:s": `[":.c:s","s"]`, "?subjectPrefix=:.c:": `[":.c:s",":.c:t"]`, "?subjectPrefix=:.c": `[":.c:s",":.c:t"]`, "?subjectPrefix=:.c:t": `[":.c:t"]`,
	} {
		c.want(c.do("GET", "/subjects"+query, nil), 200, want)
	}
	for query, want := range map[string]int{"": 2, "?subjectPrefix=:*:": 4, "?subjectPrefix=:.c:": 2} {
		if list, _ := c.do("GET", "/schemas"+query, nil).json(t).([]any); len(list) != want {
			t.Errorf("/schemas%s has %d, want %d", query, len(list), want)
		}
	}
	c.want(c.do("GET", "/contexts", nil), 200, `[".",".c"]`)
	c.want(c.do("GET", "/contexts?contextPrefix=.c", nil), 200, `[".c"]`)
	c.want(c.do("GET", "/contexts?contextPrefix=.x", nil), 200, `[]`)
	c.want(c.do("GET", "/contexts?offset=1&limit=1", nil), 200, `[".c"]`)
}

// C72: deleting contexts.
func c72DeleteContext(t *testing.T) {
	t.Parallel()
	c := two(t)
	for _, path := range []string{"/contexts/.", "/contexts/:.:", "/contexts/.c", "/contexts/c", "/contexts/:.c:"} {
		c.fails(c.do("DELETE", path, nil), 42211)
	}
	for _, subject := range []string{":.c:s", ":.c:t"} {
		c.want(c.do("DELETE", "/subjects/"+subject, nil), 200, nil)
		c.fails(c.do("DELETE", "/contexts/.c", nil), 42211, ".c")
		c.want(c.do("DELETE", "/subjects/"+subject+"?permanent=true", nil), 200, nil)
	}
	c.want(c.do("GET", "/contexts", nil), 200, `[".",".c"]`)
	for _, path := range []string{"/contexts/c", "/contexts/.c", "/contexts/nobody"} {
		if a := c.do("DELETE", path, nil); a.status != http.StatusNoContent || a.body != "" {
			t.Errorf("DELETE %s: want 204, got %s", path, a)
		}
	}
	c.want(c.do("GET", "/contexts", nil), 200, `["."]`)
	// Its ids go on where they stood.
	if id, version := c.register(":.c:s", schema(`"int"`)); id != 3 || version != 2 {
		t.Errorf("registered again: id %d, version %d", id, version)
	}
}

// C73: an unqualified read looks further, a write never does.
func c73UnqualifiedReads(t *testing.T) {
	t.Parallel()
	c := two(t)
	for _, path := range []string{"/subjects/t/versions/1", "/subjects/t/versions/latest", "/schemas/ids/2?subject=t"} {
		if got := c.do("GET", path, nil).member(t, "subject"); got != ":.c:t" {
			t.Errorf("%s: subject %v", path, got)
		}
	}
	c.want(c.do("GET", "/subjects/t/versions/1/schema", nil), 200, `"string"`)
	if got := c.do("POST", "/subjects/t", schema(`"string"`)).member(t, "subject"); got != ":.c:t" {
		t.Errorf("the lookup finds %v", got)
	}
	c.fails(c.do("GET", "/subjects/t/versions", nil), 40401)
	c.fails(c.do("DELETE", "/subjects/t", nil), 40401)
	c.fails(c.do("DELETE", "/subjects/t/versions/1", nil), 40401)
	c.fails(c.do("GET", "/contexts/.d/subjects/t/versions/1", nil), 40401, ":.d:t")
	c.register("t", schema(`"int"`))
	if got := c.do("GET", "/subjects/t/versions/1", nil).member(t, "subject"); got != "t" {
		t.Errorf("the default context comes first: %v", got)
	}
	c.want(c.do("GET", "/subjects/:.c:t/versions", nil), 200, `[1]`)
}
