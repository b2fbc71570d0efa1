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

// symbols are the types and extensions of one file by full name; of two with
// one name the first stays.
type symbols map[string]Symbol

func symbolsOf(f *File) symbols {
	x := symbols{}
	add := func(s Symbol) {
		if _, taken := x[s.Name]; !taken {
			x[s.Name] = s
		}
	}
	extends := func(list []*Extend) {
		for _, e := range list {
			for _, field := range e.Fields {
				add(Symbol{Name: join(e.Scope, field.Name), File: f, Extension: field, Scope: e.Scope})
			}
			for _, g := range e.Groups {
				one := &Field{Label: g.Label, Type: g.Body.Name, Name: strings.ToLower(g.Body.Name), Number: g.Number}
				add(Symbol{Name: join(e.Scope, one.Name), File: f, Extension: one, Scope: e.Scope})
			}
		}
	}
	for _, e := range f.Enums {
		add(Symbol{Name: e.FullName, File: f, Enum: e})
	}
	extends(f.Extends)
	f.each(func(m *Message) {
		add(Symbol{Name: m.FullName, File: f, Message: m})
		for _, e := range m.Enums {
			add(Symbol{Name: e.FullName, File: f, Enum: e})
		}
		extends(m.Extends)
	})
	return x
}

// index finds symbols by full name: those of a graph's files, then those of the
// bundled files. The symbols of a file are made once and shared by the indexes
// of all graphs that it is in.
type index struct {
	// packages are the files of each package, with their places in the graph.
	packages map[string][]placed
	// hidden are the bundled paths that a reference replaces.
	hidden map[string]bool
}

type placed struct {
	place   int
	symbols symbols
}

// newIndex is over some units; where two define one name, the first wins.
func newIndex(units ...*unit) *index {
	x := &index{packages: make(map[string][]placed, len(units)), hidden: map[string]bool{}}
	for i, u := range units {
		x.packages[u.file.Package] = append(x.packages[u.file.Package], placed{i, u.symbols()})
	}
	return x
}

func (x *index) find(name string) (found Symbol, ok bool) {
	best := -1
	look := func(pack string) {
		for _, one := range x.packages[pack] {
			if best >= 0 && one.place > best {
				return
			}
			if s, defined := one.symbols[name]; defined {
				found, best = s, one.place
				return
			}
		}
	}
	look("")
	for i := range len(name) {
		if name[i] == '.' {
			look(name[:i])
		}
	}
	if best >= 0 {
		return found, true
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
