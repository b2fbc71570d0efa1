package protobuf

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Schema is a parsed .proto file with everything it refers to. It is immutable
// and safe for use by many goroutines.
type Schema struct {
	source      schemas.Source
	file        *File
	references  []*File
	index       *index
	origins     map[*File]Origin
	linked      *Linked
	problem     error
	canonical   string
	fingerprint schemas.Fingerprint
	weight      int

	files   sync.Once
	types   *dynamicpb.Types
	tables  sync.Once
	table   *tables
	plans   planCache
	rebuild sync.Once
	rebuilt *mapping
	apart   sync.Once
	isApart bool
	derive  sync.Once
	derived any
}

var _ schemas.Schema = (*Schema)(nil)

func (s *Schema) finish(own *unit, direct []int, fingerprints []schemas.Fingerprint) {
	if own.hasWeak() {
		s.dropWeakImports()
		s.canonical = s.file.print(true)
	} else {
		s.canonical = own.canonical()
	}
	var names []string
	var uses []schemas.Fingerprint
	for i, r := range s.source.References {
		names, uses = append(names, r.Name), append(uses, fingerprints[direct[i]])
	}
	s.fingerprint = schemas.FingerprintOf(schemas.Protobuf, s.canonical, names, uses)
	s.weight += 4096 + 40*len(s.canonical)
}

// dropWeakImports forgets weak imports, as the reference does, but turns those
// that the text uses into plain ones: without them it would not parse again.
func (s *Schema) dropWeakImports() {
	used := map[string]bool{}
	r := &rewriter{
		index: s.index, visible: visibleTo(s.file, s.fileAt), own: s.file,
		absolute: func(Symbol) string { return "" },
		option:   func(Symbol) string { return "" },
		used:     func(sym Symbol) { used[sym.File.Path] = true },
	}
	r.file(s.file)
	var kept []Import
	for _, i := range s.file.Imports {
		if i.Weak && !used[i.Path] {
			continue
		}
		i.Weak = false
		kept = append(kept, i)
	}
	s.file.Imports = kept
}

// Source is what was parsed: a descriptor in base64 stays that.
func (s *Schema) Source() schemas.Source { return s.source }

// Canonical is the text printed anew: comments and layout gone, order kept.
//
// Source: REST contract 5.1.3.
func (s *Schema) Canonical() string { return s.canonical }

// Fingerprint covers canonical text and resolved references.
func (s *Schema) Fingerprint() schemas.Fingerprint { return s.fingerprint }

// Equivalent tells whether other is Protobuf with the same canonical text. A
// proto2 line that only one of them has makes no difference: a descriptor does
// not tell whether it was written.
func (s *Schema) Equivalent(other schemas.Schema) bool {
	o, ok := other.(*Schema)
	switch {
	case !ok:
		return false
	case o.canonical == s.canonical:
		return true
	case s.file.Edition != "" || o.file.Edition != "" || s.file.Syntax == o.file.Syntax || s.file.IsProto3() || o.file.IsProto3():
		return false
	}
	return o.file.print(false) == s.file.print(false)
}

// Names are the full names of the messages, then of the enums, nested ones
// behind their parent. The first is the root's, which a payload is taken for
// when nothing else is said.
func (s *Schema) Names() []string { return s.file.names() }

func (f *File) names() []string {
	var messages, enums []string
	for _, e := range f.Enums {
		enums = append(enums, e.FullName)
	}
	f.each(func(m *Message) {
		messages = append(messages, m.FullName)
		for _, e := range m.Enums {
			enums = append(enums, e.FullName)
		}
	})
	return append(messages, enums...)
}

// Weight estimates the bytes that the parsed form holds.
func (s *Schema) Weight() int { return s.weight }

// File is the schema's own text as written.
func (s *Schema) File() *File { return s.file }

// Shown is the file whose types the schema stands for: its own, or, when it has
// none and exactly one public import and nothing else, that import, one hop
// deep.
//
// Source: protobuf compatibility, A.3.
func (s *Schema) Shown() *File {
	f := s.file
	if len(f.Messages)+len(f.Enums)+len(f.Services)+len(f.Extends) > 0 || len(f.Imports) != 1 || !f.Imports[0].Public {
		return f
	}
	if shown := s.fileAt(f.Imports[0].Path); shown != nil {
		return shown
	}
	return f
}

// References are the files of the closure, dependencies first.
func (s *Schema) References() []*File { return s.references }

// OriginOf tells where a file of the closure comes from.
func (s *Schema) OriginOf(f *File) Origin {
	if f != s.file && bundledPaths[f.Path] && s.Bundled(f.Path) == f {
		return Origin{Bundled: true}
	}
	return s.origins[f]
}

// Descriptor is the linked form, nil when Problem is not.
func (s *Schema) Descriptor() protoreflect.FileDescriptor {
	if s.linked == nil {
		return nil
	}
	return s.linked.Desc()
}

// Problem tells why a stored schema has no descriptor; nil when it has one.
func (s *Schema) Problem() error { return s.problem }

