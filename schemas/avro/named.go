package avro

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func (p *parser) parseRecord(t *Type, v *jsontext.Value, enclosing string) *Type {
	named := p.define(t, v, Record, enclosing)
	list := v.Get("fields")
	if list == nil || list.Kind != jsontext.Array {
		what := "has no fields"
		if list != nil {
			what = "has fields that are not an array"
		}
		p.fail(t.member(v, "fields"), `write "fields": [{"name": …, "type": …}]; an empty array is allowed`, "record %s", what)
		return nil
	}
	ok := named != nil
	if !ok { // read on for further faults
		named = &Named{Kind: Record, Namespace: enclosing, spot: t.spot}
	}
	named.IsError = v.Get("type").Text == "error"
	if ok {
		p.open[named.Full] = true
		defer delete(p.open, named.Full)
	}
	fields := t.of("fields", list)
	seen := make(map[string]bool, len(list.Items))
	named.Fields = make([]*Field, 0, len(list.Items))
	for i, item := range list.Items {
		f := &Field{Index: i, spot: fields.of(index(i), item)}
		if !p.declare(1, &f.spot) {
			return nil
		}
		if !p.parseField(f, item, named.Namespace) {
			ok = false
			continue
		}
		if seen[f.Name] {
			p.fail(f.member(item, "name"), "field names are unique within a record", "the field %s is there twice", quote(f.Name))
			ok = false
			continue
		}
		seen[f.Name] = true
		named.Fields = append(named.Fields, f)
	}
	named.Attributes = attributes(v, typeAttributes)
	if !ok {
		return nil
	}
	if len(named.Fields) > 16 {
		named.byName = make(map[string]*Field, len(named.Fields))
		for _, f := range named.Fields {
			named.byName[f.Name] = f
		}
	}
	return t
}

// parseField reads one field; false when it is faulty.
func (p *parser) parseField(f *Field, v *jsontext.Value, namespace string) bool {
	if v.Kind != jsontext.Object {
		p.fail(&f.spot, `write {"name": …, "type": …}`, "a field is a %s, not an object", v.Kind)
		return false
	}
	ok := false
	if name := v.Get("name"); name == nil || name.Kind != jsontext.String {
		what := "has no name"
		if name != nil {
			what = "has a name that is no text"
		}
		p.fail(f.member(v, "name"), "", "field %s", what)
	} else {
		f.Name = name.Text
		at := f.of("name", name)
		ok = p.checkName(&at, "field", f.Name)
	}
	if doc := v.Get("doc"); doc != nil && doc.Kind == jsontext.String {
		f.Doc, f.HasDoc = doc.Text, true
	}
	f.Aliases = p.aliases(&f.spot, v, nil)
	f.Attributes = attributes(v, fieldAttributes)
	if order := v.Get("order"); order != nil {
		ok = p.parseOrder(f, order) && ok
	}
	word := v.Get("type")
	if word == nil {
		p.fail(&f.spot, `write "type": "string", or another type`, "field %s has no type", quote(f.Name))
		return false
	}
	at := f.of("type", word)
	if _, complex := complexHints[word.Text]; complex && word.Kind == jsontext.String {
		// A frequent mistake: the attributes of the type stand on the field.
		f.Type = &Type{spot: at}
		hint := `the field's type stands in an object of its own: write "type": ` + complexHints[word.Text]
		if !p.use(f.Type, word.Text, namespace, hint) {
			return false
		}
	} else if f.Type = p.parseType(word, namespace, at); f.Type == nil {
		return false
	}
	if value := v.Get("default"); value != nil {
		ok = p.parseDefault(f, value) && ok
	}
	return ok
}

func (p *parser) parseOrder(f *Field, v *jsontext.Value) bool {
	if v.Kind == jsontext.String {
		for _, o := range []Order{Ascending, Descending, Ignore} {
			if strings.EqualFold(v.Text, o.String()) {
				f.Order = o
				return true
			}
		}
	}
	at := f.of("order", v)
	p.fail(&at, "", "the order of field %s is none of ascending, descending, ignore", quote(f.Name))
	return false
}

