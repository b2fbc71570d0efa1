package compat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// direction is who reads whom.
type direction uint8

const (
	newReadsOld direction = iota // backward
	oldReadsNew                  // forward
)

func (d direction) asked(l Level) bool {
	if d == newReadsOld {
		return l.AsksBackward()
	}
	return l.AsksForward()
}

func (d direction) String() string {
	if d == newReadsOld {
		return "backward"
	}
	return "forward"
}

func (d direction) of(e Effect) Outcome {
	if d == newReadsOld {
		return e.NewReadsOld
	}
	return e.OldReadsNew
}

var directions = []direction{newReadsOld, oldReadsNew}

// judge turns the two answers for one pair into findings.
type judge struct {
	q       Question
	old     Old
	checker Checker
	layers  []Layer
	c       *Comparison
	// because holds, per direction and difference, the index of the change that
	// explains it, or -1.
	because [2][]int
	index   changeIndex
	looked  int // changes held against differences so far
	wholes  [2]*Outcome
	last    *Rule // the rule found last: changes of one rule stand together
}

// differences of a direction.
func (j *judge) differences(d direction) []Difference {
	if d == newReadsOld {
		return j.c.Backward
	}
	return j.c.Forward
}

// rule finds the rule of a change. There are few rules, and most pairs have few
// changes: an index would cost more than it saves.
func (j *judge) rule(id string) (*Rule, bool) {
	if j.last != nil && j.last.ID == id {
		return j.last, true
	}
	for i := range j.checker.Rules {
		if j.checker.Rules[i].ID == id {
			j.last = &j.checker.Rules[i]
			return j.last, true
		}
	}
	return nil, false
}

// whole is the outcome of the whole pair on the layers that count.
func (j *judge) whole(d direction) Outcome {
	if known := j.wholes[d]; known != nil {
		return *known
	}
	out := Reads
	for _, layer := range j.layers {
		out = out.Combine(d.of(j.c.Effects[layer]).Whole())
	}
	j.wholes[d] = &out
	return out
}

// hurts is the outcome of one change on the layers that count.
func (j *judge) hurts(c *Change, d direction) Outcome {
	out := Reads
	for _, layer := range j.layers {
		if e, ok := c.Effects[layer]; ok {
			out = out.Combine(d.of(e))
		}
	}
	return out
}

