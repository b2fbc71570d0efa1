package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// search looks for values of one goal, kind by kind and branch by branch. Its
// answer is empty only when every branch is.
type search struct {
	s    *solver
	goal *goal
	kind jsonschema.Kinds
	// pick are conditions beyond the goal's literals, for names.
	pick func(v *jsontext.Value) bool

	values []*jsontext.Value
	most   int // values wanted
	left   int // branches still looked at once a value was found
	open   bool
}

// The costs, in steps, of what takes longer than a step: measured, so that the
// default budget keeps a pair under its time.
const (
	costOfBranch   = 30
	costOfGoal     = 20
	costOfJudgment = 5
)

const (
	mostValues   = 24  // of a goal that asks what breaks: one for each way, up to this
	mostBranches = 300 // looked at after the first value

	// The same for one change: there are many to ask for.
	mostAimed         = 8
	mostAimedBranches = 60
)

func newSearch(s *solver, g *goal) *search {
	x := &search{s: s, goal: g, most: 1, left: mostBranches}
	for _, l := range g.literals {
		if l.not {
			x.most = mostValues
			if s.aim != nil {
				x.most, x.left = mostAimed, mostAimedBranches
			}
		}
	}
	return x
}

var (
	nullValue  = &jsontext.Value{Kind: jsontext.Null}
	falseValue = &jsontext.Value{Kind: jsontext.Bool}
	trueValue  = &jsontext.Value{Kind: jsontext.Bool, Bool: true}
)

// anyNumber is the kind of the numbers: a number may be an integer.
const anyNumber = jsonschema.KindInteger | jsonschema.KindNumber

// kindOf is the bit of a value's kind; every number is a Number.
func kindOf(v *jsontext.Value) jsonschema.Kinds {
	switch v.Kind {
	case jsontext.Null:
		return jsonschema.KindNull
	case jsontext.Bool:
		return jsonschema.KindBoolean
	case jsontext.Number:
		return jsonschema.KindNumber
	case jsontext.String:
		return jsonschema.KindString
	case jsontext.Array:
		return jsonschema.KindArray
	default:
		return jsonschema.KindObject
	}
}

func (x *search) run() ([]*jsontext.Value, state) {
	for _, v := range []*jsontext.Value{nullValue, falseValue, trueValue} {
		x.kind = kindOf(v)
		if !x.isDone() && x.isOpenTo() {
			x.try(v)
		}
	}
	for _, kind := range []jsonschema.Kinds{jsonschema.KindString, anyNumber, jsonschema.KindObject, jsonschema.KindArray} {
		if x.isDone() {
			break
		}
		if x.kind = kind; x.isOpenTo() {
			x.look()
		}
	}
	return x.result()
}

// isOpenTo tells whether no demand of the goal excludes the kind at sight.
func (x *search) isOpenTo() bool {
	for _, l := range x.goal.literals {
		if !l.not && !x.couldBe(l.node) {
			return false
		}
	}
	return true
}

func (x *search) result() ([]*jsontext.Value, state) {
	switch {
	case len(x.values) > 0:
		return x.values, found
	case x.open || x.s.meter.Spent():
		return nil, open
	}
	return nil, empty
}

// look goes through the branches of the kind at hand.
func (x *search) look() {
	b := branch{todo: slices.Clone(x.goal.literals), max: jsonschema.Unlimited}
	slices.Reverse(b.todo)
	x.grow(b)
}

func (x *search) isDone() bool { return len(x.values) >= x.most || x.s.meter.Spent() }

// grow takes in what is to do, then goes every way of one fork.
func (x *search) grow(b branch) {
	if x.isDone() {
		x.open = x.open || x.s.meter.Spent()
		return
	}
	if !x.s.meter.Spend(costOfBranch + 4*len(b.forks) + len(b.seen)) {
		x.open = true
		return
	}
	for len(b.todo) > 0 {
		for len(b.todo) > 0 {
			l := b.todo[len(b.todo)-1]
			b.todo = b.todo[:len(b.todo)-1]
			if !x.assert(&b, l) {
				return
			}
		}
		if !x.settle(&b) {
			return
		}
	}
	if len(b.forks) == 0 {
		x.leaf(b)
		return
	}
	x.spare(&b)
	if len(b.forks) == 0 {
		x.leaf(b)
		return
	}
	least := b.next()
	f := b.forks[least]
	b.forks = slices.Delete(slices.Clone(b.forks), least, least+1)
	for _, way := range f.ways {
		if len(x.values) > 0 {
			if x.left--; x.left < 0 {
				return
			}
		}
		c := b.clone()
		if way(&c) {
			x.grow(c)
		}
		if x.isDone() {
			x.open = x.open || x.s.meter.Spent()
			return
		}
	}
}

