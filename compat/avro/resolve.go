package avro

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// resolution answers what a reader makes of everything that a writer can write,
// by the rules of our own reader. What it says is Safe is proved; what it says
// breaks is shown only with a witness that the real reader refused.
//
// Source: avro-compat 3, 5 to 8.
type resolution struct {
	meter    *compat.Meter
	pairs    *compat.Pairs[pair]
	finite   *finite     // of the writer; nil where it does not matter that a type has no value
	twin     *resolution // see lax
	isLax    bool
	matches  map[pair]*matching
	fields   map[*avro.Named]*fieldsByName
	choices  map[typePair]*avro.Type // which branch, where several had the name
	defaults defaults
}

func newResolution(meter *compat.Meter, writer *finite) *resolution {
	return &resolution{
		meter: meter, pairs: compat.NewPairs[pair](meter), finite: writer,
		matches: map[pair]*matching{}, fields: map[*avro.Named]*fieldsByName{}, defaults: defaults{meter: meter},
	}
}

// lax is the twin that chooses among the branches of a union: to it any default
// counts as usable, and every type as having a value.
func (s *resolution) lax() *resolution {
	if s.twin == nil {
		s.twin = newResolution(s.meter, nil)
		s.twin.isLax = true
	}
	return s.twin
}

// whole repeats the comparison of the roots until no guess is left in it.
func (s *resolution) whole(r, w *avro.Type) compat.Outcome {
	return s.pairs.Run(func() compat.Outcome { return s.of(r, w) })
}

// of answers for two types. A writer's type that no finite value has is read
// by anything. Only definitions are remembered: what is nested without a name
// ends soon.
func (s *resolution) of(r, w *avro.Type) compat.Outcome {
	switch {
	case !s.meter.Spend(1):
		return compat.Undecided
	case r.Kind.IsPrimitive() && w.Kind.IsPrimitive():
		return promotion(r.Kind, w.Kind)
	case w.Kind == avro.Union:
		out := compat.Reads
		for _, branch := range w.Branches {
			out = out.Combine(s.of(r, branch))
		}
		return out
	case s.finite != nil && s.finite.cost(w) == endless:
		return compat.Reads
	case r.Kind == avro.Union:
		return s.branch(r, w)
	case r.Kind != w.Kind:
		return compat.Refuses
	case r.Named == nil:
		return s.of(r.Items, w.Items)
	}
	return s.pairs.Of(pair{readerNamed: r.Named, writerNamed: w.Named}, func() compat.Outcome { return s.named(r.Named, w.Named) })
}

func (s *resolution) named(r, w *avro.Named) compat.Outcome {
	out := compat.Reads
	switch {
	case !namesMatch(r, w):
		return compat.Refuses
	case r.Kind == avro.Fixed:
		if r.Size != w.Size {
			return compat.Refuses
		}
	case r.Kind == avro.Enum:
		s.meter.Spend(len(w.Symbols))
		if len(missingIn(r, w)) > 0 {
			if r.HasDefault {
				return compat.Alters
			}
			return compat.Refuses
		}
	case r.Kind == avro.Record:
		m := s.match(r, w)
		for _, field := range r.Fields {
			out = out.Combine(s.field(m, field))
		}
	}
	return out
}

// namesMatch: simple names, or an alias of the reader.
func namesMatch(r, w *avro.Named) bool {
	return r.Name == w.Name || slices.Contains(r.Aliases, w.Full)
}

// branch is what the branch that the reader chooses makes of w.
func (s *resolution) branch(r, w *avro.Type) compat.Outcome {
	s.meter.Spend(len(r.Branches))
	if b := s.chosen(r, w); b != nil {
		return s.of(b, w)
	}
	return compat.Refuses
}

// chosen is the branch of a reader's union for what is no union; nil when none
// fits. In order: same kind and full name; same kind and simple name or alias;
// same unnamed kind; then the promotions, nearest first. Of several the first
// counts that takes everything, else the first.
func (s *resolution) chosen(r, w *avro.Type) *avro.Type {
	if w.Named != nil {
		return s.chosenNamed(r, w)
	}
	var nearest *avro.Type
	for _, b := range r.Branches {
		if b.Kind == w.Kind {
			return b // there is one of a kind, and a promotion is never better
		}
		if promotes(w.Kind, b.Kind) && (nearest == nil || b.Kind < nearest.Kind) {
			nearest = b
		}
	}
	return nearest
}