// open says which directions of the truth are not checked; empty when none is.
// Under REFERENCE it is told as a risk.
func (j *judge) open(cause error) string {
	var names []string
	for _, d := range directions {
		if d.asked(j.q.Level) && j.whole(d).Answer == Unchecked {
			names = append(names, d.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := "whether data stays readable was neither proved nor refuted (" + strings.Join(names, ", ") + ")"
	if cause != nil {
		text += ": " + cause.Error()
	}
	f := j.finding(&truthOpen, "", schemas.Place{}, schemas.Place{}, "", "")
	f.Severity, f.Message = Risk, text
	f.Direction = directionOf(slices.Contains(names, "backward"), slices.Contains(names, "forward"))
	j.c.Findings = append(j.c.Findings, f)
	return text
}

// findings makes one finding of every change and of every refusing difference
// that no change explains.
func (j *judge) findings() {
	explained := map[int][]string{} // change → types of the differences
	refused := map[int]bool{}       // change → a difference refuses, in a direction asked
	var loose []Finding
	if len(j.c.Backward)+len(j.c.Forward) > 0 {
		j.index = indexOf(j.c.Changes)
	}
	for _, d := range directions {
		list := j.differences(d)
		j.because[d] = make([]int, len(list))
		for k, difference := range list {
			if difference.Compatible {
				continue
			}
			i := j.explaining(difference, d)
			j.because[d][k] = i
			if i >= 0 {
				refused[i] = true
				if !slices.Contains(explained[i], difference.Type) {
					explained[i] = append(explained[i], difference.Type)
				}
				continue
			}
			loose = append(loose, j.loose(difference, d))
		}
	}
	var blamed [2]bool
	j.c.Findings = slices.Grow(j.c.Findings, len(j.c.Changes)+len(loose)+1)
	for i := range j.c.Changes {
		change := &j.c.Changes[i]
		hurts := [2]Outcome{j.hurts(change, newReadsOld), j.hurts(change, oldReadsNew)}
		j.c.Findings = append(j.c.Findings, Finding{})
		f := &j.c.Findings[len(j.c.Findings)-1]
		j.changed(f, change, hurts, explained[i])
		f.Severity = j.severity(hurts, refused[i])
		for _, d := range directions {
			blamed[d] = blamed[d] || hurts[d].IsHard()
		}
	}
	j.c.Findings = append(j.c.Findings, loose...)
	j.blind()
	for _, d := range directions {
		if whole := j.whole(d); d.asked(j.q.Level) && whole.IsHard() && !blamed[d] {
			f := j.finding(&dataBreaks, "", schemas.Place{}, schemas.Place{}, "", "")
			f.Direction, f.Severity = d.String(), Risk
			f.Message = "payloads exist that the other side " + whole.Kind.verb()
			if j.q.VerdictPolicy.countsTruth() {
				f.Severity = SeverityBreaking
			}
			j.c.Findings = append(j.c.Findings, f)
		}
	}
}

// blind tells once of a pair what happens to consumers that are outside of any
// verdict, since they decode with their own schema.
func (j *judge) blind() {
	var f Finding
	var told []string
	for _, d := range directions {
		i := slices.IndexFunc(j.c.Changes, func(c Change) bool { return c.Blind[d] != nil })
		if i < 0 || !d.asked(j.q.Level) {
			continue
		}
		c := j.c.Changes[i]
		if told = append(told, d.String()); len(told) > 1 {
			continue
		}
		f = j.finding(&readBlindly, c.Path, c.Old, c.New, "", "")
		f.Severity = Risk
		if !j.q.Brief {
			f.Witness = show(c.Blind[d], d, j.checker.Layer, Altered)
		}
		elsewhere(&f, c.Elsewhere)
	}
	if len(told) > 0 {
		f.Direction = directionOf(slices.Contains(told, newReadsOld.String()), slices.Contains(told, oldReadsNew.String()))
		j.c.Findings = append(j.c.Findings, f)
	}
}

// elsewhere takes away the lines of places in other texts, which would point at
// the wrong ones here.
func elsewhere(f *Finding, sides [2]bool) {
	for side, l := range []*Location{&f.Base, &f.Head} {
		if sides[side] {
			*l = Location{Label: l.Label, Pointer: l.Pointer, Text: l.Text, Elsewhere: true}
		}
	}
}

// severity: a change refuses where an answer that counts refuses because of it;
// it is a risk where an answer that does not count does, or data is hurt softly.
// A node's refusal that the whole pair does not share hurts nobody.
func (j *judge) severity(hurts [2]Outcome, refused bool) Severity {
	out := Note
	if refused {
		if j.q.VerdictPolicy.countsReference() {
			return SeverityBreaking
		}
		out = Risk
	}
	for _, d := range directions {
		hurt, whole := hurts[d], j.whole(d)
		if !d.asked(j.q.Level) || hurt.Answer != Breaks {
			continue
		}
		switch {
		case hurt.IsHard() && whole.IsHard():
			if j.q.VerdictPolicy.countsTruth() {
				return SeverityBreaking
			}
			out = Risk
		case j.isRisk(hurt, d):
			out = Risk
		}
	}
	return out
}

// isRisk tells whether a change hurts values that the whole pair reads all the same.
func (j *judge) isRisk(hurt Outcome, d direction) bool {
	return hurt.Answer == Breaks && hurt.Kind != Refused && (!hurt.IsHard() || !j.whole(d).IsHard())
}

// explaining finds the change that a difference is about: its rule names the
// peer's type, and its places lie inside the difference's, or at least around
// them, as the peer blames every branch of a union that became something else.
// At last it is a change inside that hurts, whatever the peer calls that: the peer
// blames whole unions for what is in a branch. -1 when none does.
func (j *judge) explaining(d Difference, dir direction) int {
	if i := j.placed(d, dir, false); i >= 0 {
		return i
	}
	for _, cause := range d.Causes {
		if i := j.explaining(cause, dir); i >= 0 {
			return i
		}
	}
	if i := j.placed(d, dir, true); i >= 0 {
		return i
	}
	for i := range j.c.Changes {
		if j.looked++; j.looked > mostLooked {
			break
		}
		c := &j.c.Changes[i]
		reader, writer := sides(c, dir)
		if within(reader, d.Reader) && within(writer, d.Writer) && j.hurts(c, dir).IsHard() {
			return i
		}
	}
	return -1
}

// sides are the places of a change on the reader's and the writer's side.
func sides(c *Change, dir direction) (reader, writer schemas.Place) {
	if dir == oldReadsNew {
		return c.Old, c.New
	}
	return c.New, c.Old
}

// mostLooked is how many changes are held against differences, for one pair: wide
// schemas have thousands of each. What is not explained within it is told by
// itself, which changes no verdict.
const mostLooked = 10_000_000

// placed takes, of several changes at the place, the one that is named as the
// difference is: a schema lists its members in one place. around also takes
// changes that the difference lies inside of.
func (j *judge) placed(d Difference, dir direction, around bool) int {
	fits := func(i int) bool {
		if j.looked++; j.looked > mostLooked {
			return false
		}
		c := &j.c.Changes[i]
		reader, writer := sides(c, dir)
		return (within(reader, d.Reader) || around && within(d.Reader, reader)) && (within(writer, d.Writer) || around && within(d.Writer, writer)) && j.speaksOf(c.Rule, d.Type, dir)
	}
	name := "." + d.Path[strings.LastIndexByte(d.Path, '/')+1:]
	for _, i := range j.index.named(name) {
		if strings.HasSuffix(j.c.Changes[i].Path, name) && fits(i) {
			return i
		}
	}
	if around {
		for i := range j.c.Changes {
			if fits(i) {
				return i
			}
		}
		return -1
	}
	first := -1
	for _, i := range j.index.inside(j.c.Changes, dir, d.Reader) {
		if (first < 0 || i < first) && fits(i) {
			first = i
		}
	}
	return first
}

// changeIndex finds changes by the end of their path, and by where they stand.
type changeIndex struct {
	tails    map[string][]int
	byReader [2][]int // in the order of the reader's places
}

func indexOf(changes []Change) changeIndex {
	x := changeIndex{tails: make(map[string][]int, len(changes))}
	for i, c := range changes {
		name := tail(c.Path)
		x.tails[name] = append(x.tails[name], i)
	}
	for _, dir := range directions {
		list := make([]int, len(changes))
		for i := range list {
			list[i] = i
		}
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(cmp.Compare(offsetOf(&changes[a], dir), offsetOf(&changes[b], dir)), cmp.Compare(a, b))
		})
		x.byReader[dir] = list
	}
	return x
}

func tail(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func offsetOf(c *Change, dir direction) int {
	reader, _ := sides(c, dir)
	return reader.Position.Offset
}

// named are the changes whose paths may end in name, in their order.
func (x changeIndex) named(name string) []int { return x.tails[tail(name)] }

// inside are the changes that may stand inside a place of the reader's.
func (x changeIndex) inside(changes []Change, dir direction, p schemas.Place) []int {
	list := x.byReader[dir]
	from, _ := slices.BinarySearchFunc(list, p.Position.Offset, func(i, at int) int { return cmp.Compare(offsetOf(&changes[i], dir), at) })
	to, _ := slices.BinarySearchFunc(list, p.End.Offset+1, func(i, at int) int { return cmp.Compare(offsetOf(&changes[i], dir), at) })
	return list[from:max(from, to)]
}

// speaksOf tells whether a rule, or in the other direction its mirror, names the
// peer's type: old reads new is the swapped pair to the peer.
func (j *judge) speaksOf(id, kind string, dir direction) bool {
	rule, ok := j.rule(id)
	if !ok || slices.Contains(rule.Peers, kind) {
		return ok
	}
	mirror, ok := j.rule(rule.Mirror)
	return ok && dir == oldReadsNew && slices.Contains(mirror.Peers, kind)
}

// within tells whether p is q or lies inside it. A place that is not known is
// inside nothing. Positions are compared too, since the pointers of a text and
// of one that it refers to may be the same.
func within(p, q schemas.Place) bool {
	if p.Position.Offset < q.Position.Offset || p.End.Offset > q.End.Offset || p == (schemas.Place{}) || q == (schemas.Place{}) {
		return false
	}
	if !strings.HasPrefix(string(p.Pointer), string(q.Pointer)) {
		return false
	}
	rest := p.Pointer[len(q.Pointer):]
	return rest == "" || rest[0] == '/'
}

func (j *judge) finding(r *Rule, path string, old, next schemas.Place, before, after string) (f Finding) {
	j.found(&f, r, path, old, next, before, after)
	return f
}

// found makes a finding where it is to stay, as findings are large.
func (j *judge) found(f *Finding, r *Rule, path string, old, next schemas.Place, before, after string) {
	f.Rule, f.Aliases, f.Format, f.Subject, f.Path, f.Direction = r.ID, []string{}, j.checker.Format, j.q.Subject, path, "both"
	f.Base = locate(labelOf(j.old), old, before)
	f.Head = locate(j.q.Label, next, after)
	f.Message, f.Why, f.Fix = r.Title, r.Why, r.Fix
	if j.q.identifies() {
		j.q.identify(f, before, after)
	}
}

// changed makes a finding of a change, without its severity.
func (j *judge) changed(f *Finding, c *Change, hurts [2]Outcome, types []string) {
	rule, ok := j.rule(c.Rule)
	if !ok {
		rule = &Rule{ID: c.Rule}
	}
	j.found(f, rule, c.Path, c.Old, c.New, c.Before, c.After)
	if c.Text != "" {
		f.Message = c.Text
	}
	elsewhere(f, c.Elsewhere)
	if len(types) > 0 {
		f.Aliases = types
	} else if len(rule.Peers) > 0 {
		f.Aliases = slices.Clip(rule.Peers)
	}
	f.Direction = directionOf(hurts[newReadsOld].Answer == Breaks, hurts[oldReadsNew].Answer == Breaks)
	if j.q.Brief {
		return
	}
	// The witness of the direction asked comes first, on the first layer that has one.
	for _, asked := range []bool{true, false} {
		for _, d := range directions {
			for _, layer := range j.layers {
				if f.Witness == nil && d.asked(j.q.Level) == asked {
					f.Witness = show(c.Witness[layer][d], d, layer, d.of(c.Effects[layer]).Kind)
				}
			}
		}
	}
}

// loose is a finding for a difference that no change explains: its rule is the
// peer's type, its path the peer's.
func (j *judge) loose(d Difference, dir direction) Finding {
	id := strings.ToLower(string(j.checker.Format)) + "." + strings.ReplaceAll(strings.ToLower(d.Type), "_", "-")
	old, next, reader, writer := d.Writer, d.Reader, "new", "old"
	if dir == oldReadsNew {
		old, next, reader, writer = d.Reader, d.Writer, "old", "new"
	}
	f := j.finding(&Rule{ID: id}, d.Path, old, next, "", "")
	f.Aliases, f.Direction, f.Severity = []string{d.Type}, dir.String(), Risk
	f.Message = fmt.Sprintf("the reference registry says that the %s schema does not read what the %s one writes at %s: %s", reader, writer, d.Path, d.Type)
	if d.Info != "" {
		f.Message += " (" + d.Info + ")"
	}
	switch j.whole(dir).Answer {
	case Safe:
		f.Message += "; it reads every payload all the same"
	case Unchecked:
		f.Message += "; whether a payload exists that it does not read is open"
	case Breaks:
	}
	if j.q.identifies() {
		j.q.identify(&f, dir.String(), d.Info)
	}
	if j.q.VerdictPolicy.countsReference() {
		f.Severity = SeverityBreaking
	}
	return f
}

// formatFinding tells that the two sides are of different formats.
func formatFinding(q Question, old Old) Finding {
	next, before := q.Next.Source().Type, old.Schema.Source().Type
	j := judge{q: q, old: old, checker: Checker{Format: next}}
	f := j.finding(&formatChanged, "", schemas.Place{}, schemas.Place{}, string(before), string(next))
	f.Severity = SeverityBreaking
	f.Message = fmt.Sprintf("the new schema is %s, the old one %s", next, before)
	return f
}
