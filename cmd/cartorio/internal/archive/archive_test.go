package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/archive"
)

type entry struct {
	name, text string
	link       bool
}

func tarOf(t *testing.T, packed bool, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	var out io.Writer = &b
	var z *gzip.Writer
	if packed {
		z = gzip.NewWriter(&b)
		out = z
	}
	w := tar.NewWriter(out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Size: int64(len(e.text)), Mode: 0o644, Typeflag: tar.TypeReg}
		if e.link {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, e.text, 0
		} else if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, e.text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if z != nil {
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func zipOf(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.Create(e.name)
		if err == nil {
			_, err = io.WriteString(f, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestArchivesAreFileSystems(t *testing.T) {
	t.Parallel()
	entries := []entry{{name: "./a/"}, {name: "./a/b/c.avsc", text: "c"}, {name: "d.proto", text: "dd"}}
	for name, packed := range map[string][]byte{"tar": tarOf(t, false, entries...), "tar.gz": tarOf(t, true, entries...), "zip": zipOf(t, entries[1:]...)} {
		tree, err := archive.Read(bytes.NewReader(packed), archive.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := fstest.TestFS(tree, "a/b/c.avsc", "d.proto"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := fs.ReadFile(tree, "d.proto"); err != nil || string(b) != "dd" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	tree, err := archive.Read(bytes.NewReader(tarOf(t, true, entry{name: "x.avsc", text: "/etc/passwd", link: true})), archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := fs.ReadDir(tree, ".")
	if err != nil || len(list) != 1 || list[0].Type() != fs.ModeSymlink {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := tree.Open("x.avsc"); err == nil {
		t.Error("a link was opened")
	}
}

func TestHostileArchivesAreRefused(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 1<<20)
	few := archive.Limits{Packed: 1 << 20, Unpacked: 1 << 19, Files: 10}
	var many []entry
	for i := range 20 {
		many = append(many, entry{name: strings.Repeat("x", i+1), text: "y"})
	}
	for name, c := range map[string]struct {
		packed []byte
		want   string
	}{
		"tar upward":       {tarOf(t, true, entry{name: "../up.avsc", text: "x"}), "leads elsewhere"},
		"tar absolute":     {tarOf(t, false, entry{name: "/etc/up.avsc", text: "x"}), "leads elsewhere"},
		"tar inner upward": {tarOf(t, false, entry{name: "a/../../up.avsc", text: "x"}), "leads elsewhere"},
		"zip upward":       {zipOf(t, entry{name: "../up.avsc", text: "x"}), "leads elsewhere"},
		"zip backslash":    {zipOf(t, entry{name: `..\up.avsc`, text: "x"}), "leads elsewhere"},
		"twice":            {tarOf(t, true, entry{name: "a", text: "x"}, entry{name: "./a", text: "y"}), "twice"},
		"file and folder":  {tarOf(t, true, entry{name: "a", text: "x"}, entry{name: "a/b", text: "y"}), "a file and a folder"},
		"tar bomb":         {tarOf(t, true, entry{name: "a", text: zeros}), "unpacks to more than"},
		"zip bomb":         {zipOf(t, entry{name: "a", text: zeros}), "unpacks to more than"},
		"many":             {tarOf(t, true, many...), "more than 10 files"},
		"deep":             {tarOf(t, true, entry{name: strings.Repeat("d/", 30) + "f", text: "x"}), "more than 10 files"},
		"large":            {append(zipOf(t), make([]byte, 2<<20)...), "more than 1048576 bytes"},
		"text":             {[]byte("no archive at all"), "neither a tar nor a zip"},
		"nothing":          {nil, "neither a tar nor a zip"},
		"cut":              {tarOf(t, true, entry{name: "a", text: "x"})[:40], "unexpected EOF"},
	} {
		_, err := archive.Read(bytes.NewReader(c.packed), few)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("PK"))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, packed []byte) {
		tree, err := archive.Read(bytes.NewReader(packed), archive.Limits{Unpacked: 1 << 16, Files: 100})
		if err != nil {
			return
		}
		if err := fs.WalkDir(tree, ".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
			t.Error(err)
		}
	})
}

// An archive is refused wherever it was cut: at the border between two members
// as well, and in a file of zeros, which look like the end.
func TestArchivesCutShortAreRefused(t *testing.T) {
	t.Parallel()
	entries := []entry{{name: "a.avsc", text: `"int"`}, {name: "b/c.avsc", text: `"long"`}, {name: "zeros", text: strings.Repeat("\x00", 2048)}}
	for name, whole := range map[string][]byte{"tar": tarOf(t, false, entries...), "tar.gz": tarOf(t, true, entries...), "zip": zipOf(t, entries...)} {
		if _, err := archive.Read(bytes.NewReader(whole), archive.Limits{}); err != nil {
			t.Errorf("the whole %s: %v", name, err)
		}
		for n := range len(whole) {
			if _, err := archive.Read(bytes.NewReader(whole[:n]), archive.Limits{}); err == nil {
				t.Errorf("%s: %d of %d bytes are taken for the whole", name, n, len(whole))
			}
		}
		padded := append(bytes.Clone(whole), make([]byte, 10240)...)
		if _, err := archive.Read(bytes.NewReader(padded), archive.Limits{}); name != "zip" && err != nil {
			t.Errorf("%s with padding behind it: %v", name, err)
		}
	}
	cut := tarOf(t, false, entries...)[:1024]
	if _, err := archive.Read(bytes.NewReader(cut), archive.Limits{}); err == nil || !strings.Contains(err.Error(), "the archive is cut short") {
		t.Errorf("cut behind its first member: %v", err)
	}
}
