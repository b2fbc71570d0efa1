// Package api speaks the registry's REST contract over HTTP, wire-compatible
// with the Confluent Schema Registry.
//
// It knows neither journals nor formats: the domain is handed to [New], and
// every decision about schemas is the domain's. What is here is the shape of
// requests and answers. One list says which routes exist ([Routes]); the
// router, the OpenAPI document and the contract test walk that list, and one
// table says what each error of the domain is on the wire.
//
// Start with [New], which is an http.Handler, and [Server.Serve].
package api

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/cartorio-registry/cartorio/registry"
)

// Imitated is the Confluent version whose contract is spoken; it is the first
// member of GET /v1/metadata/version.
const Imitated = "8.5.0"

// Options shape a server. The zero value serves the contract's defaults.
type Options struct {
	// BasePath stands before every path ("/registry"); empty means none.
	BasePath string
	// Body bounds a request's body in bytes, 4 MiB; more is answered 413.
	Body int64
	// Cache bounds the ready answers kept in memory, in bytes, 32 MiB.
	Cache int
	// Logger takes what people must know and callers must not; nil drops it.
	Logger *slog.Logger
	// Incompatible40901 answers an incompatible registration with error_code
	// 40901 as the newest reference does; the default 409 is what clients know.
	// The HTTP status is 409 either way.
	Incompatible40901 bool
	// RefuseEmptySubject refuses to register under the subjects "" and "*",
	// which the reference allows.
	RefuseEmptySubject bool
	// Version and Commit are the product's own; empty means what the build says.
	Version, Commit string
}

// Server answers the contract's requests. It is safe for many goroutines.
type Server struct {
	registry *registry.Registry
	options  Options
	log      *slog.Logger
	echo     *echo.Echo
	http     *http.Server
	cache    *cache
	accepts  sync.Map // Accept header → *acceptance
	accepted atomic.Int64
	document []byte // the OpenAPI document, made once
	draining atomic.Bool
	stopping chan struct{} // closed when draining begins
	streams  atomic.Int32  // how many are open
	beat     time.Duration // between two heartbeats of a stream
	slowest  time.Duration // that a reader of a stream may take for what is written at once
	instance string        // what generated request ids begin with
	requests atomic.Uint64
	metrics  *metrics
	observe  func(*Route, int, int) // tests look at every answer here
}

// New makes a server over r. It listens to nothing until [Server.Serve]; as an
// http.Handler it works at once.
func New(r *registry.Registry, o Options) *Server {
	if o.Body <= 0 {
		o.Body = 4 << 20
	}
	if o.Cache <= 0 {
		o.Cache = 32 << 20
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.BasePath = strings.TrimRight(squeeze("/"+o.BasePath), "/")
	if build, ok := debug.ReadBuildInfo(); ok {
		if o.Version == "" {
			o.Version = build.Main.Version
		}
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" && o.Commit == "" {
				o.Commit = s.Value
			}
		}
	}
	s := &Server{registry: r, options: o, log: o.Logger, cache: newCache(o.Cache), instance: newInstance(), stopping: make(chan struct{}), beat: heartbeat, slowest: slowest}
	s.document = document(o.BasePath, o.Version)
	s.metrics = newMetrics(s)
	s.route()
	s.http = &http.Server{
		Handler: s,
		// One time for head and whole: net/http then sets one deadline less for
		// each request.
		ReadHeaderTimeout: patience,
		ReadTimeout:       patience,
		IdleTimeout:       2 * patience,
		WriteTimeout:      2 * patience,
		MaxHeaderBytes:    64 << 10,
		// OPTIONS * is answered here, in the contract's shape.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}
	return s
}

// patience is how long a caller may take to send a request; twice that to take
// the answer, or to be silent between two requests.
const patience = time.Minute

// Serve answers what l accepts until Shutdown, then returns nil.
//
// Errors: whatever stops l from accepting.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(listener{l}); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
