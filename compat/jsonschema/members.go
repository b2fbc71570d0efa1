package jsonschema

import (
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// matches runs a pattern over a name; a pattern that takes too long leaves the
// whole search open.
func (x *search) matches(p *regex.Pattern, name string) bool {
	const most = 50_000
	steps := most
	ok, decided := p.Match(name, &steps)
	x.s.meter.Spend(1 + (most-steps)/16)
	if !decided {
		x.s.meter.Spend(1 << 40)
	}
	return ok && decided
}

// names tells whether a node's properties or patterns name a member.
func (x *search) isNamed(n *jsonschema.Node, name string) bool {
	if n.Property(name) != nil {
		return true
	}
	for _, p := range n.PatternProperties {
		if x.matches(p.Pattern, name) {
			return true
		}
	}
	return false
}

// member lists what the rules demand of a member.
func (x *search) member(b *branch, name string, extra []literal) []literal {
	out := slices.Clip(extra)
	for _, r := range b.rules {
		x.s.meter.Spend(1)
		if r.rest != nil {
			if !slices.ContainsFunc(r.by, func(n *jsonschema.Node) bool { return x.isNamed(n, name) }) {
				out = append(out, literal{r.rest, false})
			}
			continue
		}
		named := false
		if p := r.node.Property(name); p != nil {
			named = true
			out = append(out, literal{p, false})
		}
		for _, p := range r.node.PatternProperties {
			if x.matches(p.Pattern, name) {
				named = true
				out = append(out, literal{p.Node, false})
			}
		}
		if !named && r.node.AdditionalProperties != nil {
			out = append(out, literal{r.node.AdditionalProperties, false})
		}
	}
	return out
}

// mayName tells whether the branch allows a member's name at all; sure is false
// when the validator could not tell.
func (x *search) mayName(b *branch, name string) (ok, sure bool) {
	if slices.Contains(b.forbid, name) {
		return false, true
	}
	if len(b.names) == 0 {
		return true, true
	}
	text := stringValue(name).String()
	for _, l := range b.names {
		ok, sure := x.s.meets(l, text)
		if !ok || !sure {
			return false, sure
		}
	}
	return true, true
}

// inReach tells whether a demand for some member may be met by this name.
func (x *search) inReach(s *some, name string) bool {
	if s.pattern != nil && !x.matches(s.pattern, name) {
		return false
	}
	for _, n := range s.beyond {
		if x.isNamed(n, name) {
			return false
		}
	}
	if s.unnamed != nil {
		ok, sure := x.s.meets(literal{s.unnamed, true}, stringValue(name).String())
		return ok || !sure
	}
	return true
}

// known are the names that anything in the branch speaks of, each once.
func (x *search) known(b *branch) []string {
	var out []string
	met := map[string]bool{}
	add := func(name string) {
		if !met[name] {
			met[name] = true
			out = append(out, name)
		}
	}
	for i := range b.need {
		add(b.need[i].name)
	}
	nodes := func(n *jsonschema.Node) {
		for i := range n.Properties {
			add(n.Properties[i].Name)
		}
		x.s.meter.Spend(1 + len(n.Properties)/8)
	}
	for _, r := range b.rules {
		if r.node != nil {
			nodes(r.node)
		}
		for _, n := range r.by {
			nodes(n)
		}
	}
	for i := range b.some {
		for _, n := range b.some[i].beyond {
			nodes(n)
		}
	}
	for _, name := range b.forbid {
		add(name)
	}
	return out
}

// patterns are those that tell the names of a branch apart.
func (b *branch) patterns(s *some) (out []*regex.Pattern) {
	met := map[string]bool{}
	add := func(p *regex.Pattern) {
		if p != nil && !met[p.String()] {
			met[p.String()] = true
			out = append(out, p)
		}
	}
	nodes := func(n *jsonschema.Node) {
		for _, p := range n.PatternProperties {
			add(p.Pattern)
		}
	}
	for _, r := range b.rules {
		if r.node != nil {
			nodes(r.node)
		}
		for _, n := range r.by {
			nodes(n)
		}
	}
	if s != nil {
		add(s.pattern)
		for _, n := range s.beyond {
			nodes(n)
		}
	}
	return out
}

// mostPatterns are told apart in every combination.
const mostPatterns = 6

// fresh finds names that nothing in the branch lists, one for each combination
// of patterns that names may match. complete tells that there are no other
// combinations.
func (x *search) fresh(b *branch, s *some, known []string) (names []string, complete bool) {
	patterns := b.patterns(s)
	if len(patterns) == 0 && len(b.names) == 0 && (s == nil || s.unnamed == nil) {
		return []string{freshName(known)}, true
	}
	complete = true
	masks := 1 << min(len(patterns), mostPatterns)
	if len(patterns) > mostPatterns {
		complete = false
		masks = 1 + len(patterns) // none, or each alone
	}
	for mask := range masks {
		var yes, no []*regex.Pattern
		for i, p := range patterns {
			in := mask&(1<<min(i, 40)) != 0
			if len(patterns) > mostPatterns {
				in = mask == i+1
			}
			if in {
				yes = append(yes, p)
			} else {
				no = append(no, p)
			}
		}
		if s != nil && s.pattern != nil && !slices.ContainsFunc(yes, func(p *regex.Pattern) bool { return p.String() == s.pattern.String() }) {
			continue
		}
		if s != nil && slices.ContainsFunc(s.beyond, func(n *jsonschema.Node) bool {
			return slices.ContainsFunc(n.PatternProperties, func(p jsonschema.PatternProperty) bool {
				return p.Pattern != nil && slices.ContainsFunc(yes, func(q *regex.Pattern) bool { return q.String() == p.Pattern.String() })
			})
		}) {
			continue
		}
		name, st := x.name(b, s, yes, no, known)
		switch st {
		case found:
			names = append(names, name)
		case open:
			complete = false
		case empty:
		}
		if x.s.meter.Spent() {
			return names, false
		}
	}
	return names, complete
}

// name looks for one name under patterns and the name's own schemas.
func (x *search) name(b *branch, s *some, yes, no []*regex.Pattern, known []string) (string, state) {
	demands := slices.Clone(b.names)
	if s != nil && s.unnamed != nil {
		demands = append(demands, literal{s.unnamed, true})
	}
	g := x.s.goal(demands)
	if g == nil {
		return "", empty
	}
	y := newSearch(x.s, g)
	y.most, y.kind = 1, jsonschema.KindString
	taken := make(map[string]bool, len(known))
	excluded := make([]*jsontext.Value, 0, len(known))
	for _, name := range known {
		taken[name] = true
		excluded = append(excluded, stringValue(name))
	}
	y.pick = func(v *jsontext.Value) bool {
		if v.Kind != jsontext.String || taken[v.Text] {
			return false
		}
		for _, p := range yes {
			if !x.matches(p, v.Text) {
				return false
			}
		}
		for _, p := range no {
			if x.matches(p, v.Text) {
				return false
			}
		}
		return true
	}
	c := branch{todo: slices.Clone(g.literals), max: jsonschema.Unlimited, yes: yes, no: no, excluded: excluded}
	y.grow(c)
	values, st := y.result()
	if st == found {
		return values[0].Text, found
	}
	return "", st
}

// freshName is a readable name that is none of known.
func freshName(known []string) string {
	for i := 0; ; i++ {
		name := "x"
		if i > 0 {
			name += strconv.Itoa(i)
		}
		if !slices.Contains(known, name) {
			return name
		}
	}
}
