package protobuf

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// builder makes types.
type builder struct {
	schema     *protobuf.Schema
	types      *types
	file       *protobuf.Linked
	imports    map[string]*types // of files that have types of their own, by path
	imported   []*types          // the same
	extensions map[protoreflect.FullName][]protoreflect.FieldDescriptor
}

func newBuilder(s *protobuf.Schema) *builder {
	return &builder{
		schema: s, types: &types{messages: map[string]*message{}, enums: map[string]*enum{}},
		extensions: map[protoreflect.FullName][]protoreflect.FieldDescriptor{},
	}
}

// collect finds the extensions of a file.
func (b *builder) collect(list protoreflect.ExtensionDescriptors, nested protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		x := list.Get(i)
		name := x.ContainingMessage().FullName()
		b.extensions[name] = append(b.extensions[name], x)
	}
	for i := range nested.Len() {
		b.collect(nested.Get(i).Extensions(), nested.Get(i).Messages())
	}
}

// see makes all types of a file, those too that no field reaches: the other side
// may have them in its own.
func (b *builder) see(messages protoreflect.MessageDescriptors, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		b.enum(enums.Get(i))
	}
	for i := range messages.Len() {
		b.message(messages.Get(i))
		b.see(messages.Get(i).Messages(), messages.Get(i).Enums())
	}
}

func scopeOf(d protoreflect.Descriptor) scope {
	s := scope{name: string(d.FullName()), local: local(d), pack: string(d.ParentFile().Package()), path: d.ParentFile().Path()}
	if around, ok := d.Parent().(protoreflect.MessageDescriptor); ok {
		s.around = string(around.FullName())
	}
	return s
}

func local(d protoreflect.Descriptor) string {
	return strings.TrimPrefix(string(d.FullName()), string(d.ParentFile().Package())+".")
}

func (b *builder) message(md protoreflect.MessageDescriptor) *message {
	name := string(md.FullName())
	if known := b.types.messages[name]; known != nil {
		return known
	}
	if other := b.imports[md.ParentFile().Path()]; other != nil {
		return other.messages[name]
	}
	out := &message{scope: scopeOf(md), described: md, file: b.file, isEntry: md.IsMapEntry()}
	b.add(out)
	places, oneofs := b.places(out)
	for i := range md.Oneofs().Len() {
		if one := md.Oneofs().Get(i); !one.IsSynthetic() {
			out.oneofs = append(out.oneofs, &oneof{name: string(one.Name()), place: oneofs[string(one.Name())]})
		}
	}
	all := make([]protoreflect.FieldDescriptor, 0, md.Fields().Len())
	for i := range md.Fields().Len() {
		all = append(all, md.Fields().Get(i))
	}
	all = append(all, b.extensions[md.FullName()]...)
	list := make([]field, len(all))
	for i, fd := range all {
		f := &list[i]
		b.field(f, fd)
		f.stand(out, places)
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
			for _, one := range out.oneofs {
				if one.name == string(o.Name()) {
					f.oneof = one
					one.fields = append(one.fields, f)
				}
			}
		}
	}
	out.hold(list)
	for i := range md.ReservedRanges().Len() {
		r := md.ReservedRanges().Get(i)
		out.reserved.ranges = append(out.reserved.ranges, [2]int64{int64(r[0]), int64(r[1])})
	}
	for i := range md.ReservedNames().Len() {
		out.reserved.names = append(out.reserved.names, string(md.ReservedNames().Get(i)))
	}
	out.reserved.tidy()
	for i := range md.ExtensionRanges().Len() {
		r := md.ExtensionRanges().Get(i)
		out.ranges = append(out.ranges, r[0], r[1])
	}
	if o, ok := md.Options().(*descriptorpb.MessageOptions); ok && o != nil {
		out.take(o)
	}
	return out
}

func (b *builder) add(m *message) {
	b.types.messages[m.name] = m
	b.types.list = append(b.types.list, m)
}

