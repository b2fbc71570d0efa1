package avro

import "slices"

// fitting answers whether a reader's type takes everything that a writer's type
// can hold. A pair of records under examination counts as fitting; guesses are
// repeated until none changes, so that a wrong one never outlives its circle.
type fitting struct {
	left  *int
	memo  map[pair]bool
	order []pair // of memo
	// settled pairs, the first of order, lean on each other only: no later pair
	// changes them.
	settled int
	// unions finds branches by name, since unions may have thousands.
	unions unionIndexes
}

func (f *fitting) all(reader, writer *Type) bool {
	fits := f.check(reader, writer)
	for changed := true; changed && *f.left > 0; {
		changed = false
		for i := f.settled; i < len(f.order); i++ { // it may grow
			if p := f.order[i]; f.memo[p] && !f.record(p) {
				f.memo[p] = false
				changed = true
			}
		}
		if changed {
			fits = f.check(reader, writer)
		}
	}
	f.settled = len(f.order)
	return fits
}

func (f *fitting) check(reader, writer *Type) bool {
	if *f.left--; *f.left <= 0 {
		return false
	}
	switch {
	case writer.Kind == Union:
		for _, b := range writer.Branches {
			if !f.check(reader, b) {
				return false
			}
		}
		return true
	case reader.Kind == Union:
		return slices.ContainsFunc(f.unions.candidates(reader, writer), func(b *Type) bool { return f.check(b, writer) })
	case reader.Kind != writer.Kind:
		return promotes(reader.Kind, writer.Kind)
	}
	switch writer.Kind {
	case Array, Map:
		return f.check(reader.Items, writer.Items)
	case Fixed:
		return sameName(reader.Named, writer.Named) && reader.Named.Size == writer.Named.Size
	case Enum:
		*f.left -= len(writer.Named.Symbols)
		return sameName(reader.Named, writer.Named) &&
			(reader.Named.HasDefault || !slices.Contains(mapSymbols(reader.Named, writer.Named), -1))
	case Record:
		if !sameName(reader.Named, writer.Named) {
			return false
		}
		p := pair{reader.Named, writer.Named}
		if good, ok := f.memo[p]; ok {
			return good
		}
		f.memo[p] = true
		f.order = append(f.order, p)
		good := f.record(p)
		f.memo[p] = good
		return good
	default: // the other kinds need nothing here
	}
	return true
}

func (f *fitting) record(p pair) bool {
	m := matchFields(p.reader, p.writer)
	*f.left -= m.looks
	for i, field := range p.reader.Fields {
		switch at := m.byReader[i]; {
		case m.ambiguous[i]:
			return false
		case at < 0:
			if field.Default == nil {
				return false
			}
		case !f.check(field.Type, p.writer.Fields[at].Type):
			return false
		}
	}
	return true
}
