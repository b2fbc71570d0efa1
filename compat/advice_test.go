package compat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

func effect(newReadsOld, oldReadsNew compat.Outcome) compat.Effect {
	return compat.Effect{NewReadsOld: newReadsOld, OldReadsNew: oldReadsNew}
}

// The order of a rollout follows from what each side reads.
func TestAdviseRollout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effect compat.Effect
		want   compat.Rollout
		passes string // BACKWARD, FORWARD and FULL under SOUND
	}{
		{effect(compat.Reads, compat.Reads), compat.AnyOrder, "compatible compatible compatible"},
		{effect(compat.Reads, compat.Refuses), compat.ConsumersFirst, "compatible breaking breaking"},
		{effect(compat.Alters, compat.Reads), compat.ProducersFirst, "breaking compatible breaking"},
		{effect(compat.Refuses, compat.Refuses), compat.NoOrder, "breaking breaking breaking"},
		{effect(compat.Undecided, compat.Reads), compat.OpenOrder, "not_checked compatible not_checked"},
	} {
		s := &script{effects: map[string]compat.Effect{"a>b": c.effect}}
		q := s.ask(compat.BackwardTransitive, "b", "a", "older")
		report, advice, ok := compat.Advise(q)
		if !ok || advice.Rollout != c.want || advice.Window == "" || len(report.Compared) != 1 {
			t.Errorf("%+v: %q, %t, %d compared, want %q", c.effect, advice.Rollout, ok, len(report.Compared), c.want)
		}
		var passes []string
		for _, p := range advice.Passes {
			if p.VerdictPolicy == "SOUND" {
				passes = append(passes, string(p.Verdict))
			}
		}
		if got := strings.Join(passes, " "); got != c.passes {
			t.Errorf("%+v passes %s, want %s", c.effect, got, c.passes)
		}
		if n := len(s.asked); n != 2 {
			t.Errorf("the checker was asked %d times, want once a direction", n)
		}
	}
	if _, _, ok := compat.Advise((&script{}).ask(compat.Full, "b")); ok {
		t.Error("advises on a pair without an old side")
	}
}

// What no payload shows to be harmless is looked at by somebody before anything
// is rolled out, in any order that would do for the data.
func TestAdviseLooksBeforeItRollsOut(t *testing.T) {
	t.Parallel()
	change := func(rule string, backward, forward compat.Outcome) compat.Change {
		return compat.Change{Rule: rule, Path: "R." + rule, Old: place("/x", 0), New: place("/x", 0), Effects: compat.OnData(backward, forward)}
	}
	for name, c := range map[string]struct {
		changes []compat.Change
		whole   compat.Effect
		rollout compat.Rollout
		want    string
	}{
		"nothing":      {nil, effect(compat.Reads, compat.Reads), compat.AnyOrder, ""},
		"both read":    {[]compat.Change{change("a", compat.Reads, compat.Reads)}, effect(compat.Reads, compat.Reads), compat.AnyOrder, ""},
		"meaning":      {[]compat.Change{change("a", compat.Misleads, compat.Reads)}, effect(compat.Misleads, compat.Reads), compat.AnyOrder, "mean something else: a at R.a"},
		"other way":    {[]compat.Change{change("a", compat.Reads, compat.Rounds)}, effect(compat.Reads, compat.Rounds), compat.AnyOrder, "mean something else: a at R.a"},
		"lost":         {[]compat.Change{change("a", compat.Loses, compat.Reads)}, effect(compat.Reads, compat.Reads), compat.AnyOrder, "may be lost or mean something else: a at R.a"},
		"not shared":   {[]compat.Change{change("a", compat.Refuses, compat.Reads)}, effect(compat.Reads, compat.Reads), compat.AnyOrder, ""},
		"the break":    {[]compat.Change{change("a", compat.Reads, compat.Alters)}, effect(compat.Reads, compat.Alters), compat.ConsumersFirst, ""},
		"beside break": {[]compat.Change{change("a", compat.Reads, compat.Refuses), change("b", compat.Misleads, compat.Misleads)}, effect(compat.Reads, compat.Refuses), compat.ConsumersFirst, "something else: b at R.b"},
		"no order":     {[]compat.Change{change("a", compat.Refuses, compat.Refuses), change("b", compat.Misleads, compat.Misleads)}, effect(compat.Refuses, compat.Refuses), compat.NoOrder, ""},
		"many":         {slices.Repeat([]compat.Change{change("a", compat.Misleads, compat.Reads)}, 7), effect(compat.Misleads, compat.Reads), compat.AnyOrder, "a at R.a, a at R.a, a at R.a, a at R.a, a at R.a, 2 more"},
	} {
		s := &script{changes: map[string][]compat.Change{"a>b": c.changes}, effects: map[string]compat.Effect{"a>b": c.whole}}
		_, advice, ok := compat.Advise(s.ask(compat.Backward, "b", "a"))
		if !ok || advice.Rollout != c.rollout || !strings.HasSuffix(advice.Look, c.want) || (c.want == "") != (advice.Look == "") {
			t.Errorf("%s: rollout %q, look %q, want %q and %q", name, advice.Rollout, advice.Look, c.rollout, c.want)
		}
	}
}

