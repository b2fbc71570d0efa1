package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// A folder stands where a registry's client would.
var _ validate.Lookup = (*folder.Folder)(nil)

// toy is a format whose texts are lines: "name N", "need N", "bad".
func toy(t schemas.Type, extensions ...string) schemas.Format {
	return schemas.Format{
		Type:       t,
		Extensions: extensions,
		Outline: func(p, text string, _ schemas.Limits) (schemas.Outline, error) {
			var o schemas.Outline
			if t == schemas.Protobuf {
				o.Schema, o.Names = true, []string{p}
			}
			for line := range strings.Lines(text) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch word {
				case "name":
					o.Names = append(o.Names, rest)
					o.Schema = o.Schema || t != schemas.JSON || strings.Contains(rest, ":")
				case "need":
					o.Needs = append(o.Needs, rest)
				case `"$schema"`:
					o.Schema = t == schemas.JSON
				case "bad":
					return o, schemas.SyntaxErrors{{Position: schemas.Position{Line: 1, Column: 1}, Summary: "bad text"}}
				}
			}
			return o, nil
		},
	}
}

func toys() []schemas.Format {
	return []schemas.Format{toy(schemas.Avro, ".avsc"), toy(schemas.JSON, ".json"), toy(schemas.Protobuf, ".proto")}
}

