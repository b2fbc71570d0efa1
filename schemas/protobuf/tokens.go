package protobuf

import (
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// tokenKind is the kind of a token, as the layout needs to know it.
type tokenKind uint8

const (
	word    tokenKind = iota // a name, a number
	text                     // a string, with its quotes
	sign                     // one sign
	comment                  // with what it begins and ends with
)

// token is one token of a text.
type token struct {
	kind  tokenKind
	text  string
	at    int  // offset in bytes
	lines int  // line breaks between the token before and this one
	space bool // anything between the two
	match int  // of a bracket: the index of its other half; -1 else
}

func (t token) isLine() bool { return t.kind == comment && strings.HasPrefix(t.text, "//") }

// lex lists the tokens of a text, comments among them.
//
// Errors: schemas.SyntaxErrors, a string or comment that is not closed.
func lex(source string) (list []token, err error) {
	if strings.HasPrefix(source, "\ufeff") {
		source = "   " + source[3:] // the parser passes over it too
	}
	lines, space := 0, false
	take := func(kind tokenKind, from, to int) {
		s := source[from:to]
		if kind == comment {
			s = strings.TrimRight(s, " \t\r")
		}
		list = append(list, token{kind: kind, text: s, at: from, lines: lines, space: space})
		lines, space = 0, false
	}
	fail := func(at int, summary string) ([]token, error) {
		return nil, schemas.SyntaxErrors{{Position: schemas.PositionAt(source, at), Summary: summary}}
	}
	for at := 0; at < len(source); {
		c := source[at]
		from := at
		switch {
		case c == '\n':
			lines++
			space = true
			at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			space = true
			at++
		case strings.HasPrefix(source[at:], "//"):
			if n := strings.IndexByte(source[at:], '\n'); n >= 0 {
				at += n
			} else {
				at = len(source)
			}
			take(comment, from, at)
		case strings.HasPrefix(source[at:], "/*"):
			n := strings.Index(source[at+2:], "*/")
			if n < 0 {
				return fail(at, "comment is not closed")
			}
			at += n + 4
			take(comment, from, at)
		case c == '"' || c == '\'':
			at++
			for at < len(source) && source[at] != c && source[at] != '\n' {
				if source[at] == '\\' {
					at++
				}
				at++
			}
			if at >= len(source) || source[at] != c {
				return fail(from, "string is not closed")
			}
			at++
			take(text, from, at)
		case isDigit(c) || c == '.' && at+1 < len(source) && isDigit(source[at+1]):
			hex := c == '0' && at+1 < len(source) && (source[at+1] == 'x' || source[at+1] == 'X')
			for at < len(source) && (isIdentStart(source[at]) || isDigit(source[at]) || source[at] == '.' ||
				!hex && (source[at] == '+' || source[at] == '-') && (source[at-1] == 'e' || source[at-1] == 'E')) {
				at++
			}
			take(word, from, at)
		case isIdentStart(c) || c >= 0x80:
			for at < len(source) && (isIdentStart(source[at]) || isDigit(source[at]) || source[at] >= 0x80) {
				at++
			}
			take(word, from, at)
		default:
			at++
			take(sign, from, at)
		}
	}
	return list, nil
}
