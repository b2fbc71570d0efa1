package protobuf

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// What parses of one tree share: each text is parsed once, and each file is
// linked once for each meaning of its imports.
type (
	unitKey struct {
		path, text string
		limits     schemas.Limits
		stored     bool
	}
	linkKey struct {
		unit    *unit
		imports string
	}
	symbolsKey struct{}
)

type read struct {
	unit *unit
	err  error
}

// sharedUnit is readSource, once.
func sharedUnit(shared *schemas.Shared, path, text string, limits schemas.Limits, stored bool) (*unit, error) {
	got := shared.Once(unitKey{path, text, limits, stored}, func() any {
		u, err := readSource(path, text, limits, stored)
		return read{u, err}
	}).(read)
	return got.unit, got.err
}

// Linked is a linked file and those that it imports. One of a tree is shared by
// all schemas of the tree in whose closures it is.
type Linked struct {
	id      uint64
	path    string
	pack    string
	imports []*Linked
	// desc is the linked form, made at its first use where the file was assembled
	// and is stored.
	desc func() protoreflect.FileDescriptor
	// plain is what an assembled file was made of; nil for the compiler's.
	plain *descriptorpb.FileDescriptorProto
	// sum is over the text and those of all imports; nil where it is not known.
	sum *[sha256.Size]byte
	// table is the file compiled for reading, where it is so alone.
	table   func() map[string]*message
	derive  sync.Once
	derived any
	// again is the file as protobuf-go builds it; see mapping.
	again func() (protoreflect.FileDescriptor, error)
	// whole is what all answers.
	whole func() []*Linked
	// file is the file as the compiler imports it.
	file func() (linker.File, error)
}

var links atomic.Uint64

func newLinked(fd protoreflect.FileDescriptor, imports []*Linked) *Linked {
	return newLazy(fd.Path(), string(fd.Package()), imports, func() protoreflect.FileDescriptor { return fd })
}

func newLazy(path, pack string, imports []*Linked, desc func() protoreflect.FileDescriptor) *Linked {
	l := &Linked{id: links.Add(1), path: path, pack: pack, imports: imports, desc: desc}
	l.again = sync.OnceValues(l.rebuild)
	l.file = sync.OnceValues(l.wrap)
	l.whole = sync.OnceValue(l.list)
	l.table = sync.OnceValue(l.compile)
	return l
}

// digest makes the sum, of imports whose sums are known.
func (l *Linked) digest(text string) {
	h := sha256.New()
	h.Write([]byte(text))
	for _, one := range l.imports {
		if one.sum == nil {
			return
		}
		h.Write([]byte{0})
		h.Write([]byte(one.path))
		h.Write([]byte{0})
		h.Write(one.sum[:])
	}
	l.sum = (*[sha256.Size]byte)(h.Sum(nil))
}

// Same tells whether two files are known to be the same text with the same
// imports, so that whatever they define is the same.
func (l *Linked) Same(other *Linked) bool {
	return l == other || l.sum != nil && other.sum != nil && *l.sum == *other.sum
}

// Desc is the linked form. It is not rebuilt for editions.
func (l *Linked) Desc() protoreflect.FileDescriptor { return l.desc() }

// Path is the import path.
func (l *Linked) Path() string { return l.path }

// Package is the file's package, empty for none.
func (l *Linked) Package() string { return l.pack }

// Plain is the descriptor of a proto3 file without extensions and custom options,
// whose types are all resolved; nil for any other file. It says what Desc says,
// which takes longer to make. It is not to be changed.
func (l *Linked) Plain() *descriptorpb.FileDescriptorProto { return l.plain }

// Message finds a message of the file by its full name, nil for none.
func (l *Linked) Message(name string) protoreflect.MessageDescriptor {
	m, _ := findIn(l.Desc(), protoreflect.FullName(name)).(protoreflect.MessageDescriptor)
	return m
}

// Enum finds an enum of the file by its full name, nil for none.
func (l *Linked) Enum(name string) protoreflect.EnumDescriptor {
	e, _ := findIn(l.Desc(), protoreflect.FullName(name)).(protoreflect.EnumDescriptor)
	return e
}

// Imports are the files that l imports, in reading order.
func (l *Linked) Imports() []*Linked { return l.imports }

// All are l and all that it imports, directly or not, l first. The list is not to
// be changed.
func (l *Linked) All() []*Linked { return l.all() }