// chosenNamed chooses among definitions. The choice is made by the lax twin,
// whose answers are final: to choose by guesses could go round in circles.
func (s *resolution) chosenNamed(r, w *avro.Type) *avro.Type {
	var first, full *avro.Type
	var more []*avro.Type
	for _, b := range r.Branches {
		switch {
		case b.Kind != w.Kind || !namesMatch(b.Named, w.Named) && b.Named.Full != w.Named.Full:
		case b.Named.Full == w.Named.Full:
			full = b
		case first == nil:
			first = b
		default:
			more = append(more, b)
		}
	}
	if full == nil && len(more) == 0 {
		return first
	}
	if first == nil {
		return full
	}
	key := typePair{r, w}
	if b := s.choices[key]; b != nil {
		return b
	}
	list := append([]*avro.Type{first}, more...)
	if full != nil {
		list = append([]*avro.Type{full}, list...)
	}
	if s.isLax { // whose answers are guesses as yet
		return firstOr(list, func(b *avro.Type) bool { return s.of(b, w).Kind != compat.Refused })
	}
	if s.choices == nil {
		s.choices = map[typePair]*avro.Type{}
	}
	b := firstOr(list, func(b *avro.Type) bool { return s.lax().whole(b, w).Kind != compat.Refused })
	s.choices[key] = b
	return b
}

// firstOr is the first of a list that is good, or the first of all.
func firstOr(list []*avro.Type, good func(*avro.Type) bool) *avro.Type {
	return list[max(0, slices.IndexFunc(list, good))]
}

// passedOver is the branch that a reader's union chooses for w where b has the name
// as well and is not chosen; nil where it is, or nothing was to be chosen.
func (s *resolution) passedOver(r, w, b *avro.Type) *avro.Type {
	chosen := s.choices[typePair{r, w}]
	if chosen == nil || chosen == b || b.Kind != w.Kind || !namesMatch(b.Named, w.Named) {
		return nil
	}
	return chosen
}

// promotion is what becomes of every value of a primitive.
func promotion(r, w avro.Kind) compat.Outcome {
	switch {
	case r == w:
		return compat.Reads
	case !promotes(w, r):
		return compat.Refuses
	case r == avro.String:
		return compat.Alters // bytes that are no UTF-8
	case r == avro.Float && w != avro.Float, r == avro.Double && w == avro.Long:
		return compat.Rounds
	}
	return compat.Reads
}

// field is what the reader's field becomes.
func (s *resolution) field(m *matching, field *avro.Field) compat.Outcome {
	if m.isAmbiguous(field) {
		return compat.Refuses
	}
	if source := m.source[field.Index]; source != nil {
		return s.of(field.Type, source.Type)
	}
	if s.usable(field) {
		return compat.Reads
	}
	return compat.Refuses
}

// matching tells which fields of a writer's record fill those of a reader's.
type matching struct {
	source    []*avro.Field // by the reader's index; nil where nothing fills the field
	ambiguous []bool        // by the reader's index; nil when none is
}

// isAmbiguous tells whether two fields of the writer fit the reader's field.
func (m *matching) isAmbiguous(field *avro.Field) bool {
	return m.ambiguous != nil && m.ambiguous[field.Index]
}

// match pairs fields by name, then by the reader's aliases. A writer's field
// fills one field: that of its name, else the first that lists it.
func (s *resolution) match(r, w *avro.Named) *matching {
	key := pair{readerNamed: r, writerNamed: w}
	if m := s.matches[key]; m != nil {
		return m
	}
	s.meter.Spend(len(r.Fields))
	m, writer := &matching{source: make([]*avro.Field, len(r.Fields))}, s.fieldsOf(w)
	s.matches[key] = m
	var taken map[*avro.Field]bool
	for i, field := range r.Fields {
		m.source[i] = writer.get(field.Name)
	}
	for i, field := range r.Fields {
		for _, alias := range field.Aliases {
			f := writer.get(alias)
			if f == nil || f == m.source[i] {
				continue
			}
			if m.source[i] != nil {
				if m.ambiguous == nil {
					m.ambiguous = make([]bool, len(r.Fields))
				}
				m.ambiguous[i] = true
				continue
			}
			if taken[f] || s.fieldsOf(r).get(alias) != nil {
				continue
			}
			if taken == nil {
				taken = map[*avro.Field]bool{}
			}
			m.source[i], taken[f] = f, true
		}
	}
	return m
}

func (s *resolution) fieldsOf(n *avro.Named) *fieldsByName {
	f := s.fields[n]
	if f == nil {
		f = &fieldsByName{named: n}
		s.fields[n] = f
	}
	return f
}

// usable tells whether a field's default can be filled in; the lax twin takes
// any.
func (s *resolution) usable(field *avro.Field) bool {
	if field.Default == nil || s.isLax {
		return field.Default != nil
	}
	return s.defaults.of(field)
}
