package protobuf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
)

// tables is every message of a closure compiled for reading. Where no file of the
// closure extends messages, each file is compiled once for all closures. They are made from
// the linked descriptors, which neither know the required fields of editions
// everywhere nor which strings must be UTF-8 (protobuf compatibility, F.3).
type tables struct {
	// packages are the messages by full name: by package and file, or all under
	// no package.
	packages map[string][]map[string]*message
	first    *message // the root of a payload that names none; nil when there is none
	own      string   // path of the schema's own file
}

// message is one message type.
type message struct {
	name   string
	desc   protoreflect.MessageDescriptor
	fields []*field
	// dense holds the fields of small numbers by number, sparse the others in
	// ascending order.
	dense  []*field
	sparse []*field
	// required are the bits of the required fields; with more than 64 of them
	// only the slow reader knows.
	required uint64
	musts    []*field // the required fields
	isEntry  bool
	// byName and byJSON find fields by their names; made at their first use.
	byName, byJSON func() map[string]*field
}

func newMessage(md protoreflect.MessageDescriptor) *message {
	m := &message{name: string(md.FullName()), desc: md, isEntry: md.IsMapEntry()}
	by := func(name func(*field) string) func() map[string]*field {
		return sync.OnceValue(func() map[string]*field {
			out := make(map[string]*field, len(m.fields))
			for _, f := range m.fields {
				out[name(f)] = f
			}
			return out
		})
	}
	m.byName = by(func(f *field) string { return f.name })
	m.byJSON = by(func(f *field) string { return f.json })
	return m
}

// class says how one element of a field is checked.
type class uint8

const (
	classVarint class = iota
	classClosedEnum
	classFixed32
	classFixed64
	classBytes
	classString // must be UTF-8
	classMessage
	classGroup
)

// Wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireStart   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

// field is one field or known extension.
type field struct {
	number   int32
	index    int32 // in its message's fields
	wire     uint8 // of one element
	class    class
	packable bool // wire type bytes holds many elements
	repeated bool // a map is repeated
	isMap    bool
	must     bool   // required
	bit      uint64 // of a required field
	oneof    int16  // index, -1 for none
	kind     protoreflect.Kind
	sub      *message
	closed   *closedEnum
	name     string // text name; "[full.name]" for an extension
	json     string
	desc     protoreflect.FieldDescriptor
}

// closedEnum knows the numbers that a closed enum declares.
type closedEnum struct {
	small  uint64 // numbers 0 to 63
	others []int32
}

func (e *closedEnum) has(n int32) bool {
	if n >= 0 && n < 64 {
		return e.small&(1<<n) != 0
	}
	_, ok := slices.BinarySearch(e.others, n)
	return ok
}

func (m *message) find(number int32) *field {
	if int(number) < len(m.dense) {
		return m.dense[number]
	}
	i, ok := slices.BinarySearchFunc(m.sparse, number, func(f *field, n int32) int { return cmp.Compare(f.number, n) })
	if !ok {
		return nil
	}
	return m.sparse[i]
}

// hasPresence tells whether an absent field differs from one with its zero
// value.
func (f *field) hasPresence() bool { return !f.repeated && f.desc.HasPresence() }

func (s *Schema) compiled() *tables {
	s.tables.Do(func() {
		t := &tables{packages: map[string][]map[string]*message{}, own: s.linked.path}
		if s.alone() {
			for _, l := range s.linked.all() {
				t.packages[l.pack] = append(t.packages[l.pack], l.table())
			}
		} else {
			files := closureFiles(s.Descriptor())
			c := newTableCompiler(files)
			t.packages[""] = []map[string]*message{c.compile(files)}
		}
		if list := s.Shown().Messages; len(list) > 0 {
			t.first = t.message(list[0].FullName)
		}
		s.table = t
	})
	return s.table
}

// message finds a message by its full name, nil for none.
func (t *tables) message(name string) *message {
	for _, file := range t.packages[""] {
		if m := file[name]; m != nil {
			return m
		}
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		for _, file := range t.packages[name[:i]] {
			if m := file[name]; m != nil {
				return m
			}
		}
	}
	return nil
}

