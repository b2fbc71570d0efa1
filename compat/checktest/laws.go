package checktest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Generator makes a pair of schema texts of about the size given, from 1. The
// same random numbers give the same pair.
type Generator func(r *rand.Rand, size int) (old, next string)

const (
	generatedPairs = 200
	generatedSize  = 12
	// failures holds pairs that once broke a law; every run tries them again.
	failures = "testdata/failures"
)

// laws holds generated pairs, pairs of examples and former failures to the laws
// that need no expectation.
func (s suite) laws(t *testing.T, generate Generator) {
	var pool []string
	for _, r := range s.checker.Rules {
		pool = append(pool, r.Old, r.New, r.Near)
		if law, text := s.broken(r.Old, r.New); law != "" {
			t.Errorf("the example of %s breaks %s: %s", r.ID, law, text)
		}
	}
	former, err := filepath.Glob(failures + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range former {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		e := compat.ParseExample(string(text))
		if law, text := s.broken(e.Old, e.New); law != "" {
			t.Errorf("%s breaks %s again: %s", name, law, text)
		}
	}
	// An ordinary run is the same everywhere; a hunt draws anew.
	seed := uint64(1)
	if os.Getenv("CARTORIO_HUNT") != "" {
		seed = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range generatedPairs {
		if len(pool) == 0 {
			break
		}
		s.hold(t, seed, pool[r.IntN(len(pool))], pool[r.IntN(len(pool))])
	}
	if generate == nil {
		return
	}
	for i := range uint64(generatedPairs) {
		old, next := generate(rand.New(rand.NewPCG(seed, i+1)), generatedSize)
		law, text := s.broken(old, next)
		if law == "" {
			continue
		}
		// A smaller pair that breaks the same law says more.
		for size := 1; size < generatedSize; size++ {
			if o, n, ok := s.smaller(generate, seed, size, law); ok {
				old, next = o, n
				_, text = s.broken(o, n)
				break
			}
		}
		s.fail(t, seed, law, text, old, next)
		return
	}
}

func (s suite) smaller(generate Generator, seed uint64, size int, law string) (old, next string, ok bool) {
	for i := range uint64(300) {
		old, next := generate(rand.New(rand.NewPCG(seed^uint64(size)<<32, i)), size)
		if got, _ := s.broken(old, next); got == law {
			return old, next, true
		}
	}
	return "", "", false
}

func (s suite) hold(t *testing.T, seed uint64, old, next string) {
	t.Helper()
	if law, text := s.broken(old, next); law != "" {
		s.fail(t, seed, law, text, old, next)
	}
}

// fail reports a broken law and keeps the pair for the runs to come.
func (s suite) fail(t *testing.T, seed uint64, law, text, old, next string) {
	t.Helper()
	name := fmt.Sprintf("%s/%s-%x.txtar", failures, law, seed)
	kept := "kept as " + name
	if err := os.MkdirAll(failures, 0o755); err != nil {
		kept = err.Error()
	} else if err := os.WriteFile(name, fmt.Appendf(nil, "# breaks %s\n-- old --\n%s\n-- new --\n%s\n", law, strings.TrimSpace(old), strings.TrimSpace(next)), 0o644); err != nil {
		kept = err.Error()
	}
	t.Errorf("seed %d breaks %s (%s): %s\nold: %s\nnew: %s", seed, law, kept, text, old, next)
}

// Broken names the first law that a pair of texts breaks, and how; "parse" where
// a text is no schema, and empty where every law holds. Fuzz targets call it.
func Broken(format schemas.Format, checker compat.Checker, old, next string) (law, text string) {
	return suite{format: format, checker: checker}.broken(old, next)
}

func (s suite) broken(oldText, newText string) (law, text string) {
	old, err := s.parse(oldText)
	if err != nil {
		return "parse", fmt.Sprintf("old: %v", err)
	}
	next, err := s.parse(newText)
	if err != nil {
		return "parse", fmt.Sprintf("new: %v", err)
	}
	for _, schema := range []schemas.Schema{old, next} {
		if _, changes := s.checker.Truth(schema, schema, compat.Budget{}); len(changes) > 0 {
			return "identity", "a schema differs from itself: " + names(changes)
		}
		normal, references := schema.Normalized()
		if len(references) > 0 {
			continue
		}
		twin, err := s.parse(normal)
		if err != nil {
			continue // the normalized form is for identity; not every one reads back
		}
		if again, _ := twin.Normalized(); again != normal {
			continue
		}
		if _, changes := s.checker.Truth(schema, twin, compat.Budget{}); len(changes) > 0 {
			return "canon", "a schema differs from its normalized form: " + names(changes)
		}
	}
	effects, changes := s.checker.Truth(old, next, compat.Budget{})
	mirrored, back := s.checker.Truth(next, old, compat.Budget{})
	if text := s.swapped(changes, back); text != "" {
		return "swap", text
	}
	for layer, e := range effects {
		if mirrored[layer] != e.Mirror() {
			return "swap", fmt.Sprintf("the whole is %s, and of the swapped pair %s", describe(e), describe(mirrored[layer]))
		}
	}
	if text := s.allowed(changes); text != "" {
		return "effect", text
	}
	return s.blamed(effects, changes)
}

// swapped compares what a pair reports with what the swapped pair does.
func (s suite) swapped(changes, back []compat.Change) string {
	line := func(rule string, old, next schemas.Place, effects map[compat.Layer]compat.Effect) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%s at %s and %s:", rule, old.Pointer, next.Pointer)
		for _, layer := range []compat.Layer{compat.Data, compat.Wire, compat.JSONMapping, compat.SourceCode} {
			if e, ok := effects[layer]; ok {
				fmt.Fprintf(&b, " %s: %s", layer, describe(e))
			}
		}
		return b.String()
	}
	var want, got []string
	for _, c := range changes {
		rule, _ := compat.RuleByID(s.checker.Rules, c.Rule)
		effects := map[compat.Layer]compat.Effect{}
		for layer, e := range c.Effects {
			effects[layer] = e.Mirror()
		}
		want = append(want, line(rule.Mirror, c.New, c.Old, effects))
	}
	for _, c := range back {
		got = append(got, line(c.Rule, c.Old, c.New, c.Effects))
	}
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return ""
	}
	return fmt.Sprintf("mirrored, the pair gives\n  %s\nthe swapped pair gives\n  %s", strings.Join(want, "\n  "), strings.Join(got, "\n  "))
}

