package protobuf

import "github.com/cartorio-registry/cartorio/schemas"

// The compiler is quadratic in a few places. limitEffort bounds what they come
// to; a stored schema may cost ten times as much.
const limitEffort schemas.Limit = "steps of compiling (oneofs by fields, options of one element, extensions by extension ranges)"

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
		total += g.effort(u.file)
		if total > most {
			return &schemas.LimitError{Limit: limitEffort, Most: most, Found: total}
		}
	}
	return nil
}

// effort counts the steps of one file, up to a little more than what is allowed.
func (g *graph) effort(f *File) int {
	total := 0
	options := func(list []Option) { total += len(list) * len(list) }
	fields := func(list []*Field) (optional int) {
		for _, one := range list {
			options(one.Options)
			if one.Label == Optional && f.IsProto3() {
				optional++ // a oneof of its own
			}
		}
		return optional
	}
	extends := func(list []*Extend) {
		for _, x := range list {
			fields(x.Fields)
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
	enums := func(list []*Enum) {
		for _, e := range list {
			options(e.Options)
			for _, v := range e.Values {
				options(v.Options)
			}
		}
	}
	options(f.Options)
	extends(f.Extends)
	enums(f.Enums)
	f.each(func(m *Message) {
		options(m.Options)
		all, oneofs := len(m.Fields), len(m.Oneofs)
		oneofs += fields(m.Fields)
		for _, o := range m.Oneofs {
			all += len(o.Fields)
			fields(o.Fields)
		}
		total += all * oneofs
		extends(m.Extends)
		enums(m.Enums)
	})
	return total
}
