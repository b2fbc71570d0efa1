package jsonschema

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// items reads the item keywords of a class as the peer's loader does: one
// schema for all items, or one per position and a model of the rest. In 2020-12
// items is the rest when prefixItems stands beside it, and when it is false.
func (c *comparison) items(of *class) (all *class, positions []*jsonschema.Node, m model) {
	n := of.node
	if n.Dialect.IsModern() {
		m = c.content(of, "", "unevaluatedItems", nil, n.UnevaluatedItems)
		v := of.keyword("items")
		switch {
		case n.HasPrefix && n.Dialect != jsonschema.Draft2020:
			return nil, n.Prefix, m
		case v == nil:
		case v.Kind == jsontext.Bool:
			m.allowed = v.Bool
		case len(n.Prefix) > 0:
			m.rest = c.p.classOf(n.Items)
		default:
			all = c.p.classOf(n.Items)
		}
		return all, n.Prefix, m
	}
	m = c.content(of, "additionalItems", "", n.AdditionalItems, nil)
	if !n.HasPrefix && of.keyword("items") != nil {
		all = c.p.classOf(n.Items)
	}
	return all, n.Prefix, m
}

func (c *comparison) arrays() {
	oldAll, oldItems, old := c.items(c.old)
	nextAll, nextItems, next := c.items(c.next)
	c.take(c.p.compare(oldAll, nextAll), "items")
	for i, item := range oldItems {
		position := strconv.Itoa(i)
		class := c.p.classOf(item)
		if i < len(nextItems) {
			c.take(c.p.compare(class, c.p.classOf(nextItems[i])), "items", position)
			continue
		}
		cover := c.coverFor(next, "")
		switch {
		case next.isOpen():
			c.say("ITEM_REMOVED"+fromOpen, "items", position)
		case cover != nil:
			c.cover(class, cover, "ITEM_REMOVED", "items", position)
		case class.kind == falseKind:
			c.say("ITEM_WITH_FALSE_REMOVED"+fromClosed, "items", position)
		default:
			c.say("ITEM_REMOVED"+fromClosed, "items", position)
		}
	}
	for i := len(oldItems); i < len(nextItems); i++ {
		position := strconv.Itoa(i)
		class := c.p.classOf(nextItems[i])
		cover := c.coverFor(old, "")
		switch {
		case old.isOpen() && class.kind == emptyKind:
			c.say("ITEM_WITH_EMPTY_SCHEMA_ADDED"+toOpen, "items", position)
		case old.isOpen():
			c.say("ITEM_ADDED"+toOpen, "items", position)
		case cover != nil:
			c.cover(cover, class, "ITEM_ADDED", "items", position)
		default:
			c.say("ITEM_ADDED"+toClosed, "items", position)
		}
	}
	c.models(old, next, "additionalItems", "ADDITIONAL_ITEMS", "unevaluatedItems", "UNEVALUATED_ITEMS")
	c.bound("maxItems", "MAX_ITEMS")
	c.bound("minItems", "MIN_ITEMS")
	c.unique()
	c.contains()
}

func (c *comparison) unique() {
	is := func(of *class) bool { v := of.keyword("uniqueItems"); return v != nil && v.Bool }
	switch had, has := is(c.old), is(c.next); {
	case !had && has:
		c.say("UNIQUE_ITEMS_ADDED", "uniqueItems")
	case had && !has:
		c.say("UNIQUE_ITEMS_REMOVED", "uniqueItems")
	}
}

// contains compares the counts: the schema itself is not looked at. In the
// modern dialects contains always brings a minContains.
func (c *comparison) contains() {
	counts := func(of *class) (low, high float64, hasLow, hasHigh bool) {
		if !of.node.Dialect.IsModern() || of.keyword("contains") == nil || forgets(of.node) {
			return 0, 0, false, false
		}
		if low, hasLow = of.number("minContains"); !hasLow {
			low, hasLow = 1, true
		}
		high, hasHigh = of.number("maxContains")
		return low, high, hasLow, hasHigh
	}
	oldLow, oldHigh, hadLow, hadHigh := counts(c.old)
	low, high, hasLow, hasHigh := counts(c.next)
	c.change("maxContains", "MAX_CONTAINS", oldHigh, high, hadHigh, hasHigh)
	c.change("minContains", "MIN_CONTAINS", oldLow, low, hadLow, hasLow)
}
