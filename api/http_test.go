package api_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

const (
	vendorV1 = "application/vnd.schemaregistry.v1+json"
	vendor   = "application/vnd.schemaregistry+json"
	plain    = "application/json"
)

// C01, C02: which type an Accept header is answered with; 0 stands for 406.
func testAccept(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, row := range []struct{ accept, want string }{
		{"", vendorV1},
		{"*/*", vendorV1},
		{"*", vendorV1},
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", vendorV1},
		{"application/json, text/plain, */*", vendorV1},
		{vendorV1 + ", " + vendor + ", " + plain, vendorV1},
		{vendor, vendor},
		{plain, plain},
		{"application/json;charset=utf-8", plain},
		{"APPLICATION/JSON", plain},
		{"application/*", vendorV1},
		{"application/json;q=0.9, " + vendorV1 + ";q=0.1", plain},
		{vendorV1 + ";q=0.1, */*", vendor},
		{vendorV1 + ";q=0, " + vendor + ";q=0, */*;q=0.5", plain},
		{"text/html", ""},
		{"text/html;q=1, text/*", ""},
		{"*/*;q=0", ""},
		{"application/json;q=0", ""},
		{"no type", vendorV1},
		{"*/json", vendorV1},
		{"application/json;q=high", vendorV1},
		{"application/json;q=7", vendorV1},
		{"/", vendorV1},
		{",,,", ""},
		{strings.Repeat("a/b,", 400) + plain, plain},
	} {
		c.header = http.Header{}
		if row.accept != "" {
			c.header.Set("Accept", row.accept)
		}
		for range 2 { // the second answer is a remembered one
			a := c.do("GET", "/config", nil)
			if row.want == "" {
				c.fails(a, 406)
				if got := a.header.Get("Content-Type"); got != vendorV1 {
					t.Errorf("Accept %q: the refusal is of type %q", row.accept, got)
				}
			} else if got := a.header.Get("Content-Type"); a.status != 200 || got != row.want {
				t.Errorf("Accept %q: want %q, got %d %q", row.accept, row.want, a.status, got)
			}
		}
	}
	c.header = http.Header{"Accept": {"text/html", plain}}
	if got := c.do("GET", "/config", nil).header.Get("Content-Type"); got != plain {
		t.Errorf("two Accept lines: got %q", got)
	}
	c.header = http.Header{"Accept": {"text/html"}}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if a := c.do("GET", path, nil); a.status != 200 || a.header.Get("Content-Type") != plain {
			t.Errorf("%s answers whatever is accepted, got %d %q", path, a.status, a.header.Get("Content-Type"))
		}
	}
}

// C03: which request types are taken.
func testContentType(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, row := range []struct {
		kind string
		code int
	}{
		{"", 0},
		{vendorV1, 0},
		{vendor, 0},
		{plain, 0},
		{"application/octet-stream", 0},
		{vendorV1 + "; charset=utf-8", 0},
		{"Application/JSON", 0},
		{" application/json ", 0},
		{"text/plain", 415},
		{"application/xml", 415},
		{"application/x-www-form-urlencoded", 415},
		{"json", 415},
		{";", 0},
	} {
		c.header = http.Header{"Content-Type": {row.kind}}
		a := c.do("POST", "/subjects/s/versions", schema(`"string"`))
		if a.code != row.code {
			t.Errorf("Content-Type %q: want %d, got %s", row.kind, row.code, a)
		}
	}
	c.header = http.Header{"Content-Type": {"text/plain"}}
	c.want(c.do("GET", "/subjects", nil), 200, `["s"]`) // no body, nothing to refuse
	c.header = http.Header{"Content-Encoding": {"gzip"}}
	c.fails(c.do("POST", "/subjects/s/versions", schema(`"string"`)), 415, "Content-Encoding")
}

