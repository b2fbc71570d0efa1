package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// object answers for the objects of a branch: it finds a name for every demand
// of some member, then builds.
func (x *search) object(b branch) state {
	if len(b.some) == 0 {
		return x.build(&b)
	}
	s := b.some[0]
	known := x.known(&b)
	names, complete := x.fresh(&b, &s, known)
	out := empty
	if !complete {
		out = open
	}
	for _, name := range append(names, known...) {
		if x.isDone() {
			return open
		}
		if !x.s.meter.Spend(1) {
			return open
		}
		if !x.inReach(&s, name) {
			continue
		}
		c := b.clone()
		c.some = c.some[1:]
		if !c.requires(name, s.extra...) {
			continue
		}
		switch st := x.object(c); {
		case st == found && x.most == 1:
			return found
		case st > out:
			out = st
		}
	}
	return out
}

// build answers for the objects that have the members needed.
func (x *search) build(b *branch) state {
	if len(b.need) > b.max || b.min > b.max {
		return empty
	}
	out := found
	x.fulfil(b)
	choices := make([][]*jsontext.Value, len(b.need))
	// What is demanded beyond the rules is what fails, if anything does.
	order := make([]int, 0, len(b.need))
	for i := range b.need {
		if len(b.need[i].extra) > 0 {
			order = append(order, i)
		}
	}
	for i := range b.need {
		if len(b.need[i].extra) == 0 {
			order = append(order, i)
		}
	}
	for _, i := range order {
		n := &b.need[i]
		ok, sure := x.mayName(b, n.name)
		if !ok && sure {
			return empty
		}
		demands := x.member(b, n.name, n.extra)
		values, st := x.rather(b, n.name, demands)
		if st != found {
			values, st = x.s.solve(x.s.goal(demands))
		}
		if st == empty {
			return empty
		}
		if st == open || !ok {
			out = open
		}
		choices[i] = values
	}
	if out == open {
		return open
	}
	object := &jsontext.Value{Kind: jsontext.Object}
	for i := range b.need {
		object.Members = append(object.Members, jsontext.Member{Name: b.need[i].name, Value: choices[i][0]})
	}
	if len(b.need) < b.min {
		if b.min > 1<<10 {
			return open
		}
		if st := x.pad(b, object); st != found {
			return st
		}
	}
	x.s.meter.Spend(len(object.Members))
	out = x.try(object)
	if out == empty {
		out = open // some condition was left out
	}
	for i := range choices {
		for j, v := range choices[i] {
			if j == 0 || x.isDone() {
				continue
			}
			other := &jsontext.Value{Kind: jsontext.Object, Members: slices.Clone(object.Members)}
			other.Members[i].Value = v
			x.s.meter.Spend(len(object.Members))
			if x.try(other) == found {
				out = found
			}
		}
	}
	return out
}

// rather looks for values of a member that also fit what the negated objects say
// of it, when there is something.
func (x *search) rather(b *branch, name string, demands []literal) ([]*jsontext.Value, state) {
	more := slices.Clip(demands)
	for _, n := range b.prefer {
		if p := n.Property(name); p != nil {
			more = append(more, literal{p, false})
		}
	}
	if len(more) == len(demands) {
		return nil, open
	}
	return x.s.solve(x.s.goal(more))
}

// fulfil adds the members that the negated objects require, where the branch has
// values for them.
func (x *search) fulfil(b *branch) {
	for _, n := range b.prefer {
		for _, name := range n.Required {
			if slices.Contains(b.forbid, name) || slices.ContainsFunc(b.need, func(m need) bool { return m.name == name }) || len(b.need) >= b.max {
				continue
			}
			if ok, sure := x.mayName(b, name); !ok || !sure || !x.s.meter.Spend(1) {
				continue
			}
			if _, st := x.s.solve(x.s.goal(x.member(b, name, nil))); st == found {
				b.need = append(slices.Clip(b.need), need{name: name})
			}
		}
	}
}

// pad adds members until there are enough.
func (x *search) pad(b *branch, object *jsontext.Value) state {
	known := x.known(b)
	out := empty
	has := func(name string) bool {
		return slices.ContainsFunc(object.Members, func(m jsontext.Member) bool { return m.Name == name })
	}
	add := func(name string) {
		ok, sure := x.mayName(b, name)
		if has(name) || !ok && sure {
			return
		}
		values, st := x.s.solve(x.s.goal(x.member(b, name, nil)))
		switch {
		case st == open || !ok && st == found:
			out = open
		case st == found:
			object.Members = append(object.Members, jsontext.Member{Name: name, Value: values[0]})
		}
	}
	for _, name := range known {
		if len(object.Members) >= b.min {
			return found
		}
		if !x.s.meter.Spend(1) {
			return open
		}
		add(name)
	}
	for len(object.Members) < b.min {
		before := len(object.Members)
		names, complete := x.fresh(b, nil, known)
		if !complete {
			out = open
		}
		for _, name := range names {
			if len(object.Members) < b.min {
				add(name)
			}
			known = append(known, name)
		}
		if len(object.Members) == before && len(names) == 0 || !x.s.meter.Spend(1+len(known)/4) {
			if x.s.meter.Spent() {
				return open
			}
			return out
		}
		if len(object.Members) == before {
			// These classes of names have no values; more of them would not either.
			return out
		}
	}
	return found
}
