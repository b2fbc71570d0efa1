package compat

import (
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Old is one version of a history.
type Old struct {
	Label   string // "3", or a file name
	Version schemas.Version
	Schema  schemas.Schema
}

// Question asks whether next may follow a history.
type Question struct {
	Checkers []Checker
	Subject  string
	// Identity is what fingerprints name the subject by, Subject when empty: it is
	// the same from wherever a file was named. Also is another name, by which
	// exceptions may have it; empty for none.
	Identity, Also string
	Label          string // of Next, for people: a file name; may be empty
	Level          Level
	Policy         Policy
	VerdictPolicy  VerdictPolicy
	Layers         []Layer // which must hold under SOUND and BOTH; nil means the checker's own
	Category       string  // replaces level and policies where the format has rule sets; empty for none
	Next           schemas.Schema
	History        []Old // newest first; a level that is not transitive looks at the first only
	Budget         Budget

	Exceptions []Exception
	At         time.Time // the moment at which exceptions are judged

	ValidateFields bool // told in the messages, changes nothing

	// Brief asks for verdict, messages, and of the findings for all but the witness
	// and, without exceptions to be matched, the fingerprint. It changes no answer.
	Brief bool

	// Variant reads a text in the place of one of the question's schemas, with
	// that schema's references. Nil asks for no repairs.
	Variant func(of schemas.Schema, text string) (schemas.Schema, error)
}

// Verdict is the answer for one compared version, for all, or for a document.
type Verdict string

// The verdicts, as the findings document spells them.
const (
	Compatible Verdict = "compatible"
	Breaking   Verdict = "breaking"
	NotChecked Verdict = "not_checked"
	// NothingCompared is a document's: no schema of the run had one to be compared
	// with. It refuses nothing, and is not called compatible.
	NothingCompared Verdict = "nothing_compared"
)

// Comparison is what is known about next and one version of the history.
type Comparison struct {
	Old Old
	// OneSided tells that a schema stands on one side only: there is something to
	// be told, and nothing was compared.
	OneSided bool
	Verdict  Verdict
	// Reason says why the verdict is NotChecked; empty otherwise. Faults say it
	// with places, where whoever read the texts knows them.
	Reason string
	Faults []Fault
	// Backward holds the peer's differences for new reads old, Forward for old
	// reads new; nil when the level does not ask.
	Backward, Forward []Difference
	// Effects are the whole pair's, Changes what is different in it.
	Effects  map[Layer]Effect
	Changes  []Change
	Findings []Finding // the breaking ones first, then risks, then notes
	// Repaired is the new text with the repairs that go together, where the
	// pair passes with it; empty otherwise.
	Repaired string
}

// Report is the answer to a Question.
type Report struct {
	Subject       string
	Label         string // of the new side
	Format        schemas.Type
	Level         Level
	Policy        Policy
	VerdictPolicy VerdictPolicy
	Category      string // that replaced level and policies; empty for none

	Compatible bool
	NotChecked bool // not compatible for lack of an answer
	// Messages are the peer's objects as text, in the peer's order; empty when
	// compatible.
	Messages []string
	Risks    int // findings of severity risk in all that was compared
	// Compared are the versions looked at, newest first. A transitive level
	// stops at the first that fails, as the peer does.
	Compared []Comparison
}

// Verdict is Compatible, Breaking or NotChecked.
func (r Report) Verdict() Verdict {
	switch {
	case r.Compatible:
		return Compatible
	case r.NotChecked:
		return NotChecked
	}
	return Breaking
}

// Check answers q. Level NONE and an empty history are compatible with nothing
// compared. It never panics: a checker that does leaves its pair not checked.
func Check(q Question) Report {
	categorized := q.categorized()
	if categorized {
		q.Level = Full
	}
	r := Report{Subject: q.Subject, Label: q.Label, Level: q.Level, Policy: q.Policy, VerdictPolicy: q.VerdictPolicy}
	if q.Next != nil {
		r.Format = q.Next.Source().Type
	}
	if categorized {
		r.Category = q.Category
	}
	history := q.History
	if q.Level == None {
		history = nil
	} else if !q.Level.IsTransitive() && len(history) > 1 {
		history = history[:1]
	}
	for _, old := range history {
		c, messages := compare(q, old)
		r.Compared = append(r.Compared, c)
		for i := range c.Findings {
			if c.Findings[i].Severity == Risk {
				r.Risks++
			}
		}
		if c.Verdict != Compatible {
			r.Messages, r.NotChecked = messages, c.Verdict == NotChecked
			return r
		}
	}
	r.Compatible = true
	return r
}

// compare asks both questions of one pair and makes its verdict.
func compare(q Question, old Old) (Comparison, []string) {
	c := Comparison{Old: old}
	next := q.Next
	if next == nil || old.Schema == nil {
		return c.notChecked(q, errors.New("a side of the pair has no schema"))
	}
	newType, oldType := next.Source().Type, old.Schema.Source().Type
	if newType != oldType {
		c.Findings = []Finding{formatFinding(q, old)}
		return c.conclude(q, nil, []string{fmt.Sprintf("Incompatible because of different schema type: the new schema is %s, the old one %s", newType, oldType)})
	}
	checker, ok := checkerFor(q.Checkers, newType)
	same := next.Fingerprint() == old.Schema.Fingerprint()
	if same && ok && checker.SameWhenEqual {
		c.Effects = map[Layer]Effect{checker.Layer: {Reads, Reads}}
		c.Verdict = Compatible
		return c, nil
	}
	if !ok || checker.Reference == nil {
		return c.notChecked(q, fmt.Errorf("no checker for %s is part of this binary", newType))
	}
	if q.categorized() {
		return c.byCategory(q, checker)
	}
	if q.Variant != nil {
		q.Budget = q.Budget.counted()
	}
	var err error
	if q.Level.AsksForward() {
		if c.Forward, err = reference(checker, old.Schema, next, q); err != nil {
			return c.notChecked(q, err)
		}
	}
	if q.Level.AsksBackward() {
		if c.Backward, err = reference(checker, next, old.Schema, q); err != nil {
			return c.notChecked(q, err)
		}
	}
	var open error
	c.Effects, c.Changes, open = truth(checker, old.Schema, next, q)
	judge := judge{q: q, old: old, checker: checker, layers: q.layers(checker), c: &c}
	judge.findings()
	judge.mend()
	openText := judge.open(open)
	return c.conclude(q, &judge, nil, openText)
}

// identifies tells whether findings need their fingerprint.
func (q Question) identifies() bool { return !q.Brief || len(q.Exceptions) > 0 }

// layers are those that must hold under SOUND and BOTH.
func (q Question) layers(c Checker) []Layer {
	if len(q.Layers) == 0 {
		return []Layer{c.Layer}
	}
	return q.Layers
}

func checkerFor(checkers []Checker, t schemas.Type) (Checker, bool) {
	for _, c := range checkers {
		if c.Format == t {
			return c, true
		}
	}
	return Checker{}, false
}

func reference(c Checker, reader, writer schemas.Schema, q Question) (list []Difference, err error) {
	defer func() {
		if p := recover(); p != nil {
			list, err = nil, fmt.Errorf("%w: the %s checker failed: %v", ErrNotChecked, c.Format, p)
		}
	}()
	list, err = c.Reference(reader, writer, q.Policy, q.Budget)
	if err == nil && list == nil {
		list = []Difference{}
	}
	return list, err
}

func truth(c Checker, old, next schemas.Schema, q Question) (effects map[Layer]Effect, changes []Change, err error) {
	defer func() {
		if p := recover(); p != nil {
			effects, changes, err = nil, nil, fmt.Errorf("%w: the %s checker failed: %v", ErrNotChecked, c.Format, p)
		}
	}()
	if c.Truth == nil {
		return nil, nil, fmt.Errorf("%w: what happens to %s data is not analysed by this version", ErrNotChecked, c.Format)
	}
	if q.Brief {
		q.Budget.Asked = Asked{Level: q.Level, Brief: true}
	}
	effects, changes = c.Truth(old, next, q.Budget)
	return effects, changes, nil
}

// notChecked ends a comparison for lack of the reference answer.
func (c Comparison) notChecked(q Question, why error) (Comparison, []string) {
	c.Verdict, c.Reason = NotChecked, why.Error()
	return c, append([]string{notCheckedMessage(c.Reason)}, trailer(q, c.Old, true)...)
}

// conclude applies the exceptions, makes the verdict and writes the messages.
// given are messages that stand for themselves; open are the directions of the
// truth that are not checked, where they count.
func (c Comparison) conclude(q Question, j *judge, given []string, open ...string) (Comparison, []string) {
	Accept(c.Findings, q.Exceptions, q.At)
	sortFindings(c.Findings)
	c.Verdict = Compatible
	for i := range c.Findings {
		if f := &c.Findings[i]; f.Severity == SeverityBreaking && f.Accepted == nil {
			c.Verdict = Breaking
		}
	}
	unproved := len(open) > 0 && open[0] != "" && q.VerdictPolicy.countsTruth()
	if unproved && c.Verdict == Compatible {
		c.Verdict, c.Reason = NotChecked, open[0]
		return c, append([]string{notCheckedMessage(c.Reason)}, trailer(q, c.Old, true)...)
	}
	if c.Verdict == Compatible {
		return c, nil
	}
	messages, backward := given, true
	if j != nil {
		messages, backward = j.messages()
		if unproved {
			messages = append(messages, notCheckedMessage(open[0]))
		}
	}
	return c, append(messages, trailer(q, c.Old, backward)...)
}