// C03, C08: what no route answers.
func testNoSuchRoute(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for _, row := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/nope", 404},
		{"GET", "/subjects/a/b", 404},
		{"GET", "/schemas/ids", 404},
		{"GET", "/schemas/ids/x", 404},
		{"GET", "/schemas/ids/1.0", 404},
		{"GET", "/schemas/ids/99999999999", 404},
		{"GET", "/exporters/e", 404},
		{"POST", "/exporters", 404},
		{"PUT", "/exporters/e/pause", 404},
		{"GET", "/associations/a", 404},
		{"POST", "/associations", 404},
		{"GET", "/dek-registry/v1/keks", 404},
		{"GET", "/v1/nope", 404},
		{"GET", "/contexts/.c/nope", 404},
		{"GET", "/contexts/.a/contexts/.b/subjects", 404},
		{"PATCH", "/subjects", 405},
		{"POST", "/subjects", 405},
		{"PUT", "/subjects/s", 405},
		{"DELETE", "/schemas/ids/1", 405},
		{"GET", "/subjects/s", 405},
		{"GET", "/contexts/.c", 405},
		{"GET", "/config/a/b", 404},
		{"PUT", "/mode/a/b/c", 404},
		{"PATCH", "/config/a/b", 404},
		{"OPTIONS", "/mode/a/b", 404},
		{"POST", "/compatibility/subjects/s/versions/1/x", 404},
		{"DELETE", "/contexts/.a/b", 404},
		{"BREW", "/subjects", 405},
		{"GET", "/subjects?limit=x", 404},
		{"GET", "/subjects?offset=1.5", 404},
		{"GET", "/schemas?limit=99999999999", 404},
		{"GET", "/contexts/a:b/subjects", 400},
		{"DELETE", "/contexts/a:b", 400},
		{"GET", "/contexts/a%3Ab/subjects", 400},
	} {
		a := c.do(row.method, row.path, nil)
		if a.code != row.code {
			t.Errorf("%s %s: want %d, got %s", row.method, row.path, row.code, a)
		}
		if row.code == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", row.method, row.path)
		}
	}
	if got, want := c.do("PATCH", "/config/s", nil).header.Get("Allow"), "DELETE, GET, HEAD, OPTIONS, PUT"; got != want {
		t.Errorf("Allow: want %q, got %q", want, got)
	}
}

// C04: bodies that are none.
func testBody(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	long := strings.Repeat("[", 20_000)
	for _, path := range []string{"POST /subjects/s/versions", "POST /subjects/s", "POST /compatibility/subjects/s/versions", "POST /compatibility/subjects/s/versions/latest", "PUT /config", "PUT /config/s", "PUT /mode", "PUT /mode/s"} {
		method, path, _ := strings.Cut(path, " ")
		for _, row := range []struct {
			body any
			code int
			says string
		}{
			{nil, 422, "required"},
			{"", 422, "required"},
			{" \n", 422, "required"},
			{"null", 422, "null"},
			{"{", 400, "line 1, column 1"},
			{"{\n \"a\": nope}", 400, "line 2, column 8"},
			{"{} {}", 400, "column 4"},
			{long, 400, "no JSON"},
			{"[]", 400, "an array where an object"},
			{`"x"`, 400, "a string where an object"},
			{"7", 400, "a number where an object"},
			{"true", 400, "a boolean where an object"},
			{"\xef\xbb\xbf{}", 400, "no JSON"},
		} {
			a := c.do(method, path, row.body)
			if a.code != row.code || !strings.Contains(a.body, row.says) {
				t.Errorf("%s %s with %.20q: want %d and %q, got %s", method, path, row.body, row.code, row.says, a)
			}
		}
	}
	for _, row := range []struct{ body, at string }{
		{`{"schema":1}`, "/schema"},
		{`{"schema":{"type":"string"}}`, "/schema"},
		{`{"schemaType":[]}`, "/schemaType"},
		{`{"references":{}}`, "/references"},
		{`{"references":[1]}`, "/references/0"},
		{`{"references":[null]}`, "/references/0"},
		{`{"references":[{"name":"a"},{"name":7}]}`, "/references/1/name"},
		{`{"references":[{"version":"1"}]}`, "/references/0/version"},
		{`{"version":"1"}`, "/version"},
		{`{"version":1.5}`, "/version"},
		{`{"version":1e2}`, "/version"},
		{`{"version":4294967296}`, "/version"},
		{`{"id":true}`, "/id"},
		{`{"metadata":[]}`, "/metadata"},
		{`{"ruleSet":"x"}`, "/ruleSet"},
		{`{"schemaTagsToAdd":{}}`, "/schemaTagsToAdd"},
		{`{"propagateSchemaTags":"true"}`, "/propagateSchemaTags"},
	} {
		c.fails(c.do("POST", "/subjects/s/versions", row.body), 400, row.at)
		c.fails(c.do("POST", "/compatibility/subjects/s/versions?verbose=true", row.body), 400, row.at)
	}
	for _, row := range []struct{ body, at string }{
		{`{"compatibility":1}`, "/compatibility"},
		{`{"compatibilityLevel":[]}`, "/compatibilityLevel"},
		{`{"normalize":"true"}`, "/normalize"},
		{`{"validateFields":1}`, "/validateFields"},
		{`{"compatibilityPolicy":1}`, "/compatibilityPolicy"},
		{`{"verdictPolicy":1}`, "/verdictPolicy"},
		{`{"verdictPolicy":"HARSH"}`, "/verdictPolicy"},
		{`{"alias":1}`, "/alias"},
		{`{"defaultMetadata":[]}`, "/defaultMetadata"},
	} {
		c.fails(c.do("PUT", "/config/s", row.body), 400, row.at)
	}
	c.fails(c.do("PUT", "/mode/s", `{"mode":1}`), 400, "/mode")
	// Unknown members are passed over, whatever they are; the last of a repeated
	// one counts.
	c.want(c.do("PUT", "/config/s", `{"compatibility":7,"unknown":[[[{"a":null}]]],"compatibility":"FULL","Normalize":7}`), 200, `{"compatibility":"FULL"}`)
	// null is absent.
	c.do("POST", "/subjects/nulls/versions", `{"schema":"\"string\"","schemaType":null,"references":null,"metadata":null,"ruleSet":null,"version":null,"id":null,"schemaTagsToAdd":null,"schemaTagsToRemove":null,"propagateSchemaTags":null}`)
	c.want(c.do("GET", "/subjects/nulls/versions", nil), 200, `[1]`)
	c.want(c.do("GET", "/subjects", nil), 200, `["nulls"]`) // nothing refused was stored
}

