package jsonschema

import (
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func truth(old, next schemas.Schema, budget compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
	o, err := checkable(old, "old")
	if err != nil {
		return nil, nil
	}
	n, err := checkable(next, "new")
	if err != nil {
		return nil, nil
	}
	a, _ := contained(o, n, budget)
	b, _ := contained(n, o, budget)
	return compat.OnData(a, b), nil
}

// contained tells whether every value of writer fits reader; if not, which break.
func contained(writer, reader *jsonschema.Schema, budget compat.Budget) (compat.Outcome, []*jsontext.Value) {
	s := newSolver(budget.Meter(), writer.IsDynamic() || reader.IsDynamic())
	g := s.goal([]literal{{writer.Root(), false}, {reader.Root(), true}})
	var values []*jsontext.Value
	outcome := s.pairs.Run(func() compat.Outcome {
		var st state
		values, st = s.solve(g)
		switch st {
		case found:
			return compat.Refuses
		case open:
			return compat.Undecided
		default:
			return compat.Reads
		}
	})
	return outcome, values
}
