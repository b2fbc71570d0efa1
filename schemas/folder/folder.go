// Package folder turns a folder of schema files, or any other [fs.FS], into
// subjects and sources, in the order in which they can be registered: what is
// referred to stands before what refers to it.
//
// It cannot tell a work tree from a git ref or a bundle, and it knows no
// grammar: formats come in as values. References are resolved inside the same
// tree: Avro by the file that defines the full name, JSON Schema by $id or
// relative path, Protobuf by import path. A file that cannot be used carries
// its reason in [Entry.Err]; only a tree that cannot be walked is an error.
//
// Start with [Open]; [Pair] says which file of one tree is which of another.
package folder

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Options say how a tree is read. Zero fields mean the defaults.
type Options struct {
	// Formats are the schema languages that are understood.
	Formats []schemas.Format
	// From is the way to the tree from where identities begin, slash-separated,
	// such as a repository's root; empty where the tree is that.
	From string
	// Naming makes subject names. A template without placeholders names the
	// Selected files only; what they refer to keeps the default.
	Naming Naming
	// Context is that of the subjects whose names do not begin with one; the
	// default context when empty.
	Context schemas.Context
	// Declared tells what paths cannot: subject or type of a file. A declared
	// file is a schema whatever it looks like.
	Declared map[string]Declaration
	// Families are files that are declared together; what Declared says of one
	// file wins, then the first family that matches.
	Families []Family
	// Beside is a folder that holds much of the same: what a file defines and needs is
	// taken from there where path and text are the same. It changes no answer.
	Beside *Folder
	// Skip leaves out files, and folders with all that is in them, as if they
	// were not there; nil leaves out none. It is not asked about Only.
	Skip func(p string, isFolder bool) bool
	// Only lists the files to look at, instead of walking the tree. Each one
	// counts as declared.
	Only []string
	// Under narrows which entries are Selected to these files and those below
	// these folders, without patterns; a file named here counts as declared.
	// Empty means all.
	Under []string
	// Include and Exclude narrow which entries are Selected; the others are
	// still there to be referred to. See [Match] for the form of a pattern.
	Include, Exclude []string
	// Limits bound each text.
	Limits schemas.Limits
	// Files is how many schema files a tree may hold, 10,000.
	Files int
	// Nodes is how many files and folders are walked, 200,000.
	Nodes int
	// Bytes is how much schema text a tree may hold, 256 MiB.
	Bytes int64
}

func (o Options) orDefault() Options {
	o.Limits = o.Limits.OrDefault()
	if o.Files == 0 {
		o.Files = 10_000
	}
	if o.Nodes == 0 {
		o.Nodes = 200_000
	}
	if o.Bytes == 0 {
		o.Bytes = 256 << 20
	}
	return o
}

// Declaration is what a configuration says of a file. Both members may be
// empty.
type Declaration struct {
	Subject string // qualified or not; wins over Naming
	Type    schemas.Type
}

// Family declares the files that Match tells, all at once. Its members may be
// empty as those of a Declaration.
type Family struct {
	Match  func(p string) bool
	Naming Naming
	Type   schemas.Type
}

// Entry is one schema file.
type Entry struct {
	// Path is slash-separated, inside the tree.
	Path string
	// Subject is the name that Naming or a declaration gives.
	Subject schemas.Subject
	// Identity is the subject as it would be if the tree began at Options.From: the
	// same whichever folder is read. Empty where Subject is.
	Identity schemas.Subject
	// Declared tells that a declaration gave it.
	Declared bool
	// Source holds type, text and the references that the tree answers, each
	// pinned to version 1, the only one that a folder has.
	Source schemas.Source
	// Names are the full names that the file defines; see [schemas.Outline].
	Names []string
	// Uses are the entries that References point to, as indexes in
	// Folder.Entries, each once, ascending.
	Uses []int
	// Missing are the names that the file needs and the tree does not define.
	Missing []string
	// Selected is false where Include and Exclude leave the file out.
	Selected bool
	// Err says why the file cannot be used as it stands: it does not parse, is
	// not text, too large, one of a circle, of two files with one subject, or
	// needs a name that two files define or that stands for two. ErrNoChecker marks a known schema
	// language without a format.
	Err error
}

// ErrNoChecker marks a file of a schema language that is known and has no
// format: it is counted as not checked, never as compatible.
var ErrNoChecker = errors.New("this schema language has no checker yet")

// Folder is a tree that was read. It is immutable and safe for use by many
// goroutines.
type Folder struct {
	// Entries are the schema files: dependencies first, else by path.
	Entries []Entry
	// Others are the paths of files that are no schemas, sorted.
	Others []string
	// Likely are those of Others that read like a JSON Schema and do not say that they
	// are one, sorted.
	Likely []string
	// Skipped is how many files and folders were left out by Options.Skip.
	Skipped int
	// Unnamed are the files and folders whose names are no UTF-8, quoted: no path
	// names them, so they are not read. A file among them with the ending of a
	// schema is among the entries too, with its Err.
	Unnamed []string
	// Links are the paths of symbolic links and other things that are neither
	// files nor folders. They are not followed; one with the ending of a schema
	// is among the entries too, with its Err.
	Links []string
	// Absent are the declared files that are not there, sorted.
	Absent []string
	// Unmatched are the patterns of Include and Exclude that match no schema.
	Unmatched []string

	bySubject map[schemas.Subject]int
	byPath    map[string]int
	digests   []digest // of Entries
	used      []bool   // of Entries: another one refers to it
	subjects  bool     // paths are subjects; see Newest
	outlines  map[string]outlined
}