// Bytes that are no UTF-8 are refused: stored, they would be other bytes, and
// two texts would share one identity.
func TestBodyIsUTF8(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.fails(c.do("POST", "/subjects/s/versions", "{\"schema\":\"{\\\"type\\\":\\\"int\\\",\\\"p\\\":\\\"\xff\\\"}\"}"), 400, "byte 37")
	c.want(c.do("GET", "/subjects", nil), 200, `[]`)
}

// Half a character cannot be stored as it was sent: it is refused, wherever it
// stands.
func TestBodyHasWholeCharacters(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("PUT", "/config", `{"compatibility":"NONE"}`), 200, nil)
	for _, row := range []struct {
		text string // inside a JSON string
		code int
	}{
		{`\ud800`, 400},
		{`\uDFFF`, 400},
		{`x\ud83dx`, 400},
		{`\ud83d\u0041`, 400},
		{`\ude00\ud83d`, 400},
		{`\\\ud800`, 400},
		{`\ud83d\ude00\ud83d`, 400},
		{`\ud83d\ude00`, 0},
		{`\u0000\ud7ff\ue000`, 0},
		{`\\ud800`, 0}, // a backslash, and "ud800"
		{`\"\/\b\\`, 0},
	} {
		for _, body := range []string{
			`{"schema":"\"string\"","metadata":{"properties":{"p":"` + row.text + `"}}}`,
			`{"schema":"\"string\"","metadata":{"properties":{"` + row.text + `":"v"}}}`,
			`{"unknown":"` + row.text + `","schema":"\"string\""}`,
		} {
			a := c.do("POST", "/subjects/s/versions", body)
			if a.code != row.code || row.code != 0 && !strings.Contains(a.body, "line 1, column ") {
				t.Errorf("%s: want %d, got %s", body, row.code, a)
			}
		}
	}
}

