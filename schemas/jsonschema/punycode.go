package jsonschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parameters of Punycode (RFC 3492, section 5).
const (
	punyBase    = 36
	punyMin     = 1
	punyMax     = 26
	punySkew    = 38
	punyDamp    = 700
	punyBias    = 72
	punyInitial = 128
	punyLongest = 63 // no label is longer; the coder is quadratic
)

func adapt(delta, points int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for delta > (punyBase-punyMin)*punyMax/2 {
		delta /= punyBase - punyMin
		k += punyBase
	}
	return k + (punyBase-punyMin+1)*delta/(delta+punySkew)
}

func threshold(k, bias int) int { return min(max(k-bias, punyMin), punyMax) }

// decode reads Punycode in lower case; ok is false for what is none.
func decode(s string) (out []rune, ok bool) {
	if len(s) > punyLongest {
		return nil, false
	}
	if at := strings.LastIndexByte(s, '-'); at >= 0 {
		out = []rune(s[:at])
		s = s[at+1:]
	}
	n, i, bias := punyInitial, 0, punyBias
	for s != "" {
		old, weight := i, 1
		for k := punyBase; ; k += punyBase {
			if s == "" {
				return nil, false
			}
			digit := int(s[0] - 'a')
			if s[0] <= '9' {
				digit = int(s[0]-'0') + 26
			}
			s = s[1:]
			i += digit * weight
			if i > 1<<40 {
				return nil, false
			}
			t := threshold(k, bias)
			if digit < t {
				break
			}
			weight *= punyBase - t
			if weight > 1<<40 {
				return nil, false
			}
		}
		points := len(out) + 1
		bias = adapt(i-old, points, old == 0)
		n += i / points
		i %= points
		if n > unicode.MaxRune || !utf8.ValidRune(rune(n)) {
			return nil, false
		}
		out = append(out[:i], append([]rune{rune(n)}, out[i:]...)...)
		i++
	}
	return out, len(out) > 0
}

// encode writes Punycode; ok is false for a label too long to be one.
func encode(label []rune) (string, bool) {
	if len(label) > punyLongest {
		return "", false
	}
	var out []byte
	for _, r := range label {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias, handled := rune(punyInitial), 0, punyBias, basic
	for handled < len(label) {
		next := rune(unicode.MaxRune)
		for _, r := range label {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (handled + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := punyBase; ; k += punyBase {
				t := threshold(k, bias)
				if q < t {
					break
				}
				out = append(out, punyDigit(t+(q-t)%(punyBase-t)))
				q = (q - t) / (punyBase - t)
			}
			out = append(out, punyDigit(q))
			bias = adapt(delta, handled+1, handled == basic)
			delta = 0
			handled++
		}
		delta++
		n++
	}
	return string(out), true
}

func punyDigit(d int) byte {
	if d < 26 {
		return byte('a' + d)
	}
	return byte('0' + d - 26)
}