// places tells a message where it stands, and answers where its fields and oneofs
// do.
func (b *builder) places(m *message) (fields map[protoreflect.FieldNumber]*schemas.Place, oneofs map[string]schemas.Place) {
	symbol, ok := b.schema.Lookup("", "."+m.name)
	if !ok && m.isEntry && m.around != "" {
		// A map's entry stands nowhere: it has the place of the message around.
		symbol, ok = b.schema.Lookup("", "."+m.around)
	}
	oneofs = map[string]schemas.Place{}
	if ok && symbol.Message != nil {
		m.place, m.text = symbol.Message.Place, symbol.File
		if !m.isEntry {
			fields = spots(symbol.Message, oneofs)
		}
	}
	return fields, oneofs
}

func (f *field) stand(in *message, places map[protoreflect.FieldNumber]*schemas.Place) {
	f.place = in.place
	if p := places[f.number]; p != nil && *p != (schemas.Place{}) {
		f.place = *p
	}
}

func (m *message) take(o *descriptorpb.MessageOptions) {
	m.accessor = o.GetNoStandardDescriptorAccessor()
	m.options = optionsText(o, "map_entry", "features")
}

func (f *field) take(o *descriptorpb.FieldOptions) {
	f.raw = o
	f.code = strings.Trim(word(o.Ctype)+" "+word(o.Jstype), " ")
	f.options = optionsText(o, "ctype", "jstype", "packed", "features", "lazy", "unverified_lazy")
}

// hold gives a message its fields.
func (m *message) hold(list []field) {
	m.fields = make([]*field, len(list))
	for i := range list {
		m.fields[i] = &list[i]
	}
	m.byField = sync.OnceValue(func() map[string]*field {
		out := make(map[string]*field, len(list))
		for i := range list {
			out[list[i].name] = &list[i]
		}
		return out
	})
	m.byKey = sync.OnceValue(func() map[string]*field {
		out := make(map[string]*field, 2*len(list))
		for i := range list {
			out[list[i].key] = &list[i]
		}
		for i := range list {
			if f := &list[i]; out[f.name] == nil {
				out[f.name] = f
			}
		}
		return out
	})
	slices.SortStableFunc(m.fields, func(a, b *field) int { return cmp.Compare(a.number, b.number) })
	for i, f := range m.fields {
		f.index = i
	}
}

