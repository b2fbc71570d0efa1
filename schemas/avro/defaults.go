package avro

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// mostDefaultSteps bounds the checking of all defaults of a text: a union of
// thousands of records under a default of thousands of items is quadratic.
const mostDefaultSteps = 10_000_000

// checkDefaults refuses defaults that are no value of their field's type.
//
// Source: avro-compat 8.
func (p *parser) checkDefaults() {
	c := defaultCheck{left: mostDefaultSteps}
	for _, f := range p.fields {
		if c.fits(f.Type, f.Default) {
			continue
		}
		if c.left <= 0 {
			p.limit = &schemas.LimitError{Limit: "steps of checking defaults", Most: mostDefaultSteps, Found: mostDefaultSteps + 1, Position: p.doc.position(f.start)}
			return
		}
		at := f.of("default", f.Default)
		summary, detail := c.explain(f.Type, f.Default, &at)
		p.fail(&at, detail, "the default of field %s does not fit: %s", quote(f.Name), summary)
	}
}

// defaultCheck tells whether values fit types. Records are remembered: a
// default may lean on the defaults of the fields that it leaves out, many times
// over.
type defaultCheck struct {
	left int
	seen map[recordValue]bool // false also while a record is under examination
}

type recordValue struct {
	record *Named
	value  *jsontext.Value
}

func (c *defaultCheck) fits(t *Type, v *jsontext.Value) bool {
	if c.left--; c.left <= 0 || v == nil {
		return false
	}
	switch t.Kind {
	case Null:
		return v.Kind == jsontext.Null
	case Boolean:
		return v.Kind == jsontext.Bool
	case Int:
		return fitsInteger(v, 32)
	case Long:
		return fitsInteger(v, 64)
	case Float, Double:
		return v.Kind == jsontext.Number
	case String, Bytes, Fixed, Enum:
		// Neither the length of a fixed nor the symbol of an enum is looked at:
		// the reference implementation does not, and what it accepts today must
		// be accepted here. Remarks tells of both.
		return v.Kind == jsontext.String
	case Array:
		if v.Kind != jsontext.Array {
			return false
		}
		for _, item := range v.Items {
			if !c.fits(t.Items, item) {
				return false
			}
		}
		return true
	case Map:
		if v.Kind != jsontext.Object {
			return false
		}
		for _, m := range v.Members {
			if !c.fits(t.Items, m.Value) {
				return false
			}
		}
		return true
	case Union:
		for _, b := range t.Branches {
			if c.fits(b, v) {
				return true
			}
		}
		return false
	case Record:
		return c.fitsRecord(t.Named, v)
	}
	return false
}

func (c *defaultCheck) fitsRecord(record *Named, v *jsontext.Value) bool {
	if v.Kind != jsontext.Object {
		return false
	}
	key := recordValue{record, v}
	if fits, ok := c.seen[key]; ok {
		return fits
	}
	if c.seen == nil {
		c.seen = map[recordValue]bool{}
	}
	c.seen[key] = false // a default that needs itself has no value
	get := membersOf(v)
	for _, f := range record.Fields {
		value := get(f.Name)
		if value == nil {
			value = f.Default
		}
		if !c.fits(f.Type, value) {
			return false
		}
	}
	c.seen[key] = true
	return true
}

func fitsInteger(v *jsontext.Value, bits int) bool {
	if v.Kind != jsontext.Number || !isIntegral(v.Text) {
		return false
	}
	_, err := strconv.ParseInt(v.Text, 10, bits)
	return err == nil
}

// explain says why v does not fit t, and where: at moves to the innermost value
// that can be blamed.
func (c *defaultCheck) explain(t *Type, v *jsontext.Value, at *spot) (summary, detail string) {
	into := func(step string, v *jsontext.Value) *spot {
		outer := *at
		*at = outer.at(step, v.Start, v.End)
		at.up = &outer
		return at
	}
	switch t.Kind {
	case Array:
		if v.Kind != jsontext.Array {
			break
		}
		for i, item := range v.Items {
			if !c.fits(t.Items, item) {
				return c.explain(t.Items, item, into(index(i), item))
			}
		}
	case Map:
		if v.Kind != jsontext.Object {
			break
		}
		for _, m := range v.Members {
			if !c.fits(t.Items, m.Value) {
				return c.explain(t.Items, m.Value, into(m.Name, m.Value))
			}
		}
	case Record:
		if v.Kind != jsontext.Object {
			break
		}
		for _, f := range t.Named.Fields {
			value := v.Get(f.Name)
			switch {
			case value == nil && f.Default == nil:
				return "the member " + quote(f.Name) + " is missing, and the field has no default of its own", "write it"
			case value == nil && !c.fits(f.Type, f.Default):
				return "the member " + quote(f.Name) + " is missing, and the field's own default does not fit or never ends", "write it"
			case value != nil && !c.fits(f.Type, value):
				return c.explain(f.Type, value, into(f.Name, value))
			}
		}
	case Union:
		if v.Kind == jsontext.Object && len(v.Members) == 1 {
			for _, b := range t.Branches {
				if name := b.Kind.String(); name == v.Members[0].Name || b.Named != nil && b.Named.Full == v.Members[0].Name {
					return quoteValue(v) + " fits no branch of the union", "write the value plainly, without the branch's name around it"
				}
			}
		}
		return quoteValue(v) + " fits no branch of the union", ""
	default: // the other kinds need nothing here
	}
	return quoteValue(v) + " is no " + t.Kind.String(), expectations[t.Kind]
}

var expectations = map[Kind]string{
	Null:    "write null without quotes",
	Boolean: "write true or false without quotes",
	Int:     "write an integer of 32 bits, without fraction, exponent or quotes",
	Long:    "write an integer of 64 bits, without fraction, exponent or quotes",
	Float:   `write a number; NaN and the infinities are written in quotes, and only as a field's own default`,
	Double:  `write a number; NaN and the infinities are written in quotes, and only as a field's own default`,
	String:  `write a text; a field that may be null has the type ["null", "string"]`,
	Bytes:   `write a text whose characters U+0000 to U+00FF stand for the bytes`,
	Fixed:   `write a text whose characters U+0000 to U+00FF stand for the bytes`,
	Enum:    "write one of the symbols",
	Array:   "write an array",
	Map:     "write an object",
	Record:  "write an object with the record's fields",
}

// quoteValue shows a JSON value, cut where it is long.
func quoteValue(v *jsontext.Value) string {
	switch v.Kind {
	case jsontext.Object:
		if len(v.Members) > 3 {
			return "the object"
		}
	case jsontext.Array:
		if len(v.Items) > 3 {
			return "the array"
		}
	case jsontext.String:
		return quote(v.Text)
	default: // the other kinds need nothing here
	}
	s := v.String()
	if len(s) > 60 {
		return "the " + v.Kind.String()
	}
	return s
}

// membersOf finds members by name in constant time where there are many.
func membersOf(v *jsontext.Value) func(name string) *jsontext.Value {
	if len(v.Members) <= 8 {
		return v.Get
	}
	index := make(map[string]*jsontext.Value, len(v.Members))
	for _, m := range v.Members {
		index[m.Name] = m.Value
	}
	return func(name string) *jsontext.Value { return index[name] }
}
