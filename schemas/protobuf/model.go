package protobuf

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// File is one .proto text as written: order kept, names unresolved, comments
// gone. Canonical texts are printed from it and the reference rules compare it.
// A File is never changed after it was built.
type File struct {
	// Path is the import path; of the schema's own text the name that was given
	// with it, if any.
	Path string

	Syntax   string // "proto2" or "proto3"; empty when no syntax line is given
	Edition  string // "2023"; empty without an edition line
	Package  string
	Imports  []Import
	Options  []Option
	Messages []*Message
	Enums    []*Enum
	Extends  []*Extend
	Services []*Service
}

// Origin is where a File of a closure comes from. The zero value is the
// schema's own text.
type Origin struct {
	Bundled bool // ships with Cartório
	Subject schemas.Subject
	Version schemas.Version
	Direct  bool // the schema's own reference list names it
}

// IsProto3 tells whether the file follows proto3's rules.
func (f *File) IsProto3() bool { return f.Syntax == "proto3" }

// Import is one import statement.
type Import struct {
	Path         string
	Public, Weak bool
	Place        schemas.Place
}

// Label is what stands before a field's type, nothing being a label too.
type Label uint8

// The labels.
const (
	NoLabel Label = iota
	Optional
	Required
	Repeated
)

// String is the keyword, empty for NoLabel.
func (l Label) String() string { return [...]string{"", "optional", "required", "repeated"}[l] }

// Message is a message declaration, or the body of a group.
type Message struct {
	Name     string
	FullName string // with the package, without a leading dot
	File     *File
	Parent   *Message
	Place    schemas.Place

	Reserved   []Reserved
	Options    []Option
	Fields     []*Field // outside oneofs; maps are fields
	Oneofs     []*Oneof
	Groups     []*Group
	Extensions []ExtensionRanges
	Extends    []*Extend
	Messages   []*Message
	Enums      []*Enum
}

// LocalName is the full name without the file's package.
func (m *Message) LocalName() string { return localName(m.File, m.FullName) }

// IsMapEntry tells whether the message is a hand-written map entry.
func (m *Message) IsMapEntry() bool {
	for _, o := range m.Options {
		if o.Is("map_entry") && o.Value.Kind == Ident && o.Value.Text == "true" {
			return true
		}
	}
	return false
}

func localName(f *File, full string) string {
	if f.Package == "" {
		return full
	}
	return strings.TrimPrefix(full, f.Package+".")
}

// Field is a field, a map field, a oneof member or an extension field.
type Field struct {
	Label  Label
	Type   string // as written; empty for a map
	Key    string // of a map
	Value  string // of a map, as written
	Name   string
	Number int32
	// Options are the real ones; default and json_name stand apart.
	Options  []Option
	Default  *Value
	JSONName *string
	Place    schemas.Place
}

// IsMap tells whether the field is a map<k, v>.
func (f *Field) IsMap() bool { return f.Type == "" }

// Group is a proto2 group: a field and its message in one.
type Group struct {
	Label   Label
	Number  int32
	Options []Option
	Body    *Message
	Place   schemas.Place
}

// Oneof is a oneof declaration.
type Oneof struct {
	Name    string
	Options []Option
	Fields  []*Field
	Groups  []*Group
	Place   schemas.Place
}

// Enum is an enum declaration.
type Enum struct {
	Name     string
	FullName string
	File     *File
	Place    schemas.Place
	Reserved []Reserved
	Options  []Option
	Values   []*EnumValue
}

// LocalName is the full name without the file's package.
func (e *Enum) LocalName() string { return localName(e.File, e.FullName) }

// EnumValue is a name and its number.
type EnumValue struct {
	Name    string
	Number  int32
	Options []Option
	Place   schemas.Place
}

// Extend is an extend block.
type Extend struct {
	Extendee string // as written
	Scope    string // full name of what encloses the block
	Fields   []*Field
	Groups   []*Group
	Place    schemas.Place
}

// Service is a service declaration.
type Service struct {
	Name    string
	Options []Option
	Methods []*Method
	Place   schemas.Place
}

// Method is an rpc.
type Method struct {
	Name                       string
	Input, Output              string // as written
	ClientStream, ServerStream bool
	Options                    []Option
	Place                      schemas.Place
}

// Reserved is one reserved statement: numbers or names.
type Reserved struct {
	Ranges []Range
	Names  []string
	Bare   bool // names without quotes, as editions write them
	Place  schemas.Place
}

// ExtensionRanges is one extensions statement.
type ExtensionRanges struct {
	Ranges  []Range
	Options []Option
	Place   schemas.Place
}

// Range is a range of numbers, both ends included.
type Range struct {
	Start, End int32
	Max        bool // End was written, or means, "max"
}

// Option is one assignment.
type Option struct {
	Name  []NamePart
	Value Value
	Place schemas.Place
}

// Is tells whether the option's name is the plain one given.
func (o Option) Is(name string) bool {
	return len(o.Name) == 1 && !o.Name[0].Extension && o.Name[0].Name == name
}

// NamePart is one part of an option's name; Extension parts stand in
// parentheses.
type NamePart struct {
	Name      string
	Extension bool
}

// ValueKind is the kind of an option's value.
type ValueKind uint8

// The kinds.
const (
	Ident     ValueKind = iota // true, CODE_SIZE, inf
	Number                     // as written, with its sign
	String                     // bytes, unescaped
	List                       // [ … ]
	Aggregate                  // { … }
)

// Value is an option's value.
type Value struct {
	Kind   ValueKind
	Text   string
	Items  []Value
	Fields []ValueField
}

// ValueField is one entry of an aggregate. Name is an identifier,
// "[extension.name]" or "[url/type.name]".
type ValueField struct {
	Name  string
	Value Value
}

// each calls fn for every message of the file, outer before inner, groups
// included.
func (f *File) each(fn func(*Message)) {
	for _, m := range f.Messages {
		m.each(fn)
	}
	for _, x := range f.Extends {
		for _, g := range x.Groups {
			g.Body.each(fn)
		}
	}
}

func (m *Message) each(fn func(*Message)) {
	fn(m)
	for _, g := range m.allGroups() {
		g.Body.each(fn)
	}
	for _, n := range m.Messages {
		n.each(fn)
	}
}

// allGroups are the groups of the message, of its oneofs and extend blocks.
func (m *Message) allGroups() []*Group {
	list := m.Groups[:len(m.Groups):len(m.Groups)]
	for _, o := range m.Oneofs {
		list = append(list, o.Groups...)
	}
	for _, x := range m.Extends {
		list = append(list, x.Groups...)
	}
	return list
}