// Derived is what make answered the first time it was asked of l: whoever
// compares schemas keeps its own view of one file with it. There is one per
// file, so there is one kind of caller.
func (l *Linked) Derived(make func() any) any {
	l.derive.Do(func() { l.derived = make() })
	return l.derived
}

// Whole is the linked file of s, with all that it imports; nil when Problem is
// not. alone tells whether what each of the files defines depends on its imports
// only: no file of the closure extends messages.
func (s *Schema) Whole() (l *Linked, alone bool) { return s.linked, s.alone() }

func (s *Schema) alone() bool {
	s.apart.Do(func() { s.isApart = s.linked != nil && !slices.ContainsFunc(s.linked.all(), extends) })
	return s.isApart
}

// extends tells whether a file declares extensions.
func extends(l *Linked) bool {
	var nested func(list protoreflect.MessageDescriptors) bool
	nested = func(list protoreflect.MessageDescriptors) bool {
		for i := range list.Len() {
			if m := list.Get(i); m.Extensions().Len() > 0 || nested(m.Messages()) {
				return true
			}
		}
		return false
	}
	return l.plain == nil && (l.Desc().Extensions().Len() > 0 || nested(l.Desc().Messages()))
}

// linkedOf is a file that was linked together with those it imports.
func linkedOf(fd protoreflect.FileDescriptor) *Linked {
	done := map[string]*Linked{}
	var of func(fd protoreflect.FileDescriptor) *Linked
	of = func(fd protoreflect.FileDescriptor) *Linked {
		if l := done[fd.Path()]; l != nil {
			return l
		}
		var imports []*Linked
		for i := range fd.Imports().Len() {
			if one := fd.Imports().Get(i); !one.IsPlaceholder() {
				imports = append(imports, of(one.FileDescriptor))
			}
		}
		done[fd.Path()] = newLinked(fd, imports)
		return done[fd.Path()]
	}
	return of(fd)
}

// all is All.
func (l *Linked) all() []*Linked { return l.whole() }

func (l *Linked) list() []*Linked {
	seen := map[*Linked]bool{l: true}
	list := []*Linked{l}
	for i := 0; i < len(list); i++ {
		for _, one := range list[i].imports {
			if !seen[one] {
				seen[one] = true
				list = append(list, one)
			}
		}
	}
	return list
}

// rebuild makes the descriptor anew, on imports that were made so.
func (l *Linked) rebuild() (protoreflect.FileDescriptor, error) {
	files := make(importing, 0, len(l.imports))
	is := l.plain != nil
	for _, one := range l.imports {
		fd, err := one.again()
		if err != nil {
			return nil, err
		}
		files = append(files, fd)
		is = is && fd == one.Desc()
	}
	if is {
		return l.Desc(), nil
	}
	return protodesc.NewFile(protoutil.ProtoFromFileDescriptor(l.Desc()), files)
}

func (l *Linked) wrap() (linker.File, error) {
	if f, ok := l.Desc().(linker.File); ok {
		return f, nil
	}
	var deps linker.Files
	for _, one := range l.imports {
		f, err := one.file()
		if err != nil {
			return nil, err
		}
		deps = append(deps, f)
	}
	return linker.NewFile(l.Desc(), deps)
}

// importing finds what some files define, and what they import publicly.
type importing []protoreflect.FileDescriptor

func (x importing) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	for _, fd := range x {
		if fd.Path() == path {
			return fd, nil
		}
	}
	return nil, protoregistry.NotFound
}

func (x importing) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	for _, fd := range x {
		if d := findIn(fd, name); d != nil {
			return d, nil
		}
		for i := range fd.Imports().Len() {
			if one := fd.Imports().Get(i); one.IsPublic {
				if d, err := (importing{one.FileDescriptor}).FindDescriptorByName(name); err == nil {
					return d, nil
				}
			}
		}
	}
	return nil, protoregistry.NotFound
}

// findIn finds a message, an enum or an extension of a file by its full name.
func findIn(fd protoreflect.FileDescriptor, name protoreflect.FullName) protoreflect.Descriptor {
	if name.Parent() == fd.Package() {
		if m := fd.Messages().ByName(name.Name()); m != nil {
			return m
		}
		if e := fd.Enums().ByName(name.Name()); e != nil {
			return e
		}
		if x := fd.Extensions().ByName(name.Name()); x != nil {
			return x
		}
		return nil
	}
	if len(name) <= len(fd.Package()) {
		return nil
	}
	around, ok := findIn(fd, name.Parent()).(protoreflect.MessageDescriptor)
	if !ok {
		return nil
	}
	if m := around.Messages().ByName(name.Name()); m != nil {
		return m
	}
	if e := around.Enums().ByName(name.Name()); e != nil {
		return e
	}
	if x := around.Extensions().ByName(name.Name()); x != nil {
		return x
	}
	return nil
}

