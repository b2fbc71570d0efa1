// Package schemas says what a schema is, and by which names it is known.
//
// It is the ground floor: every other package stands on it and it stands on
// none of ours. It knows no format's grammar (those are in schemas/avro,
// schemas/jsonschema and schemas/protobuf), no network and no disk.
//
// Start with [Source] (a text as sent), [Format] (how a text becomes a schema)
// and [Schema] (what a parsed text can answer).
package schemas

import (
	"context"
	"fmt"
)

// Type names a format as the wire does, in capitals. Empty means AVRO on the
// wire; code always carries a filled value (see [ParseType]).
type Type string

// The three formats that the wire knows.
const (
	Avro     Type = "AVRO"
	JSON     Type = "JSON"
	Protobuf Type = "PROTOBUF"
)

// ParseType reads a wire name: case-sensitive, empty means AVRO.
//
// Errors: any other text.
// Source: REST contract, RegisterSchemaRequest.
func ParseType(text string) (Type, error) {
	switch Type(text) {
	case "":
		return Avro, nil
	case Avro, JSON, Protobuf:
		return Type(text), nil
	}
	return "", fmt.Errorf("schema type %q is unknown: use AVRO, JSON or PROTOBUF", text)
}

// Reference is a name used in a schema's text and the version that it stands
// for.
//
// Subject is the text as sent: unqualified it means the context of the
// referring subject (see Target). Version is pinned (≥ 1) once a version is
// registered; -1 means latest in a request.
type Reference struct {
	Name    string
	Subject string
	Version Version
}

// Target is the subject that r points to when it is used inside context.
func (r Reference) Target(in Context) Subject {
	s := ParseSubject(r.Subject)
	if s.Context == DefaultContext && !isQualified(r.Subject) {
		s.Context = in
	}
	return s
}

// Source is a schema as sent: its format, its text and what its names stand
// for. Text is UTF-8, unparsed.
type Source struct {
	Type       Type
	Text       string
	References []Reference
}

// Schema is a parsed source. Implementations are immutable and safe for use by
// many goroutines.
type Schema interface {
	// Source is the way back: the text and references it was parsed from.
	Source() Source

	// Canonical is the text by which two sources count as the same schema for
	// ids: layout gone, order kept. Names from references stay names.
	Canonical() string

	// Normalized is the canonical text with order that means nothing sorted
	// too, and the references sorted and made distinct.
	Normalized() (text string, references []Reference)

	// Fingerprint covers type, canonical text and, per reference in order, its
	// name and the fingerprint of what it stands for.
	Fingerprint() Fingerprint

	// Equivalent tells whether other counts as the same version inside one
	// subject: structurally equal for Avro (property order is nothing), equal
	// canonical text for the other formats. References are not compared.
	Equivalent(other Schema) bool

	// Names are the full names that the text itself defines, in reading order:
	// Avro named types, a JSON Schema's $id, Protobuf messages and enums. The
	// first is the one a file is known by.
	Names() []string

	// Reads judges whether data written with writer can be read with this
	// schema and is still the same value. writer may be the receiver itself:
	// then the question is "is this payload valid?". A writer of another
	// format is a violation. It never panics, and its time and memory are
	// bounded by options.
	Reads(writer Schema, payload Payload, options ReadOptions) Reading

	// Weight estimates the bytes that the parsed form holds, for caches.
	Weight() int
}

// Mode says how strictly a text is read.
type Mode uint8

const (
	// New applies every rule and limit: registration and compatibility checks.
	New Mode = iota
	// Stored checks neither defaults, meta-schema nor settable limits, so that
	// a later rule never makes a stored version unreadable: journal, look-up,
	// IMPORT and validateNewSchemas=false.
	Stored
)

