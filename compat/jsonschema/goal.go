package jsonschema

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// literal demands that a value fits a node, or that it does not.
type literal struct {
	node *jsonschema.Node
	not  bool
}

// goal is a set of literals that one value is to meet. "Every value of a fits b"
// is the goal {a, not b} having no value.
type goal struct {
	id       int
	literals []literal
}

// state is what is known of a goal.
type state uint8

const (
	empty state = iota // proved: no value meets it
	open               // neither proved nor refuted
	found              // a value was built
)

// facts are what the solver knows of one node.
type facts struct {
	node *jsonschema.Node // behind plain references
	id   int
	// text tells nodes of equal meaning; 0 where references make it hard to say.
	text  int
	own   string // see own, filled on demand
	parts []*jsonschema.Node
	value bool // always true or false
	yes   bool
}

// solver answers for the goals of one direction of one pair.
type solver struct {
	meter *compat.Meter
	// dynamic: some node means different things on different ways through its
	// schema, so that no node may be judged apart from its way.
	dynamic bool
	aim     *aim // nil: any value will do
	formats bool // the reader may assert formats

	nodes  map[*jsonschema.Node]*facts
	texts  *texts
	goals  map[string]*goal
	pairs  *compat.Pairs[int]
	twins  map[[2]*jsonschema.Node]bool // known to be alike, or not
	values map[int][]*jsontext.Value
	depth  int
	name   []byte // scratch
}

// texts number the texts of nodes, for both directions of a pair; 0 stands for a
// node whose text does not say all that it means.
type texts struct {
	numbers map[string]int
	of      map[*jsonschema.Node]int
}

func newTexts() *texts {
	return &texts{numbers: map[string]int{}, of: map[*jsonschema.Node]int{}}
}

func (t *texts) number(n *jsonschema.Node, meter *compat.Meter) int {
	size := n.Value.End - n.Value.Start
	if size > 1<<12 {
		return 0
	}
	meter.Spend(1 + size/256) // known or not, so that the order of questions changes nothing
	if known, ok := t.of[n]; ok {
		return known
	}
	key := string(n.Value.Append([]byte{byte('0' + n.Dialect), ' '}, true))
	out := 0
	if !strings.Contains(key, `Ref"`) && !strings.Contains(key, `"$ref"`) && !strings.Contains(key, `"$schema"`) {
		if out = t.numbers[key]; out == 0 {
			out = len(t.numbers) + 1
			t.numbers[key] = out
		}
	}
	t.of[n] = out
	return out
}

func newSolver(meter *compat.Meter, texts *texts, dynamic bool) *solver {
	return &solver{
		meter: meter, dynamic: dynamic,
		nodes: map[*jsonschema.Node]*facts{}, texts: texts, goals: map[string]*goal{},
		pairs: compat.NewPairs[int](meter), twins: map[[2]*jsonschema.Node]bool{}, values: map[int][]*jsontext.Value{},
	}
}

// silentWords say nothing about a value.
var silentWords = set("$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "title", "description", "default", "examples",
	"deprecated", "readOnly", "writeOnly", "$vocabulary", "contentEncoding", "contentMediaType", "contentSchema", "$dynamicAnchor", "$recursiveAnchor")

func isSilent(n *jsonschema.Node, beside string) bool {
	if n.Dialect == jsonschema.Draft7 && len(softOf(n)) > 0 {
		return false
	}
	if len(n.Value.Members) > 64 {
		return false
	}
	for i := range n.Value.Members {
		name := n.Value.Members[i].Name
		if name != beside && !silentWords[name] && n.Dialect.Knows(name) {
			return false
		}
	}
	return true
}

// behind goes through references that say nothing of their own.
func behind(n *jsonschema.Node) *jsonschema.Node {
	for {
		switch {
		case n.Ref != nil && (!n.Dialect.IsModern() || isSilent(n, "$ref")):
			n = n.Ref
		case n.Ref == nil && n.Dynamic != nil && n.Dynamic.Fixed && (isSilent(n, "$dynamicRef") || isSilent(n, "$recursiveRef")):
			n = n.Dynamic.Target
		default:
			return n
		}
	}
}

