package avro

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// defaults tells which defaults a reader can fill in. Registration accepts
// more: an enum's text that is no symbol, a fixed of another length.
//
// Source: avro-compat 8.
type defaults struct {
	meter  *compat.Meter
	usable map[*avro.Field]bool
	plain  map[recordValue]bool // by the rules of registration; false while open
	full   map[recordValue]bool // by those of reading; false while open
}

type recordValue struct {
	record *avro.Named
	value  *jsontext.Value
}

func (d *defaults) of(field *avro.Field) bool {
	known, ok := d.usable[field]
	if !ok {
		if d.usable == nil {
			d.usable, d.plain, d.full = map[*avro.Field]bool{}, map[recordValue]bool{}, map[recordValue]bool{}
		}
		known = d.fills(field.Type, field.Default)
		d.usable[field] = known
	}
	return known
}

// fills tells whether v becomes a value of t. A union takes the first branch
// that registration would have v fit, enums and fixed by their real values.
func (d *defaults) fills(t *avro.Type, v *jsontext.Value) bool {
	if v == nil || !d.meter.Spend(1) {
		return false
	}
	if t.Kind == avro.Union {
		for _, b := range t.Branches {
			if d.fits(b, v) && (b.Kind != avro.Enum && b.Kind != avro.Fixed || d.scalar(b, v)) {
				return d.fills(b, v)
			}
		}
		return false
	}
	return d.parts(t, v, d.full, d.fills)
}

// fits is registration's rule: a union takes any branch, and neither symbols
// nor lengths are looked at.
func (d *defaults) fits(t *avro.Type, v *jsontext.Value) bool {
	if v == nil || !d.meter.Spend(1) {
		return false
	}
	switch t.Kind {
	case avro.Union:
		for _, b := range t.Branches {
			if d.fits(b, v) {
				return true
			}
		}
		return false
	case avro.String, avro.Bytes, avro.Fixed, avro.Enum:
		return v.Kind == jsontext.String
	default:
		return d.parts(t, v, d.plain, d.fits)
	}
}

// parts takes a value apart. A record that needs itself to fill in a default
// has no value.
func (d *defaults) parts(t *avro.Type, v *jsontext.Value, seen map[recordValue]bool, each func(*avro.Type, *jsontext.Value) bool) bool {
	switch t.Kind {
	case avro.Array:
		for _, item := range v.Items {
			if !each(t.Items, item) {
				return false
			}
		}
		return v.Kind == jsontext.Array
	case avro.Map:
		for _, m := range v.Members {
			if !each(t.Items, m.Value) {
				return false
			}
		}
		return v.Kind == jsontext.Object
	case avro.Record:
		if v.Kind != jsontext.Object {
			return false
		}
		key := recordValue{t.Named, v}
		if known, ok := seen[key]; ok {
			return known
		}
		seen[key] = false
		members := make(map[string]*jsontext.Value, len(v.Members))
		for _, m := range v.Members {
			members[m.Name] = m.Value
		}
		for _, f := range t.Named.Fields {
			value := members[f.Name]
			if value == nil {
				value = f.Default
			}
			if !each(f.Type, value) {
				return false
			}
		}
		seen[key] = true
		return true
	default:
		return d.scalar(t, v)
	}
}

// scalar tells whether v is a value of a type without parts.
func (d *defaults) scalar(t *avro.Type, v *jsontext.Value) bool {
	text := v.Kind == jsontext.String
	switch t.Kind {
	case avro.Null:
		return v.Kind == jsontext.Null
	case avro.Boolean:
		return v.Kind == jsontext.Bool
	case avro.Int, avro.Long:
		bits := 32
		if t.Kind == avro.Long {
			bits = 64
		}
		_, err := strconv.ParseInt(v.Text, 10, bits)
		return v.Kind == jsontext.Number && err == nil
	case avro.Float, avro.Double:
		return v.Kind == jsontext.Number
	case avro.String:
		return text
	case avro.Bytes:
		return text && latin1(v.Text) >= 0
	case avro.Fixed:
		return text && latin1(v.Text) == t.Named.Size
	case avro.Enum:
		return text && t.Named.Symbol(v.Text) >= 0
	default:
		return false
	}
}

// latin1 counts the bytes that a default's text stands for; -1 when a character
// stands for none.
func latin1(text string) (n int) {
	for _, r := range text {
		if r > 0xff {
			return -1
		}
		n++
	}
	return n
}
