// Package archive shows a tar or zip archive as an [fs.FS].
//
// It reads the whole archive into memory within limits and writes nothing. A
// name that leads out of the archive, an archive that unpacks to more than the
// limits, and two files of one name are refused, whatever else it holds. It
// knows nothing of schemas.
//
// Start with [Read].
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Limits bound an archive. Zero fields mean the defaults.
type Limits struct {
	Packed   int64 // bytes of the archive, 256 MiB
	Unpacked int64 // bytes of all files together, 256 MiB
	Files    int   // files and folders, 200,000
}

func (l Limits) orDefault() Limits {
	if l.Packed == 0 {
		l.Packed = 256 << 20
	}
	if l.Unpacked == 0 {
		l.Unpacked = 256 << 20
	}
	if l.Files == 0 {
		l.Files = 200_000
	}
	return l
}

// Is tells whether the name of a file says that it is an archive.
func Is(name string) bool {
	lower := strings.ToLower(name)
	for _, end := range []string{".tar.gz", ".tgz", ".tar", ".zip"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	return false
}

// Read reads an archive: a tar, packed with gzip or not, or a zip. The bytes
// tell which.
//
// Errors: it is none of these; a limit; a name that is absolute, leads out of
// the archive or stands there twice.
func Read(r io.Reader, limits Limits) (*Tree, error) {
	l := limits.orDefault()
	packed, err := io.ReadAll(io.LimitReader(r, l.Packed+1))
	if err != nil {
		return nil, err
	}
	if int64(len(packed)) > l.Packed {
		return nil, fmt.Errorf("it has more than %d bytes", l.Packed)
	}
	t := &Tree{limits: l, nodes: map[string]*node{".": {name: ".", mode: fs.ModeDir | 0o555}}}
	switch {
	case bytes.HasPrefix(packed, []byte("PK")):
		err = t.zip(packed)
	case bytes.HasPrefix(packed, []byte{0x1f, 0x8b}):
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			err = t.tar(unpacked)
		}
	case len(packed) < 512: // a tar has at least one block
		err = errors.New("it is neither a tar nor a zip archive")
	default:
		err = t.tar(bytes.NewReader(packed))
	}
	if err != nil {
		return nil, err
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	return t, nil
}

// Tree is an archive that was read. It is immutable and safe for use by many
// goroutines. Links show as links that cannot be opened.
type Tree struct {
	limits Limits
	nodes  map[string]*node
	bytes  int64
}

type node struct {
	name     string
	mode     fs.FileMode
	data     []byte
	children []*node
}

func (t *Tree) zip(packed []byte) error {
	z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, f := range z.File {
		mode := f.Mode()
		if strings.HasSuffix(f.Name, "/") {
			mode = fs.ModeDir
		}
		if err := t.add(f.Name, mode, func() (io.ReadCloser, error) { return f.Open() }); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) tar(r io.Reader) error {
	// What is skipped is unpacked too, so the stream as a whole is bounded.
	bounded := &bound{r: r, left: t.limits.Unpacked + int64(t.limits.Files)*1024, most: t.limits.Unpacked}
	a := tar.NewReader(bounded)
	for n := 0; ; n++ {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 {
				return errors.New("it is neither a tar nor a zip archive, or an empty one")
			}
			if bounded.ended {
				return errCut // the two blocks of zeros that close a tar did not come
			}
			return rest(bounded)
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			if n == 0 && errors.Is(err, tar.ErrHeader) {
				return errors.New("it is neither a tar nor a zip archive")
			}
			return err
		}
		mode := h.FileInfo().Mode()
		switch h.Typeflag {
		case tar.TypeXGlobalHeader, tar.TypeXHeader:
			continue
		case tar.TypeLink:
			mode = fs.ModeSymlink // another name of a file; it is not followed either
		}
		if err := t.add(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(a), nil }); err != nil {
			return err
		}
	}
}

// errCut tells of a tar that lacks its end: what was cut off is not known, and
// files that are not there would count as removed.
var errCut = errors.New("the archive is cut short: the two blocks of zeros at its end are missing")

// rest reads what stands behind a tar's end, with which gzip tells whether the
// whole came as it was packed. What is no gzip behind that is left alone.
func rest(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the archive is cut short: the end of its gzip is missing")
	case errors.Is(err, gzip.ErrHeader):
		return nil
	}
	return err
}

// bound refuses to unpack more than it may. ended tells that more was asked for
// than there was.
type bound struct {
	r          io.Reader
	left, most int64
	ended      bool
}

func (b *bound) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes", b.most)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	b.ended = b.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}

func (t *Tree) add(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	clean := path.Clean(strings.TrimSuffix(name, "/"))
	if strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) || !fs.ValidPath(clean) {
		return fmt.Errorf("the name %q in it leads elsewhere or is no path: nothing of it is read", name)
	}
	if clean == "." {
		return nil
	}
	if len(t.nodes) > t.limits.Files {
		return fmt.Errorf("it holds more than %d files and folders", t.limits.Files)
	}
	if old, there := t.nodes[clean]; there {
		if mode.IsDir() && old.mode.IsDir() {
			return nil
		}
		return fmt.Errorf("the name %q stands in it twice", clean)
	}
	n := &node{name: path.Base(clean), mode: mode.Type() | 0o444}
	if mode.IsRegular() {
		r, err := open()
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", clean, err)
		}
		defer r.Close() //nolint:errcheck // it was only read
		left := t.limits.Unpacked - t.bytes
		n.data, err = io.ReadAll(io.LimitReader(r, left+1))
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", clean, err)
		}
		if t.bytes += int64(len(n.data)); t.bytes > t.limits.Unpacked {
			return fmt.Errorf("it unpacks to more than %d bytes", t.limits.Unpacked)
		}
	}
	return t.hang(clean, n)
}

// hang puts a node under its folder, which is made when it is not there.
func (t *Tree) hang(name string, n *node) error {
	for {
		t.nodes[name] = n
		dir := path.Dir(name)
		parent, there := t.nodes[dir]
		if !there {
			parent = &node{name: path.Base(dir), mode: fs.ModeDir | 0o555}
		}
		if !parent.mode.IsDir() {
			return fmt.Errorf("the name %q in it is a file and a folder", dir)
		}
		parent.children = append(parent.children, n)
		if there {
			return nil
		}
		if len(t.nodes) > t.limits.Files {
			return fmt.Errorf("it holds more than %d files and folders", t.limits.Files)
		}
		name, n = dir, parent
	}
}

// Open opens a file or folder.
func (t *Tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	n, ok := t.nodes[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if !n.mode.IsDir() && !n.mode.IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is a link, which is not followed")}
	}
	return &handle{node: n, Reader: bytes.NewReader(n.data)}, nil
}

type handle struct {
	*bytes.Reader
	node *node
	at   int
}

func (h *handle) Stat() (fs.FileInfo, error) { return info{h.node}, nil }
func (h *handle) Close() error               { return nil }

// ReadDir lists a folder, sorted.
func (h *handle) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := h.node.children[h.at:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && n < len(rest) {
		rest = rest[:n]
	}
	h.at += len(rest)
	out := make([]fs.DirEntry, len(rest))
	for i, c := range rest {
		out[i] = fs.FileInfoToDirEntry(info{c})
	}
	return out, nil
}

// info is what is known of a file: no time, so that nothing depends on one.
type info struct{ *node }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.data)) }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
