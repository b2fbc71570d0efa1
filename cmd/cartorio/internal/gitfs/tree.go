package gitfs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git names objects by it
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tree is a folder of a commit as an [fs.FS], [fs.ReadDirFS] and
// [fs.ReadFileFS]. It is safe for use by many goroutines. Symbolic links show
// as links that cannot be opened, submodules as irregular files.
type Tree struct {
	// Commit is the full id.
	Commit string
	// Unnamed counts files whose names are no UTF-8 or no valid paths; they are
	// left out.
	Unnamed int
	// Near answers a text that the file of that name may hold, as one that lies in the
	// work tree beside it. It is read in place of the object where its id proves that
	// it is the same; nil answers none.
	Near func(name string) (text string, ok bool)

	nodes map[string]*node
	batch *batch
}

type node struct {
	name     string
	mode     fs.FileMode
	object   string
	size     int64
	children []*node
}

// most files that one tree may list; a schema folder is far below it.
const mostFiles = 1_000_000

// Open shows the folder p of a commit. If p is a file, the tree is the folder
// that holds it with that file alone, and file is its name.
//
// Errors: ErrNoPath (wrapped).
func (r *Repository) Open(ctx context.Context, commit, p string) (t *Tree, file string, err error) {
	object := commit + "^{tree}"
	if p != "." {
		object = commit + ":" + p
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", object)
	if err != nil {
		if stopped(ctx, err) {
			return nil, "", fmt.Errorf("reading %s at %s: %w", p, short(commit), err)
		}
		return nil, "", fmt.Errorf("reading %s at %s: %w", p, short(commit), ErrNoPath)
	}
	id := strings.TrimSpace(out)
	kind, err := r.git(ctx, "cat-file", "-t", id)
	if err != nil {
		return nil, "", fmt.Errorf("reading %s at %s: %w", p, short(commit), err)
	}
	t = &Tree{Commit: commit, nodes: map[string]*node{".": {name: ".", mode: fs.ModeDir | 0o555}}}
	args := []string{"ls-tree", "-r", "-z", "-l", "--full-tree"}
	switch strings.TrimSpace(kind) {
	case "tree":
		args = append(args, id)
	case "blob":
		// The entry of its folder tells whether it is a link.
		file = path.Base(p)
		args = append(args, commit, "--", p)
	default:
		return nil, "", fmt.Errorf("reading %s at %s: it is a %s, neither folder nor file", p, short(commit), strings.TrimSpace(kind))
	}
	cmd := r.command(ctx, args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("listing %s at %s: %w", p, short(commit), err)
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("listing %s at %s: %w", p, short(commit), explain(err, ""))
	}
	readErr := t.list(bufio.NewReader(pipe), file)
	if readErr != nil {
		_ = cmd.Process.Kill()
	}
	waitErr := cmd.Wait()
	if readErr != nil {
		return nil, "", fmt.Errorf("listing %s at %s: %w", p, short(commit), readErr)
	}
	if waitErr != nil {
		if strings.Contains(complaint.String(), "missing") || strings.Contains(complaint.String(), "lazy fetch") {
			return nil, "", fmt.Errorf("listing %s at %s: this clone is partial and lacks the files: run: git fetch --refetch --no-filter: %w", p, short(commit), explain(waitErr, complaint.String()))
		}
		return nil, "", fmt.Errorf("listing %s at %s: %w", p, short(commit), explain(waitErr, complaint.String()))
	}
	for _, n := range t.nodes {
		slices.SortFunc(n.children, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	}
	t.batch = &batch{start: func() *exec.Cmd { return r.command(context.WithoutCancel(ctx), "cat-file", "--batch") }}
	return t, file, nil
}

// list reads "mode type id size<TAB>path<NUL>" lines. file, when set, is the
// one name to keep.
func (t *Tree) list(in *bufio.Reader, file string) error {
	for n := 0; ; n++ {
		line, err := in.ReadString(0)
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		if n == mostFiles {
			return fmt.Errorf("more than %d files: name a smaller folder", mostFiles)
		}
		head, name, ok := strings.Cut(strings.TrimSuffix(line, "\x00"), "\t")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 {
			return fmt.Errorf("git's list has a line that is not understood: %q", line)
		}
		if file != "" {
			name = file
		}
		if !fs.ValidPath(name) {
			t.Unnamed++
			continue
		}
		entry := &node{name: path.Base(name), object: fields[2]}
		switch fields[0] {
		case "120000":
			entry.mode = fs.ModeSymlink | 0o777
		case "160000":
			entry.mode = fs.ModeIrregular
		default:
			entry.mode = 0o444
			if entry.size, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
				return fmt.Errorf("git's list has a size that is not understood: %q", line)
			}
		}
		t.nodes[name] = entry
		t.hang(name, entry)
	}
}

// hang puts a node under its folder, which is made when it is not there.
func (t *Tree) hang(name string, n *node) {
	dir := path.Dir(name)
	parent, ok := t.nodes[dir]
	if !ok {
		parent = &node{name: path.Base(dir), mode: fs.ModeDir | 0o555}
		t.nodes[dir] = parent
		t.hang(dir, parent)
	}
	parent.children = append(parent.children, n)
}

// Close ends the git process that reads objects.
func (t *Tree) Close() error { return t.batch.close() }

func (t *Tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n, ok := t.nodes[name]
	if !ok {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// Open opens a file or folder.
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	f := &handle{tree: t, node: n, path: name}
	if !n.mode.IsDir() && !n.mode.IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is a link or a submodule, which is not followed")}
	}
	return f, nil
}

// ReadFile reads a whole file.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no regular file")}
	}
	if t.Near != nil {
		if text, ok := t.Near(name); ok && int64(len(text)) == n.size && isObject(n.object, text) {
			return []byte(text), nil
		}
	}
	b, err := t.batch.read(n.object, n.size)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

