package avro

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Normalized is the canonical text with custom attributes and aliases sorted,
// logical types first, empty docs of types dropped, defaults spelled as their
// field's type asks and "error" written as record; the references are sorted by
// subject and version and made distinct. A type of the null namespace inside a
// namespaced one keeps its "namespace":"".
//
// Source: REST contract 5.1.1.
func (s *Schema) Normalized() (string, []schemas.Reference) {
	references := slices.Clone(s.source.References)
	slices.SortStableFunc(references, func(a, b schemas.Reference) int {
		if c := strings.Compare(a.Subject, b.Subject); c != 0 {
			return c
		}
		return int(a.Version) - int(b.Version)
	})
	seen := map[schemas.Reference]bool{}
	references = slices.DeleteFunc(references, func(r schemas.Reference) bool {
		twin := seen[r]
		seen[r] = true
		return twin
	})
	return s.normalized(), references
}

func (s *Schema) makeNormalized() string {
	return printer{supplied: s.supplied, normalized: true, room: len(s.canonical)}.print(s.root)
}

// Equivalent tells whether other is structurally equal, with the references of
// both written out: names, fields in order, types, defaults, docs, aliases, enum
// defaults and attributes; the order of attributes and aliases is nothing.
//
// Source: REST contract 5.5.
func (s *Schema) Equivalent(other schemas.Schema) bool {
	o, ok := other.(*Schema)
	return ok && (s == o || s.equivalence() == o.equivalence())
}

func (s *Schema) makeEquivalence() string {
	return printer{compared: true, room: len(s.canonical)}.print(s.root)
}

// Same tells whether s and other differ at most in what normalization takes away,
// with the references of both written out. A reader then takes the writer's
// schema for its own, and looks at no alias.
func (s *Schema) Same(other *Schema) bool {
	plain := func(s *Schema) string { return printer{normalized: true, room: len(s.canonical)}.print(s.root) }
	return s.fingerprint == other.fingerprint || plain(s) == plain(other)
}

// aliasesItself tells whether a field's alias is the name of a field beside it, so
// that the schema's own data would fit that field twice.
func (s *Schema) aliasesItself() bool {
	return slices.ContainsFunc(s.known, func(n *Named) bool {
		return slices.ContainsFunc(n.Fields, func(f *Field) bool {
			return slices.ContainsFunc(f.Aliases, func(alias string) bool { return alias != f.Name && n.Field(alias) != nil })
		})
	})
}

// Resolved is the canonical text with every referenced type written out at its
// first use: what format=resolved returns.
func (s *Schema) Resolved() string { return printer{room: len(s.canonical)}.print(s.root) }

// appendDefault appends a default with its numbers spelled as the type asks: 1
// for a double is 1.0. What does not fit its type, as stored schemas may have
// it, stays as it is.
func appendDefault(dst []byte, t *Type, v *jsontext.Value) []byte {
	switch {
	case (t.Kind == Float || t.Kind == Double) && v.Kind == jsontext.Number && !isNonFinite(v.Text):
		bits := 64
		if t.Kind == Float {
			bits = 32
		}
		f, _ := strconv.ParseFloat(v.Text, bits) // out of range is an infinity
		return appendNumber(dst, javaFloat(f, bits))
	case t.Kind == Array && v.Kind == jsontext.Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendDefault(dst, t.Items, item)
		}
		return append(dst, ']')
	case (t.Kind == Map || t.Kind == Record) && v.Kind == jsontext.Object:
		dst = append(dst, '{')
		for i, m := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(dst, m.Name)
			dst = append(dst, ':')
			member := t.Items
			if t.Kind == Record {
				member = nil
				if f := t.Named.Field(m.Name); f != nil {
					member = f.Type
				}
			}
			if member == nil {
				dst = appendJSON(dst, m.Value, false)
			} else {
				dst = appendDefault(dst, member, m.Value)
			}
		}
		return append(dst, '}')
	case t.Kind == Union:
		c := defaultCheck{left: mostDefaultSteps}
		for _, b := range t.Branches {
			if c.fits(b, v) {
				return appendDefault(dst, b, v)
			}
		}
	}
	return appendJSON(dst, v, false)
}
