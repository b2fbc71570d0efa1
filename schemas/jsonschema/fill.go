package jsonschema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// fill reads the keywords of a node. What is ill-shaped is reported; in a new
// schema the meta-schema has refused it before.
func (l *loader) fill(n *Node) {
	defer n.index()
	if n.Value.Kind == jsontext.Bool {
		n.Boolean = true
		return
	}
	if n.Value.Kind != jsontext.Object {
		l.shape(n, "", n.Value, "a schema is expected here", "a schema is an object, or true or false")
		n.Boolean = true
		return
	}
	if ref := n.Keyword("$ref"); ref != nil {
		n.Ref = l.reference(n, "$ref", ref)
		if !n.Dialect.IsModern() {
			return
		}
	}
	l.dynamicReferences(n)
	l.fillAny(n)
	l.fillScalars(n)
	l.fillArray(n)
	l.fillObject(n)
	l.fillCombined(n)
}

func (l *loader) reference(n *Node, keyword string, v *jsontext.Value) *Node {
	if v.Kind != jsontext.String {
		l.misshapen(n, keyword, v, "a string")
		return nil
	}
	target, _, why := l.find(v.Text, n.resource)
	if target == nil {
		l.report(n, keyword, v, fmt.Sprintf("%s %s does not resolve: %s", keyword, short(v.Text), why),
			"register the schema that it names and list it under references with this name; remote addresses are never fetched")
	}
	return target
}

func (l *loader) dynamicReferences(n *Node) {
	keyword := "$dynamicRef"
	v := n.Keyword(keyword)
	if v == nil {
		keyword = "$recursiveRef"
		if v = n.Keyword(keyword); v == nil {
			return
		}
	}
	target := l.reference(n, keyword, v)
	if target == nil {
		return
	}
	n.Dynamic = &DynamicRef{Target: target}
	if keyword == "$recursiveRef" {
		n.Dynamic.Recursive = true
		n.Dynamic.Fixed = target.Value != target.resource.root || !target.resource.recursive
	} else {
		_, a, _ := l.find(v.Text, n.resource)
		n.Dynamic.Fixed = !a.dynamic
		if a.dynamic {
			n.Dynamic.Anchor = anchorName(v.Text)
		}
	}
	if n.Dynamic.Fixed {
		return
	}
	l.dynamic = true
}

// answers makes nodes of everything that a dynamic reference may lead to.
func (l *loader) answers() {
	for _, r := range l.byAddress() {
		if r.recursive && r.outermost == nil {
			r.outermost = l.locate(r.root, r)
		}
		for _, name := range sortedNames(r.anchors) {
			if r.anchors[name].dynamic && r.dynamic[name] == nil {
				if r.dynamic == nil {
					r.dynamic = map[string]*Node{}
				}
				r.dynamic[name] = l.locate(r.anchors[name].value, r)
			}
		}
	}
}

