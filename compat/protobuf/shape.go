package protobuf

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// shaper makes the model of a shape, whose fields lead to the types that are
// different on both sides.
type shaper struct {
	shape *protobuf.Shape
	model *model
	own   *types
	// referred are the types of the references, nil where they are the same on
	// both sides; refers tells which reference defines a name, -1 for a bundled
	// file.
	referred []*types
	refers   map[string]int
	scopes   map[string]bool // of all names that are seen
	met      [2]int          // fields that lead to messages and enums of references
	failed   bool
}

func newShaper(shape *protobuf.Shape, d compat.Dependent, side int) *shaper {
	b := &shaper{
		shape: shape, own: &types{messages: map[string]*message{}, enums: map[string]*enum{}},
		refers: map[string]int{}, scopes: map[string]bool{},
	}
	b.model = &model{pack: shape.Package, packages: map[string][]*types{"": {b.own}}}
	for _, name := range shape.Bundled {
		b.sees(name, -1)
	}
	for i, r := range d.References {
		if len(r.Names) > 0 {
			for _, name := range r.Names[1:] { // the first is the path
				b.sees(name, i)
			}
		}
		var t *types
		switch s := [2]any{r.Old, r.Next}[side].(type) {
		case *protobuf.Schema:
			whole, _ := s.Whole()
			t = typesOf(s, whole)
		case *dependent:
			t = s.model.packages[""][0]
		}
		b.referred = append(b.referred, t)
	}
	return b
}

func (b *shaper) sees(name string, from int) {
	b.refers[name] = from
	b.scoped(name)
}

func (b *shaper) scoped(name string) {
	for at := strings.LastIndexByte(name, '.'); at > 0; at = strings.LastIndexByte(name, '.') {
		if name = name[:at]; b.scopes[name] {
			return
		}
		b.scopes[name] = true
	}
}

// build is false where a type is not known for sure.
func (b *shaper) build() bool {
	for _, name := range b.shape.Enums {
		b.own.enums[name] = nil // what it holds is the same on both sides
		b.scoped(name)
	}
	for _, m := range b.shape.Messages {
		b.scoped(m.Name)
		one := &message{scope: b.scope(m.Name), same: true}
		if _, taken := b.own.enums[m.Name]; taken || b.own.messages[m.Name] != nil {
			return false
		}
		b.own.messages[m.Name] = one
		b.own.list = append(b.own.list, one)
		b.model.messages = append(b.model.messages, one)
	}
	for _, m := range b.shape.Messages {
		b.fields(b.own.messages[m.Name], m)
	}
	b.own.end()
	return !b.failed
}

func (b *shaper) scope(name string) scope {
	return scope{name: name, local: strings.TrimPrefix(name, b.shape.Package+"."), pack: b.shape.Package}
}

func (b *shaper) fields(m *message, from *protobuf.ShapeMessage) {
	list := make([]field, len(from.Fields))
	oneofs := map[string]*oneof{}
	for i, f := range from.Fields {
		one := &list[i]
		switch {
		case f.Key != "":
			*one = field{card: mapped, kind: protoreflect.MessageKind, message: b.entry(m, f)}
		default:
			*one = b.field(m.name, f)
		}
		one.number, one.name, one.key = protoreflect.FieldNumber(f.Number), f.Name, f.JSON
		if f.Oneof != "" {
			o := oneofs[f.Oneof]
			if o == nil {
				o = &oneof{name: f.Oneof}
				oneofs[f.Oneof] = o
				m.oneofs = append(m.oneofs, o)
			}
			one.oneof, one.card = o, explicit
			o.fields = append(o.fields, one)
		}
	}
	m.hold(list)
}

// entry is the message that stands for the entries of a map.
func (b *shaper) entry(around *message, f protobuf.ShapeField) *message {
	e := &message{scope: b.scope(around.name + "." + f.Name + "Entry"), isEntry: true, same: true}
	b.own.list = append(b.own.list, e)
	key, value := b.field(around.name, protobuf.ShapeField{Type: f.Key}), b.field(around.name, protobuf.ShapeField{Type: f.Type})
	key.number, key.name, key.key = 1, "key", "key"
	value.number, value.name, value.key = 2, "value", "value"
	e.hold([]field{key, value})
	return e
}

// field is what a field's label and type come to in proto3.
func (b *shaper) field(scope string, f protobuf.ShapeField) (out field) {
	if kind, ok := scalarKinds[f.Type]; ok {
		out.kind, out.checked = kind, kind == protoreflect.StringKind
	} else {
		b.resolve(scope, f.Type, &out)
	}
	switch {
	case f.Label == protobuf.Required:
		b.failed = true
	case f.Label == protobuf.Repeated:
		out.card = repeated
		out.packed = packable(out.kind)
	case f.Label == protobuf.Optional || out.kind == protoreflect.MessageKind:
		out.card = explicit
	}
	return out
}

// resolve finds the type that a name stands for, as a compiler does: in the
// innermost scope that knows its first part.
func (b *shaper) resolve(scope, name string, out *field) {
	if rest, ok := strings.CutPrefix(name, "."); ok {
		b.failed = b.failed || !b.is(rest, out)
		return
	}
	first, _, dotted := strings.Cut(name, ".")
	for {
		if b.is(join(scope, name), out) {
			return
		}
		if scope == "" || dotted && b.scopes[join(scope, first)] {
			b.failed = true
			return
		}
		scope = scope[:max(strings.LastIndexByte(scope, '.'), 0)]
	}
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// is tells whether a full name is a type, and takes it where it leads further.
func (b *shaper) is(name string, out *field) bool {
	if m := b.own.messages[name]; m != nil {
		out.kind, out.message = protoreflect.MessageKind, m
		return true
	}
	if _, ok := b.own.enums[name]; ok {
		out.kind = protoreflect.EnumKind
		return true
	}
	from, ok := b.refers[name]
	if !ok {
		return false
	}
	out.kind = protoreflect.MessageKind // of what is the same on both sides nothing is asked
	if from < 0 || b.referred[from] == nil {
		return true
	}
	t := b.referred[from]
	if m := t.messages[name]; m != nil {
		out.message = m
		b.met[0]++
		return true
	}
	e, ok := t.enums[name]
	if e != nil {
		out.enum = e
		b.failed = b.failed || e.closed // no plain file may use it
		b.met[1]++
	}
	out.kind = protoreflect.EnumKind
	return ok
}

var scalarKinds = map[string]protoreflect.Kind{
	"int32": protoreflect.Int32Kind, "int64": protoreflect.Int64Kind, "uint32": protoreflect.Uint32Kind, "uint64": protoreflect.Uint64Kind,
	"sint32": protoreflect.Sint32Kind, "sint64": protoreflect.Sint64Kind, "fixed32": protoreflect.Fixed32Kind, "fixed64": protoreflect.Fixed64Kind,
	"sfixed32": protoreflect.Sfixed32Kind, "sfixed64": protoreflect.Sfixed64Kind, "bool": protoreflect.BoolKind, "float": protoreflect.FloatKind,
	"double": protoreflect.DoubleKind, "string": protoreflect.StringKind, "bytes": protoreflect.BytesKind,
}
