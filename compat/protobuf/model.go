package protobuf

import (
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// model is a schema as the truth compares it: what every feature, label and
// default comes to, with the places of the texts.
type model struct {
	schema *protobuf.Schema // nil for the model of a shape, which has no file either
	file   *protobuf.File   // whose types the schema stands for
	linked *protobuf.Linked // that file
	pack   string           // its package
	whole  schemas.Place    // of the schema's own text

	messages []*message // of the file, outer before inner, map entries left out
	enums    []*enum
	extended []*message // of other files, whose extensions the file declares
	// packages are the types of the closure by package and file, or all under no
	// package.
	packages map[string][]*types
}

// types are the types of one file, shared by all models whose closures it is
// in; or of a whole closure, where a file of it extends messages of others.
type types struct {
	messages map[string]*message // every one that a field reaches
	enums    map[string]*enum
	list     []*message // the messages as they were met
}

// message finds a message of the closure by its full name, nil for none.
func (m *model) message(name string) *message {
	return named(m.packages, name, func(t *types) *message { return t.messages[name] })
}

// enum finds an enum by its full name, nil for none.
func (m *model) enum(name string) *enum {
	return named(m.packages, name, func(t *types) *enum { return t.enums[name] })
}

func named[T any](packages map[string][]*types, name string, in func(*types) *T) *T {
	for at := -1; at < len(name); at++ {
		if at >= 0 && name[at] != '.' {
			continue
		}
		for _, t := range packages[name[:max(at, 0)]] {
			if found := in(t); found != nil {
				return found
			}
		}
	}
	return nil
}

// scope is where a type stands.
type scope struct {
	name, local string // full, and without the package
	pack        string
	path        string // of the file
	around      string // the full name of the message around; empty for none
}

// simple is the name without what it stands in.
func (s scope) simple() string { return s.name[strings.LastIndexByte(s.name, '.')+1:] }

// message is a message type. Extensions of it are fields like the others.
type message struct {
	scope
	described protoreflect.MessageDescriptor // nil where it was read from a plain file
	place     schemas.Place
	text      *protobuf.File   // where place is; nil for nowhere
	file      *protobuf.Linked // nil where the types of a closure are one
	isEntry   bool
	same      bool     // nothing of its own is different on the other side; see Dependents
	endless   bool     // no message of it ends: it requires itself
	fields    []*field // by number
	musts     []*field // required, and what an entry always has
	// byField finds fields by name, byKey by every member name that a JSON reader
	// takes for them. Most messages that are compared need neither.
	byField, byKey func() map[string]*field
	oneofs         []*oneof
	reserved       reservation
	ranges         []protoreflect.FieldNumber // start and end (exclusive) of extension ranges, in turn
	options        string
	accessor       bool // no_standard_descriptor_accessor
	// proofs remembers which values show best what becomes of a field when the
	// other side reads it: proofKey → func() proof. Only those of shared types.
	proofs sync.Map
}

// desc is the linked form.
func (m *message) desc() protoreflect.MessageDescriptor {
	if m.described == nil {
		return m.file.Message(m.name)
	}
	return m.described
}

// reservation is what a message or enum reserves; ends are exclusive.
type reservation struct {
	ranges [][2]int64
	names  []string
}

func (r reservation) has(number int64) bool {
	return slices.ContainsFunc(r.ranges, func(one [2]int64) bool { return one[0] <= number && number < one[1] })
}

// cardinality says how often a field may be there, and whether its absence
// shows.
type cardinality uint8

const (
	implicit cardinality = iota
	explicit
	required
	repeated
	mapped
)

func (c cardinality) String() string {
	return [...]string{"without presence", "optional", "required", "repeated", "map"}[c]
}

func (c cardinality) isMany() bool { return c == repeated || c == mapped }

// field is a field of a message, or an extension of it.
type field struct {
	index    int // in its message's fields
	number   protoreflect.FieldNumber
	name     string // an extension's in brackets
	key      string // its JSON name
	kind     protoreflect.Kind
	card     cardinality
	packed   bool
	checked  bool // a string whose UTF-8 is checked
	extends  bool // an extension
	message  *message
	enum     *enum
	oneof    *oneof
	fallback string                     // its default; empty for none
	code     string                     // options that change generated code
	options  string                     // the other options
	raw      *descriptorpb.FieldOptions // all of them; nil for none
	place    schemas.Place
}

type oneof struct {
	name   string
	fields []*field
	place  schemas.Place
}

// enum is an enum type.
type enum struct {
	scope
	closed    bool
	described protoreflect.EnumDescriptor // nil where it was read from a plain file
	file      *protobuf.Linked
	values    []value // in text order
	byName    map[string]protoreflect.EnumNumber
	index     map[string]int // in values
	names     map[protoreflect.EnumNumber][]string
	reserved  reservation
	options   string
	place     schemas.Place
	text      *protobuf.File // where place is; nil for nowhere
}

func (e *enum) desc() protoreflect.EnumDescriptor {
	if e.described == nil {
		return e.file.Enum(e.name)
	}
	return e.described
}

type value struct {
	name    string
	number  protoreflect.EnumNumber
	options string
	place   schemas.Place
}

// modelOf is the model of s, made once; nil when s does not compile.
func modelOf(s *protobuf.Schema) *model {
	if whole, _ := s.Whole(); whole == nil {
		return nil
	}
	return s.Derived(func() any { return newModel(s) }).(*model)
}

func newModel(s *protobuf.Schema) *model {
	whole, alone := s.Whole()
	m := &model{schema: s, file: s.Shown(), linked: whole, whole: wholeOf(s), packages: map[string][]*types{}}
	if m.file != s.File() {
		for _, one := range whole.Imports() {
			if one.Path() == m.file.Path {
				m.linked = one
			}
		}
	}
	m.pack = m.linked.Package()
	if alone {
		for _, l := range whole.All() {
			m.packages[l.Package()] = append(m.packages[l.Package()], typesOf(s, l))
		}
	} else {
		m.packages[""] = []*types{m.together()}
	}
	if p := m.linked.Plain(); p != nil {
		m.declarePlain(m.pack, p.MessageType, p.EnumType)
		return m
	}
	fd := m.linked.Desc()
	m.declare(fd.Messages(), fd.Enums())
	m.extend(fd.Extensions(), fd.Messages())
	return m
}

// typesOf are the types of one file, whose imports' types are shared too.
func typesOf(s *protobuf.Schema, l *protobuf.Linked) *types {
	return l.Derived(func() any {
		b := newBuilder(s)
		b.file, b.imports = l, map[string]*types{}
		for _, one := range l.All()[1:] {
			b.imports[one.Path()] = typesOf(s, one)
			b.imported = append(b.imported, b.imports[one.Path()])
		}
		if p := l.Plain(); p != nil {
			b.plain(p)
		} else {
			b.see(l.Desc().Messages(), l.Desc().Enums())
		}
		b.types.end()
		return b.types
	}).(*types)
}

// together are the types of a closure whose files extend messages.
func (m *model) together() *types {
	b := newBuilder(m.schema)
	var files []protoreflect.FileDescriptor
	whole, _ := m.schema.Whole()
	for _, l := range whole.All() {
		files = append(files, l.Desc())
	}
	for _, fd := range files {
		b.collect(fd.Extensions(), fd.Messages())
	}
	own := m.linked.Desc()
	b.see(own.Messages(), own.Enums())
	for _, fd := range files {
		if fd != own && m.schema.Bundled(fd.Path()) == nil {
			b.see(fd.Messages(), fd.Enums())
			for _, x := range extensionsOf(fd) {
				b.message(x.ContainingMessage())
			}
		}
	}
	for _, x := range extensionsOf(own) {
		b.message(x.ContainingMessage())
	}
	b.types.end()
	return b.types
}

// declare lists the types of the file itself.
func (m *model) declare(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		m.enums = append(m.enums, m.enum(string(enums.Get(i).FullName())))
	}
	for i := range messages.Len() {
		if md := messages.Get(i); !md.IsMapEntry() {
			m.messages = append(m.messages, m.message(string(md.FullName())))
			m.declare(md.Messages(), md.Enums())
		}
	}
}

// declarePlain is declare of a plain file.
func (m *model) declarePlain(scope string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	for _, e := range enums {
		m.enums = append(m.enums, m.enum(join(scope, e.GetName())))
	}
	for _, one := range messages {
		if name := join(scope, one.GetName()); !one.GetOptions().GetMapEntry() {
			m.messages = append(m.messages, m.message(name))
			m.declarePlain(name, one.NestedType, one.EnumType)
		}
	}
}

// extend finds the messages of other files that the file extends.
func (m *model) extend(list protoreflect.ExtensionDescriptors, nested protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		one := m.message(string(list.Get(i).ContainingMessage().FullName()))
		if !slices.Contains(m.messages, one) && !slices.Contains(m.extended, one) {
			m.extended = append(m.extended, one)
		}
	}
	for i := range nested.Len() {
		m.extend(nested.Get(i).Extensions(), nested.Get(i).Messages())
	}
}

// isElsewhere tells whether a type's place is in another text than the schema's.
func (m *model) isElsewhere(text *protobuf.File) bool {
	return text != nil && (m.schema == nil || text != m.schema.File())
}
