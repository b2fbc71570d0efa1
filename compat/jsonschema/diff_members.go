package jsonschema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

func (d *differ) arrays(p pairing) {
	if kindsAllowed(p.old)&kindsAllowed(p.next)&jsonschema.KindArray == 0 {
		return
	}
	d.counts(p, "minItems", "least number of items", p.old.MinItems, p.next.MinItems, 0, &minItemsRaised, &minItemsLowered)
	d.counts(p, "maxItems", "greatest number of items", p.old.MaxItems, p.next.MaxItems, jsonschema.Unlimited, &maxItemsRaised, &maxItemsLowered)
	if p.old.UniqueItems != p.next.UniqueItems {
		rule, text := &uniqueAdded, "equal items are no longer allowed"
		if p.old.UniqueItems {
			rule, text = &uniqueRemoved, "equal items are allowed now"
		}
		d.report(rule, p, strconv.FormatBool(p.old.UniqueItems), strconv.FormatBool(p.next.UniqueItems), text, "uniqueItems")
	}
	d.contained(p)
	a, b := p.old.Prefix, p.next.Prefix
	for i := range max(len(a), len(b)) {
		at := pairing{p.old, p.next, p.path + "[" + strconv.Itoa(i) + "]"}
		switch {
		case i < len(a) && i < len(b):
			at.old, at.next = a[i], b[i]
			d.nodes(at)
		case i < len(a):
			at.old = a[i]
			f := d.report(&itemRemoved, at, shown(a[i].Value), "", fmt.Sprintf("the schema of item %d was removed", i))
			d.answering(f, p, at, "items", "additionalItems", "unevaluatedItems")
		default:
			at.next = b[i]
			f := d.report(&itemAdded, at, "", shown(b[i].Value), fmt.Sprintf("item %d was given a schema of its own", i))
			d.answering(f, p, at, "items", "additionalItems", "unevaluatedItems")
		}
	}
	d.rest(p, p.old.Items, p.next.Items, "items", p.path+"[]", &itemsRestricted, &itemsFreed, "items", "additionalItems")
	d.rest(p, p.old.UnevaluatedItems, p.next.UnevaluatedItems, "unevaluated items", p.path+"[?]", &unevaluatedItemsRestricted, &unevaluatedItemsFreed, "unevaluatedItems")
}

// answering makes a change answer for a part of its own on the side that has
// it, and on the other for what its schema says of parts it does not list.
func (d *differ) answering(f *finding, around, at pairing, keywords ...string) {
	f.around = around
	for i, n := range [][2]*jsonschema.Node{{around.old, at.old}, {around.next, at.next}} {
		if n[0] != n[1] {
			f.answers[i] = append(f.answers[i], answerOf(n[1], ""))
			continue
		}
		for _, k := range keywords {
			f.answers[i] = append(f.answers[i], answerOf(n[0], k))
		}
	}
}

// rest compares what is said of parts that are not listed. Absent and true are
// one.
func (d *differ) rest(p pairing, a, b *jsonschema.Node, what, path string, restricted, freed *compat.Rule, keywords ...string) {
	free := func(n *jsonschema.Node) bool {
		if n == nil {
			return true
		}
		yes, always := n.Always()
		return always && yes || !always && isSilent(n, "")
	}
	switch {
	case free(a) && free(b):
	case free(a):
		d.report(restricted, p, "", shown(b.Value), "the "+what+" were restricted", keywords...)
	case free(b):
		d.report(freed, p, shown(a.Value), "", "the "+what+" were set free", keywords...)
	default:
		d.nodes(pairing{a, b, path})
	}
}

