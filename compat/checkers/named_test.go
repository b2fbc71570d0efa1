package checkers_test

import (
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat/checkers"
)

// One id names one rule, also among the rule sets of other tools, and each says
// what it is about.
func TestNamedRulesAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range checkers.Named() {
		if seen[r.ID] {
			t.Errorf("%s is two rules", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.Why == "" || r.Fix == "" || !strings.Contains(r.ID, ".") {
			t.Errorf("%+v says too little", r)
		}
	}
	if len(seen) <= len(checkers.Rules()) {
		t.Error("no rule set of another tool is among them")
	}
}
