// Package avro compares Avro schemas: what the reference registry would say
// ([Checker].Reference, a faithful port with its oddities), and what happens to
// data ([Checker].Truth, proved or refuted by the resolver of schemas/avro).
//
// Rules are data: a value in rules.go and one example file under rules/. It
// refuses to know levels, histories and HTTP; compat has the first two.
package avro

import (
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// Checker is Avro's comparison as a value.
var Checker = compat.Checker{
	Format:    schemas.Avro,
	Reference: reference,
	Truth:     truth,
	Repair:    repair,
	Layer:     compat.Data,
	Rules:     rules,
	Message:   message,
}

// reference answers as the reference registry: Avro Java's reader/writer check.
//
// Errors: compat.ErrNotChecked when a side is no Avro schema of ours, or the
// budget is exhausted.
func reference(reader, writer schemas.Schema, _ compat.Policy, budget compat.Budget) ([]compat.Difference, error) {
	r, ok := reader.(*avro.Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the reader is a %T, not a parsed Avro schema", compat.ErrNotChecked, reader)
	}
	w, ok := writer.(*avro.Schema)
	if !ok {
		return nil, fmt.Errorf("%w: the writer is a %T, not a parsed Avro schema", compat.ErrNotChecked, writer)
	}
	p := port{meter: budget.Meter(), memory: map[pair]*faults{}, named: map[uint64]*faults{}}
	list := p.check(r.Root(), w.Root())
	room := mostDifferences
	if p.failed != nil {
		return p.failed.differences(&room), nil
	}
	if err := p.meter.Err(); err != nil {
		return nil, err
	}
	return list.differences(&room), nil
}
