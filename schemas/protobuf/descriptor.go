package protobuf

import (
	"encoding/base64"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// textOfBase64 reads text as base64 of a serialized FileDescriptorProto and
// prints it as canonical text. ok is false when it is no such thing at all.
//
// A descriptor is hardly checked by anyone, so it only ever becomes text, which
// then takes the way of every other text.
//
// Errors: the descriptor says something that no text can say.
// Source: protobuf compatibility, A.9 and F.3.
func textOfBase64(text string) (canonical string, ok bool, err error) {
	text = strings.TrimSpace(text)
	raw, isBase64 := fromBase64(text)
	if !isBase64 || len(raw) == 0 {
		return "", false, nil
	}
	fd := &descriptorpb.FileDescriptorProto{}
	options := proto.UnmarshalOptions{Resolver: bundledTypes(), RecursionLimit: 200}
	isDescriptor := options.Unmarshal(raw, fd) == nil
	if !isDescriptor || len(fd.ProtoReflect().GetUnknown()) > 0 {
		return "", false, nil // bytes of something else that happen to decode
	}
	f, err := fromProto(fd)
	if err != nil {
		return "", true, err
	}
	return f.print(true), true, nil
}

func fromBase64(text string) ([]byte, bool) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		if raw, err := encoding.Strict().DecodeString(text); err == nil {
			return raw, true
		}
	}
	return nil, false
}

// converter turns a FileDescriptorProto into a File without places and full
// names: good enough to be printed.
type converter struct {
	file *File
	err  error
}

func fromProto(fd *descriptorpb.FileDescriptorProto) (*File, error) {
	c := &converter{file: &File{}}
	f := c.file
	switch fd.GetSyntax() {
	case "", "proto2":
	case "proto3":
	case "editions":
		f.Edition = strings.TrimPrefix(fd.GetEdition().String(), "EDITION_")
	default:
		c.fail("syntax %q is unknown", fd.GetSyntax())
	}
	if f.Edition == "" {
		f.Syntax = fd.GetSyntax()
	}
	if fd.GetPackage() != "" {
		f.Package = c.typeName(fd.GetPackage())
	}
	public := map[int32]bool{}
	for _, i := range fd.GetPublicDependency() {
		public[i] = true
	}
	for i, path := range fd.GetDependency() {
		f.Imports = append(f.Imports, Import{Path: path, Public: public[int32(i)]})
	}
	f.Options = c.options(fd.GetOptions())
	for _, m := range fd.GetMessageType() {
		f.Messages = append(f.Messages, c.message(m))
	}
	for _, e := range fd.GetEnumType() {
		f.Enums = append(f.Enums, c.enum(e))
	}
	f.Extends, f.Messages = c.extends(fd.GetExtension(), f.Messages)
	for _, s := range fd.GetService() {
		f.Services = append(f.Services, c.service(s))
	}
	return f, c.err
}

func (c *converter) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("descriptor: "+format, args...)
	}
}

func (c *converter) name(s string) string {
	if !isIdent(s) {
		c.fail("%q is no identifier", s)
	}
	return s
}

func (c *converter) typeName(s string) string {
	for part := range strings.SplitSeq(strings.TrimPrefix(s, "."), ".") {
		if !isIdent(part) {
			c.fail("%q is no type name", s)
		}
	}
	return s
}

