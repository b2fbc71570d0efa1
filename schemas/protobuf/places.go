package protobuf

import "github.com/cartorio-registry/cartorio/schemas"

// places are the places of every declaration of f, outer before inner.
func (f *File) places() []schemas.Place {
	var list []schemas.Place
	options := func(opts []Option) {
		for _, o := range opts {
			list = append(list, o.Place)
		}
	}
	fields := func(all []*Field) {
		for _, one := range all {
			list = append(list, one.Place)
			options(one.Options)
		}
	}
	enums := func(all []*Enum) {
		for _, e := range all {
			list = append(list, e.Place)
			options(e.Options)
			for _, r := range e.Reserved {
				list = append(list, r.Place)
			}
			for _, v := range e.Values {
				list = append(list, v.Place)
				options(v.Options)
			}
		}
	}
	extends := func(all []*Extend) {
		for _, x := range all {
			list = append(list, x.Place)
			fields(x.Fields)
			for _, g := range x.Groups {
				list = append(list, g.Place)
			}
		}
	}
	for _, i := range f.Imports {
		list = append(list, i.Place)
	}
	options(f.Options)
	f.each(func(m *Message) {
		list = append(list, m.Place)
		options(m.Options)
		for _, r := range m.Reserved {
			list = append(list, r.Place)
		}
		for _, x := range m.Extensions {
			list = append(list, x.Place)
		}
		fields(m.Fields)
		for _, o := range m.Oneofs {
			list = append(list, o.Place)
			options(o.Options)
			fields(o.Fields)
		}
		for _, g := range m.allGroups() {
			list = append(list, g.Place)
			options(g.Options)
		}
		enums(m.Enums)
		extends(m.Extends)
	})
	enums(f.Enums)
	extends(f.Extends)
	for _, s := range f.Services {
		list = append(list, s.Place)
		options(s.Options)
		for _, m := range s.Methods {
			list = append(list, m.Place)
			options(m.Options)
		}
	}
	return list
}
