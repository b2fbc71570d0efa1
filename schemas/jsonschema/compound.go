package jsonschema

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// marks are the items or members of one value that were evaluated.
type marks struct {
	all  bool
	bits []uint64
}

func (m *marks) set(i int) {
	if m == nil || m.all {
		return
	}
	for len(m.bits) <= i/64 {
		m.bits = append(m.bits, 0)
	}
	m.bits[i/64] |= 1 << (i % 64)
}

func (m *marks) setAll() {
	if m != nil {
		m.all = true
	}
}

func (m *marks) has(i int) bool { return m.all || i/64 < len(m.bits) && m.bits[i/64]&(1<<(i%64)) != 0 }

func (m *marks) join(other *marks) {
	if m == nil {
		return
	}
	m.all = m.all || other.all
	for len(m.bits) < len(other.bits) {
		m.bits = append(m.bits, 0)
	}
	for i, b := range other.bits {
		m.bits[i] |= b
	}
}

func (e *evaluation) array(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	ok := true
	if len(v.Items) < n.MinItems {
		ok = e.fail(n, "minItems", v, "the array has %d items, under %d", len(v.Items), n.MinItems)
	}
	if len(v.Items) > n.MaxItems {
		ok = e.fail(n, "maxItems", v, "the array has %d items, over %d", len(v.Items), n.MaxItems)
	}
	if !ok && !e.collect {
		return false
	}
	for i := range min(len(n.Prefix), len(v.Items)) {
		m.set(i)
		if !e.under(n.Prefix[i], v.Items[i], s, "", i) {
			if ok = false; e.stop() {
				return false
			}
		}
	}
	if n.Items != nil {
		m.setAll()
		for i := len(n.Prefix); i < len(v.Items); i++ {
			if !e.under(n.Items, v.Items[i], s, "", i) {
				if ok = false; e.stop() {
					return false
				}
			}
		}
	}
	if n.Contains != nil && !e.contains(n, v, s, m) {
		ok = false
	}
	if n.UniqueItems && (ok || e.collect) && !e.unique(n, v) {
		ok = false
	}
	return ok
}

func (e *evaluation) contains(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	found := 0
	for i, item := range v.Items {
		if e.quietly(n.Contains, item, s, nil) {
			found++
			// Only 2020-12 counts contains as evaluating.
			if n.Dialect == Draft2020 {
				m.set(i)
			}
		}
		if e.out {
			return false
		}
	}
	if found < n.MinContains {
		keyword := "contains"
		if n.MinContains != 1 {
			keyword = "minContains"
		}
		return e.fail(n, keyword, v, "%d items are of the kind that the array must contain, under %d", found, n.MinContains)
	}
	if found > n.MaxContains {
		return e.fail(n, "maxContains", v, "%d items are of the kind that the array may contain, over %d", found, n.MaxContains)
	}
	return true
}

func (e *evaluation) unique(n *Node, v *jsontext.Value) bool {
	if len(v.Items) < 2 {
		return true
	}
	if !e.spend((v.End-v.Start)/8 + len(v.Items)) {
		return false
	}
	seen := make(map[string]int, len(v.Items))
	var buf []byte
	for i, item := range v.Items {
		buf = appendCanonical(buf[:0], item)
		if j, twice := seen[string(buf)]; twice {
			return e.fail(n, "uniqueItems", v, "the items %d and %d are equal", j, i)
		}
		seen[string(buf)] = i
	}
	return true
}

func (e *evaluation) object(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	ok := true
	if len(v.Members) < n.MinProperties {
		ok = e.fail(n, "minProperties", v, "the object has %d members, under %d", len(v.Members), n.MinProperties)
	}
	if len(v.Members) > n.MaxProperties {
		ok = e.fail(n, "maxProperties", v, "the object has %d members, over %d", len(v.Members), n.MaxProperties)
	}
	if (ok || e.collect) && len(n.Required) > 0 && !e.present(n, v) {
		ok = false
	}
	if !ok && !e.collect {
		return false
	}
	for i := range v.Members {
		if !e.member(n, v, i, s, m) {
			if ok = false; e.stop() {
				return false
			}
		}
	}
	return e.dependents(n, v, s, m) && ok
}

