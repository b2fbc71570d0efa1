package registry_test

import (
	"fmt"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A transitive level looks at every live version, newest first, and stops at the
// first that fails, however long the history is.
func TestLongHistories(t *testing.T) {
	t.Parallel()
	const versions = 40
	r := open(t)
	for n := range versions {
		play(t, r, fmt.Sprintf(`register s "A x%d?" => id %d v%d new`, n, n+1, n+1))
	}
	play(t, r, `config s level=BACKWARD_TRANSITIVE => {level=BACKWARD_TRANSITIVE}`)
	check := func(text string, looked int, verdict compat.Verdict) {
		t.Helper()
		report, err := r.Check(t.Context(), inSubject("s", text), nil)
		if err != nil || report.Verdict() != verdict || len(report.Compared) != looked {
			t.Fatalf("%s: %s after %d versions, %v, want %s after %d", text, report.Verdict(), len(report.Compared), err, verdict, looked)
		}
		for i, c := range report.Compared {
			if want := schemas.Version(versions - i); c.Old.Version != want || c.Old.Label != fmt.Sprint(want) {
				t.Errorf("%s: version %d (%s) was compared in place %d, want %d", text, c.Old.Version, c.Old.Label, i, want)
			}
		}
	}
	check("A y?", versions, compat.Compatible)
	check("A x39", 2, compat.Breaking) // version 40 has it, 39 does not
	play(t, r, `
		register s "A" => id 41 v41 new
		delete s 41 => 41
	`)
	check("A y?", versions, compat.Compatible)
}

// What cannot be parsed any more is not checked, and nothing may follow it but
// under NONE.
func TestStoredTextThatCannotBeRead(t *testing.T) {
	t.Parallel()
	j := newShared()
	r := openOn(t, node{j})
	play(t, r, `register s "A x" => id 1 v1 new`)
	// The same journal under a program that does not know the format any more.
	other := openOn(t, node{j}, withoutFormats)
	if got := do(t.Context(), other, `get s 1`); got != "id 1 v1" {
		t.Errorf("reading it answers %s", got)
	}
	play(t, other, `
		register s "A x" type=JSON => 409
		check s "A x" type=JSON => not_checked
		config s level=NONE => {level=NONE}
		register s "A x" type=JSON => id 2 v2 new
	`)
}

func withoutFormats(o *registry.Options) { o.Formats = fakeFormats[1:2] }