// parseDefault keeps the default. A text for a float or double counts as the
// number that it spells, in every mode: the reference implementation reads it
// while it parses.
func (p *parser) parseDefault(f *Field, v *jsontext.Value) bool {
	f.Default = keep(v)
	p.fields = append(p.fields, f)
	if v.Kind != jsontext.String || f.Type.Kind != Float && f.Type.Kind != Double {
		return true
	}
	n, ok := parseJavaDouble(v.Text)
	if !ok {
		at := f.of("default", v)
		p.fail(&at, "write a number without quotes", "the default %s of field %s is no number", quote(v.Text), quote(f.Name))
		return false
	}
	f.Default.Kind, f.Default.Text = jsontext.Number, javaDouble(n)
	return true
}

func (p *parser) parseEnum(t *Type, v *jsontext.Value, enclosing string) *Type {
	named := p.define(t, v, Enum, enclosing)
	list := v.Get("symbols")
	if list == nil || list.Kind != jsontext.Array {
		what := "has no symbols"
		if list != nil {
			what = "has symbols that are not an array"
		}
		p.fail(t.member(v, "symbols"), `write "symbols": ["NEW", "PAID"]`, "enum %s", what)
		return nil
	}
	ok := named != nil
	if !ok {
		named = &Named{Kind: Enum, spot: t.spot}
	}
	if !p.declare(len(list.Items), &t.spot) {
		return nil
	}
	all := t.of("symbols", list)
	seen := make(map[string]bool, len(list.Items))
	named.Symbols = make([]string, 0, len(list.Items))
	for i, item := range list.Items {
		at := all.of(index(i), item)
		switch {
		case item.Kind != jsontext.String:
			p.fail(&at, "", "a symbol is a %s, not a text", item.Kind)
			ok = false
		case !p.checkName(&at, "symbol", item.Text):
			ok = false
		case seen[item.Text]:
			p.fail(&at, "symbols are unique within an enum", "the symbol %s is there twice", quote(item.Text))
			ok = false
		default:
			seen[item.Text] = true
			named.Symbols = append(named.Symbols, item.Text)
		}
	}
	// A default that is no text counts as none, as in the reference implementation.
	if value := v.Get("default"); value != nil && value.Kind == jsontext.String {
		if !seen[value.Text] {
			at := t.of("default", value)
			p.fail(&at, "name one of the enum's symbols", "the default %s is no symbol of the enum", quote(value.Text))
			ok = false
		}
		named.Default, named.HasDefault = value.Text, true
	}
	named.Attributes = attributes(v, enumAttributes)
	if !ok {
		return nil
	}
	return t
}

func (p *parser) parseFixed(t *Type, v *jsontext.Value, enclosing string) *Type {
	named := p.define(t, v, Fixed, enclosing)
	size := v.Get("size")
	if size == nil {
		p.fail(&t.spot, `write "size": 16, in bytes`, "fixed has no size")
		return nil
	}
	n, whole := smallInt(size)
	if !whole || n < 0 {
		at := t.of("size", size)
		p.fail(&at, "write the number of bytes as an integer from 0 to 2147483647", "the size %s of the fixed is none", quoteValue(size))
		return nil
	}
	if named == nil {
		return nil
	}
	named.Size = n
	named.Attributes = attributes(v, typeAttributes)
	named.Logical = logicalOf(Fixed, n, named.Attributes)
	t.Logical = named.Logical
	return t
}

// resolve gives the names that were used before their definition their types.
func (p *parser) resolve() {
	for _, w := range p.waiting {
		if named := p.lookup(w.name, w.namespace); named != nil {
			w.use.be(named)
			continue
		}
		if p.lenient {
			continue
		}
		if p.broken[fullName(splitName(w.name, w.namespace))] {
			continue // its definition is a fault already
		}
		detail := w.hint
		if detail == "" {
			detail = hintFor(w.name)
		}
		if detail == "" && len(p.faults) < mostGuesses {
			detail = p.near(w.name)
		}
		if detail == "" {
			detail = "define it in the text, or add a reference to the schema that defines it"
		}
		p.fail(&w.use.spot, detail, "the type %s is not defined", quote(w.name))
	}
}

// mostGuesses bounds the search for names that were probably meant.
const mostGuesses = 50

