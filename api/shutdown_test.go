package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
)

// serve starts c's server on a loopback port.
func (c *client) serve() (address string, served chan error) {
	c.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	served = make(chan error, 1)
	go func() { served <- c.server.Serve(l) }()
	return l.Addr().String(), served
}

// Shutdown lets the request that was accepted finish, takes no other, and
// /readyz says so on the connections that are still open.
func TestShutdownFinishesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	address, served := c.serve()
	body := `{"schema":"\"string\""}`
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Half a request is accepted: its head, and the first byte of its body.
	// 100-continue comes when the handler has begun to read.
	fmt.Fprintf(conn, "POST /subjects/s/versions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(body))
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("want 100 Continue, got %q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		stopped <- c.server.Shutdown(ctx)
	}()
	if err := <-served; err != nil { // the listener is closed: Shutdown has begun
		t.Fatal(err)
	}
	if other, err := net.Dial("tcp", address); err == nil {
		other.Close()
		t.Error("a connection is accepted after Shutdown began")
	}
	if w := c.do("GET", "/readyz", nil); w.status != http.StatusServiceUnavailable || w.code != 503 {
		t.Errorf("/readyz while stopping: %s", w)
	}
	select {
	case err := <-stopped:
		t.Fatalf("Shutdown did not wait: %v", err)
	default:
	}
	fmt.Fprint(conn, body)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != 200 || !strings.Contains(string(text), `"id":1`) {
		t.Errorf("the accepted request: %d %s, %v", answer.StatusCode, text, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// A request that does not end is cut at the deadline, and Shutdown says so.
func TestShutdownKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	address, served := c.serve()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /subjects/s/versions HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.server.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("want an error that says what was cut, got %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection: %v", err)
	}
}

// What net/http itself refuses has the contract's shape too.
func TestUnreadableRequests(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	address, served := c.serve()
	for name, row := range map[string]struct {
		sent   string
		status int
	}{
		"a bad escape":   {"GET /subjects/100%/versions HTTP/1.1\r\nHost: h\r\n\r\n", 400},
		"no HTTP":        {"nonsense\r\n\r\n", 400},
		"no Host":        {"GET / HTTP/1.1\r\n\r\n", 400},
		"two lengths":    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		"a bad header":   {"GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n", 400},
		"an expectation": {"POST / HTTP/1.1\r\nHost: h\r\nExpect: more\r\nContent-Length: 0\r\n\r\n", 417},
		"a star":         {"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 404},
		"long headers":   {"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", 431},
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() { fmt.Fprint(conn, row.sent) }()
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		conn.Close()
		if want := fmt.Sprintf(`{"error_code":%d,"message":"`, row.status); err != nil || r.StatusCode != row.status || !strings.HasPrefix(string(text), want) || r.Header.Get("Content-Type") != vendorV1 {
			t.Errorf("%s: got %d %q %s, %v", name, r.StatusCode, r.Header.Get("Content-Type"), text, err)
		}
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); r.StatusCode != 200 || string(text) != "{}" || r.Header.Get("Allow") != "DELETE, GET, HEAD, OPTIONS, POST, PUT" {
		t.Errorf("OPTIONS *: %d %s %v", r.StatusCode, text, r.Header)
	}
	if err := c.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A body over the limit gets its 413 although nobody reads the rest.
func TestTooLargeOverTheWire(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Body: 1000})
	address, served := c.serve()
	for _, chunked := range []bool{false, true} {
		var body io.Reader = strings.NewReader(strings.Repeat("x", 8<<20))
		if chunked {
			body = io.MultiReader(body)
		}
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+address+"/subjects/s/versions", body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(got.Body)
		got.Body.Close()
		if err != nil || got.StatusCode != 413 || !strings.HasPrefix(string(text), `{"error_code":413,`) {
			t.Errorf("chunked %v: %d %s, %v", chunked, got.StatusCode, text, err)
		}
	}
	if err := c.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A client that sends all of its body before it reads gets the 413 too.
func TestTooLargeForAClientThatReadsLast(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{Body: 1 << 20})
	address, served := c.serve()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := strings.Repeat("x", 5<<20)
	if _, err := fmt.Fprintf(conn, "POST /subjects/s/versions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != 413 {
		t.Fatalf("want 413, got %v, %v", answer, err)
	}
	answer.Body.Close()
	conn.Close()
	if err := c.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}
