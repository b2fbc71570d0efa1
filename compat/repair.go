package compat

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Edit replaces the bytes from Start up to End of a text. Where they are the
// same it inserts.
type Edit struct {
	Start, End int
	Text       string
}

// Patch is a checker's proposal of how a change may be made without its harm.
// Nothing is claimed of it: [Check] reads the patched text and compares it, and
// shows it only if it helps.
type Patch struct {
	// Text is what the patch does, one clause in the imperative: "give field
	// age the default null".
	Text string
	// First tells that the edits are those of the old text: the patched old
	// schema is a step to be rolled out before the new one, which stays as it is.
	First bool
	Edits []Edit
	// Reference, where it is not empty, is the name by which the new schema refers
	// to another, and the edits are those of that one's text, which is Base.
	Reference, Base string
}

// Repair is a way out of a break that was checked: with it the finding is gone,
// or no longer breaks, and nothing else is worse.
type Repair struct {
	Text   string `json:"text"`
	Schema string `json:"schema"` // the whole text
	// Reference is empty where Schema stands for the new schema; else it stands for
	// what the new schema refers to by that name.
	Reference string `json:"reference,omitempty"`
	// First tells that Schema is a step to register and roll out before the
	// new schema, not a replacement of it.
	First bool `json:"first"`
	// Whole tells that with this repair alone the pair passes.
	Whole bool `json:"whole"`
}

const (
	// mostTries bounds the variants that are read and compared for one pair, and
	// mostTried about the bytes that are read for them: long texts get fewer. One
	// try more is that of all repairs at once.
	mostTries = 32
	mostTried = 1 << 20
	// mostAsked bounds, in bytes of both texts, how often a checker is asked for
	// proposals: each time it may read them.
	mostAsked = 4 << 20
	// mostRepairs is how many one finding shows.
	mostRepairs = 3
)

// mending tries the patches of one pair.
type mending struct {
	j     *judge
	q     Question
	tries int
	bytes int
	asks  int
	rest  int                 // of the budget, in steps, when the first try began
	bad   map[string]Severity // what the pair's own findings are about
}

// mend gives the findings of changes their repairs, and the comparison the text
// with the nearest repair of each break, if the pair passes with that. Findings must still stand in the order
// of the changes.
func (j *judge) mend() {
	if j.q.Variant == nil || j.checker.Repair == nil {
		return
	}
	size := 1 + len(j.old.Schema.Source().Text) + len(j.q.Next.Source().Text)
	m := mending{j: j, q: j.q, tries: min(mostTried/size, mostTries), bytes: 2 * mostTried, asks: mostAsked / size, bad: map[string]Severity{}}
	if m.tries == 1 {
		m.tries = 0 // the one that is left is for all repairs together
	}
	m.q.Variant, m.q.Exceptions, m.q.Brief = nil, nil, true
	m.q.Level, m.q.History = j.q.Level.alone(), nil
	// All tries together may take no more than the comparison left of one budget.
	rest, ok := j.q.Budget.rest()
	if !ok {
		return
	}
	m.rest = rest.Steps
	m.q.Budget = rest.Part(2 * max(m.tries, 1))
	for _, f := range j.c.Findings {
		if f.Severity != Note {
			m.bad[aboutWhat(f)] = f.Severity
		}
	}
	var all []Edit
	for i, change := range j.c.Changes {
		f := &j.c.Findings[i]
		if f.Severity == Note {
			continue
		}
		taken := f.Severity != SeverityBreaking
		for _, p := range m.proposals(change) {
			// What comes behind the last try is tried with all others together.
			if m.tries > 0 {
				r, ok := m.try(p, *f)
				if !ok {
					continue
				}
				f.Repairs = append(f.Repairs, r)
			}
			if !taken && !p.First && p.Reference == "" && !overlap(all, p.Edits) {
				taken = true
				all = append(all, p.Edits...)
			}
			if len(f.Repairs) == mostRepairs {
				break
			}
		}
		if len(f.Repairs) > 0 {
			f.Fix = f.Repairs[0].Text
		}
	}
	if len(all) > 0 {
		m.together(all)
	}
}