// settle takes the unions of which a part is demanded anyway: there is no choice.
func (x *search) settle(b *branch) bool {
	kept := make([]fork, 0, len(b.forks))
	for _, f := range b.forks {
		at := slices.IndexFunc(f.subs, func(sub *jsonschema.Node) bool {
			return slices.Contains(b.seen, literal{x.s.facts(sub).node, false})
		})
		if at < 0 {
			kept = append(kept, f)
			continue
		}
		if !f.ways[at](b) {
			return false
		}
	}
	b.forks = kept
	return true
}

// next finds the fork to take next: the one with the fewest ways. Where much
// is negated, what is demanded goes first, since it decides most of the rest.
func (b *branch) next() int {
	negated := 0
	for i := range b.forks {
		if b.forks[i].source != nil {
			negated++
		}
	}
	least := -1
	for i := range b.forks {
		if negated > 1 && negated < len(b.forks) && b.forks[i].source != nil {
			continue
		}
		if least < 0 || len(b.forks[i].ways) < len(b.forks[least].ways) {
			least = i
		}
	}
	return least
}

// spare drops the negations that hold anyway, since what is demanded excludes
// the negated node: without it a union of many tagged branches would be
// multiplied out. Every question here is about a larger set of demands than the
// one that asks, so it cannot come back to itself.
func (x *search) spare(b *branch) {
	if x.s.dynamic {
		return
	}
	negated := 0
	for i := range b.forks {
		if b.forks[i].source != nil {
			negated++
		}
	}
	if negated < 2 || negated < len(b.forks) {
		return
	}
	var demands []literal
	for _, l := range b.seen {
		if !l.not {
			demands = append(demands, l)
		}
	}
	kept := make([]fork, 0, len(b.forks))
	for _, f := range b.forks {
		if f.source != nil && !f.checked && len(demands) > 0 {
			f.checked = true
			if _, st := x.s.solve(x.s.goal(append(slices.Clip(demands), literal{f.source, false}))); st == empty {
				continue
			}
		}
		kept = append(kept, f)
	}
	b.forks = kept
}

// leaf builds a value of a branch without forks.
func (x *search) leaf(b branch) {
	x.s.meter.Spend(1 + len(b.need)/4)
	switch x.kind {
	case anyNumber:
		x.note(x.number(&b))
	case jsonschema.KindString:
		x.note(x.text(&b))
	case jsonschema.KindArray:
		x.note(x.array(b))
	case jsonschema.KindObject:
		x.note(x.object(b))
	default: // null and the booleans are candidates by themselves
	}
}

func (x *search) note(st state) { x.open = x.open || st == open }

// try keeps a value when it meets the goal.
func (x *search) try(v *jsontext.Value) state {
	if x.pick != nil && !x.pick(v) {
		return empty
	}
	text := v.String()
	for _, l := range x.goal.literals {
		ok, sure := x.s.meets(l, text)
		switch {
		case sure && !ok:
			// Who asserts formats refuses this value, unless none of them writes it.
			if l.not && x.s.isOpen(l.node, text) && !slices.ContainsFunc(x.goal.literals, func(k literal) bool { return !k.not && x.s.isOpen(k.node, text) }) {
				x.open = true
				return open
			}
			return empty
		case !ok, !sure && !x.s.dynamic:
			x.open = true
			return open
		}
		// With dynamic references a yes is a guess: the whole schemas judge at the end.
	}
	for _, known := range x.values {
		if known.String() == text {
			return found
		}
	}
	x.values = append(x.values, v)
	return found
}

// choose tries the members of an enum or const: there are no others, and the
// validator judges each against the whole goal.
func (x *search) choose(n *jsonschema.Node) bool {
	members := n.Enum
	if !n.HasEnum {
		members = []*jsontext.Value{n.Const}
	}
	for _, v := range members {
		if kindOf(v)&x.kind == 0 {
			continue
		}
		if x.isDone() {
			x.open = x.open || x.s.meter.Spent()
			break
		}
		x.try(v)
	}
	return false
}
