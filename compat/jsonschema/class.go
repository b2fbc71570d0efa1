package jsonschema

import (
	"crypto/sha256"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

type kind uint8

const (
	falseKind kind = iota
	emptyKind      // {} and true
	referenceKind
	stringKind
	numberKind
	booleanKind
	nullKind
	objectKind
	arrayKind
	enumKind
	constKind
	notKind
	conditionalKind
	combinedKind
)

// class is what the reference registry makes of a schema, or of the part of it
// that belongs to one kind.
type class struct {
	kind kind
	node *jsonschema.Node
	// whole tells that this is all of the node: its title, default and the
	// other annotations belong to it.
	whole bool

	integer   bool   // numberKind
	criterion string // combinedKind: allOf, anyOf or oneOf
	parts     []*class
	generated bool // an allOf that joins unlike classes of one schema

	words  []string // the keywords that belong to a part, when it is not whole
	prefix string
	hash   string // see key

	annotated uint8 // see isAnnotated: 0 is not known yet, 1 no, 2 yes
}

const (
	allOf = "allOf"
	anyOf = "anyOf"
	oneOf = "oneOf"
)

// The families of keywords. contains and propertyNames count from draft-06 on;
// a keyword that the dialect does not know is not seen at all.
var (
	arrayWords  = []string{"items", "additionalItems", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"}
	objectWords = []string{"properties", "required", "minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"}
	numberWords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	stringWords = []string{"minLength", "maxLength", "pattern", "format"}
)

// kinds is a set of kinds.
type kinds uint16

// families tells which family a keyword belongs to.
var families = func() map[string]kinds {
	out := map[string]kinds{}
	for kind, words := range map[kind][]string{arrayKind: arrayWords, objectKind: objectWords, numberKind: numberWords, stringKind: stringWords} {
		for _, name := range words {
			out[name] = 1 << kind
		}
	}
	return out
}()

// classOf classifies a node, once.
//
// Source: JSON Schema specification 2.2.
func (p *port) classOf(n *jsonschema.Node) *class {
	if c := p.classes[n]; c != nil {
		return c
	}
	// A node below itself is reached through a reference or a member, whose
	// class is asked for later: this does not recur for ever.
	c := p.classify(n)
	p.classes[n] = c
	return c
}

func (p *port) classify(n *jsonschema.Node) *class {
	if value, ok := n.Always(); ok {
		if value {
			return &class{kind: emptyKind, node: n, whole: true}
		}
		return &class{kind: falseKind, node: n, whole: true}
	}
	var parts []*class
	add := func(c *class) { parts = append(parts, c) }
	modern := n.Dialect.IsModern()
	if word(n, "$ref") != nil {
		add(&class{kind: referenceKind, node: n.Ref})
		if !modern {
			parts[0].whole = true
			return parts[0]
		}
	}
	if n.Dynamic != nil {
		add(&class{kind: referenceKind, node: n.Dynamic.Target})
	}
	if n.HasEnum {
		add(&class{kind: enumKind, node: n, words: []string{"enum"}})
	}
	for _, one := range []struct {
		criterion string
		nodes     []*jsonschema.Node
	}{{allOf, n.AllOf}, {anyOf, n.AnyOf}, {oneOf, n.OneOf}} {
		if len(one.nodes) > 0 {
			add(p.combine(n, one.criterion, one.nodes))
		}
	}
	if n.Not != nil {
		add(&class{kind: notKind, node: n, words: []string{"not"}})
	}
	if n.Const != nil {
		add(&class{kind: constKind, node: n, words: []string{"const"}})
	}
	var taken, present kinds
	if n.HasType {
		add(typed(n, &taken))
	}
	for i := range n.Value.Members {
		if name := n.Value.Members[i].Name; families[name] != 0 && counts(n, name) {
			present |= families[name]
		}
	}
	for _, family := range []struct {
		kind  kind
		words []string
	}{{arrayKind, arrayWords}, {objectKind, objectWords}, {numberKind, numberWords}, {stringKind, stringWords}} {
		if present&^taken&(1<<family.kind) != 0 {
			add(&class{kind: family.kind, node: n, words: family.words})
		}
	}
	if word(n, "if") != nil || word(n, "then") != nil || word(n, "else") != nil {
		add(&class{kind: conditionalKind, node: n, words: []string{"if", "then", "else"}})
	}
	switch len(parts) {
	case 0:
		return &class{kind: emptyKind, node: n, whole: true}
	case 1:
		if parts[0].kind == referenceKind {
			return parts[0] // its annotations are the target's
		}
		parts[0].whole = true
		return parts[0]
	}
	return &class{kind: combinedKind, node: n, whole: true, criterion: allOf, generated: true, parts: combinedFirst(n, parts)}
}

// combine makes the class of an explicit allOf, anyOf or oneOf. In the modern
// dialects the parts of a branch that is itself a generated allOf are poured
// into the list: a quirk of the reference registry.
func (p *port) combine(n *jsonschema.Node, criterion string, nodes []*jsonschema.Node) *class {
	c := &class{kind: combinedKind, node: n, criterion: criterion, words: []string{criterion}}
	for _, sub := range nodes {
		branch := p.classOf(sub)
		if branch.generated && n.Dialect.IsModern() {
			c.parts = append(c.parts, branch.parts...)
			continue
		}
		c.parts = append(c.parts, branch)
	}
	c.parts = combinedFirst(n, c.parts)
	return c
}

// combinedFirst puts the combined parts in front, as the loader of drafts 4 to
// 7 does.
func combinedFirst(n *jsonschema.Node, parts []*class) []*class {
	if n.Dialect.IsModern() {
		return parts
	}
	slices.SortStableFunc(parts, func(a, b *class) int {
		switch {
		case a.kind == combinedKind && b.kind != combinedKind:
			return -1
		case a.kind != combinedKind && b.kind == combinedKind:
			return 1
		}
		return 0
	})
	return parts
}

// typed makes the class of a type, which takes that type's keywords with it.
func typed(n *jsonschema.Node, taken *kinds) *class {
	v := n.Keyword("type")
	if v.Kind == jsontext.String {
		return oneType(n, v.Text, taken)
	}
	c := &class{kind: combinedKind, node: n, criterion: anyOf, prefix: "types ", words: append([]string{"type"}, slices.Concat(arrayWords, objectWords, numberWords, stringWords)...)}
	for _, item := range v.Items {
		c.parts = append(c.parts, oneType(n, item.Text, taken))
	}
	return c
}

func oneType(n *jsonschema.Node, name string, taken *kinds) *class {
	c := &class{node: n, prefix: name}
	var words []string
	switch name {
	case "string":
		c.kind, words = stringKind, stringWords
	case "number", "integer":
		c.kind, words = numberKind, numberWords
		c.integer = name == "integer"
	case "array":
		c.kind, words = arrayKind, arrayWords
	case "object":
		c.kind, words = objectKind, objectWords
	case "boolean":
		c.kind = booleanKind
	default:
		c.kind = nullKind
	}
	c.words = words
	*taken |= 1 << c.kind
	return c
}

// counts tells whether a keyword makes a schema one of its family. In the modern
// dialects an empty map of properties or patterns does not: the loader visits
// its members one by one, and there is none.
func counts(n *jsonschema.Node, name string) bool {
	v := known(n, name)
	if v == nil {
		return false
	}
	return !n.Dialect.IsModern() || len(v.Members) > 0 || name != "properties" && name != "patternProperties"
}

// known is a keyword that the reference registry's loader knows.
func known(n *jsonschema.Node, name string) *jsontext.Value {
	if n.Dialect.IsModern() && (name == "format" || name == "dependencies" || name == "additionalItems") {
		return nil
	}
	return n.Keyword(name)
}

// word is what a keyword says to the loader: in the modern dialects some values
// vanish.
func word(n *jsonschema.Node, name string) *jsontext.Value {
	v := known(n, name)
	if v == nil || !n.Dialect.IsModern() {
		return v
	}
	switch name {
	case "additionalProperties", "items":
		if v.Kind == jsontext.Bool && v.Bool {
			return nil
		}
	case "unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains":
		if forgets(n) {
			return nil
		}
	}
	return v
}

// forgets tells whether the loader of the modern dialects loses the unevaluated
// keywords and the counts of contains: it does when the node has $defs or a
// keyword that it does not know.
func forgets(n *jsonschema.Node) bool {
	for i := range n.Value.Members {
		switch name := n.Value.Members[i].Name; name {
		case "$defs", "definitions", "dependencies", "additionalItems":
			return true
		default:
			if !n.Dialect.Knows(name) && !jsonschema.Draft2020.Knows(name) {
				return true
			}
		}
	}
	return false
}

// key tells equal classes apart from unequal ones: a hash of their text.
func (p *port) key(c *class) string {
	if c.hash != "" {
		return c.hash
	}
	text := append([]byte(c.node.Document()), 0)
	if c.whole || c.kind == referenceKind {
		text = c.node.Value.Append(text, true)
	} else {
		text = append(text, c.prefix...)
		for _, name := range c.words {
			if v := c.keyword(name); v != nil {
				text = append(append(text, name...), ' ')
				text = append(v.Append(text, true), ' ')
			}
		}
	}
	p.meter.Spend(len(text) / 64)
	sum := sha256.Sum256(text)
	c.hash = string(sum[:])
	return c.hash
}

// keyword reads a keyword of the class's node.
func (c *class) keyword(name string) *jsontext.Value { return word(c.node, name) }

// follow goes through references.
func (p *port) follow(c *class) *class {
	for c != nil && c.kind == referenceKind {
		c = p.classOf(c.node)
	}
	return c
}