// linkShared links the own unit of a graph on imports that are linked already. ok is false
// where that cannot be had, for whatever reason: then all is linked together,
// which has the words for it.
func (g *graph) linkShared(ctx context.Context) (l *Linked, ok bool) {
	if g.overrides() {
		return nil, false
	}
	done := map[string]*Linked{}
	var visit func(u *unit) *Linked
	visit = func(u *unit) *Linked {
		path := g.path(u)
		if l, ok := done[path]; ok {
			return l // nil for one whose visit is open: a circle
		}
		done[path] = nil
		imports := make([]*Linked, 0, len(u.file.Imports))
		var key []byte
		for _, i := range u.file.Imports {
			var one *Linked
			switch {
			case i.Path == g.name:
			case g.others[i.Path] != nil:
				one = visit(g.others[i.Path])
			case bundledPaths[i.Path]:
				one = wholeBundled(i.Path)
			}
			if one == nil {
				return nil
			}
			imports = append(imports, one)
			key = binary.BigEndian.AppendUint64(key, one.id)
		}
		all := g.shared.Once(symbolsKey{}, func() any { return newSymbolTables() }).(*symbolTables)
		if u == g.own && (g.leaf || !g.named) {
			// Nobody else asks for it, and its names are not in the way of others'.
			if done[path] = assemble(path, u, imports, &all.names, false, g.stored); done[path] == nil {
				table := &linker.Symbols{}
				if g.named {
					table = all.leaf()
				}
				done[path] = linkOne(ctx, table, path, u, imports)
			}
			return done[path]
		}
		done[path] = g.shared.Once(linkKey{u, string(key)}, func() any {
			l := assemble(path, u, imports, &all.names, true, g.stored)
			if l != nil {
				return l
			}
			if l = linkOne(ctx, all.used, path, u, imports); l != nil && !all.names.takes(l, true) {
				l = nil
			}
			return l
		}).(*Linked)
		return done[path]
	}
	l = visit(g.own)
	return l, l != nil
}

// symbolTables find the names that two files of a tree define. They are shared,
// since to fill one costs more than to link a file; two files that never meet in
// a closure may clash in one, which costs time and is no fault.
type symbolTables struct {
	used  *linker.Symbols // of files that others import
	names nameTable       // the same, of assembled ones too

	mu     sync.Mutex
	leaves *linker.Symbols
	count  int
}

func newSymbolTables() *symbolTables {
	return &symbolTables{used: &linker.Symbols{}, names: nameTable{names: map[string]string{}, packages: map[string]string{}}}
}

// A table holds all files that went through it, so one for leaves does not last.
const mostLeaves = 64

func (s *symbolTables) leaf() *linker.Symbols {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count%mostLeaves == 0 {
		s.leaves = &linker.Symbols{}
	}
	s.count++
	return s.leaves
}

// linkOne gives nil for a file that does not link.
func linkOne(ctx context.Context, all *linker.Symbols, path string, u *unit, imports []*Linked) (l *Linked) {
	defer func() {
		if p := recover(); p != nil {
			l = nil
		}
	}()
	tree, err := u.tree()
	if err != nil {
		return nil
	}
	compiler := protocompile.Compiler{
		MaxParallelism: 1,
		Symbols:        all,
		Resolver: protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
			if name == path {
				return protocompile.SearchResult{AST: tree}, nil
			}
			i := slices.IndexFunc(imports, func(l *Linked) bool { return l.path == name })
			if i < 0 {
				return protocompile.SearchResult{}, protoregistry.NotFound
			}
			file, err := imports[i].file()
			return protocompile.SearchResult{Desc: file}, err
		}),
	}
	// A cancelled parse must not spoil the link for others.
	files, err := compiler.Compile(context.WithoutCancel(ctx), path)
	if err != nil {
		return nil
	}
	u.release()
	l = newLinked(files[0], imports)
	l.digest(u.scan.text)
	return l
}
