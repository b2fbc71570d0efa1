package avro

import (
	"encoding/binary"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

var _ schemas.Documents = (*Schema)(nil)

// DocumentOf writes a payload as [schemas.Documents] says: as JSONOf does, but
// that a union of null and one other type holds the bare value.
func (s *Schema) DocumentOf(payload schemas.Payload, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return s.written(payload.Bytes, options, true)
}

// PayloadOf makes a payload of a document. What DocumentOf wrote gives the same
// value again. The value of any union may also stand without its type's name,
// where one branch alone is of its kind: a document of an older version knows
// nothing of a union that the newer one has.
func (s *Schema) PayloadOf(document []byte, _ string, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return s.encoded(document, options, true)
}

// onlyBranch is the index of the branch beside null in a union of the two; -1
// for other unions.
func onlyBranch(t *Type) int {
	if len(t.Branches) != 2 {
		return -1
	}
	switch {
	case t.Branches[0].Kind == Null && t.Branches[1].Kind != Null:
		return 1
	case t.Branches[1].Kind == Null && t.Branches[0].Kind != Null:
		return 0
	}
	return -1
}

// bareUnion writes the value of a union without a name around it; false when it
// has to have one. Of a wide union a name that is there is believed, since
// DocumentOf puts one there.
func (e *encoder) bareUnion(t *Type, v *jsontext.Value, depth int) bool {
	at := onlyBranch(t)
	if at < 0 && isWrapped(t, v) {
		return false
	}
	if at < 0 {
		for i, b := range t.Branches {
			if !takesKind(b, v) {
				continue
			}
			if at >= 0 {
				return false // two could be meant
			}
			at = i
		}
	} else if !takesKind(t.Branches[at], v) {
		return false
	}
	if at < 0 {
		return false
	}
	e.out = binary.AppendVarint(e.out, int64(at))
	e.encode(t.Branches[at], v, depth)
	return true
}

// isWrapped tells whether v looks like a value with its branch's name around it.
func isWrapped(t *Type, v *jsontext.Value) bool {
	if v.Kind != jsontext.Object || len(v.Members) != 1 {
		return false
	}
	for _, b := range t.Branches {
		if b.Kind != Null && branchName(b) == v.Members[0].Name {
			return true
		}
	}
	return false
}

// takesKind tells whether a value of v's kind can be one of t, by the kind and,
// for numbers and symbols, by the value.
func takesKind(t *Type, v *jsontext.Value) bool {
	switch t.Kind {
	case Boolean:
		return v.Kind == jsontext.Bool
	case Int:
		return v.Kind == jsontext.Number && fitsInteger(v, 32)
	case Long:
		return v.Kind == jsontext.Number && fitsInteger(v, 64)
	case Float, Double:
		return v.Kind == jsontext.Number || v.Kind == jsontext.String && (v.Text == "NaN" || v.Text == "Infinity" || v.Text == "-Infinity")
	case String:
		return v.Kind == jsontext.String
	case Bytes, Fixed:
		if v.Kind != jsontext.String {
			return false
		}
		b, ok := bytesOf(v.Text)
		return ok && (t.Kind == Bytes || len(b) == t.Named.Size)
	case Enum:
		return v.Kind == jsontext.String && t.Named.Symbol(v.Text) >= 0
	case Array:
		return v.Kind == jsontext.Array
	case Map, Record:
		return v.Kind == jsontext.Object
	default:
		return false
	}
}