// compile is the messages of l by full name; those of imports are theirs.
func (l *Linked) compile() map[string]*message {
	c := newTableCompiler(nil)
	c.imports = map[string]map[string]*message{}
	for _, one := range l.all()[1:] {
		c.imports[one.path] = one.table()
	}
	return c.compile([]protoreflect.FileDescriptor{l.Desc()})
}

// closureFiles are fd and all that it imports, fd first.
func closureFiles(fd protoreflect.FileDescriptor) []protoreflect.FileDescriptor {
	seen := map[string]bool{}
	var list []protoreflect.FileDescriptor
	var add func(protoreflect.FileDescriptor)
	add = func(fd protoreflect.FileDescriptor) {
		if seen[fd.Path()] || fd.IsPlaceholder() {
			return
		}
		seen[fd.Path()] = true
		list = append(list, fd)
		for i := range fd.Imports().Len() {
			add(fd.Imports().Get(i).FileDescriptor)
		}
	}
	add(fd)
	return list
}

type tableCompiler struct {
	byName     map[string]*message
	imports    map[string]map[string]*message // files that are compiled already, by path
	extensions map[protoreflect.FullName][]protoreflect.FieldDescriptor
}

// newTableCompiler knows the extensions of some files.
func newTableCompiler(files []protoreflect.FileDescriptor) *tableCompiler {
	c := &tableCompiler{byName: map[string]*message{}, extensions: map[protoreflect.FullName][]protoreflect.FieldDescriptor{}}
	for _, fd := range files {
		c.collect(fd.Extensions(), fd.Messages())
	}
	return c
}

func (c *tableCompiler) compile(files []protoreflect.FileDescriptor) map[string]*message {
	for _, fd := range files {
		for i := range fd.Messages().Len() {
			c.message(fd.Messages().Get(i))
		}
	}
	for _, m := range c.byName {
		if v := m.find(2); m.isEntry && v != nil && v.sub != nil && len(v.sub.musts) > 0 {
			// An entry without a value holds an empty message.
			v.bit = 1
			m.required |= 1
		}
	}
	return c.byName
}

func (c *tableCompiler) collect(list protoreflect.ExtensionDescriptors, nested protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		x := list.Get(i)
		name := x.ContainingMessage().FullName()
		c.extensions[name] = append(c.extensions[name], x)
	}
	for i := range nested.Len() {
		c.collect(nested.Get(i).Extensions(), nested.Get(i).Messages())
	}
}

func (c *tableCompiler) message(md protoreflect.MessageDescriptor) *message {
	name := string(md.FullName())
	if m := c.byName[name]; m != nil {
		return m
	}
	if m := c.imports[md.ParentFile().Path()][name]; m != nil {
		return m
	}
	m := newMessage(md)
	c.byName[name] = m
	add := func(fd protoreflect.FieldDescriptor) {
		f := c.field(fd)
		if f.must {
			if n := len(m.musts); n < 64 {
				f.bit = 1 << n
				m.required |= f.bit
			}
			m.musts = append(m.musts, f)
		}
		f.index = int32(len(m.fields))
		m.fields = append(m.fields, f)
	}
	for i := range md.Fields().Len() {
		add(md.Fields().Get(i))
	}
	for _, x := range c.extensions[md.FullName()] {
		add(x)
	}
	byNumber := slices.Clone(m.fields)
	slices.SortStableFunc(byNumber, func(a, b *field) int { return cmp.Compare(a.number, b.number) })
	for i, f := range byNumber {
		// A table may have as many holes as entries, plus a few.
		if f.number > int32(2*i+32) {
			m.sparse = byNumber[i:]
			break
		}
		for int32(len(m.dense)) <= f.number {
			m.dense = append(m.dense, nil)
		}
		m.dense[f.number] = f
	}
	for i := range md.Messages().Len() {
		c.message(md.Messages().Get(i))
	}
	return m
}

