package folder_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

func TestSkippedFilesAreNotThere(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{"a.avsc": "name a", "build/b.avsc": "bad", "build/deep/c.avsc": "name c", "d.avsc": "name d"})
	f, err := folder.Open(t.Context(), fsys, folder.Options{
		Formats: toys(),
		Skip:    func(p string, isFolder bool) bool { return isFolder && p == "build" || p == "d.avsc" },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 1 || f.Entries[0].Path != "a.avsc" || f.Skipped != 2 {
		t.Errorf("%v, %d skipped", f.Entries, f.Skipped)
	}
}

func TestFamiliesNameAndDeclare(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{"orders/a.json": "name com.acme.A", "orders/b.json": "name com.acme.B", "c.json": "nothing"})
	f, err := folder.Open(t.Context(), fsys, folder.Options{
		Formats:  toys(),
		Families: []folder.Family{{Match: func(p string) bool { return folder.Match("orders/*.json", p) }, Naming: "{name}-value", Type: schemas.Avro}},
		Declared: map[string]folder.Declaration{"orders/b.json": {Subject: "own"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range f.Entries {
		got[e.Path] = string(e.Source.Type) + " " + e.Subject.String()
		if !e.Declared || e.Err != nil {
			t.Errorf("%s: declared %v, %v", e.Path, e.Declared, e.Err)
		}
	}
	if got["orders/a.json"] != "AVRO com.acme.A-value" || !strings.HasSuffix(got["orders/b.json"], " own") || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestContextOfAllSubjects(t *testing.T) {
	t.Parallel()
	fsys := tree(map[string]string{"a.avsc": "name a\nneed b", "b.avsc": "name b", "c.avsc": "name c"})
	f, err := folder.Open(t.Context(), fsys, folder.Options{
		Formats: toys(), Context: ".shop",
		Declared: map[string]folder.Declaration{"c.avsc": {Subject: ":.own:c"}, "b.avsc": {Subject: "bee"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range f.Entries {
		got[e.Path] = e.Subject.String()
		if e.Err != nil || len(e.Missing) > 0 {
			t.Errorf("%s: %v, missing %v", e.Path, e.Err, e.Missing)
		}
		for _, ref := range e.Source.References {
			if _, err := f.Resolve(t.Context(), e.Subject.Context, ref); err != nil {
				t.Error(err)
			}
		}
	}
	if got["a.avsc"] != ":.shop:a" || got["b.avsc"] != ":.shop:bee" || got["c.avsc"] != ":.own:c" {
		t.Errorf("%v", got)
	}
}

// A name that no path can be made of keeps its schema from being compared, and
// stops nothing else.
func TestNamesThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.avsc": "name a", "caf\xe9.avsc": "name b", "caf\xe9.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Skipf("this file system takes no such names: %v", err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "d\xff"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, fsys := range []fs.FS{os.DirFS(dir), root(t, dir)} {
		f, err := folder.Open(t.Context(), fsys, folder.Options{Formats: toys()})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Entries) != 2 || f.Entries[0].Err != nil || f.Entries[1].Path != `caf\xe9.avsc` || f.Entries[1].Err == nil {
			t.Errorf("%+v", f.Entries)
		}
		if got := strings.Join(f.Unnamed, " "); got != `caf\xe9.avsc caf\xe9.txt d\xff` {
			t.Errorf("unnamed: %s", got)
		}
	}
}

func root(t *testing.T, dir string) fs.FS {
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r.FS()
}
