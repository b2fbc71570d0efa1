package jsonschema

import (
	"fmt"
	"strconv"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// scalars compares the keywords of numbers and strings, where both sides allow
// such values.
func (d *differ) scalars(p pairing) {
	kinds := kindsAllowed(p.old) & kindsAllowed(p.next)
	if kinds&anyNumber != 0 {
		d.ends(p)
		d.steps(p)
	}
	if kinds&jsonschema.KindString == 0 {
		return
	}
	d.counts(p, "minLength", "least length", p.old.MinLength, p.next.MinLength, 0, &minLengthRaised, &minLengthLowered)
	d.counts(p, "maxLength", "greatest length", p.old.MaxLength, p.next.MaxLength, jsonschema.Unlimited, &maxLengthRaised, &maxLengthLowered)
	text := func(n *jsonschema.Node) string {
		if n.Pattern == nil {
			return ""
		}
		return n.Pattern.String()
	}
	d.words(p, "pattern", text(p.old), text(p.next), p.old.Pattern != nil, p.next.Pattern != nil, &patternAdded, &patternRemoved, &patternChanged)
	before := len(d.changes)
	d.words(p, "format", p.old.Format, p.next.Format, p.old.Format != "", p.next.Format != "", &formatAdded, &formatRemoved, &formatChanged)
	for i := before; i < len(d.changes); i++ {
		d.changes[i].misleads = true
		d.changes[i].Text += "; readers that assert formats refuse other strings" + needsHuman
	}
	for _, k := range []string{"contentEncoding", "contentMediaType", "contentSchema"} {
		d.remark(&contentChanged, p, false, k, func(*jsontext.Value, *jsontext.Value) bool { return true })
	}
}

func (d *differ) words(p pairing, keyword, before, after string, had, has bool, added, removed, changed *compat.Rule) {
	switch {
	case had == has && before == after:
	case !had:
		d.report(added, p, "", after, fmt.Sprintf("the %s %s was added", keyword, after), keyword)
	case !has:
		d.report(removed, p, before, "", fmt.Sprintf("the %s %s was removed", keyword, before), keyword)
	default:
		d.report(changed, p, before, after, fmt.Sprintf("the %s changed from %s to %s", keyword, before, after), keyword)
	}
}

// counts compares a bound; none is what it is when absent.
func (d *differ) counts(p pairing, keyword, what string, before, after, none int, raised, lowered *compat.Rule) {
	if before == after {
		return
	}
	word := func(n int) string {
		if n == none {
			return ""
		}
		return strconv.Itoa(n)
	}
	rule, verb := raised, "raised"
	if after < before {
		rule, verb = lowered, "lowered"
	}
	text := fmt.Sprintf("the %s was %s from %s to %s", what, verb, orNone(word(before)), orNone(word(after)))
	d.report(rule, p, word(before), word(after), text, keyword)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// bound is the stronger of an inclusive and an exclusive end.
func bound(in, ex *jsonschema.Number, sign int) *end {
	switch {
	case in == nil && ex == nil:
		return nil
	case in == nil:
		return &end{ex, true}
	case ex == nil:
		return &end{in, false}
	}
	if c := sign * in.Compare(*ex); c > 0 {
		return &end{in, false}
	}
	return &end{ex, true}
}

func (e *end) String() string {
	switch {
	case e == nil:
		return ""
	case e.strict:
		return e.at.Text + " (excluded)"
	}
	return e.at.Text
}

// compareEnds is positive when b lies above a; sign is 1 for lower ends and -1
// for upper ones, where an absent end lies at the far side.
func compareEnds(a, b *end, sign int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return sign
	case b == nil:
		return -sign
	}
	if c := b.at.Compare(*a.at); c != 0 {
		return c
	}
	switch {
	case a.strict == b.strict:
		return 0
	case b.strict:
		return sign
	}
	return -sign
}

func (d *differ) ends(p pairing) {
	for _, side := range []struct {
		what            string
		a, b            *end
		sign            int
		raised, lowered *compat.Rule
		keywords        []string
	}{
		{"lower bound", bound(p.old.Minimum, p.old.ExclusiveMinimum, 1), bound(p.next.Minimum, p.next.ExclusiveMinimum, 1), 1, &lowRaised, &lowLowered, []string{"minimum", "exclusiveMinimum"}},
		{"upper bound", bound(p.old.Maximum, p.old.ExclusiveMaximum, -1), bound(p.next.Maximum, p.next.ExclusiveMaximum, -1), -1, &highRaised, &highLowered, []string{"maximum", "exclusiveMaximum"}},
	} {
		c := compareEnds(side.a, side.b, side.sign)
		if c == 0 {
			continue
		}
		rule, verb := side.raised, "raised"
		if c < 0 {
			rule, verb = side.lowered, "lowered"
		}
		text := fmt.Sprintf("the %s was %s from %s to %s", side.what, verb, orNone(side.a.String()), orNone(side.b.String()))
		d.report(rule, p, side.a.String(), side.b.String(), text, side.keywords...)
	}
}

func (d *differ) steps(p pairing) {
	a, b := p.old.MultipleOf, p.next.MultipleOf
	switch {
	case a == nil && b == nil:
	case a == nil:
		d.report(&stepTightened, p, "", b.Text, "the step "+b.Text+" was added", "multipleOf")
	case b == nil:
		d.report(&stepLoosened, p, a.Text, "", "the step "+a.Text+" was removed", "multipleOf")
	case a.Compare(*b) == 0:
	case b.IsMultipleOf(*a):
		d.report(&stepTightened, p, a.Text, b.Text, fmt.Sprintf("the step grew from %s to its multiple %s", a.Text, b.Text), "multipleOf")
	case a.IsMultipleOf(*b):
		d.report(&stepLoosened, p, a.Text, b.Text, fmt.Sprintf("the step shrank from %s to its divisor %s", a.Text, b.Text), "multipleOf")
	default:
		d.report(&stepChanged, p, a.Text, b.Text, fmt.Sprintf("the step changed from %s to %s", a.Text, b.Text), "multipleOf")
	}
}