func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for p, text := range files {
		out[p] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func open(t *testing.T, fsys fs.FS, o folder.Options) *folder.Folder {
	t.Helper()
	if o.Formats == nil {
		o.Formats = toys()
	}
	f, err := folder.Open(context.Background(), fsys, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// show is one line per entry: path, type, subject, references, what is missing.
func show(f *folder.Folder) []string {
	var out []string
	for _, e := range f.Entries {
		line := fmt.Sprintf("%s %s %s", e.Path, e.Source.Type, e.Subject)
		for _, r := range e.Source.References {
			line += fmt.Sprintf(" [%s=%s@%d]", r.Name, r.Subject, r.Version)
		}
		for _, m := range e.Missing {
			line += " missing " + m
		}
		if e.Err != nil {
			line += " error"
		}
		if !e.Selected {
			line += " unselected"
		}
		out = append(out, line)
	}
	return out
}

func TestWhatCountsAsASchema(t *testing.T) {
	t.Parallel()
	f := open(t, tree(map[string]string{
		"a.avsc":              "name com.A",
		"b.json":              `"$schema"`,
		"avro.json":           "name com.InJSON",
		"broken.json":         "\"$schema\"\nbad",
		"data.json":           "{}",
		"bad-data.json":       "bad",
		"c.proto":             "name p.C",
		"UPPER.AVSC":          "name com.U",
		"idl.avdl":            "x",
		"t.thrift":            "x",
		"README.md":           "x",
		".git/x.avsc":         "name no",
		".hidden/x.avsc":      "name no",
		"node_modules/x.avsc": "name no",
	}), folder.Options{})
	want := []string{
		"UPPER.AVSC AVRO UPPER", "a.avsc AVRO a", "avro.json AVRO avro", "b.json JSON b", "broken.json JSON broken error",
		"c.proto PROTOBUF c.proto", "idl.avdl   error", "t.thrift   error",
	}
	if diff := cmp.Diff(want, show(f)); diff != "" {
		t.Errorf("entries: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"README.md", "bad-data.json", "data.json"}, f.Others); diff != "" {
		t.Errorf("others: -want +got\n%s", diff)
	}
	for _, p := range []string{"idl.avdl", "t.thrift"} {
		if e, ok := f.Entry(p); !ok || !errors.Is(e.Err, folder.ErrNoChecker) {
			t.Errorf("%s: %v, want ErrNoChecker", p, e.Err)
		}
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{
		"large.avsc":   strings.Repeat("x", 101),
		"latin1.avsc":  "name caf\xe9",
		"binary.avsc":  "\x00\xff\xfe",
		"syntax.proto": "bad",
		"large.json":   strings.Repeat("x", 101),
		"fine.avsc":    strings.Repeat("x", 100),
		"marked.avsc":  "\ufeffname A",
	})
	fsys["link.avsc"] = &fstest.MapFile{Data: []byte("fine.avsc"), Mode: fs.ModeSymlink | 0o777}
	fsys["pipe.avsc"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	f := open(t, fsys, folder.Options{Limits: schemas.Limits{Text: 100}})
	var limit *schemas.LimitError
	if e, _ := f.Entry("large.avsc"); !errors.As(e.Err, &limit) || limit.Most != 100 || limit.Found != 101 {
		t.Errorf("large.avsc: %v, want a LimitError of 100 and 101", e.Err)
	}
	var syntax schemas.SyntaxErrors
	if e, _ := f.Entry("latin1.avsc"); !errors.As(e.Err, &syntax) || syntax[0].Position != (schemas.Position{Line: 1, Column: 9, Offset: 8}) {
		t.Errorf("latin1.avsc: %v, want a place", e.Err)
	}
	for _, p := range []string{"binary.avsc", "syntax.proto"} {
		if e, _ := f.Entry(p); !errors.As(e.Err, &syntax) {
			t.Errorf("%s: %v, want SyntaxErrors", p, e.Err)
		}
	}
	if e, _ := f.Entry("marked.avsc"); e.Source.Text != "name A" {
		t.Errorf("marked.avsc: the text is %q, want it without the byte order mark", e.Source.Text)
	}
	if e, _ := f.Entry("fine.avsc"); e.Err != nil {
		t.Errorf("fine.avsc: %v", e.Err)
	}
	if diff := cmp.Diff([]string{"link.avsc", "pipe.avsc"}, f.Links); diff != "" {
		t.Errorf("links: -want +got\n%s", diff)
	}
	for _, p := range f.Links { // a schema turned into a link must not pass unseen
		if e, ok := f.Entry(p); !ok || e.Err == nil || !strings.Contains(e.Err.Error(), "link") {
			t.Errorf("%s: %v, want an entry that cannot be used", p, e.Err)
		}
	}
	if diff := cmp.Diff([]string{"large.json"}, f.Others); diff != "" {
		t.Errorf("a .json file that cannot be read is no schema: -want +got\n%s", diff)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"avro by full name, dependencies first", map[string]string{
			"a.avsc": "name com.A\nneed com.B\nneed com.C", "b.avsc": "name com.B\nneed com.C", "z/c.avsc": "name com.C",
		}, []string{"z/c.avsc AVRO z/c", "b.avsc AVRO b [com.C=z/c@1]", "a.avsc AVRO a [com.B=b@1] [com.C=z/c@1]"}},
		{"avro by a name defined inside another file, once per file", map[string]string{
			"a.avsc": "name com.A\nneed com.Inner\nneed com.B", "b.avsc": "name com.B\nname com.Inner",
		}, []string{"b.avsc AVRO b", "a.avsc AVRO a [com.B=b@1]"}},
		{"avro prefers the file that is known by the name", map[string]string{
			"a.avsc": "name com.A\nneed com.B", "b.avsc": "name com.B", "c.avsc": "name com.C\nname com.B",
		}, []string{"b.avsc AVRO b", "a.avsc AVRO a [com.B=b@1]", "c.avsc AVRO c"}},
		{"avro, two files define it", map[string]string{
			"a.avsc": "name com.A\nneed com.B", "b1.avsc": "name com.B", "b2.avsc": "name com.B",
		}, []string{"a.avsc AVRO a error", "b1.avsc AVRO b1", "b2.avsc AVRO b2"}},
		{"avro, nobody defines it", map[string]string{
			"a.avsc": "name com.A\nneed com.B",
		}, []string{"a.avsc AVRO a missing com.B"}},
		{"names of another format do not answer", map[string]string{
			"a.avsc": "name com.A\nneed com.B", "b.proto": "name com.B",
		}, []string{"a.avsc AVRO a missing com.B", "b.proto PROTOBUF b.proto"}},
		{"json by $id", map[string]string{
			"a.json": "name https://x.test/s/a\nneed https://x.test/s/b", "deep/b.json": "name https://x.test/s/b#",
		}, []string{"deep/b.json JSON deep/b", "a.json JSON a [https://x.test/s/b=deep/b@1]"}},
		{"json beside the file", map[string]string{
			"s/a.json": "\"$schema\"\nneed ../common/b.json\nneed ./c.json\nneed /s/c.json", "common/b.json": `"$schema"`, "s/c.json": `"$schema"`,
		}, []string{"common/b.json JSON common/b", "s/c.json JSON s/c", "s/a.json JSON s/a [../common/b.json=common/b@1] [./c.json=s/c@1] [/s/c.json=s/c@1]"}},
		{"json beside its own $id", map[string]string{
			"s/a.json": "name https://x.test/v1/a.json\nneed https://x.test/v1/b.json\nneed https://x.test/v2/c.json\nneed https://y.test/v1/b.json",
			"s/b.json": `"$schema"`, "v2/c.json": `"$schema"`,
		}, []string{"s/b.json JSON s/b", "v2/c.json JSON v2/c", "s/a.json JSON s/a [https://x.test/v1/b.json=s/b@1] [https://x.test/v2/c.json=v2/c@1] missing https://y.test/v1/b.json"}},
		{"json beside a folder above, its dots lost", map[string]string{
			"s/c/a.json": "\"$schema\"\nneed b.json\n../b.json", "s/b.json": `"$schema"`,
		}, []string{"s/b.json JSON s/b", "s/c/a.json JSON s/c/a [b.json=s/b@1]"}},
		{"json that may be here or above", map[string]string{
			"s/c/a.json": "\"$schema\"\nneed b.json\n../b.json", "s/b.json": `"$schema"`, "s/c/b.json": `"$schema"`,
		}, []string{"s/b.json JSON s/b", "s/c/a.json JSON s/c/a error", "s/c/b.json JSON s/c/b"}},
		{"one name for two files in one closure", map[string]string{
			"a.json": "\"$schema\"\nneed x/t.json\nneed y/t.json", "x/t.json": "\"$schema\"\nneed u.json", "y/t.json": "\"$schema\"\nneed u.json",
			"x/u.json": `"$schema"`, "y/u.json": `"$schema"`,
		}, []string{
			"x/u.json JSON x/u", "x/t.json JSON x/t [u.json=x/u@1]", "y/u.json JSON y/u", "y/t.json JSON y/t [u.json=y/u@1]",
			"a.json JSON a [x/t.json=x/t@1] [y/t.json=y/t@1] error",
		}},
		{"json never leaves the tree", map[string]string{
			"a.json": "\"$schema\"\nneed ../../etc/passwd.json\nneed file:///etc/x.json\nneed %zz",
		}, []string{"a.json JSON a missing ../../etc/passwd.json missing file:///etc/x.json missing %zz"}},
		{"protobuf by import path", map[string]string{
			"p/a.proto": "need p/b.proto", "p/b.proto": "",
		}, []string{"p/b.proto PROTOBUF p/b.proto", "p/a.proto PROTOBUF p/a.proto [p/b.proto=p/b.proto@1]"}},
		{"protobuf from the nearest folder above", map[string]string{
			"one/p/a.proto": "need p/b.proto", "one/p/b.proto": "", "two/p/b.proto": "",
		}, []string{"one/p/b.proto PROTOBUF one/p/b.proto", "one/p/a.proto PROTOBUF one/p/a.proto [p/b.proto=one/p/b.proto@1]", "two/p/b.proto PROTOBUF two/p/b.proto"}},
		{"protobuf by the only end that fits", map[string]string{
			"a.proto": "need p/b.proto", "third_party/p/b.proto": "",
		}, []string{"third_party/p/b.proto PROTOBUF third_party/p/b.proto", "a.proto PROTOBUF a.proto [p/b.proto=third_party/p/b.proto@1]"}},
		{"protobuf, two ends fit", map[string]string{
			"a.proto": "need b.proto", "x/b.proto": "", "y/b.proto": "",
		}, []string{"a.proto PROTOBUF a.proto error", "x/b.proto PROTOBUF x/b.proto", "y/b.proto PROTOBUF y/b.proto"}},
		{"a file may need itself", map[string]string{
			"a.json": "name https://x.test/a\nneed https://x.test/a",
		}, []string{"a.json JSON a"}},
		{"a circle", map[string]string{
			"a.avsc": "name A\nneed B", "b.avsc": "name B\nneed C", "c.avsc": "name C\nneed B", "d.avsc": "name D\nneed A",
		}, []string{"c.avsc AVRO c [B=b@1] error", "b.avsc AVRO b [C=c@1] error", "a.avsc AVRO a [B=b@1]", "d.avsc AVRO d [A=a@1]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, show(open(t, tree(c.files), folder.Options{}))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestErrorsNameTheFiles(t *testing.T) {
	t.Parallel()
	f := open(t, tree(map[string]string{
		"a.avsc": "name A\nneed B", "b.avsc": "name B\nneed A",
		"x.avsc": "name X\nneed D", "d1.avsc": "name D", "d2.avsc": "name D",
		"same.avsc": "name S", "same.json": `"$schema"`,
	}), folder.Options{})
	for p, want := range map[string]string{
		"a.avsc":    "a.avsc → b.avsc → a.avsc",
		"x.avsc":    "resolving D: it is defined in d1.avsc and d2.avsc",
		"same.avsc": `same.avsc and same.json all become subject "same"`,
		"same.json": `same.avsc and same.json all become subject "same"`,
	} {
		if e, _ := f.Entry(p); e.Err == nil || !strings.Contains(e.Err.Error(), want) {
			t.Errorf("%s: %v, want %q", p, e.Err, want)
		}
	}
}

func TestNaming(t *testing.T) {
	t.Parallel()
	files := map[string]string{"d/a.avsc": "name com.A", "d/b.json": "name https://x.test/b", "d/c.proto": "name p.C", "d/e.json": `"$schema"`}
	for naming, want := range map[folder.Naming][]string{
		"":              {"d/a", "d/b", "d/c.proto", "d/e"},
		"{stem}":        {"d/a", "d/b", "d/c", "d/e"},
		"{path}-value":  {"d/a.avsc-value", "d/b.json-value", "d/c.proto-value", "d/e.json-value"},
		":.team:{stem}": {":.team:d/a", ":.team:d/b", ":.team:d/c", ":.team:d/e"},
		"{name}":        {"com.A", "https://x.test/b", "p.C", "error"},
	} {
		f := open(t, tree(files), folder.Options{Naming: naming})
		var got []string
		for _, p := range []string{"d/a.avsc", "d/b.json", "d/c.proto", "d/e.json"} {
			e, _ := f.Entry(p)
			if e.Err != nil {
				got = append(got, "error")
				continue
			}
			got = append(got, e.Subject.String())
			if s, err := naming.Subject(e, toys()); err != nil || s != e.Subject {
				t.Errorf("%q names %s %s, %v, want %s", naming, p, s, err, e.Subject)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", naming, diff)
		}
	}
	for _, bad := range []string{"{stem", "{file}", "{}", "a{b}c"} {
		if _, err := folder.ParseNaming(bad); err == nil {
			t.Errorf("ParseNaming(%q): want an error", bad)
		}
	}
	if n := folder.Naming("orders-value"); !n.IsFixed() || folder.Naming("").IsFixed() || folder.Naming("{stem}").IsFixed() {
		t.Error("IsFixed is wrong")
	}
}

func TestAFixedNameIsForWhatIsSelected(t *testing.T) {
	t.Parallel()
	f := open(t, tree(map[string]string{"a.avsc": "name A\nneed B", "b.avsc": "name B"}), folder.Options{Naming: "orders-value", Under: []string{"a.avsc"}})
	want := []string{"b.avsc AVRO b unselected", "a.avsc AVRO orders-value [B=b@1]"}
	if diff := cmp.Diff(want, show(f)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReferencesAcrossContexts(t *testing.T) {
	t.Parallel()
	f := open(t, tree(map[string]string{"a.avsc": "name A\nneed B", "b.avsc": "name B"}), folder.Options{
		Declared: map[string]folder.Declaration{"a.avsc": {Subject: ":.c:a"}},
	})
	e, _ := f.Entry("a.avsc")
	ref := e.Source.References[0]
	if ref.Subject != ":.:b" || ref.Target(".c") != (schemas.Subject{Context: ".", Name: "b"}) {
		t.Errorf("reference %+v does not reach the default context from .c", ref)
	}
	got, err := f.Resolve(context.Background(), ".c", ref)
	if err != nil || got.Source.Text != "name B" {
		t.Errorf("Resolve = %+v, %v", got, err)
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	f := open(t, tree(map[string]string{"plain.json": "{}", "odd.txt": "name com.T", "a.avsc": "name com.A"}), folder.Options{
		Declared: map[string]folder.Declaration{
			"plain.json": {Subject: "plain-value"},
			"odd.txt":    {Subject: "odd-value", Type: schemas.Avro},
			"gone.avsc":  {Subject: "gone-value"},
		},
	})
	want := []string{"a.avsc AVRO a", "odd.txt AVRO odd-value", "plain.json JSON plain-value"}
	if diff := cmp.Diff(want, show(f)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gone.avsc"}, f.Absent); diff != "" {
		t.Errorf("absent: -want +got\n%s", diff)
	}
	_, err := folder.Open(context.Background(), tree(map[string]string{"odd.txt": "x"}), folder.Options{
		Formats: toys(), Declared: map[string]folder.Declaration{"odd.txt": {Subject: "s"}},
	})
	if err == nil || !strings.Contains(err.Error(), "odd.txt") {
		t.Errorf("%v, want that the type of odd.txt is not known", err)
	}
}

func TestSelecting(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{"a/x.avsc": "name X\nneed Y", "a/b/y.avsc": "name Y", "c/z.avsc": "name Z", "c/plain.json": "{}"})
	for _, c := range []struct {
		name      string
		options   folder.Options
		selected  []string
		unmatched []string
	}{
		{"all", folder.Options{}, []string{"a/b/y.avsc", "a/x.avsc", "c/z.avsc"}, nil},
		{"include a folder", folder.Options{Include: []string{"a"}}, []string{"a/b/y.avsc", "a/x.avsc"}, nil},
		{"include a glob", folder.Options{Include: []string{"**/y.avsc", "*/z.*"}}, []string{"a/b/y.avsc", "c/z.avsc"}, nil},
		{"exclude", folder.Options{Exclude: []string{"a/b/", "nothing"}}, []string{"a/x.avsc", "c/z.avsc"}, []string{"nothing"}},
		{"under", folder.Options{Under: []string{"a/b", "c/plain.json"}}, []string{"a/b/y.avsc", "c/plain.json"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := open(t, fsys, c.options)
			var got []string
			for _, e := range f.Entries {
				if e.Selected {
					got = append(got, e.Path)
				}
			}
			if diff := cmp.Diff(c.selected, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if diff := cmp.Diff(c.unmatched, f.Unmatched); diff != "" {
				t.Errorf("unmatched: -want +got\n%s", diff)
			}
			if f.Selected() != len(c.selected) {
				t.Errorf("Selected = %d, want %d", f.Selected(), len(c.selected))
			}
			// What is not selected still answers references.
			if e, _ := f.Entry("a/x.avsc"); len(e.Source.References) != 1 {
				t.Errorf("a/x.avsc has references %v", e.Source.References)
			}
		})
	}
	for _, bad := range []string{"", "/etc", "../x", "a/[", "**/.."} {
		_, err := folder.Open(context.Background(), fsys, folder.Options{Formats: toys(), Include: []string{bad}})
		if (err == nil) != (bad == "**/..") {
			t.Errorf("pattern %q: %v", bad, err)
		}
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{"a.avsc": "name A\nneed B", "b.avsc": "name B", "c.json": "{}"})
	f := open(t, fsys, folder.Options{Only: []string{"a.avsc", "c.json"}})
	if diff := cmp.Diff([]string{"a.avsc AVRO a missing B", "c.json JSON c"}, show(f)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := folder.Open(context.Background(), fsys, folder.Options{Formats: toys(), Only: []string{"none.avsc"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want fs.ErrNotExist", err)
	}
}

func TestLimitsOfTheTree(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("d%d/s.avsc", i)] = "name N" + path.Base(fmt.Sprint(i))
	}
	for name, o := range map[string]folder.Options{
		"schema files": {Files: 4}, "files and folders": {Nodes: 10}, "bytes of schema text": {Bytes: 34},
	} {
		o.Formats = toys()
		_, err := folder.Open(context.Background(), tree(files), o)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want a limit on %s", err, name)
		}
	}
	open(t, tree(files), folder.Options{Files: 5, Nodes: 11, Bytes: 35})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := folder.Open(ctx, tree(files), folder.Options{Formats: toys()}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f := open(t, tree(map[string]string{"a.avsc": "name A"}), folder.Options{})
	s := schemas.Subject{Context: schemas.DefaultContext, Name: "a"}
	for _, v := range []schemas.Version{1, schemas.Latest} {
		got, err := f.ByVersion(ctx, s, v)
		if err != nil || got.Source.Text != "name A" || got.Version != 1 || got.GUID != (schemas.GUID{}) {
			t.Errorf("ByVersion(%s) = %+v, %v", v, got, err)
		}
	}
	if got, err := f.Latest(ctx, s); err != nil || got.Version != 1 {
		t.Errorf("Latest = %+v, %v", got, err)
	}
	if got, err := f.BySource(ctx, s, schemas.Source{Type: schemas.Avro, Text: "name A"}); err != nil || got.Version != 1 {
		t.Errorf("BySource = %+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		ask  func() (schemas.Found, error)
		want error
	}{
		"version": {func() (schemas.Found, error) { return f.ByVersion(ctx, s, 2) }, schemas.ErrVersionUnknown},
		"subject": {func() (schemas.Found, error) { return f.ByVersion(ctx, schemas.Subject{Name: "b"}, 1) }, schemas.ErrSubjectUnknown},
		"other text": {func() (schemas.Found, error) {
			return f.BySource(ctx, s, schemas.Source{Type: schemas.Avro, Text: "x"})
		}, schemas.ErrSchemaUnknown},
		"other type": {func() (schemas.Found, error) {
			return f.BySource(ctx, s, schemas.Source{Type: schemas.JSON, Text: "name A"})
		}, schemas.ErrSchemaUnknown},
		"guid": {func() (schemas.Found, error) { return f.ByGUID(ctx, schemas.GUID{1}) }, schemas.ErrSchemaUnknown},
		"id":   {func() (schemas.Found, error) { return f.ByID(ctx, schemas.ID{Number: 1}) }, schemas.ErrSchemaUnknown},
	} {
		if got, err := c.ask(); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, c.want)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/s%d.avsc", i%10, i)] = fmt.Sprintf("name N%d\nneed N%d", i, i/2)
	}
	fsys := tree(files)
	o := folder.Options{Formats: toys()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := folder.Open(context.Background(), fsys, o); err != nil {
			b.Fatal(err)
		}
	}
}
