package jsonschema

import (
	"math"
	"strings"
)

// small is a number of at most 18 digits without an exponent: value over
// 10^places. Nearly every number in a payload is one, and needs no allocation.
type small struct {
	value  int64
	places int
	ok     bool
}

func parseSmall(text string) small {
	var out small
	negative, point, digits := false, false, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '-' && i == 0:
			negative = true
		case c == '.':
			point = true
		case c >= '0' && c <= '9':
			if digits++; digits > 18 {
				return small{}
			}
			out.value = out.value*10 + int64(c-'0')
			if point {
				out.places++
			}
		default:
			return small{}
		}
	}
	if negative {
		out.value = -out.value
	}
	out.ok = digits > 0
	return out
}

// align brings two numbers to the same places; ok is false when one of them is
// no small number or would not fit.
func align(a, b small) (x, y int64, ok bool) {
	if !a.ok || !b.ok {
		return 0, 0, false
	}
	x, y = a.value, b.value
	for places := a.places; places < b.places; places++ {
		if x > math.MaxInt64/10 || x < math.MinInt64/10 {
			return 0, 0, false
		}
		x *= 10
	}
	for places := b.places; places < a.places; places++ {
		if y > math.MaxInt64/10 || y < math.MinInt64/10 {
			return 0, 0, false
		}
		y *= 10
	}
	return x, y, true
}

// operand is a payload's number that a schema's numbers are held against.
type operand struct {
	text   string
	small  small
	full   Number
	parsed bool
}

func (o *operand) number() Number {
	if !o.parsed {
		o.full, o.parsed = ParseNumber(o.text), true
	}
	return o.full
}

func (o *operand) compare(n *Number) int {
	if x, y, ok := align(o.small, n.small); ok {
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	return o.number().Compare(*n)
}

func (o *operand) isMultipleOf(n *Number) bool {
	if x, y, ok := align(o.small, n.small); ok && y != 0 {
		return x%y == 0
	}
	return o.number().IsMultipleOf(*n)
}

// isInteger tells whether the text of a number has no fraction in value.
func isInteger(text string) bool {
	point := strings.IndexByte(text, '.')
	if strings.ContainsAny(text, "eE") {
		return ParseNumber(text).IsInteger()
	}
	return point < 0 || strings.Trim(text[point+1:], "0") == ""
}