func isIdent(s string) bool {
	for i := range len(s) {
		if !isIdentStart(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

func (c *converter) message(d *descriptorpb.DescriptorProto) *Message {
	m := &Message{Name: c.name(d.GetName()), File: c.file}
	for _, n := range d.GetNestedType() {
		m.Messages = append(m.Messages, c.message(n))
	}
	for _, e := range d.GetEnumType() {
		m.Enums = append(m.Enums, c.enum(e))
	}
	m.Extends, m.Messages = c.extends(d.GetExtension(), m.Messages)
	m.Options = c.options(d.GetOptions())

	oneofs := make([]*Oneof, len(d.GetOneofDecl()))
	for i, o := range d.GetOneofDecl() {
		oneofs[i] = &Oneof{Name: c.name(o.GetName()), Options: c.options(o.GetOptions())}
	}
	for _, f := range d.GetField() {
		fields, groups := &m.Fields, &m.Groups
		if f.OneofIndex != nil && !f.GetProto3Optional() {
			i := f.GetOneofIndex()
			if i < 0 || int(i) >= len(oneofs) {
				c.fail("field %q is in oneof number %d, of %d", f.GetName(), i, len(oneofs))
				continue
			}
			fields, groups = &oneofs[i].Fields, &oneofs[i].Groups
		}
		if g := c.group(f, &m.Messages); g != nil {
			*groups = append(*groups, g)
		} else {
			*fields = append(*fields, c.field(f))
		}
	}
	for _, o := range oneofs {
		if len(o.Fields)+len(o.Groups) > 0 {
			m.Oneofs = append(m.Oneofs, o)
		}
	}
	if r := d.GetReservedRange(); len(r) > 0 {
		one := Reserved{}
		for _, x := range r {
			one.Ranges = append(one.Ranges, Range{x.GetStart(), x.GetEnd() - 1, x.GetEnd()-1 >= maxTag})
		}
		m.Reserved = append(m.Reserved, one)
	}
	m.Reserved = c.reservedNames(m.Reserved, d.GetReservedName())
	for _, x := range d.GetExtensionRange() {
		m.Extensions = append(m.Extensions, ExtensionRanges{
			Ranges:  []Range{{x.GetStart(), x.GetEnd() - 1, x.GetEnd()-1 >= maxTag}},
			Options: c.options(x.GetOptions()),
		})
	}
	return m
}

func (c *converter) reservedNames(list []Reserved, names []string) []Reserved {
	if len(names) == 0 {
		return list
	}
	if c.file.Edition != "" {
		for _, n := range names {
			c.name(n)
		}
	}
	return append(list, Reserved{Names: names, Bare: c.file.Edition != ""})
}

// group takes the body of a group field out of the nested messages; nil means
// that f is no group.
func (c *converter) group(f *descriptorpb.FieldDescriptorProto, nested *[]*Message) *Group {
	if f.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
		return nil
	}
	name := f.GetTypeName()[strings.LastIndexByte(f.GetTypeName(), '.')+1:]
	for i, m := range *nested {
		if m.Name == name && strings.EqualFold(name, f.GetName()) {
			*nested = append((*nested)[:i:i], (*nested)[i+1:]...)
			one := c.field(f)
			return &Group{Label: one.Label, Number: one.Number, Options: one.Options, Body: m}
		}
	}
	c.fail("group field %q has no message beside it that is called like it", f.GetName())
	return nil
}

func (c *converter) field(d *descriptorpb.FieldDescriptorProto) *Field {
	f := &Field{Name: c.name(d.GetName()), Number: d.GetNumber()}
	if d.GetTypeName() != "" {
		f.Type = c.typeName(d.GetTypeName())
	} else if d.Type != nil {
		f.Type = strings.ToLower(strings.TrimPrefix(d.GetType().String(), "TYPE_"))
		c.name(f.Type)
	} else {
		c.fail("field %q has no type", d.GetName())
	}
	switch {
	case d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED:
		f.Label = Repeated
	case d.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REQUIRED:
		f.Label = Required
	case d.GetProto3Optional(), c.file.Edition == "" && !c.file.IsProto3() && d.OneofIndex == nil:
		f.Label = Optional
	}
	if d.DefaultValue != nil {
		v := c.defaultValue(d)
		f.Default = &v
	}
	if d.JsonName != nil && d.GetJsonName() != jsonName(d.GetName()) && d.GetExtendee() == "" {
		f.JSONName = d.JsonName
	}
	f.Options = c.options(d.GetOptions())
	return f
}

func (c *converter) defaultValue(d *descriptorpb.FieldDescriptorProto) Value {
	text := d.GetDefaultValue()
	switch d.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_STRING:
		return Value{Kind: String, Text: text}
	case descriptorpb.FieldDescriptorProto_TYPE_BYTES:
		return Value{Kind: String, Text: unescape(text)}
	case descriptorpb.FieldDescriptorProto_TYPE_BOOL, descriptorpb.FieldDescriptorProto_TYPE_ENUM:
		return Value{Kind: Ident, Text: c.name(text)}
	default: // numbers
	}
	if text == "inf" || text == "nan" {
		return Value{Kind: Ident, Text: text}
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		c.fail("field %q has the default %q, which is no number", d.GetName(), text)
	}
	return Value{Kind: Number, Text: text}
}

// unescape undoes C escapes as descriptors hold bytes defaults.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abfnrtv`, s[i]); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v"[at])
			continue
		}
		allowed, base, from := "01234567", 8, i
		if s[i] == 'x' || s[i] == 'X' {
			allowed, base, from = "0123456789abcdefABCDEF", 16, i+1
		}
		end := from
		for end < len(s) && end < from+3 && strings.IndexByte(allowed, s[end]) >= 0 {
			end++
		}
		if n, err := strconv.ParseUint(s[from:end], base, 16); err == nil {
			b.WriteByte(byte(n))
			i = end - 1
			continue
		}
		b.WriteByte(s[i]) // an escaped quote or backslash
	}
	return b.String()
}

