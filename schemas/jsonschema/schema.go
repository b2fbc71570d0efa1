package jsonschema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Schema is a parsed JSON Schema. It is immutable and safe for use by many
// goroutines.
type Schema struct {
	source      schemas.Source
	root        *Node
	document    *document
	canonical   string
	fingerprint schemas.Fingerprint
	dynamic     bool
	formats     bool
	err         error // of a Stored schema: a new one has none
	nodes       int
	bytes       int
	links       []schemas.Dependency // the closure of the references
}

var _ schemas.Schema = (*Schema)(nil)

// Source is the text and references as sent.
func (s *Schema) Source() schemas.Source { return s.source }

// Root is the node of the whole schema.
func (s *Schema) Root() *Node { return s.root }

// Canonical is the text without layout: members in the order sent, numbers
// digit for digit, a repeated member at its first place with its last value.
//
// Source: REST contract 5.1.2.
func (s *Schema) Canonical() string { return s.canonical }

// Normalized is the canonical text with the members of every object sorted by
// name, and the references sorted by subject, version and name, each once.
//
// Source: REST contract 5.1.2.
func (s *Schema) Normalized() (string, []schemas.Reference) {
	refs := slices.Clone(s.source.References)
	slices.SortStableFunc(refs, func(a, b schemas.Reference) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return string(s.document.root.Append(nil, true)), slices.Compact(refs)
}

// Fingerprint covers the canonical text and what the references stand for.
func (s *Schema) Fingerprint() schemas.Fingerprint { return s.fingerprint }

// Equivalent tells whether the canonical texts are equal.
func (s *Schema) Equivalent(other schemas.Schema) bool {
	o, ok := other.(*Schema)
	return ok && o.canonical == s.canonical
}

// Names is the document's $id (id in draft-04) as written, when it has one.
func (s *Schema) Names() []string { return namesOf(s.document.root) }

func namesOf(root *jsontext.Value) []string {
	dialect := Draft7
	if v := root.Get("$schema"); v != nil && v.Kind == jsontext.String {
		dialect = dialectOf(v.Text)
	}
	if id, ok := identity(root, dialect); ok && strings.TrimSuffix(id, "#") != "" {
		return []string{strings.TrimSuffix(id, "#")}
	}
	return nil
}

// Weight estimates the bytes that the parsed form holds.
func (s *Schema) Weight() int { return 12*s.bytes + 600*s.nodes }

// Err says why a Stored schema cannot be used to read or compare, nil when it
// can: it was stored without the checks that a new schema passes.
func (s *Schema) Err() error { return s.err }

// errors lays problems out in reading order, those of the own text first.
func (s *Schema) errors(problems []problem) schemas.SyntaxErrors {
	slices.SortStableFunc(problems, func(a, b problem) int {
		if (a.document == s.document) != (b.document == s.document) {
			if a.document == s.document {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.document.name, b.document.name), cmp.Compare(a.offset, b.offset))
	})
	var out schemas.SyntaxErrors
	for _, p := range problems {
		e := schemas.SyntaxError{Pointer: p.pointer, Summary: p.summary, Detail: p.detail}
		if p.document == s.document {
			e.Position = p.document.position(p.offset)
		} else {
			e.Summary = fmt.Sprintf("in the referenced schema %s: %s", short(p.document.name), p.summary)
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// stored are the options of a text that was accepted before: only what the
// parser needs to stay upright.
func stored() (schemas.Limits, jsontext.Options) {
	return schemas.Limits{References: 1 << 20}, jsontext.Options{}
}

func parse(ctx context.Context, source schemas.Source, resolver schemas.Resolver, o schemas.ParseOptions) (schemas.Schema, error) {
	limits := o.Limits.OrDefault()
	options := jsontext.SchemaOptions(limits)
	if o.Mode == schemas.Stored {
		limits, options = stored()
	}
	root, err := jsontext.Parse(source.Text, options)
	if err != nil {
		return nil, fmt.Errorf("read the JSON Schema: %w", err)
	}
	s := &Schema{source: source, document: &document{text: source.Text, root: root}, bytes: len(source.Text)}
	if err := s.checkRoot(root); err != nil {
		return nil, err
	}
	s.canonical = root.String()
	list, direct, err := schemas.Closure(ctx, source, o.From, resolver, limits)
	if err != nil {
		return nil, err
	}
	l := newLoader(limits, len(source.Text))
	if err := l.add(s.document, Draft7); err != nil {
		return nil, err
	}
	if o.Mode == schemas.New {
		s.checkMeta(l)
	}
	if err := s.link(l, list, direct, options); err != nil {
		return nil, err
	}
	s.root = l.locate(root, s.document.main)
	if s.document.main.dialect.IsModern() {
		l.bucket(s.root)
	}
	if err := l.build(); err != nil {
		return nil, err
	}
	l.loops()
	l.settle()
	s.nodes, s.dynamic, s.formats = len(l.queue), l.dynamic, l.formats
	problems := l.problems
	if l.refused {
		// Said better, and of unused parts too, by the meta-schema.
		problems = slices.DeleteFunc(problems, func(p problem) bool { return p.shape })
	}
	if len(problems) > 0 {
		s.err = s.errors(problems)
	}
	if o.Mode == schemas.New && s.err != nil {
		return nil, s.err
	}
	return s, nil
}

// bucket makes nodes of the definitions too. Drafts 4 to 7 read a definition
// only when something refers to it, as the reference registry does: a broken
// one that nobody uses is no error there.
func (l *loader) bucket(root *Node) {
	for _, keyword := range []string{"$defs", "definitions"} {
		v := root.Value.Get(keyword)
		if v == nil || v.Kind != jsontext.Object {
			continue
		}
		for i := range v.Members {
			l.at(v.Members[i].Value, root.resource, root, keyword, v.Members[i].Name).uses--
		}
	}
}

// checkRoot refuses documents that are no schema at all.
func (s *Schema) checkRoot(root *jsontext.Value) error {
	if root.Kind != jsontext.Object && root.Kind != jsontext.Bool {
		return schemas.SyntaxErrors{{
			Position: s.document.position(root.Start),
			Summary:  fmt.Sprintf("a JSON Schema is an object, or true or false, not %s", kindText(root)),
		}}
	}
	if v := root.Get("$schema"); v != nil && v.Kind != jsontext.String {
		return schemas.SyntaxErrors{{
			Position: s.document.position(v.Start), Pointer: "/$schema",
			Summary: "$schema is not a string",
			Detail:  "name the dialect, for example " + Draft2020.URI() + ", or leave it out for draft-07",
		}}
	}
	return nil
}

// checkMeta holds the document to its dialect's meta-schema, and each embedded
// resource of another dialect to its own.
func (s *Schema) checkMeta(l *loader) {
	const steps = 50_000_000 // no text within the limits comes near it
	roots := []*resource{s.document.main}
	skip := map[*jsontext.Value]bool{}
	for _, r := range l.embeds {
		if r.dialect != r.around.dialect {
			roots = append(roots, r)
			skip[r.root] = true
		}
	}
	for _, r := range roots {
		meta := metaSchemas()[r.dialect]
		delete(skip, r.root)
		t, at := tapeOf(s.source.Text, r.root, skip)
		e := &evaluation{tape: *t, dynamic: meta.dynamic, skip: at}
		violations := e.run(meta.root, steps, mostProblems)
		if r != s.document.main {
			skip[r.root] = true
		}
		prefix := pointerTo(s.document.root, r.root)
		for _, v := range violations {
			p := problem{document: s.document, offset: max(v.Offset, 0), pointer: prefix + v.Payload, summary: v.Text}
			p.detail = fmt.Sprintf("the %s of its meta-schema refuses it", v.Rule)
			l.problems = append(l.problems, p)
			l.pointers += len(p.pointer)
			l.refused = true
		}
	}
}

// closureBytes bounds the texts of a new schema's whole closure, as a multiple
// of the limit for one text.
const closureBytes = 8

// link takes the references in and computes the fingerprint.
func (s *Schema) link(l *loader, list []schemas.Dependency, direct []int, options jsontext.Options) error {
	s.links = list
	prints := make([]schemas.Fingerprint, len(list))
	for i, d := range list {
		source := d.Resolved.Source
		if source.Type != schemas.JSON {
			return &schemas.ReferenceError{Reference: d.Reference, Err: fmt.Errorf("it is of type %s: a JSON Schema refers to JSON Schemas only", source.Type)}
		}
		s.bytes += len(source.Text)
		if most := closureBytes * options.Text; most > 0 && s.bytes > most {
			return &schemas.LimitError{Limit: schemas.LimitText, Most: most, Found: s.bytes}
		}
		// What is stored is read without limits on its numbers: they held, or did
		// not, when it was registered.
		root, err := jsontext.Parse(source.Text, jsontext.Options{})
		if err != nil {
			return &schemas.ReferenceError{Reference: d.Reference, Err: err}
		}
		if root.Kind != jsontext.Object && root.Kind != jsontext.Bool {
			return &schemas.ReferenceError{Reference: d.Reference, Err: errors.New("it is no JSON Schema: neither an object nor true or false")}
		}
		doc := &document{name: d.Reference.Name, text: source.Text, root: root}
		l.count = 0
		if err := l.add(doc, Draft7); err != nil {
			return &schemas.ReferenceError{Reference: d.Reference, Err: err}
		}
		l.declare(doc, s.document.main)
		prints[i] = fingerprint(root.String(), source.References, d.Uses, prints)
	}
	s.fingerprint = fingerprint(s.canonical, s.source.References, direct, prints)
	return nil
}

func fingerprint(canonical string, refs []schemas.Reference, uses []int, prints []schemas.Fingerprint) schemas.Fingerprint {
	names := make([]string, len(refs))
	closures := make([]schemas.Fingerprint, len(refs))
	for i, ref := range refs {
		names[i] = ref.Name
		if i < len(uses) {
			closures[i] = prints[uses[i]]
		}
	}
	return schemas.FingerprintOf(schemas.JSON, canonical, names, closures)
}

// declare makes a referenced document known under its name: as given, and
// resolved against the address of the schema that refers to it.
func (l *loader) declare(d *document, main *resource) {
	for _, name := range []string{d.name, strings.TrimPrefix(d.name, "./"), resolve(main.uri, d.name), resolve(home, d.name)} {
		name = strings.TrimSuffix(name, "#")
		if _, taken := l.names[name]; !taken {
			l.names[name] = d
		}
	}
}
