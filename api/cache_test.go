package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// Answers by id, by GUID and of raw texts carry an ETag, and whoever has the
// body gets 304. Only the raw text by GUID may be kept.
func TestETag(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	a := c.do("POST", "/subjects/s/versions", schema(record("Long", "f:string=\""+strings.Repeat("x", 2000)+"\"")))
	guid, _ := a.member(t, "guid").(string)
	for path, control := range map[string]string{
		"/schemas/ids/1": "no-cache, no-store, must-revalidate", "/schemas/ids/1/schema": "no-cache, no-store, must-revalidate", "/subjects/s/versions/latest/schema": "no-cache, no-store, must-revalidate",
		"/schemas/guids/" + guid: "no-cache, no-store, must-revalidate", "/api/v1/guids/" + guid + "/schema": "public, max-age=31536000, immutable",
	} {
		c.header = http.Header{}
		a := c.want(c.do("GET", path, nil), 200, nil)
		tag := a.header.Get("Etag")
		if tag == "" || a.header.Get("Cache-Control") != control {
			t.Errorf("%s: ETag %q, Cache-Control %q", path, tag, a.header.Get("Cache-Control"))
		}
		for sent, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, strings.Trim(tag, `"`): 200, "": 200} {
			c.header = http.Header{"If-None-Match": {sent}}
			b := c.do("GET", path, nil)
			if b.status != status || b.header.Get("Etag") != tag {
				t.Errorf("%s with If-None-Match %s: want %d, got %d and %q", path, sent, status, b.status, b.header.Get("Etag"))
			}
		}
		c.header = http.Header{"Accept-Encoding": {"gzip"}}
		if got := c.do("GET", path, nil).header.Get("Etag"); got != "W/"+tag {
			t.Errorf("%s compressed: the ETag is %q", path, got)
		}
		c.header.Set("If-None-Match", "W/"+tag)
		if b := c.do("GET", path, nil); b.status != 304 || b.header.Get("Content-Encoding") != "" {
			t.Errorf("%s compressed and known: %s", path, b)
		}
	}
	c.fails(c.do("GET", "/api/v1/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d/schema", nil), 40403)
}

// A ready answer is forgotten as soon as the registry changes.
func TestReadyAnswersForget(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	c.register("b", schema(`"string"`))
	subject := func() string {
		t.Helper()
		s, _ := c.want(c.do("GET", "/schemas/ids/1", nil), 200, nil).member(t, "subject").(string)
		return s
	}
	for range 2 {
		if got := subject(); got != "b" {
			t.Errorf("want b, got %s", got)
		}
	}
	c.register("a", schema(`"string"`))
	if got := subject(); got != "a" {
		t.Errorf("after a registration: want a, got %s", got)
	}
	c.do("DELETE", "/subjects/a", nil)
	if got := subject(); got != "b" {
		t.Errorf("after a deletion: want b, got %s", got)
	}
	c.do("DELETE", "/subjects/b", nil)
	if a := c.do("GET", "/schemas/ids/1", nil); a.member(t, "deleted") != true {
		t.Errorf("want deleted:true, got %s", a)
	}
	c.do("DELETE", "/subjects/a?permanent=true", nil)
	c.do("DELETE", "/subjects/b?permanent=true", nil)
	c.fails(c.do("GET", "/schemas/ids/1", nil), 40403)
	// The context of the URL is part of what was asked.
	c.register("s", schema(`"int"`))
	c.want(c.do("GET", "/schemas/ids/2", nil), 200, nil)
	c.fails(c.do("GET", "/contexts/.c/schemas/ids/2", nil), 40403)
	c.want(c.do("GET", "/schemas/ids/2/schema", nil), 200, `"int"`)
}

// Ready answers stay within their bound, whatever is asked.
func TestReadyAnswersAreBounded(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Cache: 64 << 10})
	c.register("s", schema(`"string"`))
	for i := range 1000 {
		c.want(c.do("GET", fmt.Sprintf("/schemas/ids/1?x=%d", i), nil), 200, nil)
	}
	used, half, entries := c.server.CacheBytes()
	if used > half || half != 32<<10 || entries == 0 || entries > 100 {
		t.Errorf("%d bytes of %d in %d entries", used, half, entries)
	}
	c.want(c.do("GET", "/schemas/ids/1?x="+strings.Repeat("y", 4000), nil), 200, nil)
	if _, _, now := c.server.CacheBytes(); now != entries {
		t.Error("a query of 4000 bytes is remembered")
	}
	big := newClient(t, api.Options{Cache: 8 << 10})
	big.register("s", schema(record("R", "f:string=\""+strings.Repeat("x", 9000)+"\"")))
	big.want(big.do("GET", "/schemas/ids/1", nil), 200, nil)
	if used, _, entries := big.server.CacheBytes(); used != 0 || entries != 0 {
		t.Errorf("an answer over the bound is kept: %d bytes in %d entries", used, entries)
	}
}

