package jsonschema

import (
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// tape is one JSON value as a list of tokens over its text: 20 bytes a token and
// nothing else, where a tree takes a hundred. A payload is read into it in one
// pass that applies the rules of payloads (one value, UTF-8, no lone surrogate,
// no member twice) and their limits.
//
// A value is the index of its token. An array's items follow it; so do an
// object's members, each a name and a value.
type tape struct {
	text   string
	tokens []token
	names  map[string]struct{} // scratch of the search for repeated members
	room   int                 // what names was made for
}

type token struct {
	kind    jsontext.Kind
	escaped bool  // a string with escapes
	yes     bool  // true; of a number: surely without fraction and exponent
	start   int32 // of the first byte; of a string, behind its quote
	end     int32 // behind the last byte; of a string, before its quote
	next    int32 // the token behind the value and all that is in it
	count   int32 // items or members
}

// longest bounds a text: its offsets are 32 bits wide.
const longest = 1 << 30

// scanner fills a tape.
type scanner struct {
	*tape
	at     int
	depth  int // most
	limits schemas.Limits
	err    error
}

// scan reads text. depth, and the limits on digits and exponents, bound it.
//
// Errors: schemas.SyntaxErrors with one entry, or *schemas.LimitError.
func (t *tape) scan(text string, depth int, limits schemas.Limits) error {
	t.text, t.tokens = text, t.tokens[:0]
	if len(text) > longest {
		return &schemas.LimitError{Limit: schemas.LimitText, Most: longest, Found: len(text)}
	}
	s := scanner{tape: t, depth: depth, limits: limits}
	s.space()
	if s.value(0) {
		s.space()
		if s.at < len(text) {
			s.fail(s.at, "text after the end of the JSON value: only white space may follow")
		}
	}
	return s.err
}

func (s *scanner) fail(at int, format string, args ...any) bool {
	s.err = schemas.SyntaxErrors{{Position: schemas.PositionAt(s.text, at), Summary: fmt.Sprintf(format, args...)}}
	return false
}

func (s *scanner) over(limit schemas.Limit, most, found, at int) bool {
	s.err = &schemas.LimitError{Limit: limit, Most: most, Found: found, Position: schemas.PositionAt(s.text, at)}
	return false
}

func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) add(kind jsontext.Kind, start, end int) {
	s.put(token{kind: kind, start: int32(start), end: int32(end)})
}

// put appends a token that is its whole value.
func (s *scanner) put(t token) {
	t.next = int32(len(s.tokens) + 1)
	s.tokens = append(s.tokens, t)
}

func (s *scanner) value(depth int) bool {
	if s.at >= len(s.text) {
		return s.fail(s.at, "the text ends where a JSON value is expected")
	}
	switch c := s.text[s.at]; c {
	case '{', '[':
		if depth >= s.depth {
			return s.over(schemas.LimitDepth, s.depth, depth+1, s.at)
		}
		if c == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case '"':
		return s.str()
	case 't':
		return s.word("true", jsontext.Bool, true)
	case 'f':
		return s.word("false", jsontext.Bool, false)
	case 'n':
		return s.word("null", jsontext.Null, false)
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return s.number()
		}
	}
	return s.unexpected()
}

func (s *scanner) unexpected() bool {
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return s.fail(s.at, "%q where a JSON value is expected", r)
}

func (s *scanner) word(w string, kind jsontext.Kind, yes bool) bool {
	if len(s.text)-s.at < len(w) || s.text[s.at:s.at+len(w)] != w {
		return s.unexpected()
	}
	s.put(token{kind: kind, yes: yes, start: int32(s.at), end: int32(s.at + len(w))})
	s.at += len(w)
	return true
}

// closes tells whether the container ends here, after count parts; a comma
// before the next part is taken. ok is false after an error.
func (s *scanner) closes(end byte, what string, start int, count int32) (done, ok bool) {
	s.space()
	if s.at >= len(s.text) {
		return false, s.fail(start, "%s is not closed", what)
	}
	if s.text[s.at] == end {
		s.at++
		return true, true
	}
	if count > 0 {
		if s.text[s.at] != ',' {
			return false, s.fail(s.at, "a comma or %c is expected in an %s", end, what)
		}
		s.at++
		s.space()
	}
	return false, true
}

func (s *scanner) array(depth int) bool {
	index, start := len(s.tokens), s.at
	s.add(jsontext.Array, start, 0)
	s.at++
	var count int32
	for {
		done, ok := s.closes(']', "array", start, count)
		if !ok {
			return false
		}
		if done {
			break
		}
		if !s.value(depth) {
			return false
		}
		count++
	}
	s.close(index, count)
	return true
}

func (s *scanner) close(index int, count int32) {
	t := &s.tokens[index]
	t.end, t.next, t.count = int32(s.at), int32(len(s.tokens)), count
}

func (s *scanner) object(depth int) bool {
	index, start := len(s.tokens), s.at
	s.add(jsontext.Object, start, 0)
	s.at++
	var count int32
	for {
		done, ok := s.closes('}', "object", start, count)
		if !ok {
			return false
		}
		if done {
			break
		}
		if s.at >= len(s.text) || s.text[s.at] != '"' {
			return s.fail(s.at, "a member's name in double quotes is expected")
		}
		if !s.str() {
			return false
		}
		s.space()
		if s.at >= len(s.text) || s.text[s.at] != ':' {
			return s.fail(s.at, "a colon is expected after a member's name")
		}
		s.at++
		s.space()
		if !s.value(depth) {
			return false
		}
		count++
	}
	s.close(index, count)
	return s.distinct(int32(index), count)
}

