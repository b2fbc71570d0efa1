package jsonschema

import (
	"cmp"
	"fmt"
	"slices"
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
	text       string
	violations []schemas.Violation
}

// judgeSteps bounds one judgment of a witness: what takes more proves nothing.
const judgeSteps = 100_000

// mostTries bounds the attempts to make the witnesses of a direction smaller.
const mostTries = 120

// judge holds a value to both whole schemas; nil when it proves nothing.
func (d direction) judge(meter *compat.Meter, text string) *proof {
	meter.Spend(2 + len(text)/16)
	p := schemas.Payload{Bytes: []byte(text)}
	if !d.writer.Reads(d.writer, p, schemas.ReadOptions{Violations: 1, Steps: judgeSteps}).OK() {
		return nil
	}
	got := d.reader.Reads(d.writer, p, schemas.ReadOptions{Steps: judgeSteps})
	if got.OK() || got.Violations[0].Kind != schemas.Invalid {
		return nil
	}
	return &proof{text, got.Violations}
}

// shrink takes members and items away while the value still proves a break of
// the same keyword.
func (d direction) shrink(meter *compat.Meter, tries *int, v *jsontext.Value, first *proof) *proof {
	best := first
	same := func(p *proof) bool {
		return p != nil && p.violations[0].Schema == first.violations[0].Schema
	}
	root := v
	var walk func(v *jsontext.Value)
	walk = func(v *jsontext.Value) {
		for i := len(v.Members) - 1; i >= 0 && *tries > 0 && !meter.Spent(); i-- {
			kept := v.Members
			v.Members = slices.Delete(slices.Clone(kept), i, i+1)
			*tries--
			if p := d.judge(meter, root.String()); same(p) {
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
			if p := d.judge(meter, root.String()); same(p) {
				best = p
				continue
			}
			v.Items = kept
			walk(v.Items[i])
		}
	}
	walk(root)
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
		p := d.judge(shrinking, v.String())
		if p == nil {
			continue
		}
		if v.Kind == jsontext.Object || v.Kind == jsontext.Array {
			p = d.shrink(shrinking, &tries, copied(v), p)
		}
		proofs = append(proofs, p)
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

// blame gives every proof to the changes that it is about: those that answer for
// the keyword that refused; else those inside of it; else those around it. What
// nothing explains is told of the whole.
func (d *differ) blame(dir direction, proofs []*proof) {
	blamed := false
	for _, p := range proofs {
		for _, v := range p.violations {
			for _, i := range d.explain(dir, string(v.Schema)) {
				blamed = true
				if d.changes[i].Witness[compat.Data][dir.index] == nil {
					d.changes[i].set(dir.index, compat.Refuses, &compat.Witness{JSON: p.text, Bytes: []byte(p.text), Text: saying(v)})
				}
			}
		}
	}
	if blamed || len(proofs) == 0 {
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

// leaveOpen marks the changes that may be why a direction is not decided.
func (d *differ) leaveOpen(dir direction, whole compat.Outcome) {
	if whole.Answer != compat.Unchecked {
		return
	}
	for i := range d.changes {
		if allows(d.changes[i].rule, dir.index, compat.Undecided) {
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

func (d *differ) explain(dir direction, pointer string) []int {
	var best []int
	longest := -1
	for i := range d.seen {
		f := &d.changes[i]
		if !allows(f.rule, dir.index, compat.Refuses) {
			continue
		}
		for _, at := range f.answers[dir.side] {
			if !inside(pointer, at) || len(at) < longest {
				continue
			}
			if len(at) > longest {
				best = nil
			}
			longest = len(at)
			best = append(best, i)
		}
	}
	if best != nil {
		return slices.Compact(best)
	}
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
