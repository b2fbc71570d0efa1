// Package jsonschema compares JSON Schemas.
//
// It answers as the reference registry would ([Checker].Reference): a port of
// that registry's rules, quirks included, in its own types and paths. The port
// compares classes (see class.go), not keywords: a schema is first put into one
// of a few classes, and only classes of one kind are compared further.
//
// What happens to data ([Checker].Truth) is decided by refutation: a search for
// a value that one schema takes and the other does not (search.go). It takes the
// demands of both apart (assert.go) into branches (branch.go) that numbers, texts,
// objects and arrays answer for. Where no branch has a value there is none, and
// the pair is proved; a value that was built is held to the real validator. What
// is different is found by walking both texts side by side (diff.go), and blamed
// by the values that break (blame.go).
package jsonschema

import (
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// Checker compares JSON Schemas.
var Checker = compat.Checker{
	Format:        schemas.JSON,
	Reference:     reference,
	Truth:         truth,
	Repair:        repair,
	Within:        within,
	Message:       message,
	Rules:         rules,
	SameWhenEqual: true,
}

// reference is the reference registry's answer: what would stop, or change, a
// reader on reader that meets data of writer.
//
// Errors: compat.ErrNotChecked (wrapped) for a schema of another format, one
// that was stored unchecked and does not hold together, or a pair that takes
// more steps than the budget.
//
// Source: JSON Schema specification 2.2 to 2.4.
func reference(reader, writer schemas.Schema, policy compat.Policy, budget compat.Budget) ([]compat.Difference, error) {
	old, err := checkable(writer, "writer")
	if err != nil {
		return nil, err
	}
	next, err := checkable(reader, "reader")
	if err != nil {
		return nil, err
	}
	p := &port{meter: budget.Meter(), policy: policy, classes: map[*jsonschema.Node]*class{}, refuted: map[pair]*result{}}
	r, err := p.solve(p.classOf(old.Root()), p.classOf(next.Root()))
	if err != nil {
		return nil, err
	}
	return r.differences(policy), nil
}

func checkable(s schemas.Schema, side string) (*jsonschema.Schema, error) {
	js, ok := s.(*jsonschema.Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the %s schema is no JSON Schema", compat.ErrNotChecked, side)
	}
	if err := js.Err(); err != nil {
		return nil, fmt.Errorf("%w: the %s schema does not hold together: %w", compat.ErrNotChecked, side, err)
	}
	return js, nil
}