// extends groups extension fields by extendee, neighbours only.
func (c *converter) extends(list []*descriptorpb.FieldDescriptorProto, nested []*Message) ([]*Extend, []*Message) {
	var out []*Extend
	for _, d := range list {
		name := c.typeName(d.GetExtendee())
		if len(out) == 0 || out[len(out)-1].Extendee != name {
			out = append(out, &Extend{Extendee: name})
		}
		x := out[len(out)-1]
		if g := c.group(d, &nested); g != nil {
			x.Groups = append(x.Groups, g)
		} else {
			x.Fields = append(x.Fields, c.field(d))
		}
	}
	return out, nested
}

func (c *converter) enum(d *descriptorpb.EnumDescriptorProto) *Enum {
	e := &Enum{Name: c.name(d.GetName()), File: c.file, Options: c.options(d.GetOptions())}
	for _, v := range d.GetValue() {
		e.Values = append(e.Values, &EnumValue{Name: c.name(v.GetName()), Number: v.GetNumber(), Options: c.options(v.GetOptions())})
	}
	if r := d.GetReservedRange(); len(r) > 0 {
		one := Reserved{}
		for _, x := range r {
			one.Ranges = append(one.Ranges, Range{x.GetStart(), x.GetEnd(), x.GetEnd() == math.MaxInt32})
		}
		e.Reserved = append(e.Reserved, one)
	}
	e.Reserved = c.reservedNames(e.Reserved, d.GetReservedName())
	return e
}

func (c *converter) service(d *descriptorpb.ServiceDescriptorProto) *Service {
	s := &Service{Name: c.name(d.GetName()), Options: c.options(d.GetOptions())}
	for _, m := range d.GetMethod() {
		s.Methods = append(s.Methods, &Method{
			Name: c.name(m.GetName()), Input: c.typeName(m.GetInputType()), Output: c.typeName(m.GetOutputType()),
			ClientStream: m.GetClientStreaming(), ServerStream: m.GetServerStreaming(), Options: c.options(m.GetOptions()),
		})
	}
	return s
}

