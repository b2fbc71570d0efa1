package compat_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
)

var outcomes = []compat.Outcome{compat.Reads, compat.Misleads, compat.Rounds, compat.Undecided, compat.Alters, compat.Loses, compat.Refuses}

func TestCombineIsALaw(t *testing.T) {
	t.Parallel()
	for i, a := range outcomes {
		for k, b := range outcomes {
			if want := outcomes[max(i, k)]; a.Combine(b) != want {
				t.Errorf("%v with %v gives %v, want the worse", a, b, a.Combine(b))
			}
			for _, c := range outcomes {
				if a.Combine(b).Combine(c) != a.Combine(b.Combine(c)) {
					t.Errorf("%v, %v, %v: the order matters", a, b, c)
				}
			}
		}
	}
}

func TestWholeCountsHardKindsOnly(t *testing.T) {
	t.Parallel()
	for _, o := range outcomes {
		want := o
		if o == compat.Misleads || o == compat.Rounds {
			want = compat.Reads
		}
		if got := o.Whole(); got != want {
			t.Errorf("%v: got %v, want %v", o, got, want)
		}
	}
}

// TestPairsFixpoint: a and b lean on each other and b breaks late. A guess that
// is kept would leave the pair that was met while it was open safe.
func TestPairsFixpoint(t *testing.T) {
	t.Parallel()
	edges := map[string][]string{"root": {"a"}, "a": {"b", "bad"}, "b": {"c", "a"}, "c": {"b"}, "bad": nil}
	p := compat.NewPairs[string](compat.Budget{}.Meter())
	var visit func(n string) compat.Outcome
	visit = func(n string) compat.Outcome {
		return p.Of(n, func() compat.Outcome {
			out := compat.Reads
			if n == "bad" {
				out = compat.Refuses
			}
			for _, next := range edges[n] {
				out = out.Combine(visit(next))
			}
			return out
		})
	}
	if got := p.Run(func() compat.Outcome { return visit("root") }); got != compat.Refuses {
		t.Errorf("root is %v", got)
	}
	for _, n := range []string{"a", "b", "c"} {
		if got := p.Known(n); got != compat.Refuses {
			t.Errorf("%s is %v: a guess outlived its circle", n, got)
		}
	}
}

func TestPairsCircleIsSafe(t *testing.T) {
	t.Parallel()
	p := compat.NewPairs[int](compat.Budget{}.Meter())
	var visit func(n int) compat.Outcome
	visit = func(n int) compat.Outcome {
		return p.Of(n, func() compat.Outcome { return visit((n + 1) % 5) })
	}
	if got := p.Run(func() compat.Outcome { return visit(0) }); got != compat.Reads {
		t.Errorf("got %v", got)
	}
}

func TestPairsBudget(t *testing.T) {
	t.Parallel()
	m := compat.Budget{Steps: 10}.Meter()
	p := compat.NewPairs[int](m)
	var visit func(n int) compat.Outcome
	visit = func(n int) compat.Outcome {
		return p.Of(n, func() compat.Outcome { return visit(n + 1) })
	}
	if got := p.Run(func() compat.Outcome { return visit(0) }); got != compat.Undecided {
		t.Errorf("got %v", got)
	}
	if !m.Spent() || !errors.Is(m.Err(), compat.ErrNotChecked) || m.Spend(0) {
		t.Errorf("the meter says spent %t, %v", m.Spent(), m.Err())
	}
}

func TestParseNames(t *testing.T) {
	t.Parallel()
	for l := compat.None; l <= compat.FullTransitive; l++ {
		if got, err := compat.ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("%s: got %v, %v", l, got, err)
		}
	}
	if got, err := compat.ParseLevel("full_transitive"); err != nil || got != compat.FullTransitive {
		t.Errorf("got %v, %v", got, err)
	}
	for _, p := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
		if got, err := compat.ParseVerdictPolicy(p.String()); err != nil || got != p {
			t.Errorf("%s: got %v, %v", p, got, err)
		}
	}
	for text, want := range map[string]compat.Policy{"strict": compat.Strict, "LENIENT": compat.Lenient, "Logical": compat.Strict} {
		if got, err := compat.ParsePolicy(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	if _, err := compat.ParseLevel("SIDEWAYS"); err == nil {
		t.Error("SIDEWAYS is a level")
	}
	if _, err := compat.ParseVerdictPolicy(""); err == nil {
		t.Error("the empty text is a verdict policy")
	}
	if _, err := compat.ParsePolicy("X"); err == nil {
		t.Error("X is a policy")
	}
}

func TestParseExample(t *testing.T) {
	t.Parallel()
	got := compat.ParseExample("# a title\n\nbecause of\nthis\n\nand that\n\nfix: do\nso\n-- old --\n1\n2\n-- new --\n3\n-- witness --\n-- near --\n4\n")
	want := compat.Example{Title: "a title", Why: "because of this and that", Fix: "do so", Old: "1\n2\n", New: "3\n", Near: "4\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := compat.ParseExample("no sections"); got.Title != "no sections" || got.Old != "" {
		t.Errorf("got %+v", got)
	}
}
