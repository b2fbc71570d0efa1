package jsonschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isHostname is a name of RFC 1123; a label that begins as Punycode must stand
// for a label of RFC 5890.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) || len(label) >= 4 && label[2:4] == "--" && !isPunycode(label) {
			return false
		}
	}
	return true
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !isAlnum(rune(s[i])) && s[i] != '-' {
			return false
		}
	}
	return true
}

// isIDNHostname is a name of RFC 5890: labels in ASCII, in Punycode, or in the
// characters that RFC 5892 allows, whose Punycode must fit into a label.
//
// It needs no tables but those of the standard library: of RFC 5893 (right to
// left) it checks what a mixed label shows by its scripts, and a letter that
// another one stands for, such as a ligature, is known by its case mapping only.
func isIDNHostname(s string) bool {
	s = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(s)
	if s == "" {
		return false
	}
	length, right, digitFirst := -1, false, false
	for label := range strings.SplitSeq(s, ".") {
		size := len(label)
		digitFirst = digitFirst || label != "" && label[0] >= '0' && label[0] <= '9'
		switch {
		case strings.HasPrefix(strings.ToLower(label), "xn--"):
			if !isLabel(label) || !isPunycode(label) {
				return false
			}
		case isASCII(label):
			if !isLabel(label) || len(label) >= 4 && label[2:4] == "--" {
				return false
			}
		default:
			runes := []rune(label)
			code, ok := encode(runes)
			size = len("xn--") + len(code)
			right = right || strings.ContainsFunc(label, isRight)
			if !ok || size > 63 || !isUnicodeLabel(runes) {
				return false
			}
		}
		length += 1 + size
	}
	return length <= 253 && (!right || !digitFirst)
}

// isRight tells whether a letter is written from right to left.
func isRight(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isPunycode tells whether a label stands for one that is allowed, in the one
// spelling that it has.
func isPunycode(label string) bool {
	lower := strings.ToLower(label)
	code, ok := strings.CutPrefix(lower, "xn--")
	if !ok {
		return false
	}
	runes, ok := decode(code)
	if !ok || !isUnicodeLabel(runes) || isASCII(string(runes)) {
		return false
	}
	back, ok := encode(runes)
	return ok && back == code
}

// exceptions are the characters beyond letters, marks and digits that RFC 5892
// allows, somewhere or everywhere.
const exceptions = "-\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u200c\u200d\u3007\u30fb"

// viramas join letters of Indic scripts; a joiner may stand behind one.
const viramas = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u0e3a\u0f84\u1039\u17d2"

// isUnicodeLabel checks a label's characters and their neighbours.
//
// Source: RFC 5891 4.2.3, RFC 5892 2 and appendix A.
func isUnicodeLabel(label []rune) bool {
	n := len(label)
	if n == 0 || unicode.Is(unicode.M, label[0]) || label[0] == '-' || label[n-1] == '-' || n >= 4 && label[2] == '-' && label[3] == '-' {
		return false
	}
	at := func(i int) rune {
		if i < 0 || i >= n {
			return -1
		}
		return label[i]
	}
	var arabic, extended, european, kana, dot, right, left bool
	for i, r := range label {
		if !isAllowed(r) {
			return false
		}
		switch {
		case r == 0xB7 && (at(i-1) != 'l' || at(i+1) != 'l'),
			r == 0x375 && !unicode.Is(unicode.Greek, at(i+1)),
			(r == 0x5F3 || r == 0x5F4) && !unicode.Is(unicode.Hebrew, at(i-1)),
			r == 0x200D && !strings.ContainsRune(viramas, at(i-1)),
			r == 0x200C && !strings.ContainsRune(viramas, at(i-1)) && !joins(label, i):
			return false
		case r == 0x30FB:
			dot = true
		case r >= 0x660 && r <= 0x669:
			arabic = true
		case r >= 0x6F0 && r <= 0x6F9:
			extended = true
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han):
			kana = true
		}
		switch {
		case isRight(r):
			right = true
		case unicode.IsLetter(r):
			left = true
		case r >= '0' && r <= '9':
			european = true
		}
	}
	if right && (left || !unicode.IsLetter(label[0]) || arabic && european) {
		return false
	}
	return (!arabic || !extended) && (!dot || kana)
}

// isAllowed tells whether RFC 5892 lets a character into a label at all.
func isAllowed(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '-' || isAlnum(r) && (r < 'A' || r > 'Z')
	case r == 0x640, r == 0x7FA, r == 0x302E, r == 0x302F, r >= 0x3031 && r <= 0x3035, r == 0x303B,
		r >= 0xFB00 && r <= 0xFDFF, r >= 0xFE70 && r <= 0xFEFF, r >= 0xFF00 && r <= 0xFFEF, r == 0xAA, r == 0xBA:
		return false // exceptions, and the blocks of compatibility forms
	case unicode.ToLower(r) != r && r != 0x3C2 && r != 0xDF:
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune(exceptions, r)
}

// joins tells whether a non-joiner stands between letters that would join:
// letters of the cursive scripts on both sides.
func joins(label []rune, i int) bool {
	cursive := func(step int) bool {
		for j := i + step; j >= 0 && j < len(label); j += step {
			if !unicode.Is(unicode.Mn, label[j]) {
				return unicode.IsLetter(label[j]) && unicode.In(label[j], unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian)
			}
		}
		return false
	}
	return cursive(-1) && cursive(1)
}
