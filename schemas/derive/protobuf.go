package derive

import (
	"fmt"
	"strconv"
	"strings"
)

const anyValue = "google.protobuf.Value"

// protoWriter writes messages, the nested ones inside.
type protoWriter struct {
	b       strings.Builder
	imports bool // of google/protobuf/struct.proto
}

func (s *Shape) protobuf(o Options) (string, error) {
	if s.objects != s.seen {
		return "", fmt.Errorf("derive a schema: a Protobuf message is a JSON object, and %d of %s are something else", s.seen-s.objects, count(s.seen, "message", "messages"))
	}
	var w protoWriter
	w.b.WriteString("\n// Derived from " + count(s.seen, "message", "messages") + "; what begins with guess: needs a person's eye.\n")
	w.message(s, o.name(), 0)
	head := "syntax = \"proto3\";\n"
	if o.Namespace != "" {
		head += "\npackage " + o.Namespace + ";\n"
	}
	if w.imports {
		head += "\nimport \"google/protobuf/struct.proto\";\n"
	}
	return head + w.b.String(), nil
}

func (w *protoWriter) message(s *Shape, name string, depth int) {
	indent := strings.Repeat("  ", depth)
	if len(s.members) == 0 {
		fmt.Fprintf(&w.b, "%smessage %s {}\n", indent, name)
		return
	}
	fmt.Fprintf(&w.b, "%smessage %s {\n", indent, name)
	taken := map[string]bool{}
	// Nested messages share a scope with the fields, and must not hide a type.
	nested := map[string]bool{name: true}
	json := map[string]bool{}
	for _, m := range s.members {
		json[m.name] = true
	}
	for i, m := range s.members {
		field := fieldOf(m.name, i+1, taken, json)
		taken[field] = true
		typ, inner := w.typeOf(m.shape, m.name, nested)
		if inner != nil {
			w.message(inner.shape, inner.name, depth+1)
			w.b.WriteByte('\n')
		}
		option := ""
		if lowerCamel(field) != m.name {
			option = " [json_name = " + strconv.Quote(m.name) + "]"
		}
		fmt.Fprintf(&w.b, "%s  // %s\n%s  %s %s = %d%s;\n", indent, m.guesses(s), indent, typ, field, i+1, option)
	}
	fmt.Fprintf(&w.b, "%s}\n", indent)
}

// fieldOf is the name of a field: the member's in snake_case where that can be
// turned back or stands free, else one made from its number.
func fieldOf(name string, n int, taken, json map[string]bool) string {
	var b strings.Builder
	for i, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			if i > 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c - 'A' + 'a')
		default:
			b.WriteRune(c)
		}
	}
	got := strings.ReplaceAll(b.String(), "__", "_")
	if !fieldName.MatchString(got) || taken[got] || got != name && json[got] {
		got = fmt.Sprintf("field_%d", n)
		for taken[got] || json[got] {
			got += "_"
		}
	}
	return got
}

// lowerCamel is the name that a field has in JSON when nothing else is said.
func lowerCamel(name string) string {
	var b strings.Builder
	up := false
	for _, c := range name {
		switch {
		case c == '_':
			up = true
		case up && c >= 'a' && c <= 'z':
			b.WriteRune(c - 'a' + 'A')
			up = false
		default:
			b.WriteRune(c)
			up = false
		}
	}
	return b.String()
}

// typeOf is the label and type of a field, and the message that it needs.
func (w *protoWriter) typeOf(s *Shape, name string, nested map[string]bool) (typ string, inner *member) {
	message := func(s *Shape) *member {
		base := pascal(name)
		if base == "" || base[0] >= '0' && base[0] <= '9' {
			base = "Part"
		}
		got := base
		for n := 2; nested[got]; n++ {
			got = fmt.Sprintf("%s%d", base, n)
		}
		nested[got] = true
		return &member{got, s}
	}
	anything := func(label string) string {
		w.imports = true
		return label + anyValue
	}
	if s.kinds() != 1 {
		return anything(""), nil
	}
	switch {
	case s.arrays > 0:
		i := s.items
		switch {
		case i.seen == 0:
			return "repeated string", nil
		case i.nulls > 0 || i.kinds() != 1 || i.arrays > 0 || i.objects > 0 && i.isMap():
			return anything("repeated "), nil
		case i.objects > 0:
			inner = message(i)
			return "repeated " + inner.name, inner
		}
		return "repeated " + i.scalar(), nil
	case s.objects > 0 && s.isMap():
		values := s.values()
		switch {
		case values.seen == 0:
			return "map<string, string>", nil
		case values.nulls > 0 || values.kinds() != 1 || values.arrays > 0 || values.objects > 0 && values.isMap():
			w.imports = true
			return "map<string, " + anyValue + ">", nil
		case values.objects > 0:
			inner = message(values)
			return "map<string, " + inner.name + ">", inner
		}
		return "map<string, " + values.scalar() + ">", nil
	case s.objects > 0:
		inner = message(s)
		return inner.name, inner
	}
	return "optional " + s.scalar(), nil
}

// scalar is the type of a place with values of one plain kind.
func (s *Shape) scalar() string {
	switch {
	case s.bools > 0:
		return "bool"
	case s.texts > 0:
		return "string"
	case s.broken > 0 || s.beyondUnsigned || s.beyondLong && s.negative:
		return "double"
	case s.beyondLong:
		return "uint64"
	}
	return "int64"
}
