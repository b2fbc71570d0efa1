package avro_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// print writes the schema; a named type is written out where it is met first.
func (t *genType) print(b *strings.Builder, written map[*genType]bool) {
	str := func(s string) string {
		text, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string always marshals
		}
		return string(text)
	}
	switch {
	case t.kind == "union":
		b.WriteByte('[')
		for i, o := range t.branches {
			if i > 0 {
				b.WriteByte(',')
			}
			o.print(b, written)
		}
		b.WriteByte(']')
		return
	case written[t]:
		b.WriteString(str(t.reference()))
		return
	case t.kind == "array" || t.kind == "map":
		word := map[string]string{"array": "items", "map": "values"}[t.kind]
		fmt.Fprintf(b, `{"type":%q,%q:`, t.kind, word)
		t.items.print(b, written)
		b.WriteByte('}')
		return
	case t.name == "" && t.logical == "":
		b.WriteString(str(t.kind))
		return
	case t.name == "":
		fmt.Fprintf(b, `{"type":%q,"logicalType":%q`, t.kind, t.logical)
		if t.logical == "decimal" {
			fmt.Fprintf(b, `,"precision":%d,"scale":%d`, t.precision, t.scale)
		}
		b.WriteByte('}')
		return
	}
	written[t] = true
	fmt.Fprintf(b, `{"type":%q,"name":%q,"namespace":%q`, t.kind, t.name, t.space)
	if t.doc != "" {
		fmt.Fprintf(b, `,"doc":%q`, t.doc)
	}
	if len(t.aliases) > 0 {
		fmt.Fprintf(b, `,"aliases":["%s"]`, strings.Join(t.aliases, `","`))
	}
	switch t.kind {
	case "enum":
		fmt.Fprintf(b, `,"symbols":["%s"]`, strings.Join(t.symbols, `","`))
		if t.def != "" {
			fmt.Fprintf(b, `,"default":%q`, t.def)
		}
	case "fixed":
		fmt.Fprintf(b, `,"size":%d`, t.size)
	case "record":
		b.WriteString(`,"fields":[`)
		for i, f := range t.fields {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, `{"name":%q,"type":`, f.name)
			f.typ.print(b, written)
			if f.def != nil {
				text, err := json.Marshal(f.def)
				if err != nil {
					panic(err) // made of plain values
				}
				fmt.Fprintf(b, `,"default":%s`, text)
			}
			if f.order != "" {
				fmt.Fprintf(b, `,"order":%q`, f.order)
			}
			if f.doc != "" {
				fmt.Fprintf(b, `,"doc":%q`, f.doc)
			}
			if len(f.aliases) > 0 {
				fmt.Fprintf(b, `,"aliases":["%s"]`, strings.Join(f.aliases, `","`))
			}
			b.WriteByte('}')
		}
		b.WriteByte(']')
	}
	b.WriteByte('}')
}

// reference is the name by which a type is used again; a type of the null
// namespace has no full name that differs from its simple one, but simple names
// fall back to the null namespace, and names are unique.
func (t *genType) reference() string { return t.full() }

func (t *genType) String() string {
	var b strings.Builder
	t.print(&b, map[*genType]bool{})
	return b.String()
}

// clone copies a graph.
func (t *genType) clone(done map[*genType]*genType) *genType {
	if t == nil {
		return nil
	}
	if c := done[t]; c != nil {
		return c
	}
	c := *t
	done[t] = &c
	c.items = t.items.clone(done)
	c.branches = nil
	for _, b := range t.branches {
		c.branches = append(c.branches, b.clone(done))
	}
	c.symbols, c.aliases, c.fields = slices.Clone(t.symbols), slices.Clone(t.aliases), nil
	for _, f := range t.fields {
		o := *f
		o.typ, o.aliases = f.typ.clone(done), slices.Clone(f.aliases)
		c.fields = append(c.fields, &o)
	}
	return &c
}

// all lists the types of a graph in the order of first meeting.
func (t *genType) all(list []*genType) []*genType {
	if t == nil || slices.Contains(list, t) {
		return list
	}
	list = append(list, t)
	list = t.items.all(list)
	for _, b := range t.branches {
		list = b.all(list)
	}
	for _, f := range t.fields {
		list = f.typ.all(list)
	}
	return list
}
