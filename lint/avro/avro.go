// Package avro looks at Avro schemas for what the format accepts and people
// seldom mean: unions that cannot grow, names that collide, logical types that
// are ignored, defaults that no reader can fill in.
//
// It compares nothing. The rules are in rules.go, the texts and examples in
// rules/, the walk is [Linter].Look.
package avro

import (
	"embed"
	"slices"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

//go:embed rules
var files embed.FS

// Linter looks at Avro schemas.
var Linter = lint.Linter{Format: schemas.Avro, Rules: lint.WithExamples(files, listed()...), Look: look}

func listed() []lint.Rule {
	out := make([]lint.Rule, len(rules))
	for i, r := range rules {
		out[i] = r.Rule
	}
	return out
}

// rule is a rule and how it is looked for: what each function is called with, it
// is called with once.
type rule struct {
	lint.Rule
	schema func(*visit)
	named  func(*visit, *avro.Named)
	field  func(*visit, *avro.Named, *avro.Field)
	// written is a type as it is written at one place; the name of a type that is
	// defined elsewhere is one too.
	written func(*visit, *avro.Type)
}

// visit is one look at one schema.
type visit struct {
	lint.Room
	subject lint.Subject
	schema  *avro.Schema
	edit    jsontext.Editor
	places  map[schemas.Pointer]schemas.Place
	doubts  []avro.Doubt
	inside  map[schemas.Pointer]inner // made when first asked for
	rule    string
	at      string // the logical path of what is looked at
}

func look(s lint.Subject) []lint.Remark {
	parsed, ok := s.Schema.(*avro.Schema)
	if !ok {
		return nil
	}
	text := parsed.Source().Text
	root, err := jsontext.Parse(text, jsontext.Options{Comments: true})
	if err != nil {
		return nil // it was parsed before
	}
	v := &visit{subject: s, schema: parsed, edit: jsontext.Editor{Text: text, Root: root}, places: jsontext.PositionsOf(text, root), doubts: parsed.Doubts()}
	each := func(fn func(rule)) {
		for _, r := range rules {
			if !s.Wants(r.ID) {
				continue
			}
			v.rule = r.ID
			fn(r)
		}
	}
	each(func(r rule) {
		if r.schema != nil {
			r.schema(v)
		}
	})
	v.types(parsed.Root(), each)
	for _, n := range parsed.Definitions() {
		v.at = n.Full
		each(func(r rule) {
			if r.named != nil {
				r.named(v, n)
			}
		})
		for _, f := range n.Fields {
			v.at = n.Full + "." + f.Name
			each(func(r rule) {
				if r.field != nil {
					r.field(v, n, f)
				}
			})
			v.types(f.Type, each)
		}
	}
	return v.Sorted()
}

// types walks what is written at one place, down to names and definitions.
func (v *visit) types(t *avro.Type, each func(func(rule))) {
	each(func(r rule) {
		if r.written != nil {
			r.written(v, t)
		}
	})
	switch t.Kind {
	case avro.Array, avro.Map:
		v.types(t.Items, each)
	case avro.Union:
		for _, b := range t.Branches {
			v.types(b, each)
		}
	default: // nothing is written inside
	}
}

// say remarks on the member of a node, or on the node itself where it has none
// of that name.
func (v *visit) say(node schemas.Pointer, member, text, value string, edits ...jsontext.Edit) {
	at := node
	if v.edit.At(node).Get(member) != nil {
		at = node.Append(member)
	}
	v.Add(lint.Remark{Rule: v.rule, Place: v.places[at], Path: v.at, Text: text, Value: value, Edits: edits})
}

// take is the edit that takes a member out of an object.
func (v *visit) take(node schemas.Pointer, member string) []jsontext.Edit {
	object := v.edit.At(node)
	if object == nil || object.Kind != jsontext.Object || len(object.Members) < 2 {
		return nil
	}
	return v.edit.Set(object, [2]string{member, ""})
}

// doubt makes remarks of the doubts of a class.
func doubt(kinds ...avro.DoubtKind) func(*visit) {
	return func(v *visit) {
		for _, d := range v.doubts {
			if slices.Contains(kinds, d.Kind) {
				place := v.places[d.Pointer]
				if d.Kind == avro.MemberRepeated || place.Position.Line == 0 {
					place = schemas.Place{Pointer: d.Pointer, Position: d.Position, End: d.Position}
				}
				v.Add(lint.Remark{Rule: v.rule, Place: place, Path: v.pathOf(d.Pointer), Text: d.Summary, Value: d.Summary})
			}
		}
	}
}

// pathOf is the logical path of the innermost definition or field at or around
// a pointer.
func (v *visit) pathOf(p schemas.Pointer) string { return v.outer(p.Append("")).path }