func (s suite) allowed(changes []compat.Change) string {
	for _, c := range changes {
		rule, ok := compat.RuleByID(s.checker.Rules, c.Rule)
		if !ok {
			return c.Rule + " is no rule of the checker"
		}
		for layer, e := range c.Effects {
			if !slices.ContainsFunc(rule.May, func(may compat.Effect) bool {
				return weaker(e.NewReadsOld, may.NewReadsOld) && weaker(e.OldReadsNew, may.OldReadsNew)
			}) {
				return fmt.Sprintf("%s at %s: the effect on %s is %s, which the rule may not have", c.Rule, c.Path, layer, describe(e))
			}
		}
	}
	return ""
}

// weaker: where a change stands in a place that one side never reads, it hurts
// less than it may, never more.
func weaker(got, may compat.Outcome) bool { return got == may || got == compat.Reads }

// blamed: a pair that breaks has a change that breaks in the same direction, or
// nobody could tell its author what to do.
func (s suite) blamed(effects map[compat.Layer]compat.Effect, changes []compat.Change) (law, text string) {
	for layer, whole := range effects {
		for d, pick := range []func(compat.Effect) compat.Outcome{
			func(e compat.Effect) compat.Outcome { return e.NewReadsOld },
			func(e compat.Effect) compat.Outcome { return e.OldReadsNew },
		} {
			if !pick(whole).IsHard() {
				continue
			}
			if !slices.ContainsFunc(changes, func(c compat.Change) bool { return pick(c.Effects[layer]).IsHard() }) {
				return "blame", fmt.Sprintf("%s on %s breaks, and no change does: %s", direction(d), layer, names(changes))
			}
		}
	}
	return "", ""
}
