package jsonschema

import (
	"math/big"
	"strconv"
	"strings"
)

// Number is the exact value of a JSON number: ±0.Digits × 10^Exponent, with
// neither leading nor trailing zeros in Digits. Zero has no digits and no sign.
type Number struct {
	Text     string // as written
	Negative bool
	Digits   string
	Exponent int

	small small // the same value, where it is one; set for a schema's numbers
}

// ParseNumber reads the text of a JSON number; the caller has checked its
// grammar and bounded its digits and exponent (an exponent beyond ±1e9 is cut
// there).
func ParseNumber(text string) Number {
	n := Number{Text: text}
	mantissa := text
	if mantissa[0] == '-' {
		n.Negative = true
		mantissa = mantissa[1:]
	}
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		n.Exponent = cutExponent(mantissa[at+1:])
		mantissa = mantissa[:at]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		digits := strings.TrimLeft(fraction, "0")
		n.Exponent -= len(fraction) - len(digits)
		n.Digits = strings.TrimRight(digits, "0")
	} else {
		n.Exponent += len(whole)
		if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
			n.Digits = strings.TrimRight(whole, "0")
		} else {
			n.Digits = whole + fraction
		}
	}
	if n.Digits == "" {
		n.Negative, n.Exponent = false, 0
	}
	return n
}

func cutExponent(s string) int {
	e, err := strconv.Atoi(strings.TrimPrefix(s, "+"))
	if err != nil || e > 1e9 || e < -1e9 {
		if s[0] == '-' {
			return -1e9
		}
		return 1e9
	}
	return e
}

// IsZero tells whether n is 0.
func (n Number) IsZero() bool { return n.Digits == "" }

// IsInteger tells whether n has no fraction: 1.0 and 1e2 have none.
func (n Number) IsInteger() bool { return n.Exponent >= len(n.Digits) }

// Compare is -1, 0 or 1 as n is below, at or above other.
func (n Number) Compare(other Number) int {
	if n.Negative != other.Negative {
		if n.Negative {
			return -1
		}
		return 1
	}
	sign := 1
	if n.Negative {
		sign = -1
	}
	switch {
	case n.IsZero() && other.IsZero():
		return 0
	case n.IsZero():
		return -1
	case other.IsZero():
		return 1
	case n.Exponent != other.Exponent:
		if n.Exponent < other.Exponent {
			return -sign
		}
		return sign
	}
	return sign * strings.Compare(n.Digits, other.Digits)
}

// Canonical appends one text per value: equal numbers append equal texts.
func (n Number) Canonical(dst []byte) []byte {
	if n.IsZero() {
		return append(dst, '0')
	}
	if n.Negative {
		dst = append(dst, '-')
	}
	dst = append(dst, n.Digits...)
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, int64(n.Exponent), 10)
}

// Int is the value as an int, cut to most when it is larger; ok is false for
// fractions and negative numbers.
func (n Number) Int(most int) (value int, ok bool) {
	if n.Negative || !n.IsInteger() {
		return 0, false
	}
	if n.Exponent > 18 {
		return most, true
	}
	for i := range n.Exponent {
		value *= 10
		if i < len(n.Digits) {
			value += int(n.Digits[i] - '0')
		}
	}
	return min(value, most), true
}

// IsMultipleOf tells whether n is a whole multiple of step, exactly. Nothing is
// a multiple of zero.
func (n Number) IsMultipleOf(step Number) bool {
	if step.IsZero() {
		return false
	}
	if n.IsZero() {
		return true
	}
	// n = a × 10^p and step = b × 10^q with whole a and b.
	p, q := n.Exponent-len(n.Digits), step.Exponent-len(step.Digits)
	if p < q {
		return false // 10 divides the step, and a ends in no zero
	}
	if len(n.Digits)+p-q <= 18 && len(step.Digits) <= 18 {
		return shifted(n.Digits, p-q)%shifted(step.Digits, 0) == 0
	}
	a, _ := new(big.Int).SetString(n.Digits, 10)
	b, _ := new(big.Int).SetString(step.Digits, 10)
	// Only the factors 2 and 5 of b can be met by powers of ten; 4 bits a digit
	// bound how many there are, so a larger shift changes nothing.
	ten := big.NewInt(int64(min(p-q, 4*len(step.Digits))))
	a.Mul(a, ten.Exp(big.NewInt(10), ten, nil))
	return new(big.Int).Rem(a, b).Sign() == 0
}

func shifted(digits string, by int) uint64 {
	n, _ := strconv.ParseUint(digits, 10, 64)
	for ; by > 0; by-- {
		n *= 10
	}
	return n
}

// Float is the nearest double.
func (n Number) Float() float64 {
	f, _ := strconv.ParseFloat(n.Text, 64)
	return f
}
