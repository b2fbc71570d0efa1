package jsonschema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// bothTypes lets what was allowed stay beside what is, or puts a property of the
// new type beside the old one.
func (m *mender) bothTypes() {
	if m.o.Boolean || m.n.Boolean {
		return
	}
	if !m.forward && m.o.HasType && m.n.HasType {
		names := m.n.Types.Names()
		for _, name := range m.o.Types.Names() {
			if !slices.Contains(names, name) && (name != "integer" || !slices.Contains(names, "number")) {
				names = append(names, name)
			}
		}
		if slices.Contains(names, "number") {
			names = slices.DeleteFunc(names, func(name string) bool { return name == "integer" })
		}
		text := jsontext.Quoted(names[0])
		if len(names) > 1 {
			quoted := make([]string, len(names))
			for i := range names {
				quoted[i] = jsontext.Quoted(names[i])
			}
			text = "[" + strings.Join(quoted, ", ") + "]"
		}
		m.change("let both stand: the type "+strings.Join(names, " or "), m.is.Set(m.n.Value, [2]string{"type", text})...)
	}
	object, i := m.member(m.n)
	if object == nil || m.f.rule != &typeChanged {
		return
	}
	name := object.Members[i].Name
	other := name + "_" + strings.Join(m.n.Types.Names(), "_")
	if object.Get(other) != nil {
		return
	}
	edits := append(m.bring(m.o.Value), m.is.Replace(m.n.Value, m.was.Spell(m.o.Value)), m.is.Insert(object, name, other, m.is.Spell(m.n.Value)))
	m.change(fmt.Sprintf("keep the property %s as it was, and put %s of the new type beside it", named(name), named(other)), edits...)
}

// member finds a schema among the members of the object that it is a member of,
// as a property is; nil where it is none.
func (m *mender) member(n *jsonschema.Node) (object *jsontext.Value, i int) {
	tokens := jsontext.Tokens(n.Pointer())
	if len(tokens) < 2 || tokens[len(tokens)-2] != "properties" {
		return nil, 0
	}
	up := n.Pointer()
	object = m.is.At(up[:strings.LastIndexByte(string(up), '/')])
	if object == nil {
		return nil, 0
	}
	i = slices.IndexFunc(object.Members, func(member jsontext.Member) bool { return member.Value.Start == n.Value.Start })
	if i < 0 {
		return nil, 0
	}
	return object, i
}

// bothValues keeps the values that went beside those that are allowed.
func (m *mender) bothValues() {
	if m.forward || m.o.Boolean || m.n.Boolean || allowed(m.o) == nil || allowed(m.n) == nil {
		return
	}
	values := func(n *jsonschema.Node) []*jsontext.Value {
		if n.HasEnum {
			return n.Enum
		}
		return []*jsontext.Value{n.Const}
	}
	known := allowed(m.n)
	var lost []string
	for _, v := range values(m.o) {
		if !slices.Contains(known, canonicalText(v)) {
			lost = append(lost, m.was.Spell(v))
		}
	}
	if len(lost) == 0 {
		return
	}
	what := "keep " + short(strings.Join(lost, ", ")) + " among the values, and stop to write it"
	if list := m.n.Value.Get("enum"); list != nil && m.n.Const == nil {
		edits := make([]jsontext.Edit, len(lost))
		for i := range lost {
			edits[i] = m.is.Add(list, len(list.Items)-1, lost[i])
		}
		if len(list.Items) == 0 {
			edits = []jsontext.Edit{m.is.Add(list, 0, strings.Join(lost, ", "))}
		}
		m.change(what, edits...)
		return
	}
	if m.n.Const != nil && !m.n.HasEnum {
		m.change(what, m.is.Set(m.n.Value, [2]string{"const", ""}, [2]string{"enum", "[" + strings.Join(append([]string{m.is.Spell(m.n.Const)}, lost...), ", ") + "]"})...)
	}
}

// bothPatterns lets strings of either pattern stand.
func (m *mender) bothPatterns() {
	if m.forward || m.o.Pattern == nil || m.n.Pattern == nil {
		return
	}
	both := "(?:" + m.n.Pattern.String() + ")|(?:" + m.o.Pattern.String() + ")"
	m.change("let strings of either pattern stand", m.is.Set(m.n.Value, [2]string{"pattern", jsontext.Quoted(both)})...)
}

// loosenProperty: what a property that is new is to be hurts those who have the
// name already.
func (m *mender) loosenProperty() {
	object, i := m.member(m.n)
	if object == nil {
		return
	}
	name := object.Members[i].Name
	if m.n.Value.Kind == jsontext.Object {
		var remarks []string
		for _, member := range m.n.Value.Members {
			switch member.Name {
			case "title", "description", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly":
				remarks = append(remarks, m.is.Text[member.Start:member.Value.End])
			}
		}
		m.change(fmt.Sprintf("leave open what the property %s holds, as it was", named(name)), m.is.Replace(m.n.Value, "{"+strings.Join(remarks, ", ")+"}"))
	}
	edits := m.is.Set(object, [2]string{name, ""})
	edits = append(edits, m.optional(m.f.around.next, name)...)
	m.change(fmt.Sprintf("take the property %s out again", named(name)), edits...)
}

// optional takes a name out of a schema's required.
func (m *mender) optional(n *jsonschema.Node, name string) []jsontext.Edit {
	list := n.Value.Get("required")
	if list == nil || list.Kind != jsontext.Array {
		return nil
	}
	i := slices.IndexFunc(list.Items, func(v *jsontext.Value) bool { return v.Kind == jsontext.String && v.Text == name })
	switch {
	case i < 0:
		return nil
	case len(list.Items) == 1: // draft-04 wants one at least
		return m.is.Set(n.Value, [2]string{"required", ""})
	}
	return []jsontext.Edit{m.is.Remove(list, i)}
}

