package avro

import (
	"bytes"
	"slices"

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
	defer d.release()
	whole := compat.Effect{
		NewReadsOld: d.byNew.whole(n.Root(), o.Root()),
		OldReadsNew: d.byOld.whole(o.Root(), n.Root()),
	}
	d.types(place{o: o.Root(), n: n.Root(), byOld: o.Root(), byNew: n.Root(), live: [2]bool{true, true}})
	if d.ambiguities > 0 && o.Same(n) {
		return map[compat.Layer]compat.Effect{compat.Data: reads}, nil
	}
	d.asked, d.brief = [2]bool{newReadsOld: budget.Asked.Backward(), oldReadsNew: budget.Asked.Forward()}, budget.Asked.Brief
	decided := compat.Effect{
		NewReadsOld: d.decide(whole.NewReadsOld, newReadsOld),
		OldReadsNew: d.decide(whole.OldReadsNew, oldReadsNew),
	}
	if !d.brief {
		d.prove(len(d.changes), whole.NewReadsOld, newReadsOld)
		d.prove(len(d.changes), whole.OldReadsNew, oldReadsNew)
	}
	d.blind()
	return map[compat.Layer]compat.Effect{compat.Data: decided}, d.noted()
}

// The directions, as they index a change's witnesses.
const (
	newReadsOld = 0
	oldReadsNew = 1
)

// mostShown is how many bytes of witnesses one direction of a pair shows; wide
// records with many breaks would repeat themselves past any reader's patience.
const mostShown = 4 << 20

// decide answers the whole pair's outcome in a direction, for which it gives
// changes that hurt their witnesses until the worst has one: no break without a
// witness.
func (d *differ) decide(whole compat.Outcome, direction int) compat.Outcome {
	if !whole.IsHard() {
		return whole.Whole()
	}
	proved := compat.Reads
	for n := 1; n <= len(d.changes) && d.asked[direction] && proved != compat.Refuses; n++ {
		proved = proved.Combine(d.prove(n, whole, direction))
	}
	if proved.IsHard() {
		return proved
	}
	return compat.Undecided
}

// prove gives those of the first n changes that hurt in a direction, and were not
// looked at before, their witnesses, and answers the worst that these show of the
// whole pair.
func (d *differ) prove(n int, whole compat.Outcome, direction int) compat.Outcome {
	proved := compat.Reads
	for ; d.looked[direction] < n; d.looked[direction]++ {
		i := d.looked[direction]
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
		w := d.witness(d.hurts[i], direction, hurt.Kind, place.Pointer)
		if w == nil {
			continue
		}
		pair := d.changes[i].Witness[compat.Data]
		pair[direction] = w
		if d.changes[i].Witness == nil {
			d.changes[i].Witness = map[compat.Layer][2]*compat.Witness{}
		}
		d.changes[i].Witness[compat.Data] = pair
		if w.Kind != compat.Lost {
			proved = proved.Combine(compat.Outcome{Answer: compat.Breaks, Kind: w.Kind})
		}
	}
	return proved
}

// mostSaid is how many of a payload's violations are looked at for the one that
// tells of the change at hand; how many when it was not among those; and how many
// for all changes of a pair.
const (
	mostSaid    = 20
	mostSaidAll = 10_000
	mostHeard   = 300_000
)

// mostVariants is how many payloads are tried for one that shows the change at
// hand alone.
const mostVariants = 4

// shared counts the leading bytes that two pointers have in common.
func shared(a, b schemas.Pointer) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// touches tells whether one of two places lies inside the other, or both are one.
func touches(a, b schemas.Pointer) bool {
	n := shared(a, b)
	return n == len(a) && (n == len(b) || b[n] == '/') || n == len(b) && a[n] == '/'
}

// nearest picks what stands nearest to a place of the reader's schema: a payload
// may be refused, or hurt, for another change too.
func nearest[T any](list []T, at schemas.Pointer, where func(T) schemas.Pointer) (best T, own bool) {
	length := -1
	for _, v := range list {
		if n := shared(where(v), at); n > length {
			best, length = v, n
		}
	}
	return best, length >= 0 && touches(where(best), at)
}

