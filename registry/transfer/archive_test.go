package transfer_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cartorio-registry/cartorio/registry/transfer"
)

type packedFile struct {
	name, text string
	kind       byte
}

// pack makes a gzipped tar.
func pack(t *testing.T, files ...packedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		if f.kind == 0 {
			f.kind = tar.TypeReg
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: f.kind, Name: f.name, Size: int64(len(f.text)), Linkname: "/etc/passwd"}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, data []byte) (files []packedFile) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, packedFile{name: h.Name, text: string(text)})
	}
}

func manifestOf(files ...packedFile) packedFile {
	var list []map[string]any
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		list = append(list, map[string]any{"path": f.name, "bytes": len(f.text), "sha256": hex.EncodeToString(sum[:])})
	}
	text, _ := json.Marshal(map[string]any{"format": "cartorio-export", "version": 1, "complete": true, "files": list})
	return packedFile{name: "manifest.json", text: string(text)}
}

// Source: the words "zip-slip and bombs refused" of the task.
func TestHostileArchives(t *testing.T) {
	t.Parallel()
	r := open(t)
	fill(t, r, 5, 60)
	var good bytes.Buffer
	if err := transfer.ToArchive(t.Context(), &good, transfer.FromHeld(r)); err != nil {
		t.Fatal(err)
	}
	files := unpack(t, good.Bytes())
	changed := func(change func(list []packedFile) []packedFile) []byte {
		return pack(t, change(append([]packedFile{}, files...))...)
	}
	bombs := []packedFile{{}}
	for i := range 2 {
		bombs = append(bombs, packedFile{name: fmt.Sprint(i), text: strings.Repeat(" ", 63<<20)})
	}
	bombs[0] = manifestOf(bombs[1:]...)
	for _, c := range []struct {
		name string
		data []byte
		says string
	}{
		{"text", []byte("a text"), "no gzipped tar"},
		{"nothing", nil, "no gzipped tar"},
		{"empty tar", pack(t), "does not begin with manifest.json"},
		{"other tar", pack(t, packedFile{name: "a.txt", text: "a"}), "does not begin with manifest.json"},
		{"other manifest", pack(t, packedFile{name: "manifest.json", text: `{"format":"other"}`}), "no export of a registry"},
		{"newer", pack(t, packedFile{name: "manifest.json", text: `{"format":"cartorio-export","version":2,"complete":true}`}), "a newer one"},
		{"interrupted", pack(t, packedFile{name: "manifest.json", text: `{"format":"cartorio-export","version":1}`}), "was interrupted"},
		{"changed text", changed(func(l []packedFile) []packedFile {
			l[len(l)-1].text = strings.Replace(l[len(l)-1].text, "e", "x", 1)
			return l
		}), "SHA-256"},
		{"missing file", changed(func(l []packedFile) []packedFile { return l[:len(l)-1] }), "in the manifest and not in the archive"},
		{"file of nobody", changed(func(l []packedFile) []packedFile { return append(l, packedFile{name: "x", text: "x"}) }), "x is not in the manifest"},
		{"file twice", changed(func(l []packedFile) []packedFile { return append(l, l[1]) }), "comes twice"},
		{"path upward", pack(t, manifestOf(packedFile{name: "../x", text: "x"})), `"../x"`},
		{"absolute path", pack(t, manifestOf(), packedFile{name: "/etc/x", text: "x"}), "no file inside the archive"},
		{"upward entry", pack(t, manifestOf(), packedFile{name: "a/../../x", text: "x"}), "no file inside the archive"},
		{"link", pack(t, manifestOf(), packedFile{name: "x", kind: tar.TypeSymlink}), "no file inside the archive"},
		{"bomb", pack(t, bombs...), "no archive of schemas does"},
		{"cut off", good.Bytes()[:good.Len()-10], "unexpected EOF"},
		{"nothing but a manifest", pack(t, manifestOf()), "registry.json is not there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := transfer.FromArchive(t.Context(), bytes.NewReader(c.data))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := transfer.FromArchive(t.Context(), bytes.NewReader(pack(t, files...))); err != nil {
		t.Errorf("packed anew: %v", err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	r := open(t)
	fill(t, r, 6, 80)
	from := transfer.FromHeld(r)
	dir := filepath.Join(t.TempDir(), "made", "anew")
	export := func() {
		t.Helper()
		if err := transfer.ToFolder(t.Context(), dir, from); err != nil {
			t.Fatal(err)
		}
	}
	export()
	// What people put there stays; what the export no longer has goes.
	note := filepath.Join(dir, "README.md")
	if err := os.WriteFile(note, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	texts := func() (n int) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) != "anew" {
				n++
			}
			return err
		})
		return n
	}
	before := texts()
	whole := from
	from.Versions, from.Subjects, from.Settings = whole.Versions[:1], nil, nil
	export()
	if n := texts(); n != 2 || before < 10 {
		t.Errorf("%d files are left of %d, want a text and its subject.json", n, before)
	}
	if text, err := os.ReadFile(note); err != nil || string(text) != "ours" {
		t.Errorf("the file beside the export: %q, %v", text, err)
	}
	from = whole
	export()
	back, err := transfer.FromFolder(t.Context(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "folder", whole, back)

	// What is no file is not waited for.
	for _, made := range []func(string) error{func(path string) error { return os.Mkdir(path, 0o700) }, pipe} {
		for _, name := range []string{"manifest.json", "registry.json"} {
			odd := filepath.Join(t.TempDir(), "odd")
			if err := os.CopyFS(odd, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.Remove(filepath.Join(odd, name)), made(filepath.Join(odd, name))); err != nil {
				t.Fatal(err)
			}
			if _, err := transfer.FromFolder(t.Context(), os.DirFS(odd)); err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("%s that is no file: %v", name, err)
			}
			if err := transfer.ToFolder(t.Context(), odd, from); err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("an export over such a %s: %v", name, err)
			}
		}
	}

	// A folder of something else is left alone.
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := transfer.ToFolder(t.Context(), other, from); err == nil || !strings.Contains(err.Error(), "holds no export") {
		t.Errorf("export over a foreign folder: %v", err)
	}

	// An interrupted export says so, and the next one mends it.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := transfer.ToFolder(ctx, dir, from); err == nil {
		t.Error("an export that was called off is no error")
	}
	if _, err := transfer.FromFolder(t.Context(), os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), "was interrupted") {
		t.Errorf("an interrupted export: %v", err)
	}
	export()

	// By hand changed, it is refused with the file's name.
	var first string
	for _, v := range unpackDir(t, dir) {
		if strings.HasSuffix(v, ".avsc") {
			first = v
		}
	}
	if err := os.WriteFile(filepath.Join(dir, first), []byte(`"changed"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.FromFolder(t.Context(), os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("a changed export: %v, want it to name %s", err, first)
	}
	if _, err := transfer.FromFolder(t.Context(), fstest.MapFS{}); err == nil {
		t.Error("an empty folder is an export")
	}
}

func unpackDir(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func FuzzArchive(f *testing.F) {
	r := open(f)
	fill(f, r, 9, 20)
	var good bytes.Buffer
	if err := transfer.ToArchive(f.Context(), &good, transfer.FromHeld(r)); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = transfer.FromArchive(t.Context(), bytes.NewReader(data))
	})
}
