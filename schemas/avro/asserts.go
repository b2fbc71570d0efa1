package avro

import (
	"fmt"
	"math"
	"math/big"

	"github.com/cartorio-registry/cartorio/schemas"
)

// assert checks that a value fits the reader's logical type, which reading alone
// does not ask.
//
// number is the value of an int or long, b that of bytes, fixed or string.
func (w *walk) assert(n *node, start int, number int64, b []byte) bool {
	if !w.o.Formats || w.skipping > 0 || n.reader.Kind != n.writer.Kind {
		return true
	}
	fault := logicalFault(n.reader, number, b)
	return fault == "" || w.violate(schemas.Invalid, &n.reader.spot, start, "logical-type", fault)
}

// logicalFault says why a value does not fit the logical type of t; empty when
// it does: a decimal has no more digits than its precision, a time of day is
// within the day, a UUID is spelled as one.
func logicalFault(t *Type, number int64, b []byte) string {
	switch name := t.Logical.Name; name {
	case "decimal":
		if !fitsPrecision(b, t.Logical.Precision) {
			return fmt.Sprintf("the decimal has more than %d digits", t.Logical.Precision)
		}
	case "uuid":
		if t.Kind == String && !isUUID(b) {
			return quote(string(b)) + " is no UUID"
		}
	case "time-millis", "time-micros":
		day := int64(86_400_000)
		if name == "time-micros" {
			day *= 1000
		}
		if number < 0 || number >= day {
			return fmt.Sprintf("%d is no time of day in %s", number, name[len("time-"):])
		}
	}
	return ""
}

// fitsPrecision tells whether the two's complement number in b, big endian, has
// at most so many decimal digits. Beyond a few thousand digits it tells by the
// number of bits, which may let one digit more pass.
func fitsPrecision(b []byte, digits int) bool {
	const exact = 4096
	bits := float64(digits) * math.Log2(10)
	if float64(8*len(b)) <= bits {
		return true
	}
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:] // only the sign
	}
	if float64(8*len(b)-9) > bits {
		return false
	}
	if digits > exact {
		return true
	}
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n.CmpAbs(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)) < 0
}

// isUUID tells whether b is 32 hex digits with hyphens in their places.
func isUUID(b []byte) bool {
	_, err := schemas.ParseGUID(string(b))
	return len(b) == 36 && err == nil
}
