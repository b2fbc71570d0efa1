package protobuf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// truth tells what happens to data on the wire and in the JSON mapping, and to
// code generated from the schema. A payload layer is Safe in a direction when
// no change can hurt it there, by the tables of kinds; it Breaks when a real
// payload was refused or changed.
//
// On SourceCode "new reads old" asks whether code written against the old
// classes works with the new ones.
//
// A message that one side lacks hurts nobody: whoever consumes it keeps the
// schema that has it.
func truth(old, next schemas.Schema, budget compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
	whole := map[compat.Layer]compat.Effect{compat.Wire: reads, compat.JSONMapping: reads, compat.SourceCode: reads}
	d := &differ{
		compiled: [2]schemas.Schema{old, next}, meter: budget.Meter(), proofs: budget.Meter(),
		known: map[messagePair]*visit{}, knownEnum: map[enumPair]*enumVisit{}, brief: budget.Asked.Brief,
	}
	if o, n, ok := dependents(old, next); ok {
		if o.fingerprint == n.fingerprint {
			return whole, nil
		}
		d.old, d.next = o.model, n.model
	} else {
		o, n := compiledOf(old), compiledOf(next)
		if o == nil || n == nil {
			return nil, nil
		}
		if o.Fingerprint() == n.Fingerprint() {
			return whole, nil
		}
		// A stored text that protoc refuses has no meaning to compare.
		if d.old, d.next = modelOf(o), modelOf(n); d.old == nil || d.next == nil {
			return nil, nil
		}
		d.file()
	}
	d.declarations()
	for _, v := range d.visits {
		if d.failed {
			break
		}
		d.compare(v)
	}
	for _, e := range d.enums {
		if d.failed {
			break
		}
		d.enum(e)
	}
	for _, c := range d.changes {
		for layer, e := range c.Effects {
			whole[layer] = whole[layer].Combine(e)
		}
	}
	mapping := whole[compat.JSONMapping]
	if d.collide[newReadsOld] {
		mapping.NewReadsOld = mapping.NewReadsOld.Combine(compat.Undecided)
	}
	if d.collide[oldReadsNew] {
		mapping.OldReadsNew = mapping.OldReadsNew.Combine(compat.Undecided)
	}
	whole[compat.JSONMapping] = mapping
	if d.failed {
		// What was not compared may be anything; a break that was proved stays one.
		open := compat.Effect{NewReadsOld: compat.Undecided, OldReadsNew: compat.Undecided}
		for layer, e := range whole {
			whole[layer] = e.Combine(open)
		}
	}
	for layer, e := range whole {
		whole[layer] = compat.Effect{NewReadsOld: e.NewReadsOld.Whole(), OldReadsNew: e.OldReadsNew.Whole()}
	}
	return whole, d.changes
}

// partner is the message that reader reads w's payloads with.
func partner(reader *model, w *message) *message {
	if r := reader.message(w.name); r != nil {
		return r
	}
	for _, r := range reader.messages {
		if r.local == w.local {
			return r
		}
	}
	return nil
}

func enumPartner(reader *model, w *enum) *enum {
	if r := reader.enum(w.name); r != nil {
		return r
	}
	for _, r := range reader.enums {
		if r.local == w.local {
			return r
		}
	}
	return nil
}

// declarations pairs messages and enums, and tells those of one side only.
func (d *differ) declarations() {
	var queue []messagePair
	for _, o := range d.old.messages {
		if n := partner(d.next, o); n != nil {
			queue = append(queue, messagePair{o, n})
			d.reach(o, n, [4]bool{true, false, true, false}, nil)
		}
	}
	for _, n := range d.next.messages {
		if o := partner(d.old, n); o != nil {
			if !slices.Contains(queue, messagePair{o, n}) {
				queue = append(queue, messagePair{o, n})
			}
			d.reach(o, n, [4]bool{false, true, false, true}, nil)
		}
	}
	for _, o := range d.old.extended {
		if n := d.next.message(o.name); n != nil {
			d.reach(o, n, [4]bool{}, nil)
			queue = append(queue, messagePair{o, n})
		}
	}
	d.explore(queue)
	for _, o := range d.old.enums {
		if n := enumPartner(d.next, o); n != nil {
			d.use(o, n, [4]bool{}, nil)
		}
	}
	d.messages()
	d.enumTypes()
	if d.old.messages != nil && d.next.messages != nil {
		o, n := d.old.messages[0], d.next.messages[0]
		if o.local != n.local && partner(d.next, o) != nil && partner(d.old, n) != nil {
			t := calm(d.place(0, o.place, o.text), d.place(1, n.place, n.text), n.local,
				fmt.Sprintf("the first message, which a payload is taken for when nothing else is said, was %s and is %s", o.local, n.local))
			t.before, t.after = o.local, n.local
			d.report(&rootChanged, t)
		}
	}
}

