package protobuf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

func sortErrors(list schemas.SyntaxErrors) {
	slices.SortStableFunc(list, func(a, b schemas.SyntaxError) int {
		return cmp.Compare(a.Position.Offset, b.Position.Offset)
	})
}

// graph is the files of one compilation: the schema's own and its references.
type graph struct {
	name   string // the own file's path while it is compiled
	own    *unit
	shared *schemas.Shared
	named  bool             // others may import own by its name
	leaf   bool             // nobody does
	others map[string]*unit // references, by import path
	index  *index
	stored bool
}

// compile links the graph with protoc's rules. What real clients of the
// reference registry rely on though protoc refuses it gets a second try:
// hand-written map entries, bundled types without an import, and dotted names
// that a part of the package hides.
//
// Errors: schemas.SyntaxErrors.
// Source: protobuf compatibility, G.2.
func (g *graph) compile(ctx context.Context) (*Linked, error) {
	if l, ok := g.linkShared(ctx); ok {
		return l, nil
	}
	whole, err := g.link(ctx, func(u *unit) *unit { return u })
	if err == nil {
		return linkedOf(whole), nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	again := map[*unit]*unit{}
	changed := false
	for _, u := range g.all() {
		text, ok := g.rewrite(u)
		if !ok {
			continue
		}
		other, problem := readText(g.path(u), text, schemas.DefaultLimits(), true)
		if problem != nil {
			return nil, err
		}
		again[u], changed = other, true
	}
	if !changed {
		return nil, err
	}
	whole, problem := g.link(ctx, func(u *unit) *unit {
		if other, ok := again[u]; ok {
			return other
		}
		return u
	})
	if problem != nil {
		return nil, err // what was wrong with the text as given
	}
	return linkedOf(whole), nil
}

// all are the units in a stable order, the own one first.
func (g *graph) all() []*unit {
	list := make([]*unit, 0, len(g.others)+1)
	for _, u := range g.others {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b *unit) int { return cmp.Compare(a.file.Path, b.file.Path) })
	return append([]*unit{g.own}, list...)
}

// overrides tells whether a reference replaces a bundled file; then none of the
// bundled ones can be taken as they were linked.
func (g *graph) overrides() bool {
	for path := range g.others {
		if bundledPaths[path] {
			return true
		}
	}
	return false
}

func (g *graph) link(ctx context.Context, instead func(*unit) *unit) (fd protoreflect.FileDescriptor, err error) {
	defer func() {
		if p := recover(); p != nil {
			fd, err = nil, schemas.SyntaxErrors{{Summary: "the schema cannot be compiled", Detail: fmt.Sprintf("the compiler gave up: %v", p)}}
		}
	}()
	name := g.name
	c := &collector{main: name, scans: map[string]*scanned{name: g.own.scan}}
	for path, u := range g.others {
		c.scans[path] = u.scan
	}
	overrides := g.overrides()
	result := func(u *unit) (protocompile.SearchResult, error) {
		tree, err := instead(u).tree()
		return protocompile.SearchResult{AST: tree}, err
	}
	done := map[string]protoreflect.FileDescriptor{}
	compiler := protocompile.Compiler{
		MaxParallelism: 1,
		Symbols:        &linker.Symbols{},
		Reporter:       c.reporter(),
		Resolver: protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
			switch {
			case done[path] != nil:
				return protocompile.SearchResult{Desc: done[path]}, nil
			case g.unitAt(path, overrides) != nil:
				return result(g.unitAt(path, overrides))
			case bundledPaths[path]:
				return protocompile.SearchResult{Desc: bundledFiles[path].linked()}, nil
			}
			return protocompile.SearchResult{}, fmt.Errorf("import %q is neither a reference nor a bundled file", path)
		}),
	}
	// One file at a time, so that errors come in one order: the compiler starts
	// the imports of a file together.
	for _, path := range g.order(overrides) {
		files, err := compiler.Compile(ctx, path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			var panicked protocompile.PanicError
			if errors.As(err, &panicked) {
				return nil, schemas.SyntaxErrors{{Summary: "the schema cannot be compiled", Detail: fmt.Sprintf("the compiler gave up: %v", panicked.Value)}}
			}
			return nil, c.errors(err)
		}
		done[path] = files[0]
	}
	return done[name], nil
}

// unitAt is the unit of a path, nil for none; with overrides the bundled files
// are units, too.
func (g *graph) unitAt(path string, overrides bool) *unit {
	switch {
	case path == g.name:
		return g.own
	case g.others[path] != nil:
		return g.others[path]
	case overrides && bundledPaths[path]:
		return bundledFiles[path].unit()
	}
	return nil
}

// order is the paths of the own file and of what it imports, imports first.
func (g *graph) order(overrides bool) (list []string) {
	seen := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		u := g.unitAt(path, overrides)
		if u == nil || seen[path] {
			return
		}
		seen[path] = true
		for _, i := range u.file.Imports {
			visit(i.Path)
		}
		list = append(list, path)
	}
	// Options are looked up in this one whether it is imported or not.
	visit("google/protobuf/descriptor.proto")
	visit(g.name)
	return list
}

// path is what the compiler knows u by.
func (g *graph) path(u *unit) string {
	if u == g.own {
		return g.name
	}
	return u.file.Path
}

// freePath is a path for the schema's own text that no reference or import has.
func freePath(source schemas.Source) string {
	name := ownName
	for slices.ContainsFunc(source.References, func(r schemas.Reference) bool { return r.Name == name }) || bundledPaths[name] {
		name += "_"
	}
	return name
}

// ownName is the file name in a serialized descriptor: what the reference
// registry calls it.
const ownName = "default"

// typesOf makes the types of some files and of what they import findable.
func typesOf(list []protoreflect.FileDescriptor) *dynamicpb.Types {
	files := &protoregistry.Files{}
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(fd protoreflect.FileDescriptor) {
		if seen[fd.Path()] || fd.IsPlaceholder() {
			return
		}
		seen[fd.Path()] = true
		for i := range fd.Imports().Len() {
			add(fd.Imports().Get(i).FileDescriptor)
		}
		// An alias of a bundled file collides with it and is not needed twice.
		_ = files.RegisterFile(fd)
	}
	for _, fd := range list {
		add(fd)
	}
	return dynamicpb.NewTypes(files)
}
