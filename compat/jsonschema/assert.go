package jsonschema

import (
	"slices"

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
	x.s.meter.Spend(1 + len(b.seen))
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
			return x.s.aim.allows(l.node, "type", nil, "")
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
	return x.demandOwn(b, n, nil) && x.demandParts(b, n)
}

// demandOwn takes in the keywords of n that speak of the kind at hand alone, but
// for those excepted.
func (x *search) demandOwn(b *branch, n *jsonschema.Node, except []string) bool {
	counts := func(least, greatest string, low, high int) bool {
		return (slices.Contains(except, least) || b.atLeastN(low)) && (slices.Contains(except, greatest) || b.atMostN(high))
	}
	switch x.kind {
	case anyNumber:
		if n.HasType && n.Types&jsonschema.KindNumber == 0 && !slices.Contains(except, "type") {
			b.steps = append(b.steps, one)
		}
		if n.MultipleOf != nil && !slices.Contains(except, "multipleOf") {
			b.steps = append(b.steps, n.MultipleOf)
		}
		if !slices.Contains(except, "minimum") && (n.Minimum != nil && !b.above(n.Minimum, false) || n.ExclusiveMinimum != nil && !b.above(n.ExclusiveMinimum, true)) ||
			!slices.Contains(except, "maximum") && (n.Maximum != nil && !b.below(n.Maximum, false) || n.ExclusiveMaximum != nil && !b.below(n.ExclusiveMaximum, true)) {
			return false
		}
	case jsonschema.KindString:
		if !counts("minLength", "maxLength", n.MinLength, n.MaxLength) {
			return false
		}
		if n.Pattern != nil && !slices.Contains(except, "pattern") {
			b.yes = append(b.yes, n.Pattern)
		}
		b.soft = append(b.soft, softOf(n)...)
	case jsonschema.KindArray:
		return counts("minItems", "maxItems", n.MinItems, n.MaxItems) && x.demandArray(b, n, except)
	case jsonschema.KindObject:
		return counts("minProperties", "maxProperties", n.MinProperties, n.MaxProperties) && x.demandObject(b, n, except)
	default: // null and the booleans are judged one by one
	}
	return true
}

func (x *search) demandArray(b *branch, n *jsonschema.Node, except []string) bool {
	if (len(n.Prefix) > 0 || n.Items != nil) && !slices.Contains(except, "items") {
		b.rules = append(b.rules, rule{node: n})
	}
	b.unique = b.unique || n.UniqueItems && !slices.Contains(except, "uniqueItems")
	if n.Contains != nil && !slices.Contains(except, "contains") {
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

func (x *search) demandObject(b *branch, n *jsonschema.Node, except []string) bool {
	x.s.meter.Spend((len(n.Required) + len(n.DependentRequired)) / 8)
	if !slices.Contains(except, "required") {
		for _, name := range n.Required {
			if !b.requires(name) {
				return false
			}
		}
	}
	if (len(n.Properties) > 0 || len(n.PatternProperties) > 0 || n.AdditionalProperties != nil) &&
		!slices.ContainsFunc(except, func(k string) bool { return k == "additionalProperties" || k == "patternProperties" }) {
		b.rules = append(b.rules, rule{node: n})
	}
	if n.PropertyNames != nil && !slices.Contains(except, "propertyNames") {
		b.names = append(b.names, literal{n.PropertyNames, false})
	}
	for _, d := range n.DependentRequired {
		if slices.Contains(except, "dependentRequired") {
			break
		}
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
