package avro

import (
	"math"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// javaDouble spells a double as Java's Double.toString does, which is how
// numbers with a fraction or exponent come out of the reference registry:
// 1000.0, 1.5, 1.0E10.
func javaDouble(f float64) string { return javaFloat(f, 64) }

func javaFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if size := math.Abs(f); size == 0 || size >= 1e-3 && size < 1e7 {
		s := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, bits), "E")
	if !strings.Contains(mantissa, ".") {
		// Java never prints one digit alone, and of two digits it takes those
		// nearest to the value: 4.9E-324, not 5.0E-324.
		near := strconv.FormatFloat(f, 'E', 1, bits)
		if back, err := strconv.ParseFloat(near, bits); err == nil && back == f {
			mantissa, exponent, _ = strings.Cut(near, "E")
		} else {
			mantissa += ".0"
		}
	}
	n, _ := strconv.Atoi(exponent) // drops the plus and leading zeros
	return mantissa + "E" + strconv.Itoa(n)
}

// parseJavaDouble reads a text as Java's Double.valueOf does: white space
// around it, NaN, Infinity, and a suffix f or d are allowed. What is out of
// range is an infinity.
func parseJavaDouble(text string) (float64, bool) {
	s := strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 {
		return 0, false
	}
	negative := strings.HasPrefix(s, "-")
	switch unsigned {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		if negative {
			return math.Inf(-1), true
		}
		return math.Inf(1), true
	}
	if unsigned == "" || unsigned[0] != '.' && (unsigned[0] < '0' || unsigned[0] > '9') || strings.Contains(unsigned, "_") {
		return 0, false
	}
	if n := len(unsigned); strings.ContainsRune("fFdD", rune(unsigned[n-1])) {
		hex := len(unsigned) > 1 && (unsigned[1] == 'x' || unsigned[1] == 'X')
		if !hex || strings.ContainsAny(unsigned, "pP") {
			unsigned = unsigned[:n-1]
		}
	}
	f, err := strconv.ParseFloat(unsigned, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	if negative {
		f = math.Copysign(f, -1)
	}
	return f, true
}

// appendNumber appends a JSON number as the reference implementation prints it:
// integers digit for digit, others as doubles. NaN, the infinities and a double
// beyond the range become texts in quotes, as there.
func appendNumber(dst []byte, text string) []byte {
	if isNonFinite(text) {
		return jsontext.AppendString(dst, text)
	}
	if isIntegral(text) {
		if text == "-0" {
			text = "0"
		}
		return append(dst, text...)
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is an infinity
	if math.IsInf(f, 0) {
		return jsontext.AppendString(dst, javaDouble(f))
	}
	return append(dst, javaDouble(f)...)
}

// isNonFinite tells of the words that a default of a float or double may be
// where no number can say it.
func isNonFinite(text string) bool {
	return text == "NaN" || text == "Infinity" || text == "-Infinity"
}
