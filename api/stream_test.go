package api_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
)

// A long list leaves in pieces: whole, compressed or not, and over a real
// connection; HEAD has none of it.
func TestLongLists(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	const n = 40
	for i := range n {
		c.register(fmt.Sprintf("s-%02d", i), schema(record("R", fmt.Sprintf("f%d:string=%q", i, strings.Repeat("x", 10_000)))))
	}
	whole := c.want(c.do("GET", "/schemas", nil), 200, nil)
	if list, _ := whole.json(t).([]any); len(list) != n || whole.header.Get("Content-Length") != "" {
		t.Errorf("want %d items in pieces, got %d in %q bytes", n, len(list), whole.header.Get("Content-Length"))
	}
	if head := c.do("HEAD", "/schemas", nil); head.status != 200 || head.header.Get("Content-Type") != vendorV1 {
		t.Errorf("HEAD: %d %q", head.status, head.header.Get("Content-Type"))
	}
	c.header.Set("Accept-Encoding", "gzip")
	for range 2 { // the second takes a compressor that was used before
		z, err := gzip.NewReader(strings.NewReader(c.do("GET", "/schemas", nil).body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || string(got) != whole.body {
			t.Errorf("unzipped, it is another body (%v)", err)
		}
	}
	address, served := c.serve()
	for _, accept := range []string{"", "gzip"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/schemas", nil)
		if err != nil {
			t.Fatal(err)
		}
		if accept == "" {
			r.Header.Set("Accept-Encoding", "identity")
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(got.Body)
		got.Body.Close()
		if err != nil || string(body) != whole.body || !json.Valid(body) {
			t.Errorf("over the wire with %q: %d bytes, %v", accept, len(body), err)
		}
	}
	if err := c.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
