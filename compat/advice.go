package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Rollout is the order in which both sides of a change may be rolled out.
type Rollout string

// The orders.
const (
	AnyOrder       Rollout = "any"
	ConsumersFirst Rollout = "consumers-first"
	ProducersFirst Rollout = "producers-first"
	NoOrder        Rollout = "none" // no order works
	OpenOrder      Rollout = "open" // not checked
)

// Window says what holds while both versions run.
func (r Rollout) Window() string {
	switch r {
	case AnyOrder:
		return "each side reads what the other writes: roll out in any order, and back again"
	case ConsumersFirst:
		return "new consumers read old and new messages, old consumers cannot read new ones: move every consumer, replays and dead letters included, before the first producer; do not roll a consumer back once a producer has moved"
	case ProducersFirst:
		return "old consumers read old and new messages, new consumers cannot read old ones: move every producer, wait until topics, queues and dead letters hold no old message, then move the consumers; do not roll a producer back once a consumer has moved"
	case NoOrder:
		return "each side refuses, loses or alters something that the other writes: no order works on one topic or queue"
	case OpenOrder:
		return "what each side makes of the other's messages was neither proved nor refuted: take no order for granted"
	}
	return ""
}

// Pass is whether a pair passes under one choice.
type Pass struct {
	Level         string  `json:"level"`
	Policy        string  `json:"policy"`
	VerdictPolicy string  `json:"verdict_policy"`
	Verdict       Verdict `json:"verdict"`
}

// Advice is what a team can do about a pair.
type Advice struct {
	Subject string  `json:"subject"`
	Base    string  `json:"base"`
	Head    string  `json:"head"`
	Passes  []Pass  `json:"passes"` // by level, Confluent's policy and ours
	Rollout Rollout `json:"rollout"`
	Window  string  `json:"window"` // what holds while both versions run
	// Look is what somebody must look at before either side moves: changes that
	// every payload survives and that may cost values or what they stand for. Empty
	// for none.
	Look string `json:"look,omitempty"`
	// Repaired is the new text with the repairs that go together, where the
	// pair then passes under the level asked.
	Repaired string   `json:"repaired,omitempty"`
	Ways     []string `json:"ways"` // what else a team can do, in order
}

// Advise answers q for the newest version of its history, with repairs where
// q.Variant is set, and says under which levels and policies the pair passes, in
// which order both sides may be rolled out, and which ways lead out of a break.
// Without a history there is nothing to advise on: the answer is false.
func Advise(q Question) (Report, Advice, bool) {
	if q.Next == nil || len(q.History) == 0 {
		return Check(q), Advice{}, false
	}
	q.Level, q.History, q.Brief = q.Level.alone(), q.History[:1], false
	old := q.History[0]
	checkers := make([]Checker, len(q.Checkers))
	for i, c := range q.Checkers {
		checkers[i] = c.remembering(old.Schema, q.Next)
	}
	q.Checkers = checkers
	// What the policies take beside the question counts before repairs are tried.
	q.Budget = q.Budget.counted()
	a := Advice{Subject: q.Subject, Base: labelOf(old), Head: q.Label, Passes: []Pass{}, Ways: []string{}}

	ask := q
	ask.Variant, ask.Exceptions, ask.Category = nil, nil, ""
	verdicts := map[Pass]Verdict{}
	for _, level := range []Level{Backward, Forward, Full} {
		for _, policy := range policiesOf(q.Next.Source().Type) {
			for _, verdictPolicy := range []VerdictPolicy{Reference, Sound, Both} {
				ask.Level, ask.Policy, ask.VerdictPolicy = level, policy, verdictPolicy
				p := Pass{Level: level.String(), Policy: policy.String(), VerdictPolicy: verdictPolicy.String()}
				verdict := ask.verdict(old)
				verdicts[p] = verdict
				p.Verdict = verdict
				a.Passes = append(a.Passes, p)
			}
		}
	}
	at := func(l Level) Verdict {
		policy := q.Policy
		if _, known := verdicts[Pass{Level: l.String(), Policy: policy.String(), VerdictPolicy: Both.String()}]; !known {
			policy = Strict
		}
		return verdicts[Pass{Level: l.String(), Policy: policy.String(), VerdictPolicy: Both.String()}]
	}
	report := Check(q)
	a.Rollout = rolloutOf(at(Backward), at(Forward))
	a.Window = a.Rollout.Window()
	if a.Rollout != NoOrder { // where no order works, there is nothing to roll out
		a.Look = q.look(old)
	}
	for _, c := range report.Compared {
		a.Repaired = c.Repaired
	}
	if report.Verdict() == Breaking {
		a.Ways = ways(q.Subject, a.Repaired != "")
	}
	return report, a, true
}

// mostLooks is how many changes are named that somebody must look at.
const mostLooks = 5

