package avro

import (
	"math"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// endless is the cost of a type that no finite value has.
const endless = math.MaxInt

// huge is the cost from which a value is never built, though it exists: records
// that hold two of the next kind each grow past any memory.
const huge = 1 << 24

// finite knows the smallest value of every type of a schema. Cost counts the
// nodes of that value; it tells which types have none, and which branch of a
// union a smallest value takes.
type finite struct {
	meter *compat.Meter
	named []int // by Named.Number
}

// newFinite computes the costs of all named types to a fixpoint: they start
// endless and only ever get smaller.
func newFinite(s *avro.Schema, meter *compat.Meter) *finite {
	known := s.Known()
	f := &finite{meter: meter, named: make([]int, len(known))}
	for i := range f.named {
		f.named[i] = endless
	}
	for changed := true; changed && !meter.Spent(); {
		changed = false
		// Definitions mostly stand before what uses them from below, so going
		// backwards settles most schemas in one round.
		for i := len(known) - 1; i >= 0; i-- {
			if f.named[i] != endless {
				continue
			}
			if cost := f.define(known[i]); cost != endless {
				f.named[i], changed = cost, true
			}
		}
	}
	return f
}

func (f *finite) define(n *avro.Named) int {
	f.meter.Spend(1 + len(n.Fields))
	if n.Kind == avro.Enum && len(n.Symbols) == 0 {
		return endless
	}
	cost := plus(1, n.Size)
	for _, field := range n.Fields {
		if cost = plus(cost, f.cost(field.Type)); cost == endless {
			return endless
		}
	}
	return cost
}

func (f *finite) cost(t *avro.Type) int {
	switch {
	case t.Named != nil:
		return f.named[t.Named.Number]
	case t.Kind == avro.Union:
		if i := f.cheapest(t); i >= 0 {
			return plus(1, f.cost(t.Branches[i]))
		}
		return endless
	}
	return 1
}

// cheapest is the index of the branch with the smallest value, the first of
// several; -1 when none has a value.
func (f *finite) cheapest(t *avro.Type) int {
	best, at := endless, -1
	for i, b := range t.Branches {
		if cost := f.cost(b); cost < best {
			best, at = cost, i
		}
	}
	return at
}

// cheapestValue is cheapest among the branches that are not null, where there is
// one: null tells nothing, as defaults often are null.
func (f *finite) cheapestValue(t *avro.Type) int {
	best, at := huge, -1
	for i, b := range t.Branches {
		if cost := f.cost(b); b.Kind != avro.Null && cost < best {
			best, at = cost, i
		}
	}
	if at < 0 {
		return f.cheapest(t)
	}
	return at
}

// plus adds costs; what is huge stays huge, and is not endless.
func plus(a, b int) int {
	if a == endless || b == endless {
		return endless
	}
	return min(a+b, huge)
}
