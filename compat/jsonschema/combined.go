package jsonschema

import (
	"math"
	"strconv"
)

// combined compares two combined schemas: their criteria, then their parts, by
// a largest matching of the old ones with new ones that read them.
//
// Source: JSON Schema specification 2.3.
func (c *comparison) combined() {
	old, next := c.distinct(c.old.parts), c.distinct(c.next.parts)
	if c.old.criterion != c.next.criterion {
		switch {
		case c.next.criterion == anyOf, len(old) == 1 && len(next) == 1,
			len(old) == 1 && c.next.criterion == oneOf, len(next) == 1 && c.old.criterion == allOf:
			c.say("COMBINED_TYPE_EXTENDED")
		default:
			c.say("COMBINED_TYPE_CHANGED")
			return
		}
	}
	switch {
	case len(next) > len(old) && c.next.criterion == allOf:
		c.say("PRODUCT_TYPE_EXTENDED")
	case len(next) > len(old):
		c.say("SUM_TYPE_EXTENDED")
	case len(next) < len(old) && c.old.criterion == allOf:
		c.say("PRODUCT_TYPE_NARROWED")
	case len(next) < len(old):
		c.say("SUM_TYPE_NARROWED")
	}
	// Each pair takes a step at least: where they are not there, none need be taken.
	if !c.p.meter.Has(len(old) * len(next)) {
		c.p.meter.Spend(math.MaxInt)
		return
	}
	reads := make([][]bool, len(old))
	for i, a := range old {
		reads[i] = make([]bool, len(next))
		for j, b := range next {
			reads[i][j] = c.p.reads(a, b)
			if c.p.meter.Spent() {
				return
			}
		}
	}
	size := 0
	for i, j := range c.match(reads, len(next)) {
		if j >= 0 {
			size++
			c.take(c.p.compare(old[i], next[j]), c.old.criterion, strconv.Itoa(i))
		}
	}
	if size < min(len(old), len(next)) {
		c.say("COMBINED_TYPE_SUBSCHEMAS_CHANGED")
	}
}

// distinct collapses equal parts, keeping the first of each.
func (c *comparison) distinct(parts []*class) []*class {
	if len(parts) < 2 {
		return parts
	}
	seen := make(map[string]bool, len(parts))
	var out []*class
	for _, part := range parts {
		if key := c.p.key(part); !seen[key] {
			seen[key] = true
			out = append(out, part)
		}
	}
	return out
}

// match finds a largest matching of compatible pairs by augmenting paths:
// matched[i] is the new part of the old part i, or -1.
func (c *comparison) match(reads [][]bool, count int) (matched []int) {
	matched = make([]int, len(reads))
	owner := make([]int, count)
	for j := range owner {
		owner[j] = -1
	}
	for i := range matched {
		matched[i] = -1
	}
	var augment func(i int, seen []bool) bool
	augment = func(i int, seen []bool) bool {
		if !c.p.meter.Spend(1 + count/16) {
			return false
		}
		for j, fits := range reads[i] {
			if !fits || seen[j] {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || augment(owner[j], seen) {
				matched[i], owner[j] = j, i
				return true
			}
		}
		return false
	}
	for i := range reads {
		augment(i, make([]bool, count))
	}
	return matched
}
