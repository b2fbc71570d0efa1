package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes a text from a schema, a registry or a message safe to show inside
// a line: what would steer a terminal, break the line or turn the direction of
// writing is written out, as \u202e.
func Plain(s string) string {
	if !strings.ContainsFunc(s, steers) {
		return s
	}
	return written(s, false)
}

// visible is [Plain] for whole texts, whose lines stay lines.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return steers(r) && !inText(r) }) {
		return s
	}
	return written(s, true)
}

func written(s string, asText bool) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case asText && inText(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError: // a byte of no character
			b.WriteRune(utf8.RuneError)
		case steers(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// inText tells what lays out a text of several lines.
func inText(r rune) bool { return r == '\n' || r == '\t' }

// steers tells control characters, bytes that are no character, those that turn
// the direction of writing, and those that end a line or a paragraph.
func steers(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return r < 0xa0 || r == utf8.RuneError || r == 0x2028 || r == 0x2029 || r > 0x600 && unicode.Is(unicode.Bidi_Control, r)
}
