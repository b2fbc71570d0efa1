package avro

// Kind is the kind of an Avro type.
type Kind uint8

// The kinds, in the order of the specification.
const (
	Null Kind = iota + 1
	Boolean
	Int
	Long
	Float
	Double
	Bytes
	String
	Array
	Map
	Union
	Record
	Enum
	Fixed
)

var kindNames = [...]string{
	Null: "null", Boolean: "boolean", Int: "int", Long: "long", Float: "float", Double: "double",
	Bytes: "bytes", String: "string", Array: "array", Map: "map", Union: "union",
	Record: "record", Enum: "enum", Fixed: "fixed",
}

// String is the specification's word, lower case.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// IsPrimitive tells whether k is one of the eight types without parts.
func (k Kind) IsPrimitive() bool { return k >= Null && k <= String }

// IsNamed tells whether k is record, enum or fixed.
func (k Kind) IsNamed() bool { return k >= Record && k <= Fixed }

var primitives = map[string]Kind{
	"null": Null, "boolean": Boolean, "int": Int, "long": Long,
	"float": Float, "double": Double, "bytes": Bytes, "string": String,
}

// isTypeWord tells whether name is a word of the language: such a name, bare,
// would be read back as the language's own type.
func isTypeWord(name string) bool {
	for _, word := range kindNames[1:] {
		if word == name {
			return true
		}
	}
	return false
}