// isObject tells whether a text is the object of an id, which is the SHA-1 or the
// SHA-256 of its kind, length and text.
func isObject(id, text string) bool {
	var h hash.Hash
	switch len(id) {
	case 2 * sha1.Size:
		h = sha1.New() //nolint:gosec // it is what git names objects by
	case 2 * sha256.Size:
		h = sha256.New()
	default:
		return false
	}
	fmt.Fprintf(h, "blob %d\x00", len(text)) //nolint:errcheck // a hash takes everything
	io.WriteString(h, text)                  //nolint:errcheck // as above
	return hex.EncodeToString(h.Sum(nil)) == id
}

// ReadDir lists a folder by name.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("it is no folder")}
	}
	out := make([]fs.DirEntry, len(n.children))
	for i, c := range n.children {
		out[i] = fs.FileInfoToDirEntry(info{c})
	}
	return out, nil
}

type info struct{ *node }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// handle is an open file, read on the first Read, or an open folder.
type handle struct {
	tree   *Tree
	node   *node
	path   string
	body   *bytes.Reader
	listed int
}

func (h *handle) Stat() (fs.FileInfo, error) { return info{h.node}, nil }
func (h *handle) Close() error               { return nil }

func (h *handle) Read(p []byte) (int, error) {
	if h.body == nil {
		b, err := h.tree.ReadFile(h.path)
		if err != nil {
			return 0, err
		}
		h.body = bytes.NewReader(b)
	}
	return h.body.Read(p)
}

func (h *handle) ReadDir(n int) ([]fs.DirEntry, error) {
	all, err := h.tree.ReadDir(h.path)
	if err != nil {
		return nil, err
	}
	rest := all[h.listed:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	h.listed += len(rest)
	return rest, nil
}

func short(commit string) string { return commit[:min(12, len(commit))] }

// batch is one running `git cat-file --batch`, started when first needed.
type batch struct {
	start func() *exec.Cmd
	mu    sync.Mutex
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   error
}

// read answers an object of the size that the list told.
func (b *batch) read(object string, size int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, b.err
	}
	if b.cmd == nil {
		b.cmd = b.start()
		if b.in, b.err = b.cmd.StdinPipe(); b.err != nil {
			return nil, b.err
		}
		var out io.ReadCloser
		if out, b.err = b.cmd.StdoutPipe(); b.err != nil {
			return nil, b.err
		}
		b.out = bufio.NewReader(out)
		if b.err = b.cmd.Start(); b.err != nil {
			return nil, b.err
		}
	}
	text, err := b.ask(object, size)
	if err != nil {
		b.err = fmt.Errorf("reading object %s from git: %w", short(object), err)
		return nil, b.err
	}
	return text, nil
}

func (b *batch) ask(object string, size int64) ([]byte, error) {
	if _, err := io.WriteString(b.in, object+"\n"); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[2] != strconv.FormatInt(size, 10) {
		return nil, fmt.Errorf("git answers %q", strings.TrimSpace(head))
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(b.out, text); err != nil {
		return nil, err
	}
	if c, err := b.out.ReadByte(); err != nil || c != '\n' {
		return nil, errors.New("git's answer does not end where it should")
	}
	return text, nil
}

func (b *batch) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cmd == nil {
		return nil
	}
	cmd := b.cmd
	b.cmd, b.err = nil, fs.ErrClosed
	_ = b.in.Close()
	return cmd.Wait()
}