// present checks required.
func (e *evaluation) present(n *Node, v *jsontext.Value) bool {
	found := 0
	for i := range v.Members {
		if n.required[v.Members[i].Name] {
			found++
		}
	}
	if !e.spend(1 + len(v.Members)/4) {
		return false
	}
	if found == len(n.required) {
		return true
	}
	if e.collect {
		here := memberNames(v)
		for _, name := range n.Required {
			if !here[name] {
				e.fail(n, "required", v, "the member %s is missing", short(name))
			}
			if e.stop() {
				break
			}
		}
	}
	return false
}

func memberNames(v *jsontext.Value) map[string]bool {
	out := make(map[string]bool, len(v.Members))
	for i := range v.Members {
		out[v.Members[i].Name] = true
	}
	return out
}

// member judges one member by everything that speaks of its name.
func (e *evaluation) member(n *Node, v *jsontext.Value, i int, s *scope, m *marks) bool {
	name, value := v.Members[i].Name, v.Members[i].Value
	ok, spoken := true, false
	if !e.spend(1) {
		return false
	}
	if n.PropertyNames != nil {
		text := &jsontext.Value{Kind: jsontext.String, Text: name, Start: v.Members[i].Start, End: v.Members[i].Start + len(name) + 2}
		if !e.quietly(n.PropertyNames, text, s, nil) {
			ok = !e.out && e.fail(n, "propertyNames", text, "the name %s is not allowed", short(name))
		}
	}
	if p := n.Property(name); p != nil {
		spoken = true
		ok = e.under(p, value, s, name, -1) && ok
	}
	for _, p := range n.PatternProperties {
		if !ok && !e.collect {
			return false
		}
		if e.matches(p.Pattern, name) {
			spoken = true
			ok = e.under(p.Node, value, s, name, -1) && ok
		}
		if e.out {
			return false
		}
	}
	if !spoken && n.AdditionalProperties != nil {
		spoken = true
		if n.AdditionalProperties.Boolean && !n.AdditionalProperties.Value.Bool {
			return e.fail(n, "additionalProperties", value, "the member %s is not allowed: the schema does not name it", short(name))
		}
		ok = e.under(n.AdditionalProperties, value, s, name, -1) && ok
	}
	if spoken {
		m.set(i)
	}
	return ok
}

func (e *evaluation) dependents(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	if len(n.DependentRequired) == 0 && len(n.DependentSchemas) == 0 {
		return true
	}
	if !e.spend(len(v.Members)/4 + len(n.DependentRequired) + len(n.DependentSchemas)) {
		return false
	}
	here, ok := memberNames(v), true
	for _, d := range n.DependentRequired {
		if !here[d.Name] {
			continue
		}
		if !e.spend(len(d.Needs)) {
			return false
		}
		for _, name := range d.Needs {
			if !here[name] {
				ok = e.fail(n, "dependentRequired", v, "with the member %s the member %s is needed", short(d.Name), short(name))
			}
		}
	}
	for _, d := range n.DependentSchemas {
		if !ok && !e.collect {
			return false
		}
		if here[d.Name] {
			ok = e.node(d.Node, v, s, m) && ok
		}
	}
	return ok
}

func (e *evaluation) unevaluated(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	ok := true
	if n.UnevaluatedItems != nil && v.Kind == jsontext.Array {
		for i, item := range v.Items {
			if !m.has(i) && !e.under(n.UnevaluatedItems, item, s, "", i) {
				ok = e.out || e.fail(n, "unevaluatedItems", item, "the item %d is not allowed: nothing in the schema speaks of it", i)
				if e.stop() {
					return false
				}
			}
		}
		m.setAll()
	}
	if n.UnevaluatedProperties != nil && v.Kind == jsontext.Object {
		for i := range v.Members {
			name := v.Members[i].Name
			if !m.has(i) && !e.under(n.UnevaluatedProperties, v.Members[i].Value, s, name, -1) {
				ok = e.out || e.fail(n, "unevaluatedProperties", v.Members[i].Value, "the member %s is not allowed: nothing in the schema speaks of it", short(name))
				if e.stop() {
					return false
				}
			}
		}
		m.setAll()
	}
	return ok
}

