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

func (e *evaluation) array(n *Node, v int32, s *scope, m *marks) bool {
	ok, count := true, int(e.tokens[v].count)
	if count < n.MinItems {
		ok = e.fail(n, "minItems", v, "the array has %d items, under %d", count, n.MinItems)
	}
	if count > n.MaxItems {
		ok = e.fail(n, "maxItems", v, "the array has %d items, over %d", count, n.MaxItems)
	}
	if !ok && !e.collect {
		return false
	}
	if len(n.Prefix) > 0 || n.Items != nil {
		for i, at := 0, v+1; i < count; i, at = i+1, e.tokens[at].next {
			item := n.Items
			if i < len(n.Prefix) {
				item = n.Prefix[i]
			}
			if item == nil {
				break
			}
			m.set(i)
			if !e.under(item, at, s, "", i) {
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

func (e *evaluation) contains(n *Node, v int32, s *scope, m *marks) bool {
	found := 0
	for i, at := 0, v+1; at < e.tokens[v].next; i, at = i+1, e.tokens[at].next {
		if e.quietly(n.Contains, at, s, nil) {
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

func (e *evaluation) unique(n *Node, v int32) bool {
	count := int(e.tokens[v].count)
	if count < 2 {
		return true
	}
	if !e.spend(e.size(v)/8 + count) {
		return false
	}
	seen := make(map[string]int, count)
	for i, at := 0, v+1; i < count; i, at = i+1, e.tokens[at].next {
		e.scratch = e.appendCanonical(e.scratch[:0], at)
		if j, twice := seen[string(e.scratch)]; twice {
			return e.fail(n, "uniqueItems", v, "the items %d and %d are equal", j, i)
		}
		seen[string(e.scratch)] = i
	}
	return true
}

func (e *evaluation) object(n *Node, v int32, s *scope, m *marks) bool {
	ok, count := true, int(e.tokens[v].count)
	if count < n.MinProperties {
		ok = e.fail(n, "minProperties", v, "the object has %d members, under %d", count, n.MinProperties)
	}
	if count > n.MaxProperties {
		ok = e.fail(n, "maxProperties", v, "the object has %d members, over %d", count, n.MaxProperties)
	}
	if (ok || e.collect) && len(n.Required) > 0 && !e.present(n, v) {
		ok = false
	}
	if !ok && !e.collect {
		return false
	}
	if len(n.Properties) > 0 || len(n.PatternProperties) > 0 || n.AdditionalProperties != nil || n.PropertyNames != nil {
		next := 0
		for i, at := 0, v+1; i < count; i, at = i+1, e.tokens[at+1].next {
			if !e.member(n, at, i, &next, s, m) {
				if ok = false; e.stop() {
					return false
				}
			}
		}
	}
	return e.dependents(n, v, s, m) && ok
}

// present checks required.
func (e *evaluation) present(n *Node, v int32) bool {
	count := int(e.tokens[v].count)
	if !e.spend(1 + count/4) {
		return false
	}
	found := 0
	for at, end := v+1, e.tokens[v].next; at < end && found < len(n.Required); at = e.tokens[at+1].next {
		// Most writers keep the order of the schema.
		if name := e.content(at); n.Required[found] == name || n.Requires(name) {
			found++
		}
	}
	if found == len(n.Required) {
		return true
	}
	if e.collect {
		here := e.memberNames(v)
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

func (e *evaluation) memberNames(v int32) map[string]bool {
	out := make(map[string]bool, e.tokens[v].count)
	for at := v + 1; at < e.tokens[v].next; at = e.tokens[at+1].next {
		out[e.content(at)] = true
	}
	return out
}

// member judges one member by everything that speaks of its name; at is the
// token of the name, i its place among the members, and next where the property
// of that name may be.
func (e *evaluation) member(n *Node, at int32, i int, next *int, s *scope, m *marks) bool {
	name, value := e.content(at), at+1
	ok, spoken := true, false
	if !e.spend(1) {
		return false
	}
	if n.PropertyNames != nil && !e.quietly(n.PropertyNames, at, s, nil) {
		ok = !e.out && e.fail(n, "propertyNames", at, "the name %s is not allowed", short(name))
	}
	if p := n.property(name, *next); p >= 0 {
		spoken, *next = true, p+1
		ok = e.under(n.Properties[p].Node, value, s, name, -1) && ok
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
			return e.collect && e.fail(n, "additionalProperties", value, "the member %s is not allowed: the schema does not name it", short(name))
		}
		ok = e.under(n.AdditionalProperties, value, s, name, -1) && ok
	}
	if spoken {
		m.set(i)
	}
	return ok
}

func (e *evaluation) dependents(n *Node, v int32, s *scope, m *marks) bool {
	if len(n.DependentRequired) == 0 && len(n.DependentSchemas) == 0 {
		return true
	}
	if !e.spend(int(e.tokens[v].count)/4 + len(n.DependentRequired) + len(n.DependentSchemas)) {
		return false
	}
	here, ok := e.memberNames(v), true
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

func (e *evaluation) unevaluated(n *Node, v int32, s *scope, m *marks) bool {
	ok, kind := true, e.tokens[v].kind
	if n.UnevaluatedItems != nil && kind == jsontext.Array {
		for i, at := 0, v+1; at < e.tokens[v].next; i, at = i+1, e.tokens[at].next {
			if !m.has(i) && !e.under(n.UnevaluatedItems, at, s, "", i) {
				ok = e.out || e.fail(n, "unevaluatedItems", at, "the item %d is not allowed: nothing in the schema speaks of it", i)
				if e.stop() {
					return false
				}
			}
		}
		m.setAll()
	}
	if n.UnevaluatedProperties != nil && kind == jsontext.Object {
		for i, at := 0, v+1; at < e.tokens[v].next; i, at = i+1, e.tokens[at+1].next {
			if m.has(i) {
				continue
			}
			if name := e.content(at); !e.under(n.UnevaluatedProperties, at+1, s, name, -1) {
				ok = e.out || e.fail(n, "unevaluatedProperties", at+1, "the member %s is not allowed: nothing in the schema speaks of it", short(name))
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
func (e *evaluation) combined(n *Node, v int32, s *scope, m *marks) bool {
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

func (e *evaluation) some(n *Node, v int32, s *scope, m *marks) bool {
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
	return found || e.fail(n, "anyOf", v, "the value fits none of the %d alternatives%s", len(n.AnyOf), e.reasons(n.AnyOf, v, s)) || e.inside(n.AnyOf, v, s)
}

func (e *evaluation) exactlyOne(n *Node, v int32, s *scope, m *marks) bool {
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
	return first >= 0 || e.fail(n, "oneOf", v, "the value fits none of the %d alternatives%s", len(n.OneOf), e.reasons(n.OneOf, v, s)) || e.inside(n.OneOf, v, s)
}

// inside collects, where all is wanted, what every alternative refuses; it is
// always false.
func (e *evaluation) inside(subs []*Node, v int32, s *scope) bool {
	for _, sub := range subs {
		if !e.collect || !e.deep || e.brief || e.stop() {
			return false
		}
		e.node(sub, v, s, nil)
	}
	return false
}

// reasons tells, while collecting, why the first alternatives did not fit.
func (e *evaluation) reasons(subs []*Node, v int32, s *scope) string {
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
