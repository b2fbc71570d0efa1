// Package protobuf looks at .proto files for what the language accepts and
// people seldom mean, and for the style that buf's standard rules ask for.
//
// It compares nothing. The rules are in rules.go, the texts and examples in
// rules/, the walk is [Linter].Look.
package protobuf

import (
	"embed"
	"slices"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

//go:embed rules
var files embed.FS

// Linter looks at Protobuf schemas.
var Linter = lint.Linter{Format: schemas.Protobuf, Rules: lint.WithExamples(files, listed()...), Look: look}

func listed() []lint.Rule {
	out := make([]lint.Rule, len(rules))
	for i, r := range rules {
		out[i] = r.Rule
	}
	return out
}

// rule is a rule and how it is looked for.
type rule struct {
	lint.Rule
	file    func(*visit, *protobuf.File)
	message func(*visit, *protobuf.Message)
	// field is called for the members of oneofs and for extension fields too; m is
	// nil for those of a file.
	field   func(v *visit, m *protobuf.Message, f *protobuf.Field)
	enum    func(*visit, *protobuf.Enum)
	service func(*visit, *protobuf.Service)
}

// visit is one look at one schema.
type visit struct {
	lint.Room
	subject lint.Subject
	schema  *protobuf.Schema
	text    string
	rule    string
	at      string          // the logical path of what is looked at
	used    map[string]bool // paths of files whose types are named; made when first asked for
	tried   int
}

func look(s lint.Subject) []lint.Remark {
	parsed, ok := s.Schema.(*protobuf.Schema)
	if !ok || parsed.File() == nil {
		return nil
	}
	v := &visit{subject: s, schema: parsed, text: parsed.Source().Text}
	f := parsed.File()
	for _, r := range rules {
		if !s.Wants(r.ID) {
			continue
		}
		v.rule = r.ID
		if r.file != nil {
			v.at = f.Package
			r.file(v, f)
		}
		for _, m := range f.Messages {
			v.message(r, m)
		}
		for _, e := range f.Enums {
			v.enum(r, e)
		}
		v.extends(r, nil, f.Extends)
		for _, one := range f.Services {
			if r.service != nil {
				v.at = one.Name
				r.service(v, one)
			}
		}
	}
	return v.Sorted()
}

func (v *visit) message(r rule, m *protobuf.Message) {
	v.at = m.FullName
	if r.message != nil {
		r.message(v, m)
	}
	fields(m, func(f *protobuf.Field) { v.field(r, m, f) })
	v.extends(r, m, m.Extends)
	for _, e := range m.Enums {
		v.enum(r, e)
	}
	for _, inner := range m.Messages {
		v.message(r, inner)
	}
	for _, g := range groups(m) {
		v.message(r, g.Body)
	}
}

func (v *visit) field(r rule, m *protobuf.Message, f *protobuf.Field) {
	if r.field == nil {
		return
	}
	v.at = f.Name
	if m != nil {
		v.at = m.FullName + "." + f.Name
	}
	r.field(v, m, f)
}

func (v *visit) extends(r rule, m *protobuf.Message, list []*protobuf.Extend) {
	for _, x := range list {
		for _, f := range x.Fields {
			v.field(r, m, f)
		}
		for _, g := range x.Groups {
			v.message(r, g.Body)
		}
	}
}

func (v *visit) enum(r rule, e *protobuf.Enum) {
	if r.enum != nil {
		v.at = e.FullName
		r.enum(v, e)
	}
}

// fields calls fn for the fields of a message and of its oneofs, in the order of
// the text.
func fields(m *protobuf.Message, fn func(*protobuf.Field)) {
	list := slices.Clone(m.Fields)
	for _, o := range m.Oneofs {
		list = append(list, o.Fields...)
	}
	slices.SortStableFunc(list, func(a, b *protobuf.Field) int { return a.Place.Position.Offset - b.Place.Position.Offset })
	for _, f := range list {
		fn(f)
	}
}

func groups(m *protobuf.Message) []*protobuf.Group {
	list := slices.Clone(m.Groups)
	for _, o := range m.Oneofs {
		list = append(list, o.Groups...)
	}
	return list
}

// say remarks on a place of the text.
func (v *visit) say(at schemas.Place, text, value string, edits ...jsontext.Edit) {
	v.Add(lint.Remark{Rule: v.rule, Place: at, Path: v.at, Text: text, Value: value, Edits: edits})
}

// start is the place of the file as a whole.
func (v *visit) start() schemas.Place {
	at := schemas.Position{Line: 1, Column: 1}
	return schemas.Place{Position: at, End: at}
}
