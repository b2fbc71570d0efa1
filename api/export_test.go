package api

import (
	"time"

	"github.com/cartorio-registry/cartorio/registry"
)

// Observe calls f after every answer with the route that matched (nil for none),
// the status and the error_code (0 for none).
func (s *Server) Observe(f func(r *Route, status, code int)) { s.observe = f }

// Wire is the table of the domain's codes.
func Wire() map[registry.Code]int { return wire }

// Meanings says what each error_code means.
func Meanings() map[int]string { return meanings }

// Codes are all the error codes that r may answer.
func (r Route) Codes() []int { return r.codes() }

// ErrorShape is the shape of every failure.
var ErrorShape = errorShape

// Document is the OpenAPI document of the list of routes.
func Document() []byte { return document("", "") }

// Reference is docs/http.md.
func Reference() []byte { return reference() }

// CacheBytes is what the ready answers of the young half weigh.
func (s *Server) CacheBytes() (used, half, entries int) {
	s.cache.mu.RLock()
	defer s.cache.mu.RUnlock()
	return s.cache.used, s.cache.half, len(s.cache.young) + len(s.cache.old)
}

// Break adds a route whose handler panics, before or after its answer began.
func (s *Server) Break() {
	s.echo.GET("/break", s.adapt(&Route{Method: "GET", Path: "/break", Handle: func(*exchange) error { panic("secret of the server") }}))
	s.echo.GET("/break/late", s.adapt(&Route{Method: "GET", Path: "/break/late", Handle: func(x *exchange) error {
		x.send(200, []byte("{}"))
		panic("secret of the server")
	}}))
}

// Walk lists the members of a JSON object, or the items of an array, as a body
// is read; text must be JSON.
func Walk(text []byte) (names, values []string) {
	value{raw: text}.walk(func(name []byte, one value) bool {
		names, values = append(names, string(name)), append(values, string(one.raw))
		return true
	})
	return names, values
}

// Hurry sets how long a caller may take to send a request.
func (s *Server) Hurry(patience time.Duration) {
	s.http.ReadTimeout, s.http.ReadHeaderTimeout = patience, patience
}

// Streams sets the time between two heartbeats of a stream and how slow its
// reader may be, and answers how to count the open ones.
func (s *Server) Streams(beat, slowest time.Duration) (open func() int) {
	s.beat, s.slowest = beat, slowest
	return func() int { return int(s.streams.Load()) }
}

// MostStreams is how many streams may be open.
const MostStreams = mostStreams
