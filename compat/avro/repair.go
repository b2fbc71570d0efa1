package avro

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// mender proposes patches for one change. Whatever it proposes is read and
// compared by compat before anybody sees it, so a proposal may be bold: what
// does not parse, or does not help, is dropped there.
type mender struct {
	old, next         *avro.Schema
	was, is           text
	o, n              *jsontext.Value // where the change stands; nil in another text
	c                 compat.Change
	backward, forward bool
	list              []compat.Patch
}

// repairs says by rule which patches are proposed. The list is complete: a test
// holds that every rule whose changes may hurt has a repair that works on its
// own example.
var repairs = map[string]func(*mender){
	fieldAddedBare.ID:     (*mender).giveDefault,
	fieldAddedBroken.ID:   (*mender).giveDefault,
	fieldRemovedBare.ID:   (*mender).keepField,
	fieldRemovedBroken.ID: (*mender).keepField,
	fieldRenamed.ID:       (*mender).knowField,
	fieldRenamedLost.ID:   (*mender).knowField,
	fieldRenamedAlias.ID:  (*mender).knowField,
	fieldRenamedBack.ID:   (*mender).knowField,
	fieldAmbiguous.ID:     (*mender).dropAliases,
	typeWidened.ID:        (*mender).keepType,
	typeNarrowed.ID:       (*mender).keepType,
	stringToBytes.ID:      (*mender).keepType,
	bytesToString.ID:      (*mender).keepType,
	typeChanged.ID:        (*mender).keepType,
	nullAllowed.ID:        (*mender).takeBranchOut,
	branchAdded.ID:        (*mender).takeBranchOut,
	nullForbidden.ID:      (*mender).keepBranch,
	branchRemoved.ID:      (*mender).keepBranch,
	typeRenamed.ID:        (*mender).knowType,
	typeRenamedAlias.ID:   (*mender).knowType,
	typeRenamedBack.ID:    (*mender).knowType,
	symbolAdded.ID:        (*mender).takeSymbolOut,
	symbolAddedUnder.ID:   (*mender).takeSymbolOut,
	symbolRemoved.ID:      (*mender).keepSymbol,
	symbolRemovedUnder.ID: (*mender).keepSymbol,
	fixedSize.ID:          (*mender).keepSize,
}

// repair proposes patches of the new text, and steps that patch the old one.
func repair(old, next schemas.Schema, c compat.Change, backward, forward bool) []compat.Patch {
	propose := repairs[c.Rule]
	o, ok := old.(*avro.Schema)
	if !ok || propose == nil {
		return nil
	}
	n, ok := next.(*avro.Schema)
	if !ok {
		return nil
	}
	m := &mender{old: o, next: n, was: textOf(old), is: textOf(next), c: c, backward: backward, forward: forward}
	if m.was.root == nil || m.is.root == nil {
		return nil
	}
	if !c.Elsewhere[0] {
		m.o = m.was.at(c.Old.Pointer)
	}
	if !c.Elsewhere[1] {
		m.n = m.is.at(c.New.Pointer)
	}
	propose(m)
	return m.list
}

// change proposes edits of the new text.
func (m *mender) change(what string, edits ...compat.Edit) {
	m.list = append(m.list, compat.Patch{Text: what, Edits: edits})
}

// first proposes edits of the old text, as a step before the new one.
func (m *mender) first(what string, edits ...compat.Edit) {
	m.list = append(m.list, compat.Patch{Text: "first roll out a step: " + what, First: true, Edits: edits})
}

// field finds the field that a place belongs to, in one of the schemas.
func field(s *avro.Schema, p schemas.Pointer) *avro.Field {
	for _, n := range s.Definitions() {
		for _, f := range n.Fields {
			if f.Pointer() == p {
				return f
			}
		}
	}
	return nil
}

