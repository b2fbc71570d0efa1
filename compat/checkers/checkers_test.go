package checkers_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func TestEveryFormatHasAChecker(t *testing.T) {
	t.Parallel()
	all := checkers.All()
	seen := map[string]bool{}
	for _, c := range all {
		if seen[string(c.Format)] {
			t.Errorf("%s has two checkers", c.Format)
		}
		seen[string(c.Format)] = true
		if c.Reference == nil {
			t.Errorf("%s: nothing answers as the reference registry", c.Format)
		}
	}
	for _, f := range formats.All {
		if !seen[string(f.Type)] {
			t.Errorf("%s has no checker", f.Type)
		}
	}
	if len(all) != len(formats.All) {
		t.Errorf("%d checkers for %d formats", len(all), len(formats.All))
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, r := range checkers.Rules() {
		for _, id := range append([]string{r.ID}, r.Was...) {
			if ids[id] {
				t.Errorf("%s is the id of two rules", id)
			}
			ids[id] = true
			if got, ok := checkers.ByID(id); !ok || got.ID != r.ID {
				t.Errorf("%s finds %q, %t", id, got.ID, ok)
			}
		}
		if r.Title == "" || r.Why == "" || r.Fix == "" {
			t.Errorf("%s does not say what it is, why it matters and what to do", r.ID)
		}
		if !strings.Contains(r.ID, ".") {
			t.Errorf("%s has no prefix", r.ID)
		}
	}
	if len(ids) < 50 {
		t.Errorf("only %d rules", len(ids))
	}
	if _, ok := checkers.ByID("avro.no-such-rule"); ok {
		t.Error("a rule that does not exist is found")
	}
}
