package protobuf

import "slices"

// Shape is what a plain proto3 text declares, read without compiling it: as much
// as it takes to follow fields to the types of other files. Enum values and
// services are not in it.
type Shape struct {
	Package  string
	Messages []*ShapeMessage // outer before inner, in text order
	Enums    []string        // full names
	Imports  []string        // paths, the bundled ones left out
	// Bundled are the full names that the imported bundled files define.
	Bundled []string
}

// ShapeMessage is a message by its full name.
type ShapeMessage struct {
	Name   string
	Fields []ShapeField // in text order, those of oneofs behind the others
}

// ShapeField is a field. Type is as written; Key is the key's of a map, empty
// for none; Oneof is the name of the one that it is in, empty for none.
type ShapeField struct {
	Name, JSON string
	Number     int32
	Label      Label
	Type, Key  string
	Oneof      string
}

// ShapeOf reads text; ok is false where it is not plain: of another syntax, or
// with what the shape does not tell, such as custom options, json_name, packed,
// extensions or public imports. It does not find everything that is wrong with a
// text.
func ShapeOf(text string) (shape *Shape, ok bool) {
	f, ok := plainFile("", text)
	if !ok || f.Syntax != "proto3" || telling(f.Options) {
		return nil, false
	}
	out := &Shape{Package: f.Package}
	for _, i := range f.Imports {
		switch {
		case i.Public:
			return nil, false
		case bundledPaths[i.Path]:
			out.Bundled = append(out.Bundled, bundledFiles[i.Path].unit().file.names()...)
		case !slices.Contains(out.Imports, i.Path):
			out.Imports = append(out.Imports, i.Path)
		}
	}
	for _, s := range f.Services {
		ok = ok && !telling(s.Options)
	}
	for _, e := range f.Enums {
		ok = out.enum(e) && ok
	}
	f.each(func(m *Message) { ok = ok && out.message(m) })
	return out, ok
}

// mostShaped bounds the fields of a message, each of which is held against the
// others.
const mostShaped = 1_000

// telling tells whether an option changes what a declaration is, or may.
func telling(list []Option) bool {
	return slices.ContainsFunc(list, func(o Option) bool {
		switch o.Name[0].Name {
		case "packed", "features", "map_entry", "message_set_wire_format":
			return true
		}
		return o.Name[0].Extension
	})
}

func (s *Shape) enum(e *Enum) bool {
	s.Enums = append(s.Enums, e.FullName)
	return !telling(e.Options) && !slices.ContainsFunc(e.Values, func(v *EnumValue) bool { return telling(v.Options) })
}

func (s *Shape) message(m *Message) bool {
	out := &ShapeMessage{Name: m.FullName}
	s.Messages = append(s.Messages, out)
	ok := !telling(m.Options)
	for _, e := range m.Enums {
		ok = s.enum(e) && ok
	}
	for _, f := range m.Fields {
		ok = ok && out.field(f, "")
	}
	for _, o := range m.Oneofs {
		for _, f := range o.Fields {
			ok = ok && out.field(f, o.Name)
		}
	}
	return ok
}

func (m *ShapeMessage) field(from *Field, oneof string) bool {
	f := ShapeField{
		Name: from.Name, JSON: jsonName(from.Name), Number: from.Number, Label: from.Label,
		Type: from.Type, Key: from.Key, Oneof: oneof,
	}
	if from.IsMap() {
		f.Type = from.Value
	}
	if from.Default != nil || from.JSONName != nil || telling(from.Options) || f.Number < 1 || f.Number > maxTag || len(m.Fields) == mostShaped ||
		slices.ContainsFunc(m.Fields, func(g ShapeField) bool { return g.Number == f.Number || g.Name == f.Name || g.JSON == f.JSON }) {
		return false
	}
	m.Fields = append(m.Fields, f)
	return true
}
