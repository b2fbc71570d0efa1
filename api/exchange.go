package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// exchange is one request and the answer to it. It stands as the writer inside
// echo's context, which is how a handler gets it back without a map.
type exchange struct {
	http.ResponseWriter
	server      *Server
	request     *http.Request
	route       *Route // nil until one matched
	names       []string
	values      []string
	path        string          // escaped, below base path and context
	context     schemas.Context // of a /contexts/{c}/ URL, else empty
	contentType []string
	requestID   string
	past        *registry.Past // what asOf asks about, nil for the present
	query       url.Values
	parsed      bool
	done        bool // an answer was begun
	wrote       int  // its status
	code        int  // its error_code, 0 for none
	began       time.Time
	leftover    bool // a body over the limit is thrown away after the answer
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func newInstance() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// ServeHTTP answers one request of the contract.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := exchanges.Get().(*exchange)
	*x = exchange{ResponseWriter: w, server: s, request: r, contentType: preferred.contentType, began: time.Now()}
	defer x.finish()
	x.identify()
	if r.Method == http.MethodOptions && r.RequestURI == "*" {
		x.Header().Set("Allow", anyMethod)
		x.send(http.StatusOK, []byte("{}"))
		return
	}
	x.path = escapedPath(r)
	inside, ok := below(s.options.BasePath, x.path)
	if !ok {
		x.fail(notFound(""))
		return
	}
	ctx, rest, err := inContext(inside)
	if err != nil {
		x.fail(err)
		return
	}
	x.path, x.context = rest, ctx
	// The router reads RawPath, or Path where that is empty; only where the
	// path as routed differs from Path must the request be another one.
	if x.path != r.URL.Path || r.URL.RawPath != "" {
		u := *r.URL
		u.RawPath = x.path
		copied := *r
		copied.URL = &u
		x.request = &copied
	}
	s.echo.ServeHTTP(x, x.request)
}

// finish recovers from a defect of ours and gives x back.
func (x *exchange) finish() {
	if cause := recover(); cause != nil {
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(cause)
		}
		x.server.log.Error("request failed: panic", "report", newInstance(), "request", x.requestID, "method", x.request.Method, "path", x.request.URL.Path,
			"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
		if x.done {
			// Half an answer is out: cutting the connection is the only way left
			// to say so.
			panic(http.ErrAbortHandler)
		}
		x.refuse(bare(http.StatusInternalServerError, "internal error"))
	}
	if x.leftover {
		x.drain()
	}
	if x.server.observe != nil {
		x.server.observe(x.route, x.wrote, x.code)
	}
	took := time.Since(x.began)
	x.server.metrics.answered(x, took)
	if x.server.log.Enabled(x.ctx(), slog.LevelDebug) {
		x.server.log.Debug("request", "method", x.request.Method, "path", x.request.URL.Path, "status", x.wrote, "duration", took, "request", x.requestID)
	}
	*x = exchange{}
	exchanges.Put(x)
}

// identify takes the caller's X-Request-ID or makes one: the journal keeps it for
// ever, so what is no text to be shown is not taken.
func (x *exchange) identify() {
	h := x.Header()
	if given := x.request.Header["X-Request-Id"]; len(given) > 0 && given[0] != "" && len(given[0]) <= 256 && printable(given[0]) {
		x.requestID = given[0]
	} else {
		b := make([]byte, 0, 32)
		b = append(b, x.server.instance...)
		b = append(b, '-')
		x.requestID = string(strconv.AppendUint(b, x.server.requests.Add(1), 10))
	}
	h["X-Request-Id"] = []string{x.requestID}
}