// Lookup finds the message or enum that name stands for inside scope (a full
// name, empty for the outermost), the way the reference registry does: among
// all references and bundled files, imported or not.
//
// Source: protobuf compatibility, A.7.
func (s *Schema) Lookup(scope, name string) (Symbol, bool) {
	return s.index.resolve(scope, name, Symbol.IsType)
}

// Bundled is the text of a bundled file by its path, nil when there is none or
// a reference replaces it.
func (s *Schema) Bundled(path string) *File {
	if !bundledPaths[path] || slices.ContainsFunc(s.references, func(f *File) bool { return f.Path == path }) {
		return nil
	}
	return bundledFiles[path].unit().file
}

func (s *Schema) fileAt(path string) *File {
	for _, f := range s.references {
		if f.Path == path {
			return f
		}
	}
	return s.Bundled(path)
}

// MessageAt is the full name of the message with the given indexes: one per
// level, counting messages only, in text order. An empty list is the first.
//
// Errors: there is no such message.
// Source: protobuf compatibility, A.3.
func (s *Schema) MessageAt(indexes []int) (string, error) {
	list := s.Shown().Messages
	if len(indexes) == 0 {
		indexes = []int{0}
	}
	var found *Message
	for level, i := range indexes {
		if i < 0 || i >= len(list) {
			return "", fmt.Errorf("find the message at %v: level %d has %d messages", indexes, level, len(list))
		}
		found = list[i]
		list = found.Messages
	}
	return found.FullName, nil
}

// IndexesOf is the way back: the indexes of a message by its full name, nil for
// none.
func (s *Schema) IndexesOf(name string) []int {
	var find func(list []*Message, path []int) []int
	find = func(list []*Message, path []int) []int {
		for i, m := range list {
			here := append(path[:len(path):len(path)], i)
			if m.FullName == name {
				return here
			}
			if strings.HasPrefix(name, m.FullName+".") {
				return find(m.Messages, here)
			}
		}
		return nil
	}
	return find(s.Shown().Messages, nil)
}

// InFormat is the text that a query parameter format asks for: "serialized",
// "ignore_extensions", or the canonical text for any other.
//
// Errors: the schema's Problem, for "serialized".
// Source: REST contract 5.1.4.
func (s *Schema) InFormat(name string) (string, error) {
	switch name {
	case "serialized":
		return s.Serialized()
	case "ignore_extensions":
		return s.WithoutExtensions(), nil
	}
	return s.canonical, nil
}

// Serialized is the base64 of the file's descriptor, what format=serialized
// answers. The file is called "default", as the reference calls it.
//
// Errors: the schema's Problem.
// Source: REST contract 5.1.4.
func (s *Schema) Serialized() (string, error) {
	if s.linked == nil {
		return "", fmt.Errorf("serialize the descriptor: %w", s.problem)
	}
	fd := proto.CloneOf(protoutil.ProtoFromFileDescriptor(s.Descriptor()))
	fd.Name = proto.String(ownName)
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(fd)
	if err != nil {
		return "", fmt.Errorf("serialize the descriptor: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// WithoutExtensions is the canonical text without extend blocks, extension
// ranges and custom options other than confluent's: what
// format=ignore_extensions answers.
//
// Source: REST contract 5.1.4.
func (s *Schema) WithoutExtensions() string {
	r := &rewriter{
		index:    newIndex(),
		absolute: func(s Symbol) string { return s.Name },
		option:   func(s Symbol) string { return s.Name },
		keep: func(o Option) bool {
			return !o.Name[0].Extension || strings.HasPrefix(strings.TrimPrefix(o.Name[0].Name, "."), "confluent.")
		},
		bare: true,
	}
	return r.file(s.file).print(true)
}

// message finds a message of the closure by its full name, nil for none.
func (s *Schema) message(name string) protoreflect.MessageDescriptor {
	if s.linked == nil {
		return nil
	}
	s.files.Do(func() { s.types = typesOf([]protoreflect.FileDescriptor{s.Descriptor()}) })
	m, err := s.types.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	return m.Descriptor()
}

// field finds a field by its message's full name and its number, nil for none.
func (s *Schema) field(message string, number int32) protoreflect.FieldDescriptor {
	m := s.message(message)
	if m == nil {
		return nil
	}
	return m.Fields().ByNumber(protoreflect.FieldNumber(number))
}

// LabelOf is the label that a field of an edition comes to by its features:
// Repeated, Required, Optional when it has presence, or NoLabel, which members
// of oneofs and maps have too.
func (s *Schema) LabelOf(message string, number int32) Label {
	f := s.field(message, number)
	switch {
	case f == nil || f.IsMap() || f.ContainingOneof() != nil:
		return NoLabel
	case f.Cardinality() == protoreflect.Repeated:
		return Repeated
	case f.Cardinality() == protoreflect.Required:
		return Required
	case f.HasPresence():
		return Optional
	}
	return NoLabel
}

// IsDelimited tells whether a field has the encoding of groups.
func (s *Schema) IsDelimited(message string, number int32) bool {
	f := s.field(message, number)
	return f != nil && f.Kind() == protoreflect.GroupKind
}
