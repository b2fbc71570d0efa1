package jsonschema

import (
	"maps"
	"math"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// model is what an object or array says of the members or items that it does
// not list: allowed at all, and by which schema.
type model struct {
	allowed     bool
	rest        *class // additionalProperties, additionalItems
	patterns    []jsonschema.PatternProperty
	unevaluated *class // when it is present, true included
	notAllowed  bool   // unevaluated is false
}

// isOpen tells whether anything may stand there.
func (m model) isOpen() bool {
	return m.allowed && m.rest == nil && len(m.patterns) == 0 && (m.unevaluated == nil || m.unevaluated.kind == emptyKind)
}

// coverFor is the schema that a member not listed falls under; nil when the
// model is open or closed for it. Only the first pattern that matches counts.
func (c *comparison) coverFor(m model, name string) *class {
	for _, p := range m.patterns {
		const most = 100_000
		steps := most
		matched, decided := p.Pattern.Match(name, &steps)
		if !decided || !c.p.meter.Spend(1+(most-steps)/4) {
			c.p.meter.Spend(math.MaxInt) // nothing certain can be said any more
			return nil
		}
		if matched {
			return c.p.classOf(p.Node)
		}
	}
	if m.rest != nil {
		return m.rest
	}
	if m.unevaluated != nil && m.unevaluated.kind != falseKind && m.unevaluated.kind != emptyKind {
		return m.unevaluated
	}
	return nil
}

// content reads a pair of keywords as a model.
func (c *comparison) content(of *class, rest, unevaluated string, restNode, unevaluatedNode *jsonschema.Node) model {
	m := model{allowed: true}
	if v := of.keyword(rest); v != nil {
		switch {
		case v.Kind == jsontext.Bool:
			m.allowed = v.Bool
		case restNode != nil:
			m.rest = c.p.classOf(restNode)
		}
	}
	if v := of.keyword(unevaluated); v != nil && unevaluatedNode != nil {
		m.unevaluated = c.p.classOf(unevaluatedNode)
		m.notAllowed = m.unevaluated.kind == falseKind
	}
	return m
}

func (c *comparison) objectModel(of *class) model {
	m := c.content(of, "additionalProperties", "unevaluatedProperties", of.node.AdditionalProperties, of.node.UnevaluatedProperties)
	m.patterns = of.node.PatternProperties
	return m
}

func (c *comparison) objects() {
	c.p.meter.Spend((len(c.old.node.Properties) + len(c.next.node.Properties)) / 4)
	for _, p := range c.old.node.Properties {
		if q := c.next.node.Property(p.Name); q != nil {
			c.required(p.Name, q)
		}
	}
	c.properties()
	c.dependencies()
	old, next := c.objectModel(c.old), c.objectModel(c.next)
	c.models(old, next, "additionalProperties", "ADDITIONAL_PROPERTIES", "unevaluatedProperties", "UNEVALUATED_PROPERTIES")
	c.bound("maxProperties", "MAX_PROPERTIES")
	c.bound("minProperties", "MIN_PROPERTIES")
}

// required compares the demand for a property that both sides declare.
func (c *comparison) required(name string, next *jsonschema.Node) {
	had, has := c.old.node.Requires(name), c.next.node.Requires(name)
	switch {
	case had && !has:
		c.say("REQUIRED_ATTRIBUTE_REMOVED", "required", name)
	case !had && has && hasDefault(next):
		c.say("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "required", name)
	case !had && has:
		c.say("REQUIRED_ATTRIBUTE_ADDED", "required", name)
	}
}

// hasDefault tells whether a property declares a default. In drafts 4 to 7 one
// beside $ref is not seen.
func hasDefault(n *jsonschema.Node) bool {
	if word(n, "$ref") != nil && !n.Dialect.IsModern() {
		return false
	}
	return n.Keyword("default") != nil
}

// isScalar tells at sight that a node makes a class of one scalar kind, which
// says nothing when it is compared with itself; others may, as not does.
func isScalar(n *jsonschema.Node) bool {
	var own kinds
	switch n.Types {
	case jsonschema.KindString:
		own = 1 << stringKind
	case jsonschema.KindNumber, jsonschema.KindInteger:
		own = 1 << numberKind
	case jsonschema.KindBoolean:
		own = 1 << booleanKind
	default:
		return false
	}
	if n.Boolean || n.HasEnum || n.Const != nil || n.Ref != nil || n.Dynamic != nil || n.Not != nil || n.If != nil || n.Then != nil || n.Else != nil ||
		len(n.AllOf)+len(n.AnyOf)+len(n.OneOf) > 0 {
		return false
	}
	for i := range n.Value.Members {
		if families[n.Value.Members[i].Name]&^own != 0 {
			return false
		}
	}
	return true
}

func (c *comparison) properties() {
	oldModel, nextModel := c.objectModel(c.old), c.objectModel(c.next)
	for _, property := range c.old.node.Properties {
		name := property.Name
		q := c.next.node.Property(name)
		if q != nil && sameSpelling(property.Node, q) && isScalar(property.Node) {
			c.p.meter.Spend(1)
			continue
		}
		old := c.p.classOf(property.Node)
		if q != nil {
			if r := c.p.compare(old, c.p.classOf(q)); !r.isSilent() {
				c.take(r, "properties", name)
			}
			continue
		}
		cover := c.coverFor(nextModel, name)
		switch {
		case nextModel.isOpen():
			c.say("PROPERTY_REMOVED"+fromOpen, "properties", name)
		case cover != nil:
			c.cover(old, cover, "PROPERTY_REMOVED", "properties", name)
		case old.kind == falseKind:
			c.say("PROPERTY_WITH_FALSE_REMOVED"+fromClosed, "properties", name)
		default:
			c.say("PROPERTY_REMOVED"+fromClosed, "properties", name)
		}
	}
	for _, property := range c.next.node.Properties {
		name := property.Name
		if c.old.node.Property(name) != nil {
			continue
		}
		next := c.p.classOf(property.Node)
		demand := "OPTIONAL_PROPERTY_ADDED"
		if c.next.node.Requires(name) {
			demand = "REQUIRED_PROPERTY_ADDED"
			if hasDefault(property.Node) {
				demand = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED"
			}
		}
		switch {
		case oldModel.isOpen() && next.kind == emptyKind:
			c.say("PROPERTY_WITH_EMPTY_SCHEMA_ADDED"+toOpen, "properties", name)
		case oldModel.isOpen():
			c.say(demand+toOpen, "properties", name)
		default:
			if cover := c.coverFor(oldModel, name); cover != nil {
				c.cover(cover, next, "PROPERTY_ADDED", "properties", name)
			}
			c.say(demand+toUnopen, "properties", name)
		}
	}
}

// cover compares one that is listed on one side with the schema that covers it
// on the other.
func (c *comparison) cover(old, next *class, kind string, path ...string) {
	r := c.p.compare(old, next)
	c.take(r, path...)
	if r.compatible {
		c.say(kind+covered, path...)
	} else {
		c.say(kind+notCovered, path...)
	}
}

func (c *comparison) dependencies() {
	if a, b := c.old.node, c.next.node; len(a.DependentRequired)+len(b.DependentRequired)+len(a.DependentSchemas)+len(b.DependentSchemas) == 0 {
		return
	}
	names := func(of *class) map[string]map[string]bool {
		out := map[string]map[string]bool{}
		for _, d := range of.node.DependentRequired {
			if word(of.node, "dependencies") != nil || word(of.node, "dependentRequired") != nil {
				out[d.Name] = set(d.Needs...)
			}
		}
		return out
	}
	old, next := names(c.old), names(c.next)
	for _, name := range both(old, next) {
		a, had := old[name]
		b, has := next[name]
		lost, gained := difference(a, b)
		switch {
		case !had:
			c.say("DEPENDENCY_ARRAY_ADDED", "dependencies", name)
		case !has:
			c.say("DEPENDENCY_ARRAY_REMOVED", "dependencies", name)
		case lost && gained:
			c.say("DEPENDENCY_ARRAY_CHANGED", "dependencies", name)
		case lost:
			c.say("DEPENDENCY_ARRAY_NARROWED", "dependencies", name)
		case gained:
			c.say("DEPENDENCY_ARRAY_EXTENDED", "dependencies", name)
		}
	}
	nodes := func(of *class) map[string]*jsonschema.Node {
		out := map[string]*jsonschema.Node{}
		for _, d := range of.node.DependentSchemas {
			if v := word(of.node, "dependencies"); v != nil || word(of.node, "dependentSchemas").Get(d.Name) != nil {
				out[d.Name] = d.Node
			}
		}
		return out
	}
	oldNodes, nextNodes := nodes(c.old), nodes(c.next)
	for _, name := range both(oldNodes, nextNodes) {
		a, b := oldNodes[name], nextNodes[name]
		switch {
		case a == nil:
			c.say("DEPENDENCY_SCHEMA_ADDED", "dependencies", name)
		case b == nil:
			c.say("DEPENDENCY_SCHEMA_REMOVED", "dependencies", name)
		default:
			c.take(c.p.compare(c.p.classOf(a), c.p.classOf(b)), "dependencies", name)
		}
	}
}

// both lists the keys of two maps, sorted.
func both[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// models compares what is said of members or items that are not listed.
func (c *comparison) models(old, next model, rest, restName, unevaluated, unevaluatedName string) {
	c.rest(old.allowed, next.allowed, old.rest, next.rest, rest, restName)
	c.rest(!old.notAllowed, !next.notAllowed, old.unevaluated, next.unevaluated, unevaluated, unevaluatedName)
}

func (c *comparison) rest(had, has bool, old, next *class, keyword, name string) {
	switch {
	case !had && has:
		c.say(name+"_ADDED", keyword)
	case had && !has:
		c.say(name+"_REMOVED", keyword)
	case old == nil && next != nil:
		c.say(name+"_NARROWED", keyword)
	case old != nil && next == nil:
		c.say(name+"_EXTENDED", keyword)
	case old != nil:
		c.take(c.p.compare(old, next), keyword)
	}
}