func printable(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// adapt makes a route's handler one of echo's.
func (s *Server) adapt(route *Route) echo.HandlerFunc {
	looksBack := slices.ContainsFunc(route.Query, func(p Param) bool { return p.Name == asOf.Name })
	return func(c echo.Context) error {
		if strays(c) {
			return notFound("")
		}
		x := c.Response().Writer.(*exchange)
		x.route, x.names, x.values = route, c.ParamNames(), c.ParamValues()
		if !route.Plain {
			if p := unsupported(x.request); p != nil {
				return p
			}
			accept := x.request.Header["Accept"]
			if route.Stream != nil && wantsEvents(accept) {
				return route.Stream(x)
			}
			a := s.negotiate(accept)
			if a.contentType == nil {
				return bare(http.StatusNotAcceptable, "none of the media types in Accept is one of "+vendorV1+", "+vendor+" and "+plainJSON)
			}
			x.contentType = a.contentType
			if err := x.lookBack(looksBack); err != nil {
				return err
			}
		} else {
			x.contentType = contentTypes[plainJSON]
		}
		return route.Handle(x)
	}
}

func (x *exchange) ctx() context.Context { return x.request.Context() }

// authored is the context of writes: the journal keeps who asked for each, and
// in which request. There are no users yet.
func (x *exchange) authored() context.Context {
	return registry.By(x.ctx(), registry.Author{Request: x.requestID})
}

// segment is a decoded segment of the path, by its name in the route.
func (x *exchange) segment(name string) string {
	for i, n := range x.names {
		if n == name {
			return unescape(x.values[i])
		}
	}
	return ""
}

// subject is the subject that the path names, in the URL's context, or the one
// that stands for it.
func (x *exchange) subject() schemas.Subject {
	return x.view().Alias(x.called())
}

// called is the subject by the name that the path has for it.
func (x *exchange) called() schemas.Subject {
	return schemas.ParseSubject(qualify(x.context, x.segment("subject")))
}

// scope is what a config or mode is about: the path's subject, else the URL's
// context, else the registry as a whole.
func (x *exchange) scope() schemas.Subject {
	if len(x.names) > 0 {
		return x.called()
	}
	return schemas.Subject{Context: schemas.Context(orElse(string(x.context), string(schemas.DefaultContext)))}
}

// version is the path's {version}.
//
// Errors: 42202.
func (x *exchange) version() (schemas.Version, error) {
	v, err := schemas.ParseVersion(x.segment("version"))
	if err != nil {
		return 0, coded(42202, "%s", err)
	}
	return v, nil
}

// id is the path's {id}; one that is no integer is no path of ours.
func (x *exchange) id() (int32, error) {
	n, err := strconv.ParseInt(x.segment("id"), 10, 32)
	if err != nil {
		return 0, notFound("the id " + strconv.Quote(x.segment("id")) + " is no whole number of 32 bits")
	}
	return int32(n), nil
}

// params are the query's parameters. Broken pieces and empty segments are
// passed over, as in the reference.
func (x *exchange) params() url.Values {
	if !x.parsed {
		x.query, x.parsed = x.request.URL.Query(), true
	}
	return x.query
}

// text is the first value of a query parameter under any of its names.
func (x *exchange) text(names ...string) string {
	value, _ := x.given(names...)
	return value
}

func (x *exchange) given(names ...string) (string, bool) {
	if x.request.URL.RawQuery == "" {
		return "", false
	}
	for _, name := range names {
		if values := x.params()[name]; len(values) > 0 {
			return strings.ToValidUTF8(values[0], "\uFFFD"), true
		}
	}
	return "", false
}

// flag is a query boolean: "true" in any letter case, all else is false.
func (x *exchange) flag(names ...string) bool { return strings.EqualFold(x.text(names...), "true") }

// integer is a query integer; absent and empty are 0.
//
// Errors: 404 when it does not parse, by the framework rule of the reference.
func (x *exchange) integer(name string) (int, error) {
	text := strings.TrimSpace(x.text(name))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, notFound("the query parameter " + name + " is " + strconv.Quote(text) + ", which is no whole number of 32 bits")
	}
	return int(n), nil
}

// fail answers an error, and logs what the wire may not tell.
func (x *exchange) fail(err error) {
	p, hidden := x.server.problemOf(err)
	if hidden {
		level := slog.LevelError
		if errors.Is(err, context.Canceled) {
			level = slog.LevelInfo // the caller went away
		}
		x.server.log.Log(x.ctx(), level, "request failed", "report", newInstance(), "request", x.requestID, "method", x.request.Method, "path", x.request.URL.Path, "error", err)
	}
	if x.done {
		return // half an answer is out; there is no second one
	}
	x.refuse(p)
}

