package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
)

// A connection may bring anything: each request is answered in the contract's
// shape or its connection ends, nobody else waits, and nothing is taken for the
// next request that belonged to the last.
func TestHostileConnections(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Body: 1 << 20})
	c.server.Hurry(2 * time.Second)
	address, served := c.serve()
	const post, last = "POST /subjects/s/versions HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n", "Connection: close\r\n\r\n"
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: h\r\n" + last }
	chunked := post + "Transfer-Encoding: chunked\r\n" + last
	sized := func(body string) string { return post + fmt.Sprintf("Content-Length: %d\r\n", len(body)) + last + body }
	for name, row := range map[string]struct {
		sent     string
		statuses string
		says     string // the last answer
	}{
		"garbage for a chunk's size":    {chunked + "zz\r\nhello\r\n0\r\n\r\n", "400", "body: invalid byte in chunk length"},
		"a chunk's size over 64 bits":   {chunked + "FFFFFFFFFFFFFFFFFF\r\n", "400", "chunk length too large"},
		"a chunk's long extension":      {chunked + "1;" + strings.Repeat("x", 100<<10) + "\r\n{", "400", "reading the request's body"},
		"two ways to tell the length":   {post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n" + last + "0\r\n\r\n" + get("/nope"), "422", "required"},
		"another transfer encoding":     {post + "Transfer-Encoding: gzip, chunked\r\n" + last, "501", "Unsupported transfer encoding"},
		"less than no body":             {post + "Content-Length: -1\r\n" + last, "400", "error_code"},
		"a body nobody sends":           {post + "Content-Length: 99999999999\r\n\r\n", "413", "over the limit"},
		"a body nobody sends, asked":    {post + "Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n", "413", "over the limit"},
		"headers of 1 MiB":              {"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "431", "error_code"},
		"100,000 headers":               {"GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("A: b\r\n", 100_000) + "\r\n", "431", "error_code"},
		"a path of 60 KiB":              {get("/subjects/" + strings.Repeat("a", 60<<10) + "/versions"), "404", "40401"},
		"a query of 60 KiB":             {get("/subjects?" + strings.Repeat("a=1&", 15<<10)), "200", "[]"},
		"another version of HTTP":       {"GET / HTTP/9.9\r\nHost: h\r\n\r\n", "505", "error_code"},
		"the preface of HTTP/2":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404", "error_code"},
		"a tunnel":                      {"CONNECT elsewhere:443 HTTP/1.1\r\nHost: h\r\n" + last, "405", "error_code"},
		"an address of somewhere else":  {get("http://elsewhere/subjects"), "200", "[]"},
		"a NUL in a path":               {get("/subjects/a%00b/versions"), "404", `a\u0000b`},
		"a raw NUL in a path":           {get("/subjects/a\x00b/versions"), "400", "error_code"},
		"a blank in a path":             {get("/subjects/a b/versions"), "400", "error_code"},
		"steps up, escaped":             {get("/subjects/..%2F..%2Fetc/versions"), "404", "../../etc"},
		"steps up":                      {get("/subjects/../config"), "404", "HTTP 404"},
		"three requests at once":        {strings.Repeat("GET /subjects HTTP/1.1\r\nHost: h\r\n\r\n", 2) + get("/mode"), "200 200 200", "READWRITE"},
		"one behind a body that is not": {strings.ReplaceAll(post, "application/json", "text/plain") + "Content-Length: 5\r\n\r\nhello" + get("/mode"), "415 200", "READWRITE"},
		"one behind a body of another":  {post + "Content-Length: 2\r\n\r\n{}" + get("/mode"), "422 200", "READWRITE"},
		"one inside a body":             {sized(get("/mode")), "400", "no JSON"},
		"a byte order mark":             {sized("\uFEFF{}"), "400", "no JSON"},
		"UTF-16":                        {sized("\xff\xfe{\x00}\x00"), "400", "not UTF-8"},
		"brackets a million deep":       {sized(`{"a":` + strings.Repeat("[", 1e6-10) + "}"), "400", "max depth"},
		"a number of 900,000 digits":    {sized(`{"schema":"\"string\"","version":` + strings.Repeat("9", 900_000) + "}"), "400", "/version"},
		"an exponent without end":       {sized(`{"schema":"\"string\"","id":1e999999999}`), "400", "/id"},
		"a member twice":                {sized(`{"schema":"{","schema":"","schemaType":"X"}`), "422", "42201"},
		"something else than JSON":      {strings.ReplaceAll(sized("{}"), "application/json", "multipart/form-data; boundary=x"), "415", "multipart"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(conn, row.sent) }() // a refusal may come before the end
			in := bufio.NewReader(conn)
			for want := range strings.FieldsSeq(row.statuses) {
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("where %s is due: %v", want, err)
				}
				body, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || !json.Valid(body) || fmt.Sprint(answer.StatusCode) != want {
					t.Errorf("want %s, got %d %.300s, %v", want, answer.StatusCode, body, err)
				}
				if answer.Close && !strings.Contains(string(body), row.says) {
					t.Errorf("want it to say %q, got %.300s", row.says, body)
				}
			}
			if more, err := in.ReadByte(); err == nil {
				t.Errorf("behind the last answer comes %q", more)
			}
		})
	}
	// Whoever is slow takes nobody's turn, and is told in the end.
	const slow = 200
	var waiting [slow]net.Conn
	for i := range waiting {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		waiting[i] = conn
		if _, err := io.WriteString(conn, post+"Content-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	c.register("s", schema(`"string"`))
	answer, err := http.ReadResponse(bufio.NewReader(waiting[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != 400 || !strings.Contains(string(body), "it did not come within 2s") {
		t.Errorf("a body that does not come: %d %s, %v", answer.StatusCode, body, err)
	}
	if err := c.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// What a caller sends as its request's id is kept for ever and shown to people.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for given, taken := range map[string]bool{
		"7f3a-1": true, "é": true, "with blanks": true, strings.Repeat("x", 256): true,
		strings.Repeat("x", 257): false, "": false, "\xff\xfe": false, "a\tb": false, "\u2028": false, "\u202e": false,
	} {
		c.header = http.Header{"X-Request-Id": {given}}
		if got := c.do("GET", "/subjects", nil).header.Get("X-Request-Id"); (got == given) != taken || got == "" {
			t.Errorf("%q is answered with %q", given, got)
		}
	}
}
