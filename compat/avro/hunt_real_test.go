package avro_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// realTexts are the schemas of the folder that CARTORIO_REAL names, or the
// examples of the rules.
func realTexts(t *testing.T) (list []string) {
	t.Helper()
	folder := os.Getenv("CARTORIO_REAL")
	if folder == "" {
		for _, r := range compatavro.Checker.Rules {
			list = append(list, r.Old, r.New)
		}
		return list
	}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".avsc" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := avro.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: string(text)}, nil, schemas.ParseOptions{}); err != nil {
			t.Logf("NOT USED: %s: %.200v", name, err)
			return nil
		}
		list = append(list, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("CARTORIO_REAL: %s holds no schema", folder)
	}
	return list
}

// reshaper changes schemas the way people do, in their text.
type reshaper struct{ *rand.Rand }

func (g reshaper) one(list ...string) string { return list[g.IntN(len(list))] }

// value parses a text of ours.
func value(text string) *jsontext.Value {
	v, err := jsontext.Parse(text, jsontext.Options{})
	if err != nil {
		panic(err) // the texts stand below
	}
	return v
}

// walkTypes calls visit for every type of a schema's text, with what puts another
// in its place.
func walkTypes(v *jsontext.Value, put func(*jsontext.Value), visit func(v *jsontext.Value, put func(*jsontext.Value))) {
	visit(v, put)
	for i := range v.Items {
		walkTypes(v.Items[i], func(to *jsontext.Value) { v.Items[i] = to }, visit)
	}
	for _, name := range []string{"items", "values"} {
		if part := v.Get(name); part != nil {
			walkTypes(part, func(to *jsontext.Value) { v.Set(name, to) }, visit)
		}
	}
	if fields := v.Get("fields"); fields != nil {
		for _, f := range fields.Items {
			if part := f.Get("type"); part != nil {
				walkTypes(part, func(to *jsontext.Value) { f.Set("type", to) }, visit)
			}
		}
	}
}

// reshape changes one type of a schema, and gives the schema back.
func (g reshaper) reshape(root *jsontext.Value) *jsontext.Value {
	type slot struct {
		v   *jsontext.Value
		put func(*jsontext.Value)
	}
	var slots []slot
	walkTypes(root, func(to *jsontext.Value) { root = to }, func(v *jsontext.Value, put func(*jsontext.Value)) {
		slots = append(slots, slot{v, put})
	})
	s := slots[g.IntN(len(slots))]
	switch {
	case s.v.Kind == jsontext.Array:
		g.union(s.v, s.put)
	case s.v.Get("fields") != nil && g.IntN(4) > 0:
		g.fields(s.v.Get("fields"))
	case s.v.Get("symbols") != nil && g.IntN(4) > 0:
		g.symbols(s.v)
	case s.v.Get("name") != nil:
		g.named(s.v)
	case g.IntN(3) == 0:
		s.put(&jsontext.Value{Kind: jsontext.Array, Items: []*jsontext.Value{value(`"null"`), s.v}})
	case s.v.Kind == jsontext.Object && s.v.Get("logicalType") != nil:
		s.v.Set("logicalType", value(g.one(`"date"`, `"timestamp-millis"`, `"timestamp-micros"`, `"decimal"`, `"uuid"`)))
		s.v.Set("precision", value(g.one("9", "18")))
		s.v.Set("scale", value(g.one("0", "2", "4")))
	default:
		s.put(value(g.kind()))
	}
	return root
}

func (g reshaper) kind() string {
	return g.one(`"int"`, `"long"`, `"float"`, `"double"`, `"string"`, `"bytes"`, `"boolean"`, `{"type":"array","items":"string"}`, `{"type":"map","values":"long"}`, `{"type":"long","logicalType":"timestamp-millis"}`)
}

func (g reshaper) union(v *jsontext.Value, put func(*jsontext.Value)) {
	switch {
	case len(v.Items) == 0 || g.IntN(3) == 0:
		v.Items = append(v.Items, value(g.kind()))
	case g.IntN(3) == 0:
		slices.Reverse(v.Items)
	case g.IntN(2) == 0:
		put(v.Items[g.IntN(len(v.Items))])
	default:
		at := g.IntN(len(v.Items))
		v.Items = slices.Delete(v.Items, at, at+1)
	}
}

func (g reshaper) fields(fields *jsontext.Value) {
	if n := g.IntN(8); n < 2 || len(fields.Items) == 0 {
		text := fmt.Sprintf(`{"name":"added%d","type":%s`, g.IntN(100), g.kind())
		if n == 0 {
			text = fmt.Sprintf(`{"name":"added%d","type":["null",%s],"default":null`, g.IntN(100), g.kind())
		}
		fields.Items = slices.Insert(fields.Items, g.IntN(len(fields.Items)+1), value(text+"}"))
		return
	}
	at := g.IntN(len(fields.Items))
	f := fields.Items[at]
	switch g.IntN(6) {
	case 0:
		fields.Items = slices.Delete(fields.Items, at, at+1)
	case 1:
		slices.Reverse(fields.Items)
	case 2:
		if name := f.Get("name"); name != nil {
			if g.IntN(2) == 0 {
				f.Set("aliases", jsontext.StringArray([]string{name.Text}))
			}
			f.Set("name", &jsontext.Value{Kind: jsontext.String, Text: name.Text + "New"})
		}
	case 3:
		f.Unset("default")
	case 4:
		f.Set("default", value(g.one("null", "0", `""`, "[]", "{}", "1.5", "false")))
	default:
		f.Set("doc", value(g.one(`"in cents"`, `"in euros"`)))
	}
}

func (g reshaper) symbols(v *jsontext.Value) {
	list := v.Get("symbols")
	switch g.IntN(4) {
	case 0:
		list.Items = append(list.Items, value(g.one(`"EXTRA"`, `"OTHER"`)))
	case 1:
		if len(list.Items) > 1 {
			list.Items = list.Items[1:]
		}
	case 2:
		slices.Reverse(list.Items)
	default:
		if len(list.Items) > 0 {
			v.Set("default", list.Items[g.IntN(len(list.Items))])
		}
	}
}

func (g reshaper) named(v *jsontext.Value) {
	name := v.Get("name")
	switch {
	case v.Get("size") != nil && g.IntN(2) == 0:
		v.Set("size", value(g.one("1", "4", "12")))
	case g.IntN(2) == 0:
		v.Set("namespace", value(g.one(`"other"`, `"other.place"`)))
	default:
		if g.IntN(2) == 0 {
			v.Set("aliases", jsontext.StringArray([]string{name.Text}))
		}
		v.Set("name", &jsontext.Value{Kind: jsontext.String, Text: name.Text + "New"})
	}
}

// TestRealHunt hunts pairs grown from real schemas, each changed in a few places.
func TestRealHunt(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, time.Second)
	texts := realTexts(t)
	h := newHunt(t)
	for i := uint64(0); h.goesOn(i, end); i++ {
		g := reshaper{rand.New(rand.NewPCG(seed, i))}
		text := texts[i%uint64(len(texts))]
		root, err := jsontext.Parse(text, jsontext.Options{Comments: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + g.IntN(4) {
			root = g.reshape(root)
		}
		old, next := text, root.String()
		if g.IntN(2) == 0 {
			old, next = next, old
		}
		h.name = fmt.Sprintf("seed %d pair %d", seed, i)
		h.try(g.Rand, old, next)
	}
	h.told(seed)
}