// distinct refuses a member that stands twice: readers disagree on which one
// counts.
func (s *scanner) distinct(object, count int32) bool {
	const few = 16
	if count < 2 {
		return true
	}
	var near [few]string
	if count > few && (s.names == nil || s.room > 16*int(count) || s.room < int(count)) {
		// A map is as dear to clear as it once was large.
		s.names, s.room = make(map[string]struct{}, count), int(count)
	}
	if count > few {
		clear(s.names)
	}
	i := 0
	for m := object + 1; m < s.tokens[object].next; m = s.tokens[m+1].next {
		name, twice := s.content(m), false
		if count > few {
			s.names[name] = struct{}{}
			twice = len(s.names) == i
		} else {
			for _, other := range near[:i] {
				twice = twice || other == name
			}
			near[i] = name
		}
		if twice {
			return s.fail(int(s.tokens[m].start)-1, "the member %s stands here a second time: readers disagree on which one counts; keep one", short(name))
		}
		i++
	}
	return true
}

func (s *scanner) number() bool {
	start, digits := s.at, 0
	run := func() int {
		from := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at - from
	}
	if s.text[s.at] == '-' {
		s.at++
	}
	whole := s.at
	n := run()
	ok := n == 1 || n > 1 && s.text[whole] != '0'
	digits += n
	behind := s.at
	if s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		n = run()
		ok = ok && n > 0
		digits += n
	}
	exponent := 0
	if s.at < len(s.text) && (s.text[s.at] == 'e' || s.text[s.at] == 'E') {
		s.at++
		if s.at < len(s.text) && (s.text[s.at] == '+' || s.text[s.at] == '-') {
			s.at++
		}
		from := s.at
		ok = run() > 0 && ok
		for _, c := range []byte(s.text[from:s.at]) {
			exponent = min(exponent*10+int(c-'0'), 1<<40)
		}
	}
	switch {
	case !ok:
		return s.fail(start, "a number is malformed: JSON writes -12, 0.5 or 1e3, no leading zero or plus, a digit on both sides of the point")
	case s.limits.Digits > 0 && digits > s.limits.Digits:
		return s.over(schemas.LimitDigits, s.limits.Digits, digits, start)
	case s.limits.Exponent > 0 && exponent > s.limits.Exponent:
		return s.over(schemas.LimitExponent, s.limits.Exponent, exponent, start)
	}
	s.put(token{kind: jsontext.Number, yes: s.at == behind, start: int32(start), end: int32(s.at)})
	return true
}

func (s *scanner) str() bool {
	open := s.at
	start := open + 1
	escaped, ascii := false, true
	for s.at = start; ; s.at++ {
		s.at += plainBytes(s.text[s.at:])
		if s.at >= len(s.text) {
			return s.fail(open, "string is not closed")
		}
		switch c := s.text[s.at]; {
		case c == '"':
			if !ascii && !utf8.ValidString(s.text[start:s.at]) {
				return s.fail(open, "a string is not valid UTF-8")
			}
			s.put(token{kind: jsontext.String, escaped: escaped, start: int32(start), end: int32(s.at)})
			s.at++
			return true
		case c == '\\':
			escaped = true
			if !s.escape() {
				return false
			}
		case c < ' ':
			return s.fail(s.at, "the control character U+%04X stands unescaped in a string", c)
		default:
			for ascii = false; s.at+1 < len(s.text) && s.text[s.at+1] >= utf8.RuneSelf; {
				s.at++
			}
		}
	}
}

// plainBytes is how many bytes at the start of text are ASCII that means itself
// in a string, or some fewer: eight are looked at together.
func plainBytes(text string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		w := uint64(text[n]) | uint64(text[n+1])<<8 | uint64(text[n+2])<<16 | uint64(text[n+3])<<24 |
			uint64(text[n+4])<<32 | uint64(text[n+5])<<40 | uint64(text[n+6])<<48 | uint64(text[n+7])<<56
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The high bit of the first byte that is not plain is set; later ones may be
		// wrongly so.
		if special := (w | (w - ' '*ones) | (quote - ones) | (slash - ones)) & highs; special != 0 {
			return n + bits.TrailingZeros64(special)/8
		}
	}
	for ; n < len(text); n++ {
		if c := text[n]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return n
		}
	}
	return n
}

// escape checks an escape and stops at its last byte.
func (s *scanner) escape() bool {
	at := s.at
	s.at++
	if s.at >= len(s.text) {
		return s.fail(at, "the text ends inside an escape")
	}
	switch s.text[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		r, ok := hex4(s.text, s.at+1)
		if !ok {
			return s.fail(at, "\\u needs four hex digits")
		}
		s.at += 4
		if r < 0xD800 || r >= 0xE000 {
			return true
		}
		if low, ok := lowSurrogate(s.text, s.at+1); ok && r < 0xDC00 && low != 0 {
			s.at += 6
			return true
		}
		return s.fail(at, "a surrogate stands alone in a string: escape characters beyond U+FFFF as a pair")
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return s.fail(at, "the escape \\%c is unknown", r)
}

func lowSurrogate(text string, at int) (rune, bool) {
	if at+1 >= len(text) || text[at] != '\\' || text[at+1] != 'u' {
		return 0, false
	}
	r, ok := hex4(text, at+2)
	return r, ok && r >= 0xDC00 && r < 0xE000
}

func hex4(text string, at int) (r rune, ok bool) {
	if at+4 > len(text) {
		return 0, false
	}
	for i := at; i < at+4; i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
