package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// C40, C42: one id in many places.
func c42Places(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, s := range []string{"b", "a", "c"} {
		if id, _ := c.register(s, schema(`"string"`)); id != 1 {
			t.Errorf("%s: want id 1, got %d", s, id)
		}
	}
	c.want(c.do("GET", "/schemas/ids/1/subjects", nil), 200, `["a","b","c"]`)
	c.want(c.do("GET", "/schemas/ids/1/versions", nil), 200, `[{"subject":"a","version":1},{"subject":"b","version":1},{"subject":"c","version":1}]`)
	c.want(c.do("GET", "/schemas/ids/1/subjects?offset=1&limit=1", nil), 200, `["b"]`)
	c.want(c.do("GET", "/schemas/ids/1/versions?offset=2", nil), 200, `[{"subject":"c","version":1}]`)
	for _, path := range []string{"/schemas/ids/9", "/schemas/ids/9/schema", "/schemas/ids/9/subjects", "/schemas/ids/9/versions", "/schemas/ids/0", "/schemas/ids/-1"} {
		c.fails(c.do("GET", path, nil), 40403)
	}
	// C43: subject= tells where; empty is none.
	for query, subject := range map[string]string{"": "a", "subject=": "a", "subject=b": "b", "subject=c&&": "c", "subject=nobody": "a", "subject=:.:c": "c", "subject=:.:": "a"} {
		a := c.want(c.do("GET", "/schemas/ids/1?"+query, nil), 200, nil)
		if got := a.member(t, "subject"); got != subject {
			t.Errorf("?%s: want %s, got %v", query, subject, got)
		}
	}
	c.want(c.do("GET", "/contexts/./schemas/ids/1?subject=b", nil), 200, c.do("GET", "/schemas/ids/1?subject=b", nil).body)
	// Live comes before deleted.
	c.do("DELETE", "/subjects/a", nil)
	if a := c.do("GET", "/schemas/ids/1", nil); a.member(t, "subject") != "b" || a.member(t, "deleted") != false {
		t.Errorf("want the live place, got %s", a)
	}
	c.want(c.do("GET", "/schemas/types", nil), 200, `["JSON","PROTOBUF","AVRO"]`)
}

// C71, C80, C81, C83: lists, their bounds and their order.
func c80Lists(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	const n = 1005
	for i := range n {
		c.register(fmt.Sprintf("s-%04d", i), schema(record("R", fmt.Sprintf("f%d:int", i))))
	}
	length := func(path string) int {
		t.Helper()
		list, _ := c.want(c.do("GET", path, nil), 200, nil).json(t).([]any)
		return len(list)
	}
	for path, want := range map[string]int{
		"/schemas": 1000, "/schemas?limit=5000": 1000, "/schemas?limit=0": 1000, "/schemas?limit=-1": 1000, "/schemas?limit=7": 7, "/schemas?offset=1000": 5, "/schemas?offset=-3&limit=1": 1, "/schemas?offset=9999": 0,
		"/schemas?subjectPrefix=s-00": 100, "/schemas?subjectPrefix=:*:s-0&limit=3": 3, "/schemas?subjectPrefix=:.c:": 0, "/contexts/./schemas?limit=4": 4, "/contexts/.c/schemas": 0,
		"/subjects": n, "/subjects?limit=10": 10, "/subjects?offset=1000": 5, "/subjects?subjectPrefix=s-100": 5, "/contexts/./subjects": n, "/contexts/./subjects?subjectPrefix=s-100": 5, "/contexts/.c/subjects": 0,
	} {
		if got := length(path); got != want {
			t.Errorf("%s: want %d items, got %d", path, want, got)
		}
	}
	c.do("PUT", "/config", `{"compatibility":"NONE"}`)
	c.register("s-0000", schema(`"int"`))
	c.register("s-0000", schema(`"long"`))
	c.do("DELETE", "/subjects/s-0000/versions/3", nil)
	versions := func(path string) string {
		var b strings.Builder
		list, _ := c.do("GET", path, nil).json(t).([]any)
		for _, item := range list {
			m, _ := item.(map[string]any)
			fmt.Fprintf(&b, "%v/%v ", m["subject"], m["version"])
		}
		return b.String()
	}
	for path, want := range map[string]string{
		"/schemas?limit=3":                                 "s-0000/1 s-0000/2 s-0001/1 ",
		"/schemas?limit=3&deleted=true":                    "s-0000/1 s-0000/2 s-0000/3 ",
		"/schemas?limit=2&latestOnly=true":                 "s-0000/2 s-0001/1 ",
		"/schemas?limit=2&latestOnly=true&deleted=true":    "s-0000/3 s-0001/1 ",
		"/schemas?limit=2&offset=1&latestOnly=True":        "s-0001/1 s-0002/1 ",
		"/schemas?limit=1&resourceType=x&associationType=": "s-0000/1 ",
	} {
		if got := versions(path); got != want {
			t.Errorf("%s: want %q, got %q", path, want, got)
		}
	}
	c.want(c.do("GET", "/subjects/s-0000/versions?limit=1", nil), 200, `[1]`)
	c.want(c.do("GET", "/subjects/s-0000/versions?offset=1&limit=-1", nil), 200, `[2]`)
	c.want(c.do("GET", "/subjects/s-0000/versions?deletedAsNegative=true&offset=1", nil), 200, `[2,-3]`)
}

// 4.7, 4.8: what the registry says of itself.
func TestInformation(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Version: "1.2.3", Commit: "abc"})
	c.want(c.do("GET", "/", nil), 200, `{}`)
	c.want(c.do("POST", "/", `anything`), 200, `{}`)
	c.header.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	c.want(c.do("GET", "/", nil), 200, `{}`)
	c.header = http.Header{}
	c.want(c.do("GET", "/v1/metadata/version", nil), 200, `{"version":"`+api.Imitated+`","commitId":"abc","product":"cartorio","productVersion":"1.2.3"}`)
	c.want(c.do("GET", "/v1/metadata/deployment", nil), 200, `{"attributes":[]}`)
	a := c.want(c.do("GET", "/v1/metadata/id", nil), 200, nil)
	scope, _ := a.member(t, "scope").(map[string]any)
	clusters, _ := scope["clusters"].(map[string]any)
	if id, _ := clusters["kafka-cluster"].(string); id == "" || clusters["schema-registry-cluster"] != "schema-registry" || !equal(scope["path"], []any{}) {
		t.Errorf("the installation is %s", a)
	}
	c.want(c.do("GET", "/v1/metadata/id", nil), 200, a.body)
	c.want(c.do("GET", "/exporters", nil), 200, `[]`)
	c.want(c.do("GET", "/healthz", nil), 200, `{"status":"ok"}`)
	c.want(c.do("GET", "/readyz", nil), 200, `{"status":"ready"}`)
}