// witness builds a payload for a change and lets the real reader judge it; nil
// when none could be built or the reader took it unharmed. at is where the
// change stands in the reader's schema. Of several payloads the first counts
// that the reader hurts for this change, and no other.
func (d *differ) witness(h hurt, direction int, expected compat.Kind, at schemas.Pointer) *compat.Witness {
	writer, reader, finite := d.old, d.next, d.byNew.finite
	if direction == oldReadsNew {
		writer, reader, finite = d.next, d.old, d.byOld.finite
	}
	if !h.reached[direction] || d.shown[direction] > mostShown {
		return nil
	}
	path := h.step[direction].indexes(direction == newReadsOld)
	var best *compat.Witness
	alone := false // does best show this change?
	options := schemas.ReadOptions{Bytes: 2 * mostDatum, Depth: 4 * mostDatum, Violations: mostSaid}
	var last []byte
	for variant := range mostVariants {
		b := datum{finite: finite, variant: variant}
		b.at(writer.Root(), path, h.pick[direction])
		if b.failed || !d.meter.Spend(len(b.bytes)) {
			break
		}
		if variant > 0 && bytes.Equal(b.bytes, last) {
			continue
		}
		last = b.bytes
		again := bytes.Equal(d.last[direction].payload, b.bytes)
		got := d.read(direction, reader, writer, b.bytes, options)
		w, own := judged(got, b.bytes, expected, at)
		if !own && len(got.Violations) == mostSaid && d.heard < mostHeard {
			options.Violations = mostSaidAll
			if again { // the changes behind this one may need it too
				got = d.read(direction, reader, writer, b.bytes, options)
			} else {
				var seen int
				got, seen = reader.ReadsNearest(writer, b.bytes, options, at)
				d.heard += seen
			}
			options.Violations = mostSaid
			w, own = judged(got, b.bytes, expected, at)
		}
		if w != nil && (own || best == nil) {
			best, alone = w, own
		}
		if own {
			break
		}
	}
	if !alone && expected != compat.Lost {
		if payload, at := d.sought(h, direction, path); payload != nil {
			if w, own := judged(d.read(direction, reader, writer, payload, options), payload, expected, at); own || best == nil {
				best = w
			}
		}
	}
	if best == nil {
		return nil
	}
	// What the writer itself cannot read back was never a payload.
	options.Violations = 1
	json, bad := writer.JSONOf(best.Bytes, options)
	if len(bad) > 0 {
		return nil
	}
	best.JSON = string(json)
	d.shown[direction] += len(json)
	return best
}

// reading is what a reader made of a payload, kept for the changes to come that
// need the same one.
type reading struct {
	payload []byte
	most    int // violations
	got     schemas.Reading
}

func (d *differ) read(direction int, reader, writer *avro.Schema, payload []byte, options schemas.ReadOptions) schemas.Reading {
	last := &d.last[direction]
	if last.most < options.Violations || !bytes.Equal(last.payload, payload) {
		*last = reading{payload, options.Violations, reader.Reads(writer, schemas.Payload{Bytes: payload}, options)}
		if options.Violations > mostSaid {
			d.heard += len(last.got.Violations)
		}
	}
	return last.got
}

// judged makes a witness of what the reader made of a payload, and tells whether
// that is about the change at a place of the reader's schema.
func judged(got schemas.Reading, payload []byte, expected compat.Kind, at schemas.Pointer) (w *compat.Witness, own bool) {
	w = &compat.Witness{Bytes: payload}
	violation, near := nearest(got.Violations, at, func(v schemas.Violation) schemas.Pointer { return v.Schema })
	if violation.Kind == schemas.TooLarge || violation.Kind == schemas.TooComplex {
		return nil, false
	}
	const skipped = "the value is skipped, and the reader's default takes its place"
	switch {
	case !got.OK() && expected == compat.Lost:
		w.Kind, w.Text = compat.Refused, skipped+"; the payload is refused besides: "+violation.Text
		return w, false
	case !got.OK():
		w.Kind, w.Text = compat.Refused, violation.Text
		return w, near && expected == compat.Refused
	case expected == compat.Lost:
		w.Kind, w.Text = compat.Lost, skipped
		return w, true
	}
	hard := slices.DeleteFunc(slices.Clone(got.Losses), func(l schemas.Loss) bool { return l.Kind == schemas.AlteredOutOfRange })
	if len(hard) == 0 {
		return nil, false
	}
	loss, near := nearest(hard, at, func(l schemas.Loss) schemas.Pointer { return l.Schema })
	w.Kind, w.Text = compat.Altered, loss.Text
	if loss.Kind == schemas.Lost {
		w.Kind = compat.Lost
	}
	return w, near
}
