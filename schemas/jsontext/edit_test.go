package jsontext_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// edited makes the edits of a text, in their order.
func edited(text string, edits ...jsontext.Edit) string {
	slices.SortStableFunc(edits, func(a, b jsontext.Edit) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.Start] + e.Text)
		at = e.End
	}
	return b.String() + text[at:]
}

func TestEdits(t *testing.T) {
	t.Parallel()
	const lines = "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {}\n}\n"
	for _, c := range []struct {
		name, text string
		edit       func(e jsontext.Editor) []jsontext.Edit
		want       string
	}{
		{"a member replaced", `{"a": 1}`, func(e jsontext.Editor) []jsontext.Edit { return e.Set(e.Root, [2]string{"a", "2"}) }, `{"a": 2}`},
		{"a member added on its line", lines, func(e jsontext.Editor) []jsontext.Edit { return e.Set(e.Root, [2]string{"d", "4"}) }, strings.Replace(lines, "{}", "{},\n  \"d\": 4", 1)},
		{"two members for none", `{ }`, func(e jsontext.Editor) []jsontext.Edit {
			return e.Set(e.Root, [2]string{"a", "1"}, [2]string{"b", "2"})
		}, `{"a": 1, "b": 2 }`},
		{"the first out", `{"a": 1, "b": 2}`, func(e jsontext.Editor) []jsontext.Edit { return e.Set(e.Root, [2]string{"a", ""}) }, `{"b": 2}`},
		{"the last two out, one in", `{"a": 1, "b": 2, "c": 3}`, func(e jsontext.Editor) []jsontext.Edit {
			return e.Set(e.Root, [2]string{"b", ""}, [2]string{"c", ""}, [2]string{"d", "4"})
		}, `{"a": 1, "d": 4}`},
		{"all out, one in", `{"a": 1, "b": 2}`, func(e jsontext.Editor) []jsontext.Edit {
			return e.Set(e.Root, [2]string{"a", ""}, [2]string{"b", ""}, [2]string{"d", "4"})
		}, `{"d": 4}`},
		{"a member behind another", lines, func(e jsontext.Editor) []jsontext.Edit {
			return []jsontext.Edit{e.Insert(e.Root, "a", "z", "0")}
		}, strings.Replace(lines, "1,\n  \"b", "1,\n  \"z\": 0,\n  \"b", 1)},
		{"a member into nothing", `{"c":{}}`, func(e jsontext.Editor) []jsontext.Edit {
			return []jsontext.Edit{e.Insert(e.At("/c"), "a", "z", "0")}
		}, `{"c":{"z": 0}}`},
		{"an item on its line", lines, func(e jsontext.Editor) []jsontext.Edit {
			return []jsontext.Edit{e.Add(e.At("/b"), 5, "3")}
		}, strings.Replace(lines, "    2", "    2,\n    3", 1)},
		{"an item in front", `[1]`, func(e jsontext.Editor) []jsontext.Edit { return []jsontext.Edit{e.Add(e.Root, -1, "0")} }, `[0, 1]`},
		{"an item into nothing", `[]`, func(e jsontext.Editor) []jsontext.Edit { return []jsontext.Edit{e.Add(e.Root, 0, "0")} }, `[0]`},
		{"items out", `[1, 2, 3]`, func(e jsontext.Editor) []jsontext.Edit {
			return []jsontext.Edit{e.Remove(e.Root, 0), e.Remove(e.Root, 2)}
		}, `[2]`},
		{"the only item out", `[1]`, func(e jsontext.Editor) []jsontext.Edit { return []jsontext.Edit{e.Remove(e.Root, 0)} }, `[]`},
		{"a name with escapes", `{"a\"b\\": 1}`, func(e jsontext.Editor) []jsontext.Edit { return []jsontext.Edit{e.Rename(e.Root, 0, "x\"")} }, `{"x\"": 1}`},
		{"where a pointer leads", `{"a/b": {"~": [1, {"x": 2}]}}`, func(e jsontext.Editor) []jsontext.Edit {
			return []jsontext.Edit{e.Replace(e.At("/a~1b/~0/1/x"), "3")}
		}, `{"a/b": {"~": [1, {"x": 3}]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := jsontext.Parse(c.text, jsontext.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := edited(c.text, c.edit(jsontext.Editor{Text: c.text, Root: root})...); got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
	e := jsontext.Editor{Root: &jsontext.Value{Kind: jsontext.Array}}
	for _, p := range []schemas.Pointer{"/0", "/x", "/0/x", "/-1"} {
		if v := e.At(p); v != nil {
			t.Errorf("%s leads to %v", p, v)
		}
	}
	if e.Spell(nil) != "" {
		t.Error("nothing has a text")
	}
}