// look names the changes that payloads survive and values may not: what they stand
// for is another thing, they lie beyond exact numbers, or they are lost by design,
// as those of a field that has a default under its new name.
func (q Question) look(old Old) string {
	c, ok := checkerFor(q.Checkers, q.Next.Source().Type)
	if !ok || old.Schema == nil || old.Schema.Source().Type != q.Next.Source().Type {
		return ""
	}
	effects, changes, err := truth(c, old.Schema, q.Next, q)
	if err != nil {
		return "" // the rollout says already that nothing was proved
	}
	j := judge{q: q, old: old, checker: c, layers: q.layers(c), c: &Comparison{Effects: effects}}
	var names []string
	n := 0
	for i := range changes {
		change := &changes[i]
		if !slices.ContainsFunc(directions, func(d direction) bool { return j.isRisk(j.hurts(change, d), d) }) {
			continue
		}
		if n++; n <= mostLooks {
			names = append(names, strings.TrimSuffix(change.Rule+" at "+change.Path, " at "))
		}
	}
	if n > mostLooks {
		names = append(names, fmt.Sprintf("%d more", n-mostLooks))
	}
	if n == 0 {
		return ""
	}
	return "somebody must look first, since payloads are read and values may be lost or mean something else: " + strings.Join(names, ", ")
}

// verdict is that of [Check] for one pair, without the findings that lead to it:
// the reference answer refuses where one of its differences does, the truth where
// the whole pair is hurt. Exceptions and categories do not count.
func (q Question) verdict(old Old) Verdict {
	next := q.Next.Source().Type
	c, ok := checkerFor(q.Checkers, next)
	if !ok || c.Reference == nil || old.Schema == nil || old.Schema.Source().Type != next || c.SameWhenEqual && q.Next.Fingerprint() == old.Schema.Fingerprint() {
		return Check(q).Verdict() // which looks no further either
	}
	j := judge{q: q, old: old, checker: c, layers: q.layers(c), c: &Comparison{}}
	var err error
	out := Compatible
	// In the order in which the question is asked, since what was asked is counted.
	for _, d := range []direction{oldReadsNew, newReadsOld} {
		if !d.asked(q.Level) {
			continue
		}
		reader, writer := q.Next, old.Schema
		if d == oldReadsNew {
			reader, writer = writer, reader
		}
		var list []Difference
		if list, err = reference(c, reader, writer, q); err != nil {
			return NotChecked
		}
		if q.VerdictPolicy.countsReference() && slices.ContainsFunc(list, func(d Difference) bool { return !d.Compatible }) {
			out = Breaking
		}
	}
	if !q.VerdictPolicy.countsTruth() || out == Breaking {
		return out
	}
	j.c.Effects, _, _ = truth(c, old.Schema, q.Next, q)
	for _, d := range directions {
		switch whole := j.whole(d); {
		case !d.asked(q.Level):
		case whole.IsHard():
			return Breaking
		case whole.Answer == Unchecked:
			out = NotChecked
		}
	}
	return out
}

// policiesOf lists the policies that make a difference.
func policiesOf(t schemas.Type) []Policy {
	if t == schemas.JSON {
		return []Policy{Strict, Lenient}
	}
	return []Policy{Strict}
}

func rolloutOf(backward, forward Verdict) Rollout {
	switch {
	case backward == Compatible && forward == Compatible:
		return AnyOrder
	case backward == NotChecked || forward == NotChecked:
		return OpenOrder
	case backward == Compatible:
		return ConsumersFirst
	case forward == Compatible:
		return ProducersFirst
	}
	return NoOrder
}

// ways lists the ways out that need no knowledge of the format.
func ways(subject string, repaired bool) (list []string) {
	if repaired {
		list = append(list, "take the repaired schema: with its repairs the pair passes; look at what they change")
	}
	other := "another subject"
	if subject != "" {
		other = fmt.Sprintf("a subject of its own, such as %s-v2", subject)
	}
	return append(list,
		"start anew: register the new schema under "+other+", on a topic or routing key of its own; producers write both until the last old consumer has moved",
		"put a translation step between: it reads the old messages with the old schema and writes them with the new one, or the other way round for consumers that cannot move; neither side then meets the other's schema",
		"end the window in which both versions run before the old one goes: no old message may be left in topics, queues, dead letters or archives that are replayed, and no consumer may still have the old schema",
	)
}

// remembering is c with the answers for one pair kept.
func (c Checker) remembering(old, next schemas.Schema) Checker {
	type question struct {
		reads  direction
		policy Policy
		budget Budget
	}
	type answer struct {
		list []Difference
		err  error
	}
	if c.Reference != nil {
		inner, known := c.Reference, map[question]answer{}
		c.Reference = func(reader, writer schemas.Schema, p Policy, b Budget) ([]Difference, error) {
			var d direction
			switch {
			case reader == next && writer == old:
				d = newReadsOld
			case reader == old && writer == next:
				d = oldReadsNew
			default:
				return inner(reader, writer, p, b)
			}
			at := question{d, p, b}
			a, ok := known[at]
			if !ok {
				a.list, a.err = inner(reader, writer, p, b)
				known[at] = a
			}
			return a.list, a.err
		}
	}
	if c.Truth != nil {
		inner := c.Truth
		var effects map[Layer]Effect
		var changes []Change
		done := false
		c.Truth = func(o, n schemas.Schema, b Budget) (map[Layer]Effect, []Change) {
			if o != old || n != next {
				return inner(o, n, b)
			}
			if !done {
				effects, changes = inner(o, n, b)
				done = true
			}
			return effects, changes
		}
	}
	return c
}
