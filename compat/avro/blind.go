package avro

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// A consumer that decodes with its own schema, and never asks for the writer's,
// is outside of what any verdict says. Most changes end there in an error, or
// leave bytes over. What is looked for here are the payloads of which nothing
// tells: they decode to their last byte, and to another value than was written.
//
// Source: avro-compat 12.

// moves are the rules whose changes put other bytes in the place of the old ones
// without more or fewer of them, so that a payload of which nothing tells is
// easily found. Symbols in another order are not among them: their change tells
// by itself what such a consumer sees.
var moves = map[string]bool{
	fieldsReordered.ID: true, unionReordered.ID: true,
	unionWrapped.ID: true, unionUnwrapped.ID: true, nullAllowed.ID: true, nullForbidden.ID: true, branchAdded.ID: true, branchRemoved.ID: true,
	symbolAdded.ID: true, symbolRemoved.ID: true, symbolAddedUnder.ID: true, symbolRemovedUnder.ID: true,
}

const (
	mostBlind     = 4     // changes of a pair that are looked at, per direction
	blindAttempts = 32    // payloads for each
	largestBlind  = 4_096 // cost of a payload, in values
)

// blind gives the first change that shows a blind read its payload, in each
// direction.
func (d *differ) blind() {
	for direction, side := range []struct {
		writer, reader *avro.Schema
		finite         *finite
	}{{d.old, d.next, d.byNew.finite}, {d.next, d.old, d.byOld.finite}} {
		if !d.asked[direction] || side.finite.cost(side.writer.Root()) > largestBlind {
			continue
		}
		looked := 0
		for i := range d.changes {
			h := d.hurts[i]
			if !moves[d.changes[i].Rule] || !h.reached[direction] {
				continue
			}
			w := (*compat.Witness)(nil)
			if d.brief { // any will do, so the dear comparisons come last
				w = d.blindAt(side.writer, side.reader, side.finite, h, direction, true)
			}
			if w == nil {
				w = d.blindAt(side.writer, side.reader, side.finite, h, direction, false)
			}
			if w != nil {
				d.changes[i].Blind[direction] = w
				break
			}
			if looked++; looked == mostBlind {
				break
			}
		}
	}
}

// blindAt tries payloads that differ at a place. In haste it compares no more of
// them than the one field that is likely to differ.
func (d *differ) blindAt(writer, reader *avro.Schema, finite *finite, h hurt, direction int, haste bool) *compat.Witness {
	options := schemas.ReadOptions{Bytes: mostDatum, Violations: 1, Value: true}
	path := h.step[direction].indexes(direction == newReadsOld)
	r := rand.New(rand.NewPCG(1, 1)) // the same payloads everywhere
	for attempt := range blindAttempts {
		b := datum{finite: finite, some: r, one: attempt%2 == 0, moved: h.moved[direction]}
		b.at(writer.Root(), path, -1)
		if b.failed || !d.meter.Spend(len(b.bytes)+1) {
			return nil
		}
		if !reader.Holds(b.bytes) {
			continue
		}
		if likely := d.filledBy(h.types[direction], b.drawn, direction); haste && likely == nil || !misread(reader, writer, b.bytes, options, likely, haste) {
			continue
		}
		if d.brief {
			return &compat.Witness{Bytes: b.bytes, Kind: compat.Altered}
		}
		shown, bad := writer.JSONOf(b.bytes, options)
		taken, worse := reader.JSONOf(b.bytes, options)
		if len(bad) > 0 || len(worse) > 0 {
			continue
		}
		return &compat.Witness{
			JSON: string(shown), Bytes: b.bytes, Kind: compat.Altered,
			Text: "decoded with the reader's own schema alone it is " + short(string(taken)) + ", and no error tells",
		}
	}
	return nil
}

// misread tells whether a reader that decodes with its own schema alone takes a
// payload for another value than the resolution gives. Where a field of the reader
// is likely to differ that is compared first, since wide records are dear to build,
// and in haste nothing else is.
func misread(reader, writer *avro.Schema, b []byte, options schemas.ReadOptions, likely *avro.Field, haste bool) bool {
	differ := func(read func(writer *avro.Schema) schemas.Reading) (differs, more bool) {
		resolved := read(writer)
		if !resolved.OK() || len(resolved.Losses) > 0 {
			return false, false
		}
		alone := read(reader)
		return alone.OK() && !equal(alone.Value, resolved.Value), alone.OK()
	}
	if likely != nil {
		differs, more := differ(func(w *avro.Schema) schemas.Reading { return reader.ReadsPart(w, b, options, likely) })
		if differs || !more || haste {
			return differs
		}
	}
	differs, _ := differ(func(w *avro.Schema) schemas.Reading {
		return reader.Reads(w, schemas.Payload{Bytes: b}, options)
	})
	return differs
}

// filledBy is the reader's field that a field of the writer fills; nil where none
// was drawn, or none is filled.
func (d *differ) filledBy(t typePair, drawn *avro.Field, direction int) *avro.Field {
	s, r := d.byNew, t.reader
	if direction == oldReadsNew {
		s = d.byOld
	}
	if drawn == nil || t.writer.Kind != avro.Record {
		return nil
	}
	if r.Kind == avro.Union {
		r = s.chosen(r, t.writer)
	}
	if r == nil || r.Kind != avro.Record {
		return nil
	}
	for i, source := range s.match(r.Named, t.writer.Named).source {
		if source == drawn {
			return r.Named.Fields[i]
		}
	}
	return nil
}

// equal compares two values as Reads gives them.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok || len(a) != len(other) {
			return false
		}
		for name, v := range a {
			if w, ok := other[name]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, equal)
	case []byte:
		other, ok := b.([]byte)
		return ok && bytes.Equal(a, other)
	}
	switch b.(type) {
	case map[string]any, []any, []byte:
		return false
	}
	return a == b
}

// random writes some small value of t: in a record, of one field or of all.
func (d *datum) random(t *avro.Type, depth int) {
	if depth == 0 || d.failed || len(d.bytes) > mostDatum {
		d.smallest(t)
		return
	}
	switch t.Kind {
	case avro.Boolean:
		d.bytes = append(d.bytes, byte(d.some.IntN(2)))
	case avro.Int, avro.Long:
		d.long([]int64{0, 1, 2, -1, 'x' / 2}[d.some.IntN(5)])
	case avro.String, avro.Bytes:
		d.text([]string{"", "\x00", "\x02", "x", "xx"}[d.some.IntN(5)])
	case avro.Enum:
		d.long(int64(d.some.IntN(len(t.Named.Symbols))))
	case avro.Union:
		i := d.some.IntN(len(t.Branches))
		if d.finite.cost(t.Branches[i]) >= huge {
			i = d.finite.cheapest(t)
		}
		d.long(int64(i))
		d.random(t.Branches[i], depth-1)
	case avro.Record:
		moved := d.moved
		d.moved = nil // of the record at the place alone
		drawn := func(i int) bool {
			_, found := slices.BinarySearch(moved, i) // which stand in order
			return moved == nil || found
		}
		if n := len(t.Named.Fields); d.one && n > 0 {
			only := d.some.IntN(n)
			if moved != nil {
				only = moved[only%len(moved)]
				d.drawn = t.Named.Fields[only]
			}
			drawn = func(i int) bool { return i == only }
		}
		for i, f := range t.Named.Fields {
			if drawn(i) {
				d.random(f.Type, depth-1)
			} else {
				d.smallest(f.Type)
			}
		}
	default:
		d.telling(t, -1)
	}
}
