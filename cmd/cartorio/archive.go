package main

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/archive"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
)

// archived splits FILE#path=DIR; ok tells that FILE names an archive, or stdin.
func archived(arg string) (file, dir string, ok bool) {
	file, dir, _ = strings.Cut(arg, "#path=")
	return file, dir, file == "-" || archive.Is(file)
}

// openArchive reads a tar or zip archive, from stdin for "-". head is what it is
// compared with; nil when the archive is the head.
func openArchive(ctx context.Context, arg string, head *side, r reading) (*side, error) {
	file, dir, _ := archived(arg)
	in := r.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, failf(exitNotCompared, "reading %s: %w", file, bare(err))
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	if in == nil {
		in = strings.NewReader("")
	}
	tree, err := archive.Read(in, archive.Limits{})
	if err != nil {
		return nil, failf(exitNotCompared, "reading the archive %s: %w", orWord(strings.TrimPrefix(file, "-"), "on stdin"), err)
	}
	return openTree(ctx, tree, arg, file, dir, head, r)
}

// openTree reads a folder of what was packed; dir is "" for all of it.
func openTree(ctx context.Context, tree fs.FS, arg, file, dir string, head *side, r reading) (*side, error) {
	s := &side{label: arg, close: func() {}, prefix: file + ":\x00"}
	if dir != "" {
		clean := path.Clean(dir)
		info, err := fs.Stat(tree, clean)
		if err != nil || !fs.ValidPath(clean) {
			return nil, failf(exitNotCompared, "reading %s: it has no path %s", file, dir)
		}
		if !info.IsDir() {
			s.file, s.under = path.Base(clean), []string{path.Base(clean)}
			clean = path.Dir(clean)
		}
		s.prefix += clean
		s.from = clean
		if tree, err = fs.Sub(tree, clean); err != nil {
			return nil, failf(exitNotCompared, "reading %s: %w", arg, err)
		}
	}
	if head != nil {
		s.root = head.root
	}
	declared, families := r.declared.under(s.root)
	for p := range declared { // an archive may hold less than the folder
		if _, err := fs.Stat(tree, p); err != nil {
			delete(declared, p)
		}
	}
	if err := s.read(ctx, tree, r, declared, families); err != nil {
		return nil, err
	}
	return s, nil
}

// ignoredIn tells what git does not look at below a folder: files that no commit
// has and that .gitignore names. Nil when the folder is in no repository, is
// ignored itself, or git is not installed.
func ignoredIn(ctx context.Context, dir string) (func(p string, isFolder bool) bool, error) {
	if repositoryRoot(dir) == "" {
		return nil, nil
	}
	repository, err := gitfs.Find(ctx, dir)
	if err != nil {
		return nil, nil //nolint:nilerr // without git nothing is ignored
	}
	list, err := repository.Ignored(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	files, folders := map[string]bool{}, map[string]bool{}
	for _, p := range list {
		switch name, isFolder := strings.CutSuffix(p, "/"); {
		case name == "." || name == "":
			return nil, nil // what was named is meant
		case isFolder:
			folders[name] = true
		default:
			files[p] = true
		}
	}
	return func(p string, isFolder bool) bool { return isFolder && folders[p] || !isFolder && files[p] }, nil
}

// repositoryRoot is the folder upward of dir that holds .git, absolute; "" when
// there is none.
func repositoryRoot(dir string) string {
	dir, err := filepath.Abs(orWord(dir, "."))
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}
