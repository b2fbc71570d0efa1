package registry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// What was accepted is in the journal, with who answers for it and until when,
// and a list that changes nothing writes nothing.
func TestExceptionsAreKept(t *testing.T) {
	t.Parallel()
	j := newShared()
	now := time.UnixMilli(1_890_000_000_000)
	clock := func(o *registry.Options) { o.Now = func() time.Time { return now } }
	r := openOn(t, j, clock)
	scope := schemas.Subject{Context: schemas.DefaultContext, Name: "s"}
	one := compat.Exception{Fingerprint: strings.Repeat("0", 32), Reason: "r", Owner: "o", Until: time.UnixMilli(1_900_000_000_000).UTC(), Source: "registry"}
	two := compat.Exception{Fingerprint: strings.Repeat("1", 32), Reason: "r", Owner: "p", Until: time.UnixMilli(1_895_000_000_000).UTC(), Source: "registry"}
	set := func(list ...compat.Exception) {
		t.Helper()
		if err := r.SetExceptions(t.Context(), scope, list); err != nil {
			t.Fatal(err)
		}
	}
	set(two, one)
	before := r.Revision()
	set(one, two)
	if r.Revision() != before {
		t.Error("the same list was written again")
	}
	again := openOn(t, j, clock)
	if diff := cmp.Diff([]compat.Exception{one, two}, again.ExceptionsOf(scope)); diff != "" {
		t.Errorf("after opening again: -want +got\n%s", diff)
	}
	held := r.Holdings().Exceptions
	if len(held) != 2 || held[0].Owner != "o" || held[0].Until != one.Until.UnixMilli() {
		t.Errorf("held: %+v", held)
	}
	set(two)
	if got := r.ExceptionsOf(scope); len(got) != 1 || got[0].Owner != "p" {
		t.Errorf("%+v", got)
	}
	set()
	if got := r.ExceptionsOf(scope); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	var wrong *registry.Error
	if err := r.SetExceptions(t.Context(), scope, []compat.Exception{{Fingerprint: "x"}}); !errors.As(err, &wrong) || wrong.Code != registry.CodeExceptionInvalid {
		t.Errorf("%v", err)
	}
}

// An exception ends within a year; what is kept already may stay beside others.
func TestExceptionsEnd(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_767_225_600_000).UTC()
	r := openOn(t, newShared(), func(o *registry.Options) { o.Now = func() time.Time { return now } })
	scope := schemas.Subject{Context: schemas.DefaultContext, Name: "s"}
	entry := func(digit string, until time.Time) compat.Exception {
		return compat.Exception{Fingerprint: strings.Repeat(digit, 32), Reason: "r", Owner: "o", Until: until}
	}
	refused := func(want string, list ...compat.Exception) {
		t.Helper()
		before := r.Revision()
		var e *registry.Error
		if err := r.SetExceptions(t.Context(), scope, list); !errors.As(err, &e) || e.Code != registry.CodeExceptionInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if r.Revision() != before {
			t.Error("something was written")
		}
	}
	set := func(list ...compat.Exception) {
		t.Helper()
		if err := r.SetExceptions(t.Context(), scope, list); err != nil {
			t.Error(err)
		}
	}
	refused("has no end", entry("0", time.Time{}))
	refused("must lie ahead", entry("0", now.Add(-time.Millisecond)))
	refused("more than a year away", entry("0", now.Add(registry.LongestException+time.Millisecond)))
	short, long := entry("0", now.Add(time.Hour)), entry("1", now.Add(registry.LongestException))
	refused("more than a year away", short, entry("2", now.AddDate(2, 0, 0)))
	set(short, long)

	now = now.Add(2 * time.Hour)
	third := entry("2", now.Add(time.Hour))
	set(short, long, third)
	changed := short
	changed.Reason = "another"
	refused("must lie ahead", changed, long)
	set(short)
	set()
	refused("must lie ahead", short)
}