// needed puts a name into a schema's required.
func (m *mender) needed(n *jsonschema.Node, name string) []jsontext.Edit {
	list := n.Value.Get("required")
	if list == nil || list.Kind != jsontext.Array {
		return m.is.Set(n.Value, [2]string{"required", "[" + jsontext.Quoted(name) + "]"})
	}
	return []jsontext.Edit{m.is.Add(list, len(list.Items)-1, jsontext.Quoted(name))}
}

// leaveOptional: a member became required.
func (m *mender) leaveOptional() {
	name := m.f.members[0]
	m.change(fmt.Sprintf("leave the member %s optional", named(name)), m.optional(m.n, name)...)
}

// keepRequired: old readers need a member that new data may lack.
func (m *mender) keepRequired() {
	name := m.f.members[0]
	m.change(fmt.Sprintf("keep the member %s required", named(name)), m.needed(m.n, name)...)
}

// kept is the text of an old property, marked as one that is on its way out.
func (m *mender) kept(n *jsonschema.Node) string {
	if n.Value.Kind != jsontext.Object || n.Value.Get("deprecated") != nil {
		return m.was.Spell(n.Value)
	}
	edit := m.was.Set(n.Value, [2]string{"deprecated", "true"})[0]
	return m.was.Text[n.Value.Start:edit.Start] + edit.Text + m.was.Text[edit.End:n.Value.End]
}

// keepProperty: a property went that data has, or that old readers expect to be
// what it was.
func (m *mender) keepProperty() {
	parent, name := m.f.around.next, m.f.members[0]
	if parent.Value.Kind != jsontext.Object {
		return
	}
	m.change(fmt.Sprintf("keep the property %s, and mark it deprecated", named(name)), m.put(parent, name, m.kept(m.o), m.o)...)
	m.change(fmt.Sprintf("keep the property %s as it was", named(name)), m.put(parent, name, m.was.Spell(m.o.Value), m.o)...)
}

// put gives a schema an old property, behind the one that it stood behind.
func (m *mender) put(parent *jsonschema.Node, name, text string, old *jsonschema.Node) []jsontext.Edit {
	edits := m.bring(old.Value)
	object := parent.Value.Get("properties")
	if object == nil {
		return append(edits, m.is.Set(parent.Value, [2]string{"properties", "{" + jsontext.Quoted(name) + ": " + text + "}"})...)
	}
	before := ""
	for _, p := range m.f.around.old.Properties {
		if p.Name == name {
			break
		}
		if object.Get(p.Name) != nil {
			before = p.Name
		}
	}
	return append(edits, m.is.Insert(object, before, name, text))
}

// bothNames keeps a property that looks renamed beside the new one; or its name.
func (m *mender) bothNames() {
	was, is := m.f.members[0], m.f.members[1]
	old, parent := m.f.around.old, m.f.around.next
	object, i := m.member(m.n)
	if object == nil || parent.Value.Kind != jsontext.Object {
		return
	}
	edits := m.put(parent, was, m.kept(m.o), m.o)
	if m.backward {
		edits = append(edits, m.optional(parent, is)...)
	}
	if m.forward && old.Requires(was) {
		edits = append(edits, m.needed(parent, was)...)
	}
	m.change(fmt.Sprintf("keep the property %s beside %s, and write both while consumers move", named(was), named(is)), edits...)
	back := []jsontext.Edit{m.is.Rename(object, i, was)}
	if list := parent.Value.Get("required"); list != nil {
		for _, v := range list.Items {
			if v.Text == is {
				back = append(back, m.is.Replace(v, jsontext.Quoted(was)))
			}
		}
	}
	m.change(fmt.Sprintf("keep the name %s", named(was)), back...)
}

// list finds the keyword of the list that a part belongs to, in the new text.
func (m *mender) partsOf() (object, list *jsontext.Value, keyword string) {
	keyword = restored[m.f.rule.ID][0]
	object = m.f.around.next.Value
	return object, object.Get(keyword), keyword
}

// keepPart: an alternative or a condition went.
func (m *mender) keepPart() {
	object, list, keyword := m.partsOf()
	text := m.was.Spell(m.o.Value)
	what := fmt.Sprintf("keep %s in %s", short(text), keyword)
	edits := m.bring(m.o.Value)
	if list == nil {
		m.change(what, append(edits, m.is.Set(object, [2]string{keyword, "[" + text + "]"})...)...)
		return
	}
	at := len(list.Items) - 1
	tokens := jsontext.Tokens(m.o.Pointer())
	if i, err := strconv.Atoi(tokens[len(tokens)-1]); err == nil {
		at = min(at, i-1)
	}
	m.change(what, append(edits, m.is.Add(list, at, text))...)
}

// takePartOut: an alternative or a condition came.
func (m *mender) takePartOut() {
	object, list, keyword := m.partsOf()
	if list == nil {
		return
	}
	i := slices.IndexFunc(list.Items, func(v *jsontext.Value) bool { return v.Start == m.n.Value.Start })
	what := fmt.Sprintf("take %s out of %s again", short(m.is.Spell(m.n.Value)), keyword)
	switch {
	case i < 0:
	case len(list.Items) == 1:
		m.change(what, m.is.Set(object, [2]string{keyword, ""})...)
	default:
		m.change(what, m.is.Remove(list, i))
	}
}
