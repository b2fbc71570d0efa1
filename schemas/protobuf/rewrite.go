package protobuf

import (
	"slices"
	"strings"
)

// scalars are the names that a field's type can have without a declaration.
var scalars = map[string]bool{
	"double": true, "float": true, "int32": true, "int64": true, "uint32": true, "uint64": true,
	"sint32": true, "sint64": true, "fixed32": true, "fixed64": true, "sfixed32": true, "sfixed64": true,
	"bool": true, "string": true, "bytes": true,
}

// IsScalar tells whether a type name is one of the fifteen built in.
func IsScalar(name string) bool { return scalars[name] }

// rewriter makes another File of a File; names go through the functions.
type rewriter struct {
	index *index
	// visible are the paths that names are looked for in first, as protoc does;
	// nil means all.
	visible map[string]bool
	own     *File
	// absolute writes a resolved name; unresolved ones stay as written.
	absolute func(Symbol) string
	// option writes the resolved name of a custom option.
	option func(Symbol) string
	used   func(Symbol)
	// keep says which options stay; nil keeps all.
	keep func(Option) bool
	// bare leaves extend blocks and extension ranges out.
	bare bool
}

func (r *rewriter) typeName(scope, name string) string {
	if name == "" || scalars[name] {
		return name
	}
	s, ok := r.resolve(scope, name, Symbol.IsType)
	if !ok {
		return name
	}
	if r.used != nil {
		r.used(s)
	}
	return r.absolute(s)
}

func (r *rewriter) resolve(scope, name string, want func(Symbol) bool) (Symbol, bool) {
	if r.visible != nil {
		s, ok := r.index.resolve(scope, name, func(s Symbol) bool {
			return want(s) && (s.File == r.own || r.visible[s.File.Path])
		})
		if ok {
			return s, true
		}
	}
	return r.index.resolve(scope, name, want)
}

func (r *rewriter) options(scope string, list []Option) []Option {
	list = slices.Clone(list)
	if r.keep != nil {
		list = slices.DeleteFunc(list, func(o Option) bool { return !r.keep(o) })
	}
	for i := range list {
		list[i].Name = slices.Clone(list[i].Name)
		for j, part := range list[i].Name {
			if part.Extension {
				list[i].Name[j].Name = r.extension(scope, part.Name)
			}
		}
		list[i].Value = r.value(scope, list[i].Value)
	}
	return list
}

func (r *rewriter) extension(scope, name string) string {
	s, ok := r.resolve(scope, name, Symbol.isExtension)
	if !ok {
		return name
	}
	if r.used != nil {
		r.used(s)
	}
	return r.option(s)
}

func (r *rewriter) value(scope string, v Value) Value {
	v.Items, v.Fields = slices.Clone(v.Items), slices.Clone(v.Fields)
	for i := range v.Items {
		v.Items[i] = r.value(scope, v.Items[i])
	}
	for i, f := range v.Fields {
		v.Fields[i].Value = r.value(scope, f.Value)
		if inner, ok := strings.CutPrefix(f.Name, "["); ok && !strings.Contains(inner, "/") {
			// Inside a value, protoc wants names without a leading dot.
			v.Fields[i].Name = "[" + strings.TrimPrefix(r.extension(scope, strings.TrimSuffix(inner, "]")), ".") + "]"
		}
	}
	return v
}

func (r *rewriter) file(f *File) *File {
	out := *f
	out.Options = r.options(f.Package, f.Options)
	out.Messages = r.messages(f.Messages)
	out.Enums = r.enums(f.Package, f.Enums)
	out.Extends = r.extends(f.Package, f.Extends)
	out.Services = nil
	for _, s := range f.Services {
		one := *s
		scope := join(f.Package, s.Name)
		one.Options = r.options(scope, s.Options)
		one.Methods = nil
		for _, m := range s.Methods {
			rpc := *m
			rpc.Input, rpc.Output = r.typeName(scope, m.Input), r.typeName(scope, m.Output)
			rpc.Options = r.options(scope, m.Options)
			one.Methods = append(one.Methods, &rpc)
		}
		out.Services = append(out.Services, &one)
	}
	return &out
}

func (r *rewriter) messages(list []*Message) []*Message {
	var out []*Message
	for _, m := range list {
		out = append(out, r.message(m))
	}
	return out
}

func (r *rewriter) message(m *Message) *Message {
	out := *m
	scope := m.FullName
	out.Options = r.options(scope, m.Options)
	entries := m.mapEntries()
	out.Fields = nil
	for _, f := range m.Fields {
		out.Fields = append(out.Fields, r.mapField(scope, f, entries))
	}
	out.Oneofs = nil
	for _, o := range m.Oneofs {
		one := *o
		one.Options = r.options(scope, o.Options)
		one.Fields, one.Groups = r.fields(scope, o.Fields), r.groups(o.Groups)
		out.Oneofs = append(out.Oneofs, &one)
	}
	out.Groups = r.groups(m.Groups)
	if out.Extensions = slices.Clone(m.Extensions); r.bare {
		out.Extensions = nil
	}
	for i := range out.Extensions {
		out.Extensions[i].Options = r.options(scope, out.Extensions[i].Options)
	}
	out.Extends = r.extends(scope, m.Extends)
	out.Messages = nil
	for _, n := range m.Messages {
		if entries[n.FullName] == nil {
			out.Messages = append(out.Messages, r.message(n))
		}
	}
	out.Enums = r.enums(scope, m.Enums)
	return &out
}