func (m *mending) proposals(c Change) (list []Patch) {
	if m.asks--; m.asks < 0 {
		return nil
	}
	defer func() {
		if recover() != nil {
			list = nil // a proposal that cannot be made is none
		}
	}()
	level := m.j.q.Level
	return m.j.checker.Repair(m.j.old.Schema, m.j.q.Next, c, level.AsksBackward(), level.AsksForward())
}

// together tries all edits at once.
func (m *mending) together(edits []Edit) {
	text, ok := apply(m.j.q.Next.Source().Text, edits)
	if !ok {
		return
	}
	m.tries, m.bytes, m.q.Budget.Steps = 1, math.MaxInt, m.rest
	next, ok := m.variant(m.j.q.Next, "", text)
	if !ok {
		return
	}
	if c := m.compare(m.j.old, next); c.Verdict == Compatible {
		m.j.c.Repaired = text
	}
}

// try reads and compares one patch. It holds when f is gone, or a mere risk where
// it broke, nothing breaks that
// did not break before, and everything could be compared.
func (m *mending) try(p Patch, f Finding) (Repair, bool) {
	of := m.j.q.Next
	if p.First {
		if m.j.q.Level.IsTransitive() {
			return Repair{}, false // the new schema would still be compared with the old one
		}
		of = m.j.old.Schema
	}
	base := of.Source().Text
	if p.Reference != "" {
		base = p.Base
	}
	text, ok := apply(base, p.Edits)
	if !ok {
		return Repair{}, false
	}
	variant, ok := m.variant(of, p.Reference, text)
	if !ok {
		return Repair{}, false
	}
	next, old := variant, m.j.old
	if p.First {
		if m.compare(m.j.old, variant).Verdict != Compatible {
			return Repair{}, false
		}
		next, old.Schema = m.j.q.Next, variant
	}
	c := m.compare(old, next)
	if c.Verdict == NotChecked {
		return Repair{}, false
	}
	for _, left := range c.Findings {
		switch before, known := m.bad[aboutWhat(left)]; {
		case left.Severity == Note:
		case aboutWhat(left) == aboutWhat(f):
			if left.Severity.rank() <= f.Severity.rank() {
				return Repair{}, false // it is still there
			}
		case left.Severity == SeverityBreaking && (!known || before != SeverityBreaking),
			f.Severity == Risk && !known:
			return Repair{}, false // another took its place
		}
	}
	return Repair{Text: p.Text, Schema: text, Reference: p.Reference, First: p.First, Whole: c.Verdict == Compatible}, true
}

// variant reads a text in the place of a schema, or of what it refers to.
func (m *mending) variant(of schemas.Schema, reference, text string) (schema schemas.Schema, ok bool) {
	size := len(m.j.old.Schema.Source().Text) + len(text)
	if m.tries == 0 || m.bytes < size {
		m.tries = 0
		return nil, false
	}
	m.tries--
	m.bytes -= size
	var err error
	switch {
	case reference == "":
		schema, err = m.j.q.Variant(of, text)
	case m.j.checker.Within != nil:
		schema, err = m.j.checker.Within(of, reference, text)
	}
	return schema, err == nil && schema != nil
}

func (m *mending) compare(old Old, next schemas.Schema) Comparison {
	q := m.q
	q.Next = next
	c, _ := compare(q, old)
	return c
}

// aboutWhat tells what a finding is about, whatever the values are now.
func aboutWhat(f Finding) string { return f.Rule + "\x00" + f.Path }

// overlap tells whether edits could not be made beside those that are planned.
func overlap(planned, edits []Edit) bool {
	return slices.ContainsFunc(planned, func(p Edit) bool {
		return slices.ContainsFunc(edits, func(e Edit) bool { return e.Start < p.End && p.Start < e.End })
	})
}

// apply makes the edits of a text. Insertions at one place stand in the order
// given. ok is false for edits that overlap or lie outside.
func apply(text string, edits []Edit) (out string, ok bool) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(text) {
			return "", false
		}
		b.WriteString(text[at:e.Start])
		b.WriteString(e.Text)
		at = e.End
	}
	b.WriteString(text[at:])
	return b.String(), len(edits) > 0
}
