package folder_test

import (
	"testing"
	"testing/fstest"

	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func TestSameLooksAtWhatAFileRefersTo(t *testing.T) {
	t.Parallel()
	open := func(files map[string]string) *folder.Folder {
		fsys := fstest.MapFS{}
		for p, text := range files {
			fsys[p] = &fstest.MapFile{Data: []byte(text)}
		}
		f, err := folder.Open(t.Context(), fsys, folder.Options{Formats: formats.All})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	files := func(base string) map[string]string {
		return map[string]string{
			"base.proto":  `syntax = "proto3"; message Base { ` + base + ` }`,
			"near.proto":  `syntax = "proto3"; import "base.proto"; message Near { Base base = 1; }`,
			"far.proto":   `syntax = "proto3"; import "near.proto"; message Far { Near near = 1; }`,
			"alone.proto": `syntax = "proto3"; message Alone {}`,
			"lacks.proto": `syntax = "proto3"; import "nowhere.proto"; message Lacks {}`,
			"wrong.proto": `syntax = "proto3"; message {`,
			"a.proto":     `syntax = "proto3"; import "b.proto";`,
			"b.proto":     `syntax = "proto3"; import "a.proto";`,
		}
	}
	one, again, other := open(files("string a = 1;")), open(files("string a = 1;")), open(files("string b = 1;"))
	for path, want := range map[string][2]bool{
		"base.proto": {true, false}, "near.proto": {true, false}, "far.proto": {true, false}, "alone.proto": {true, true},
		"lacks.proto": {}, "wrong.proto": {}, "a.proto": {}, "b.proto": {},
	} {
		a, ok := one.Entry(path)
		b, ok2 := again.Entry(path)
		c, ok3 := other.Entry(path)
		if !ok || !ok2 || !ok3 {
			t.Fatalf("%s is not there", path)
		}
		if got := [2]bool{folder.Same(one, a, again, b), folder.Same(one, a, other, c)}; got != want {
			t.Errorf("%s: the same in equal trees, and where base.proto differs: %v, want %v", path, got, want)
		}
	}
	changed := *mustEntry(t, one, "alone.proto")
	if folder.Same(one, &changed, again, mustEntry(t, again, "alone.proto")) {
		t.Error("an entry that is not the folder's has no digest")
	}
}

func mustEntry(t *testing.T, f *folder.Folder, path string) *folder.Entry {
	t.Helper()
	e, ok := f.Entry(path)
	if !ok {
		t.Fatalf("%s is not there", path)
	}
	return e
}
