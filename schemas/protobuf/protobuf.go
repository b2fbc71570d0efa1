// Package protobuf parses, prints, fingerprints and reads Protocol Buffers:
// proto2, proto3 and edition 2023.
//
// A text becomes a [File] (what is written) and linked descriptors (what it
// means, by protoc's rules). Canonical texts come from the first; payloads are
// judged by tables made from the second. No file and no address is ever read:
// an import is a reference, a bundled file, or an error.
//
// It knows no other format and nothing of comparing. Start with [Format].
package protobuf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// proto2Line is how a canonical text begins in which proto2 was written.
const proto2Line = "syntax = \"proto2\";\n"

// Format is Protocol Buffers.
var Format = schemas.Format{
	Type:       schemas.Protobuf,
	Doc:        "Protocol Buffers: proto2, proto3 and edition 2023, as text or as a base64 file descriptor",
	Extensions: []string{".proto"},
	Parse:      Parse,
	Outline:    Outline,
	// A proto2 line that only one of two texts has makes no difference.
	Likeness: func(canonical string) uint64 { return schemas.Unordered(strings.TrimPrefix(canonical, proto2Line)) },
	Forms:    []string{"ignore_extensions", "serialized"},
	Form: func(s schemas.Schema, name string) (string, error) {
		parsed, ok := s.(*Schema)
		if !ok {
			return "", fmt.Errorf("write a schema as %s: it is a %T", name, s)
		}
		return parsed.InFormat(name)
	},
	Tags:       tags,
	Retag:      retag,
	Layout:     Layout,
	Vocabulary: Vocabulary,
}

// limitClosure names the bound on a schema with all its references: so many
// times the bound on one text.
const limitClosure schemas.Limit = "bytes of all texts of the closure"

const closureTexts = 4

// limitClosureDeclarations names the bound on the declarations of a schema with
// all its references: so many times the bound on one text.
const limitClosureDeclarations schemas.Limit = "declarations of all texts of the closure"

const closureDeclarations = 5

