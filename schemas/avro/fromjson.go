package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// BinaryOf makes a binary payload of a value in Avro's JSON encoding (see
// JSONOf). Nothing is filled in and nothing is rounded: a missing field, an
// unknown member, a fraction for an int and a union's value without its type's
// name are violations, with pointers into text. Members of a record may stand in
// any order. options.Formats asserts logical types, as in Reads.
//
// Source: Avro specification, JSON encoding.
func (s *Schema) BinaryOf(text []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return s.encoded(text, options, false)
}

// encoded is BinaryOf, or the same with bare unions.
func (s *Schema) encoded(text []byte, options schemas.ReadOptions, bare bool) ([]byte, []schemas.Violation) {
	o := options.OrDefault()
	limits := schemas.DefaultLimits()
	v, err := jsontext.Parse(string(text), jsontext.Options{
		// Each level of the value may stand inside the object of a union.
		Depth: 2*o.Depth + 1, Text: o.Bytes, Digits: limits.Digits, Exponent: limits.Exponent, Strict: true,
	})
	if err != nil {
		return nil, []schemas.Violation{violationOf(err)}
	}
	e := encoder{o: o, shape: s.reading().shape, steps: o.Steps, bare: bare}
	if e.steps == 0 {
		e.steps = 1<<16 + 16*len(text)
	}
	e.encode(s.root, v, 0)
	if len(e.violations) > 0 {
		return nil, e.violations
	}
	return e.out, nil
}

// violationOf tells of a text that is no JSON.
func violationOf(err error) schemas.Violation {
	var limit *schemas.LimitError
	if errors.As(err, &limit) {
		return schemas.Violation{
			Kind: schemas.TooLarge, Offset: limit.Position.Offset, Rule: "json",
			Text: fmt.Sprintf("the value is over the limit of %d for %s: found %d", limit.Most, limit.Limit, limit.Found),
		}
	}
	v := schemas.Violation{Kind: schemas.Unreadable, Offset: -1, Rule: "json", Text: "the value is no JSON: " + err.Error()}
	var syntax schemas.SyntaxErrors
	if errors.As(err, &syntax) {
		v.Offset = syntax[0].Position.Offset
	}
	return v
}

type encoder struct {
	o          schemas.ReadOptions
	shape      shape
	steps      int
	bare       bool // a union's value may stand without its type's name
	path       []string
	out        []byte
	violations []schemas.Violation
}

func (e *encoder) full() bool { return len(e.violations) >= e.o.Violations }

func (e *encoder) violate(t *Type, v *jsontext.Value, kind schemas.ViolationKind, rule, text string) {
	if e.full() {
		return
	}
	var p []byte
	for _, token := range e.path {
		p = appendToken(append(p, '/'), token)
	}
	e.violations = append(e.violations, schemas.Violation{
		Kind: kind, Payload: schemas.Pointer(p), Schema: t.Pointer(), Offset: v.Start, Rule: rule, Text: text,
	})
}

func (e *encoder) wrong(t *Type, v *jsontext.Value, text string) {
	e.violate(t, v, schemas.Invalid, "type", text)
}

func (e *encoder) into(token string, t *Type, v *jsontext.Value, depth int) {
	e.path = append(e.path, token)
	e.encode(t, v, depth)
	e.path = e.path[:len(e.path)-1]
}

// encode appends one value, inside depth records, arrays and maps.
func (e *encoder) encode(t *Type, v *jsontext.Value, depth int) {
	if e.full() {
		return
	}
	if e.steps--; e.steps < 0 {
		e.violate(t, v, schemas.TooComplex, "steps", "the value needs more steps than its size allows")
		e.o.Violations = len(e.violations)
		return
	}
	switch t.Kind {
	case Record, Array, Map:
		if depth >= e.o.Depth {
			e.violate(t, v, schemas.TooLarge, "depth", fmt.Sprintf("the value nests deeper than %d levels", e.o.Depth))
			return
		}
		depth++
	default: // the other kinds need nothing here
	}
	switch t.Kind {
	case Union:
		e.union(t, v, depth)
	case Record:
		e.record(t, v, depth)
	case Array:
		if v.Kind != jsontext.Array {
			e.wrong(t, v, quoteValue(v)+" is no array")
			return
		}
		if len(v.Items) > 0 {
			e.out = binary.AppendVarint(e.out, int64(len(v.Items)))
			for i, item := range v.Items {
				e.into(index(i), t.Items, item, depth)
			}
		}
		e.out = append(e.out, 0)
	case Map:
		if v.Kind != jsontext.Object {
			e.wrong(t, v, quoteValue(v)+" is no map: an object is expected")
			return
		}
		if len(v.Members) > 0 {
			e.out = binary.AppendVarint(e.out, int64(len(v.Members)))
			for _, m := range v.Members {
				e.text(m.Name)
				e.into(m.Name, t.Items, m.Value, depth)
			}
		}
		e.out = append(e.out, 0)
	default:
		e.scalar(t, v)
	}
}

func (e *encoder) text(s string) {
	e.out = binary.AppendVarint(e.out, int64(len(s)))
	e.out = append(e.out, s...)
}

