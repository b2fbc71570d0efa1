package avro_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A random schema is made as a tree, changed a little, and printed. What is
// printed is always a schema that registration accepts.

type genType struct {
	kind      string
	name      string // named types
	space     string
	aliases   []string
	doc       string
	fields    []*genField
	symbols   []string
	def       string // enum
	size      int
	items     *genType
	branches  []*genType
	logical   string
	scale     int
	precision int
}

type genField struct {
	name    string
	typ     *genType
	def     any // nil is none
	aliases []string
	order   string
	doc     string
}

type generator struct {
	r     *rand.Rand
	left  int
	names int
	named []*genType
}

func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

var primitiveKinds = []string{"null", "boolean", "int", "long", "float", "double", "bytes", "string"}

var promoted = map[string][]string{
	"int": {"long", "float", "double"}, "long": {"float", "double", "int"}, "float": {"double", "int"}, "double": {"long"},
	"string": {"bytes"}, "bytes": {"string"},
}

func (g *generator) typ(inUnion bool) *genType {
	g.left--
	if g.left <= 0 || g.chance(3) {
		t := &genType{kind: pick(g.r, primitiveKinds)}
		g.dress(t)
		return t
	}
	switch g.r.IntN(8) {
	case 0:
		return &genType{kind: "array", items: g.typ(false)}
	case 1:
		return &genType{kind: "map", items: g.typ(false)}
	case 2, 3:
		if inUnion {
			return &genType{kind: pick(g.r, primitiveKinds)}
		}
		return g.union()
	case 4:
		t := g.define("enum")
		t.symbols = slices.Clone([]string{"A", "B", "C", "D"}[:1+g.r.IntN(4)])
		if g.chance(2) {
			t.def = pick(g.r, t.symbols)
		}
		return t
	case 5:
		t := g.define("fixed")
		t.size = g.r.IntN(4)
		return t
	case 6:
		if len(g.named) > 0 {
			return pick(g.r, g.named)
		}
	}
	return g.record()
}

func (g *generator) dress(t *genType) {
	if !g.chance(4) {
		return
	}
	switch t.kind {
	case "int":
		t.logical = pick(g.r, []string{"date", "time-millis"})
	case "long":
		t.logical = pick(g.r, []string{"timestamp-millis", "timestamp-micros", "no-such-type"})
	case "bytes":
		t.logical, t.scale, t.precision = "decimal", g.r.IntN(3), 4+g.r.IntN(2)
	}
}

func (g *generator) define(kind string) *genType {
	g.names++
	t := &genType{kind: kind, name: fmt.Sprintf("N%d", g.names), space: pick(g.r, []string{"", "a", "a.b"})}
	g.named = append(g.named, t)
	return t
}

func (g *generator) union() *genType {
	u := &genType{kind: "union"}
	for range 1 + g.r.IntN(4) {
		u.add(g.typ(true))
	}
	return u
}

// add adds a branch where the union allows it.
func (t *genType) add(b *genType) {
	if b.kind == "union" || slices.ContainsFunc(t.branches, func(o *genType) bool {
		return o == b || o.kind == b.kind && b.name == "" || b.name != "" && o.full() == b.full()
	}) {
		return
	}
	t.branches = append(t.branches, b)
}

func (t *genType) full() string {
	if t.space == "" {
		return t.name
	}
	return t.space + "." + t.name
}

func (g *generator) record() *genType {
	t := g.define("record")
	for i := range g.r.IntN(4) {
		t.fields = append(t.fields, &genField{name: fmt.Sprintf("f%d", i), typ: g.typ(false)})
	}
	return t
}

func (g *generator) field(name string) *genField {
	f := &genField{name: name, typ: g.typ(false)}
	if g.chance(2) {
		f.def = g.value(f.typ, 4)
	}
	return f
}

// value makes a default; nil when there is no small one.
func (g *generator) value(t *genType, depth int) any {
	if depth == 0 {
		return nil
	}
	switch t.kind {
	case "null":
		return json.RawMessage("null")
	case "boolean":
		return g.chance(2)
	case "int", "long":
		return g.r.IntN(100)
	case "float", "double":
		return json.RawMessage(pick(g.r, []string{"1", "1.5", "2e3"}))
	case "bytes", "string":
		return pick(g.r, []string{"", "x", "yy"})
	case "fixed":
		if g.chance(6) {
			return "far too long"
		}
		return strings.Repeat("z", t.size)
	case "enum":
		if g.chance(6) {
			return "NONE"
		}
		return pick(g.r, t.symbols)
	case "array":
		if v := g.value(t.items, depth-1); v != nil && g.chance(2) {
			return []any{v}
		}
		return []any{}
	case "map":
		return map[string]any{}
	case "union":
		return g.value(pick(g.r, t.branches), depth-1)
	case "record":
		members := map[string]any{}
		for _, f := range t.fields {
			v := g.value(f.typ, depth-1)
			if v == nil {
				return nil
			}
			members[f.name] = v
		}
		return members
	}
	return nil
}

