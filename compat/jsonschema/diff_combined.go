package jsonschema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// combined compares what looks at the same value. Both sides are put together
// by the same keywords.
func (d *differ) combined(p pairing) {
	if p.old.Ref != nil && p.next.Ref != nil {
		d.nodes(pairing{p.old.Ref, p.next.Ref, p.path})
	}
	if p.old.Dynamic != nil && p.next.Dynamic != nil {
		d.nodes(pairing{p.old.Dynamic.Target, p.next.Dynamic.Target, p.path})
	}
	d.parts(p, "allOf", "condition", p.old.AllOf, p.next.AllOf, &partAdded, &partRemoved)
	d.parts(p, "anyOf", "alternative", p.old.AnyOf, p.next.AnyOf, &alternativeAdded, &alternativeRemoved)
	d.parts(p, "oneOf", "alternative", p.old.OneOf, p.next.OneOf, &choiceAdded, &choiceRemoved)
	switch a, b := p.old.Not, p.next.Not; {
	case a == nil && b == nil:
	case a == nil:
		d.report(&notAdded, p, "", shown(b.Value), "values are excluded now", "not")
	case b == nil:
		d.report(&notRemoved, p, shown(a.Value), "", "values are no longer excluded", "not")
	case !d.same(a, b):
		d.report(&notChanged, p, shown(a.Value), shown(b.Value), "the excluded values changed", "not")
	}
	for _, k := range []struct{ a, b *jsonschema.Node }{{p.old.If, p.next.If}, {p.old.Then, p.next.Then}, {p.old.Else, p.next.Else}} {
		if (k.a == nil) != (k.b == nil) || k.a != nil && !d.same(k.a, k.b) {
			d.report(&conditionalChanged, p, shown(p.old.Keyword("if")), shown(p.next.Keyword("if")), "the conditional part changed", "if", "then", "else")
			break
		}
	}
}

// same tells whether two schemas read alike, also behind references: comparing
// them finds nothing.
func (d *differ) same(a, b *jsonschema.Node) bool {
	inner := &differ{meter: d.meter, met: map[[2]*jsonschema.Node]bool{}, depth: d.depth}
	inner.nodes(pairing{a, b, "$"})
	for _, f := range inner.changes {
		if allows(f.rule, 0, compat.Refuses) || allows(f.rule, 1, compat.Refuses) || f.misleads {
			return false
		}
	}
	return true
}

func (d *differ) parts(p pairing, keyword, what string, old, next []*jsonschema.Node, added, removed *compat.Rule) {
	pairs, gone, fresh := d.match(old, next)
	for _, q := range pairs {
		d.nodes(pairing{q[0], q[1], p.path + "/" + keyword + "(" + signature(q[0]) + ")"})
	}
	beside := func(f *finding) {
		f.around = p
		for i, n := range []*jsonschema.Node{p.old, p.next} {
			f.answers[i] = append(f.answers[i], answerOf(n, keyword))
		}
	}
	for _, n := range gone {
		beside(d.report(removed, pairing{n, p.next, p.path}, shown(n.Value), "", fmt.Sprintf("the %s %s was removed", what, short(shown(n.Value)))))
	}
	for _, n := range fresh {
		beside(d.report(added, pairing{p.old, n, p.path}, "", shown(n.Value), fmt.Sprintf("the %s %s was added", what, short(shown(n.Value)))))
	}
}

func short(text string) string {
	const most = 60
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// signature is by what people tell branches apart: where it refers to, its
// title, type, and the constants of its members.
func signature(n *jsonschema.Node) string {
	var parts []string
	for _, k := range []string{"$ref", "title", "const"} {
		if v := n.Keyword(k); v != nil && v.End-v.Start < 200 {
			parts = append(parts, v.String())
		}
	}
	if k := kindsAllowed(n); k != everyKind {
		parts = append(parts, kindWords(k))
	}
	for i, p := range n.Properties {
		if i < 64 && p.Node.Const != nil && p.Node.Const.End-p.Node.Const.Start < 200 {
			parts = append(parts, p.Name+"="+p.Node.Const.String())
		}
	}
	return strings.Join(parts, " ")
}

// match pairs the branches of two lists: equal ones first, then those of one
// signature in their order, then, when as many are left on both sides, the rest
// in their order. It does not matter which side is the old one.
func (d *differ) match(old, next []*jsonschema.Node) (pairs [][2]*jsonschema.Node, gone, fresh []*jsonschema.Node) {
	text := func(n *jsonschema.Node) string {
		d.meter.Spend(1 + (n.Value.End-n.Value.Start)/64)
		return strconv.Itoa(int(n.Dialect)) + string(n.Value.Append(nil, true))
	}
	gone, fresh = old, next
	for _, key := range []func(*jsonschema.Node) string{text, signature} {
		waiting := map[string][]*jsonschema.Node{}
		for _, n := range fresh {
			k := key(n)
			waiting[k] = append(waiting[k], n)
		}
		taken := map[*jsonschema.Node]bool{}
		var left []*jsonschema.Node
		for _, n := range gone {
			k := key(n)
			if w := waiting[k]; len(w) > 0 && !taken[n] {
				pairs = append(pairs, [2]*jsonschema.Node{n, w[0]})
				taken[w[0]] = true
				waiting[k] = w[1:]
				continue
			}
			left = append(left, n)
		}
		gone = left
		var rest []*jsonschema.Node
		for _, n := range fresh {
			if !taken[n] {
				rest = append(rest, n)
			}
		}
		fresh = rest
	}
	if len(gone) == len(fresh) {
		for i := range gone {
			pairs = append(pairs, [2]*jsonschema.Node{gone[i], fresh[i]})
		}
		return pairs, nil, nil
	}
	return pairs, gone, fresh
}
