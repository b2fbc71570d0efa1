package derive

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// avroWriter gives the records of a proposal their names: that of the place, and
// a number where it is taken.
type avroWriter struct {
	o     Options
	names map[string]bool   // taken
	of    map[string]string // by the way to the record
	known map[string][]branch
	maps  map[string]*Shape // the values of maps
}

func newAvroWriter(o Options) *avroWriter {
	return &avroWriter{o: o, names: map[string]bool{}, of: map[string]string{}, known: map[string][]branch{}, maps: map[string]*Shape{}}
}

func (w *avroWriter) root() string { return w.o.name() }

// name is the name of the record at a way, the same whenever it is asked for in
// the same order.
func (w *avroWriter) name(way string) string {
	if got := w.of[way]; got != "" {
		return got
	}
	base := w.o.name()
	if way != base {
		base = ""
		for _, step := range strings.Split(way[len(w.o.name())+1:], "\x00") {
			base += pascal(step)
		}
	}
	if base == "" {
		base = "Part"
	}
	got := base
	for n := 2; w.names[got]; n++ {
		got = fmt.Sprintf("%s%d", base, n)
	}
	w.names[got], w.of[way] = true, got
	return got
}

func pascal(s string) string {
	var b strings.Builder
	up := true
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z' && up:
			b.WriteRune(c - 'a' + 'A')
			up = false
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' && b.Len() > 0:
			b.WriteRune(c)
			up = false
		default:
			up = true
		}
	}
	return b.String()
}

func (s *Shape) avro(o Options) (string, error) {
	w := newAvroWriter(o)
	v, err := w.value(s, w.root())
	if err != nil {
		return "", err
	}
	if v.Kind == jsontext.Object && v.Get("type").Text == "record" {
		var out object
		for _, m := range v.Members {
			out.set(m.Name, m.Value)
			if m.Name == "name" && o.Namespace != "" {
				out.set("namespace", text(o.Namespace))
			}
			if m.Name == "name" {
				out.set("doc", text(fmt.Sprintf("derived from %s; what begins with guess: needs a person's eye", count(s.seen, "message", "messages"))))
			}
		}
		v = &out.v
	}
	return laidOut(v), nil
}

// branch is one type of a place, and how a value of it is wrapped.
type branch struct {
	name string // around a value in a wider union
	v    *jsontext.Value
}

// isMap tells whether objects are taken as maps: some names are no fields.
func (s *Shape) isMap() bool { return s.keyed || s.objects > 0 && len(s.members) == 0 }

// values is the shape of all the values of a map.
func (s *Shape) values() *Shape {
	all := New()
	for _, m := range s.members {
		all.merge(m.shape)
	}
	return all
}

func (s *Shape) merge(o *Shape) {
	s.formats = nil
	s.seen += o.seen
	s.nulls, s.bools, s.whole, s.broken, s.texts = s.nulls+o.nulls, s.bools+o.bools, s.whole+o.whole, s.broken+o.broken, s.texts+o.texts
	s.arrays, s.objects = s.arrays+o.arrays, s.objects+o.objects
	s.beyondLong, s.beyondUnsigned, s.beyondDouble = s.beyondLong || o.beyondLong, s.beyondUnsigned || o.beyondUnsigned, s.beyondDouble || o.beyondDouble
	s.negative, s.keyed = s.negative || o.negative, s.keyed || o.keyed
	if o.items != nil {
		if s.items == nil {
			s.items = New()
		}
		s.items.merge(o.items)
	}
	for _, m := range o.members {
		one := s.index[m.name]
		if one == nil {
			one = &member{m.name, New()}
			if s.index == nil {
				s.index = map[string]*member{}
			}
			s.index[m.name] = one
			s.members = append(s.members, one)
		}
		one.shape.merge(m.shape)
	}
}

func (w *avroWriter) value(s *Shape, way string) (*jsontext.Value, error) {
	list, err := w.branches(s, way)
	if err != nil {
		return nil, err
	}
	switch {
	case len(list) == 0: // nothing was ever seen
		return text("string"), nil
	case len(list) == 1:
		return list[0].v, nil
	}
	union := &jsontext.Value{Kind: jsontext.Array}
	for _, b := range list {
		union.Items = append(union.Items, b.v)
	}
	return union, nil
}

