package protobuf

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// descriptor is the file's, with every name resolved. It shares what it can with
// the file, so that it must not be changed.
func (a *assembly) descriptor(path string) *descriptorpb.FileDescriptorProto {
	f := a.file
	fd := &descriptorpb.FileDescriptorProto{Name: &path, Syntax: &f.Syntax}
	if f.Package != "" {
		fd.Package = &f.Package
	}
	for i, one := range f.Imports {
		if one.Weak {
			a.fail()
		}
		fd.Dependency = append(fd.Dependency, one.Path)
		if one.Public {
			fd.PublicDependency = append(fd.PublicDependency, int32(i))
		}
	}
	if len(f.Options) > 0 {
		fd.Options = &descriptorpb.FileOptions{}
		a.options(fd.Options, f.Options)
	}
	for _, m := range f.Messages {
		fd.MessageType = append(fd.MessageType, a.message(m))
	}
	for _, e := range f.Enums {
		fd.EnumType = append(fd.EnumType, a.enum(e))
	}
	for _, s := range f.Services {
		fd.Service = append(fd.Service, a.service(s))
	}
	return fd
}

// at is a declaration of a message and where it stands.
type at[T any] struct {
	offset int
	it     T
}

func inOrder[T any](list []at[T]) []T {
	slices.SortFunc(list, func(a, b at[T]) int { return cmp.Compare(a.offset, b.offset) })
	out := make([]T, len(list))
	for i, one := range list {
		out[i] = one.it
	}
	return out
}

func (a *assembly) message(m *Message) *descriptorpb.DescriptorProto {
	d := &descriptorpb.DescriptorProto{Name: &m.Name}
	count := len(m.Fields)
	for _, o := range m.Oneofs {
		count += len(o.Fields)
	}
	fields := make([]at[*descriptorpb.FieldDescriptorProto], 0, count)
	made := &madeFields{make([]descriptorpb.FieldDescriptorProto, count), make([]string, count), make(map[string]bool, count)}
	var nested []at[*descriptorpb.DescriptorProto]
	for _, inner := range m.Messages {
		nested = append(nested, at[*descriptorpb.DescriptorProto]{inner.Place.Position.Offset, a.message(inner)})
	}
	for i, o := range m.Oneofs {
		d.OneofDecl = append(d.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: &o.Name})
		if len(o.Options) > 0 || len(o.Groups) > 0 {
			a.fail()
		}
		for _, f := range o.Fields {
			one := a.field(m, f, made)
			one.OneofIndex = proto.Int32(int32(i))
			fields = append(fields, at[*descriptorpb.FieldDescriptorProto]{f.Place.Position.Offset, one})
		}
	}
	for _, f := range m.Fields {
		one := a.field(m, f, made)
		if f.IsMap() {
			entry := a.entry(m, f)
			nested = append(nested, at[*descriptorpb.DescriptorProto]{f.Place.Position.Offset, entry})
			one.Type, one.TypeName, one.Label = &kindMessage, proto.String("."+m.FullName+"."+entry.GetName()), &labelRepeated
		}
		fields = append(fields, at[*descriptorpb.FieldDescriptorProto]{f.Place.Position.Offset, one})
	}
	d.Field, d.NestedType = inOrder(fields), inOrder(nested)
	for _, f := range d.Field {
		if f.GetProto3Optional() {
			f.OneofIndex = proto.Int32(int32(len(d.OneofDecl)))
			d.OneofDecl = append(d.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_" + f.GetName())})
		}
	}
	for _, e := range m.Enums {
		d.EnumType = append(d.EnumType, a.enum(e))
	}
	for _, r := range m.Reserved {
		for _, one := range r.Ranges {
			if one.Start < 1 || one.Start > one.End || one.End > maxTag {
				a.fail()
			}
			d.ReservedRange = append(d.ReservedRange, &descriptorpb.DescriptorProto_ReservedRange{Start: proto.Int32(one.Start), End: proto.Int32(one.End + 1)})
		}
		d.ReservedName = append(d.ReservedName, a.reserved(r)...)
	}
	if len(m.Options) > 0 {
		d.Options = &descriptorpb.MessageOptions{}
		a.options(d.Options, m.Options)
	}
	return d
}

func (a *assembly) reserved(r Reserved) []string {
	if r.Bare || slices.ContainsFunc(r.Names, func(name string) bool { return !isIdent(name) }) {
		a.fail()
	}
	return r.Names
}

var (
	kindMessage   = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	kindEnum      = descriptorpb.FieldDescriptorProto_TYPE_ENUM
	labelRepeated = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	labelOptional = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
	yes           = true
)