// place is a place of the text, or the whole text.
func (d *differ) place(side int, p schemas.Place, text *protobuf.File) schemas.Place {
	m := [2]*model{d.old, d.next}[side]
	if m.isElsewhere(text) || p == (schemas.Place{}) {
		return m.whole
	}
	return p
}

// messages tells which message types came, went, moved or got another name.
func (d *differ) messages() {
	lost := alone(d.old.messages, d.next)
	won := alone(d.next.messages, d.old)
	renamed := map[*message]*message{}
	for _, o := range lost {
		var same []*message
		for _, n := range won {
			if sameShape(o, n) {
				same = append(same, n)
			}
		}
		twins := 0
		for _, other := range lost {
			if sameShape(o, other) {
				twins++
			}
		}
		if len(same) == 1 && twins == 1 {
			renamed[o], renamed[same[0]] = same[0], o
		}
	}
	for _, o := range lost {
		if n := renamed[o]; n != nil {
			t := calm(o.place, n.place, o.local, fmt.Sprintf("message %s is called %s now", o.local, n.local))
			t.before, t.after, t.source = o.local, n.local, codeOther
			d.report(&messageRenamed, t)
			continue
		}
		if !inside(o, lost) {
			t := calm(d.place(0, o.place, o.text), d.next.whole, o.local, fmt.Sprintf("message %s was removed", o.local))
			t.before, t.source = o.local, codeGone
			d.report(&messageRemovedRule, t)
		}
	}
	for _, n := range won {
		if renamed[n] == nil && !inside(n, won) {
			t := calm(d.old.whole, d.place(1, n.place, n.text), n.local, fmt.Sprintf("message %s was added", n.local))
			t.after, t.source = n.local, codeCome
			d.report(&messageAddedRule, t)
		}
	}
	for _, o := range d.old.messages {
		if n := partner(d.next, o); n != nil && !slices.Contains(d.next.messages, n) && !strings.Contains(o.local, ".") {
			t := calm(o.place, d.next.whole, o.local, fmt.Sprintf("message %s moved to %s", o.local, n.path))
			t.source = codeGone
			d.report(&movedOut, t)
		}
	}
	for _, n := range d.next.messages {
		if o := partner(d.old, n); o != nil && !slices.Contains(d.old.messages, o) && !strings.Contains(n.local, ".") {
			t := calm(d.old.whole, n.place, n.local, fmt.Sprintf("message %s moved here from %s", n.local, o.path))
			t.source = codeCome
			d.report(&movedIn, t)
		}
	}
}

// alone are the messages that the other side lacks.
func alone(list []*message, other *model) (out []*message) {
	for _, m := range list {
		if partner(other, m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// inside tells whether a message around m is in the list.
func inside(m *message, list []*message) bool {
	return m.around != "" && slices.ContainsFunc(list, func(o *message) bool { return o.name == m.around })
}

// sameShape tells whether two messages have the same fields, which is what a
// renamed message keeps.
func sameShape(a, b *message) bool {
	return len(a.fields) > 0 && len(a.fields) == len(b.fields) && slices.EqualFunc(a.fields, b.fields, func(f, g *field) bool {
		return f.number == g.number && f.name == g.name && f.kind == g.kind && f.card == g.card
	})
}

func (d *differ) enumTypes() {
	for _, o := range d.old.enums {
		if enumPartner(d.next, o) == nil && !goneWith(o, d.next) {
			t := calm(o.place, d.next.whole, o.local, fmt.Sprintf("enum %s was removed", o.local))
			t.before, t.source = o.local, codeGone
			d.report(&enumRemovedRule, t)
		}
	}
	for _, n := range d.next.enums {
		if enumPartner(d.old, n) == nil && !goneWith(n, d.old) {
			t := calm(d.old.whole, n.place, n.local, fmt.Sprintf("enum %s was added", n.local))
			t.after, t.source = n.local, codeCome
			d.report(&enumAddedRule, t)
		}
	}
}

// goneWith tells whether the other side lacks the message around e, too.
func goneWith(e *enum, other *model) bool {
	return e.around != "" && partner(other, &message{scope: scope{name: e.around, local: strings.TrimPrefix(e.around, e.pack+".")}}) == nil
}
