package jsonschema

import (
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// needsHuman ends what is told of a change that validators do not see.
const needsHuman = ": whether values still mean the same needs a human"

// remarks compares what says nothing of which values fit. With beside, only what
// stands beside a reference is looked at.
func (d *differ) remarks(p pairing, beside bool) {
	if beside && p.old.Value.Get("$ref") == nil && p.next.Value.Get("$ref") == nil {
		return
	}
	for _, k := range []string{"title", "description", "$comment"} {
		d.remark(&annotationChanged, p, beside, k, func(a, b *jsontext.Value) bool { return a != nil && b != nil })
	}
	for _, k := range []string{"examples", "deprecated"} {
		d.remark(&annotationChanged, p, beside, k, nil)
	}
	for _, k := range []string{"readOnly", "writeOnly"} {
		d.remark(&annotationChanged, p, beside, k, func(a, b *jsontext.Value) bool {
			return (a != nil && a.Bool) != (b != nil && b.Bool)
		})
	}
	d.remark(&defaultChanged, p, beside, "default", func(a, b *jsontext.Value) bool { return a != nil && b != nil })
	if !beside {
		for _, k := range []string{"$id", "id"} {
			d.changed(&identityChanged, p, beside, k, k, p.old.Keyword(k), p.next.Keyword(k), nil)
		}
	}
	d.attributes(p, beside)
}

// remark tells of a keyword that reads differently, whether or not the dialect
// knows it: people do. misleads says when that may be another meaning.
func (d *differ) remark(rule *compat.Rule, p pairing, beside bool, keyword string, misleads func(a, b *jsontext.Value) bool) {
	d.changed(rule, p, beside, keyword, keyword, p.old.Value.Get(keyword), p.next.Value.Get(keyword), misleads)
}

func (d *differ) changed(rule *compat.Rule, p pairing, beside bool, keyword, what string, a, b *jsontext.Value, misleads func(a, b *jsontext.Value) bool) {
	if beside && (a == nil || p.old == behind(p.old)) && (b == nil || p.next == behind(p.next)) {
		return // it is told where the reference leads
	}
	if a == nil && b == nil || a != nil && b != nil && string(a.Append(nil, true)) == string(b.Append(nil, true)) {
		return
	}
	verb := " changed"
	if a == nil {
		verb = " was added"
	} else if b == nil {
		verb = " was removed"
	}
	text, human := what+verb, misleads != nil && misleads(a, b)
	if human {
		text += needsHuman
	}
	d.report(rule, p, shown(a), shown(b), text, keyword).misleads = human
}

// attributes compares the members that no dialect knows, where tools and people
// keep what they need: the unit of a number above all.
func (d *differ) attributes(p pairing, beside bool) {
	var names []string
	for _, n := range []*jsonschema.Node{p.old, p.next} {
		for i := range n.Value.Members {
			name := n.Value.Members[i].Name
			if p.old.Dialect.Knows(name) || p.next.Dialect.Knows(name) || silentWords[name] {
				continue
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	d.meter.Spend(len(names))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := p
		at.path += "@" + name
		d.changed(&attributeChanged, at, beside, name, "the attribute "+name, p.old.Value.Get(name), p.next.Value.Get(name), func(*jsontext.Value, *jsontext.Value) bool { return isUnit(name) })
	}
}

// isUnit tells the attribute that people give the unit of a number in.
func isUnit(name string) bool {
	name = strings.TrimPrefix(strings.ToLower(name), "x-")
	return name == "unit" || name == "units" || name == "currency"
}