// near tells of a definition that was probably meant by an unknown name.
func (p *parser) near(name string) string {
	_, simple := splitName(name, "")
	for _, n := range p.names.list {
		if n.Name == simple {
			return "did you mean " + quote(n.Full) + "? a type of another namespace is used by its full name"
		}
	}
	for _, n := range p.names.list {
		for _, alias := range n.Aliases {
			if _, s := splitName(alias, ""); s == simple {
				return quote(name) + " is an alias of " + quote(n.Full) + ": an alias is no name to refer to"
			}
		}
	}
	for _, n := range p.names.list {
		if strings.EqualFold(n.Name, simple) {
			return "did you mean " + quote(n.Full) + "? names are case-sensitive"
		}
	}
	return ""
}

// checkUnions refuses two branches that data could not tell apart: one unnamed
// kind twice, or one named type twice.
func (p *parser) checkUnions() {
	for _, u := range p.unions {
		seen := make(map[string]bool, len(u.Branches))
		for i, b := range u.Branches {
			key := b.Kind.String()
			if b.Named != nil {
				key = b.Named.Full
			}
			if !seen[key] {
				seen[key] = true
				continue
			}
			detail := "a union holds each type once; a logical type does not make it another one"
			if b.Named != nil {
				detail = "a union holds each named type once"
			}
			p.fail(&u.Branches[i].spot, detail, "the branch %s is there twice", quote(key))
		}
	}
}

// checkRepeats refuses second definitions that differ from the first, and drops
// the others.
func (p *parser) checkRepeats() {
	for _, r := range p.repeats {
		if where := differsIn(r.first, r.second); where != "" {
			there := "in this text"
			if r.first.doc != p.doc {
				there = "by a reference"
			}
			p.fail(&r.second.spot, "write its name where it is used again, or give one of the two another name",
				"%s is already defined %s, with other %s", quote(r.first.Full), there, where)
		}
	}
	for _, r := range p.repeats {
		r.use.be(r.first)
	}
}

// differsIn tells in what two definitions of one name differ, as the reference
// implementation compares them: documentation and aliases count nothing. Types
// inside are compared by name, since each name has one definition.
func differsIn(a, b *Named) string {
	switch {
	case a.Kind != b.Kind:
		return "type"
	case a.Size != b.Size:
		return "size"
	case len(a.Symbols) != len(b.Symbols):
		return "symbols"
	case len(a.Fields) != len(b.Fields):
		return "fields"
	case !sameAttributes(a.Attributes, b.Attributes):
		return "attributes"
	}
	for i := range a.Symbols {
		if a.Symbols[i] != b.Symbols[i] {
			return "symbols"
		}
	}
	for i, f := range a.Fields {
		g := b.Fields[i]
		if f.Name != g.Name || !sameType(f.Type, g.Type) || !sameValue(f.Default, g.Default) || f.Order != g.Order || !sameAttributes(f.Attributes, g.Attributes) {
			return "fields (see " + quote(f.Name) + ")"
		}
	}
	return ""
}

func sameType(a, b *Type) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Record, Enum, Fixed:
		return a.Named.Full == b.Named.Full
	case Union:
		if len(a.Branches) != len(b.Branches) {
			return false
		}
		for i := range a.Branches {
			if !sameType(a.Branches[i], b.Branches[i]) {
				return false
			}
		}
		return true
	case Array, Map:
		if !sameType(a.Items, b.Items) {
			return false
		}
	default: // the other kinds need nothing here
	}
	return sameAttributes(a.Attributes, b.Attributes)
}

func sameAttributes(a, b []Attribute) bool {
	if len(a) != len(b) {
		return false
	}
	other := make(map[string]*jsontext.Value, len(b))
	for _, x := range b {
		other[x.Name] = x.Value
	}
	for _, x := range a {
		v, ok := other[x.Name]
		if !ok || !sameValue(x.Value, v) {
			return false
		}
	}
	return true
}

// sameValue compares two JSON values; the order of members is nothing.
func sameValue(a, b *jsontext.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Bool != b.Bool || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	switch a.Kind {
	case jsontext.Number:
		return string(appendNumber(nil, a.Text)) == string(appendNumber(nil, b.Text))
	case jsontext.Array:
		for i := range a.Items {
			if !sameValue(a.Items[i], b.Items[i]) {
				return false
			}
		}
	case jsontext.Object:
		get := membersOf(b)
		for _, m := range a.Members {
			if !sameValue(m.Value, get(m.Name)) {
				return false
			}
		}
	default: // the other kinds need nothing here
	}
	return a.Text == b.Text
}