// mapEntries are the nested map-entry messages that can be folded into a
// map<k, v>, by full name.
func (m *Message) mapEntries() map[string]*Message {
	var out map[string]*Message
	for _, n := range m.Messages {
		if !n.IsMapEntry() || len(n.Fields) != 2 || len(n.Messages)+len(n.Enums)+len(n.Oneofs)+len(n.Groups) > 0 {
			continue
		}
		if n.entryField(1) == nil || n.entryField(2) == nil {
			continue
		}
		if out == nil {
			out = map[string]*Message{}
		}
		out[n.FullName] = n
	}
	return out
}

func (m *Message) entryField(number int32) *Field {
	for _, f := range m.Fields {
		if f.Number == number && !f.IsMap() && f.Label != Repeated {
			return f
		}
	}
	return nil
}

func (r *rewriter) mapField(scope string, f *Field, entries map[string]*Message) *Field {
	if f.Label == Repeated && len(entries) > 0 {
		if s, ok := r.resolve(scope, f.Type, Symbol.IsType); ok && entries[s.Name] != nil {
			entry := entries[s.Name]
			out := *r.field(scope, f)
			out.Label, out.Type = NoLabel, ""
			out.Key = entry.entryField(1).Type
			out.Value = r.typeName(entry.FullName, entry.entryField(2).Type)
			return &out
		}
	}
	return r.field(scope, f)
}

func (r *rewriter) field(scope string, f *Field) *Field {
	out := *f
	out.Type, out.Value = r.typeName(scope, f.Type), r.typeName(scope, f.Value)
	out.Options = r.options(scope, f.Options)
	return &out
}

func (r *rewriter) fields(scope string, list []*Field) []*Field {
	var out []*Field
	for _, f := range list {
		out = append(out, r.field(scope, f))
	}
	return out
}

func (r *rewriter) groups(list []*Group) []*Group {
	var out []*Group
	for _, g := range list {
		one := *g
		one.Options = r.options(g.Body.FullName, g.Options)
		one.Body = r.message(g.Body)
		out = append(out, &one)
	}
	return out
}

func (r *rewriter) enums(scope string, list []*Enum) []*Enum {
	var out []*Enum
	for _, e := range list {
		one := *e
		one.Options = r.options(scope, e.Options)
		one.Values = nil
		for _, v := range e.Values {
			value := *v
			value.Options = r.options(scope, v.Options)
			one.Values = append(one.Values, &value)
		}
		out = append(out, &one)
	}
	return out
}

func (r *rewriter) extends(scope string, list []*Extend) []*Extend {
	var out []*Extend
	if r.bare {
		return nil
	}
	for _, x := range list {
		one := *x
		one.Extendee = r.typeName(scope, x.Extendee)
		one.Fields, one.Groups = r.fields(scope, x.Fields), r.groups(x.Groups)
		out = append(out, &one)
	}
	return out
}

// rewrite gives the text of a unit that protoc takes where it would refuse the
// original for one of the reasons of compile. ok is false when nothing is
// different.
//
// A new schema gets bundled imports only; a stored one, whatever was visible to
// it in the registry it comes from.
func (g *graph) rewrite(u *unit) (text string, ok bool) {
	seen := visibleTo(u.file, g.fileAt)
	var missing []string
	r := &rewriter{
		index: g.index, visible: seen, own: u.file,
		absolute: func(s Symbol) string { return "." + s.Name },
		option:   func(s Symbol) string { return "." + s.Name },
		used: func(s Symbol) {
			if s.File == u.file || seen[s.File.Path] {
				return
			}
			if g.isBundled(s.File) || g.stored || u != g.own {
				seen[s.File.Path] = true
				missing = append(missing, s.File.Path)
			}
		},
	}
	out := r.file(u.file)
	out.Imports = slices.Clone(out.Imports)
	for _, path := range missing {
		out.Imports = append(out.Imports, Import{Path: path})
	}
	text = out.print(true)
	return text, text != u.canonical()
}

// visibleTo are the paths whose types f may use: its imports and what they
// import publicly. fileAt finds a file by its path.
func visibleTo(f *File, fileAt func(path string) *File) map[string]bool {
	seen := map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if other, ok := aliases[path]; ok {
			path = other
		}
		if seen[path] {
			return
		}
		seen[path] = true
		if f := fileAt(path); f != nil {
			for _, i := range f.Imports {
				if i.Public {
					add(i.Path)
				}
			}
		}
	}
	for _, i := range f.Imports {
		add(i.Path)
	}
	return seen
}

// isBundled tells whether f is a bundled file that no reference replaces.
func (g *graph) isBundled(f *File) bool {
	u := g.others[f.Path]
	return bundledPaths[f.Path] && (u == nil || u.file != f) && f != g.own.file
}

func (g *graph) fileAt(path string) *File {
	if u := g.others[path]; u != nil {
		return u.file
	}
	if bundledPaths[path] {
		return bundledFiles[path].unit().file
	}
	return nil
}
