package avro

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// trail leads from a writer's type to a value in it that the reader hurts. Most
// changes are seen in any telling value at their place; where another branch of
// the reader's union takes some values and not others, one has to be looked for.
type trail struct {
	resolution *resolution
	open       map[pair]bool
	path       []int           // the writer's steps
	pick       int             // the symbol at its end, or -1 for any value
	at         schemas.Pointer // what the reader complains of there
}

// find follows what the resolution blames; false when it leads nowhere.
func (t *trail) find(r, w *avro.Type) bool {
	s := t.resolution
	if !s.meter.Spend(1) || !s.of(r, w).IsHard() {
		return false
	}
	switch {
	case w.Kind == avro.Union:
		for i, b := range w.Branches {
			if t.into(i, r, b) {
				return true
			}
		}
		return false
	case r.Kind == avro.Union:
		if b := s.chosen(r, w); b != nil {
			return t.find(b, w)
		}
		return t.ends(r.Pointer())
	case r.Kind != w.Kind || w.Kind.IsPrimitive():
		return t.ends(r.Pointer())
	case w.Named == nil:
		return t.into(0, r.Items, w.Items)
	}
	return t.named(r, w)
}

// ends takes the place for the end of the trail.
func (t *trail) ends(at schemas.Pointer) bool {
	t.at = at
	return true
}

func (t *trail) into(step int, r, w *avro.Type) bool {
	t.path = append(t.path, step)
	if t.find(r, w) {
		return true
	}
	t.path = t.path[:len(t.path)-1]
	return false
}

func (t *trail) named(r, w *avro.Type) bool {
	key := pair{readerNamed: r.Named, writerNamed: w.Named}
	if t.open[key] {
		return false
	}
	t.open[key] = true
	if !namesMatch(r.Named, w.Named) {
		return t.ends(r.Pointer())
	}
	switch r.Kind {
	case avro.Enum:
		if missing := missingIn(r.Named, w.Named); len(missing) > 0 {
			t.pick = slices.Index(w.Named.Symbols, missing[0])
		}
	case avro.Record:
		m := t.resolution.match(r.Named, w.Named)
		for _, field := range r.Named.Fields {
			source := m.source[field.Index]
			if m.isAmbiguous(field) || source == nil && !t.resolution.usable(field) {
				return t.ends(field.Pointer())
			}
			if source != nil && t.into(source.Index, field.Type, source.Type) {
				return true
			}
		}
		return false
	default: // a fixed is of another size
	}
	return t.ends(r.Pointer())
}

// sought builds a payload that the resolution says is hurt at the place of h, where
// none that was simply telling was, and names the place of the reader's schema that
// is hurt; nil when it finds none.
func (d *differ) sought(h hurt, direction int, path []int) (payload []byte, at schemas.Pointer) {
	s, writer := d.byNew, d.old
	if direction == oldReadsNew {
		s, writer = d.byOld, d.next
	}
	t := trail{resolution: s, open: map[pair]bool{}, path: slices.Clone(path), pick: -1}
	r, w := h.types[direction].reader, h.types[direction].writer
	if pick := h.pick[direction]; pick >= 0 {
		if w.Kind != avro.Union || pick >= len(w.Branches) {
			return nil, "" // the value was given
		}
		t.path, w = append(t.path, pick), w.Branches[pick]
	}
	if !t.find(r, w) {
		return nil, ""
	}
	b := datum{finite: s.finite}
	b.at(writer.Root(), t.path, t.pick)
	if b.failed || !d.meter.Spend(len(b.bytes)) {
		return nil, ""
	}
	return b.bytes, t.at
}

// typePair is what one side reads with and the other wrote, at one place.
type typePair struct{ reader, writer *avro.Type }

// typesOf are the pairs of a place, by direction.
func typesOf(p place) [2]typePair {
	return [2]typePair{newReadsOld: {p.byNew, p.o}, oldReadsNew: {p.byOld, p.n}}
}