// Format is what a binary can do with one schema language. It is a value, not
// an interface: a list of formats is a plain slice.
type Format struct {
	// Type is the wire name.
	Type Type
	// Doc is one sentence for people.
	Doc string
	// Extensions are file endings with the dot, the usual one first.
	Extensions []string

	// Parse reads source. References are asked of resolver, which may be nil
	// when there are none; from is the context of the referring subject.
	//
	// Errors: SyntaxErrors (all of them, placed), *LimitError, *ReferenceError;
	// anything a Resolver answers stays reachable by errors.Is.
	Parse func(ctx context.Context, source Source, resolver Resolver, options ParseOptions) (Schema, error)

	// Outline tells what a file defines and needs, without resolving anything.
	// path is the file's slash-separated path inside its folder.
	//
	// Errors: SyntaxErrors, *LimitError.
	Outline func(path, text string, limits Limits) (Outline, error)

	// Forms are the other forms that a text can be answered in, by their wire
	// names ("serialized"); Form gives one of them of a schema that Parse made.
	// Both are empty for a format that has none.
	//
	// Errors: the form cannot be had of this schema.
	// Source: REST contract 5.1.4.
	Forms []string
	Form  func(s Schema, name string) (string, error)

	// Tags lists the parts of a schema that can carry inline tags, in reading
	// order, those without tags too; what references define is left out. Retag
	// is the text in which the listed parts have exactly the tags given. Both are
	// nil for a format that knows no tags.
	//
	// Errors: a part that the schema does not have.
	// Source: REST contract 3.6 and 5.7.
	Tags  func(s Schema) []Tagged
	Retag func(s Schema, parts []Tagged) (string, error)

	// Likeness is a hash of a canonical text that equivalent schemas with equal
	// references have in common, made of the text alone: a schema is compared with
	// those of a long history that may be equivalent, and the others are not even
	// read. It is nil for a format that cannot tell.
	Likeness func(canonical string) uint64

	// Layout writes a text that Parse accepts anew in the format's one layout.
	// Tokens, comments and their order stay, so the fingerprint does; the layout of
	// a layout is itself.
	//
	// Errors: the text cannot be laid out without choosing for its author.
	Layout func(text string) (string, error)

	// Vocabulary lists every keyword, attribute or descriptor field that the
	// format has; the coverage law of compat/checktest walks it.
	Vocabulary func() []string
}

// ParseOptions are the circumstances of a parse.
type ParseOptions struct {
	Mode   Mode
	From   Context // empty means the default context
	Limits Limits  // zero fields mean the defaults

	// Name is what other schemas of the same tree refer to the source by; empty
	// when that is not known. Shared is what the parses of that tree share; nil
	// for nothing. Leaf tells that nothing refers to the source, so that Shared
	// need not keep it. None of the three changes an answer.
	Name   string
	Shared *Shared
	Leaf   bool
}

// Outline is what a schema file defines and needs.
type Outline struct {
	// Schema tells whether the file is a schema of this format at all: a .json
	// file may be anything.
	Schema bool
	// Names are the full names defined, the file's own name first. For Protobuf
	// it is the import path (the file's path); messages follow.
	Names []string
	// Needs are the names that must come from elsewhere: full names for Avro,
	// $ref targets for JSON Schema (resolved against $id, without fragment),
	// import paths for Protobuf; bundled files are left out. Sorted by first use.
	Needs []string
}

// Resolver answers what a reference stands for. It never fetches a remote
// address.
type Resolver interface {
	// Resolve answers the version that ref names, as seen from context in.
	//
	// Errors: wrap ErrSubjectUnknown or ErrVersionUnknown when there is none.
	Resolve(ctx context.Context, in Context, ref Reference) (Resolved, error)
}

// Resolved is what a reference stands for: a source with references of its own,
// which are to be resolved from its subject's context.
type Resolved struct {
	Subject Subject
	Version Version
	Source  Source
}

// ResolverFunc makes a function a Resolver.
type ResolverFunc func(ctx context.Context, in Context, ref Reference) (Resolved, error)

// Resolve calls f.
func (f ResolverFunc) Resolve(ctx context.Context, in Context, ref Reference) (Resolved, error) {
	return f(ctx, in, ref)
}