// Whoever asks with an ETag is never told that nothing changed when it did:
// through registration, soft and permanent deletion, return, alias and config.
func TestETagIsNeverWrong(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	guid, _ := c.do("POST", "/subjects/s/versions", schema(`"string"`)).member(t, "guid").(string)
	type kept struct{ tag, body string }
	remembered := map[string]kept{}
	paths := []string{
		"/schemas/ids/1", "/schemas/ids/1?fetchMaxId=true", "/schemas/ids/1?subject=s", "/schemas/ids/1?subject=old", "/schemas/ids/1/schema", "/schemas/ids/2", "/schemas/ids/2/schema",
		"/schemas/guids/" + guid, "/api/v1/guids/" + guid + "/schema", "/subjects/s/versions/latest/schema", "/subjects/s/versions/1/schema", "/subjects/old/versions/1/schema", "/contexts/.c/schemas/ids/1",
	}
	changes, notModified := 0, 0
	for _, change := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/", nil},
		{"POST", "/subjects/t/versions", schema(`"int"`)},
		{"POST", "/subjects/a/versions", schema(`"string"`)},
		{"PUT", "/config/old", `{"alias":"s"}`},
		{"DELETE", "/subjects/a", nil},
		{"DELETE", "/subjects/a?permanent=true", nil},
		{"POST", "/contexts/.c/subjects/s/versions", schema(`"long"`)},
		{"DELETE", "/subjects/s", nil},
		{"POST", "/subjects/s/versions", schema(`"string"`)},
		{"DELETE", "/subjects/s", nil},
		{"DELETE", "/subjects/s?permanent=true", nil},
		{"POST", "/subjects/s/versions", schema(`"string"`)},
		{"PUT", "/config/old", `{"alias":"t"}`},
	} {
		c.header = http.Header{}
		if a := c.do(change.method, change.path, change.body); a.status != 200 {
			t.Fatalf("%s %s: %s", change.method, change.path, a)
		}
		for _, path := range paths {
			c.header = http.Header{}
			now := c.do("GET", path, nil)
			if before, ok := remembered[path]; ok {
				c.header = http.Header{"If-None-Match": {before.tag}}
				switch a := c.do("GET", path, nil); {
				case a.status == 304 && (now.status != 200 || now.body != before.body):
					t.Errorf("after %s %s: %s is told to be what it was, and is %s", change.method, change.path, path, now)
				case a.status == 304:
					notModified++
				case a.status != now.status || a.body != now.body || now.body == before.body && now.status == 200:
					t.Errorf("after %s %s: %s answers %s, and without the ETag %s", change.method, change.path, path, a, now)
				default:
					changes++
				}
			}
			c.header = http.Header{"If-None-Match": {"*"}}
			if a := c.do("HEAD", path, nil); a.status != 304 && now.status == 200 || a.status == 304 && now.status != 200 {
				t.Errorf("after %s %s: HEAD %s with * answers %d, GET %d", change.method, change.path, path, a.status, now.status)
			}
			switch {
			case now.status == 200:
				remembered[path] = kept{now.header.Get("Etag"), now.body}
			case now.header.Get("Etag") != "" || !strings.Contains(now.header.Get("Cache-Control"), "no-store"):
				t.Errorf("%s: a failure may be kept: %v", path, now.header)
			}
		}
	}
	if changes < 10 || notModified < 50 {
		t.Errorf("only %d changes and %d answers without a body were seen", changes, notModified)
	}
	c.header = http.Header{}
	if got := c.do("GET", "/api/v1/guids/"+guid+"/schema", nil).header.Get("Vary"); got != "Accept, Accept-Encoding" {
		t.Errorf("what others may keep varies by %q", got)
	}
}