// scalarKinds are the types that have a name of their own.
var scalarKinds = func() map[string]*descriptorpb.FieldDescriptorProto_Type {
	out := map[string]*descriptorpb.FieldDescriptorProto_Type{}
	for name := range scalars {
		out[name] = descriptorpb.FieldDescriptorProto_Type(descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(name)]).Enum()
	}
	return out
}()

// madeFields are the fields of a message in blocks, since there are many: those
// that are not made yet, and their JSON names. seen are the JSON names of the others.
type madeFields struct {
	list []descriptorpb.FieldDescriptorProto
	keys []string
	seen map[string]bool
}

// next is a field and its JSON name, which no other one has.
func (x *madeFields) next(a *assembly, name string) (d *descriptorpb.FieldDescriptorProto, key *string) {
	d, key = &x.list[0], &x.keys[0]
	x.list, x.keys = x.list[1:], x.keys[1:]
	if *key = jsonName(name); x.seen[*key] {
		a.fail()
	}
	x.seen[*key] = true
	return d, key
}

func (a *assembly) field(m *Message, f *Field, made *madeFields) *descriptorpb.FieldDescriptorProto {
	d, key := made.next(a, f.Name)
	d.Name, d.Number, d.JsonName, d.Label = &f.Name, &f.Number, key, &labelOptional
	if !f.IsMap() {
		d.Type, d.TypeName = a.typed(m.FullName, f.Type)
	}
	switch f.Label {
	case Repeated:
		d.Label = &labelRepeated
	case Optional:
		d.Proto3Optional = &yes
	case NoLabel, Required: // the latter has failed
	}
	if len(f.Options) > 0 {
		d.Options = &descriptorpb.FieldOptions{}
		a.options(d.Options, f.Options)
		if d.Options.Packed != nil {
			switch d.GetType() {
			case descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_BYTES, kindMessage:
				a.fail()
			default:
			}
			if f.Label != Repeated {
				a.fail()
			}
		}
	}
	return d
}

// entry is the message that the entries of a map are.
func (a *assembly) entry(m *Message, f *Field) *descriptorpb.DescriptorProto {
	name := entryName(f.Name)
	key := &descriptorpb.FieldDescriptorProto{
		Name: proto.String("key"), JsonName: proto.String("key"), Number: proto.Int32(1), Label: &labelOptional, Type: scalarKinds[f.Key],
	}
	value := &descriptorpb.FieldDescriptorProto{
		Name: proto.String("value"), JsonName: proto.String("value"), Number: proto.Int32(2), Label: &labelOptional,
	}
	value.Type, value.TypeName = a.typed(m.FullName, f.Value)
	return &descriptorpb.DescriptorProto{
		Name: &name, Options: &descriptorpb.MessageOptions{MapEntry: &yes}, Field: []*descriptorpb.FieldDescriptorProto{key, value},
	}
}

func (a *assembly) enum(e *Enum) *descriptorpb.EnumDescriptorProto {
	d := &descriptorpb.EnumDescriptorProto{Name: &e.Name}
	for _, v := range e.Values {
		one := &descriptorpb.EnumValueDescriptorProto{Name: &v.Name, Number: &v.Number}
		if len(v.Options) > 0 {
			one.Options = &descriptorpb.EnumValueOptions{}
			a.options(one.Options, v.Options)
		}
		d.Value = append(d.Value, one)
	}
	for _, r := range e.Reserved {
		for _, one := range r.Ranges {
			if one.Start > one.End {
				a.fail()
			}
			d.ReservedRange = append(d.ReservedRange, &descriptorpb.EnumDescriptorProto_EnumReservedRange{Start: proto.Int32(one.Start), End: proto.Int32(one.End)})
		}
		d.ReservedName = append(d.ReservedName, a.reserved(r)...)
	}
	if len(e.Options) > 0 {
		d.Options = &descriptorpb.EnumOptions{}
		a.options(d.Options, e.Options)
	}
	return d
}

func (a *assembly) service(s *Service) *descriptorpb.ServiceDescriptorProto {
	d := &descriptorpb.ServiceDescriptorProto{Name: &s.Name}
	if len(s.Options) > 0 {
		d.Options = &descriptorpb.ServiceOptions{}
		a.options(d.Options, s.Options)
	}
	scope := join(a.file.Package, s.Name)
	for _, m := range s.Methods {
		one := &descriptorpb.MethodDescriptorProto{Name: &m.Name, InputType: a.called(scope, m.Input), OutputType: a.called(scope, m.Output)}
		if m.ClientStream {
			one.ClientStreaming = &yes
		}
		if m.ServerStream {
			one.ServerStreaming = &yes
		}
		if len(m.Options) > 0 {
			one.Options = &descriptorpb.MethodOptions{}
			a.options(one.Options, m.Options)
		}
		d.Method = append(d.Method, one)
	}
	return d
}

