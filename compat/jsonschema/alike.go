package jsonschema

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// costOfLikeness is what one pair of nodes takes, in steps.
const costOfLikeness = 3

// partsOf are the parts of f's node but for its properties.
func (f *facts) partsOf() []*jsonschema.Node {
	if f.parts == nil {
		f.parts = otherParts(f.node)
	}
	return f.parts
}

// mostAlike bounds the nodes that one question of alike looks at.
const mostAlike = 2_000

// alike tells whether two nodes say the same, references followed in step. A
// pair met again counts as alike: two graphs that never differ anywhere say the
// same.
func (s *solver) alike(a, b *jsonschema.Node) bool {
	assumed := map[[2]*jsonschema.Node]bool{}
	var walk func(a, b *jsonschema.Node) bool
	walk = func(a, b *jsonschema.Node) bool {
		if sameSpelling(a, b) {
			return true
		}
		a, b = s.facts(a).node, s.facts(b).node
		pair := [2]*jsonschema.Node{a, b}
		if known, ok := s.twins[pair]; ok {
			return known
		}
		if a == b || assumed[pair] {
			return true
		}
		if len(assumed) >= mostAlike || !s.meter.Spend(costOfLikeness) {
			return false
		}
		assumed[pair] = true
		f, g := s.facts(a), s.facts(b)
		if f.text != 0 || g.text != 0 {
			return f.text == g.text
		}
		if s.own(f) != s.own(g) {
			return false
		}
		p, q := f.partsOf(), g.partsOf()
		if len(p) != len(q) {
			return false
		}
		for i := range p {
			if (p[i] == nil) != (q[i] == nil) || p[i] != nil && !walk(p[i], q[i]) {
				return false
			}
		}
		// By name, and so without putting many in an order.
		for i := range f.node.Properties {
			if q := g.node.Property(f.node.Properties[i].Name); q == nil || !walk(f.node.Properties[i].Node, q) {
				return false
			}
		}
		return true
	}
	yes := walk(a, b)
	if yes {
		maps.Copy(s.twins, assumed)
	} else {
		s.twins[[2]*jsonschema.Node{a, b}] = false
	}
	return yes
}

// own is what a node says without its parts: its dialect, its plain keywords,
// the number of its properties, and the names of other members and patterns.
func (s *solver) own(f *facts) string {
	if f.own != "" {
		return f.own
	}
	n := f.node
	out := strconv.AppendInt(nil, int64(n.Dialect), 10)
	if f.value {
		f.own = string(strconv.AppendBool(out, f.yes))
		return f.own
	}
	members := slices.Clone(n.Value.Members)
	slices.SortFunc(members, func(a, b jsontext.Member) int { return cmp.Compare(a.Name, b.Name) })
	for i := range members {
		m := &members[i]
		if silentWords[m.Name] && m.Name[0] != 'c' || !n.Dialect.Knows(m.Name) || m.Name[0] == '$' {
			continue
		}
		s.meter.Spend(1)
		out = append(jsontext.AppendString(out, m.Name), ':')
		switch m.Name {
		case "properties": // their names are looked up
			out = strconv.AppendInt(out, int64(len(m.Value.Members)), 10)
		case "patternProperties", "dependentSchemas", "dependencies":
			names := make([]string, 0, len(m.Value.Members))
			for j := range m.Value.Members {
				v := m.Value.Members[j].Value
				text := m.Value.Members[j].Name
				if m.Name == "dependencies" && (v.Kind == jsontext.Array || v.Kind == jsontext.String) {
					text += "\x00" + v.String()
				}
				names = append(names, text)
			}
			slices.Sort(names)
			for _, name := range names { // with its length, which is quicker than to quote it
				out = append(strconv.AppendInt(out, int64(len(name)), 10), ':')
				out = append(out, name...)
			}
		case "allOf", "anyOf", "oneOf", "prefixItems":
			out = strconv.AppendInt(out, int64(len(m.Value.Items)), 10)
		case "items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames", "contains", "not", "if", "then", "else":
			out = strconv.AppendInt(out, int64(m.Value.Kind), 10)
			out = strconv.AppendInt(out, int64(len(m.Value.Items)), 10)
		default:
			s.meter.Spend((m.Value.End - m.Value.Start) / 64)
			out = m.Value.Append(out, true)
		}
	}
	f.own = string(out)
	return f.own
}

// parts lists the schemas in a node, in an order that its own text fixes; nil
// stands for one that is absent.
func parts(n *jsonschema.Node) []*jsonschema.Node {
	return append(otherParts(n), byName(n.Properties)...)
}

// otherParts are the parts but for the properties.
func otherParts(n *jsonschema.Node) []*jsonschema.Node {
	out := []*jsonschema.Node{n.Ref, nil, n.Items, n.AdditionalItems, n.Contains, n.UnevaluatedItems, n.AdditionalProperties, n.PropertyNames, n.UnevaluatedProperties, n.Not, n.If, n.Then, n.Else}
	if n.Dynamic != nil {
		out[1] = n.Dynamic.Target
	}
	out = append(out, byName(n.DependentSchemas)...)
	patterns := slices.Clone(n.PatternProperties)
	slices.SortStableFunc(patterns, func(a, b jsonschema.PatternProperty) int { return cmp.Compare(a.Pattern.String(), b.Pattern.String()) })
	for _, p := range patterns {
		out = append(out, p.Node)
	}
	return slices.Concat(out, n.Prefix, n.AllOf, n.AnyOf, n.OneOf)
}

// byName are the schemas of members, in the order of their names.
func byName(list []jsonschema.Property) []*jsonschema.Node {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b jsonschema.Property) int { return cmp.Compare(a.Name, b.Name) })
	out := make([]*jsonschema.Node, len(list))
	for i, p := range list {
		out[i] = p.Node
	}
	return out
}
