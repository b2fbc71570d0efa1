package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// branch is one way for a value of one kind to meet a goal: conditions that all
// hold, and forks that are still to be taken. Dropping a condition that cannot
// be expressed makes it weaker, never wrong: what is proved empty stays so.
type branch struct {
	todo  []literal
	seen  []literal
	forks []fork

	excluded []*jsontext.Value // values that it is not

	low, high      *end // numbers
	steps, unsteps []*jsonschema.Number

	min, max int // length, items or members
	yes, no  []*regex.Pattern
	// soft are the keywords that some readers assert and others do not; unsoft
	// are those that fail.
	soft, unsoft []string

	rules []rule    // of items or members
	all   []literal // every item
	some  []some    // items or members that are to exist

	need   []need // members
	forbid []string
	names  []literal

	// prefer are negated objects that are rather to fail by nothing else.
	prefer []*jsonschema.Node

	unique, repeated bool
	atLeast, atMost  []count
}

// fork is a choice among ways to go on; source is the negated node that it is
// made of, if it is one.
type fork struct {
	ways    []func(*branch) bool
	subs    []*jsonschema.Node // of each way, in a union
	source  *jsonschema.Node
	checked bool
}

// end of an interval of numbers.
type end struct {
	at     *jsonschema.Number
	strict bool
}

// rule speaks of members or items: a node with its own keywords; or, with rest
// set, an unevaluated keyword, which speaks of the members that none of by names
// and of the items from a position on.
type rule struct {
	node *jsonschema.Node
	rest *jsonschema.Node
	by   []*jsonschema.Node
	from int
}

// some demands a member or item that is in the rule's reach and meets extra.
type some struct {
	// at is an item's exact position, from is the first of them; -1 for none.
	at, from int
	// pattern is what a member's name must match, when not nil.
	pattern *regex.Pattern
	// beyond: nothing of these nodes' properties and patterns names it.
	beyond []*jsonschema.Node
	// unnamed is what the name itself must not fit.
	unnamed *jsonschema.Node
	extra   []literal
}

type need struct {
	name  string
	extra []literal
}

type count struct {
	node *jsonschema.Node
	n    int
}

func (b branch) clone() branch {
	b.todo, b.seen, b.forks = slices.Clip(b.todo), slices.Clip(b.seen), slices.Clone(b.forks)
	b.excluded, b.steps, b.unsteps = slices.Clip(b.excluded), slices.Clip(b.steps), slices.Clip(b.unsteps)
	b.yes, b.no, b.soft, b.unsoft = slices.Clip(b.yes), slices.Clip(b.no), slices.Clip(b.soft), slices.Clip(b.unsoft)
	b.rules, b.all, b.some = slices.Clip(b.rules), slices.Clip(b.all), slices.Clip(b.some)
	b.need, b.forbid, b.names = slices.Clip(b.need), slices.Clip(b.forbid), slices.Clip(b.names)
	b.atLeast, b.atMost, b.prefer = slices.Clip(b.atLeast), slices.Clip(b.atMost), slices.Clip(b.prefer)
	return b
}

func (b *branch) push(n *jsonschema.Node, not bool) { b.todo = append(b.todo, literal{n, not}) }

func (b *branch) above(at *jsonschema.Number, strict bool) bool {
	if b.low == nil || at.Compare(*b.low.at) > 0 || at.Compare(*b.low.at) == 0 && strict {
		b.low = &end{at, strict}
	}
	return b.isInterval()
}

func (b *branch) below(at *jsonschema.Number, strict bool) bool {
	if b.high == nil || at.Compare(*b.high.at) < 0 || at.Compare(*b.high.at) == 0 && strict {
		b.high = &end{at, strict}
	}
	return b.isInterval()
}

func (b *branch) isInterval() bool {
	if b.low == nil || b.high == nil {
		return true
	}
	c := b.low.at.Compare(*b.high.at)
	return c < 0 || c == 0 && !b.low.strict && !b.high.strict
}

func (b *branch) atLeastN(n int) bool {
	b.min = max(b.min, n)
	return b.min <= b.max
}

func (b *branch) atMostN(n int) bool {
	b.max = min(b.max, n)
	return b.min <= b.max
}

// requires adds a member; what it is to be comes with it.
func (b *branch) requires(name string, extra ...literal) bool {
	if slices.Contains(b.forbid, name) {
		return false
	}
	for i := range b.need {
		if b.need[i].name == name {
			if len(extra) > 0 {
				b.need = slices.Clone(b.need)
				b.need[i].extra = append(slices.Clip(b.need[i].extra), extra...)
			}
			return true
		}
	}
	b.need = append(b.need, need{name, extra})
	return len(b.need) <= b.max
}

func (b *branch) forbids(name string) bool {
	for i := range b.need {
		if b.need[i].name == name {
			return false
		}
	}
	if !slices.Contains(b.forbid, name) {
		b.forbid = append(b.forbid, name)
	}
	return true
}
