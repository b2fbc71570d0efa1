// Package linters lists the linters of this module. What a binary can look for
// is what its list says; nothing registers itself.
package linters

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/lint/avro"
	"github.com/cartorio-registry/cartorio/lint/jsonschema"
	"github.com/cartorio-registry/cartorio/lint/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
)

// All lists the linters in the order of the formats.
var All = []lint.Linter{avro.Linter, jsonschema.Linter, protobuf.Linter}

// Of finds the linter of a format.
func Of(t schemas.Type) (lint.Linter, bool) {
	i := slices.IndexFunc(All, func(l lint.Linter) bool { return l.Format == t })
	if i < 0 {
		return lint.Linter{}, false
	}
	return All[i], true
}

// Rules lists the rules of all formats.
func Rules() []lint.Rule {
	var list []lint.Rule
	for _, l := range All {
		list = append(list, l.Rules...)
	}
	return list
}

// Named finds rules by a name that people have for them, as [compat.RulesNamed].
func Named(name string) (list []lint.Rule) {
	all := Rules()
	listed := make([]compat.Rule, len(all))
	for i, r := range all {
		listed[i] = r.Listed()
	}
	for _, found := range compat.RulesNamed(listed, name) {
		list = append(list, all[slices.IndexFunc(all, func(r lint.Rule) bool { return r.ID == found.ID })])
	}
	return list
}
