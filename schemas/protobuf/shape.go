package protobuf

import (
	"slices"
	"strconv"
)

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
	Fields []ShapeField // in text order
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
	s := &sketch{text: text, shape: &shaping{}}
	if !s.next() || !s.file() || s.shape.not || !s.shape.isProto3 {
		return nil, false
	}
	out := &s.shape.Shape
	out.Package, out.Imports = s.pack, s.needs
	out.Enums = append(s.enums, s.inner...)
	return out, true
}

// mostShaped bounds the fields of a message, each of which is held against the
// others.
const mostShaped = 1_000

// shaping is a Shape in the making; nil makes none.
type shaping struct {
	Shape
	now           *ShapeMessage // whose fields are read
	isProto3, not bool
}

func (s *shaping) refuse() {
	if s != nil {
		s.not = true
	}
}

func (s *shaping) syntax(syntax string) {
	if s != nil {
		s.isProto3 = syntax == "proto3"
	}
}

func (s *shaping) imports(path string) {
	if s != nil && bundledPaths[path] {
		s.Bundled = append(s.Bundled, bundledFiles[path].unit().file.names()...)
	}
}

// telling are the options that change what a field is.
var telling = []string{"default", "json_name", "packed", "features", "map_entry", "message_set_wire_format"}

func (s *shaping) option(name string) {
	if s != nil && slices.Contains(telling, name) {
		s.not = true
	}
}

// open begins a message, and answers the one around it for shut.
func (s *shaping) open(full string) (around *ShapeMessage) {
	if s == nil {
		return nil
	}
	around, s.now = s.now, &ShapeMessage{Name: full}
	s.Messages = append(s.Messages, s.now)
	return around
}

func (s *shaping) shut(around *ShapeMessage) {
	if s != nil {
		s.now = around
	}
}

func (s *shaping) field(f ShapeField, name, number string) {
	if s == nil {
		return
	}
	n, err := strconv.ParseInt(number, 10, 32)
	f.Name, f.JSON, f.Number = name, jsonName(name), int32(n)
	if s.not || err != nil || n < 1 || n > maxTag || len(s.now.Fields) == mostShaped || slices.ContainsFunc(s.now.Fields, func(g ShapeField) bool {
		return g.Number == f.Number || g.Name == f.Name || g.JSON == f.JSON
	}) {
		s.not = true
	}
	s.now.Fields = append(s.now.Fields, f)
}
