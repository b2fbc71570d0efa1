package protobuf

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The compiler is quadratic in a few places. limitEffort bounds what they come
// to; a stored schema may cost ten times as much.
const limitEffort schemas.Limit = "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges, names by scopes)"

const mostEffort = 100_000_000

// bound refuses a graph that would take the compiler out of proportion.
//
// Errors: *schemas.LimitError.
func (g *graph) bound(limits schemas.Limits) error {
	most := mostEffort
	if g.stored {
		most *= 10
	}
	total := 0
	for _, u := range g.all() {
		if n, most := len(u.file.Imports), limits.References+len(bundledPaths); n > most && !g.stored {
			return &schemas.LimitError{Limit: schemas.LimitReferences, Most: most, Found: n}
		}
		total += g.effortOf(u)
		if total > most {
			return &schemas.LimitError{Limit: limitEffort, Most: most, Found: total}
		}
	}
	return nil
}

// effortOf is effort, counted once for a file that takes the same in every graph.
func (g *graph) effortOf(u *unit) int {
	if u.extends() {
		return g.effort(u.file)
	}
	u.counted.Do(func() { u.effort = g.effort(u.file) })
	return u.effort
}

// extends tells whether a file declares extensions.
func (u *unit) extends() bool {
	found := len(u.file.Extends) > 0
	u.file.each(func(m *Message) { found = found || len(m.Extends) > 0 })
	return found
}

// effort counts the steps of one file, up to a little more than what is allowed.
func (g *graph) effort(f *File) int {
	total := 0
	// A name is looked for in each scope around it, innermost first, and each
	// try writes out what it looks for.
	name := func(scope, name string) {
		if name != "" && name[0] != '.' && !scalars[name] {
			total += (2 + strings.Count(scope, ".")) * (len(scope) + len(name) + 64) / 2
		}
	}
	var value func(scope string, v Value)
	value = func(scope string, v Value) {
		for _, item := range v.Items {
			value(scope, item)
		}
		for _, one := range v.Fields {
			if strings.HasPrefix(one.Name, "[") {
				name(scope, one.Name)
			}
			value(scope, one.Value)
		}
	}
	options := func(scope string, list []Option) {
		total += len(list) * len(list)
		for _, o := range list {
			for _, part := range o.Name {
				if part.Extension {
					name(scope, part.Name)
				}
			}
			value(scope, o.Value)
		}
	}
	fields := func(scope string, list []*Field) (optional int) {
		for _, one := range list {
			total += len(scope) // of its full name
			name(scope, one.Type)
			name(scope, one.Value)
			options(scope, one.Options)
			if one.Label == Optional && f.IsProto3() {
				optional++ // a oneof of its own
			}
		}
		return optional
	}
	groups := func(scope string, list []*Group) {
		for _, one := range list {
			options(scope, one.Options)
		}
	}
	extends := func(list []*Extend) {
		for _, x := range list {
			name(x.Scope, x.Extendee)
			fields(x.Scope, x.Fields)
			groups(x.Scope, x.Groups)
			if total > 10*mostEffort {
				return
			}
			s, ok := g.index.resolve(x.Scope, x.Extendee, Symbol.IsType)
			if !ok || s.Message == nil {
				continue
			}
			ranges := 0
			for _, r := range s.Message.Extensions {
				ranges += len(r.Ranges)
			}
			// A step here costs as much as fifteen of the others.
			total += 15 * ranges * (len(x.Fields) + len(x.Groups))
		}
	}
	enums := func(scope string, list []*Enum) {
		for _, e := range list {
			options(scope, e.Options)
			for _, v := range e.Values {
				total += len(scope)
				options(scope, v.Options)
			}
		}
	}
	options(f.Package, f.Options)
	extends(f.Extends)
	enums(f.Package, f.Enums)
	for _, s := range f.Services {
		scope := join(f.Package, s.Name)
		options(scope, s.Options)
		for _, m := range s.Methods {
			total += len(scope)
			name(scope, m.Input)
			name(scope, m.Output)
			options(scope, m.Options)
		}
	}
	f.each(func(m *Message) {
		scope := m.FullName
		total += len(scope)
		options(scope, m.Options)
		all, oneofs := len(m.Fields), len(m.Oneofs)
		oneofs += fields(scope, m.Fields)
		for _, o := range m.Oneofs {
			all += len(o.Fields)
			options(scope, o.Options)
			fields(scope, o.Fields)
			groups(scope, o.Groups)
		}
		total += all * oneofs
		for _, r := range m.Extensions {
			options(scope, r.Options)
		}
		groups(scope, m.Groups)
		extends(m.Extends)
		enums(scope, m.Enums)
	})
	return total
}
