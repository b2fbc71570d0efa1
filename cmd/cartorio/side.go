package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/archive"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// reading says how a side of a comparison, or what is to be registered, is read.
type reading struct {
	root             string // folder in which references are found; "" means the argument itself
	naming           folder.Naming
	include, exclude []string
	declared         declarations
	gate             bool      // for the command that judges, and has its flags
	head             *side     // of a base: where identities are seen from, and much of the same
	in               io.Reader // what "-" stands for
}

// side is one tree that was read.
type side struct {
	label  string // what the user wrote
	folder *folder.Folder
	// file is set when the side is one file: its path in the tree.
	file string
	// prefix stands before a path of the tree when it is shown.
	prefix string
	close  func()
	// shared is what the schemas of the side have in common.
	shared schemas.Shared

	// past answers references, where the side is a bundle; nil where its tree does.
	past schemas.Resolver

	// from is the way to the tree from the repository's root, else from the
	// configuration's folder: subjects are identified by it.
	from string
	// atRoot tells whether there is a file where identities begin; nil where that is
	// the side's own folder.
	atRoot func(p string) bool
	root   string   // folder on disk
	commit string   // of a git side
	dir    string   // of a git side, inside the repository
	under  []string // what was asked of the root, when not all
	// absent tells that the side is not there and may be.
	absent bool
	// added lists the files of the tree that the head's history added after it,
	// sorted; nil unless the side is a commit at the head's own folder.
	added func(context.Context) ([]string, error)
	// ignored tells what git does not look at; nil when it looks at all.
	ignored func(p string, isFolder bool) bool
}

// show is how a file of the side is named to people.
func (s *side) show(p string) string {
	if scheme, dir, ok := strings.Cut(s.prefix, "\x00"); ok {
		return scheme + path.Join(dir, p)
	}
	return path.Join(s.prefix, p)
}

// openDisk reads a file or folder of the disk.
func openDisk(ctx context.Context, arg string, r reading) (*side, error) {
	info, err := os.Stat(arg)
	if err != nil {
		return nil, failf(exitNotCompared, "reading %s: %w", arg, bare(err))
	}
	s := &side{label: arg, root: arg, close: func() {}}
	isFile := !info.IsDir()
	if isFile && !info.Mode().IsRegular() { // reading a pipe could wait for ever
		return nil, failf(exitNotCompared, "reading %s: it is neither a file nor a folder", arg)
	}
	if isFile && archive.Is(arg) {
		return openArchive(ctx, arg, nil, r)
	}
	if link, err := os.Lstat(arg); isFile && err == nil && link.Mode()&os.ModeSymlink != 0 {
		// Links inside a folder are not followed; one that is named is meant.
		if arg, err = filepath.EvalSymlinks(arg); err != nil {
			return nil, failf(exitNotCompared, "reading %s: %w", s.label, bare(err))
		}
	}
	switch {
	case r.root != "":
		rel, err := relative(r.root, arg)
		if err != nil || !filepath.IsLocal(rel) {
			return nil, failf(exitUsage, "reading %s: it does not lie under --root %s", arg, r.root)
		}
		s.root = r.root
		if rel != "." {
			s.under = []string{filepath.ToSlash(rel)}
		}
	case isFile:
		s.root = filepath.Dir(arg)
		s.under = []string{filepath.Base(arg)}
	}
	if isFile {
		s.file = s.under[0]
	}
	s.prefix = filepath.ToSlash(filepath.Clean(s.root))
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return nil, failf(exitNotCompared, "reading %s: %w", s.root, bare(err))
	}
	s.close = func() { _ = root.Close() }
	if !isFile && r.gate {
		if s.ignored, err = ignoredIn(ctx, s.root); err != nil {
			s.close()
			return nil, failf(exitNotCompared, "reading %s: %w", s.label, err)
		}
	}
	s.from = r.anchored(s.root)
	s.atRoot = besideOnDisk(s.root, s.from)
	declared, families := r.declared.under(s.root)
	if err := s.read(ctx, root.FS(), r, declared, families); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openGit reads the folder or file that spec names; without a path, what head