// digest is over a file's type and text and, per reference, its name and the
// digest of the file that answers; nil where that is not the whole of what the
// file means.
type digest *[sha256.Size]byte

// Same tells whether two files, each an entry of its folder, are the same text of
// one type, and refer to the same texts, and theirs, by the same names. It is
// false where a file cannot be used as it stands or needs what its tree lacks.
func Same(a *Folder, e *Entry, b *Folder, other *Entry) bool {
	x, y := a.digest(e), b.digest(other)
	return x != nil && y != nil && *x == *y
}

// IsUsed tells whether another file of the tree refers to e, an entry of it.
func (f *Folder) IsUsed(e *Entry) bool {
	i, ok := f.byPath[e.Path]
	return ok && f.used[i]
}

func (f *Folder) digest(e *Entry) digest {
	if i, ok := f.byPath[e.Path]; ok && &f.Entries[i] == e {
		return f.digests[i]
	}
	return nil
}

// sum makes the digests; what an entry refers to stands before it, but in a
// circle.
func (f *Folder) sum() {
	f.digests, f.used = make([]digest, len(f.Entries)), make([]bool, len(f.Entries))
	for i := range f.Entries {
		for _, to := range f.Entries[i].Uses {
			f.used[to] = true
		}
	}
	h := sha256.New()
	for i := range f.Entries {
		e := &f.Entries[i]
		if e.Err != nil || len(e.Missing) > 0 {
			continue
		}
		h.Reset()
		h.Write([]byte(e.Source.Type))
		h.Write([]byte{0})
		io.WriteString(h, e.Source.Text) //nolint:errcheck // a hash takes everything
		whole := true
		for _, r := range e.Source.References {
			target, ok := f.bySubject[r.Target(e.Subject.Context)]
			if !ok || f.subjects { // it is pinned to a version that is not here
				whole = false
				break
			}
			if target >= i || f.digests[target] == nil {
				whole = false
				break
			}
			h.Write([]byte{0})
			io.WriteString(h, r.Name) //nolint:errcheck // as above
			h.Write([]byte{0})
			h.Write(f.digests[target][:])
		}
		if whole {
			f.digests[i] = (*[sha256.Size]byte)(h.Sum(nil))
		}
	}
}

// Open reads the schema files of fsys. Folders whose name starts with a dot and
// node_modules are not entered.
//
// Errors: what fsys answers; a limit of Options on the whole tree; a template
// or pattern that cannot be read; a declared file of unknown type. What is wrong
// with one file is in its entry.
func Open(ctx context.Context, fsys fs.FS, options Options) (*Folder, error) {
	o := options.orDefault()
	if err := o.Naming.check(); err != nil {
		return nil, err
	}
	for _, list := range [][]string{o.Include, o.Exclude} {
		for _, p := range list {
			if err := CheckPattern(p); err != nil {
				return nil, err
			}
		}
	}
	r := reader{fsys: fsys, options: o, folder: &Folder{outlines: map[string]outlined{}}}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	f := r.folder
	r.narrow()
	r.name()
	l := newLinker(r.files)
	l.link()
	l.clash()
	f.Entries = l.ordered()
	f.index()
	return f, nil
}

// index names the entries, and sums them up.
func (f *Folder) index() {
	f.bySubject = map[schemas.Subject]int{}
	f.byPath = map[string]int{}
	for i := range f.Entries {
		e := &f.Entries[i]
		f.byPath[e.Path] = i
		if e.Subject != (schemas.Subject{}) {
			if _, taken := f.bySubject[e.Subject]; !taken {
				f.bySubject[e.Subject] = i
			}
		}
	}
	f.sum()
}

// Entry finds the file at path.
func (f *Folder) Entry(path string) (*Entry, bool) {
	i, ok := f.byPath[path]
	if !ok {
		return nil, false
	}
	return &f.Entries[i], true
}

// Referred finds the entry that a reference of e, an entry of the folder, stands
// for.
func (f *Folder) Referred(e *Entry, ref schemas.Reference) (*Entry, bool) {
	i, ok := f.bySubject[ref.Target(e.Subject.Context)]
	if !ok {
		return nil, false
	}
	return &f.Entries[i], true
}

// Selected counts the entries that are selected.
func (f *Folder) Selected() int {
	n := 0
	for i := range f.Entries {
		if f.Entries[i].Selected {
			n++
		}
	}
	return n
}

// Resolve answers a reference from inside the tree; with it a *Folder is a
// [schemas.Resolver]. Any version but 1 and the latest is unknown.
//
// Errors: ErrSubjectUnknown, ErrVersionUnknown.
func (f *Folder) Resolve(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	found, err := f.find(ref.Target(in), ref.Version)
	if err != nil {
		return schemas.Resolved{}, err
	}
	return schemas.Resolved{Subject: found.Subject, Version: 1, Source: found.Source}, nil
}

func (f *Folder) find(subject schemas.Subject, version schemas.Version) (*Entry, error) {
	if subject.Context == "" {
		subject.Context = schemas.DefaultContext
	}
	i, ok := f.bySubject[subject]
	if !ok {
		return nil, fmt.Errorf("looking for %s in the folder: %w", subject, schemas.ErrSubjectUnknown)
	}
	if version != 1 && version != schemas.Latest {
		return nil, fmt.Errorf("looking for version %s of %s in the folder, which has version 1 only: %w", version, subject, schemas.ErrVersionUnknown)
	}
	return &f.Entries[i], nil
}
