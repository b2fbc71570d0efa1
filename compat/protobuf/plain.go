package protobuf

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// plain makes the types of a plain file as message and enum make them of its
// linked form, which takes several times as long to have.
func (b *builder) plain(fd *descriptorpb.FileDescriptorProto) {
	at := scope{pack: fd.GetPackage(), path: fd.GetName()}
	b.plainTypes(at, fd.GetPackage(), fd.MessageType, fd.EnumType)
	b.plainContents(fd.GetPackage(), fd.MessageType)
}

// plainTypes makes the messages, which hold nothing yet, and the enums. What is
// the same of all of them is in at; around is the name of what they stand in.
func (b *builder) plainTypes(at scope, around string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	in := func(name string) scope {
		one := at
		one.name = join(around, name)
		one.local = strings.TrimPrefix(one.name, at.pack+".")
		return one
	}
	for _, e := range enums {
		b.plainEnum(in(e.GetName()), e)
	}
	for _, d := range messages {
		m := &message{scope: in(d.GetName()), file: b.file, isEntry: d.GetOptions().GetMapEntry()}
		b.add(m)
		inner := at
		inner.around = m.name
		b.plainTypes(inner, m.name, d.NestedType, d.EnumType)
	}
}

func (b *builder) plainContents(around string, messages []*descriptorpb.DescriptorProto) {
	for _, d := range messages {
		m := b.types.messages[join(around, d.GetName())]
		b.plainMessage(m, d)
		b.plainContents(m.name, d.NestedType)
	}
}

func (b *builder) plainMessage(m *message, d *descriptorpb.DescriptorProto) {
	places, oneofs := b.places(m)
	for _, o := range d.OneofDecl {
		m.oneofs = append(m.oneofs, &oneof{name: o.GetName(), place: oneofs[o.GetName()]})
	}
	list := make([]field, len(d.Field))
	written := 0
	for i, fd := range d.Field {
		f := &list[i]
		b.plainField(f, fd)
		f.stand(m, places)
		if fd.OneofIndex != nil && !fd.GetProto3Optional() {
			f.oneof = m.oneofs[fd.GetOneofIndex()]
			f.oneof.fields = append(f.oneof.fields, f)
			written = max(written, int(fd.GetOneofIndex())+1)
		}
	}
	m.oneofs = m.oneofs[:written] // those of single optional fields come behind the others
	m.hold(list)
	for _, r := range d.ReservedRange {
		m.reserved.ranges = append(m.reserved.ranges, [2]int64{int64(r.GetStart()), int64(r.GetEnd())})
	}
	m.reserved.names = append(m.reserved.names, d.ReservedName...)
	m.reserved.tidy()
	if d.Options != nil {
		m.take(d.Options)
	}
}

// plainField is what a field of proto3 comes to.
//
// Source: protobuf compatibility, B.5.
func (b *builder) plainField(f *field, fd *descriptorpb.FieldDescriptorProto) {
	*f = field{number: protoreflect.FieldNumber(fd.GetNumber()), name: fd.GetName(), key: fd.GetJsonName(), kind: protoreflect.Kind(fd.GetType())}
	switch f.kind {
	case protoreflect.MessageKind:
		f.message = plainType(b, fd, func(t *types) map[string]*message { return t.messages })
	case protoreflect.EnumKind:
		f.enum = plainType(b, fd, func(t *types) map[string]*enum { return t.enums })
	case protoreflect.StringKind:
		f.checked = true
	default:
	}
	switch {
	case fd.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		f.card = repeated
		f.packed = packable(f.kind) && (fd.GetOptions() == nil || fd.Options.Packed == nil || fd.Options.GetPacked())
		if f.message != nil && f.message.isEntry {
			f.card = mapped
		}
	case fd.OneofIndex != nil || f.message != nil:
		f.card = explicit
	}
	if fd.Options != nil {
		f.take(fd.Options)
	}
}

// plainType finds the type of a field, which is the file's own or an import's.
func plainType[T any](b *builder, fd *descriptorpb.FieldDescriptorProto, of func(*types) map[string]*T) *T {
	name := fd.GetTypeName()[1:] // behind the dot of a full name
	if one := of(b.types)[name]; one != nil {
		return one
	}
	for _, t := range b.imported {
		if one := of(t)[name]; one != nil {
			return one
		}
	}
	return nil
}

func (b *builder) plainEnum(at scope, d *descriptorpb.EnumDescriptorProto) {
	e, places := b.newEnum(at)
	for _, one := range d.Value {
		v := value{name: one.GetName(), number: protoreflect.EnumNumber(one.GetNumber()), place: places[one.GetName()]}
		if one.Options != nil {
			v.options = optionsText(one.Options, "features")
		}
		e.add(v)
	}
	for _, r := range d.ReservedRange {
		e.reserved.ranges = append(e.reserved.ranges, [2]int64{int64(r.GetStart()), int64(r.GetEnd()) + 1})
	}
	e.reserved.names = append(e.reserved.names, d.ReservedName...)
	e.reserved.tidy()
	if d.Options != nil {
		e.options = optionsText(d.Options, "allow_alias", "features")
	}
}
