package avro

import (
	"math"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// filler makes values of defaults. Parsing lets two kinds of default pass that
// no reader can fill in (a text that is no symbol, a fixed of another length),
// and stored schemas may have any.
type filler struct {
	left *int
	seen map[recordValue]string // why not, "" where it can be filled in
	fits defaultCheck
}

const endless = "it never ends"

// check says why v cannot be filled in; empty when it can.
func (f *filler) check(t *Type, v *jsontext.Value) string {
	if *f.left--; *f.left <= 0 {
		return "it is too complex"
	}
	if v == nil {
		return "it lacks a member that has no default of its own"
	}
	switch t.Kind {
	case Array:
		if v.Kind != jsontext.Array {
			break
		}
		for _, item := range v.Items {
			if why := f.check(t.Items, item); why != "" {
				return why
			}
		}
		return ""
	case Map:
		if v.Kind != jsontext.Object {
			break
		}
		for _, m := range v.Members {
			if why := f.check(t.Items, m.Value); why != "" {
				return why
			}
		}
		return ""
	case Union:
		if b := f.branch(t, v); b != nil {
			return f.check(b, v)
		}
	case Record:
		if v.Kind != jsontext.Object {
			break
		}
		key := recordValue{t.Named, v}
		if why, ok := f.seen[key]; ok {
			return why
		}
		if f.seen == nil {
			f.seen = map[recordValue]string{}
		}
		f.seen[key] = endless
		get := membersOf(v)
		for _, field := range t.Named.Fields {
			value := get(field.Name)
			if value == nil {
				value = field.Default
			}
			if why := f.check(field.Type, value); why != "" {
				f.seen[key] = why
				return why
			}
		}
		f.seen[key] = ""
		return ""
	default:
		if _, ok := scalar(t, v); ok {
			return ""
		}
	}
	what := "no " + t.Kind.String()
	if v.Kind == jsontext.String && t.Kind == Enum {
		what = "no symbol of " + quote(t.Named.Full)
	}
	if v.Kind == jsontext.String && t.Kind == Fixed {
		what = "not " + index(t.Named.Size) + " bytes long"
	}
	return quoteValue(v) + " is " + what
}

// branch finds the first branch of a union that a default fits.
func (f *filler) branch(t *Type, v *jsontext.Value) *Type {
	f.fits.left = *f.left
	defer func() { *f.left = f.fits.left }()
	for _, b := range t.Branches {
		if !f.fits.fits(b, v) {
			continue
		}
		if _, ok := scalar(b, v); ok || b.Kind != Enum && b.Kind != Fixed {
			return b
		}
	}
	return nil
}

// value makes the value of a default that check lets pass; ok is false when the
// budget is exhausted, since defaults may lean on defaults many times over.
func (f *filler) value(t *Type, v *jsontext.Value) (any, bool) {
	if *f.left--; *f.left <= 0 || v == nil {
		return nil, false
	}
	switch t.Kind {
	case Array:
		out := make([]any, 0, len(v.Items))
		for _, item := range v.Items {
			value, ok := f.value(t.Items, item)
			if !ok {
				return nil, false
			}
			out = append(out, value)
		}
		return out, true
	case Map:
		out := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			value, ok := f.value(t.Items, m.Value)
			if !ok {
				return nil, false
			}
			out[m.Name] = value
		}
		return out, true
	case Record:
		out := make(map[string]any, len(t.Named.Fields))
		get := membersOf(v)
		for _, field := range t.Named.Fields {
			member := get(field.Name)
			if member == nil {
				member = field.Default
			}
			value, ok := f.value(field.Type, member)
			if !ok {
				return nil, false
			}
			out[field.Name] = value
		}
		return out, true
	case Union:
		b := f.branch(t, v)
		if b == nil {
			return nil, false
		}
		return f.value(b, v)
	default: // the other kinds need nothing here
	}
	return scalar(t, v)
}

// scalar is the value of a default of a type without parts.
func scalar(t *Type, v *jsontext.Value) (any, bool) {
	switch t.Kind {
	case Null:
		return nil, v.Kind == jsontext.Null
	case Boolean:
		return v.Bool, v.Kind == jsontext.Bool
	case Int, Long:
		bits := 64
		if t.Kind == Int {
			bits = 32
		}
		if !fitsInteger(v, bits) {
			return nil, false
		}
		n, err := strconv.ParseInt(v.Text, 10, bits)
		return n, err == nil
	case Float, Double:
		if v.Kind != jsontext.Number {
			return nil, false
		}
		n, _ := strconv.ParseFloat(v.Text, 64) // NaN, and out of range is an infinity
		if t.Kind == Float {
			n = float64(float32(n))
		}
		return n, true
	case String:
		return v.Text, v.Kind == jsontext.String
	case Enum:
		return v.Text, v.Kind == jsontext.String && t.Named.Symbol(v.Text) >= 0
	case Bytes, Fixed:
		if v.Kind != jsontext.String {
			return nil, false
		}
		b, ok := bytesOf(v.Text)
		return b, ok && (t.Kind == Bytes || len(b) == t.Named.Size)
	default: // the other kinds need nothing here
	}
	return nil, false
}

// bytesOf reads a JSON text whose characters U+0000 to U+00FF stand for bytes;
// ok is false if there is another character.
func bytesOf(text string) ([]byte, bool) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > math.MaxUint8 {
			return nil, false
		}
		out = append(out, byte(r))
	}
	return out, true
}
