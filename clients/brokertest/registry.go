package brokertest

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// Registry is a registry of a test's own, whose server may be shut and opened
// again at the same address, or guarded. It takes every version.
type Registry struct {
	Client *sr.Client

	t         *testing.T
	handler   http.Handler
	isGuarded atomic.Bool
	asked     atomic.Int64

	mu      sync.Mutex
	address string
	server  *http.Server
}

// NewRegistry serves a registry until the test ends.
func NewRegistry(t *testing.T) *Registry {
	t.Helper()
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Open(t.Context(), journal, registry.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	r := &Registry{t: t, handler: api.New(reg, api.Options{}), address: "127.0.0.1:0"}
	r.Open()
	t.Cleanup(r.Shut)
	if r.Client, err = sr.New(sr.Options{URLs: []string{r.URL()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Client.SetConfig(t.Context(), sr.Global, sr.Config{Level: "NONE"}); err != nil {
		t.Fatal(err)
	}
	return r
}

// ServeHTTP answers, or refuses as long as the registry is guarded.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.asked.Add(1)
	if r.isGuarded.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error_code":401,"message":"who are you"}`)
		return
	}
	r.handler.ServeHTTP(w, req)
}

// Open serves, at the address that it had before.
func (r *Registry) Open() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	l, err := (&net.ListenConfig{}).Listen(r.t.Context(), "tcp", r.address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.address = l.Addr().String()
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
	server := r.server
	go func() { _ = server.Serve(l) }()
}

// Shut closes the server and every connection to it.
func (r *Registry) Shut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		_ = r.server.Close()
	}
}

// Guard has every request answered with 401, or no longer.
func (r *Registry) Guard(is bool) { r.isGuarded.Store(is) }

// Asked is how many requests came.
func (r *Registry) Asked() int64 { return r.asked.Load() }

// URL is the registry's.
func (r *Registry) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return "http://" + r.address
}

// Register registers a version.
func (r *Registry) Register(subject string, t schemas.Type, text string) schemas.Found {
	r.t.Helper()
	f, err := r.Client.Register(r.t.Context(), schemas.ParseSubject(subject), sr.Registration{Source: schemas.Source{Type: t, Text: text}})
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

// RegisterOrders registers [OrderV1].
func (r *Registry) RegisterOrders() { r.Register("orders-value", schemas.JSON, OrderV1) }

// Validator asks this registry, until the test ends.
func (r *Registry) Validator(o validate.Options) *validate.Validator {
	v := validate.NewWith(r.Client, o, formats.All...)
	r.t.Cleanup(v.Close)
	return v
}
