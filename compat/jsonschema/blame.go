package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// direction is one of the two questions, with the index of its witnesses.
type direction struct {
	writer, reader *jsonschema.Schema
	index          int // 0: new reads old, 1: old reads new
	side           int // of the reader in a finding's answers
}

// proof is a verified payload that the writer makes and the reader refuses.
type proof struct {
	value      *jsontext.Value
	text       string
	violations []schemas.Violation
}

// judgeSteps bounds one judgment of a witness: what takes more proves nothing.
const judgeSteps = 100_000

// mostTries bounds the attempts to make the witnesses of a direction smaller.
const mostTries = 120

// judge holds a value to both whole schemas; nil when it proves nothing.
func (d direction) judge(meter *compat.Meter, v *jsontext.Value) *proof {
	text := v.String()
	meter.Spend(2 + len(text)/16)
	p := schemas.Payload{Bytes: []byte(text)}
	if !d.writer.Reads(d.writer, p, schemas.ReadOptions{Verdict: true, Steps: judgeSteps}).OK() {
		return nil
	}
	got := d.reader.Refusals(text, judgeSteps)
	if len(got) == 0 {
		return nil
	}
	return &proof{v, text, got}
}

// shrink takes members and items away while the value still proves a break in
// the same way, or of less.
func (d direction) shrink(meter *compat.Meter, tries *int, first *proof, same func(*proof) bool) *proof {
	best := first
	root := copied(first.value)
	var walk func(v *jsontext.Value)
	walk = func(v *jsontext.Value) {
		for i := len(v.Members) - 1; i >= 0 && *tries > 0 && !meter.Spent(); i-- {
			kept := v.Members
			v.Members = slices.Delete(slices.Clone(kept), i, i+1)
			*tries--
			if p := d.judge(meter, root); p != nil && same(p) {
				best = p
				continue
			}
			v.Members = kept
			walk(v.Members[i].Value)
		}
		for i := len(v.Items) - 1; i >= 0 && *tries > 0 && !meter.Spent(); i-- {
			kept := v.Items
			v.Items = slices.Delete(slices.Clone(kept), i, i+1)
			*tries--
			if p := d.judge(meter, root); p != nil && same(p) {
				best = p
				continue
			}
			v.Items = kept
			walk(v.Items[i])
		}
	}
	walk(root)
	if best != first {
		best.value = copied(root)
	}
	return best
}

// copied is v with containers of its own: built values share theirs.
func copied(v *jsontext.Value) *jsontext.Value {
	out := *v
	out.Items, out.Members = slices.Clone(v.Items), slices.Clone(v.Members)
	for i := range out.Items {
		out.Items[i] = copied(out.Items[i])
	}
	for i := range out.Members {
		out.Members[i].Value = copied(out.Members[i].Value)
	}
	return &out
}

// decide answers one direction for the whole pair, with its proofs, the shortest
// first. A break needs a proof.
func (d direction) decide(budget compat.Budget, texts *texts) (compat.Outcome, []*proof) {
	meter := budget.Meter()
	s := newSolver(meter, texts, d.writer.IsDynamic() || d.reader.IsDynamic())
	s.formats = d.reader.AssertsFormats()
	g := s.goal([]literal{{d.writer.Root(), false}, {d.reader.Root(), true}})
	var values []*jsontext.Value
	outcome := s.pairs.Run(func() compat.Outcome {
		var st state
		switch values, st = s.solve(g); st {
		case found:
			return compat.Refuses
		case open:
			return compat.Undecided
		default:
			return compat.Reads
		}
	})
	if values = s.values[idOf(g)]; len(values) == 0 {
		return outcome, nil
	}
	var proofs []*proof
	shrinking := budget.Meter() // a meter of its own: what was found stays found
	tries := mostTries
	for _, v := range values {
		p := d.judge(shrinking, v)
		if p == nil {
			continue
		}
		proofs = append(proofs, d.shrink(shrinking, &tries, p, func(q *proof) bool {
			return q.violations[0].Schema == p.violations[0].Schema
		}))
	}
	if len(proofs) == 0 {
		return compat.Undecided, nil
	}
	slices.SortStableFunc(proofs, func(a, b *proof) int { return cmp.Compare(len(a.text), len(b.text)) })
	return compat.Refuses, proofs
}

