package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// mostConditions bounds the parts of a schema whose holding decides what is
// evaluated: every combination is looked at.
const mostConditions = 6

// evaluators are the nodes that evaluate members or items for n when they hold.
type evaluators struct {
	always []*jsonschema.Node
	maybe  []condition
	// known is false where what is evaluated depends on more than that.
	known bool
}

// condition has two ways to turn out, each with the nodes that then evaluate.
type condition struct {
	way [2]func(*branch) bool
	by  [2][]*jsonschema.Node
}

func (x *search) evaluatorsOf(n *jsonschema.Node) evaluators {
	e := evaluators{known: true}
	met := map[*jsonschema.Node]bool{}
	evaluates := func(subs ...*jsonschema.Node) (out []*jsonschema.Node) {
		for _, sub := range subs {
			if sub != nil {
				e.known = e.known && x.isFlat(sub)
				out = append(out, x.flat(sub)...)
			}
		}
		return out
	}
	push := func(sub *jsonschema.Node, not bool) func(*branch) bool {
		return func(b *branch) bool { b.push(sub, not); return true }
	}
	var walk func(m *jsonschema.Node)
	walk = func(m *jsonschema.Node) {
		if m == nil || met[m] {
			return
		}
		met[m] = true
		if len(met) > 200 {
			e.known = false
			return
		}
		e.always = append(e.always, m)
		if x.kind == jsonschema.KindArray && m.Contains != nil && m.Dialect == jsonschema.Draft2020 {
			e.known = false
		}
		walk(m.Ref)
		if m.Ref != nil && !m.Dialect.IsModern() {
			return
		}
		if m.Dynamic != nil {
			e.known = e.known && m.Dynamic.Fixed
			walk(m.Dynamic.Target)
		}
		for _, sub := range m.AllOf {
			walk(sub)
		}
		for _, sub := range slices.Concat(m.AnyOf, m.OneOf) {
			e.maybe = append(e.maybe, condition{[2]func(*branch) bool{push(sub, false), push(sub, true)}, [2][]*jsonschema.Node{evaluates(sub)}})
		}
		if m.If != nil {
			e.maybe = append(e.maybe, condition{
				[2]func(*branch) bool{push(m.If, false), push(m.If, true)},
				[2][]*jsonschema.Node{evaluates(m.If, m.Then), evaluates(m.Else)},
			})
		}
		for _, d := range m.DependentSchemas {
			e.maybe = append(e.maybe, condition{
				[2]func(*branch) bool{
					func(b *branch) bool { return b.requires(d.Name) },
					func(b *branch) bool { return b.forbids(d.Name) },
				},
				[2][]*jsonschema.Node{evaluates(d.Node)},
			})
		}
	}
	walk(n)
	if len(e.maybe) > mostConditions {
		e.known = false
	}
	return e
}

// isFlat tells whether what sub evaluates when it holds is its own keywords and
// those of what it refers to unconditionally.
func (x *search) isFlat(sub *jsonschema.Node) bool {
	flat := true
	for _, m := range x.flat(sub) {
		if len(m.AnyOf)+len(m.OneOf)+len(m.DependentSchemas) > 0 || m.If != nil || m.Dynamic != nil && !m.Dynamic.Fixed ||
			x.kind == jsonschema.KindArray && m.Contains != nil && m.Dialect == jsonschema.Draft2020 {
			flat = false
		}
	}
	return flat
}

// flat lists sub and what holds whenever it does.
func (x *search) flat(sub *jsonschema.Node) (out []*jsonschema.Node) {
	met := map[*jsonschema.Node]bool{}
	var walk func(m *jsonschema.Node)
	walk = func(m *jsonschema.Node) {
		if m == nil || met[m] || len(met) > 200 {
			return
		}
		met[m] = true
		out = append(out, m)
		walk(m.Ref)
		if m.Dynamic != nil {
			walk(m.Dynamic.Target)
		}
		for _, part := range m.AllOf {
			walk(part)
		}
	}
	walk(sub)
	return out
}

func (x *search) hasUnevaluated(n *jsonschema.Node) bool {
	return x.kind == jsonschema.KindObject && n.UnevaluatedProperties != nil || x.kind == jsonschema.KindArray && n.UnevaluatedItems != nil
}

// combinations gives one way per combination of the parts that hold: with it go
// the literals that say so, and then the nodes that evaluate.
func (x *search) combinations(e evaluators, then func(b *branch, by []*jsonschema.Node) bool) (ways []func(*branch) bool) {
	for mask := range 1 << len(e.maybe) {
		ways = append(ways, func(b *branch) bool {
			by := e.always
			for i, c := range e.maybe {
				turn := mask >> i & 1
				if !c.way[turn](b) {
					return false
				}
				by = append(by[:len(by):len(by)], c.by[turn]...)
			}
			return then(b, by)
		})
	}
	return ways
}

// unevaluated takes n's unevaluated keyword in. Where it is not known what is
// evaluated it is left out: the branch is then weaker than n.
func (x *search) unevaluated(b *branch, n *jsonschema.Node, then func(b *branch, by []*jsonschema.Node) bool) {
	if !x.hasUnevaluated(n) {
		return
	}
	e := x.evaluatorsOf(n)
	if !e.known {
		return
	}
	ways := x.combinations(e, then)
	if len(ways) == 1 {
		ways[0](b)
		return
	}
	b.forks = append(b.forks, fork{ways: ways})
}

// evaluatesAll tells whether a node of the list speaks of every member.
func evaluatesAll(by []*jsonschema.Node, n *jsonschema.Node) bool {
	for _, m := range by {
		if m.AdditionalProperties != nil || m != n && m.UnevaluatedProperties != nil {
			return true
		}
	}
	return false
}

// reach is the first position of an item that none of the nodes speaks of; open
// is false when one speaks of all.
func reach(by []*jsonschema.Node, n *jsonschema.Node) (from int, open bool) {
	for _, m := range by {
		if m.Items != nil || m != n && m.UnevaluatedItems != nil {
			return 0, false
		}
		from = max(from, len(m.Prefix))
	}
	return from, true
}
