package avro

import "github.com/cartorio-registry/cartorio/schemas/jsontext"

// Type is one type at one place of a text. The graph of types is resolved and
// may be circular: a place that uses a named type by name has a Type of its own
// whose Named is the shared definition. Nothing in it may be changed.
//
// Which fields are filled follows from Kind: Named for Record, Enum and Fixed;
// Items for Array (its items) and Map (its values); Branches for Union.
type Type struct {
	Kind     Kind
	Named    *Named
	Items    *Type
	Branches []*Type
	// Logical is the logical type in force; the zero value when there is none,
	// or when it is unknown or does not fit (such a one is ignored, as the
	// specification asks). For named types it is Named.Logical.
	Logical Logical
	// Attributes are the custom attributes in the order sent, logicalType,
	// precision and scale among them. Empty for unions and named types.
	Attributes []Attribute

	spot
}

// Named is the definition of a record, enum or fixed. Two uses of one type
// share one Named, so it can be compared and remembered by its pointer.
type Named struct {
	Kind      Kind
	Name      string   // simple name
	Namespace string   // empty is the null namespace
	Full      string   // namespace, dot and name
	Aliases   []string // full names, in the order sent, distinct
	Doc       string
	HasDoc    bool // an empty doc is not an absent one

	IsError bool     // a record written as "error": one and the same but for the word
	Fields  []*Field // Record

	Symbols    []string // Enum
	Default    string   // Enum: one of Symbols, when HasDefault
	HasDefault bool

	Size int // Fixed: bytes

	Logical    Logical     // Fixed: decimal, duration or uuid
	Attributes []Attribute // custom attributes in the order sent

	// Number counts the definitions of a schema and its references from 0, in
	// the order in which they became known. Use it to index memories.
	Number int

	byName map[string]*Field // only of records with many fields
	spot
}

// Field finds a field by its name; nil when there is none.
func (n *Named) Field(name string) *Field {
	if n.byName != nil {
		return n.byName[name]
	}
	for _, f := range n.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Symbol finds a symbol's index; -1 when there is none.
func (n *Named) Symbol(symbol string) int {
	for i, s := range n.Symbols {
		if s == symbol {
			return i
		}
	}
	return -1
}

// Field is one field of a record.
type Field struct {
	Name    string
	Index   int // place among the record's fields, from 0
	Aliases []string
	Doc     string
	HasDoc  bool
	Type    *Type
	// Default is the value as written, nil when there is none. Where a float or
	// double has a text, it is the number that the text spells; a number's Text
	// may then be NaN, Infinity or -Infinity.
	Default *jsontext.Value
	Order   Order
	// Attributes are the custom attributes in the order sent. A logicalType
	// here is one of them and means nothing.
	Attributes []Attribute

	spot
}

// Attribute is a member of a type or field that Avro does not define.
type Attribute struct {
	Name  string
	Value *jsontext.Value
}

// Order says how a field takes part in sorting.
type Order uint8

// The orders; the zero value is the default.
const (
	Ascending Order = iota
	Descending
	Ignore
)

// String is the specification's word.
func (o Order) String() string { return [...]string{"ascending", "descending", "ignore"}[o] }
