package jsonschema

import (
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// denial gathers the ways in which a node may fail: one of its keywords does.
type denial struct {
	x    *search
	node *jsonschema.Node
	fork fork
}

// way adds one, for a keyword. part is the schema that fails in it, or that
// holds under not, and member the one that it is about, where there is one:
// they say whether the way leads where the search aims.
func (d *denial) way(keyword string, part *jsonschema.Node, member string, w func(*branch) bool) {
	a := d.x.s.aim
	if !a.allows(d.node, keyword, part, member) {
		return
	}
	if except := a.except(d.node); except != nil {
		// First of all, values that nothing but the target refuses here.
		d.fork.ways = append(d.fork.ways, func(b *branch) bool { return d.x.demandOwn(b, d.node, except) && w(b) })
	}
	d.fork.ways = append(d.fork.ways, w)
}

// push adds the way of one part that looks at the same value.
func (d *denial) push(keyword string, part *jsonschema.Node, not bool) {
	if part == nil || !not && !d.x.couldBe(part) {
		return
	}
	d.way(keyword, part, "", func(b *branch) bool { b.push(part, not); return true })
}

// deny takes in that n does not hold: one of its keywords fails.
func (x *search) deny(b *branch, n *jsonschema.Node) bool {
	d := denial{x: x, node: n, fork: fork{source: n}}
	d.push("$ref", n.Ref, true)
	if n.Ref == nil || n.Dialect.IsModern() {
		d.constants()
		if n.Dynamic != nil {
			if n.Dynamic.Fixed {
				d.push("$dynamicRef", n.Dynamic.Target, true)
			} else {
				// Whatever it means may fail.
				d.way("$dynamicRef", n.Dynamic.Target, "", func(*branch) bool { return true })
			}
		}
		switch x.kind {
		case anyNumber:
			d.number()
		case jsonschema.KindString:
			d.string()
		case jsonschema.KindArray:
			d.array()
		case jsonschema.KindObject:
			if x.s.aim != nil && x.s.aim.toward[n] {
				b.prefer = append(b.prefer, n)
			}
			d.object()
		default: // null and the booleans are judged one by one
		}
		for _, sub := range n.AllOf {
			d.push("allOf", sub, true)
		}
		d.push("not", n.Not, false)
		d.alternatives()
		if n.If != nil {
			for i, w := range x.conditional(n, true) {
				if part := []*jsonschema.Node{n.Then, n.Else}[i]; part != nil {
					d.way("if", part, "", w)
				}
			}
		}
		d.unevaluated()
	}
	switch len(d.fork.ways) {
	case 0:
		return false
	case 1:
		return d.fork.ways[0](b)
	}
	b.forks = append(b.forks, d.fork)
	return true
}

func (d *denial) constants() {
	n := d.node
	if n.HasEnum {
		d.way("enum", nil, "", func(b *branch) bool { b.excluded = append(b.excluded, n.Enum...); return true })
	}
	if n.Const != nil {
		d.way("const", nil, "", func(b *branch) bool { b.excluded = append(b.excluded, n.Const); return true })
	}
}

func (d *denial) alternatives() {
	x, n := d.x, d.node
	none := func(keyword string, subs []*jsonschema.Node) {
		if len(subs) == 0 {
			return
		}
		d.way(keyword, x.s.aim.among(subs), "", func(b *branch) bool {
			for _, sub := range subs {
				b.push(sub, true)
			}
			return true
		})
	}
	none("anyOf", n.AnyOf)
	none("oneOf", n.OneOf)
	for i, one := range n.OneOf {
		for _, other := range n.OneOf[i+1:] {
			if x.couldBe(one) && x.couldBe(other) && x.s.meter.Spend(1) {
				d.way("oneOf", nil, "", func(b *branch) bool {
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

func (d *denial) number() {
	n := d.node
	if n.HasType && n.Types&jsonschema.KindNumber == 0 {
		d.way("type", nil, "", func(b *branch) bool { b.unsteps = append(b.unsteps, one); return true })
	}
	if n.Minimum != nil {
		d.way("minimum", nil, "", func(b *branch) bool { return b.below(n.Minimum, true) })
	}
	if n.ExclusiveMinimum != nil {
		d.way("exclusiveMinimum", nil, "", func(b *branch) bool { return b.below(n.ExclusiveMinimum, false) })
	}
	if n.Maximum != nil {
		d.way("maximum", nil, "", func(b *branch) bool { return b.above(n.Maximum, true) })
	}
	if n.ExclusiveMaximum != nil {
		d.way("exclusiveMaximum", nil, "", func(b *branch) bool { return b.above(n.ExclusiveMaximum, false) })
	}
	if n.MultipleOf != nil {
		d.way("multipleOf", nil, "", func(b *branch) bool { b.unsteps = append(b.unsteps, n.MultipleOf); return true })
	}
}

// counts adds the ways of a least and a greatest count.
func (d *denial) counts(least, greatest string, low, high int) {
	if low > 0 {
		d.way(least, nil, "", func(b *branch) bool { return b.atMostN(low - 1) })
	}
	if high < jsonschema.Unlimited {
		d.way(greatest, nil, "", func(b *branch) bool { return b.atLeastN(high + 1) })
	}
}

func (d *denial) string() {
	n := d.node
	d.counts("minLength", "maxLength", n.MinLength, n.MaxLength)
	if n.Pattern != nil {
		d.way("pattern", nil, "", func(b *branch) bool { b.no = append(b.no, n.Pattern); return true })
	}
	for _, soft := range softOf(n) {
		d.way("format", nil, "", func(b *branch) bool { b.unsoft = append(b.unsoft, soft); return true })
	}
}

func (d *denial) array() {
	x, n := d.x, d.node
	d.counts("minItems", "maxItems", n.MinItems, n.MaxItems)
	for i, sub := range n.Prefix {
		d.way("items", sub, "", func(b *branch) bool {
			b.some = append(b.some, some{at: i, from: i, extra: []literal{{sub, true}}})
			return b.atLeastN(i + 1)
		})
	}
	if n.Items != nil {
		d.way("items", n.Items, "", func(b *branch) bool {
			b.some = append(b.some, some{at: -1, from: len(n.Prefix), extra: []literal{{n.Items, true}}})
			return b.atLeastN(len(n.Prefix) + 1)
		})
	}
	if n.UniqueItems {
		d.way("uniqueItems", nil, "", func(b *branch) bool { b.repeated = true; return !b.unique && b.atLeastN(2) })
	}
	if n.Contains != nil {
		if n.MinContains > 0 {
			d.way("contains", nil, "", func(b *branch) bool { return x.limit(b, n.Contains, n.MinContains-1) })
		}
		if n.MaxContains < jsonschema.Unlimited {
			d.way("maxContains", nil, "", func(b *branch) bool { return x.hold(b, n.Contains, n.MaxContains+1) })
		}
	}
}

func (d *denial) object() {
	n := d.node
	d.counts("minProperties", "maxProperties", n.MinProperties, n.MaxProperties)
	for _, name := range n.Required {
		d.way("required", nil, name, func(b *branch) bool { return b.forbids(name) })
	}
	for _, p := range n.Properties {
		if f := d.x.s.facts(p.Node); f.value && f.yes {
			continue
		}
		d.way("properties", p.Node, p.Name, func(b *branch) bool { return b.requires(p.Name, literal{p.Node, true}) })
	}
	for _, p := range n.PatternProperties {
		d.way("patternProperties", p.Node, "", func(b *branch) bool {
			b.some = append(b.some, some{at: -1, pattern: p.Pattern, extra: []literal{{p.Node, true}}})
			return b.atLeastN(1)
		})
	}
	if n.AdditionalProperties != nil {
		d.way("additionalProperties", n.AdditionalProperties, "", func(b *branch) bool {
			b.some = append(b.some, some{at: -1, beyond: []*jsonschema.Node{n}, extra: []literal{{n.AdditionalProperties, true}}})
			return b.atLeastN(1)
		})
	}
	if n.PropertyNames != nil {
		d.way("propertyNames", nil, "", func(b *branch) bool {
			b.some = append(b.some, some{at: -1, unnamed: n.PropertyNames})
			return b.atLeastN(1)
		})
	}
	for _, dep := range n.DependentRequired {
		for _, name := range dep.Needs {
			d.way("dependentRequired", nil, dep.Name, func(b *branch) bool { return b.requires(dep.Name) && b.forbids(name) })
		}
	}
	for _, dep := range n.DependentSchemas {
		d.way("dependentSchemas", dep.Node, dep.Name, func(b *branch) bool { b.push(dep.Node, true); return b.requires(dep.Name) })
	}
}

// unevaluated adds the ways for the node's unevaluated keyword to fail.
func (d *denial) unevaluated() {
	x, n := d.x, d.node
	if !x.hasUnevaluated(n) {
		return
	}
	keyword, rest := "unevaluatedProperties", n.UnevaluatedProperties
	if x.kind == jsonschema.KindArray {
		keyword, rest = "unevaluatedItems", n.UnevaluatedItems
	}
	e := x.evaluatorsOf(n)
	if !e.known {
		// The failing member or item is one that n's own keywords do not name; more
		// is not known. The parts may hold as they like.
		e.maybe = nil
	}
	for _, w := range x.combinations(e, func(b *branch, by []*jsonschema.Node) bool {
		s := some{at: -1, extra: []literal{{rest, true}}}
		if e.known {
			from, open := reach(by, n)
			if x.kind == jsonschema.KindObject {
				open, s.beyond = !evaluatesAll(by, n), by
			} else {
				s.from = from
			}
			if !open {
				return false
			}
		}
		b.some = append(b.some, s)
		return b.atLeastN(s.from + 1)
	}) {
		d.way(keyword, rest, "", w)
	}
}