func (c *tableCompiler) field(fd protoreflect.FieldDescriptor) *field {
	f := &field{
		number: int32(fd.Number()), kind: fd.Kind(), repeated: fd.Cardinality() == protoreflect.Repeated,
		isMap: fd.IsMap(), must: fd.Cardinality() == protoreflect.Required, oneof: -1,
		name: string(fd.Name()), json: fd.JSONName(), desc: fd,
	}
	if fd.IsExtension() {
		f.name = "[" + string(fd.FullName()) + "]"
		f.json = f.name
	}
	if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
		f.oneof = int16(o.Index())
	}
	switch fd.Kind() {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		f.class, f.wire, f.packable = classFixed32, wireFixed32, true
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		f.class, f.wire, f.packable = classFixed64, wireFixed64, true
	case protoreflect.BytesKind:
		f.class, f.wire = classBytes, wireBytes
	case protoreflect.StringKind:
		f.class, f.wire = classBytes, wireBytes
		if mustBeUTF8(fd) {
			f.class = classString
		}
	case protoreflect.MessageKind:
		f.class, f.wire, f.sub = classMessage, wireBytes, c.message(fd.Message())
	case protoreflect.GroupKind:
		f.class, f.wire, f.sub = classGroup, wireStart, c.message(fd.Message())
	case protoreflect.EnumKind:
		f.class, f.packable = classVarint, true
		if fd.Enum().IsClosed() {
			f.class, f.closed = classClosedEnum, closedOf(fd.Enum())
		}
	default:
		f.class, f.packable = classVarint, true
	}
	f.packable = f.packable && f.repeated
	return f
}

func closedOf(ed protoreflect.EnumDescriptor) *closedEnum {
	e := &closedEnum{}
	for i := range ed.Values().Len() {
		n := int32(ed.Values().Get(i).Number())
		if n >= 0 && n < 64 {
			e.small |= 1 << n
		} else {
			e.others = append(e.others, n)
		}
	}
	slices.Sort(e.others)
	return e
}

var utf8Feature = (&descriptorpb.FeatureSet{}).ProtoReflect().Descriptor().Fields().ByName("utf8_validation")

// mustBeUTF8 tells whether parsers refuse a string that is not UTF-8.
//
// Source: protobuf compatibility, B.5.
func mustBeUTF8(fd protoreflect.FieldDescriptor) bool {
	switch fd.ParentFile().Syntax() {
	case protoreflect.Proto2:
		return false
	case protoreflect.Proto3:
		return true
	default: // editions
	}
	// The features of a map field are those of its entry's key and value.
	if entry, ok := fd.Parent().(protoreflect.MessageDescriptor); ok && entry.IsMapEntry() {
		if around, ok := entry.Parent().(protoreflect.MessageDescriptor); ok {
			for i := range around.Fields().Len() {
				if f := around.Fields().Get(i); f.Message() == entry {
					fd = f
				}
			}
		}
	}
	v, err := protoutil.ResolveFeature(fd, utf8Feature)
	return err != nil || v.Enum() == protoreflect.EnumNumber(descriptorpb.FeatureSet_VERIFY)
}

// pointer is the place of a field in the schema, in a referenced file behind
// that file's path.
func (t *tables) pointer(fd protoreflect.FieldDescriptor) schemas.Pointer {
	if fd.IsExtension() {
		return t.filePointer(fd.ParentFile()) + schemas.Pointer("/extensions").Append(string(fd.FullName()))
	}
	return t.messagePointer(fd.ContainingMessage()) + schemas.Pointer("/fields/"+strconv.Itoa(int(fd.Number())))
}

func (t *tables) messagePointer(md protoreflect.MessageDescriptor) schemas.Pointer {
	p := t.filePointer(md.ParentFile())
	local := strings.TrimPrefix(string(md.FullName()), string(md.ParentFile().Package())+".")
	for part := range strings.SplitSeq(local, ".") {
		p = (p + "/messages").Append(part)
	}
	return p
}

func (t *tables) filePointer(fd protoreflect.FileDescriptor) schemas.Pointer {
	if fd.Path() == t.own {
		return ""
	}
	return schemas.Pointer("/imports").Append(fd.Path())
}
