package jsonschema

import (
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// canonical is a keyword's value as text, members sorted; numbers as written,
// since the peer tells 1 from 1.0.
func canonical(v *jsontext.Value) string {
	if v == nil {
		return ""
	}
	return string(v.Append(nil, true))
}

// sameText tells whether two values, or their absence, are written alike.
func sameText(a, b *jsontext.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case jsontext.Array, jsontext.Object:
		return canonical(a) == canonical(b)
	default:
		return a.Text == b.Text && a.Bool == b.Bool
	}
}

// number reads a bound as the peer does, as a double.
func (c *class) number(name string) (float64, bool) {
	v := c.keyword(name)
	if v == nil || v.Kind != jsontext.Number {
		return 0, false
	}
	return jsonschema.ParseNumber(v.Text).Float(), true
}

// bound compares a numeric keyword: NAME_ADDED, _REMOVED, _INCREASED or
// _DECREASED.
func (c *comparison) bound(keyword, name string) {
	old, had := c.old.number(keyword)
	next, has := c.next.number(keyword)
	c.change(keyword, name, old, next, had, has)
}

func (c *comparison) change(keyword, name string, old, next float64, had, has bool) {
	switch {
	case !had && has:
		c.say(name+"_ADDED", keyword)
	case had && !has:
		c.say(name+"_REMOVED", keyword)
	case had && has && old < next:
		c.say(name+"_INCREASED", keyword)
	case had && has && old > next:
		c.say(name+"_DECREASED", keyword)
	}
}

func (c *comparison) strings() {
	c.bound("maxLength", "MAX_LENGTH")
	c.bound("minLength", "MIN_LENGTH")
	old, next := c.old.keyword("pattern"), c.next.keyword("pattern")
	switch {
	case old == nil && next != nil:
		c.say("PATTERN_ADDED", "pattern")
	case old != nil && next == nil:
		c.say("PATTERN_REMOVED", "pattern")
	case old != nil && old.Text != next.Text:
		c.say("PATTERN_CHANGED", "pattern")
	}
}

func (c *comparison) numbers() {
	c.bound("maximum", "MAXIMUM")
	c.bound("minimum", "MINIMUM")
	c.exclusiveMaximum()
	c.bound("exclusiveMinimum", "EXCLUSIVE_MINIMUM")
	c.multipleOf()
	switch {
	case c.old.integer && !c.next.integer:
		c.say("TYPE_EXTENDED")
	case !c.old.integer && c.next.integer:
		c.say("TYPE_NARROWED")
	}
}

// exclusiveMaximum keeps the peer's defect: a bound that went down is compared
// with the new maximum. Without one the peer crashes, which is taken for a
// refusal.
func (c *comparison) exclusiveMaximum() {
	const keyword, name = "exclusiveMaximum", "EXCLUSIVE_MAXIMUM"
	old, had := c.old.number(keyword)
	next, has := c.next.number(keyword)
	if had && has && next < old {
		if maximum, ok := c.next.number("maximum"); ok && old <= maximum {
			return
		}
	}
	c.change(keyword, name, old, next, had, has)
}

func (c *comparison) multipleOf() {
	old, next := c.old.keyword("multipleOf"), c.next.keyword("multipleOf")
	switch {
	case old == nil && next == nil:
	case old == nil:
		c.say("MULTIPLE_OF_ADDED", "multipleOf")
	case next == nil:
		c.say("MULTIPLE_OF_REMOVED", "multipleOf")
	default:
		a, b := jsonschema.ParseNumber(old.Text), jsonschema.ParseNumber(next.Text)
		switch {
		case a.Compare(b) == 0:
		case b.IsMultipleOf(a):
			c.say("MULTIPLE_OF_EXPANDED", "multipleOf")
		case a.IsMultipleOf(b):
			c.say("MULTIPLE_OF_REDUCED", "multipleOf")
		default:
			c.say("MULTIPLE_OF_CHANGED", "multipleOf")
		}
	}
}

func (c *comparison) enums() {
	members := func(of *class) map[string]bool {
		out := map[string]bool{}
		for _, v := range of.node.Enum {
			out[canonical(v)] = true
		}
		c.p.meter.Spend(len(of.node.Enum))
		return out
	}
	old, next := members(c.old), members(c.next)
	lost, gained := difference(old, next)
	switch {
	case lost && gained:
		c.say("ENUM_ARRAY_CHANGED", "enum")
	case lost:
		c.say("ENUM_ARRAY_NARROWED", "enum")
	case gained:
		c.say("ENUM_ARRAY_EXTENDED", "enum")
	}
}

// difference tells whether old has what next has not, and the reverse.
func difference(old, next map[string]bool) (lost, gained bool) {
	for name := range old {
		lost = lost || !next[name]
	}
	for name := range next {
		gained = gained || !old[name]
	}
	return lost, gained
}
