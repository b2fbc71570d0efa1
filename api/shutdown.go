package api

import (
	"bytes"
	"context"
	"fmt"
	"net"
)

// Shutdown stops accepting, lets every request that was accepted finish, and
// returns. /readyz answers 503 from its first moment on, for callers whose
// connections are still open.
//
// Errors: ctx's, when requests were still running at its deadline; their
// connections are then cut.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	if err := s.http.Shutdown(ctx); err != nil {
		if cut := s.http.Close(); cut != nil {
			return fmt.Errorf("stopping: requests were cut: %w, %w", err, cut)
		}
		return fmt.Errorf("stopping: requests were cut: %w", err)
	}
	return nil
}

// speakJSON makes net/http's own refusals speak the contract's error shape.
// net/http answers a request that it cannot read (a bad % escape in the path, a
// bad header) with plain text before any handler sees it, and every client of
// the contract takes an error that is not JSON for a fault of the server.
func speakJSON(l net.Listener) net.Listener { return jsonListener{l} }

type jsonListener struct{ net.Listener }

func (l jsonListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return jsonConn{c}, nil
}

type jsonConn struct{ net.Conn }

// CloseWrite keeps what net/http does after an answer to a body that it did not
// read: it closes its half and gives the caller time to read the answer.
func (c jsonConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

var (
	badRequestHead  = []byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request")
	largeHeaderHead = []byte("HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431 Request Header Fields Too Large")
)

func (c jsonConn) Write(b []byte) (int, error) {
	var p *problem
	status := ""
	switch {
	case bytes.HasPrefix(b, badRequestHead):
		reason := bytes.TrimPrefix(b[len(badRequestHead):], []byte(": "))
		p, status = bare(400, "the request is no valid HTTP: "+orElse(string(reason), "malformed request line or header; percent-encode the path")), "400 Bad Request"
	case bytes.HasPrefix(b, largeHeaderHead):
		p, status = bare(431, fmt.Sprintf("the request's headers are over the limit of %d bytes", 64<<10)), "431 Request Header Fields Too Large"
	default:
		return c.Conn.Write(b)
	}
	body := p.body()
	answer := fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: %s\r\nCache-Control: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", status, vendorV1, noCache, len(body), body)
	if _, err := c.Conn.Write(answer); err != nil {
		return 0, err
	}
	return len(b), nil
}
