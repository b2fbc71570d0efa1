// Package protobuf compares Protobuf schemas.
//
// The reference registry's answer is a faithful port of its rules, blind spots
// included: messages and enums by name, fields by number, no field names, no
// defaults, no reservations, no groups. What happens to data is told apart from
// it, on the wire, in the JSON mapping and in generated code: proved by the
// tables of kinds, or refuted by a payload that the real reader refused or
// changed. buf's rule sets can be asked for too (see [Categories]).
//
// Start with [Checker].
package protobuf

import (
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Checker compares Protobuf schemas.
var Checker = compat.Checker{
	Format:        schemas.Protobuf,
	Reference:     Reference,
	Truth:         truth,
	Repair:        repair,
	Rules:         rules,
	Categories:    Categories,
	CategoryNames: CategoryNames(),
	CategoryRules: CategoryRules(),
	Layer:         compat.Wire,
	Message:       Message,
	SameWhenEqual: true,
}

// Reference answers as the reference registry does whether reader can read what
// writer wrote. The policy changes nothing for Protobuf.
//
// Errors: compat.ErrNotChecked, wrapped, when a side is no Protobuf schema or
// the budget is exhausted.
// Source: protobuf compatibility, part A.
func Reference(reader, writer schemas.Schema, _ compat.Policy, budget compat.Budget) ([]compat.Difference, error) {
	if _, _, ok := dependents(writer, reader); ok {
		// Both have the same words, and refer to the same versions, whose contents
		// the reference does not compare again.
		return nil, nil
	}
	update := compiledOf(reader)
	if update == nil {
		return nil, fmt.Errorf("%w: the reader is no Protobuf schema", compat.ErrNotChecked)
	}
	original := compiledOf(writer)
	if original == nil {
		return nil, fmt.Errorf("%w: the writer is no Protobuf schema", compat.ErrNotChecked)
	}
	p := &port{
		original: newSide(original), update: newSide(update),
		meter: budget.Meter(), done: map[pair][]compat.Difference{},
	}
	list := p.files()
	if err := p.meter.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// descriptions say in a sentence what a difference of each incompatible type
// is; %[1]s is the reader, %[2]s the writer, %[3]s the path.
var descriptions = map[string]string{
	packageChanged:       "The package of the %[1]s schema at path '%[3]s' is not the package of the %[2]s schema",
	messageRemoved:       "The %[1]s schema is missing the message at path '%[3]s' of the %[2]s schema",
	requiredAddedPeer:    "The %[1]s schema has a required field at path '%[3]s' that the %[2]s schema does not have",
	requiredRemovedPeer:  "The %[1]s schema is missing the required field at path '%[3]s' of the %[2]s schema",
	kindChanged:          "The type of the field at path '%[3]s' in the %[1]s schema is of another kind than in the %[2]s schema",
	scalarKindChanged:    "The scalar type of the field at path '%[3]s' in the %[1]s schema does not fit the one in the %[2]s schema",
	numericLabelChanged:  "The label of the numeric field at path '%[3]s' in the %[1]s schema is not the one in the %[2]s schema",
	namedTypeChanged:     "The message type of the field at path '%[3]s' in the %[1]s schema does not fit the one in the %[2]s schema",
	oneofFieldRemoved:    "The %[1]s schema is missing the oneof field at path '%[3]s' of the %[2]s schema",
	multipleMovedToOneof: "The oneof at path '%[3]s' in the %[1]s schema gathers several fields that are outside a oneof in the %[2]s schema",
	movedToExistingOneof: "The oneof at path '%[3]s' in the %[1]s schema gathers fields that exclude one another only in part in the %[2]s schema",
}

// Message writes a difference as the reference does for Protobuf:
//
//	{errorType:"TYPE", description:"… path …"}
//
// with our rule, if any, inside the description.
//
// Source: protobuf compatibility, A.10.
func Message(d compat.Difference, reader, writer, rule string) string {
	form, ok := descriptions[d.Type]
	if !ok {
		form = "The %[1]s schema differs from the %[2]s schema at path '%[3]s'"
	}
	text := fmt.Sprintf(form, reader, writer, d.Path)
	if rule != "" {
		text += " (" + rule + ")"
	}
	return `{errorType:"` + d.Type + `", description:"` + text + `"}`
}