// A break is told with its ways out; what passes needs none.
func TestAdviseWays(t *testing.T) {
	t.Parallel()
	s := &script{reference: map[string][]compat.Difference{"b<a": {missing("/x")}}}
	_, advice, _ := compat.Advise(s.ask(compat.Backward, "b", "a"))
	if len(advice.Ways) != 3 || !strings.Contains(advice.Ways[0], "orders-v2") || !strings.Contains(strings.Join(advice.Ways, " "), "translation") {
		t.Errorf("%q", advice.Ways)
	}
	_, advice, _ = compat.Advise(s.ask(compat.Forward, "b", "a"))
	if len(advice.Ways) != 0 {
		t.Errorf("a pair that passes needs a way out: %q", advice.Ways)
	}
}

// mendable is a pair that one difference and one change break, with a checker
// that proposes patches.
func mendable(proposed ...compat.Patch) (*script, compat.Question) {
	s := &script{
		reference: map[string][]compat.Difference{"bad<old": {{Type: "MISSING", Path: "/x", Reader: place("/x", 0), Writer: place("/x", 0)}}},
		changes:   map[string][]compat.Change{},
	}
	broken := compat.Change{Rule: "avro.gone", Path: "R.x", Text: "x is gone", Old: place("/x", 0), New: place("/x", 0), Effects: compat.OnData(compat.Refuses, compat.Reads)}
	s.changes["old>bad"] = []compat.Change{broken}
	q := s.ask(compat.Backward, "bad", "old")
	q.Checkers[0].Repair = func(_, _ schemas.Schema, c compat.Change, backward, forward bool) []compat.Patch {
		if c.Rule != "avro.gone" || !backward || forward {
			return nil
		}
		return proposed
	}
	q.Variant = func(_ schemas.Schema, text string) (schemas.Schema, error) {
		if strings.Contains(text, "!") {
			return nil, errors.New("! is no schema")
		}
		return avro(text), nil
	}
	return s, q
}

func all(text string) []compat.Edit { return []compat.Edit{{Start: 0, End: 3, Text: text}} }

// A patch is shown only when the patched schema was read, was compared, and is
// better.
func TestRepairsAreChecked(t *testing.T) {
	t.Parallel()
	s, q := mendable(
		compat.Patch{Text: "is no schema", Edits: all("!")},
		compat.Patch{Text: "changes nothing"},
		compat.Patch{Text: "lies outside", Edits: []compat.Edit{{Start: 2, End: 9}}},
		compat.Patch{Text: "overlaps itself", Edits: []compat.Edit{{Start: 0, End: 2}, {Start: 1, End: 3}}},
		compat.Patch{Text: "leaves the break", Edits: all("still")},
		compat.Patch{Text: "breaks another thing", Edits: all("worse")},
		compat.Patch{Text: "cannot be compared", Edits: all("unknown")},
		compat.Patch{Text: "helps", Edits: all("good")},
		compat.Patch{Text: "is a step", First: true, Edits: all("step")},
		compat.Patch{Text: "is a step that does not pass", First: true, Edits: all("trip")},
	)
	s.changes["old>still"] = s.changes["old>bad"]
	for _, next := range []string{"still<old", "worse<old", "trip<old"} {
		s.reference[next] = s.reference["bad<old"]
	}
	s.failing = map[string]error{"unknown<old": compat.ErrNotChecked}
	report := compat.Check(q)
	f := report.Compared[0].Findings[0]
	want := []compat.Repair{{Text: "helps", Schema: "good", Whole: true}, {Text: "is a step", Schema: "step", First: true, Whole: true}}
	if report.Compatible || !slices.Equal(f.Repairs, want) {
		t.Errorf("got %+v, want %+v", f.Repairs, want)
	}
	if f.Fix != "helps" {
		t.Errorf("the fix is %q", f.Fix)
	}
	if got := report.Compared[0].Repaired; got != "good" {
		t.Errorf("the repaired text is %q", got)
	}

	q.Level = compat.BackwardTransitive
	for _, r := range compat.Check(q).Compared[0].Findings[0].Repairs {
		if r.First {
			t.Error("a step is proposed where the new schema is still compared with the old one")
		}
	}
	q.Variant = nil
	if r := compat.Check(q); len(r.Compared[0].Findings[0].Repairs) > 0 {
		t.Error("repairs are there that nobody asked for")
	}
}

