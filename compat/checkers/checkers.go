// Package checkers lists the checkers, one per format, and all of their rules.
// What a binary can compare is what this list says.
package checkers

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
)

// All lists the checkers, by the names of their formats.
func All() []compat.Checker {
	return []compat.Checker{avro.Checker, jsonschema.Checker, protobuf.Checker}
}

// Rules lists every rule that a finding can name: the core's, then each
// checker's in the order of its catalogue.
func Rules() []compat.Rule {
	list := slices.Clone(compat.CoreRules())
	for _, c := range All() {
		list = append(list, c.Rules...)
	}
	return list
}

// Named lists every rule that a finding can name: those of Rules, and those of
// other tools' rule sets.
func Named() []compat.Rule {
	list := Rules()
	for _, c := range All() {
		list = append(list, c.CategoryRules...)
	}
	return list
}

// ByID finds a rule by its id, or by one that it had before.
func ByID(id string) (compat.Rule, bool) { return compat.RuleByID(Rules(), id) }

// Dependents answers the two sides of a text that both sides of a pair have, so
// that they compare without being compiled; ok is false where that cannot be.
func Dependents(d compat.Dependent) (old, next schemas.Schema, ok bool) {
	if d.Source.Type != schemas.Protobuf {
		return nil, nil, false
	}
	return protobuf.Dependents(d)
}
