package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
)

// A defect of ours is told to the log, and to the caller only that it is one.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := api.New(openRegistry(t), api.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s.Break()
	w := newRecorder()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://h/break", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.ServeHTTP(w, r)
	if w.Code != 500 || w.Body.String() != `{"error_code":500,"message":"internal error"}` {
		t.Errorf("want a plain 500, got %d %s", w.Code, w.Body)
	}
	for _, text := range []string{"secret of the server", "report=", "request=" + w.Header().Get("X-Request-Id"), "/break"} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log lacks %q: %s", text, &log)
		}
	}
	r.URL.Path = "/break/late"
	func() {
		defer func() {
			if cause := recover(); cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				t.Errorf("an answer cut short: want the connection cut, got %v", cause)
			}
		}()
		s.ServeHTTP(newRecorder(), r)
	}()
}

// failing is a journal whose disk is full once it is told so.
type failing struct {
	*sqlite.Journal
	full, lying atomic.Bool
}

func (j *failing) Append(ctx context.Context, after registry.Revision, b registry.Batch) (registry.Revision, error) {
	if j.full.Load() {
		return 0, errors.New("writing /secret/path: no space left")
	}
	end, err := j.Journal.Append(ctx, after, b)
	if j.lying.Load() {
		end += 7
	}
	return end, err
}

// A registry that has stopped writing for good is alive, but not ready.
func TestNotReady(t *testing.T) {
	t.Parallel()
	inner, err := sqlite.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	journal := &failing{Journal: inner}
	r := open(t, journal)
	defer r.Close()
	c := &client{t: t, server: api.New(r, api.Options{}), header: http.Header{}}
	c.server.Observe(func(r *api.Route, _, _ int) { c.route.Store(r) })
	c.register("s", schema(`"string"`))
	c.want(c.do("GET", "/readyz", nil), 200, nil)
	journal.lying.Store(true)
	if a := c.send("POST", "/subjects/s/versions", schema(`"bytes"`)); a.status != 500 || !strings.Contains(a.body, "50001") {
		t.Errorf("want 50001, got %s", a)
	}
	c.fails(c.do("GET", "/readyz", nil), 503, "restart")
	c.want(c.do("GET", "/healthz", nil), 200, nil)
	c.want(c.do("GET", "/schemas/ids/1", nil), 200, nil)
}

// A store that takes no writes turns readiness red; it recovers by itself, also
// when nobody writes.
func TestNotReadyWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	inner, err := sqlite.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	journal := &failing{Journal: inner}
	c := &client{t: t, server: api.New(openOn(t, journal), api.Options{}), header: http.Header{}}
	c.server.Observe(func(r *api.Route, _, _ int) { c.route.Store(r) })
	c.register("s", schema(`"string"`))
	journal.full.Store(true)
	c.want(c.do("GET", "/readyz", nil), 200, nil) // nobody has tried
	if a := c.send("POST", "/subjects/s/versions", schema(`"bytes"`)); a.code != 0 && a.status != 500 {
		t.Errorf("want 50001, got %s", a)
	}
	for range 2 {
		if a := c.fails(c.do("GET", "/readyz", nil), 503, "no writes"); strings.Contains(a.body, "secret") {
			t.Errorf("the answer tells too much: %s", a)
		}
	}
	c.want(c.do("GET", "/healthz", nil), 200, nil)
	journal.full.Store(false)
	for range 2 {
		c.want(c.do("GET", "/readyz", nil), 200, `{"status":"ready"}`)
	}
	c.want(c.do("GET", "/api/v1/changes?after=2", nil), 200, `{"changes":[],"next":2,"end":2}`) // trying left nothing behind
	if _, version := c.register("s", schema(`"bytes"`)); version != 2 {
		t.Errorf("version %d after the disk was full", version)
	}
}

// What fails in the store is told as 50001; how, only to the log. Reads go on.
func TestStoreFailure(t *testing.T) {
	t.Parallel()
	inner, err := sqlite.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	journal := &failing{Journal: inner}
	var log bytes.Buffer
	s := api.New(openOn(t, journal), api.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ask := func(ctx context.Context, method, path string, body io.Reader) (int, string) {
		r, err := http.NewRequestWithContext(ctx, method, "http://h"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		w := newRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	if status, body := ask(t.Context(), "POST", "/subjects/s/versions", strings.NewReader(`{"schema":"\"string\""}`)); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	journal.full.Store(true)
	status, body := ask(t.Context(), "POST", "/subjects/s/versions", strings.NewReader(`{"schema":"\"bytes\""}`))
	if status != 500 || body != `{"error_code":50001,"message":"the store failed"}` {
		t.Errorf("want a plain 50001, got %d %s", status, body)
	}
	if !strings.Contains(log.String(), "/secret/path") || !strings.Contains(log.String(), "report=") {
		t.Errorf("the log does not say what failed: %s", &log)
	}
	if status, body := ask(t.Context(), "GET", "/schemas/ids/1", nil); status != 200 {
		t.Errorf("a read: %d %s", status, body)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	journal.full.Store(false)
	status, body = ask(gone, "POST", "/subjects/t/versions", strings.NewReader(`{"schema":"\"bytes\""}`))
	if status != 500 || !strings.Contains(body, `"error_code":50002`) {
		t.Errorf("a caller that went away: %d %s", status, body)
	}
}

// A body that ends early is the caller's fault, and is told as that.
func TestCutBody(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://h/subjects/s/versions", io.MultiReader(strings.NewReader("{"), cut{}))
	if err != nil {
		t.Fatal(err)
	}
	w := newRecorder()
	c.server.ServeHTTP(w, r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "ended early") {
		t.Errorf("want 400, got %d %s", w.Code, w.Body)
	}
}

type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Whatever a path holds, the answer is JSON that says it back.
func TestMessagesAreJSON(t *testing.T) {
	t.Parallel()
	c := newClient(t, api.Options{})
	for b := range 256 {
		a := c.do("GET", fmt.Sprintf("/subjects/x%%%02X/versions", b), nil)
		want := string([]byte{'x', byte(b)})
		if b >= 0x80 {
			want = "x\uFFFD"
		}
		message, _ := a.member(t, "message").(string)
		if !strings.Contains(message, want) || !json.Valid([]byte(a.body)) {
			t.Errorf("byte %02X: %s", b, a)
		}
	}
}

// TestRequestsAreLoggedForDebugging expects one line a request, with what a
// person needs to find it again, and none unless asked.
func TestRequestsAreLoggedForDebugging(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]int{slog.LevelDebug: 2, slog.LevelInfo: 0} {
		var log bytes.Buffer
		s := api.New(openRegistry(t), api.Options{BasePath: "/r", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))})
		for _, path := range []string{"/r/subjects", "/elsewhere"} {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			request.Header.Set("X-Request-ID", "known-"+path[1:2])
			s.ServeHTTP(httptest.NewRecorder(), request)
		}
		if got := strings.Count(log.String(), "msg=request"); got != want {
			t.Errorf("%s: %d lines, want %d:\n%s", level, got, want, log.String())
		}
		if want == 0 {
			continue
		}
		for _, part := range []string{"method=GET path=/r/subjects status=200 duration=", "request=known-r", "path=/elsewhere status=404 duration=", "request=known-e"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s is not in the log:\n%s", part, log.String())
			}
		}
	}
}
