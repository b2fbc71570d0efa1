package avro

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Attributes that Avro defines on types, on enums and on fields: all others are
// custom. A defined one in the wrong place, such as doc on an array, is dropped,
// as the reference implementation does.
var (
	typeAttributes  = words("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases")
	enumAttributes  = words("doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases", "default")
	fieldAttributes = words("default", "doc", "name", "order", "type", "aliases")
)

func words(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

func (s *spot) of(step string, v *jsontext.Value) spot { return s.at(step, v.Start, v.End) }

// member is the spot of a member of an object, or of the object itself when it
// has none of that name.
func (s *spot) member(object *jsontext.Value, name string) *spot {
	if v := object.Get(name); v != nil {
		at := s.of(name, v)
		return &at
	}
	return s
}

// parseType reads a type at a place; nil when it is faulty or over a limit.
func (p *parser) parseType(v *jsontext.Value, enclosing string, at spot) *Type {
	t := &Type{spot: at}
	switch v.Kind {
	case jsontext.String:
		if p.use(t, v.Text, enclosing, "") {
			return t
		}
		return nil
	case jsontext.Array:
		return p.parseUnion(t, v, enclosing)
	case jsontext.Object:
		return p.parseObject(t, v, enclosing)
	default: // the other kinds need nothing here
	}
	p.fail(&t.spot, "a type is a name in quotes, an object or an array of types", "a %s is no type", v.Kind)
	return nil
}

// use makes t a use of the type called name. It is final if the name is known
// by now; otherwise it waits for the end of the text.
func (p *parser) use(t *Type, name, enclosing, hint string) bool {
	if kind, ok := primitives[name]; ok {
		t.Kind = kind
		return true
	}
	if p.mode == schemas.New && len(name) > p.limits.Name {
		p.overName(&t.spot, name)
		return false
	}
	if named := p.lookup(name, enclosing); named != nil {
		t.be(named)
		return true
	}
	p.waiting = append(p.waiting, waiting{t, name, enclosing, hint})
	return true
}

func (t *Type) be(named *Named) {
	t.Kind, t.Named, t.Logical = named.Kind, named, named.Logical
}

// lookup finds a name among those known by now: a simple name in the enclosing
// namespace first, then in the null namespace.
func (p *parser) lookup(name, enclosing string) *Named {
	namespace, simple := splitName(name, enclosing)
	if named := p.names.defined[fullName(namespace, simple)]; named != nil {
		return named
	}
	if namespace != "" && !strings.Contains(name, ".") {
		return p.names.defined[simple]
	}
	return nil
}

func (p *parser) parseUnion(t *Type, v *jsontext.Value, enclosing string) *Type {
	t.Kind = Union
	if !p.declare(1, &t.spot) {
		return nil
	}
	ok := true
	for i, item := range v.Items {
		at := t.of(index(i), item)
		if item.Kind == jsontext.Array {
			p.fail(&at, "list the inner union's branches in the outer one", "a union stands directly inside a union")
			ok = false
			continue
		}
		branch := p.parseType(item, enclosing, at)
		if branch == nil {
			ok = false
			continue
		}
		t.Branches = append(t.Branches, branch)
	}
	p.unions = append(p.unions, t)
	if !ok {
		return nil
	}
	return t
}

func (p *parser) parseObject(t *Type, v *jsontext.Value, enclosing string) *Type {
	word := v.Get("type")
	if word == nil {
		p.fail(&t.spot, `say what it is: {"type": "record", …}`, "an object without type is no schema")
		return nil
	}
	if word.Kind != jsontext.String {
		at := t.of("type", word)
		switch word.Kind {
		case jsontext.Object:
			p.fail(&at, "write the inner type in the outer one's place; only a field's type holds a whole type", "the type of a type is an object")
		case jsontext.Array:
			p.fail(&at, "write the array in the object's place: a union has no attributes", "the type of a type is a union")
		default:
			p.fail(&at, "", "the type of a type is a %s, not a name", word.Kind)
		}
		return nil
	}
	if !p.declare(1, &t.spot) {
		return nil
	}
	if kind, ok := primitives[word.Text]; ok {
		t.Kind = kind
		t.Attributes = attributes(v, typeAttributes)
		t.Logical = logicalOf(kind, 0, t.Attributes)
		return t
	}
	switch word.Text {
	case "record", "error":
		return p.parseRecord(t, v, enclosing)
	case "enum":
		return p.parseEnum(t, v, enclosing)
	case "fixed":
		return p.parseFixed(t, v, enclosing)
	case "array":
		return p.parseContainer(t, v, enclosing, Array, "items")
	case "map":
		return p.parseContainer(t, v, enclosing, Map, "values")
	}
	at := t.of("type", word)
	detail := hintFor(word.Text)
	if detail == "" {
		detail = "a defined type is used by its bare name in quotes, without an object around it"
	}
	p.fail(&at, detail, "the type %s is none of Avro's", quote(word.Text))
	return nil
}

func (p *parser) parseContainer(t *Type, v *jsontext.Value, enclosing string, kind Kind, member string) *Type {
	t.Kind = kind
	items := v.Get(member)
	if items == nil {
		p.fail(&t.spot, `write {"type": "`+kind.String()+`", "`+member+`": …}`, "%s has no %s", kind, member)
		return nil
	}
	t.Items = p.parseType(items, enclosing, t.of(member, items))
	t.Attributes = attributes(v, typeAttributes)
	if t.Items == nil {
		return nil
	}
	return t
}

// define reads the names of a named type and makes it known. nil when its name
// is faulty.
func (p *parser) define(t *Type, v *jsontext.Value, kind Kind, enclosing string) *Named {
	name := v.Get("name")
	if name == nil || name.Kind != jsontext.String {
		what := "has no name"
		if name != nil {
			what = "has a name that is no text"
		}
		p.fail(t.member(v, "name"), `name it: "name": "Order"`, "%s %s", kind, what)
		return nil
	}
	at := t.of("name", name)
	where := &at // of the namespace
	if ns := v.Get("namespace"); ns != nil && ns.Kind == jsontext.String {
		enclosing = ns.Text
		if !strings.Contains(name.Text, ".") {
			where = t.member(v, "namespace")
		}
	}
	namespace, simple := splitName(name.Text, enclosing)
	named := &Named{Kind: kind, Name: simple, Namespace: namespace, Full: fullName(namespace, simple), spot: t.spot}
	if !p.checkName(&at, kind.String(), simple) || !p.checkNamespace(where, kind.String(), namespace) {
		p.broken[named.Full] = true
		return nil
	}
	if _, ok := primitives[named.Full]; ok {
		p.fail(&at, "choose another name or give it a namespace", "%s is called %s, which is a type of Avro's own", kind, quote(simple))
		return nil
	}
	if doc := v.Get("doc"); doc != nil && doc.Kind == jsontext.String {
		named.Doc, named.HasDoc = doc.Text, true
	}
	named.Aliases = p.typeAliases(t, v, named)

	first := p.names.defined[named.Full]
	switch {
	case first == nil:
		named.Number = len(p.names.list)
		p.names.list = append(p.names.list, named)
		p.names.defined[named.Full] = named
		p.own = append(p.own, named)
	case p.open[named.Full]:
		p.fail(&at, "give the inner type another name", "%s is defined inside itself", quote(named.Full))
		return nil
	default:
		p.repeats = append(p.repeats, repeat{t, first, named})
		if first.doc != p.doc && !p.defines(first) {
			p.own = append(p.own, first)
		}
	}
	t.be(named)
	return named
}

func (p *parser) defines(named *Named) bool {
	for _, n := range p.own {
		if n == named {
			return true
		}
	}
	return false
}

// checkName applies the rule of the mode to a simple name.
func (p *parser) checkName(at *spot, what, simple string) bool {
	if p.mode == schemas.Stored {
		if !wideName(simple) {
			p.fail(at, "use letters, digits and _, not starting with a digit", "the name %s of the %s is malformed", quote(simple), what)
			return false
		}
		return true
	}
	if len(simple) > p.limits.Name {
		p.overName(at, simple)
		return false
	}
	if !plainName(simple) {
		p.fail(at, nameRule, "the name %s of the %s is malformed: %s", quote(simple), what, nameFault(simple))
		return false
	}
	return true
}

// checkNamespace applies the rule of the mode to a namespace: stored ones may
// be any text.
func (p *parser) checkNamespace(at *spot, what, namespace string) bool {
	if p.mode == schemas.Stored {
		return true
	}
	if len(namespace) > p.limits.Name {
		p.overName(at, namespace)
		return false
	}
	if fault := namespaceFault(namespace); fault != "" {
		p.fail(at, nameRule+", with a dot between two parts", "the namespace %s of the %s is malformed: %s", quote(namespace), what, fault)
		return false
	}
	return true
}

func (p *parser) overName(at *spot, name string) {
	if p.limit == nil {
		p.limit = &schemas.LimitError{Limit: schemas.LimitName, Most: p.limits.Name, Found: len(name), Position: p.doc.position(at.start)}
	}
}

// aliases reads the aliases of a type or field as written, distinct.
func (p *parser) aliases(of *spot, v *jsontext.Value, check func(at *spot, alias string)) []string {
	list := v.Get("aliases")
	if list == nil {
		return nil
	}
	at := of.of("aliases", list)
	if list.Kind != jsontext.Array {
		p.fail(&at, `write "aliases": ["Old"]`, "aliases is not an array")
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for i, item := range list.Items {
		one := at.of(index(i), item)
		if item.Kind != jsontext.String {
			p.fail(&one, "", "an alias is a %s, not a text", item.Kind)
			continue
		}
		if p.mode == schemas.New && len(item.Text) > p.limits.Name {
			p.overName(&one, item.Text)
			return nil
		}
		if check != nil {
			check(&one, item.Text)
		}
		if !seen[item.Text] {
			seen[item.Text] = true
			out = append(out, item.Text)
		}
	}
	return out
}

// typeAliases completes the aliases of a type with its own namespace.
func (p *parser) typeAliases(t *Type, v *jsontext.Value, named *Named) []string {
	list := p.aliases(&t.spot, v, func(at *spot, alias string) {
		if p.mode == schemas.New {
			namespace, simple := splitName(alias, named.Namespace)
			_ = p.checkName(at, "alias", simple) && p.checkNamespace(at, "alias", namespace)
		}
	})
	var out []string
	seen := map[string]bool{}
	for _, alias := range list {
		namespace, simple := splitName(alias, named.Namespace)
		if full := fullName(namespace, simple); !seen[full] {
			seen[full] = true
			out = append(out, full)
		}
	}
	return out
}

// attributes are the members that Avro does not define, in the order sent.
func attributes(v *jsontext.Value, defined map[string]bool) []Attribute {
	n := 0
	for _, m := range v.Members {
		if !defined[m.Name] {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]Attribute, 0, n)
	for _, m := range v.Members {
		if !defined[m.Name] {
			out = append(out, Attribute{m.Name, keep(m.Value)})
		}
	}
	return out
}

// keep copies a value that the schema holds on to, so that it does not hold the
// whole document.
func keep(v *jsontext.Value) *jsontext.Value {
	out := *v
	if len(v.Items) > 0 {
		out.Items = make([]*jsontext.Value, len(v.Items))
		for i, item := range v.Items {
			out.Items[i] = keep(item)
		}
	}
	if len(v.Members) > 0 {
		out.Members = make([]jsontext.Member, len(v.Members))
		for i, m := range v.Members {
			m.Value = keep(m.Value)
			out.Members[i] = m
		}
	}
	return &out
}