func (s *solver) facts(n *jsonschema.Node) *facts {
	if f := s.nodes[n]; f != nil {
		return f
	}
	target := behind(n)
	if target != n {
		f := s.facts(target)
		s.nodes[n] = f
		return f
	}
	f := &facts{node: n, id: len(s.nodes) + 1}
	s.nodes[n] = f
	if yes, ok := n.Always(); ok {
		f.value, f.yes = true, yes
		return f
	}
	if isSilent(n, "") {
		f.value, f.yes = true, true
		return f
	}
	if !s.dynamic {
		f.text = s.texts.number(n, s.meter)
	}
	return f
}

// opposite tells whether no value meets both.
func (s *solver) opposite(a, b literal) bool {
	if a.not == b.not {
		return false
	}
	f, g := s.facts(a.node), s.facts(b.node)
	switch {
	case s.dynamic:
		return false
	case f == g, f.text != 0 && f.text == g.text:
		return true
	case f.text != 0 || g.text != 0:
		return false
	}
	return s.alike(f.node, g.node)
}

// goal interns a set of literals; nil when it is empty at sight.
func (s *solver) goal(literals []literal) *goal {
	kept := make([]literal, 0, len(literals))
	for _, l := range literals {
		f := s.facts(l.node)
		if f.value {
			if f.yes == l.not {
				return nil
			}
			continue
		}
		l.node = f.node
		same := false
		for _, k := range kept {
			if s.opposite(k, l) {
				return nil
			}
			g := s.facts(k.node)
			if same = k.not == l.not && (k.node == l.node || f.text != 0 && f.text == g.text); same {
				break
			}
		}
		if !same {
			kept = append(kept, l)
		}
	}
	order := func(l literal) int {
		if l.not {
			return 2*s.nodes[l.node].id + 1
		}
		return 2 * s.nodes[l.node].id
	}
	slices.SortFunc(kept, func(a, b literal) int { return order(a) - order(b) })
	s.name = s.name[:0]
	for _, l := range kept {
		s.name = binary.AppendUvarint(s.name, uint64(order(l)))
	}
	if g := s.goals[string(s.name)]; g != nil {
		return g
	}
	g := &goal{id: len(s.goals), literals: kept}
	s.goals[string(s.name)] = g
	return g
}

// deepestGoals bounds the recursion, and so the stack: what lies deeper is open.
const deepestGoals = 2_000

// solve answers for one goal, with values that meet it when some were built. A
// goal met again below itself counts as empty there: every way from it back to
// it goes down into the value, so a smallest value would have no way at all.
func (s *solver) solve(g *goal) ([]*jsontext.Value, state) {
	if g == nil {
		return nil, empty
	}
	if values := s.values[g.id]; values != nil {
		return values, found
	}
	if s.meter.Spent() {
		return nil, open
	}
	outcome := s.pairs.Of(g.id, func() compat.Outcome {
		if s.depth >= deepestGoals {
			return compat.Undecided
		}
		s.depth++
		s.meter.Spend(costOfGoal + len(g.literals)*len(g.literals))
		values, st := newSearch(s, g).run()
		s.depth--
		switch st {
		case found:
			s.values[g.id] = values
			return compat.Refuses
		case open:
			return compat.Undecided
		default:
			return compat.Reads
		}
	})
	switch outcome.Answer {
	case compat.Safe:
		return nil, empty
	case compat.Breaks:
		return s.values[g.id], found
	default:
		return nil, open
	}
}

// isOpen tells whether a value fits a node only as long as formats are not
// asserted.
func (s *solver) isOpen(n *jsonschema.Node, text string) bool {
	if !s.formats {
		return false
	}
	s.meter.Spend(costOfJudgment + len(text)/8)
	ok, sure := n.HoldsAsserting(text, 200_000)
	return !ok || !sure
}

// meets judges a value by the validator. sure is false when that means nothing:
// it ran out of steps, or references are dynamic.
func (s *solver) meets(l literal, text string) (ok, sure bool) {
	s.meter.Spend(costOfJudgment + len(text)/8)
	ok, sure = l.node.Holds(text, 200_000)
	return ok != l.not, sure && !s.dynamic
}