func (d *differ) contained(p pairing) {
	a, b := p.old.Contains, p.next.Contains
	switch {
	case a == nil && b == nil:
		return
	case a == nil:
		d.report(&containsAdded, p, "", shown(b.Value), "the array must contain an item of a kind now", "contains", "minContains", "maxContains")
		return
	case b == nil:
		d.report(&containsRemoved, p, shown(a.Value), "", "the array need no longer contain an item of a kind", "contains", "minContains", "maxContains")
		return
	}
	if a.Value.String() != b.Value.String() && string(a.Value.Append(nil, true)) != string(b.Value.Append(nil, true)) {
		d.report(&containsChanged, p, shown(a.Value), shown(b.Value), "the kind of item that the array must contain changed", "contains", "minContains", "maxContains")
	}
	d.counts(p, "minContains", "least number of items of the kind", p.old.MinContains, p.next.MinContains, 1, &minContainsRaised, &minContainsLowered)
	d.counts(p, "maxContains", "greatest number of items of the kind", p.old.MaxContains, p.next.MaxContains, jsonschema.Unlimited, &maxContainsRaised, &maxContainsLowered)
	// A count of one or none is told at contains.
	for i := range d.changes {
		f := &d.changes[i]
		if f.rule == &minContainsRaised || f.rule == &minContainsLowered {
			for side, n := range []*jsonschema.Node{p.old, p.next} {
				if at := answerOf(n, "contains"); slices.Contains(f.answers[side], answerOf(n, "minContains")) && !slices.Contains(f.answers[side], at) {
					f.answers[side] = append(f.answers[side], at)
				}
			}
		}
	}
}

func (d *differ) objects(p pairing) {
	if kindsAllowed(p.old)&kindsAllowed(p.next)&jsonschema.KindObject == 0 {
		return
	}
	a, b := p.old, p.next
	d.meter.Spend((len(a.Properties) + len(b.Properties) + len(a.Required) + len(b.Required)) / 8)
	renamed := d.renames(a, b)
	back := make(map[string]string, len(renamed))
	for was, is := range renamed {
		back[is] = was
	}
	for _, name := range a.Required {
		if !b.Requires(name) && renamed[name] == "" {
			d.report(&requiredRemoved, pairing{a, b, p.path + "." + name}, name, "", fmt.Sprintf("the member %s need not be there any more", name), "required").members = []string{name}
		}
	}
	for _, name := range b.Required {
		if !a.Requires(name) && back[name] == "" {
			d.report(&requiredAdded, pairing{a, b, p.path + "." + name}, "", name, fmt.Sprintf("the member %s must be there now", name), "required").members = []string{name}
		}
	}
	beside := []string{"additionalProperties", "unevaluatedProperties", "patternProperties"}
	for _, q := range a.Properties {
		at := pairing{q.Node, b, p.path + "." + q.Name}
		if other := b.Property(q.Name); other != nil {
			at.next = other
			d.nodes(at)
			continue
		}
		if is := renamed[q.Name]; is != "" {
			d.renamed(p, q.Name, is)
			continue
		}
		f := d.report(&propertyRemoved, at, shown(q.Node.Value), "", fmt.Sprintf("the property %s was removed", q.Name))
		f.members = []string{q.Name}
		d.answering(f, p, at, beside...)
	}
	for _, q := range b.Properties {
		if a.Property(q.Name) == nil && back[q.Name] == "" {
			at := pairing{a, q.Node, p.path + "." + q.Name}
			f := d.report(&propertyAdded, at, "", shown(q.Node.Value), fmt.Sprintf("the property %s was added", q.Name))
			f.members = []string{q.Name}
			d.answering(f, p, at, beside...)
		}
	}
	d.patterns(p)
	d.rest(p, a.AdditionalProperties, b.AdditionalProperties, "additional properties", p.path+".*", &restRestricted, &restFreed, "additionalProperties")
	d.rest(p, a.PropertyNames, b.PropertyNames, "names of members", p.path+".(name)", &namesRestricted, &namesFreed, "propertyNames")
	d.rest(p, a.UnevaluatedProperties, b.UnevaluatedProperties, "unevaluated properties", p.path+".?", &unevaluatedRestricted, &unevaluatedFreed, "unevaluatedProperties")
	d.counts(p, "minProperties", "least number of members", a.MinProperties, b.MinProperties, 0, &minPropertiesRaised, &minPropertiesLowered)
	d.counts(p, "maxProperties", "greatest number of members", a.MaxProperties, b.MaxProperties, jsonschema.Unlimited, &maxPropertiesRaised, &maxPropertiesLowered)
	d.dependencies(p)
}

