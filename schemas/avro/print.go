package avro

import (
	"sort"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// printer writes a type as compact JSON with the attributes in the order of the
// reference registry. Its zero value prints everything, with the definitions of
// referenced types written out where they are first used.
//
// Source: avro-compat 15, REST contract 5.1.1.
type printer struct {
	supplied   map[string]bool // full names that are written, not defined
	normalized bool            // sort what has no order, drop what says nothing
	compared   bool            // sort what structural equality does not look at
	room       int             // bytes that the text will have, about
}

func (p printer) print(root *Type) string {
	w := writer{printer: p, known: make(map[string]bool, len(p.supplied)), out: make([]byte, 0, p.room)}
	for name := range p.supplied {
		w.known[name] = true
	}
	w.writeType(root, "")
	return string(w.out)
}

type writer struct {
	printer
	known map[string]bool
	out   []byte
}

func (w *writer) text(s string) { w.out = append(w.out, s...) }

// member writes a comma, a name and a colon.
func (w *writer) member(name string) {
	w.out = append(w.out, ',')
	w.out = jsontext.AppendString(w.out, name)
	w.out = append(w.out, ':')
}

func (w *writer) stringMember(name, value string) {
	w.member(name)
	w.out = jsontext.AppendString(w.out, value)
}

func (w *writer) writeType(t *Type, enclosing string) {
	switch t.Kind {
	case Union:
		w.text("[")
		for i, b := range t.Branches {
			if i > 0 {
				w.text(",")
			}
			w.writeType(b, enclosing)
		}
		w.text("]")
	case Array, Map:
		w.text(`{"type":"`)
		w.text(t.Kind.String())
		if t.Kind == Array {
			w.text(`","items":`)
		} else {
			w.text(`","values":`)
		}
		w.writeType(t.Items, enclosing)
		w.writeAttributes(t.Attributes, t.Logical)
		w.text("}")
	case Record, Enum, Fixed:
		w.writeNamed(t.Named, enclosing)
	default:
		if len(t.Attributes) == 0 {
			w.text(`"`)
			w.text(t.Kind.String())
			w.text(`"`)
			return
		}
		w.text(`{"type":"`)
		w.text(t.Kind.String())
		w.text(`"`)
		w.writeAttributes(t.Attributes, t.Logical)
		w.text("}")
	}
}

func (w *writer) writeNamed(n *Named, enclosing string) {
	if w.known[n.Full] {
		w.out = jsontext.AppendString(w.out, relativeName(n.Full, n.Namespace, n.Name, enclosing))
		return
	}
	w.known[n.Full] = true
	word := n.Kind.String()
	if n.IsError && !w.normalized {
		word = "error"
	}
	w.text(`{"type":"`)
	w.text(word)
	w.text(`"`)
	w.stringMember("name", n.Name)
	if n.Namespace != enclosing {
		w.stringMember("namespace", n.Namespace)
	}
	if n.HasDoc && (!w.normalized || n.Doc != "") {
		w.stringMember("doc", n.Doc)
	}
	switch n.Kind {
	case Record:
		w.member("fields")
		w.text("[")
		for i, f := range n.Fields {
			if i > 0 {
				w.text(",")
			}
			w.writeField(f, n.Namespace)
		}
		w.text("]")
	case Enum:
		w.member("symbols")
		w.writeStrings(n.Symbols)
		if n.HasDefault {
			w.stringMember("default", n.Default)
		}
	case Fixed:
		w.member("size")
		w.text(index(n.Size))
	default: // the other kinds need nothing here
	}
	w.writeAttributes(n.Attributes, n.Logical)
	if len(n.Aliases) > 0 {
		aliases := n.Aliases
		if w.normalized || w.compared {
			aliases = append([]string(nil), aliases...)
			sort.Strings(aliases)
		}
		relative := make([]string, len(aliases))
		for i, full := range aliases {
			namespace, name := splitName(full, "")
			relative[i] = relativeName(full, namespace, name, n.Namespace)
		}
		w.member("aliases")
		w.writeStrings(relative)
	}
	w.text("}")
}

// relativeName is how a name is written inside a namespace: bare where that
// means the same, unless it would be read as one of Avro's own words.
func relativeName(full, namespace, name, enclosing string) string {
	if namespace == enclosing && (namespace == "" || !isTypeWord(name)) {
		return name
	}
	return full
}

func (w *writer) writeField(f *Field, namespace string) {
	w.text(`{"name":`)
	w.out = jsontext.AppendString(w.out, f.Name)
	w.member("type")
	w.writeType(f.Type, namespace)
	if f.HasDoc {
		w.stringMember("doc", f.Doc)
	}
	if f.Default != nil {
		w.member("default")
		if w.normalized {
			w.out = appendDefault(w.out, f.Type, f.Default)
		} else {
			w.out = appendJSON(w.out, f.Default, w.compared)
		}
	}
	if f.Order != Ascending {
		w.stringMember("order", f.Order.String())
	}
	if len(f.Aliases) > 0 {
		aliases := f.Aliases
		if w.normalized || w.compared {
			aliases = append([]string(nil), aliases...)
			sort.Strings(aliases)
		}
		w.member("aliases")
		w.writeStrings(aliases)
	}
	w.writeAttributes(f.Attributes, Logical{})
	w.text("}")
}

func (w *writer) writeStrings(list []string) {
	w.text("[")
	for i, s := range list {
		if i > 0 {
			w.text(",")
		}
		w.out = jsontext.AppendString(w.out, s)
	}
	w.text("]")
}

func (w *writer) writeAttributes(list []Attribute, logical Logical) {
	if (w.normalized || w.compared) && len(list) > 1 {
		list = append([]Attribute(nil), list...)
		sort.SliceStable(list, func(i, j int) bool {
			if w.normalized {
				if a, b := rank(list[i], logical), rank(list[j], logical); a != b {
					return a < b
				}
			}
			return list[i].Name < list[j].Name
		})
	}
	for _, a := range list {
		w.member(a.Name)
		w.out = appendJSON(w.out, a.Value, w.normalized || w.compared)
	}
}

// rank puts a logical type in force and its parameters first. A scale of zero
// says nothing and stays among the others.
func rank(a Attribute, logical Logical) int {
	const others = 3
	switch {
	case logical.IsZero():
	case a.Name == "logicalType":
		return 0
	case logical.Name == "decimal" && a.Name == "precision":
		return 1
	case logical.Name == "decimal" && a.Name == "scale" && logical.Scale != 0:
		return 2
	}
	return others
}

// appendJSON is jsontext's Append with numbers as the reference implementation
// prints them.
func appendJSON(dst []byte, v *jsontext.Value, sorted bool) []byte {
	switch v.Kind {
	case jsontext.Number:
		return appendNumber(dst, v.Text)
	case jsontext.Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, item, sorted)
		}
		return append(dst, ']')
	case jsontext.Object:
		members := v.Members
		if sorted {
			members = append([]jsontext.Member(nil), members...)
			sort.SliceStable(members, func(i, j int) bool { return members[i].Name < members[j].Name })
		}
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(dst, m.Name)
			dst = append(dst, ':')
			dst = appendJSON(dst, m.Value, sorted)
		}
		return append(dst, '}')
	default: // the other kinds need nothing here
	}
	return v.Append(dst, sorted)
}

// openBrackets is how deep the brackets of a JSON text nest.
func openBrackets(text string) int {
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}