// tidy sorts and joins, so that reservations of the same numbers are equal.
func (r *reservation) tidy() {
	slices.Sort(r.names)
	slices.SortFunc(r.ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	var out [][2]int64
	for _, one := range r.ranges {
		if n := len(out); n > 0 && out[n-1][1] >= one[0] {
			out[n-1][1] = max(out[n-1][1], one[1])
			continue
		}
		out = append(out, one)
	}
	r.ranges = out
}

// spots finds where the fields of a message stand, and puts into oneofs where its
// oneofs do.
func spots(m *protobuf.Message, oneofs map[string]schemas.Place) map[protoreflect.FieldNumber]*schemas.Place {
	fields := make(map[protoreflect.FieldNumber]*schemas.Place, len(m.Fields))
	for _, f := range m.Fields {
		fields[protoreflect.FieldNumber(f.Number)] = &f.Place
	}
	groups := m.Groups
	for _, o := range m.Oneofs {
		oneofs[o.Name] = o.Place
		for _, f := range o.Fields {
			fields[protoreflect.FieldNumber(f.Number)] = &f.Place
		}
		groups = append(groups[:len(groups):len(groups)], o.Groups...)
	}
	for _, g := range groups {
		fields[protoreflect.FieldNumber(g.Number)] = &g.Place
	}
	return fields
}

func (b *builder) field(f *field, fd protoreflect.FieldDescriptor) {
	*f = field{number: fd.Number(), name: string(fd.Name()), key: fd.JSONName(), kind: fd.Kind(), packed: fd.IsPacked()}
	if fd.IsExtension() {
		f.extends = true
		f.name = "[" + string(fd.FullName()) + "]"
		f.key = f.name
	}
	switch {
	case fd.IsMap():
		f.card = mapped
	case fd.Cardinality() == protoreflect.Repeated:
		f.card = repeated
	case fd.Cardinality() == protoreflect.Required:
		f.card = required
	case fd.HasPresence():
		f.card = explicit
	}
	switch {
	case fd.Message() != nil:
		f.message = b.message(fd.Message())
	case fd.Enum() != nil:
		f.enum = b.enum(fd.Enum())
	case f.kind == protoreflect.StringKind:
		f.checked = protobuf.ChecksUTF8(fd)
	}
	if fd.HasDefault() {
		f.fallback = fd.Default().String()
		if v := fd.DefaultEnumValue(); v != nil {
			f.fallback = string(v.Name())
		}
		if f.fallback == zeroText(f.kind) {
			f.fallback = "" // the default that it has anyway
		}
	}
	if o, ok := fd.Options().(*descriptorpb.FieldOptions); ok && o != nil {
		f.take(o)
	}
}

// word is the text of an option that is there.
func word[E interface {
	comparable
	String() string
}](e *E) string {
	if e == nil {
		return ""
	}
	var zero E
	if *e == zero {
		return ""
	}
	return (*e).String()
}

func zeroText(k protoreflect.Kind) string {
	switch k {
	case protoreflect.BoolKind:
		return "false"
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.EnumKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return ""
	default:
		return "0"
	}
}

// optionsText is a form of options, without those named, that is equal when
// they are.
func optionsText(o proto.Message, without ...protoreflect.Name) string {
	if proto.Size(o) == 0 {
		return ""
	}
	c := proto.Clone(o).ProtoReflect()
	for _, name := range without {
		if fd := c.Descriptor().Fields().ByName(name); fd != nil {
			c.Clear(fd)
		}
	}
	raw, err := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(c.Interface())
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func (b *builder) enum(ed protoreflect.EnumDescriptor) *enum {
	name := string(ed.FullName())
	if known := b.types.enums[name]; known != nil {
		return known
	}
	if other := b.imports[ed.ParentFile().Path()]; other != nil {
		return other.enums[name]
	}
	e, places := b.newEnum(scopeOf(ed))
	e.closed, e.described = ed.IsClosed(), ed
	for i := range ed.Values().Len() {
		vd := ed.Values().Get(i)
		v := value{name: string(vd.Name()), number: vd.Number(), place: places[string(vd.Name())]}
		if o, ok := vd.Options().(*descriptorpb.EnumValueOptions); ok && o != nil {
			v.options = optionsText(o, "features")
		}
		e.add(v)
	}
	for i := range ed.ReservedRanges().Len() {
		r := ed.ReservedRanges().Get(i)
		e.reserved.ranges = append(e.reserved.ranges, [2]int64{int64(r[0]), int64(r[1]) + 1})
	}
	for i := range ed.ReservedNames().Len() {
		e.reserved.names = append(e.reserved.names, string(ed.ReservedNames().Get(i)))
	}
	e.reserved.tidy()
	if o, ok := ed.Options().(*descriptorpb.EnumOptions); ok && o != nil {
		e.options = optionsText(o, "allow_alias", "features")
	}
	return e
}

// newEnum makes an enum without values, and answers where they stand.
func (b *builder) newEnum(at scope) (*enum, map[string]schemas.Place) {
	e := &enum{scope: at, file: b.file, byName: map[string]protoreflect.EnumNumber{}, index: map[string]int{}, names: map[protoreflect.EnumNumber][]string{}}
	b.types.enums[e.name] = e
	places := map[string]schemas.Place{}
	if symbol, ok := b.schema.Lookup("", "."+e.name); ok && symbol.Enum != nil {
		e.place, e.text = symbol.Enum.Place, symbol.File
		for _, v := range symbol.Enum.Values {
			places[v.Name] = v.Place
		}
	}
	return e, places
}

func (e *enum) add(v value) {
	e.index[v.name] = len(e.values)
	e.values = append(e.values, v)
	e.byName[v.name] = v.number
	e.names[v.number] = append(e.names[v.number], v.name)
}