// options lists what is set in an options message, by number. Custom options
// that no bundled file declares are gone: nothing tells their names.
func (c *converter) options(m proto.Message) []Option {
	if !m.ProtoReflect().IsValid() {
		return nil
	}
	var out []Option
	eachSet(m.ProtoReflect(), func(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
		if fd.Name() == "uninterpreted_option" {
			c.fail("an option is not interpreted")
			return
		}
		name := []NamePart{{Name: string(fd.Name())}}
		if fd.IsExtension() {
			name = []NamePart{{Name: string(fd.FullName()), Extension: true}}
		}
		if fd.Message() != nil && fd.Message().FullName() == "google.protobuf.FeatureSet" {
			for _, sub := range c.options(v.Message().Interface()) {
				out = append(out, Option{Name: append(name[:1:1], sub.Name...), Value: sub.Value})
			}
			return
		}
		if fd.IsList() {
			for i := range v.List().Len() {
				out = append(out, Option{Name: name, Value: literal(fd, v.List().Get(i))})
			}
			return
		}
		if fd.IsMap() {
			return // no option is a map
		}
		out = append(out, Option{Name: name, Value: literal(fd, v)})
	})
	return out
}

// eachSet calls fn for the set fields of m, by number.
func eachSet(m protoreflect.Message, fn func(protoreflect.FieldDescriptor, protoreflect.Value)) {
	type pair struct {
		fd protoreflect.FieldDescriptor
		v  protoreflect.Value
	}
	var list []pair
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		list = append(list, pair{fd, v})
		return true
	})
	sort.Slice(list, func(i, j int) bool { return list[i].fd.Number() < list[j].fd.Number() })
	for _, p := range list {
		fn(p.fd, p.v)
	}
}

// literal writes one value in the text format.
func literal(fd protoreflect.FieldDescriptor, v protoreflect.Value) Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return Value{Kind: Ident, Text: strconv.FormatBool(v.Bool())}
	case protoreflect.StringKind:
		return Value{Kind: String, Text: v.String()}
	case protoreflect.BytesKind:
		return Value{Kind: String, Text: string(v.Bytes())}
	case protoreflect.EnumKind:
		if e := fd.Enum().Values().ByNumber(v.Enum()); e != nil {
			return Value{Kind: Ident, Text: string(e.Name())}
		}
		return Value{Kind: Number, Text: strconv.Itoa(int(v.Enum()))}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		size := 64
		if fd.Kind() == protoreflect.FloatKind {
			size = 32
		}
		text := strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v.Float(), 'g', -1, size), "+"))
		if text == "inf" || text == "nan" {
			return Value{Kind: Ident, Text: text}
		}
		return Value{Kind: Number, Text: text}
	case protoreflect.MessageKind, protoreflect.GroupKind:
		out := Value{Kind: Aggregate}
		eachSet(v.Message(), func(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
			name := string(fd.Name())
			switch {
			case fd.IsExtension():
				name = "[" + string(fd.FullName()) + "]"
			case fd.Kind() == protoreflect.GroupKind:
				name = string(fd.Message().Name())
			}
			out.Fields = append(out.Fields, ValueField{name, literals(fd, v)})
		})
		return out
	default:
		return Value{Kind: Number, Text: v.String()}
	}
}

// literals writes a value, a list or a map.
func literals(fd protoreflect.FieldDescriptor, v protoreflect.Value) Value {
	switch {
	case fd.IsList():
		out := Value{Kind: List}
		for i := range v.List().Len() {
			out.Items = append(out.Items, literal(fd, v.List().Get(i)))
		}
		return out
	case fd.IsMap():
		out := Value{Kind: List}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			out.Items = append(out.Items, Value{Kind: Aggregate, Fields: []ValueField{
				{"key", literal(fd.MapKey(), k.Value())}, {"value", literal(fd.MapValue(), v)},
			}})
			return true
		})
		sort.SliceStable(out.Items, func(i, j int) bool {
			return out.Items[i].Fields[0].Value.Text < out.Items[j].Fields[0].Value.Text
		})
		return out
	}
	return literal(fd, v)
}

// jsonName is the JSON key that a field has without json_name.
func jsonName(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	var b strings.Builder
	b.Grow(len(name))
	up := false
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_':
			up = true
			continue
		case up && 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		}
		up = false
		b.WriteByte(c)
	}
	return b.String()
}
