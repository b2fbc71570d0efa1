package protobuf

import (
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// The peer's difference types.
//
// Source: protobuf compatibility, A.2.
const (
	packageChanged       = "PACKAGE_CHANGED"
	messageAdded         = "MESSAGE_ADDED"
	messageRemoved       = "MESSAGE_REMOVED"
	messageMoved         = "MESSAGE_MOVED"
	enumAdded            = "ENUM_ADDED"
	enumRemoved          = "ENUM_REMOVED"
	enumConstAdded       = "ENUM_CONST_ADDED"
	enumConstChanged     = "ENUM_CONST_CHANGED"
	enumConstRemoved     = "ENUM_CONST_REMOVED"
	fieldAddedPeer       = "FIELD_ADDED"
	fieldRemovedPeer     = "FIELD_REMOVED"
	fieldNameChanged     = "FIELD_NAME_CHANGED"
	requiredAddedPeer    = "REQUIRED_FIELD_ADDED"
	requiredRemovedPeer  = "REQUIRED_FIELD_REMOVED"
	kindChanged          = "FIELD_KIND_CHANGED"
	scalarKindChanged    = "FIELD_SCALAR_KIND_CHANGED"
	numericLabelChanged  = "FIELD_NUMERIC_LABEL_CHANGED"
	textLabelChanged     = "FIELD_STRING_OR_BYTES_LABEL_CHANGED"
	namedTypeChanged     = "FIELD_NAMED_TYPE_CHANGED"
	oneofAdded           = "ONEOF_ADDED"
	oneofRemoved         = "ONEOF_REMOVED"
	oneofFieldAdded      = "ONEOF_FIELD_ADDED"
	oneofFieldRemoved    = "ONEOF_FIELD_REMOVED"
	oneofFieldToTop      = "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"
	multipleMovedToOneof = "MULTIPLE_FIELDS_MOVED_TO_ONEOF"
	movedToExistingOneof = "FIELD_MOVED_TO_EXISTING_ONEOF"
)

// incompatible tells whether the reference refuses a difference of the type.
func incompatible(kind string) bool {
	_, ok := descriptions[kind]
	return ok
}

// kind is the category of a type: what must not change.
type kind uint8

const (
	scalarKind kind = iota
	mapKind
	messageKind
	// groupKind is a message of an edition's file in the encoding of groups.
	groupKind
)

// scalarGroup gathers the scalar types that the reference lets change into one
// another.
//
// Source: protobuf compatibility, A.4.
var scalarGroup = map[string]string{
	"int32": "varint", "int64": "varint", "uint32": "varint", "uint64": "varint", "bool": "varint",
	"sint32": "zigzag", "sint64": "zigzag",
	"string": "text", "bytes": "text",
	"fixed32": "fixed32", "sfixed32": "fixed32",
	"fixed64": "fixed64", "sfixed64": "fixed64",
	"float": "float", "double": "double",
}

// side is one schema of the pair.
type side struct {
	schema *protobuf.Schema
	file   *protobuf.File
	whole  schemas.Place // what is not in the own text is told of all of it
}

// newSide takes a schema as what it shows.
func newSide(s *protobuf.Schema) side { return side{s, s.Shown(), wholeOf(s)} }

// wholeOf is the place of a schema's whole text.
func wholeOf(s *protobuf.Schema) schemas.Place {
	text := s.Source().Text
	return schemas.Place{Position: schemas.Position{Line: 1, Column: 1}, End: schemas.PositionAt(text, len(text))}
}

// fieldType is a field's type as one side sees it.
type fieldType struct {
	kind   kind
	name   string // as written
	group  string // of a scalar
	symbol protobuf.Symbol
	known  bool // symbol is what name stands for
	key    *fieldType
	value  *fieldType
}

// scalarTypes are the types that need no look-up.
var scalarTypes = func() map[string]*fieldType {
	out := map[string]*fieldType{}
	for name, group := range scalarGroup {
		out[name] = &fieldType{kind: scalarKind, name: name, group: group}
	}
	return out
}()

// typeOf resolves a type name inside message m.
func (s side) typeOf(m *protobuf.Message, name string) *fieldType {
	if t := scalarTypes[name]; t != nil {
		return t
	}
	t := &fieldType{kind: messageKind, name: name}
	t.symbol, t.known = s.schema.Lookup(m.FullName, name)
	if t.known && t.symbol.Enum != nil {
		t.kind, t.group = scalarKind, "varint"
	}
	return t
}

// fieldTypeOf resolves the type of field f of m. A hand-written map entry is
// the map that it stands for.
func (s side) fieldTypeOf(m *protobuf.Message, f *protobuf.Field) *fieldType {
	if f.IsMap() {
		return &fieldType{kind: mapKind, key: s.typeOf(m, f.Key), value: s.typeOf(m, f.Value), name: "map<" + f.Key + ", " + f.Value + ">"}
	}
	t := s.typeOf(m, f.Type)
	if t.kind != messageKind {
		return t
	}
	if t.known && t.symbol.Message.IsMapEntry() {
		entry := t.symbol.Message
		var key, value *protobuf.Field
		for _, e := range entry.Fields {
			switch e.Number {
			case 1:
				key = e
			case 2:
				value = e
			}
		}
		if key != nil && value != nil {
			return &fieldType{kind: mapKind, name: t.name, key: s.fieldTypeOf(entry, key), value: s.fieldTypeOf(entry, value)}
		}
	}
	if s.isDelimited(m, f) {
		t.kind = groupKind
	}
	return t
}

// label is the label that counts: the text's, or for editions what its features
// come to, so that explicit presence is as good as "optional".
//
// Source: protobuf compatibility, A.5, D and G.3.
func (s side) label(m *protobuf.Message, f *protobuf.Field) protobuf.Label {
	if m.File.Edition == "" || s.schema.Descriptor() == nil {
		return f.Label
	}
	return s.schema.LabelOf(m.FullName, f.Number)
}

// isDelimited tells whether the field of an edition's file has the encoding of
// groups.
func (s side) isDelimited(m *protobuf.Message, f *protobuf.Field) bool {
	return m.File.Edition != "" && s.schema.IsDelimited(m.FullName, f.Number)
}
