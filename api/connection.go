package api

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// listener makes the connections that net/http gets ours.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return connection{c}, nil
}

// connection gives net/http's own refusals the contract's shape.
type connection struct{ net.Conn }

// CloseWrite keeps what net/http does after an answer to a body that it did not
// read: it closes its half and gives the caller time to read the answer.
func (c connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// plainHead is what net/http writes behind the status line of its own refusals,
// which it does in one piece; what an http.Handler answers never looks so.
const plainHead = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write makes net/http's own refusals speak the contract's error shape. It
// answers a request that it cannot read (a bad % escape in the path, a bad
// header) with plain text before any handler sees it, and every client of the
// contract takes an error that is not JSON for a fault of the server.
func (c connection) Write(b []byte) (int, error) {
	const start = "HTTP/1.1 "
	if len(b) < len(start)+3 || b[len(start)] != '4' && b[len(start)] != '5' {
		return c.Conn.Write(b)
	}
	head, text, found := bytes.Cut(b, []byte(plainHead))
	if bytes.HasPrefix(b, []byte(start+"417 ")) && bytes.HasSuffix(b, []byte("\r\n\r\n")) {
		// No handler of ours answers so: net/http does, without a body.
		head, text, found = []byte(start+"417"), []byte("the only expectation that is known is 100-continue"), true
	}
	if !found || !bytes.HasPrefix(head, []byte(start)) || bytes.ContainsRune(head, '\n') {
		return c.Conn.Write(b)
	}
	status, err := strconv.Atoi(string(head[len(start) : len(start)+3]))
	if err != nil {
		return c.Conn.Write(b)
	}
	body := bare(status, "the request is no HTTP that can be read: "+string(text)).body()
	answer := fmt.Appendf(nil, "%s%d %s\r\nContent-Type: %s\r\nCache-Control: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		start, status, http.StatusText(status), vendorV1, noCache, len(body), body)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(b), nil
}
