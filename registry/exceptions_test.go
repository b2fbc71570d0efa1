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
	r := openOn(t, j)
	scope := schemas.Subject{Context: schemas.DefaultContext, Name: "s"}
	one := compat.Exception{Fingerprint: strings.Repeat("0", 32), Reason: "r", Owner: "o", Until: time.UnixMilli(1_900_000_000_000).UTC(), Source: "registry"}
	two := compat.Exception{Fingerprint: strings.Repeat("1", 32), Reason: "r", Owner: "p", Source: "registry"}
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
	again := openOn(t, j)
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