func idOf(g *goal) int {
	if g == nil {
		return -1
	}
	return g.id
}

// allows tells whether a rule may have the outcome in a direction.
func allows(r *compat.Rule, index int, o compat.Outcome) bool {
	return slices.ContainsFunc(r.May, func(e compat.Effect) bool { return [2]compat.Outcome{e.NewReadsOld, e.OldReadsNew}[index] == o })
}

// inside tells whether pointer is at, or lies below it.
func inside(pointer, at string) bool {
	rest, ok := strings.CutPrefix(pointer, at)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(at, "#"))
}

// blame gives the changes their witnesses: those of the proofs at hand that are
// about them, then, where there is none or one that proves more than one change,
// those of a search of their own. What nothing explains is told of the whole.
func (d *differ) blame(dir direction, proofs []*proof, shared *texts, meter *compat.Meter) {
	best := make([]*blamed, d.seen)
	for _, p := range proofs {
		meter.Spend(len(p.violations) * d.seen / 16)
		d.assign(dir, p, best)
	}
	if len(proofs) > 0 && d.seen > 1 {
		a := aroundOf(dir.reader.Root(), meter)
		for i := range d.seen {
			if f := &d.changes[i]; !allows(f.rule, dir.index, compat.Refuses) || len(f.answers[dir.side]) == 0 || best[i] != nil && best[i].others == 0 {
				continue
			}
			if meter.Spent() {
				break
			}
			tries := mostTries / 4
			for _, p := range dir.prove(&d.changes[i], a, shared, meter) {
				meter.Spend(len(p.violations) * d.seen / 4)
				p = dir.shrink(meter, &tries, p, func(q *proof) bool { return d.isAbout(dir, q, i, len(d.explained(dir, p))) })
				d.assign(dir, p, best)
			}
		}
	}
	told := false
	for i, b := range best {
		if b != nil {
			told = true
			d.changes[i].set(dir.index, compat.Refuses, &compat.Witness{JSON: b.text, Bytes: []byte(b.text), Text: saying(b.why)})
		}
	}
	if told || len(proofs) == 0 {
		return
	}
	v := proofs[0].violations[0]
	root := pairing{dir.writer.Root(), dir.reader.Root(), "$"}
	if dir.index == 1 {
		root.old, root.next = root.next, root.old
	}
	f := d.whole(root)
	f.set(dir.index, compat.Refuses, &compat.Witness{JSON: proofs[0].text, Bytes: []byte(proofs[0].text), Text: saying(v)})
}

// blamed is the best proof of a change so far: one that is about few others,
// then a short one.
type blamed struct {
	text   string
	why    schemas.Violation
	others int
}

func (d *differ) assign(dir direction, p *proof, best []*blamed) {
	about := d.explained(dir, p)
	for i, why := range about {
		b := &blamed{p.text, why, len(about) - 1}
		if old := best[i]; old == nil || b.others < old.others || b.others == old.others && len(b.text) < len(old.text) {
			best[i] = b
		}
	}
}

// isAbout tells whether a proof is about a change and no more than most in all.
func (d *differ) isAbout(dir direction, p *proof, i, most int) bool {
	about := d.explained(dir, p)
	_, ok := about[i]
	return ok && len(about) <= most
}

// leaveOpen marks the changes that may be why a direction is not decided. Those
// that need a human stay a risk, whatever else is open.
func (d *differ) leaveOpen(dir direction, whole compat.Outcome) {
	if whole.Answer != compat.Unchecked {
		return
	}
	for i := range d.changes {
		if !d.changes[i].misleads && allows(d.changes[i].rule, dir.index, compat.Undecided) {
			d.changes[i].set(dir.index, compat.Undecided, nil)
		}
	}
}

// whole is the change that stands for what no other explains.
func (d *differ) whole(root pairing) *finding {
	for i := range d.changes {
		if d.changes[i].rule == &combinationChanged && d.changes[i].Path == "$" {
			return &d.changes[i]
		}
	}
	if len(d.changes) >= mostChanges {
		d.changes = d.changes[:mostChanges-1]
		d.seen = min(d.seen, len(d.changes))
	}
	f := d.report(&combinationChanged, root, "", "", "the parts of the schema work together in another way")
	f.Effects = compat.OnData(compat.Reads, compat.Reads)
	return f
}