// called is the message that a method takes or gives.
func (a *assembly) called(scope, name string) *string {
	full, d := a.resolve(scope, name)
	if d != messageName {
		a.fail()
	}
	full = "." + full
	return &full
}

// plainOptions are those that mean what they say: their values are checked for
// nothing but their type.
var plainOptions = map[string]bool{
	"java_package": true, "java_outer_classname": true, "java_multiple_files": true, "go_package": true, "cc_enable_arenas": true,
	"objc_class_prefix": true, "csharp_namespace": true, "swift_prefix": true, "php_class_prefix": true, "php_namespace": true,
	"php_metadata_namespace": true, "ruby_package": true, "deprecated": true, "packed": true, "allow_alias": true,
}

// options sets options of the common kind.
func (a *assembly) options(to proto.Message, list []Option) {
	m := to.ProtoReflect()
	for _, o := range list {
		name := o.Name[0].Name
		if len(o.Name) != 1 || o.Name[0].Extension || !plainOptions[name] {
			a.fail()
			return
		}
		fd := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		switch {
		case fd == nil || m.Has(fd):
			a.fail()
		case fd.Kind() == protoreflect.BoolKind && o.Value.Kind == Ident && (o.Value.Text == "true" || o.Value.Text == "false"):
			m.Set(fd, protoreflect.ValueOfBool(o.Value.Text == "true"))
		case fd.Kind() == protoreflect.StringKind && o.Value.Kind == String:
			m.Set(fd, protoreflect.ValueOfString(o.Value.Text))
		default:
			a.fail()
		}
	}
}

// typed is the type of a field as its descriptor has it.
func (a *assembly) typed(scope, name string) (kind *descriptorpb.FieldDescriptorProto_Type, full *string) {
	if kind := scalarKinds[name]; kind != nil {
		return kind, nil
	}
	found, d := a.resolve(scope, name)
	found = "." + found
	switch d {
	case messageName:
		return &kindMessage, &found
	case enumName:
		return &kindEnum, &found
	case otherName, packageName:
	}
	a.fail()
	return &kindMessage, &found
}

// resolve finds the type that a name stands for inside scope. The innermost
// scope that knows the first part of the name decides, as the compiler has it.
func (a *assembly) resolve(scope, name string) (full string, d declared) {
	if full, ok := strings.CutPrefix(name, "."); ok {
		d, _ := a.find(full)
		return full, d
	}
	first, rest, dotted := strings.Cut(name, ".")
	for {
		full = join(scope, first)
		if d, ok := a.find(full); ok {
			if dotted {
				full += "." + rest
				d, _ = a.find(full)
			}
			return full, d
		}
		if scope == "" {
			return name, otherName
		}
		scope = scope[:max(0, strings.LastIndexByte(scope, '.'))]
	}
}

// find tells what a full name stands for among what the file sees.
func (a *assembly) find(full string) (d declared, ok bool) {
	if d, ok = a.names[full]; ok {
		return d, true
	}
	if within(full, a.file.Package) {
		return packageName, true
	}
	for _, fd := range a.visible {
		if within(full, string(fd.Package())) {
			return packageName, true
		}
		switch found := findIn(fd, protoreflect.FullName(full)).(type) {
		case protoreflect.MessageDescriptor:
			if found.IsMapEntry() {
				return otherName, true
			}
			return messageName, true
		case protoreflect.EnumDescriptor:
			if found.IsClosed() || found.Values().Len() == 0 || found.Values().Get(0).Number() != 0 {
				a.fail() // a proto3 file may not use it
			}
			return enumName, true
		case nil:
			if declaresOther(fd, protoreflect.FullName(full)) {
				return otherName, true
			}
		default:
			return otherName, true
		}
	}
	return otherName, false
}

// within tells whether a package is name or begins with it.
func within(name, pack string) bool {
	return strings.HasPrefix(pack, name) && (len(pack) == len(name) || pack[len(name)] == '.')
}

// declaresOther tells whether a file has something by the name that is no type.
func declaresOther(fd protoreflect.FileDescriptor, full protoreflect.FullName) bool {
	around, name := full.Parent(), full.Name()
	values := func(list protoreflect.EnumDescriptors) bool {
		for i := range list.Len() {
			if list.Get(i).Values().ByName(name) != nil {
				return true
			}
		}
		return false
	}
	if around == fd.Package() {
		return fd.Services().ByName(name) != nil || values(fd.Enums())
	}
	if len(around) <= len(fd.Package()) {
		return false
	}
	switch d := findIn(fd, around).(type) {
	case protoreflect.MessageDescriptor:
		return d.Fields().ByName(name) != nil || d.Oneofs().ByName(name) != nil || values(d.Enums())
	case nil:
		s := fd.Services().ByName(around.Name())
		return s != nil && s.FullName() == around && s.Methods().ByName(name) != nil
	}
	return false
}
