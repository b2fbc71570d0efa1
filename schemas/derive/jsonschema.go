package derive

import (
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// object builds JSON objects in order.
type object struct{ v jsontext.Value }

func (o *object) set(name string, v *jsontext.Value) *object {
	o.v.Kind = jsontext.Object
	o.v.Members = append(o.v.Members, jsontext.Member{Name: name, Value: v})
	return o
}

func text(s string) *jsontext.Value { return &jsontext.Value{Kind: jsontext.String, Text: s} }

func laidOut(v *jsontext.Value) string {
	plain := v.String()
	if out, err := jsontext.Layout(plain, jsontext.Options{}); err == nil {
		return out
	}
	return plain + "\n"
}

// jsonSchema writes the shape as draft-07. Objects stay open: what was not seen
// is not refused.
func (s *Shape) jsonSchema(o Options) string {
	var out object
	out.set("$schema", text("http://json-schema.org/draft-07/schema#")).set("title", text(o.name()))
	out.set("description", text(fmt.Sprintf("derived from %s; what begins with guess: needs a person's eye", count(s.seen, "message", "messages"))))
	s.part(&out)
	return laidOut(&out.v)
}

func (s *Shape) part(out *object) {
	var types []string
	add := func(n int, name string) {
		if n > 0 {
			types = append(types, name)
		}
	}
	add(s.objects, "object")
	add(s.arrays, "array")
	add(s.texts, "string")
	if s.broken > 0 {
		types = append(types, "number")
	} else {
		add(s.whole, "integer")
	}
	add(s.bools, "boolean")
	add(s.nulls, "null")
	switch {
	case len(types) == 1:
		out.set("type", text(types[0]))
	case len(types) > 1:
		out.set("type", jsontext.StringArray(types))
	}
	if f := s.format(); f != "" {
		out.set("format", text(f))
	}
	if s.arrays > 0 && s.items.seen > 0 {
		var items object
		s.items.part(&items)
		out.set("items", &items.v)
	}
	if s.objects == 0 || len(s.members) == 0 {
		return
	}
	var properties object
	var required []string
	for _, m := range s.members {
		var one object
		one.set("description", text(m.guesses(s)))
		m.shape.part(&one)
		properties.set(m.name, &one.v)
		if m.shape.seen == s.objects {
			required = append(required, m.name)
		}
	}
	out.set("properties", &properties.v)
	if len(required) > 0 {
		out.set("required", jsontext.StringArray(required))
	}
}
