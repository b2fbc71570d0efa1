package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/transfer"
	"github.com/cartorio-registry/cartorio/schemas"
)

var unpaced = transfer.Pace{PerSecond: -1}

// gather reads a registry over HTTP; it must give everything that it names.
func gather(tb testing.TB, c *sr.Client) transfer.Gathered {
	tb.Helper()
	g, err := transfer.FromRegistry(context.Background(), c, unpaced)
	if err != nil {
		tb.Fatal(err)
	}
	for _, l := range g.Losses {
		tb.Errorf("not read: %s", l)
	}
	return g
}

// verified wants no difference in what both sides answer, by any name.
func verified(tb testing.TB, from, to *sr.Client) {
	tb.Helper()
	v, err := transfer.Verify(context.Background(), gather(tb, from), from, to, unpaced)
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range v.Differences {
		tb.Errorf("%s", d)
	}
	for _, l := range v.Unread {
		tb.Errorf("unread: %s", l)
	}
}

// Whatever a registry holds moves to another over HTTP.
func TestRandomRegistriesOverHTTP(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			r, there := open(t), open(t)
			if seed == 1 {
				r, there = onDisk(t), onDisk(t)
			}
			fill(t, r, seed, 150)
			from, to := serve(t, r), serve(t, there)
			report, err := transfer.ToRegistry(t.Context(), to, gather(t, from), transfer.Options{Pace: unpaced})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range report.Losses {
				t.Errorf("lost: %s", l)
			}
			verified(t, from, to)
			a, b := transfer.FromHeld(r), transfer.FromHeld(there)
			a.Whole = false // the target stores what it stores now
			same(t, "held", a, b)

			again, err := transfer.ToRegistry(t.Context(), to, gather(t, from), transfer.Options{Pace: unpaced, DryRun: true})
			if err != nil || len(again.Steps) > 0 {
				t.Errorf("a second migration would still take %v, %v", again.Steps, err)
			}

			// What happened at the source since then moves too.
			fill(t, r, seed+500, 30)
			if _, err := transfer.ToRegistry(t.Context(), to, gather(t, from), transfer.Options{Pace: unpaced}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// cutting lets so many requests that write through and then none.
type cutting struct {
	left atomic.Int64
}

var errCut = errors.New("the line is cut")

func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet && c.left.Add(-1) < 0 {
		return nil, errCut
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A migration that is cut off anywhere goes on when it is run again, and nothing
// comes twice.
func TestMigrationGoesOn(t *testing.T) {
	t.Parallel()
	r := open(t)
	fill(t, r, 3, 150)
	from := serve(t, r)
	g := gather(t, from)
	step := 29
	if racing {
		step = 97
	}
	if os.Getenv("CARTORIO_HUNT") != "" {
		step = 3
	}
	for cut := 0; ; cut += step {
		there := open(t)
		line := &cutting{}
		line.left.Store(int64(cut))
		url := serveURL(t, there)
		bad, err := sr.New(sr.Options{URLs: []string{url}, Transport: line, Tries: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, err = transfer.ToRegistry(t.Context(), bad, g, transfer.Options{Pace: transfer.Pace{PerSecond: -1, Parallel: 3}})
		if err == nil {
			if cut == 0 {
				t.Error("nothing was written at all")
			}
			return
		}
		if !errors.Is(err, errCut) {
			t.Fatalf("cut after %d: %v", cut, err)
		}
		to := dial(t, url)
		report, err := transfer.ToRegistry(t.Context(), to, g, transfer.Options{Pace: unpaced})
		if err != nil || len(report.Losses) > 0 {
			t.Fatalf("going on after %d: %v, %v", cut, err, report.Losses)
		}
		verified(t, from, to)
	}
}

func TestMigrationIntoWhatIsThere(t *testing.T) {
	t.Parallel()
	r, there := open(t), open(t)
	register := func(r *registry.Registry, name, text string) {
		t.Helper()
		if _, err := r.Register(t.Context(), registry.Registration{
			Subject: schemas.ParseSubject(name), Source: schemas.Source{Type: schemas.Avro, Text: text}, Force: true,
		}); err != nil {
			t.Fatal(err)
		}
	}
	register(r, "a", `"string"`)
	register(r, "b", `"int"`)
	register(r, "b", `"long"`)
	register(there, "own", `"string"`)  // id 1, as at the source
	register(there, "own", `"boolean"`) // id 2, as b has it
	from, to := serve(t, r), serve(t, there)
	report, err := transfer.ToRegistry(t.Context(), to, gather(t, from), transfer.Options{Pace: unpaced})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Losses) != 1 || report.Losses[0].Subject != "b" || report.Losses[0].Version != 1 {
		t.Errorf("lost %v, want version 1 of b, whose id stands for another schema there", report.Losses)
	}
	v, err := transfer.Verify(t.Context(), gather(t, from), from, to, unpaced)
	if err != nil {
		t.Fatal(err)
	}
	if !v.Lost() {
		t.Error("the verification misses the loss")
	}
	// What was there is untouched, its mode too.
	if _, ok := there.ModeOf(schemas.ParseSubject("a")); ok {
		t.Error("subject a was left in a mode of its own")
	}
	if m := there.ModeInForce(schemas.ParseSubject("own")); m != registry.ReadWrite {
		t.Errorf("what was there is in mode %s", m)
	}
	register(there, "own", `"bytes"`)
}

// A peer that answers what the contract does not know loses that, by name, and
// nothing else.
func TestOddPeer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"/subjects":              `["a"]`,
			"/subjects/a/versions":   `[1,2]`,
			"/subjects/a/versions/1": `{"subject":"a","version":1,"id":7,"schema":"\"int\""}`,
			"/config":                `{"compatibilityLevel":"FULL"}`,
			"/config/a":              `{"compatibilityLevel":"ODD"}`,
			"/mode":                  `{"mode":"READWRITE"}`,
			"/schemas/ids/7":         `{"schema":"\"int\"","maxId":9}`,
		}
		text, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text)
	}))
	defer s.Close()
	g, err := transfer.FromRegistry(t.Context(), dial(t, s.URL), unpaced)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`a v1 id 7 AVRO "int"`, `scope  {"compatibility":"FULL"}`, "context . listed=true to id 9", `lost "a": its config is not understood: `, `lost subject "a" version 2: the registry lists it and does not give it: `}
	if got := told(g); !slices.EqualFunc(want, got, func(want, got string) bool {
		return want == got || strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)
	}) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
