package avro

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// placed is what stands somewhere in a text. Places are spelled out only when
// there is something to tell.
type placed interface{ Place() schemas.Place }

// word names a type in a few letters.
func word(t *avro.Type) string { return short(spell(t, 3)) }

func spell(t *avro.Type, depth int) string {
	logical := ""
	if !t.Logical.IsZero() {
		logical = " (" + t.Logical.Name + ")"
	}
	switch {
	case t.Named != nil:
		return t.Named.Full
	case depth == 0:
		return t.Kind.String()
	case t.Kind == avro.Array || t.Kind == avro.Map:
		return t.Kind.String() + " of " + spell(t.Items, depth-1)
	case t.Kind == avro.Union:
		parts := make([]string, 0, 5)
		for i, b := range t.Branches {
			if i == 4 {
				parts = append(parts, "and "+strconv.Itoa(len(t.Branches)-i)+" more")
				break
			}
			parts = append(parts, spell(b, depth-1))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return t.Kind.String() + logical
}

// short cuts a text between characters.
func short(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

func has(list []string, s string) bool { return slices.Contains(list, s) }

// without joins a set of names, sorted, leaving out those that a rename has
// already told of.
func without(list []string, names ...string) string {
	if len(list) == 0 {
		return ""
	}
	rest := make([]string, 0, len(list))
	for _, s := range list {
		if !has(names, s) && !has(rest, s) {
			rest = append(rest, s)
		}
	}
	slices.Sort(rest)
	return short(strings.Join(rest, ", "))
}

// sameValue tells whether two JSON values mean the same: numbers by value,
// objects in any order.
func sameValue(a, b *jsontext.Value) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case jsontext.Null:
		return true
	case jsontext.Bool:
		return a.Bool == b.Bool
	case jsontext.String:
		return a.Text == b.Text
	case jsontext.Number:
		return a.Text == b.Text || sameNumber(a.Text, b.Text)
	case jsontext.Array:
		return slices.EqualFunc(a.Items, b.Items, sameValue)
	case jsontext.Object:
		if len(a.Members) != len(b.Members) {
			return false
		}
		index := make(map[string]*jsontext.Value, len(b.Members))
		for _, m := range b.Members {
			index[m.Name] = m.Value
		}
		for _, m := range a.Members {
			other := index[m.Name]
			if other == nil || !sameValue(m.Value, other) {
				return false
			}
		}
		return true
	}
	return false
}

// sameNumber compares 1 and 1.0 as equal, and integers digit for digit.
func sameNumber(a, b string) bool {
	if !strings.ContainsAny(a+b, ".eE") {
		return false // two integers with different digits
	}
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	return err == nil && x == y
}

func (d *differ) doc(p place, old, next placed, before, after string) {
	if before == after {
		return
	}
	t := told{old: old, new: next, before: short(before), after: short(after), effect: reads, text: "the documentation changed"}
	if before != "" && after != "" {
		t.effect = misleads
		t.text = "the documentation says something else: whether values still mean the same needs a human"
	}
	d.report(&docChanged, p, t)
}

// isUnit tells the custom attribute that people give the unit of a number in.
func isUnit(name string) bool {
	return strings.EqualFold(name, "unit") || strings.EqualFold(name, "units")
}

// attributes compares custom attributes, whatever their order. Those that the
// logical types in force have read are told by [differ.logical].
func (d *differ) attributes(p place, old, next placed, os, ns []avro.Attribute, ol, nl avro.Logical) {
	if len(os) == 0 && len(ns) == 0 {
		return
	}
	read := func(name string) bool {
		switch name {
		case "logicalType":
			return !ol.IsZero() || !nl.IsZero()
		case "precision", "scale":
			return ol.Name == "decimal" || nl.Name == "decimal"
		}
		return false
	}
	before, after := map[string]*jsontext.Value{}, map[string]*jsontext.Value{}
	var names []string
	for _, side := range []struct {
		list []avro.Attribute
		into map[string]*jsontext.Value
	}{{os, before}, {ns, after}} {
		for _, a := range side.list {
			if !read(a.Name) {
				side.into[a.Name] = a.Value
				names = append(names, a.Name)
			}
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		o, n := before[name], after[name]
		if o != nil && n != nil && sameValue(o, n) {
			continue
		}
		t := told{old: old, new: next, path: p.path.String() + "@" + name, detail: name, effect: reads, text: "the custom attribute " + name + " changed"}
		if isUnit(name) {
			t.effect = misleads
			t.text += ": whether old and new numbers still mean the same needs a human"
		}
		if o != nil {
			t.before = short(o.String())
		}
		if n != nil {
			t.after = short(n.String())
		}
		d.report(&attributeChanged, p, t)
	}
}

// logical compares what the values stand for.
func (d *differ) logical(p place, old, next placed, o, n avro.Logical) {
	if o == n {
		return
	}
	misleads := compat.Effect{NewReadsOld: compat.Misleads, OldReadsNew: compat.Misleads}
	t := told{old: old, new: next, before: o.Name, after: n.Name, effect: reads}
	switch {
	case o.IsZero() || n.IsZero():
		rule := &logicalAdded
		t.text = "the values are " + n.Name + " now"
		if n.IsZero() {
			rule, t.text = &logicalRemoved, "the values are plain now, no longer "+o.Name
		}
		if p.o.Kind != p.n.Kind {
			t.effect = misleads // the other side takes the number for something else
		}
		d.report(rule, p, t)
	case o.Name != n.Name:
		t.effect, t.text = misleads, "the values stand for "+n.Name+" instead of "+o.Name+"; the numbers stay"
		d.report(&logicalChanged, p, t)
	default:
		if o.Scale != n.Scale {
			s := t
			s.before, s.after, s.effect = strconv.Itoa(o.Scale), strconv.Itoa(n.Scale), misleads
			s.text = "the scale changed from " + strconv.Itoa(o.Scale) + " to " + strconv.Itoa(n.Scale) + "; every amount is off by a power of ten"
			d.report(&decimalScale, p, s)
		}
		if o.Precision != n.Precision {
			t.before, t.after = strconv.Itoa(o.Precision), strconv.Itoa(n.Precision)
			t.text = "the precision changed from " + strconv.Itoa(o.Precision) + " to " + strconv.Itoa(n.Precision) + " digits"
			d.report(&decimalPrecision, p, t)
		}
	}
}