// combined judges what looks at the same value as n.
func (e *evaluation) combined(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	ok := true
	if n.Ref != nil {
		ok = e.node(n.Ref, v, s, m)
	}
	if n.Dynamic != nil && (ok || e.collect) {
		ok = e.node(n.Dynamic.follow(s), v, s, m) && ok
	}
	for _, sub := range n.AllOf {
		if !ok && !e.collect {
			return false
		}
		ok = e.node(sub, v, s, m) && ok
	}
	if len(n.AnyOf) > 0 && (ok || e.collect) {
		ok = e.some(n, v, s, m) && ok
	}
	if len(n.OneOf) > 0 && (ok || e.collect) {
		ok = e.exactlyOne(n, v, s, m) && ok
	}
	if n.Not != nil && (ok || e.collect) && e.quietly(n.Not, v, s, nil) {
		ok = e.fail(n, "not", v, "the value is of the kind that is not allowed")
	}
	if n.If != nil && (ok || e.collect) {
		own := m.fresh()
		then := n.Else
		if e.quietly(n.If, v, s, own) {
			then = n.Then
			m.joinIf(own)
		}
		if then != nil && !e.out {
			ok = e.node(then, v, s, m) && ok
		}
	}
	return ok && !e.out
}

// fresh is an empty set of marks when m is wanted at all.
func (m *marks) fresh() *marks {
	if m == nil {
		return nil
	}
	return &marks{}
}

func (m *marks) joinIf(other *marks) {
	if other != nil {
		m.join(other)
	}
}

// follow finds what a dynamic reference means in s: the outermost resource that
// declares the name.
func (d *DynamicRef) follow(s *scope) *Node {
	found := d.Target
	if d.Fixed {
		return found
	}
	for ; s != nil; s = s.outer {
		switch {
		case d.Recursive && s.resource.recursive && s.resource.outermost != nil:
			found = s.resource.outermost
		case !d.Recursive && s.resource.dynamic[d.Anchor] != nil:
			found = s.resource.dynamic[d.Anchor]
		}
	}
	return found
}

func (e *evaluation) some(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	found := false
	for _, sub := range n.AnyOf {
		own := m.fresh()
		if e.quietly(sub, v, s, own) {
			found = true
			if m == nil {
				return true
			}
			m.join(own)
		}
		if e.out {
			return false
		}
	}
	return found || e.fail(n, "anyOf", v, "the value fits none of the %d alternatives%s", len(n.AnyOf), e.reasons(n.AnyOf, v, s))
}

func (e *evaluation) exactlyOne(n *Node, v *jsontext.Value, s *scope, m *marks) bool {
	first := -1
	for i, sub := range n.OneOf {
		own := m.fresh()
		if e.quietly(sub, v, s, own) {
			if first >= 0 {
				return e.fail(n, "oneOf", v, "the value fits the alternatives %d and %d, but only one may fit", first, i)
			}
			first = i
			m.joinIf(own)
		}
		if e.out {
			return false
		}
	}
	return first >= 0 || e.fail(n, "oneOf", v, "the value fits none of the %d alternatives%s", len(n.OneOf), e.reasons(n.OneOf, v, s))
}

// reasons tells, while collecting, why the first alternatives did not fit.
func (e *evaluation) reasons(subs []*Node, v *jsontext.Value, s *scope) string {
	const most = 3
	if e.stop() || e.brief || len(subs) > 64 {
		return ""
	}
	kept, limit := e.violations, e.most
	e.brief = true
	var said []string
	for _, sub := range subs[:min(most, len(subs))] {
		e.violations, e.most = nil, 1
		e.node(sub, v, s, nil)
		if len(e.violations) > 0 {
			text := e.violations[0].Text
			if p := e.violations[0].Payload; p != "" && len(p) < 200 {
				text += fmt.Sprintf(" at %s", p)
			}
			said = append(said, text)
		}
	}
	e.violations, e.most, e.brief = kept, limit, false
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, "; ") + ")"
}