func saying(v schemas.Violation) string {
	if v.Payload == "" {
		return v.Text
	}
	return fmt.Sprintf("%s: %s", v.Payload, v.Text)
}

// explained lists the changes that a proof is about, each with the violation
// that says so: those that answer for a keyword that refused; else those inside
// of it; else those around it.
func (d *differ) explained(dir direction, p *proof) map[int]schemas.Violation {
	out := map[int]schemas.Violation{}
	note := func(i int, v schemas.Violation) {
		if _, known := out[i]; !known {
			out[i] = v
		}
	}
	for _, v := range p.violations {
		for _, i := range d.answersFor(dir, p, v) {
			note(i, v)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, v := range p.violations {
		for _, i := range d.near(dir, string(v.Schema)) {
			note(i, v)
		}
	}
	return out
}

// answersFor finds the changes that answer for the keyword of a violation, the
// nearest around it.
func (d *differ) answersFor(dir direction, p *proof, v schemas.Violation) []int {
	var best []int
	longest := -1
	pointer := string(v.Schema)
	for i := range d.seen {
		f := &d.changes[i]
		if !allows(f.rule, dir.index, compat.Refuses) {
			continue
		}
		for _, at := range f.answers[dir.side] {
			if len(at.pointer) < longest || !inside(pointer, at.pointer) || !f.isAbout(dir, at, p, v) {
				continue
			}
			if len(at.pointer) > longest {
				best = nil
			}
			longest = len(at.pointer)
			best = append(best, i)
		}
	}
	return slices.Compact(best)
}

// isAbout tells whether a violation of one of the finding's keywords is about
// the finding: about its member, where others fall under the keyword too, and
// about a value that the other side takes in this very place.
func (f *finding) isAbout(dir direction, at answer, p *proof, v schemas.Violation) bool {
	if at.keyword == "" {
		return true
	}
	if len(f.members) > 0 {
		return slices.ContainsFunc(f.members, func(name string) bool {
			named := strings.Contains(v.Text, name) && strings.Contains(v.Text, strconv.Quote(name)) || len(name) > 60
			switch v.Rule {
			case "required":
				return named && p.at(v.Payload).Get(name) == nil
			case "additionalProperties", "unevaluatedProperties", "dependentRequired":
				return named
			}
			return slices.Contains(jsontext.Tokens(v.Payload), name)
		})
	}
	nodes := [2]*jsonschema.Node{f.pair.old, f.pair.next}
	if nodes[dir.side] != at.node || dir.writer.IsDynamic() || v.Rule != at.keyword {
		return true
	}
	value := p.at(v.Payload)
	if value == nil {
		return true
	}
	ok, decided := nodes[1-dir.side].Holds(value.String(), judgeSteps)
	return ok || !decided
}

// at finds the value in a payload that a violation is about; nil when there is
// none.
func (p *proof) at(pointer schemas.Pointer) *jsontext.Value {
	return jsontext.Editor{Root: p.value}.At(pointer)
}

// near finds the changes inside of a place; else those around it.
func (d *differ) near(dir direction, pointer string) (best []int) {
	for _, fits := range []func(place string) bool{
		func(place string) bool { return inside(place, pointer) },
		func(place string) bool { return inside(pointer, place) },
	} {
		for i := range d.seen {
			f := &d.changes[i]
			place, elsewhere := f.New, f.Elsewhere[1]
			if dir.side == 0 {
				place, elsewhere = f.Old, f.Elsewhere[0]
			}
			if !elsewhere && allows(f.rule, dir.index, compat.Refuses) && fits(string(place.Pointer)) {
				best = append(best, i)
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// set notes an outcome of one direction.
func (f *finding) set(index int, o compat.Outcome, w *compat.Witness) {
	e := f.Effects[compat.Data]
	pair := f.Witness[compat.Data]
	if index == 0 {
		e.NewReadsOld = o
	} else {
		e.OldReadsNew = o
	}
	f.Effects = map[compat.Layer]compat.Effect{compat.Data: e}
	if w != nil {
		pair[index] = w
		f.Witness = map[compat.Layer][2]*compat.Witness{compat.Data: pair}
	}
}