// branches are the types of a place, null first.
func (w *avroWriter) branches(s *Shape, way string) (list []branch, err error) {
	if list, ok := w.known[way]; ok {
		return list, nil
	}
	defer func() {
		if err == nil {
			w.known[way] = list
		}
	}()
	plain := func(n int, name string) {
		if n > 0 {
			list = append(list, branch{name, text(name)})
		}
	}
	plain(s.nulls, "null")
	plain(s.bools, "boolean")
	if s.whole > 0 && s.broken == 0 {
		if s.beyondLong {
			return nil, fmt.Errorf("derive a schema: a whole number of %s is beyond a long: Avro has no type for it", spelled(way))
		}
		plain(s.whole, "long")
	} else if s.broken > 0 {
		if s.beyondDouble {
			return nil, fmt.Errorf("derive a schema: among the broken numbers of %s is a whole one that no double holds", spelled(way))
		}
		plain(s.broken, "double")
	}
	plain(s.texts, "string")
	if s.arrays > 0 {
		items, err := w.value(s.items, way+"\x00item")
		if err != nil {
			return nil, err
		}
		var o object
		o.set("type", text("array")).set("items", items)
		list = append(list, branch{"array", &o.v})
	}
	switch {
	case s.objects > 0 && s.isMap():
		w.maps[way] = s.values()
		values, err := w.value(w.maps[way], way+"\x00value")
		if err != nil {
			return nil, err
		}
		var o object
		o.set("type", text("map")).set("values", values)
		list = append(list, branch{"map", &o.v})
	case s.objects > 0:
		b, err := w.record(s, way)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

func (w *avroWriter) record(s *Shape, way string) (branch, error) {
	name := w.name(way)
	fields := &jsontext.Value{Kind: jsontext.Array}
	for _, m := range s.members {
		shape := s.optional(m)
		v, err := w.value(shape, way+"\x00"+m.name)
		if err != nil {
			return branch{}, err
		}
		var o object
		o.set("name", text(m.name)).set("doc", text(m.guesses(s))).set("type", v)
		if shape.nulls > 0 {
			o.set("default", &jsontext.Value{Kind: jsontext.Null})
		}
		fields.Items = append(fields.Items, &o.v)
	}
	var o object
	o.set("type", text("record")).set("name", text(name)).set("fields", fields)
	full := name
	if w.o.Namespace != "" {
		full = w.o.Namespace + "." + name
	}
	return branch{full, &o.v}, nil
}

// optional is the shape of a member, null where it may be absent.
func (s *Shape) optional(m *member) *Shape {
	if m.shape.seen == s.objects {
		return m.shape
	}
	one := *m.shape
	one.nulls++
	return &one
}

func spelled(way string) string {
	return strings.ReplaceAll(way, "\x00", ".")
}

// sample is a value with what Avro's documents ask for: nulls for what is absent,
// the name of the branch around a value of a wider union.
func (w *avroWriter) sample(s *Shape, way string, v *jsontext.Value) *jsontext.Value {
	list, err := w.branches(s, way)
	if err != nil {
		return v
	}
	out, name := v, ""
	switch v.Kind {
	case jsontext.Null:
		return v
	case jsontext.Bool:
		name = "boolean"
	case jsontext.Number:
		name = "long"
		if s.broken > 0 {
			name = "double"
		}
	case jsontext.String:
		name = "string"
	case jsontext.Array:
		name = "array"
		out = &jsontext.Value{Kind: jsontext.Array}
		for _, item := range v.Items {
			out.Items = append(out.Items, w.sample(s.items, way+"\x00item", item))
		}
	case jsontext.Object:
		var o object
		o.v.Kind = jsontext.Object
		if s.isMap() {
			name = "map"
			values := w.maps[way]
			for _, m := range v.Members {
				o.set(m.Name, w.sample(values, way+"\x00value", m.Value))
			}
		} else {
			name = list[len(list)-1].name
			for _, m := range s.members {
				one := v.Get(m.name)
				if one == nil {
					one = &jsontext.Value{Kind: jsontext.Null}
				}
				o.set(m.name, w.sample(s.optional(m), way+"\x00"+m.name, one))
			}
		}
		out = &o.v
	}
	beside := len(list)
	if s.nulls > 0 {
		beside--
	}
	if beside < 2 {
		return out
	}
	var wrapped object
	wrapped.set(name, out)
	return &wrapped.v
}