func (x *exchange) refuse(p *problem) {
	if p.risks >= 0 {
		x.Header().Set(risksHeader, strconv.Itoa(p.risks))
	}
	x.code = p.code
	p.cut()
	x.send(p.status, p.body())
}

// answer sends a success.
func (x *exchange) answer(body []byte) error {
	x.send(http.StatusOK, body)
	return nil
}

// send writes the whole answer.
func (x *exchange) send(status int, body []byte) {
	h := x.Header()
	h["Cache-Control"] = noCacheValue
	h["X-Xss-Protection"] = xssValue
	h["Content-Type"] = x.contentType
	if len(body) >= gzipFrom {
		h["Vary"] = varyValue
		if takesGzip(x.request.Header) {
			body = compress(body)
			h["Content-Encoding"] = gzipValue
		}
	}
	x.write(status, body)
}

func (x *exchange) write(status int, body []byte) {
	if status != http.StatusNoContent && status != http.StatusNotModified {
		x.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	x.done, x.wrote = true, status
	x.WriteHeader(status)
	if x.request.Method != http.MethodHead && len(body) > 0 {
		_, _ = x.Write(body) // the caller went away; there is nobody to tell
	}
}

// gzipFrom is the body size from which compressing is worth its header.
const gzipFrom = 1024

var (
	gzipValue   = []string{"gzip"}
	varyValue   = []string{"Accept-Encoding"}
	variesValue = []string{"Accept, Accept-Encoding"}
	zippers     = sync.Pool{New: func() any { z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed); return z }}
)

func compress(body []byte) []byte {
	var out bytes.Buffer
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(&out)
	_, _ = z.Write(body) // a bytes.Buffer does not fail
	_ = z.Close()
	return out.Bytes()
}

// drained is how many times the limit of a body is read of one that is over it.
const drained = 8

// invalidAt finds the first byte that is not UTF-8.
func invalidAt(b []byte) int {
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(b)
}

// drain takes what is left of a body that is over the limit, some times the limit
// at most: a client that sends all before it reads would lose the answer, which is
// out already, to a closed connection.
func (x *exchange) drain() {
	most := x.server.options.Body
	_ = http.NewResponseController(x.ResponseWriter).Flush()
	_, _ = io.CopyN(io.Discard, x.request.Body, drained*min(most, math.MaxInt64/drained))
}

// isClosed tells whether err is of a connection that is gone.
func isClosed(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.As(err, &op)
}

// read takes the request's body, within the limit.
//
// Errors: 413 over the limit, before keeping all; 422 when there is none; 400
// when the connection fails or the bytes are not UTF-8.
func (x *exchange) read() ([]byte, error) {
	most := x.server.options.Body
	tooLarge := func() error {
		x.Header().Set("Connection", "close")
		// Who waits for 100 Continue has sent nothing yet, and is told at once.
		if x.request.Header.Get("Expect") == "" {
			x.leftover = true
			_ = http.NewResponseController(x.ResponseWriter).EnableFullDuplex() // where there is no connection, nothing is lost
		}
		return bare(http.StatusRequestEntityTooLarge, fmt.Sprintf("the request's body is over the limit of %d bytes", most))
	}
	if x.request.ContentLength > most {
		return nil, tooLarge()
	}
	if most == math.MaxInt64 {
		most--
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.request.Body, most))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, bare(http.StatusBadRequest, fmt.Sprintf("reading the request's body: it did not come within %v", x.server.http.ReadTimeout))
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !isClosed(err):
		return nil, bare(http.StatusBadRequest, "reading the request's body: "+strings.TrimPrefix(err.Error(), "http: "))
	case err != nil:
		return nil, bare(http.StatusBadRequest, "reading the request's body: it ended early")
	case !utf8.Valid(body):
		return nil, bare(http.StatusBadRequest, fmt.Sprintf("the request's body is not UTF-8 at byte %d: what it says would be stored altered", invalidAt(body)))
	case len(bytes.TrimSpace(body)) == 0:
		return nil, bare(http.StatusUnprocessableEntity, "the request's body is required and is empty")
	}
	return body, nil
}
