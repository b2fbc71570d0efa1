package protobuf

import (
	"slices"
	"strings"
)

// Symbol is what a full name stands for: one of Message, Enum and Extension.
type Symbol struct {
	Name      string // full, without a leading dot
	File      *File
	Message   *Message
	Enum      *Enum
	Extension *Field
	Scope     string // of an extension: what its names are resolved from
}

// IsType tells whether a field can have the symbol as its type.
func (s Symbol) IsType() bool { return s.Message != nil || s.Enum != nil }

func (s Symbol) isExtension() bool { return s.Extension != nil }

// LocalName is the name without its file's package.
func (s Symbol) LocalName() string { return localName(s.File, s.Name) }

// index finds symbols by full name: those of a graph's files, then those of the
// bundled files.
type index struct {
	symbols map[string]Symbol
	// hidden are the bundled paths that a reference replaces.
	hidden map[string]bool
}

func newIndex() *index { return &index{symbols: map[string]Symbol{}, hidden: map[string]bool{}} }

func (x *index) add(s Symbol) {
	if _, taken := x.symbols[s.Name]; !taken {
		x.symbols[s.Name] = s
	}
}

// addFile puts the types and extensions of f in; what is there already stays.
func (x *index) addFile(f *File) {
	extends := func(list []*Extend) {
		for _, e := range list {
			for _, field := range e.Fields {
				x.add(Symbol{Name: join(e.Scope, field.Name), File: f, Extension: field, Scope: e.Scope})
			}
			for _, g := range e.Groups {
				one := &Field{Label: g.Label, Type: g.Body.Name, Name: strings.ToLower(g.Body.Name), Number: g.Number}
				x.add(Symbol{Name: join(e.Scope, one.Name), File: f, Extension: one, Scope: e.Scope})
			}
		}
	}
	for _, e := range f.Enums {
		x.add(Symbol{Name: e.FullName, File: f, Enum: e})
	}
	extends(f.Extends)
	f.each(func(m *Message) {
		x.add(Symbol{Name: m.FullName, File: f, Message: m})
		for _, e := range m.Enums {
			x.add(Symbol{Name: e.FullName, File: f, Enum: e})
		}
		extends(m.Extends)
	})
}

func (x *index) find(name string) (Symbol, bool) {
	if s, ok := x.symbols[name]; ok {
		return s, true
	}
	if !slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(name, root) }) {
		return Symbol{}, false
	}
	s, ok := bundledSymbols()[name]
	return s, ok && !x.hidden[s.File.Path]
}

// resolve finds a name as seen from scope, innermost first. Unlike protoc it
// does not settle on the first scope that knows the name's first part, but goes
// on until the whole name is found.
//
// Source: protobuf compatibility, A.7.
func (x *index) resolve(scope, name string, want func(Symbol) bool) (Symbol, bool) {
	if full, ok := strings.CutPrefix(name, "."); ok {
		s, found := x.find(full)
		return s, found && want(s)
	}
	for {
		if s, ok := x.find(join(scope, name)); ok && want(s) {
			return s, true
		}
		if scope == "" {
			return Symbol{}, false
		}
		scope = scope[:max(0, strings.LastIndexByte(scope, '.'))]
	}
}