// giveDefault: a field came without anything to put where old payloads lack it.
func (m *mender) giveDefault() {
	f := field(m.next, m.c.New.Pointer)
	if m.n == nil || f == nil {
		return
	}
	if kind := m.n.Get("type"); kind != nil && f.Type.Kind != avro.Null {
		optional := `["null", ` + m.is.spell(kind) + `]`
		if f.Type.Kind == avro.Union {
			optional = m.nullFirst(f.Type, kind)
		}
		if f.Type.Kind != avro.Union || f.Type.Branches[0].Kind != avro.Null {
			m.change(fmt.Sprintf("make field %s optional, with the default null", f.Name), replace(kind, optional), set(m.n, "default", "null"))
		}
	}
	if value, ok := zero(f.Type, 0); ok {
		m.change(fmt.Sprintf("give field %s the default %s", f.Name, short(value)), set(m.n, "default", value))
	}
}

// nullFirst spells a union with null in front, where a default null needs it.
func (m *mender) nullFirst(t *avro.Type, v *jsontext.Value) string {
	parts := []string{`"null"`}
	for i, b := range t.Branches {
		if b.Kind != avro.Null && i < len(v.Items) {
			parts = append(parts, m.is.spell(v.Items[i]))
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// zero spells the value of a type that says least. A logical type has none: an
// instant of 1970 is not "no instant".
func zero(t *avro.Type, depth int) (string, bool) {
	if depth > 4 || !t.Logical.IsZero() {
		return "", false
	}
	switch t.Kind {
	case avro.Null:
		return "null", true
	case avro.Boolean:
		return "false", true
	case avro.Int, avro.Long:
		return "0", true
	case avro.Float, avro.Double:
		return "0.0", true
	case avro.String, avro.Bytes:
		return `""`, true
	case avro.Array:
		return "[]", true
	case avro.Map:
		return "{}", true
	case avro.Enum:
		if len(t.Named.Symbols) == 0 {
			return "", false
		}
		return quoted(t.Named.Symbols[0]), true
	case avro.Fixed:
		if t.Named.Size > 64 {
			return "", false
		}
		return `"` + strings.Repeat(`\u0000`, t.Named.Size) + `"`, true
	case avro.Union:
		if len(t.Branches) == 0 {
			return "", false
		}
		return zero(t.Branches[0], depth+1)
	case avro.Record:
		parts := make([]string, 0, len(t.Named.Fields))
		for _, f := range t.Named.Fields {
			value, ok := zero(f.Type, depth+1)
			if f.Default != nil {
				value, ok = f.Default.String(), true
			}
			if !ok {
				return "", false
			}
			parts = append(parts, quoted(f.Name)+": "+value)
		}
		if len(parts) > 50 {
			return "", false
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	}
	return "", false
}

// keepField: a field that old readers need went away.
func (m *mender) keepField() {
	f := field(m.old, m.c.Old.Pointer)
	if m.o == nil || f == nil {
		return
	}
	if fields := m.n.Get("fields"); fields != nil {
		// Where it stood: a consumer that decodes blindly then still fits.
		after := -1
		for i, item := range fields.Items {
			if name := item.Get("name"); name != nil && m.stoodBefore(name.Text, f) {
				after = i
			}
		}
		keep := fmt.Sprintf("keep field %s, and stop to use it", f.Name)
		m.change(keep, insert(fields, after, m.was.spell(m.o)))
		if byName := f.Type.Named; byName != nil && m.next.Lookup(byName.Full) != nil {
			if kind := m.o.Get("type"); kind != nil {
				item := m.was.text[m.o.Start:kind.Start] + quoted(byName.Full) + m.was.text[kind.End:m.o.End]
				m.change(keep, insert(fields, after, item))
			}
		}
	}
	if value, ok := zero(f.Type, 0); ok {
		m.first(fmt.Sprintf("give field %s the default %s, which old readers then see in new messages", f.Name, short(value)), set(m.o, "default", value))
	}
}

// stoodBefore tells whether the field with a name stood before f in f's record.
func (m *mender) stoodBefore(name string, f *avro.Field) bool {
	for _, n := range m.old.Definitions() {
		if f.Index < len(n.Fields) && n.Fields[f.Index] == f {
			other := n.Field(name)
			return other != nil && other.Index < f.Index
		}
	}
	return false
}

// withAlias is the edit that adds a name to an object's aliases.
func withAlias(t text, object *jsontext.Value, alias string) compat.Edit {
	if known := object.Get("aliases"); known != nil && known.Kind == jsontext.Array {
		return insert(known, len(known.Items)-1, quoted(alias))
	}
	return set(object, "aliases", "["+quoted(alias)+"]")
}

// knowField: a field has another name.
func (m *mender) knowField() {
	before, after := m.c.Before, m.c.After
	if m.n != nil && m.backward {
		m.change(fmt.Sprintf("give field %s the alias %s", after, before), withAlias(m.is, m.n, before))
	}
	if name := m.n.Get("name"); name != nil {
		m.change(fmt.Sprintf("keep the name %s", before), replace(name, quoted(before)))
	}
	if m.o != nil && m.forward {
		m.first(fmt.Sprintf("give field %s the alias %s, so that readers know both names", before, after), withAlias(m.was, m.o, after))
	}
}

// dropAliases: a field's aliases name a second field of the other side.
func (m *mender) dropAliases() {
	if m.n != nil {
		if e, ok := drop(m.n, "aliases"); ok {
			m.change("take the aliases of the field out, since they name another field of the old schema", e)
		}
	}
	if m.o != nil {
		if e, ok := drop(m.o, "aliases"); ok {
			m.first("take the aliases of the old field out, since they name another field of the new schema", e)
		}
	}
}

// keepType: one type became another.
func (m *mender) keepType() {
	if m.n == nil || m.o == nil {
		return
	}
	was, is := m.was.spell(m.o), m.is.spell(m.n)
	keep := func() { m.change("keep the type "+m.c.Before, replace(m.n, was)) }
	if m.c.Rule == typeNarrowed.ID && !m.forward {
		keep()
	}
	if !m.forward {
		m.change(fmt.Sprintf("let both stand: a union of %s and %s", m.c.After, m.c.Before), replace(m.n, "["+is+", "+was+"]"))
	}
	m.beside(was)
	if m.c.Rule != typeNarrowed.ID || m.forward {
		keep()
	}
}

// beside keeps a field as it was, and puts one of the new type beside it.
func (m *mender) beside(was string) {
	up, last := parent(m.c.New.Pointer)
	record, _ := parent(up)
	f := field(m.next, up)
	object := m.is.at(up)
	if last != "type" || f == nil || object == nil || !strings.HasSuffix(string(record), "/fields") {
		return
	}
	name := f.Name + "_" + strings.ToLower(f.Type.Kind.String())
	if f.Type.Kind == avro.Union {
		return
	}
	kind := `["null", ` + m.is.spell(m.n) + `]`
	edits := []compat.Edit{replace(m.n, was)}
	if e, ok := drop(object, "default"); ok && f.Default != nil {
		if i := indexOf(m.c.Old.Pointer); i != "" {
			// The default goes back with the type.
			if before := m.was.at(i).Get("default"); before != nil {
				e = set(object, "default", m.was.spell(before))
			}
		}
		edits = append(edits, e)
	}
	more := fmt.Sprintf(`, {"name": %s, "type": %s, "default": null}`, quoted(name), kind)
	edits = append(edits, compat.Edit{Start: object.End, End: object.End, Text: more})
	m.change(fmt.Sprintf("keep field %s as it was, and put the optional field %s of the new type beside it", f.Name, name), edits...)
}

// indexOf is the field around the place of its type; empty for another place.
func indexOf(p schemas.Pointer) schemas.Pointer {
	if up, last := parent(p); last == "type" {
		return up
	}
	return ""
}

// takeBranchOut: something more may stand in a place than old readers know.
func (m *mender) takeBranchOut() {
	up, last := parent(m.c.New.Pointer)
	union := m.is.at(up)
	i, err := strconv.Atoi(last)
	if m.n == nil || err != nil || union == nil || union.Kind != jsontext.Array {
		return
	}
	if m.o != nil && m.o.Kind != jsontext.Array {
		m.change("keep the type as it was", replace(union, m.was.spell(m.o)))
	}
	if len(union.Items) == 2 {
		m.change(fmt.Sprintf("take %s out again", m.c.After), replace(union, m.is.spell(union.Items[1-i])))
	}
	if i < len(union.Items) {
		m.change(fmt.Sprintf("take %s out again", m.c.After), remove(union, i))
	}
}

// keepBranch: something that old payloads hold may stand in a place no longer.
func (m *mender) keepBranch() {
	if m.n == nil || m.o == nil {
		return
	}
	keep := fmt.Sprintf("keep %s among what may stand here", m.c.Before)
	branch := m.was.spell(m.o)
	if m.n.Kind == jsontext.Array {
		m.change(keep, insert(m.n, len(m.n.Items)-1, branch))
		return
	}
	// Behind the type that stays, so that a default of it stays one.
	m.change(keep, replace(m.n, "["+m.is.spell(m.n)+", "+branch+"]"))
}

// knowType: a record, enum or fixed has another name.
func (m *mender) knowType() {
	before, after := m.c.Before, m.c.After
	if m.n != nil && m.n.Kind == jsontext.Object && m.backward {
		m.change(fmt.Sprintf("give %s the alias %s", after, before), withAlias(m.is, m.n, before))
	}
	if name := m.n.Get("name"); name != nil {
		edits := []compat.Edit{replace(name, quoted(before))}
		if !strings.Contains(before, ".") {
			edits = []compat.Edit{replace(name, quoted(before)), set(m.n, "namespace", `""`)}
			if m.next.Lookup(after) != nil && m.next.Lookup(after).Namespace == "" {
				edits = edits[:1]
			}
		}
		m.change(fmt.Sprintf("keep the name %s", before), edits...)
	}
	if m.o != nil && m.o.Kind == jsontext.Object && m.forward {
		m.first(fmt.Sprintf("give %s the alias %s, so that readers know both names", before, after), withAlias(m.was, m.o, after))
	}
}

// takeSymbolOut: an enum has a symbol more than old readers know.
func (m *mender) takeSymbolOut() {
	up, last := parent(m.c.New.Pointer)
	symbols := m.is.at(up)
	i, err := strconv.Atoi(last)
	if m.o != nil && m.c.Rule == symbolAdded.ID {
		if known := m.o.Get("symbols"); known != nil && len(known.Items) > 0 {
			symbol := fallback(known)
			m.first(fmt.Sprintf("give the enum the default %s, which old readers then see in the place of %s", symbol, m.c.After), set(m.o, "default", quoted(symbol)))
		}
	}
	if err == nil && symbols != nil && i < len(symbols.Items) {
		m.change(fmt.Sprintf("take %s out again", m.c.After), remove(symbols, i))
	}
}

// fallback is the symbol that says least: one that says so, else the first.
func fallback(symbols *jsontext.Value) string {
	for _, s := range symbols.Items {
		switch strings.ToUpper(s.Text) {
		case "UNKNOWN", "UNSPECIFIED", "NONE", "OTHER", "UNDEFINED":
			return s.Text
		}
	}
	return symbols.Items[0].Text
}

// keepSymbol: an enum lost a symbol that old payloads hold.
func (m *mender) keepSymbol() {
	symbols := m.n.Get("symbols")
	if symbols == nil || m.c.Before == "" {
		return
	}
	_, last := parent(m.c.Old.Pointer)
	i, err := strconv.Atoi(last)
	if err != nil || i > len(symbols.Items) {
		i = len(symbols.Items)
	}
	m.change(fmt.Sprintf("keep symbol %s, and stop to write it", m.c.Before), insert(symbols, i-1, quoted(m.c.Before)))
	if m.c.Rule == symbolRemoved.ID && len(symbols.Items) > 0 {
		symbol := fallback(symbols)
		m.change(fmt.Sprintf("give the enum the default %s, which new readers then see in the place of %s", symbol, m.c.Before), set(m.n, "default", quoted(symbol)))
	}
}

// keepSize: a fixed has another size.
func (m *mender) keepSize() {
	if size := m.n.Get("size"); size != nil {
		m.change(fmt.Sprintf("keep the size %s", m.c.Before), replace(size, m.c.Before))
	}
}