// names on the disk, at that commit. head is nil when the git side is the head.
func openGit(ctx context.Context, spec gitfs.Spec, head *side, allowEmpty bool, r reading) (*side, error) {
	at := ""
	s := &side{label: spec.String(), close: func() {}}
	switch {
	case head != nil:
		at = head.root
		if !spec.HasPath {
			s.under, s.file = head.under, head.file
		}
	case r.root != "":
		at = r.root
	}
	repository, err := gitfs.Find(ctx, at)
	if err != nil {
		return nil, fail(exitNotCompared, err)
	}
	from := "HEAD"
	if head != nil && head.commit != "" {
		from = head.commit
	}
	commit, err := repository.Commit(ctx, spec, from)
	if err != nil {
		return nil, fail(exitNotCompared, err)
	}
	dir := repository.Prefix
	if spec.HasPath {
		dir = spec.Path
	}
	s.commit, s.dir = commit, dir
	s.root, s.prefix = at, gitfs.Spec{Ref: spec.Ref, MergeBase: spec.MergeBase, Tags: spec.Tags}.String()+":\x00"+dir
	tree, file, err := repository.Open(ctx, commit, dir)
	if err == nil {
		s.close = func() { _ = tree.Close() }
		if head != nil && head.commit == "" {
			tree.Near = func(name string) (string, bool) {
				e, ok := head.folder.Entry(name)
				if !ok {
					return "", false
				}
				return e.Source.Text, true
			}
		}
		if file != "" {
			s.file, s.under = file, []string{file}
			s.prefix = strings.TrimSuffix(s.prefix, dir) + path.Dir(dir)
		}
		for _, u := range s.under {
			if _, statErr := fs.Stat(tree, u); statErr != nil && err == nil {
				dir, err = path.Join(dir, u), gitfs.ErrNoPath
			}
		}
	}
	if err == nil {
		if head.within(repository) == dir {
			s.added = func(ctx context.Context) ([]string, error) { return repository.Added(ctx, commit, from, dir) }
		}
		declared, families := r.declared.under(at)
		if spec.HasPath {
			declared = nil
		}
		if s.from = dir; file != "" {
			s.from = path.Dir(dir)
		}
		s.atRoot = besideInCommit(ctx, repository, commit, s.from)
		if err := s.read(ctx, tree, r, declared, families); err != nil {
			s.close()
			return nil, err
		}
		return s, nil
	}
	s.close()
	if !errors.Is(err, gitfs.ErrNoPath) {
		return nil, fail(exitNotCompared, err)
	}
	err = fmt.Errorf("reading %s at %s: %w", dir, spec, gitfs.ErrNoPath)
	if !allowEmpty {
		added, addedErr := repository.Added(ctx, commit, from, dir)
		if addedErr != nil {
			return nil, fail(exitNotCompared, addedErr)
		}
		if len(added) == 0 {
			return nil, failf(exitNotCompared, "%w, and no commit since then added it%s", err, emptyHint(r.gate))
		}
	}
	s.absent = true
	return s.empty(ctx)
}

// within is the folder of a head inside the repository that was found for it; ""
// when there is no head.
func (s *side) within(r *gitfs.Repository) string {
	switch {
	case s == nil:
		return ""
	case s.commit != "":
		return s.dir
	}
	return r.Prefix
}

// sayLikely names the files that a command passes over and that look like schemas.
func (a *app) sayLikely(s *side) {
	for _, p := range s.folder.Likely {
		a.say(`%s: it looks like a JSON Schema and has no "$schema", so it is left out: add that, name it *.schema.json or declare it in cartorio.yaml`, s.show(p))
	}
}

// jsonHint says what makes a schema of a .json file, where there are some that are
// none; it is put behind an error.
func (s *side) jsonHint() string {
	if !slices.ContainsFunc(s.folder.Others, func(p string) bool { return strings.HasSuffix(strings.ToLower(p), ".json") }) {
		return ""
	}
	return `; a .json file is a schema when it has "$schema", is named *.schema.json or is declared in cartorio.yaml`
}

// mayBeEmpty refuses a base that is there and holds no schema: a wrong path would
// leave the gate open. It is fine where that was asked for, and where a commit on
// the way to the head added a schema of the head, as the first pull request does.
func (s *side) mayBeEmpty(ctx context.Context, c checking, head *side) error {
	narrowed := len(c.include)+len(c.exclude) > 0 && len(s.folder.Entries) > 0
	if s.folder.Selected() > 0 || narrowed || s.absent || c.allowEmpty {
		return nil
	}
	if s.added != nil {
		names, err := s.added(ctx)
		if err != nil {
			return fail(exitNotCompared, err)
		}
		for _, e := range head.folder.Entries {
			if _, ok := slices.BinarySearch(names, e.Path); ok && e.Selected {
				return nil
			}
		}
	}
	return failf(exitNotCompared, "%s holds no schema to compare with%s", s.label, emptyHint(!c.ownLevel))
}

// declaredAbsent refuses a folder that lacks what the configuration declares: a
// wrong path there would leave a schema unchecked. One file says nothing of that.
func (s *side) declaredAbsent() error {
	if s.file != "" || len(s.folder.Absent) == 0 {
		return nil
	}
	names := make([]string, len(s.folder.Absent))
	for i, p := range s.folder.Absent {
		names[i] = s.show(p)
	}
	verb := map[bool]string{true: "is", false: "are"}[len(names) == 1]
	return failf(exitNotCompared, "%s %s declared in the configuration and not there: correct the path, or take the subject out", strings.Join(names, ", "), verb)
}

