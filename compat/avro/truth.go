package avro

import (
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// truth tells what happens to data: the changes, each with its effect and, where
// it hurts, a witness that the real reader refused or changed; and one effect
// for the whole pair. A direction is Safe when the resolution proves it, Breaks
// when a witness stands, and Unchecked otherwise.
func truth(old, next schemas.Schema, budget compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
	o, ok := old.(*avro.Schema)
	if !ok {
		return nil, nil
	}
	n, ok := next.(*avro.Schema)
	if !ok {
		return nil, nil
	}
	if o.Fingerprint() == n.Fingerprint() {
		// The reader then reads its own data, without a look at aliases.
		return map[compat.Layer]compat.Effect{compat.Data: reads}, nil
	}
	d := newDiffer(o, n, budget)
	whole := compat.Effect{
		NewReadsOld: d.byNew.whole(n.Root(), o.Root()),
		OldReadsNew: d.byOld.whole(o.Root(), n.Root()),
	}
	d.types(place{o: o.Root(), n: n.Root(), byOld: o.Root(), byNew: n.Root(), live: [2]bool{true, true}})
	whole.NewReadsOld = d.prove(whole.NewReadsOld, newReadsOld)
	whole.OldReadsNew = d.prove(whole.OldReadsNew, oldReadsNew)
	return map[compat.Layer]compat.Effect{compat.Data: whole}, d.changes
}

// The directions, as they index a change's witnesses.
const (
	newReadsOld = 0
	oldReadsNew = 1
)

// mostShown is how many bytes of witnesses one direction of a pair shows; wide
// records with many breaks would repeat themselves past any reader's patience.
const mostShown = 1 << 18

// prove gives the changes that hurt in a direction their witnesses, and answers
// the whole pair's outcome: no break without a witness.
func (d *differ) prove(whole compat.Outcome, direction int) compat.Outcome {
	proved := compat.Reads
	for i := range d.changes {
		effect := d.changes[i].Effects[compat.Data]
		hurt := effect.NewReadsOld
		if direction == oldReadsNew {
			hurt = effect.OldReadsNew
		}
		// Where the whole is safe nothing can be refused or altered; a value lost
		// by a rename is, as the reader's default takes its place in silence.
		if !hurt.IsHard() || whole.Answer == compat.Safe && hurt.Kind != compat.Lost {
			continue
		}
		place := d.changes[i].New
		if direction == oldReadsNew {
			place = d.changes[i].Old
		}
		w, kind := d.witness(d.hurts[i], direction, hurt.Kind, place.Pointer)
		if w == nil {
			continue
		}
		pair := d.changes[i].Witness[compat.Data]
		pair[direction] = w
		if d.changes[i].Witness == nil {
			d.changes[i].Witness = map[compat.Layer][2]*compat.Witness{}
		}
		d.changes[i].Witness[compat.Data] = pair
		if kind != compat.Lost {
			proved = proved.Combine(compat.Outcome{Answer: compat.Breaks, Kind: kind})
		}
	}
	if !whole.IsHard() {
		return whole.Whole()
	}
	if proved.IsHard() {
		return proved
	}
	return compat.Undecided
}

// mostSaid is how many of a payload's violations are looked at for the one that
// tells of the change at hand.
const mostSaid = 20

// nearest picks the violation that stands nearest to a place of the reader's
// schema: a payload may be refused for another change too.
func nearest(list []schemas.Violation, at schemas.Pointer) schemas.Violation {
	best, length := list[0], -1
	for _, v := range list {
		n := 0
		for n < len(v.Schema) && n < len(at) && v.Schema[n] == at[n] {
			n++
		}
		if n > length {
			best, length = v, n
		}
	}
	return best
}

// witness builds a payload for a change and lets the real reader judge it; nil
// when none could be built or the reader took it unharmed. at is where the
// change stands in the reader's schema.
func (d *differ) witness(h hurt, direction int, expected compat.Kind, at schemas.Pointer) (*compat.Witness, compat.Kind) {
	writer, reader, finite := d.old, d.next, d.byNew.finite
	if direction == oldReadsNew {
		writer, reader, finite = d.next, d.old, d.byOld.finite
	}
	if !h.reached[direction] || d.shown[direction] > mostShown {
		return nil, compat.Unhurt
	}
	b := datum{finite: finite}
	b.at(writer.Root(), h.step[direction].indexes(direction == newReadsOld), h.pick[direction])
	if b.failed || !d.meter.Spend(len(b.bytes)) {
		return nil, compat.Unhurt
	}
	options := schemas.ReadOptions{Bytes: 2 * mostDatum, Depth: 4 * mostDatum, Violations: mostSaid}
	payload := schemas.Payload{Bytes: b.bytes}
	w := &compat.Witness{Bytes: b.bytes}
	got := reader.Reads(writer, payload, options)
	kind := compat.Unhurt
	switch {
	case !got.OK():
		v := nearest(got.Violations, at)
		if v.Kind == schemas.TooLarge || v.Kind == schemas.TooComplex {
			return nil, compat.Unhurt
		}
		kind, w.Text = compat.Refused, v.Text
	case expected == compat.Lost:
		kind, w.Text = compat.Lost, "the value is skipped, and the reader's default takes its place"
	case len(got.Losses) > 0:
		l := got.Losses[0]
		w.Text = l.Text
		switch l.Kind {
		case schemas.Lost:
			kind = compat.Lost
		case schemas.Altered:
			kind = compat.Altered
		case schemas.AlteredOutOfRange:
			return nil, compat.Unhurt
		}
	}
	if kind == compat.Unhurt {
		return nil, kind
	}
	// What the writer itself cannot read back was never a payload.
	json, bad := writer.JSONOf(b.bytes, options)
	if len(bad) > 0 {
		return nil, compat.Unhurt
	}
	w.JSON = string(json)
	d.shown[direction] += len(json)
	return w, kind
}
