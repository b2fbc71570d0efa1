package jsonschema_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// realTexts are the schemas of the folder that CARTORIO_REAL names, or the
// examples of the rules.
func realTexts(t *testing.T) (list []string) {
	t.Helper()
	folder := os.Getenv("CARTORIO_REAL")
	if folder == "" {
		for _, r := range jsoncompat.Checker.Rules {
			list = append(list, r.Old, r.New)
		}
		return list
	}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".json" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := parseWith(string(text), nil); err != nil {
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

// values lists every value of a text, with the object or array around it.
func values(root *jsontext.Value) (list, around []*jsontext.Value) {
	var walk func(v, up *jsontext.Value)
	walk = func(v, up *jsontext.Value) {
		list, around = append(list, v), append(around, up)
		for _, item := range v.Items {
			walk(item, v)
		}
		for i := range v.Members {
			walk(v.Members[i].Value, v)
		}
	}
	walk(root, nil)
	return list, around
}

// again is a copy of a value, so that none is ever put inside itself.
func again(v *jsontext.Value) *jsontext.Value {
	out, err := jsontext.Parse(v.String(), jsontext.Options{})
	if err != nil {
		return &jsontext.Value{}
	}
	return out
}

// reshape changes one value of a text, whatever it means: numbers and strings
// become their like, members and items go, come twice or change their place.
func (g grower) reshape(root *jsontext.Value) {
	list, around := values(root)
	i := g.IntN(len(list))
	v, up := list[i], around[i]
	switch v.Kind {
	case jsontext.Bool:
		v.Bool = !v.Bool
	case jsontext.Number:
		if n, err := strconv.Atoi(v.Text); err == nil && g.IntN(4) > 0 {
			v.Text = strconv.Itoa(n + g.IntN(3) - 1)
		} else {
			v.Text = g.one("0", "1", "2", "0.5", "9007199254740993")
		}
	case jsontext.String:
		if other := list[g.IntN(len(list))]; other.Kind == jsontext.String && g.IntN(2) == 0 {
			v.Text = other.Text
		} else if kinds := []string{"string", "integer", "number", "boolean", "null", "array", "object"}; slices.Contains(kinds, v.Text) {
			v.Text = g.one(kinds...)
		} else {
			v.Text += g.one("", "x", "$", "?")
		}
	case jsontext.Array:
		if len(v.Items) == 0 {
			break
		}
		at := g.IntN(len(v.Items))
		switch g.IntN(3) {
		case 0:
			v.Items = slices.Delete(v.Items, at, at+1)
		case 1:
			v.Items = append(v.Items, again(list[g.IntN(len(list))]))
		default:
			v.Items[0], v.Items[at] = v.Items[at], v.Items[0]
		}
	case jsontext.Object:
		if len(v.Members) == 0 {
			break
		}
		at := g.IntN(len(v.Members))
		switch g.IntN(4) {
		case 0:
			v.Members = slices.Delete(v.Members, at, at+1)
		case 1:
			v.Members[at].Value = again(list[g.IntN(len(list))])
		case 2:
			name := v.Members[at].Name + g.one("x", "_")
			if v.Get(name) == nil {
				v.Members[at].Name = name
			}
		default:
			word := [][2]string{{"minLength", "1"}, {"maxLength", "3"}, {"minimum", "1"}, {"additionalProperties", "false"}, {"required", `["a"]`}, {"type", `"object"`}, {"minItems", "1"}, {"uniqueItems", "true"}, {"not", `{"type":"null"}`}}[g.IntN(9)]
			if value, err := jsontext.Parse(word[1], jsontext.Options{}); err == nil && v.Get(word[0]) == nil {
				v.Members = append(v.Members, jsontext.Member{Name: word[0], Value: value})
			}
		}
	default:
		if up != nil && len(up.Members) > 0 {
			up.Members[g.IntN(len(up.Members))].Value = again(v)
		}
	}
}

// sample makes a value that may fit a node: what it demands, some of what it
// allows, and one branch of each union.
func (g grower) sample(n *jsonschema.Node, depth int) string {
	for steps := 0; n.Ref != nil && steps < 8; steps++ {
		n = n.Ref
	}
	if yes, ok := n.Always(); ok || depth <= 0 {
		if !yes && ok {
			return "null"
		}
		return g.payload(1)
	}
	if n.Const != nil {
		return n.Const.String()
	}
	if len(n.Enum) > 0 {
		return n.Enum[g.IntN(len(n.Enum))].String()
	}
	parts := slices.Concat(n.AllOf, n.AnyOf, n.OneOf)
	if len(parts) > 0 && (len(n.Properties) == 0 || g.IntN(3) == 0) {
		return g.sample(parts[g.IntN(len(parts))], depth-1)
	}
	kinds := n.Types.Names()
	if !n.HasType {
		kinds = []string{"object"}
		if len(n.Properties) == 0 {
			kinds = []string{"null", "string", "integer", "object", "array"}
		}
	}
	if len(kinds) == 0 {
		return "null"
	}
	switch kinds[g.IntN(len(kinds))] {
	case "null":
		return "null"
	case "boolean":
		return g.one("true", "false")
	case "integer", "number":
		for _, end := range []*jsonschema.Number{n.Minimum, n.Maximum, n.MultipleOf} {
			if end != nil && g.IntN(2) == 0 {
				return end.Text
			}
		}
		return g.one("0", "1", "2", "10", "-1", "0.5")
	case "string":
		if n.MinLength > 0 && n.MinLength < 100 {
			return `"` + strings.Repeat("a", n.MinLength) + `"`
		}
		return g.one(`""`, `"a"`, `"abc"`, `"2020-02-29"`, `"http://a.b/c"`, `"1.0.0"`)
	case "array":
		item := n.Items
		parts := make([]string, min(max(n.MinItems, g.IntN(3)), 8))
		for i := range parts {
			switch {
			case i < len(n.Prefix):
				parts[i] = g.sample(n.Prefix[i], depth-1)
			case item != nil:
				parts[i] = g.sample(item, depth-1)
			default:
				parts[i] = g.payload(1)
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var members []string
	for _, p := range n.Properties {
		if n.Requires(p.Name) || g.IntN(4) == 0 {
			members = append(members, jsontext.Quoted(p.Name)+":"+g.sample(p.Node, depth-1))
		}
	}
	if g.IntN(6) == 0 {
		members = append(members, `"zz":`+g.payload(1))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestRealHunt hunts pairs grown from real schemas: each is changed in a few
// places, and payloads are drawn from the writer and changed too.
func TestRealHunt(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, time.Second)
	texts := realTexts(t)
	h := &hunt{T: t, ledger: readLedger(t)}
	fitting := 0
	for i := uint64(0); h.goesOn(end); i++ {
		g := grower{Rand: rand.New(rand.NewPCG(seed, i))}
		text := texts[i%uint64(len(texts))]
		root, err := jsontext.Parse(text, jsontext.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + g.IntN(3) {
			g.reshape(root)
		}
		if list, _ := values(root); len(list) > 20_000 {
			continue // a value was put inside itself again and again
		}
		p := grown{old: text, next: root.String()}
		if g.IntN(2) == 0 {
			p.old, p.next = p.next, p.old
		}
		h.name = fmt.Sprintf("seed %d, pair %d", seed, i)
		h.try(p, func(writer schemas.Schema) string {
			js, ok := writer.(*jsonschema.Schema)
			if !ok {
				return "null"
			}
			text := g.sample(js.Root(), 6)
			if v, err := jsontext.Parse(text, jsontext.Options{}); err == nil && g.IntN(3) == 0 {
				g.reshape(v)
				text = v.String()
			}
			if writer.Reads(writer, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{}).OK() {
				fitting++
			}
			return text
		}, 10)
	}
	h.told()
	if fitting == 0 {
		t.Error("no payload fitted its writer")
	}
}