// generatePair makes a schema and one that differs from it in a few things.
func generatePair(r *rand.Rand, size int) (old, next string) {
	g := &generator{r: r, left: size}
	root := g.typ(false)
	if g.chance(2) {
		g.left = size
		root = g.record()
	}
	// Let a record hold itself now and then.
	for _, t := range root.all(nil) {
		if t.kind == "record" && g.chance(4) {
			u := &genType{kind: "union"}
			u.add(&genType{kind: "null"})
			u.add(t)
			f := &genField{name: "self", typ: u}
			switch g.r.IntN(6) {
			case 0:
				f.typ = &genType{kind: "array", items: t}
			case 1:
				f.typ = t
			}
			t.fields = append(t.fields, f)
		}
	}
	for _, t := range root.all(nil) {
		for i, f := range t.fields {
			if g.chance(2) {
				f.def = g.value(f.typ, 4)
			}
			if g.chance(6) { // the name that a rename may give it
				f.aliases = append(f.aliases, fmt.Sprintf("h%d", i))
			}
		}
		if t.name != "" && g.chance(8) {
			t.aliases = append(t.aliases, fmt.Sprintf("M%d", g.names+1))
		}
	}
	changed := root.clone(map[*genType]*genType{})
	for range g.r.IntN(4) {
		g.mutate(changed)
	}
	if g.chance(20) {
		g.left = size
		changed = g.typ(false)
	}
	if g.chance(2) {
		root, changed = changed, root
	}
	return root.String(), changed.String()
}

func (g *generator) mutate(root *genType) {
	g.left = 4
	g.named = nil
	types := root.all(nil)
	t := pick(g.r, types)
	switch t.kind {
	case "record":
		g.mutateRecord(t)
		for _, o := range types { // defaults that hold the record may no longer fit
			for _, f := range o.fields {
				if slices.Contains(f.typ.all(nil), t) {
					f.def = nil
				}
			}
		}
		return
	case "enum":
		switch g.r.IntN(4) {
		case 0:
			g.names++
			t.symbols = append(t.symbols, fmt.Sprintf("S%d", g.names+100*len(t.symbols)))
		case 1:
			if len(t.symbols) > 1 {
				t.symbols = t.symbols[1:]
				if !slices.Contains(t.symbols, t.def) {
					t.def = ""
				}
			}
		case 2:
			slices.Reverse(t.symbols)
		case 3:
			t.def = pick(g.r, append([]string{""}, t.symbols...))
		}
	case "fixed":
		t.size = g.r.IntN(4)
	case "union":
		switch {
		case g.chance(3):
			t.add(g.typ(true))
		case g.chance(2) && len(t.branches) > 1:
			t.branches = t.branches[1:]
		default:
			slices.Reverse(t.branches)
		}
		strip(root)
	case "array", "map":
		if g.chance(3) {
			t.items = g.typ(false)
			strip(root)
		}
	default:
		t.logical = ""
		g.dress(t)
	}
	if t.name != "" && g.chance(2) {
		g.rename(t)
	}
}

// strip takes the defaults away, which may no longer fit.
func strip(root *genType) {
	for _, t := range root.all(nil) {
		for _, f := range t.fields {
			f.def = nil
		}
	}
}

func (g *generator) rename(t *genType) {
	before := t.full()
	if g.chance(2) {
		t.space = pick(g.r, []string{"", "a", "c"})
		return
	}
	g.names++
	t.name = fmt.Sprintf("M%d", g.names)
	if g.chance(2) && t.full() != before {
		alias := before
		if !strings.Contains(alias, ".") && t.space != "" {
			return // would be completed with the namespace
		}
		t.aliases = append(t.aliases, alias)
	}
}

func (g *generator) mutateRecord(t *genType) {
	at := 0
	if len(t.fields) > 0 {
		at = g.r.IntN(len(t.fields))
	}
	switch k := g.r.IntN(10); {
	case k == 0 || len(t.fields) == 0:
		name := fmt.Sprintf("g%d", g.r.IntN(10))
		if !slices.ContainsFunc(t.fields, func(f *genField) bool { return f.name == name }) {
			t.fields = slices.Insert(t.fields, at, g.field(name))
		}
	case k == 1:
		t.fields = slices.Delete(t.fields, at, at+1)
	case k == 2:
		slices.Reverse(t.fields)
	case k == 3 || k == 4:
		f, before := t.fields[at], t.fields[at].name
		f.name = fmt.Sprintf("h%d", at)
		if slices.ContainsFunc(t.fields, func(o *genField) bool { return o != f && o.name == f.name }) {
			f.name = before
		} else if g.chance(2) && f.name != before {
			f.aliases = append(f.aliases, before)
		}
	case k == 5:
		f := t.fields[at]
		kind := promoted[f.typ.kind]
		f.typ, f.def = g.typ(false), nil
		if kind != nil && g.chance(2) {
			f.typ = &genType{kind: pick(g.r, kind)}
		}
	case k == 6:
		f := t.fields[at]
		if f.typ.kind != "union" {
			u := &genType{kind: "union"}
			u.add(&genType{kind: "null"})
			u.add(f.typ)
			f.typ, f.def = u, json.RawMessage("null")
			if g.chance(2) {
				f.def = nil
			}
		}
	case k == 8: // one field takes another's name as an alias, and its place
		if other := g.r.IntN(len(t.fields)); other != at {
			t.fields[at].aliases = append(t.fields[at].aliases, t.fields[other].name)
			t.fields = slices.Delete(t.fields, other, other+1)
		}
	case k == 7:
		t.fields[at].def = g.value(t.fields[at].typ, 4)
	default:
		t.fields[at].doc, t.fields[at].order, t.doc = "d", pick(g.r, []string{"", "ignore"}), pick(g.r, []string{"", "e"})
	}
	for _, f := range t.fields { // an alias that names a sibling is another test's matter
		f.aliases = slices.DeleteFunc(f.aliases, func(a string) bool {
			return slices.ContainsFunc(t.fields, func(o *genField) bool { return o.name == a })
		})
	}
}
