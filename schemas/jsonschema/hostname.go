package jsonschema

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// isHostname is a name of RFC 1123; a label that begins as Punycode must be what
// IDNA makes of some text.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
		if len(label) >= 4 && label[2:4] == "--" {
			if !strings.EqualFold(label[:4], "xn--") || !isIDNHostname(label) {
				return false
			}
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

// registration is IDNA 2008 without mapping: a name is valid as it stands.
var registration = idna.New(
	idna.ValidateLabels(true), idna.StrictDomainName(true), idna.CheckHyphens(true), idna.CheckJoiners(true),
	idna.BidiRule(), idna.VerifyDNSLength(true), idna.Transitional(false),
)

var lookup = idna.New(idna.MapForLookup())

// isIDNHostname is a name of RFC 5890.
func isIDNHostname(s string) bool {
	s = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".").Replace(s)
	text, err := registration.ToUnicode(s)
	if err != nil {
		return false
	}
	// What Punycode hides must be what would be made of it again.
	back, err := registration.ToASCII(text)
	if err != nil || strings.Contains(strings.ToLower(s), "xn--") && !sameLabels(back, s) {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if !inContext([]rune(label)) {
			return false
		}
		// A character that looking up would map to another is not allowed itself.
		if mapped, err := lookup.ToUnicode(label); !isLabel(label) && (err != nil || mapped != label) {
			return false
		}
	}
	return true
}

func sameLabels(back, s string) bool {
	a, b := strings.Split(back, "."), strings.Split(s, ".")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if strings.EqualFold(b[i][:min(4, len(b[i]))], "xn--") && !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}

// exceptions are the characters beyond letters, marks and digits that RFC 5892
// allows, somewhere or everywhere.
const exceptions = "\u00b7\u0375\u05f3\u05f4\u06fd\u06fe\u0f0b\u200c\u200d\u3007\u30fb"

// inContext checks what RFC 5892 allows only beside certain neighbours
// (appendix A, CONTEXTO), and what it excludes for good.
func inContext(label []rune) bool {
	if len(label) == 0 || unicode.Is(unicode.M, label[0]) {
		return false
	}
	near := func(i int, r rune) bool { return i >= 0 && i < len(label) && label[i] == r }
	script := func(i int, table *unicode.RangeTable) bool {
		return i >= 0 && i < len(label) && unicode.Is(table, label[i])
	}
	arabic, extended, kana, dot := false, false, false, false
	for i, r := range label {
		if r >= 0x80 && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(exceptions, r) {
			return false
		}
		switch {
		case r == 0xB7 && (!near(i-1, 'l') || !near(i+1, 'l')),
			r == 0x375 && !script(i+1, unicode.Greek),
			(r == 0x5F3 || r == 0x5F4) && !script(i-1, unicode.Hebrew),
			r == 0x640, r == 0x7FA, r == 0x302E, r == 0x302F, r >= 0x3031 && r <= 0x3035, r == 0x303B:
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
	}
	return (!arabic || !extended) && (!dot || kana)
}
