package jsonschema

import (
	"math"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// port runs one comparison.
type port struct {
	meter   *compat.Meter
	policy  compat.Policy
	classes map[*jsonschema.Node]*class

	results  map[pair]*result
	open     map[pair]bool
	refuted  map[pair]*result // found incompatible in an earlier pass
	plain    comparison       // at hand in plainly, which does not recur
	plainOut result

	depth   int
	assumed bool // an open pair was met again and taken for equal
}

// deepest bounds the recursion over pairs, and so the stack: a pair that goes
// deeper is not checked.
const deepest = 20_000

type pair struct{ old, next *class }

// isPlain tells whether a pair is compared without looking below it: such a
// result is cheaper to find again than to remember.
func (at pair) isPlain() bool {
	if at.old == nil || at.next == nil {
		return true
	}
	if at.old.kind == combinedKind || at.next.kind == combinedKind {
		return false
	}
	switch at.old.kind {
	case arrayKind, objectKind, notKind:
		return at.old.kind != at.next.kind
	default:
		return true
	}
}

// result is what one pair of classes came to. Its entries are differences and
// the results of pairs below, each with the path from here to there; sharing
// them keeps a schema that refers twice to everything from doubling its list at
// every level.
type result struct {
	entries    []entry
	compatible bool
}

type entry struct {
	path []string
	kind string // of a difference
	sub  *result
	// in the two texts, of a difference, or of what is around sub
	old, next *jsonschema.Node
}

// solve compares two roots. A pair that is met again while it is open counts as
// equal; passes repeat, knowing the pairs that were found incompatible, until
// nothing new is found. What is left is the greatest fixed point, so that no
// guess made inside a cycle outlives it.
func (p *port) solve(old, next *class) (*result, error) {
	for {
		p.results, p.open, p.assumed = map[pair]*result{}, map[pair]bool{}, false
		r := p.compare(old, next)
		if err := p.meter.Err(); err != nil {
			return nil, err
		}
		known := len(p.refuted)
		for at, one := range p.results {
			if _, ok := p.refuted[at]; !ok && !one.compatible {
				p.refuted[at] = one
			}
		}
		if !p.assumed || len(p.refuted) == known {
			return r, nil
		}
	}
}

// comparison collects the result of one pair, at one place.
type comparison struct {
	p         *port
	out       *result
	old, next *class
}

// say adds a difference at a path below the pair.
func (c *comparison) say(kind string, path ...string) {
	e := entry{path: path, kind: kind}
	if c.old != nil {
		e.old = c.old.node
	}
	if c.next != nil {
		e.next = c.next.node
	}
	c.out.entries = append(c.out.entries, e)
	if !accepted(kind, c.p.policy) {
		c.out.compatible = false
	}
}

// isSilent tells whether a result has nothing to add to another.
func (r *result) isSilent() bool { return len(r.entries) == 0 && r.compatible }

// take adds the result of a pair below.
func (c *comparison) take(r *result, path ...string) {
	if !r.isSilent() {
		e := entry{path: path, sub: r}
		if c.old != nil {
			e.old = c.old.node
		}
		if c.next != nil {
			e.next = c.next.node
		}
		c.out.entries = append(c.out.entries, e)
	}
	if !r.compatible {
		c.out.compatible = false
	}
}

// costOfPair is what a pair takes that is really compared, beside the step of
// asking: a default budget then ends within two seconds and 512 MB.
const costOfPair = 15

// compare answers for one pair; nil stands for an absent schema.
//
// Source: JSON Schema specification 2.3.
func (p *port) compare(old, next *class) *result {
	if old == nil && next == nil {
		return silent
	}
	if !p.meter.Spend(1) {
		return &result{}
	}
	at := pair{p.follow(old), p.follow(next)}
	if at.isPlain() {
		return p.plainly(at)
	}
	out := &result{compatible: true}
	c := &comparison{p: p, out: out, old: at.old, next: at.next}
	if known := p.results[at]; known != nil {
		return known
	}
	if p.open[at] {
		p.assumed = true
		if earlier := p.refuted[at]; earlier != nil {
			return earlier
		}
		return out
	}
	p.meter.Spend(costOfPair)
	if p.depth++; p.depth > deepest {
		p.meter.Spend(math.MaxInt)
	}
	p.open[at] = true
	c.pair()
	delete(p.open, at)
	p.depth--
	p.results[at] = out
	return out
}

// silent is the result of what is alike in every respect.
var silent = &result{compatible: true}

// reads is compare for those who ask no more than whether a pair is compatible.
func (p *port) reads(old, next *class) bool {
	if at := (pair{p.follow(old), p.follow(next)}); at.isPlain() && (old != nil || next != nil) {
		if !p.meter.Spend(1) {
			return false
		}
		p.glance(at)
		return p.plainOut.compatible
	}
	return p.compare(old, next).compatible
}

// plainly compares a pair that needs no look below it.
func (p *port) plainly(at pair) *result {
	p.glance(at)
	if p.plainOut.isSilent() {
		return silent
	}
	return &result{slices.Clone(p.plainOut.entries), p.plainOut.compatible}
}

// glance leaves the result of a plain pair in plainOut, until the next one.
func (p *port) glance(at pair) {
	p.plainOut = result{entries: p.plainOut.entries[:0], compatible: true}
	p.plain = comparison{p: p, out: &p.plainOut, old: at.old, next: at.next}
	switch {
	case at.old == nil:
		p.plain.say("SCHEMA_ADDED")
	case at.next == nil:
		p.plain.say("SCHEMA_REMOVED")
	default:
		p.plain.pair()
	}
}

func (c *comparison) pair() {
	if c.unionOf() || c.unionLeft() {
		return
	}
	if c.old.kind != c.next.kind {
		if c.old.kind == falseKind || c.next.kind == emptyKind || connectBytes(c.old) && connectBytes(c.next) {
			return
		}
		c.say("TYPE_CHANGED")
		return
	}
	c.annotations()
	switch c.old.kind {
	case stringKind:
		c.strings()
	case numberKind:
		c.numbers()
	case enumKind:
		c.enums()
	case constKind:
		if !sameText(c.old.keyword("const"), c.next.keyword("const")) {
			c.say("ENUM_ARRAY_CHANGED", "const")
		}
	case notKind:
		inner := c.p.compare(c.p.classOf(c.next.node.Not), c.p.classOf(c.old.node.Not))
		if inner.compatible {
			c.say("NOT_TYPE_NARROWED", "not")
		} else {
			c.say("NOT_TYPE_EXTENDED", "not")
		}
	case arrayKind:
		c.arrays()
	case objectKind:
		c.objects()
	case combinedKind:
		c.combined()
	default: // nothing more is compared
	}
}

// unionOf handles a plain schema that meets a combined one; true when decided.
func (c *comparison) unionOf() bool {
	if c.old.kind == combinedKind || c.next.kind != combinedKind {
		return false
	}
	if len(c.next.parts) == 1 {
		if r := c.p.compare(c.old, c.next.parts[0]); r.compatible {
			c.take(r)
			return true
		}
		return false
	}
	if c.next.criterion == allOf {
		return false
	}
	for _, part := range c.next.parts {
		if r := c.p.compare(c.old, part); r.compatible {
			c.take(r)
			c.say("SUM_TYPE_EXTENDED")
			return true
		}
	}
	return false
}

// unionLeft handles a combined schema that meets a plain one.
func (c *comparison) unionLeft() bool {
	if c.old.kind != combinedKind || c.next.kind == combinedKind {
		return false
	}
	if len(c.old.parts) == 1 {
		if r := c.p.compare(c.old.parts[0], c.next); r.compatible {
			c.take(r)
			return true
		}
		return false
	}
	if c.old.criterion != allOf {
		return false
	}
	for _, part := range c.old.parts {
		if r := c.p.compare(part, c.next); r.compatible {
			c.take(r)
			c.say("PRODUCT_TYPE_NARROWED")
			return true
		}
	}
	return false
}

// connectBytes finds the mark that a connector leaves on bytes. It belongs to a
// whole schema, like every keyword that the peer does not know.
func connectBytes(c *class) bool {
	v := c.node.Value.Get("connect.type")
	return c.whole && v != nil && v.Text == "bytes"
}

// isAnnotated tells whether a class has anything that annotations compares.
func (c *class) isAnnotated() bool {
	if c.annotated == 0 {
		c.annotated = 1
		for i := 0; c.whole && i < len(c.node.Value.Members); i++ {
			switch c.node.Value.Members[i].Name {
			case "id", "$id", "title", "description", "default":
				c.annotated = 2
			}
		}
	}
	return c.annotated == 2
}

// annotations compares what says nothing about data.
func (c *comparison) annotations() {
	if !c.old.isAnnotated() && !c.next.isAnnotated() {
		return
	}
	annotation := func(of *class, name string) *jsontext.Value {
		if !of.whole {
			return nil
		}
		return of.node.Keyword(name)
	}
	identity := func(of *class) *jsontext.Value {
		switch of.node.Dialect {
		case jsonschema.Draft4:
			return annotation(of, "id")
		case jsonschema.Draft6, jsonschema.Draft7:
			return annotation(of, "$id")
		default:
			return nil
		}
	}
	if !sameText(identity(c.old), identity(c.next)) {
		c.say("ID_CHANGED")
	}
	for _, one := range []struct{ keyword, kind string }{
		{"title", "TITLE_CHANGED"}, {"description", "DESCRIPTION_CHANGED"}, {"default", "DEFAULT_CHANGED"},
	} {
		if !sameText(annotation(c.old, one.keyword), annotation(c.next, one.keyword)) {
			c.say(one.kind)
		}
	}
}

// mostDifferences bounds the list that people get to see.
const mostDifferences = 1_000

// mostPaths bounds the bytes of the paths in that list: names may be long.
const mostPaths = 1 << 20

// differences lays a result out as a list. It is cut at mostDifferences, never
// so that the refusing ones of a refused pair are all left out.
func (r *result) differences(policy compat.Policy) []compat.Difference {
	l := &layout{policy: policy, left: 20 * mostDifferences, places: map[*jsonschema.Node]schemas.Place{}}
	l.walk(r)
	if !r.compatible && !l.refused {
		l.path = l.path[:0]
		l.blame(r)
	}
	return l.out
}

type layout struct {
	policy compat.Policy
	out    []compat.Difference
	path   []string // of the entry at hand
	// around is where a schema that is absent would stand
	around  [2]*jsonschema.Node
	left    int // entries that may still be looked at
	refused bool
	bytes   int // of paths and pointers
	places  map[*jsonschema.Node]schemas.Place
}

func (l *layout) place(n *jsonschema.Node) schemas.Place {
	if n == nil {
		return schemas.Place{}
	}
	at, ok := l.places[n]
	if !ok {
		at = n.Place()
		l.places[n] = at
	}
	return at
}

func (l *layout) walk(r *result) {
	for _, e := range r.entries {
		if l.left--; l.left < 0 || len(l.out) >= mostDifferences || l.bytes > mostPaths {
			return
		}
		here := len(l.path)
		l.path = append(l.path, e.path...)
		if e.sub != nil {
			outer := l.around
			l.around = [2]*jsonschema.Node{e.old, e.next}
			l.walk(e.sub)
			l.around = outer
		} else {
			l.add(e)
		}
		l.path = l.path[:here]
	}
}

// blame adds one refusing difference.
func (l *layout) blame(r *result) {
	for i := 0; i < len(r.entries); i++ {
		e := r.entries[i]
		switch {
		case e.sub == nil && !accepted(e.kind, l.policy):
			l.path = append(l.path, e.path...)
			l.add(e)
			return
		case e.sub != nil && !e.sub.compatible:
			l.path = append(l.path, e.path...)
			l.around = [2]*jsonschema.Node{e.old, e.next}
			r, i = e.sub, -1
		}
	}
}

func (l *layout) add(e entry) {
	d := compat.Difference{
		Type: e.kind, Path: "#/" + strings.Join(l.path, "/"), Compatible: accepted(e.kind, l.policy),
	}
	if !d.Compatible { // nobody asks where what is accepted stands
		if e.old == nil {
			e.old = l.around[0]
		}
		if e.next == nil {
			e.next = l.around[1]
		}
		d.Reader, d.Writer = l.place(e.next), l.place(e.old)
	}
	l.bytes += len(d.Path) + len(d.Reader.Pointer) + len(d.Writer.Pointer)
	l.refused = l.refused || !d.Compatible
	l.out = append(l.out, d)
}