// The limit holds before all is read, also without a Content-Length.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Body: 100})
	c.fails(c.do("POST", "/subjects/s/versions", strings.Repeat(" ", 101)), 413, "100 bytes")
	c.fails(c.do("POST", "/subjects/s/versions", strings.Repeat(" ", 100)), 422)
	c.header = http.Header{"Transfer-Encoding": {"chunked"}}
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://h/subjects/s/versions", io.MultiReader(strings.NewReader("{"), endless{}))
	if err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	c.server.ServeHTTP(w, r)
	if w.Code != 413 {
		t.Errorf("an endless body: want 413, got %d %s", w.Code, w.Body)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// C05: paths that are the same path.
func testPaths(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.want(c.do("POST", "/compatibility/subjects/s/versions/", schema(`"string"`)), 200, `{"is_compatible":true}`)
	for _, subject := range []string{"a%2Fb%2Fc.proto", "a:b", "a%3Ac", "1+1", "%2B", "a%20b", "100%25", "..", ".", "caf%C3%A9", "%FF", "a;b", "a?b"[:1] + "%3Fb", "*", "versions", "a%252Fb"} {
		c.register(subject, schema(`"string"`))
	}
	c.want(c.do("GET", "/subjects//", nil), 200, `["*","+",".","..","1+1","100%","a b","a%2Fb","a/b/c.proto","a:b","a:c","a;b","a?b","café","versions","`+"\uFFFD"+`"]`)
	for _, path := range []string{"/subjects/a%2Fb%2Fc.proto/versions", "/subjects/a%2fb%2Fc.proto/versions/", "//subjects///a%2Fb%2Fc.proto//versions//", "/subjects/%61%2Fb%2Fc%2Eproto/versions"} {
		c.want(c.do("GET", path, nil), 200, `[1]`)
	}
	a := c.want(c.do("GET", "/subjects/a%2Fb%2Fc.proto/versions/latest", nil), 200, nil)
	if got := a.member(t, "subject"); got != "a/b/c.proto" {
		t.Errorf("want the subject a/b/c.proto, got %v", got)
	}
	c.want(c.do("GET", "/subjects/a%3Ab/versions", nil), 200, `[1]`)
	c.want(c.do("GET", "/subjects/:.:a%3Ab/versions", nil), 200, `[1]`)
	c.fails(c.do("GET", "/subjects/a/b/c.proto/versions", nil), 404)
	// The form under a context.
	for _, path := range []string{"/contexts/./subjects/a:b/versions", "/contexts/:.:/subjects/a%3Ab/versions", "/contexts/%3A.%3A/subjects/:.:a:b/versions/"} {
		c.want(c.do("GET", path, nil), 200, `[1]`)
	}
}

func TestBasePath(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"/sr/v1", "sr//v1/", "/sr/v1/"} {
		c := newClient(t, api.Options{BasePath: base})
		c.want(c.do("GET", "/sr/v1/subjects", nil), 200, `[]`)
		c.want(c.do("GET", "//sr/v1//subjects/", nil), 200, `[]`)
		c.want(c.do("GET", "/sr/v1", nil), 200, `{}`)
		c.want(c.do("GET", "/sr/v1/", nil), 200, `{}`)
		c.want(c.do("GET", "/sr/v1/contexts/./subjects", nil), 200, `[]`)
		for _, path := range []string{"/subjects", "/sr/v1x/subjects", "/sr", "/"} {
			c.fails(c.do("GET", path, nil), 404)
		}
	}
}

// C06: query parameters.
func testQuery(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("live", schema(`"string"`))
	c.register("gone", schema(`"int"`))
	c.do("DELETE", "/subjects/gone", nil)
	live, gone, both := `["live"]`, `["gone"]`, `["gone","live"]`
	for query, want := range map[string]string{
		"deleted=true": both, "deleted=True": both, "deleted=TRUE": both, "deleted=false": live, "deleted=False": live, "deleted=": live, "deleted": live, "deleted=1": live, "deleted=yes": live,
		"deletedOnly=true": gone, "deleted_only=True": gone, "deletedOnly=true&deleted=false": gone, "deleted=true&deletedOnly=true": gone,
		"deleted=false&&key=x": live, "&": live, "unknown=7&other": live, "deleted=true&deleted=false": both, "deleted=%zz": live, "%zz=1&deleted=true": both, "deleted=tr%75e": both,
		"offset=1&deleted=true": live, "limit=1&deleted=true": gone, "limit=0&deleted=true": both, "limit=-1&deleted=true": both, "offset=-5&deleted=true": both, "limit=&offset=&deleted=true": both, "offset=9": `[]`, "limit=%201%20&deleted=true": gone,
		"subjectPrefix=": live, "subjectPrefix=li": live, "subjectPrefix=x": `[]`, "subjectPrefix=:*:": live, "subjectPrefix=:*:li": live, "subjectPrefix=:.:l": live, "subjectPrefix=:.c:": `[]`,
	} {
		if a := c.do("GET", "/subjects?"+query, nil); a.status != 200 || a.body != want {
			t.Errorf("?%s: want %s, got %s", query, want, a)
		}
	}
}