// A checker that panics while it proposes costs the proposals, not the verdict.
func TestRepairPanics(t *testing.T) {
	t.Parallel()
	_, q := mendable()
	q.Checkers[0].Repair = func(_, _ schemas.Schema, _ compat.Change, _, _ bool) []compat.Patch { panic("no") }
	if r := compat.Check(q); r.Verdict() != compat.Breaking || len(r.Compared[0].Findings[0].Repairs) > 0 {
		t.Errorf("%+v", r)
	}
}

// However many patches are proposed, only so many are tried.
func TestRepairsAreBounded(t *testing.T) {
	t.Parallel()
	_, q := mendable(slices.Repeat([]compat.Patch{{Text: "is no schema", Edits: all("!")}}, 1000)...)
	tried := 0
	q.Variant = func(schemas.Schema, string) (schemas.Schema, error) {
		tried++
		return nil, errors.New("no")
	}
	compat.Check(q)
	if tried == 0 || tried > 33 {
		t.Errorf("%d variants were read", tried)
	}
	tried, q.VerdictPolicy = 0, compat.Sound
	next := "bad" + strings.Repeat(" ", 1<<20)
	q.Next = avro(next)
	s := &script{changes: map[string][]compat.Change{"old>" + next: {{Rule: "avro.gone", Path: "R.x", Text: "x", Effects: compat.OnData(compat.Refuses, compat.Reads)}}}, effects: map[string]compat.Effect{"old>" + next: effect(compat.Refuses, compat.Reads)}}
	repair := q.Checkers[0].Repair
	q.Checkers = []compat.Checker{s.checker()}
	q.Checkers[0].Repair = repair
	compat.Check(q)
	if tried == 0 || tried > 2 { // one, and all at once
		t.Errorf("%d variants of a megabyte were read", tried)
	}
}

// Repairs get what the comparison left of one budget, and all tries share it.
func TestRepairsShareTheBudget(t *testing.T) {
	t.Parallel()
	const budget = 1_000
	for _, spends := range []int{10, 400, 900, 999, 1_000, 3_000} {
		s, q := mendable(slices.Repeat([]compat.Patch{{Text: "leaves the break", Edits: all("still")}}, 8)...)
		s.changes["old>still"] = s.changes["old>bad"]
		s.reference["still<old"] = s.reference["bad<old"]
		q.Budget = compat.Budget{Steps: budget}
		tries, taken := 0, 0
		inner := q.Checkers[0].Reference
		q.Checkers[0].Reference = func(reader, writer schemas.Schema, p compat.Policy, b compat.Budget) ([]compat.Difference, error) {
			if reader.Source().Text == "bad" {
				for range (spends + budget - 1) / budget { // by more meters than one
					b.Meter().Spend(min(spends, budget))
				}
				return inner(reader, writer, p, b)
			}
			tries++
			for m := b.Meter(); m.Spend(1); {
				taken++
			}
			return nil, compat.ErrNotChecked
		}
		if r := compat.Check(q); r.Verdict() != compat.Breaking {
			t.Fatalf("%d steps: %s", spends, r.Verdict())
		}
		if left := max(budget-spends, 0); taken > left || left == 0 && tries > 0 || left > 100 && taken == 0 {
			t.Errorf("after %d steps %d tries took %d, and %d were left", spends, tries, taken, left)
		}
	}
}