func (l *loader) byAddress() []*resource {
	names := sortedNames(l.resources)
	out := make([]*resource, len(names))
	for i, name := range names {
		out[i] = l.resources[name]
	}
	return out
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (l *loader) misshapen(n *Node, keyword string, v *jsontext.Value, want string) {
	l.shape(n, keyword, v, fmt.Sprintf("%s is not %s", keyword, want), "")
}

// shape reports what the meta-schema would report too.
func (l *loader) shape(n *Node, keyword string, v *jsontext.Value, summary, detail string) {
	before := len(l.problems)
	l.report(n, keyword, v, summary, detail)
	for i := range l.problems[before:] {
		l.problems[before+i].shape = true
	}
}

func (l *loader) fillAny(n *Node) {
	if v := n.Keyword("type"); v != nil {
		n.HasType = true
		names := []*jsontext.Value{v}
		if v.Kind == jsontext.Array {
			names = v.Items
		}
		for _, name := range names {
			kind, ok := kindNamed(name.Text)
			if !ok || name.Kind != jsontext.String {
				l.shape(n, "type", name, fmt.Sprintf("%s is no type", short(name.String())), "the types are null, boolean, integer, number, string, array and object")
				continue
			}
			n.Types |= kind
		}
	}
	if v := n.Keyword("enum"); v != nil {
		if v.Kind == jsontext.Array {
			n.HasEnum, n.Enum = true, v.Items
		} else {
			l.misshapen(n, "enum", v, "an array")
		}
	}
	n.Const = n.Keyword("const")
}

// number reads a keyword whose value is a number.
func (l *loader) number(n *Node, keyword string) *Number {
	v := n.Keyword(keyword)
	if v == nil {
		return nil
	}
	if v.Kind != jsontext.Number {
		l.misshapen(n, keyword, v, "a number")
		return nil
	}
	x := ParseNumber(v.Text)
	x.small = parseSmall(v.Text)
	return &x
}

// length reads a keyword whose value is a count; fallback when absent. A count
// too large to be met or missed is Unlimited.
func (l *loader) length(n *Node, keyword string, fallback int) int {
	x := l.number(n, keyword)
	if x == nil {
		return fallback
	}
	c, ok := x.Int(Unlimited)
	if !ok {
		l.misshapen(n, keyword, n.Keyword(keyword), "a whole number from 0")
		return fallback
	}
	return c
}

func (l *loader) fillScalars(n *Node) {
	n.Minimum, n.Maximum = l.number(n, "minimum"), l.number(n, "maximum")
	if n.Dialect == Draft4 {
		if v := n.Keyword("exclusiveMinimum"); v != nil && v.Kind == jsontext.Bool && v.Bool {
			n.ExclusiveMinimum, n.Minimum = n.Minimum, nil
		}
		if v := n.Keyword("exclusiveMaximum"); v != nil && v.Kind == jsontext.Bool && v.Bool {
			n.ExclusiveMaximum, n.Maximum = n.Maximum, nil
		}
	} else {
		n.ExclusiveMinimum, n.ExclusiveMaximum = l.number(n, "exclusiveMinimum"), l.number(n, "exclusiveMaximum")
	}
	if n.MultipleOf = l.number(n, "multipleOf"); n.MultipleOf != nil && (n.MultipleOf.Negative || n.MultipleOf.IsZero()) {
		l.misshapen(n, "multipleOf", n.Keyword("multipleOf"), "above 0")
		n.MultipleOf = nil
	}
	n.MinLength, n.MaxLength = l.length(n, "minLength", 0), l.length(n, "maxLength", Unlimited)
	if v := n.Keyword("pattern"); v != nil {
		if v.Kind == jsontext.String {
			n.Pattern = l.pattern(n, "pattern", v.Text, v)
		} else {
			l.misshapen(n, "pattern", v, "a string")
		}
	}
	if v := n.Keyword("format"); v != nil {
		if v.Kind != jsontext.String {
			l.misshapen(n, "format", v, "a string")
		}
		n.Format = v.Text
	}
}

// child is the node of a keyword's value that is one schema.
func (l *loader) child(n *Node, keyword string) *Node {
	v := n.Keyword(keyword)
	if v == nil {
		return nil
	}
	return l.at(v, n.resource, n, keyword)
}

func (l *loader) children(n *Node, keyword string) []*Node {
	v := n.Keyword(keyword)
	if v == nil {
		return nil
	}
	if v.Kind != jsontext.Array {
		l.misshapen(n, keyword, v, "an array")
		return nil
	}
	out := make([]*Node, len(v.Items))
	for i, item := range v.Items {
		out[i] = l.at(item, n.resource, n, keyword, strconv.Itoa(i))
	}
	return out
}

func (l *loader) members(n *Node, keyword string) []Property {
	v := n.Keyword(keyword)
	if v == nil {
		return nil
	}
	if v.Kind != jsontext.Object {
		l.misshapen(n, keyword, v, "an object")
		return nil
	}
	out := make([]Property, len(v.Members))
	for i := range v.Members {
		out[i] = Property{v.Members[i].Name, l.at(v.Members[i].Value, n.resource, n, keyword, v.Members[i].Name)}
	}
	return out
}

func (l *loader) strings(n *Node, keyword string, v *jsontext.Value) []string {
	if v.Kind != jsontext.Array {
		l.misshapen(n, keyword, v, "an array of strings")
		return nil
	}
	var out []string
	seen := make(map[string]bool, len(v.Items))
	for _, item := range v.Items {
		if item.Kind != jsontext.String {
			l.misshapen(n, keyword, item, "an array of strings")
			continue
		}
		if !seen[item.Text] {
			seen[item.Text] = true
			out = append(out, item.Text)
		}
	}
	return out
}

func (l *loader) fillArray(n *Node) {
	items := n.Keyword("items")
	n.AdditionalItems = l.child(n, "additionalItems")
	switch {
	case n.Dialect == Draft2020:
		n.HasPrefix = n.Keyword("prefixItems") != nil
		n.Prefix = l.children(n, "prefixItems")
		n.Items = l.child(n, "items")
	case items != nil && items.Kind == jsontext.Array:
		n.HasPrefix = true
		n.Prefix = l.children(n, "items")
		n.Items = n.AdditionalItems
	case items != nil:
		n.Items = l.child(n, "items")
	}
	n.MinItems, n.MaxItems = l.length(n, "minItems", 0), l.length(n, "maxItems", Unlimited)
	n.UniqueItems = l.flag(n, "uniqueItems")
	if n.Contains = l.child(n, "contains"); n.Contains != nil {
		n.MinContains, n.MaxContains = l.length(n, "minContains", 1), l.length(n, "maxContains", Unlimited)
	}
	n.UnevaluatedItems = l.child(n, "unevaluatedItems")
}

func (l *loader) flag(n *Node, keyword string) bool {
	v := n.Keyword(keyword)
	if v != nil && v.Kind != jsontext.Bool {
		l.misshapen(n, keyword, v, "true or false")
	}
	return v != nil && v.Bool
}

func (l *loader) fillObject(n *Node) {
	n.Properties = l.members(n, "properties")
	for _, m := range l.members(n, "patternProperties") {
		n.PatternProperties = append(n.PatternProperties, PatternProperty{l.pattern(m.Node, "", m.Name, m.Node.Value), m.Node})
	}
	n.AdditionalProperties = l.child(n, "additionalProperties")
	n.PropertyNames = l.child(n, "propertyNames")
	if v := n.Keyword("required"); v != nil {
		n.Required = l.strings(n, "required", v)
	}
	n.MinProperties, n.MaxProperties = l.length(n, "minProperties", 0), l.length(n, "maxProperties", Unlimited)
	for _, keyword := range []string{"dependencies", "dependentRequired"} {
		v := n.Keyword(keyword)
		if v == nil {
			continue
		}
		if v.Kind != jsontext.Object {
			l.misshapen(n, keyword, v, "an object")
			continue
		}
		for i := range v.Members {
			m := &v.Members[i]
			switch {
			case m.Value.Kind == jsontext.Array:
				n.DependentRequired = append(n.DependentRequired, DependentNames{m.Name, l.strings(n, keyword, m.Value)})
			case m.Value.Kind == jsontext.String && n.Dialect == Draft4:
				n.DependentRequired = append(n.DependentRequired, DependentNames{m.Name, []string{m.Value.Text}})
			case keyword == "dependencies":
				n.DependentSchemas = append(n.DependentSchemas, Property{m.Name, l.at(m.Value, n.resource, n, keyword, m.Name)})
			default:
				l.misshapen(n, keyword, m.Value, "an array of strings")
			}
		}
	}
	n.DependentSchemas = append(n.DependentSchemas, l.members(n, "dependentSchemas")...)
	n.UnevaluatedProperties = l.child(n, "unevaluatedProperties")
}

func (l *loader) fillCombined(n *Node) {
	n.AllOf, n.AnyOf, n.OneOf = l.children(n, "allOf"), l.children(n, "anyOf"), l.children(n, "oneOf")
	n.Not = l.child(n, "not")
	if n.If = l.child(n, "if"); n.If != nil {
		n.Then, n.Else = l.child(n, "then"), l.child(n, "else")
	}
}

// inPlace lists the nodes that judge the same value as n does.
func (n *Node) inPlace() []*Node {
	out := slices.Concat(n.AllOf, n.AnyOf, n.OneOf)
	for _, sub := range []*Node{n.Ref, n.Not, n.If, n.Then, n.Else} {
		if sub != nil {
			out = append(out, sub)
		}
	}
	if n.Dynamic != nil {
		out = append(out, n.Dynamic.Target)
	}
	for _, d := range n.DependentSchemas {
		out = append(out, d.Node)
	}
	return out
}

// loops reports the references that come back to where they started without
// descending into the value: they would never end.
func (l *loader) loops() {
	const open, done = 1, 2
	state := make(map[*Node]int, len(l.queue))
	type frame struct {
		node *Node
		next []*Node
	}
	for _, start := range l.queue {
		if state[start] != 0 {
			continue
		}
		stack := []frame{{start, start.inPlace()}}
		state[start] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if len(top.next) == 0 {
				state[top.node] = done
				stack = stack[:len(stack)-1]
				continue
			}
			next := top.next[0]
			top.next = top.next[1:]
			switch state[next] {
			case 0:
				state[next] = open
				stack = append(stack, frame{next, next.inPlace()})
			case open:
				l.report(top.node, "", top.node.Value, fmt.Sprintf("the schema refers back to itself (%s) without descending into the value", orRoot(next.where(""))),
					"such a reference never ends; put it under a keyword of properties or items")
			}
		}
	}
}

func orRoot[T ~string](p T) T {
	if p == "" {
		return "#"
	}
	return p
}

func anchorName(ref string) string {
	for i := range len(ref) {
		if ref[i] == '#' {
			return ref[i+1:]
		}
	}
	return ""
}
