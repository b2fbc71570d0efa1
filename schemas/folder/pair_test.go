package folder_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas/folder"
)

func TestPair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		old, next map[string]string
		declared  map[string]folder.Declaration
		want      []string
	}{
		{
			"by path, new, gone",
			map[string]string{"a.avsc": "name A", "b.avsc": "name B"},
			map[string]string{"a.avsc": "name Other", "c.avsc": "name C"},
			nil,
			[]string{"a.avsc = a.avsc", "- = b.avsc", "c.avsc = -"},
		},
		{
			"moved, by name",
			map[string]string{"old/a.avsc": "name A", "p.proto": "name p.M", "j.json": "name https://x.test/j"},
			map[string]string{"new/a.avsc": "name A", "q.proto": "name p.M", "k.json": "name https://x.test/j#"},
			nil,
			[]string{"k.json = j.json", "new/a.avsc = old/a.avsc", "q.proto = p.proto"},
		},
		{
			"path wins over name",
			map[string]string{"a.avsc": "name A", "b.avsc": "name B"},
			map[string]string{"a.avsc": "name B", "b.avsc": "name A"},
			nil,
			[]string{"a.avsc = a.avsc", "b.avsc = b.avsc"},
		},
		{
			"two candidates",
			map[string]string{"v1.avsc": "name A"},
			map[string]string{"v2.avsc": "name A", "v3.avsc": "name A"},
			nil,
			[]string{"- = v1.avsc error", "v2.avsc = - error", "v3.avsc = - error"},
		},
		{
			"many of one name under their old paths",
			map[string]string{"v1.avsc": "name A", "v2.avsc": "name A"},
			map[string]string{"v1.avsc": "name A", "v2.avsc": "name A"},
			nil,
			[]string{"v1.avsc = v1.avsc", "v2.avsc = v2.avsc"},
		},
		{
			"declared subject wins over path",
			map[string]string{"a.avsc": "name A", "b.avsc": "name B"},
			map[string]string{"a.avsc": "name X", "c.avsc": "name Y"},
			map[string]folder.Declaration{"b.avsc": {Subject: "s"}, "c.avsc": {Subject: "s"}},
			nil,
		},
		{
			"names of two formats are two names",
			map[string]string{"a.avsc": "name N"},
			map[string]string{"b.proto": "name N"},
			nil,
			[]string{"- = a.avsc", "b.proto = -"},
		},
		{
			"no longer recognizable",
			map[string]string{"a.json": `"$schema"`},
			map[string]string{"a.json": "{}"},
			nil,
			[]string{"- = a.json error"},
		},
		{
			"a language without format keeps its path",
			map[string]string{"a.thrift": "1", "b.thrift": "1"},
			map[string]string{"a.thrift": "2", "c.thrift": "1"},
			nil,
			[]string{"a.thrift = a.thrift", "- = b.thrift", "c.thrift = -"},
		},
		{
			"moved without a name, by text",
			map[string]string{"a.json": `"$schema" 1`, "b.json": `"$schema" 2`},
			map[string]string{"x/a.json": `"$schema" 1`, "x/b.json": `"$schema" 2`},
			nil,
			[]string{"x/a.json = a.json", "x/b.json = b.json"},
		},
		{
			"one text, two candidates",
			map[string]string{"a.json": `"$schema"`},
			map[string]string{"x/a.json": `"$schema"`, "x/b.json": `"$schema"`},
			nil,
			[]string{"- = a.json error", "x/a.json = - error", "x/b.json = - error"},
		},
		{
			"without a name, moved and changed or new",
			map[string]string{"a.json": `"$schema" 1`, "keep.json": `"$schema" 3`},
			map[string]string{"x/a.json": `"$schema" 2`, "keep.json": `"$schema" 4`},
			nil,
			[]string{"- = a.json error", "keep.json = keep.json", "x/a.json = - error"},
		},
		{
			"a name tells that a file is another",
			map[string]string{"a.json": `"$schema" 1`},
			map[string]string{"x/a.json": "name https://x.test/j"},
			nil,
			[]string{"- = a.json", "x/a.json = -"},
		},
		{
			"nothing new, so gone",
			map[string]string{"a.json": `"$schema" 1`},
			map[string]string{"x/a.avsc": "name A"},
			nil,
			[]string{"- = a.json", "x/a.avsc = -"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := folder.Options{Declared: c.declared}
			var got []string
			for _, p := range folder.Pair(open(t, tree(c.old), o), open(t, tree(c.next), o)) {
				line := side(p.New) + " = " + side(p.Old)
				if p.Err != nil {
					line += " error"
				}
				got = append(got, line)
			}
			want := c.want
			if c.declared != nil {
				want = []string{"a.avsc = a.avsc", "c.avsc = b.avsc"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPairNew(t *testing.T) {
	t.Parallel()
	old := open(t, tree(map[string]string{"a.avsc": "name A", "b.avsc": "name B", "c.json": `"$schema"`}), folder.Options{})
	for _, c := range []struct {
		name, path, text, want string
	}{
		{"by path", "a.avsc", "name A2", "a.avsc = a.avsc"},
		{"by name", "x.avsc", "name B", "x.avsc = b.avsc"},
		{"by text", "x.json", `"$schema"`, "x.json = c.json"},
		{"new, and nothing is in doubt", "x.json", `"$schema" 1`, "x.json = -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list := folder.PairNew(old, open(t, tree(map[string]string{c.path: c.text}), folder.Options{}))
			if len(list) != 1 || list[0].Err != nil {
				t.Fatalf("pairs are %v, want one without an error", list)
			}
			if got := side(list[0].New) + " = " + side(list[0].Old); got != c.want {
				t.Errorf("the pair is %s, want %s", got, c.want)
			}
		})
	}
}

func side(e *folder.Entry) string {
	if e == nil {
		return "-"
	}
	return e.Path
}
