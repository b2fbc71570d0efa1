package jsonschema

import (
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// one is the whole number 1: the step of the integers.
var one = func() *jsonschema.Number { n := jsonschema.ParseNumber("1"); return &n }()

// couldBe tells whether n allows values of the search's kind, looking no further
// than its own type.
func (x *search) couldBe(n *jsonschema.Node) bool {
	f := x.s.facts(n)
	if f.value {
		return f.yes
	}
	return !f.node.HasType || f.node.Types&x.kind != 0
}

// assert takes one literal into a branch; false when nothing can meet it.
func (x *search) assert(b *branch, l literal) bool {
	f := x.s.facts(l.node)
	if f.value {
		return f.yes != l.not
	}
	l.node = f.node
	for _, k := range b.seen {
		if k == l {
			return true
		}
		if x.s.opposite(k, l) {
			return false
		}
	}
	if l.not {
		if !x.couldBe(l.node) {
			return true
		}
		b.seen = append(b.seen, l)
		return x.deny(b, l.node)
	}
	if !x.couldBe(l.node) {
		return false
	}
	b.seen = append(b.seen, l)
	return x.demand(b, l.node)
}

// demand takes in all that n says of values of the kind.
func (x *search) demand(b *branch, n *jsonschema.Node) bool {
	if n.Ref != nil {
		b.push(n.Ref, false)
		if !n.Dialect.IsModern() {
			return true
		}
	}
	if n.HasEnum || n.Const != nil {
		return x.choose(n)
	}
	if n.Dynamic != nil {
		if n.Dynamic.Fixed {
			b.push(n.Dynamic.Target, false)
		}
	}
	switch x.kind {
	case anyNumber:
		if n.HasType && n.Types&jsonschema.KindNumber == 0 {
			b.steps = append(b.steps, one)
		}
		if n.MultipleOf != nil {
			b.steps = append(b.steps, n.MultipleOf)
		}
		if n.Minimum != nil && !b.above(n.Minimum, false) || n.ExclusiveMinimum != nil && !b.above(n.ExclusiveMinimum, true) ||
			n.Maximum != nil && !b.below(n.Maximum, false) || n.ExclusiveMaximum != nil && !b.below(n.ExclusiveMaximum, true) {
			return false
		}
	case jsonschema.KindString:
		if !b.atLeastN(n.MinLength) || !b.atMostN(n.MaxLength) {
			return false
		}
		if n.Pattern != nil {
			b.yes = append(b.yes, n.Pattern)
		}
		b.soft = append(b.soft, softOf(n)...)
	case jsonschema.KindArray:
		if !x.demandArray(b, n) {
			return false
		}
	case jsonschema.KindObject:
		if !x.demandObject(b, n) {
			return false
		}
	default: // null and the booleans are judged one by one
	}
	return x.demandParts(b, n)
}

func (x *search) demandArray(b *branch, n *jsonschema.Node) bool {
	if !b.atLeastN(n.MinItems) || !b.atMostN(n.MaxItems) {
		return false
	}
	if len(n.Prefix) > 0 || n.Items != nil {
		b.rules = append(b.rules, rule{node: n})
	}
	b.unique = b.unique || n.UniqueItems
	if n.Contains != nil {
		if !x.hold(b, n.Contains, n.MinContains) || n.MaxContains < jsonschema.Unlimited && !x.limit(b, n.Contains, n.MaxContains) {
			return false
		}
	}
	return true
}

// hold demands n items of a kind.
func (x *search) hold(b *branch, node *jsonschema.Node, n int) bool {
	if n > 0 {
		b.atLeast = append(b.atLeast, count{node, n})
	}
	return b.atLeastN(n)
}

// limit allows n items of a kind.
func (x *search) limit(b *branch, node *jsonschema.Node, n int) bool {
	switch {
	case n < 0:
		return false
	case n == 0:
		b.all = append(b.all, literal{node, true})
	default:
		b.atMost = append(b.atMost, count{node, n})
	}
	return true
}

func (x *search) demandObject(b *branch, n *jsonschema.Node) bool {
	if !b.atLeastN(n.MinProperties) || !b.atMostN(n.MaxProperties) {
		return false
	}
	x.s.meter.Spend((len(n.Required) + len(n.DependentRequired)) / 8)
	for _, name := range n.Required {
		if !b.requires(name) {
			return false
		}
	}
	if len(n.Properties) > 0 || len(n.PatternProperties) > 0 || n.AdditionalProperties != nil {
		b.rules = append(b.rules, rule{node: n})
	}
	if n.PropertyNames != nil {
		b.names = append(b.names, literal{n.PropertyNames, false})
	}
	for _, d := range n.DependentRequired {
		b.forks = append(b.forks, fork{ways: []func(*branch) bool{
			func(b *branch) bool { return b.forbids(d.Name) },
			func(b *branch) bool {
				for _, name := range append([]string{d.Name}, d.Needs...) {
					if !b.requires(name) {
						return false
					}
				}
				return true
			},
		}})
	}
	for _, d := range n.DependentSchemas {
		b.forks = append(b.forks, fork{ways: []func(*branch) bool{
			func(b *branch) bool { return b.forbids(d.Name) },
			func(b *branch) bool { b.push(d.Node, false); return b.requires(d.Name) },
		}})
	}
	return true
}

// demandParts takes in what looks at the same value.
func (x *search) demandParts(b *branch, n *jsonschema.Node) bool {
	for _, sub := range n.AllOf {
		b.push(sub, false)
	}
	if n.Not != nil {
		b.push(n.Not, true)
	}
	if len(n.AnyOf) > 0 && !x.alternatives(b, n.AnyOf, nil) || len(n.OneOf) > 0 && !x.alternatives(b, n.OneOf, n.OneOf) {
		return false
	}
	if n.If != nil && (n.Then != nil || n.Else != nil) {
		b.forks = append(b.forks, fork{ways: x.conditional(n, false)})
	}
	x.unevaluated(b, n, func(b *branch, by []*jsonschema.Node) bool {
		if x.kind == jsonschema.KindArray {
			if from, open := reach(by, n); open {
				b.rules = append(b.rules, rule{rest: n.UnevaluatedItems, from: from})
			}
		} else if !evaluatesAll(by, n) {
			b.rules = append(b.rules, rule{rest: n.UnevaluatedProperties, by: by})
		}
		return true
	})
	return true
}

// alternatives demands one of subs; with exclusive, none of the others.
func (x *search) alternatives(b *branch, subs, exclusive []*jsonschema.Node) bool {
	f := fork{}
	for i, sub := range subs {
		if !x.couldBe(sub) {
			continue
		}
		f.subs = append(f.subs, sub)
		f.ways = append(f.ways, func(b *branch) bool {
			b.push(sub, false)
			for j, other := range exclusive {
				if j != i {
					b.push(other, true)
				}
			}
			return true
		})
	}
	switch len(f.ways) {
	case 0:
		return false
	case 1:
		return f.ways[0](b)
	}
	b.forks = append(b.forks, f)
	return true
}

func (x *search) conditional(n *jsonschema.Node, not bool) []func(*branch) bool {
	way := func(condition bool, sub *jsonschema.Node) func(*branch) bool {
		return func(b *branch) bool {
			b.push(n.If, !condition)
			if sub != nil {
				b.push(sub, not)
			}
			return sub != nil || !not
		}
	}
	return []func(*branch) bool{way(true, n.Then), way(false, n.Else)}
}

// deny takes in that n does not hold: one of its keywords fails.
func (x *search) deny(b *branch, n *jsonschema.Node) bool {
	f := fork{source: n}
	way := func(w func(*branch) bool) { f.ways = append(f.ways, w) }
	push := func(sub *jsonschema.Node, not bool) {
		if sub == nil || !not && !x.couldBe(sub) {
			return
		}
		way(func(b *branch) bool { b.push(sub, not); return true })
	}
	push(n.Ref, true)
	if n.Ref == nil || n.Dialect.IsModern() {
		x.denyConstants(n, way)
		if n.Dynamic != nil {
			if n.Dynamic.Fixed {
				push(n.Dynamic.Target, true)
			} else {
				way(func(*branch) bool { return true }) // whatever it means may fail
			}
		}
		switch x.kind {
		case anyNumber:
			x.denyNumber(n, way)
		case jsonschema.KindString:
			x.denyString(n, way)
		case jsonschema.KindArray:
			x.denyArray(n, way)
		case jsonschema.KindObject:
			x.denyObject(n, way)
		default: // null and the booleans are judged one by one
		}
		for _, sub := range n.AllOf {
			push(sub, true)
		}
		push(n.Not, false)
		x.denyAlternatives(n, way)
		if n.If != nil {
			for i, w := range x.conditional(n, true) {
				if []*jsonschema.Node{n.Then, n.Else}[i] != nil {
					way(w)
				}
			}
		}
		x.denyUnevaluated(n, way)
	}
	switch len(f.ways) {
	case 0:
		return false
	case 1:
		return f.ways[0](b)
	}
	b.forks = append(b.forks, f)
	return true
}

func (x *search) denyConstants(n *jsonschema.Node, way func(func(*branch) bool)) {
	if n.HasEnum {
		way(func(b *branch) bool { b.excluded = append(b.excluded, n.Enum...); return true })
	}
	if n.Const != nil {
		way(func(b *branch) bool { b.excluded = append(b.excluded, n.Const); return true })
	}
}

func (x *search) denyAlternatives(n *jsonschema.Node, way func(func(*branch) bool)) {
	none := func(subs []*jsonschema.Node) {
		if len(subs) == 0 {
			return
		}
		way(func(b *branch) bool {
			for _, sub := range subs {
				b.push(sub, true)
			}
			return true
		})
	}
	none(n.AnyOf)
	none(n.OneOf)
	for i, one := range n.OneOf {
		for _, other := range n.OneOf[i+1:] {
			if x.couldBe(one) && x.couldBe(other) && x.s.meter.Spend(1) {
				way(func(b *branch) bool {
					// Parts of a node come before it, so this cannot ask for itself.
					x.s.meter.Spend(8)
					if _, st := x.s.solve(x.s.goal([]literal{{one, false}, {other, false}})); st == empty {
						return false
					}
					b.push(one, false)
					b.push(other, false)
					return true
				})
			}
		}
	}
}

func (x *search) denyNumber(n *jsonschema.Node, way func(func(*branch) bool)) {
	if n.HasType && n.Types&jsonschema.KindNumber == 0 {
		way(func(b *branch) bool { b.unsteps = append(b.unsteps, one); return true })
	}
	if n.Minimum != nil {
		way(func(b *branch) bool { return b.below(n.Minimum, true) })
	}
	if n.ExclusiveMinimum != nil {
		way(func(b *branch) bool { return b.below(n.ExclusiveMinimum, false) })
	}
	if n.Maximum != nil {
		way(func(b *branch) bool { return b.above(n.Maximum, true) })
	}
	if n.ExclusiveMaximum != nil {
		way(func(b *branch) bool { return b.above(n.ExclusiveMaximum, false) })
	}
	if n.MultipleOf != nil {
		way(func(b *branch) bool { b.unsteps = append(b.unsteps, n.MultipleOf); return true })
	}
}

func (x *search) denyCounts(low, high int, way func(func(*branch) bool)) {
	if low > 0 {
		way(func(b *branch) bool { return b.atMostN(low - 1) })
	}
	if high < jsonschema.Unlimited {
		way(func(b *branch) bool { return b.atLeastN(high + 1) })
	}
}

func (x *search) denyString(n *jsonschema.Node, way func(func(*branch) bool)) {
	x.denyCounts(n.MinLength, n.MaxLength, way)
	if n.Pattern != nil {
		way(func(b *branch) bool { b.no = append(b.no, n.Pattern); return true })
	}
	for _, soft := range softOf(n) {
		way(func(b *branch) bool { b.unsoft = append(b.unsoft, soft); return true })
	}
}

// softOf lists what a node says of strings that readers are free to assert: a
// known format in drafts 4 to 7, and content in draft-07. It proves nothing
// about what was written, and refutes nothing about what is read.
func softOf(n *jsonschema.Node) (out []string) {
	if n.AssertsFormat() {
		out = append(out, "format "+n.Format)
	}
	if n.Dialect != jsonschema.Draft7 {
		return out
	}
	if v := n.Keyword("contentEncoding"); v != nil && v.Text == "base64" {
		out = append(out, "content base64")
	}
	if v := n.Keyword("contentMediaType"); v != nil && v.Text == "application/json" {
		out = append(out, "content application/json")
	}
	return out
}

func (x *search) denyArray(n *jsonschema.Node, way func(func(*branch) bool)) {
	x.denyCounts(n.MinItems, n.MaxItems, way)
	for i, sub := range n.Prefix {
		way(func(b *branch) bool {
			b.some = append(b.some, some{at: i, from: i, extra: []literal{{sub, true}}})
			return b.atLeastN(i + 1)
		})
	}
	if n.Items != nil {
		way(func(b *branch) bool {
			b.some = append(b.some, some{at: -1, from: len(n.Prefix), extra: []literal{{n.Items, true}}})
			return b.atLeastN(len(n.Prefix) + 1)
		})
	}
	if n.UniqueItems {
		way(func(b *branch) bool { b.repeated = true; return !b.unique && b.atLeastN(2) })
	}
	if n.Contains != nil {
		if n.MinContains > 0 {
			way(func(b *branch) bool { return x.limit(b, n.Contains, n.MinContains-1) })
		}
		if n.MaxContains < jsonschema.Unlimited {
			way(func(b *branch) bool { return x.hold(b, n.Contains, n.MaxContains+1) })
		}
	}
}

func (x *search) denyObject(n *jsonschema.Node, way func(func(*branch) bool)) {
	x.denyCounts(n.MinProperties, n.MaxProperties, way)
	for _, name := range n.Required {
		way(func(b *branch) bool { return b.forbids(name) })
	}
	for _, p := range n.Properties {
		if f := x.s.facts(p.Node); f.value && f.yes {
			continue
		}
		way(func(b *branch) bool { return b.requires(p.Name, literal{p.Node, true}) })
	}
	for _, p := range n.PatternProperties {
		way(func(b *branch) bool {
			b.some = append(b.some, some{at: -1, pattern: p.Pattern, extra: []literal{{p.Node, true}}})
			return b.atLeastN(1)
		})
	}
	if n.AdditionalProperties != nil {
		way(func(b *branch) bool {
			b.some = append(b.some, some{at: -1, beyond: []*jsonschema.Node{n}, extra: []literal{{n.AdditionalProperties, true}}})
			return b.atLeastN(1)
		})
	}
	if n.PropertyNames != nil {
		way(func(b *branch) bool {
			b.some = append(b.some, some{at: -1, unnamed: n.PropertyNames})
			return b.atLeastN(1)
		})
	}
	for _, d := range n.DependentRequired {
		for _, name := range d.Needs {
			way(func(b *branch) bool { return b.requires(d.Name) && b.forbids(name) })
		}
	}
	for _, d := range n.DependentSchemas {
		way(func(b *branch) bool { b.push(d.Node, true); return b.requires(d.Name) })
	}
}