// emptyHint tells what to do about a base without schemas; only the gate can take
// it as empty.
func emptyHint(gate bool) string {
	if gate {
		return ": check the spelling, or say --allow-empty-base"
	}
	return ": check the spelling"
}

// empty is a side without any schema.
func (s *side) empty(ctx context.Context) (*side, error) {
	s.close = func() {}
	s.under, s.file = nil, ""
	f, err := folder.Open(ctx, nil, folder.Options{Formats: formats.All, Only: []string{}})
	if err != nil {
		return nil, fail(exitNotCompared, err)
	}
	s.folder = f
	return s, nil
}

// read opens the tree. A single file is read alone at first: the folder around
// it may be anything, and matters only when the file refers to something.
func (s *side) read(ctx context.Context, fsys fs.FS, r reading, declared map[string]folder.Declaration, families []folder.Family) error {
	var beside *folder.Folder
	if r.head != nil {
		s.from, beside = r.head.from, r.head.folder
	}
	if s.from == "." {
		s.from = ""
	}
	o := folder.Options{
		Formats: formats.All, From: s.from, Beside: beside, Naming: r.naming, Include: r.include, Exclude: r.exclude, Declared: declared, Families: families, Context: r.declared.context,
		Only: nil, Under: s.under,
	}
	if s.file != "" {
		o.Only = []string{s.file}
	} else if s.ignored != nil {
		o.Skip = func(p string, isFolder bool) bool {
			_, declared := declared[p]
			return !declared && s.ignored(p, isFolder)
		}
	}
	f, err := folder.Open(ctx, fsys, o)
	if err == nil && s.file != "" && len(f.Entries) == 1 && len(f.Entries[0].Missing) > 0 {
		o.Only = nil
		f, err = folder.Open(ctx, fsys, o)
	}
	if err != nil {
		return failf(exitNotCompared, "%s: %w", s.label, err)
	}
	s.folder = f
	return nil
}

// parse reads an entry as a schema. Its references come from the same tree.
//
// Errors: whatever is wrong with the file, ready to be shown.
func (s *side) parse(ctx context.Context, e *folder.Entry, mode schemas.Mode, beside schemas.Resolver) (schemas.Schema, error) {
	if e.Err != nil {
		if errors.Is(e.Err, folder.ErrNoChecker) {
			return nil, fmt.Errorf("%w: compare it by other means, and leave it out with --exclude-path '%s'", e.Err, "**/*"+path.Ext(e.Path))
		}
		return nil, e.Err
	}
	if len(e.Missing) > 0 && beside == nil {
		return nil, fmt.Errorf("it needs %s, which no schema under %s defines: add the file, or read a larger folder", strings.Join(e.Missing, ", "), s.show("."))
	}
	format, ok := formats.Named(e.Source.Type)
	if !ok {
		return nil, fmt.Errorf("type %s is not part of this binary", e.Source.Type)
	}
	resolver := schemas.Resolver(s.folder)
	if s.past != nil {
		resolver = s.past
	}
	if beside != nil {
		resolver = either{resolver, beside}
	}
	options := schemas.ParseOptions{Mode: mode, From: e.Subject.Context, Shared: &s.shared}
	if own, ok := s.folder.Entry(e.Path); ok && own == e && s.past == nil {
		// Else it is a variant, which nothing refers to.
		options.Name, options.Leaf = e.Path, !s.folder.IsUsed(e)
	}
	return format.Parse(ctx, e.Source, resolver, options)
}

// either asks one resolver and then the other.
type either struct{ first, second schemas.Resolver }

func (e either) Resolve(ctx context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	got, err := e.first.Resolve(ctx, in, ref)
	if errors.Is(err, schemas.ErrSubjectUnknown) || errors.Is(err, schemas.ErrVersionUnknown) {
		return e.second.Resolve(ctx, in, ref)
	}
	return got, err
}

// anchored is the way to a folder of the disk from the root of the repository that
// it is in, else from the folder of the configuration; empty where it lies under
// neither. What is said of a finding then does not depend on the folder named.
func (r reading) anchored(dir string) string {
	anchor := repositoryRoot(dir)
	if anchor == "" {
		if !r.declared.isThere {
			return ""
		}
		anchor = r.declared.dir
	}
	way, err := relative(anchor, dir)
	if err != nil || !filepath.IsLocal(way) {
		return ""
	}
	return filepath.ToSlash(way)
}

// relative is the way from folder root to p. Both are seen from here, and either
// may begin with "..".
func relative(root, p string) (string, error) {
	from, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// bare drops the operation and path that an os error repeats.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