func (d *differ) patterns(p pairing) {
	find := func(list []jsonschema.PatternProperty, text string) *jsonschema.Node {
		for _, q := range list {
			if q.Pattern != nil && q.Pattern.String() == text {
				return q.Node
			}
		}
		return nil
	}
	beside := []string{"additionalProperties", "unevaluatedProperties", "patternProperties"}
	for _, q := range p.old.PatternProperties {
		if q.Pattern == nil || !d.meter.Spend(1+len(p.next.PatternProperties)/8) {
			continue
		}
		text := q.Pattern.String()
		at := pairing{q.Node, p.next, p.path + ".(" + text + ")"}
		if other := find(p.next.PatternProperties, text); other != nil {
			at.next = other
			d.nodes(at)
			continue
		}
		f := d.report(&patternPropertyRemoved, at, shown(q.Node.Value), "", fmt.Sprintf("the properties that match %s were removed", text))
		d.answering(f, p, at, beside...)
	}
	for _, q := range p.next.PatternProperties {
		if q.Pattern == nil || !d.meter.Spend(1+len(p.old.PatternProperties)/8) || find(p.old.PatternProperties, q.Pattern.String()) != nil {
			continue
		}
		at := pairing{p.old, q.Node, p.path + ".(" + q.Pattern.String() + ")"}
		f := d.report(&patternPropertyAdded, at, "", shown(q.Node.Value), fmt.Sprintf("the properties that match %s were added", q.Pattern))
		d.answering(f, p, at, beside...)
	}
}

func (d *differ) dependencies(p pairing) {
	needs := func(n *jsonschema.Node) map[string]map[string]bool {
		out := map[string]map[string]bool{}
		for _, dep := range n.DependentRequired {
			out[dep.Name] = set(dep.Needs...)
		}
		return out
	}
	if len(p.old.DependentRequired)+len(p.next.DependentRequired) > 0 {
		a, b := needs(p.old), needs(p.next)
		for _, name := range both(a, b) {
			lost, gained := difference(a[name], b[name])
			at := pairing{p.old, p.next, p.path + "." + name}
			if gained || a[name] == nil {
				d.report(&dependencyAdded, at, list(a[name]), list(b[name]), fmt.Sprintf("with the member %s others are needed now: %s", name, list(b[name])), "dependentRequired").members = []string{name}
			}
			if lost || b[name] == nil {
				d.report(&dependencyRemoved, at, list(a[name]), list(b[name]), fmt.Sprintf("with the member %s fewer others are needed", name), "dependentRequired").members = []string{name}
			}
		}
	}
	schemasOf := func(n *jsonschema.Node) map[string]*jsonschema.Node {
		out := map[string]*jsonschema.Node{}
		for _, dep := range n.DependentSchemas {
			out[dep.Name] = dep.Node
		}
		return out
	}
	if len(p.old.DependentSchemas)+len(p.next.DependentSchemas) == 0 {
		return
	}
	a, b := schemasOf(p.old), schemasOf(p.next)
	for _, name := range both(a, b) {
		at := pairing{p.old, p.next, p.path + "." + name}
		switch {
		case a[name] == nil:
			f := d.report(&dependentAdded, at, "", shown(b[name].Value), fmt.Sprintf("with the member %s a schema must hold now", name))
			f.answers[1] = append(f.answers[1], answerOf(b[name], ""))
		case b[name] == nil:
			f := d.report(&dependentRemoved, at, shown(a[name].Value), "", fmt.Sprintf("with the member %s a schema need not hold any more", name))
			f.answers[0] = append(f.answers[0], answerOf(a[name], ""))
		default:
			d.nodes(pairing{a[name], b[name], at.path})
		}
	}
}

func list(names map[string]bool) string {
	var out []string
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
