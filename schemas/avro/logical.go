package avro

import (
	"math"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// Logical is a logical type that fits its base. The zero value is none.
type Logical struct {
	Name      string
	Precision int // decimal only: digits
	Scale     int // decimal only: digits behind the point
}

// IsZero tells whether there is none.
func (l Logical) IsZero() bool { return l.Name == "" }

// logicalBases lists which kinds carry which logical type; decimal, duration
// and uuid have conditions of their own (see logicalOf).
var logicalBases = map[string][]Kind{
	"date":                   {Int},
	"time-millis":            {Int},
	"time-micros":            {Long},
	"timestamp-millis":       {Long},
	"timestamp-micros":       {Long},
	"timestamp-nanos":        {Long},
	"local-timestamp-millis": {Long},
	"local-timestamp-micros": {Long},
	"local-timestamp-nanos":  {Long},
	"uuid":                   {String, Fixed},
	"duration":               {Fixed},
	"decimal":                {Bytes, Fixed},
	"big-decimal":            {Bytes},
}

// logicalOf interprets the attributes of a type. What is unknown or does not
// fit is none: the specification asks implementations to ignore it.
func logicalOf(kind Kind, size int, attributes []Attribute) Logical {
	var name, precision, scale *jsontext.Value
	for _, a := range attributes {
		switch a.Name {
		case "logicalType":
			name = a.Value
		case "precision":
			precision = a.Value
		case "scale":
			scale = a.Value
		}
	}
	if name == nil || name.Kind != jsontext.String {
		return Logical{}
	}
	fits := false
	for _, base := range logicalBases[name.Text] {
		fits = fits || base == kind
	}
	if !fits {
		return Logical{}
	}
	switch name.Text {
	case "uuid":
		if kind == Fixed && size != 16 {
			return Logical{}
		}
	case "duration":
		if size != 12 {
			return Logical{}
		}
	case "decimal":
		p, ok := smallInt(precision)
		if !ok || p <= 0 || kind == Fixed && p > digitsOf(size) {
			return Logical{}
		}
		s := 0
		if scale != nil {
			if s, ok = smallInt(scale); !ok {
				return Logical{}
			}
		}
		if s < 0 || s > p {
			return Logical{}
		}
		return Logical{Name: "decimal", Precision: p, Scale: s}
	}
	return Logical{Name: name.Text}
}

// digitsOf is the most decimal digits that size bytes of two's complement hold
// whatever the digits are.
func digitsOf(size int) int {
	if size == 0 {
		return 0
	}
	// The exact value is floor(log10(2^(8n-1) - 1)); no power of two is near
	// enough to a power of ten for the float to matter.
	return int(math.Floor(float64(8*size-1) * math.Log10(2)))
}

// smallInt reads a JSON integer of 32 bits.
func smallInt(v *jsontext.Value) (int, bool) {
	if v == nil || v.Kind != jsontext.Number || !isIntegral(v.Text) {
		return 0, false
	}
	n, err := strconv.ParseInt(v.Text, 10, 32)
	return int(n), err == nil
}

// isIntegral tells whether a JSON number is written without fraction and
// exponent; 1.0 is no integer here, as in the reference implementation.
func isIntegral(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}