func (e *encoder) union(t *Type, v *jsontext.Value, depth int) {
	for i, b := range t.Branches {
		if b.Kind == Null && v.Kind == jsontext.Null {
			e.out = binary.AppendVarint(e.out, int64(i))
			return
		}
	}
	if e.bare && e.bareUnion(t, v, depth) {
		return
	}
	if v.Kind == jsontext.Object && len(v.Members) == 1 {
		for i, b := range t.Branches {
			if m := v.Members[0]; b.Kind != Null && branchName(b) == m.Name {
				e.out = binary.AppendVarint(e.out, int64(i))
				e.into(m.Name, b, m.Value, depth)
				return
			}
		}
	}
	names := ""
	for i, b := range t.Branches {
		if i > 0 {
			names += ", "
		}
		if names += branchName(b); len(names) > 200 {
			names += ", …"
			break
		}
	}
	e.violate(t, v, schemas.Invalid, "union", quoteValue(v)+" is no value of the union of "+names+
		`: write null plainly, any other value with its type's name around it, as {"string": "x"}`)
}

func (e *encoder) record(t *Type, v *jsontext.Value, depth int) {
	if e.shape.endless[t.Named] {
		e.violate(t, v, schemas.Invalid, "endless", endlessText(t.Named))
		return
	}
	if v.Kind != jsontext.Object {
		e.wrong(t, v, quoteValue(v)+" is no "+t.Named.Full+": an object is expected")
		return
	}
	get := membersOf(v)
	found := 0
	for _, f := range t.Named.Fields {
		member := get(f.Name)
		if member == nil {
			e.steps--
			e.violate(f.Type, v, schemas.Invalid, "field-missing", "the field "+quote(f.Name)+" is missing: a default is for readers and is not filled in")
			continue
		}
		found++
		e.into(f.Name, f.Type, member, depth)
	}
	if found == len(v.Members) {
		return
	}
	for _, m := range v.Members {
		if t.Named.Field(m.Name) == nil {
			e.path = append(e.path, m.Name)
			e.violate(t, m.Value, schemas.Invalid, "field-unknown", "the record "+quote(t.Named.Full)+" has no field "+quote(m.Name))
			e.path = e.path[:len(e.path)-1]
		}
	}
}

func (e *encoder) scalar(t *Type, v *jsontext.Value) {
	switch t.Kind {
	case Null:
		if v.Kind != jsontext.Null {
			e.wrong(t, v, quoteValue(v)+" is not null")
		}
	case Boolean:
		if v.Kind != jsontext.Bool {
			e.wrong(t, v, quoteValue(v)+" is no boolean")
			return
		}
		if v.Bool {
			e.out = append(e.out, 1)
		} else {
			e.out = append(e.out, 0)
		}
	case Int, Long:
		bits := 64
		if t.Kind == Int {
			bits = 32
		}
		if !fitsInteger(v, bits) {
			e.wrong(t, v, fmt.Sprintf("%s is no %s: an integer of %d bits is expected, without fraction and exponent", quoteValue(v), t.Kind, bits))
			return
		}
		n, _ := strconv.ParseInt(v.Text, 10, bits) // fitsInteger has read it
		e.assert(t, v, n, nil)
		e.out = binary.AppendVarint(e.out, n)
	case Float, Double:
		e.float(t, v)
	case String:
		if v.Kind != jsontext.String {
			e.wrong(t, v, quoteValue(v)+" is no string")
			return
		}
		e.assert(t, v, 0, []byte(v.Text))
		e.text(v.Text)
	case Enum:
		at := -1
		if v.Kind == jsontext.String {
			at = t.Named.Symbol(v.Text)
		}
		if at < 0 {
			e.violate(t, v, schemas.Invalid, "enum-symbol", quoteValue(v)+" is no symbol of "+quote(t.Named.Full))
			return
		}
		e.out = binary.AppendVarint(e.out, int64(at))
	case Bytes, Fixed:
		var b []byte
		ok := v.Kind == jsontext.String
		if ok {
			b, ok = bytesOf(v.Text)
		}
		if !ok {
			e.wrong(t, v, quoteValue(v)+" stands for no bytes: a text of the characters U+0000 to U+00FF is expected")
			return
		}
		if t.Kind == Bytes {
			e.out = binary.AppendVarint(e.out, int64(len(b)))
		} else if len(b) != t.Named.Size {
			e.violate(t, v, schemas.Invalid, "fixed-size", fmt.Sprintf("%s has %d bytes, %s has %d", quoteValue(v), len(b), quote(t.Named.Full), t.Named.Size))
			return
		}
		e.assert(t, v, 0, b)
		e.out = append(e.out, b...)
	default: // the other kinds need nothing here
	}
}

func (e *encoder) assert(t *Type, v *jsontext.Value, number int64, b []byte) {
	if !e.o.Formats || t.Logical.IsZero() {
		return
	}
	if fault := logicalFault(t, number, b); fault != "" {
		e.violate(t, v, schemas.Invalid, "logical-type", fault)
	}
}

func (e *encoder) float(t *Type, v *jsontext.Value) {
	bits := 64
	if t.Kind == Float {
		bits = 32
	}
	var f float64
	switch {
	case v.Kind == jsontext.Number:
		var err error
		if f, err = strconv.ParseFloat(v.Text, bits); err != nil {
			e.wrong(t, v, quoteValue(v)+" is beyond what a "+t.Kind.String()+" holds")
			return
		}
	case v.Kind == jsontext.String && v.Text == "NaN":
		f = math.NaN()
	case v.Kind == jsontext.String && v.Text == "Infinity":
		f = math.Inf(1)
	case v.Kind == jsontext.String && v.Text == "-Infinity":
		f = math.Inf(-1)
	default:
		e.wrong(t, v, quoteValue(v)+` is no `+t.Kind.String()+`: a number, "NaN", "Infinity" or "-Infinity" is expected`)
		return
	}
	if t.Kind == Float {
		e.out = binary.LittleEndian.AppendUint32(e.out, math.Float32bits(float32(f)))
		return
	}
	e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(f))
}