// C07: HEAD and OPTIONS.
func TestHeadAndOptions(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("s", schema(`"string"`))
	for _, path := range []string{"/", "/subjects", "/schemas/ids/1", "/schemas/ids/1/schema", "/subjects/s/versions/1", "/healthz", "/openapi.json"} {
		get, head := c.do("GET", path, nil), c.do("HEAD", path, nil)
		if head.status != get.status {
			t.Errorf("HEAD %s: want %d, got %d", path, get.status, head.status)
		}
		for _, name := range []string{"Content-Type", "Content-Length", "Etag"} {
			if head.header.Get(name) != get.header.Get(name) {
				t.Errorf("HEAD %s: %s is %q, of GET it is %q", path, name, head.header.Get(name), get.header.Get(name))
			}
		}
	}
	if a := c.do("HEAD", "/subjects/x/versions", nil); a.status != 404 {
		t.Errorf("HEAD of an unknown subject: %d", a.status)
	}
	for path, allow := range map[string]string{
		"/subjects": "GET, HEAD, OPTIONS", "/subjects/s": "DELETE, OPTIONS, POST", "/subjects/s/versions": "GET, HEAD, OPTIONS, POST",
		"/config/s": "DELETE, GET, HEAD, OPTIONS, PUT", "/": "GET, HEAD, OPTIONS, POST", "/contexts/.c": "DELETE, OPTIONS",
	} {
		a := c.do("OPTIONS", path, nil)
		if a.status != 200 || a.header.Get("Allow") != allow {
			t.Errorf("OPTIONS %s: want 200 and %q, got %d and %q", path, allow, a.status, a.header.Get("Allow"))
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	a := c.do("GET", "/subjects", nil)
	if got, want := a.header.Get("Cache-Control"), "no-cache, no-store, must-revalidate"; got != want {
		t.Errorf("Cache-Control: want %q, got %q", want, got)
	}
	if got, want := a.header.Get("X-Xss-Protection"), "1; mode=block"; got != want {
		t.Errorf("X-XSS-Protection: want %q, got %q", want, got)
	}
	if b := c.do("GET", "/subjects", nil); a.header.Get("X-Request-Id") == b.header.Get("X-Request-Id") {
		t.Error("two requests have one id")
	}
	c.header.Set("X-Request-Id", "mine")
	if got := c.do("GET", "/nope", nil).header.Get("X-Request-Id"); got != "mine" {
		t.Errorf("X-Request-ID: want mine, got %q", got)
	}
	c.header.Set("X-Request-Id", strings.Repeat("x", 300))
	if got := c.do("GET", "/subjects", nil).header.Get("X-Request-Id"); len(got) > 256 {
		t.Error("an X-Request-ID without bound is echoed")
	}
	for _, name := range []string{"Confluent-Accept-Unknown-Properties", "Confluent-Client-Version", "X-Forward", "target-sr-cluster", "Confluent-Identity-Pool-Id"} {
		c.header.Set(name, "true")
	}
	c.want(c.do("GET", "/subjects", nil), 200, `[]`)
}

func TestGzip(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	long := record("Long", "f:string=\""+strings.Repeat("x", 3000)+"\"")
	c.register("long", schema(long))
	c.register("short", schema(`"string"`))
	for _, path := range []string{"/schemas/ids/1", "/schemas/ids/1/schema", "/subjects/long/versions/1"} {
		c.header = http.Header{}
		whole := c.do("GET", path, nil)
		for accept, zipped := range map[string]bool{"": false, "gzip": true, "deflate, gzip;q=1.0, *;q=0.5": true, "GZIP": true, "*": true, "gzip;q=0": false, "gzip; q=0, *": false, "identity": false, "br": false, "gzip;q=x": false} {
			c.header = http.Header{"Accept-Encoding": {accept}}
			a := c.do("GET", path, nil)
			if got := a.header.Get("Content-Encoding") == "gzip"; got != zipped {
				t.Errorf("%s with %q: compressed is %v", path, accept, got)
				continue
			}
			if a.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s with %q: Vary is %q", path, accept, a.header.Get("Vary"))
			}
			if got := fmt.Sprint(len(a.body)); a.header.Get("Content-Length") != got {
				t.Errorf("%s with %q: Content-Length %q of %s bytes", path, accept, a.header.Get("Content-Length"), got)
			}
			if !zipped {
				continue
			}
			z, err := gzip.NewReader(strings.NewReader(a.body))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(z)
			if err != nil || string(got) != whole.body {
				t.Errorf("%s: unzipped, it is another body (%v)", path, err)
			}
		}
	}
	c.header = http.Header{"Accept-Encoding": {"gzip"}}
	if a := c.do("GET", "/schemas/ids/2", nil); a.header.Get("Content-Encoding") != "" {
		t.Error("a short body is compressed")
	}
}