// Parse reads source as [schemas.Format] describes. A text may also be the
// base64 of a serialized FileDescriptorProto, as some clients send it.
//
// In mode Stored a text whose grammar is right and that protoc would refuse all
// the same gives a Schema: it has canonical text, names and references, and
// its Reads answers what is wrong (see [Schema.Problem]).
//
// Errors: schemas.SyntaxErrors, *schemas.LimitError, *schemas.ReferenceError.
// Source: protobuf compatibility, A.9, E and G.
func Parse(ctx context.Context, source schemas.Source, resolver schemas.Resolver, options schemas.ParseOptions) (schemas.Schema, error) {
	if source.Type != schemas.Protobuf {
		return nil, fmt.Errorf("parse a Protobuf schema: the source's type is %s", source.Type)
	}
	p := newParsing(source, options)
	// What is wrong with the text itself is told before anyone is asked for
	// references; the tree is not kept while they are.
	if err := atWork(ctx, p.read); err != nil {
		return nil, err
	}
	if len(source.References) > 0 && options.Shared == nil {
		p.own.release()
	}
	list, direct, err := schemas.Closure(ctx, source, options.From, resolver, p.limits)
	if err != nil {
		return nil, err
	}
	var s *Schema
	err = atWork(ctx, func() (err error) {
		s, err = p.compile(ctx, list, direct)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// work bounds how many texts are compiled at once: each takes a hundred times
// its size while it is.
var work = make(chan struct{}, runtime.GOMAXPROCS(0))

// atWork runs fn when there is room. fn must not ask a resolver, which may
// parse in turn or wait.
func atWork(ctx context.Context, fn func() error) error {
	select {
	case work <- struct{}{}:
		defer func() { <-work }()
		return fn()
	case <-ctx.Done():
		return fmt.Errorf("parse a Protobuf schema: %w", ctx.Err())
	}
}

// parsing is one call of Parse.
type parsing struct {
	source schemas.Source
	limits schemas.Limits
	stored bool
	name   string
	own    *unit
	// shared is the caller's, else one of this call alone.
	shared *schemas.Shared
	// named tells that others may import the text by its name, so that its unit
	// may be shared; leaf, that nobody does.
	named, leaf bool
}

func newParsing(source schemas.Source, options schemas.ParseOptions) *parsing {
	p := &parsing{
		source: source, limits: options.Limits.OrDefault(), stored: options.Mode == schemas.Stored,
		name: freePath(source), shared: options.Shared, leaf: options.Leaf,
	}
	if p.shared == nil {
		p.shared = &schemas.Shared{}
	} else if n := options.Name; n != "" && !bundledPaths[n] && !slices.ContainsFunc(source.References, func(r schemas.Reference) bool { return r.Name == n }) {
		p.name, p.named = n, true
	}
	return p
}

// read reads the own text. A text that is new and meets every limit is read as
// those that import it read it.
func (p *parsing) read() (err error) {
	if p.leaf && p.named {
		if p.own, err = readSource(p.name, p.source.Text, p.limits, p.stored); err != nil || !p.own.hasWeak() {
			return err
		}
	} else if p.named {
		ok := p.stored
		if !ok {
			_, err := scan(p.source.Text, p.limits, false)
			ok = err == nil
		}
		if ok {
			u, err := sharedUnit(p.shared, p.name, p.source.Text, schemas.Limits{}, true)
			if err == nil && (p.stored || !u.scan.apart) && !u.hasWeak() {
				p.own = u
				return nil
			}
		}
	}
	p.name, p.named = freePath(p.source), false
	if p.own, err = readSource(p.name, p.source.Text, p.limits, p.stored); err == nil {
		p.own.file.Path = ""
	}
	return err
}

// compile makes the schema of its text and its resolved references.
func (p *parsing) compile(ctx context.Context, list []schemas.Dependency, direct []int) (*Schema, error) {
	own := p.own
	s := &Schema{source: p.source, file: own.file, origins: map[*File]Origin{}}
	g := &graph{name: p.name, own: own, others: map[string]*unit{}, stored: p.stored, shared: p.shared, named: p.named, leaf: p.leaf}
	size, declarations := len(p.source.Text), own.scan.declarations
	fingerprints := make([]schemas.Fingerprint, len(list))
	for i, d := range list {
		if d.Resolved.Source.Type != schemas.Protobuf {
			return nil, &schemas.ReferenceError{Reference: d.Reference, Err: fmt.Errorf("it stands for a schema of type %s", d.Resolved.Source.Type)}
		}
		size += len(d.Resolved.Source.Text)
		if most := closureTexts * p.limits.Text; size > most && !p.stored {
			return nil, &schemas.LimitError{Limit: limitClosure, Most: most, Found: size}
		}
		// What is registered was accepted once: no limit judges it again.
		u, err := sharedUnit(p.shared, d.Reference.Name, d.Resolved.Source.Text, schemas.Limits{}, true)
		if err != nil {
			return nil, &schemas.ReferenceError{Reference: d.Reference, Err: err}
		}
		declarations += u.scan.declarations
		if most := closureDeclarations * p.limits.Declarations; declarations > most && !p.stored {
			return nil, &schemas.LimitError{Limit: limitClosureDeclarations, Most: most, Found: declarations}
		}
		origin := Origin{Subject: d.Resolved.Subject, Version: d.Resolved.Version, Direct: slices.Contains(direct, i)}
		var names []string
		var uses []schemas.Fingerprint
		for j, r := range d.Resolved.Source.References {
			names, uses = append(names, r.Name), append(uses, fingerprints[d.Uses[j]])
		}
		fingerprints[i] = u.fingerprint(names, uses)
		if g.others[d.Reference.Name] == nil {
			g.others[d.Reference.Name] = u
			s.references = append(s.references, u.file)
			s.origins[u.file] = origin
			s.weight += 40 * len(u.canonical())
		}
	}
	g.index = indexOf(g)
	s.index = g.index

	if err := g.bound(p.limits); err != nil {
		return nil, err
	}
	whole, err := g.compile(ctx)
	if err == nil {
		s.linked = whole
	} else {
		var syntax schemas.SyntaxErrors
		if !p.stored || !errors.As(err, &syntax) {
			return nil, point(own.file, err)
		}
		s.problem = point(own.file, err)
	}
	s.finish(own, direct, fingerprints)
	return s, nil
}

// indexOf makes the look-up of a graph: the own file first, then references in
// a stable order, then the bundled files that no reference replaces.
func indexOf(g *graph) *index {
	x := newIndex(g.all()...)
	for _, u := range g.all() {
		if bundledPaths[u.file.Path] {
			x.hidden[u.file.Path] = true
		}
	}
	return x
}

// point gives each placed error the pointer of the innermost element around it.
func point(f *File, err error) error {
	var list schemas.SyntaxErrors
	if !errors.As(err, &list) {
		return err
	}
	places := f.places()
	for i := range list {
		best := -1
		at := list[i].Position
		for j, p := range places {
			if at.Line > 0 && p.Position.Offset <= at.Offset && at.Offset < max(p.End.Offset, p.Position.Offset+1) &&
				(best < 0 || p.Position.Offset >= places[best].Position.Offset) {
				best = j
			}
		}
		if best >= 0 {
			list[i].Pointer = places[best].Pointer
		}
	}
	return list
}

// Outline tells what a .proto file defines and needs: its import path first,
// then its messages and enums.
//
// Errors: schemas.SyntaxErrors, *schemas.LimitError.
func Outline(path, text string, limits schemas.Limits) (schemas.Outline, error) {
	limits = limits.OrDefault()
	if _, err := scan(text, limits, false); err == nil {
		if out, ok := outlineOf(path, text); ok {
			return out, nil
		}
	}
	u, err := readSource(path, text, limits, false)
	if err != nil {
		return schemas.Outline{}, err
	}
	return outline(path, u.file), nil
}

func outline(path string, f *File) schemas.Outline {
	out := schemas.Outline{Schema: true, Names: append([]string{path}, f.names()...)}
	for _, i := range f.Imports {
		if !bundledPaths[i.Path] && !slices.Contains(out.Needs, i.Path) {
			out.Needs = append(out.Needs, i.Path)
		}
	}
	return out
}
