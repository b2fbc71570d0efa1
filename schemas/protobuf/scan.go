package protobuf

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// longLine is the length from which a line is broken before it is parsed: the
// parser finds the column of every element by walking its line, which is
// quadratic in a text of one line.
const longLine = 256

// scanned is a text that passed the pre-scan.
type scanned struct {
	text string
	// breaks are the offsets, in text, of bytes that were put in.
	breaks []int
	lines  []int // offsets, in the text as given, of the lines' first bytes
	parsed []int // the same in text
	apart  bool  // a reserved statement was taken apart
	// declarations are how many the text has.
	declarations int
}

// position maps an offset in the text that was parsed to the text as given.
func (s *scanned) position(offset int) schemas.Position {
	offset -= sort.SearchInts(s.breaks, offset)
	line := sort.SearchInts(s.lines, offset+1)
	return schemas.Position{Line: line, Column: offset - s.lines[line-1] + 1, Offset: offset}
}

// placed maps a line and a column of the text that was parsed.
func (s *scanned) placed(line, column int) schemas.Position {
	if line < 1 || line > len(s.parsed) {
		return schemas.Position{}
	}
	return s.position(min(s.parsed[line-1]+column-1, len(s.text)))
}

// isMade tells whether the byte at an offset was put in.
func (s *scanned) isMade(offset int) bool {
	_, ok := slices.BinarySearch(s.breaks, offset)
	return ok
}

// scan reads the tokens of text and refuses what would make the parser slow or
// hungry: nesting, count of declarations, long names and numbers. It knows no
// grammar; what is malformed is left for the parser to tell.
//
// stored lifts all limits but the two on nesting, which the parser needs, and
// takes reserved statements of numbers and names apart: the reference registry
// stores them so, protoc and the parser refuse them.
//
// Errors: *schemas.LimitError.
func scan(text string, limits schemas.Limits, stored bool) (*scanned, error) {
	if strings.HasPrefix(text, "\ufeff") {
		text = "   " + text[len("\ufeff"):]
	}
	s := &scanner{text: text, limits: limits, stored: stored}
	if !stored && len(text) > limits.Text {
		return nil, &schemas.LimitError{Limit: schemas.LimitText, Most: limits.Text, Found: len(text)}
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	out := &scanned{text: text, lines: lineStarts(text), apart: s.apart, declarations: s.declarations}
	if len(s.edits) > 0 {
		slices.SortStableFunc(s.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
		var b strings.Builder
		last := 0
		for _, e := range s.edits {
			b.WriteString(text[last:e.at])
			for i := e.skip; i < len(e.text); i++ {
				out.breaks = append(out.breaks, b.Len()+i)
			}
			b.WriteString(e.text)
			last = e.at + e.skip
		}
		b.WriteString(text[last:])
		out.text = b.String()
	}
	out.parsed = out.lines
	if len(s.edits) > 0 {
		out.parsed = lineStarts(out.text)
	}
	return out, nil
}

func lineStarts(text string) []int {
	list := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			list = append(list, i+1)
		}
	}
	return list
}

// limitSpelled bounds the full names of all declarations of a text: names of a
// thousand bytes, thirty deep, would make gigabytes of a text of kilobytes.
const limitSpelled schemas.Limit = "bytes of all full names, spelled out"

// spelledTexts is how many times the limit of one text they may take.
const spelledTexts = 8

// limitDotted bounds a name of many parts, each a name: the compiler spells out
// what stands before each part.
const limitDotted schemas.Limit = "bytes of a name with all its parts"

// dottedNames is how many times the limit of one name they may take.
const dottedNames = 16

// limitParts bounds the parts of all dotted names of a text: each takes a node
// and more.
const limitParts schemas.Limit = "parts of all dotted names"

// allParts is how many of them a declaration may have, taken over all.
const allParts = 5

type scanner struct {
	text         string
	limits       schemas.Limits
	stored       bool
	at           int
	line         int    // offset of the line's start, real or put in
	open         []byte // open brackets; 'm' is a message's brace
	messages     int
	declarations int
	first        string // first word of the statement
	group        bool   // the statement has the word group in front of its brace
	item         byte   // of a reserved statement: 'n' after a number, 's' after a name
	comma        int    // offset of its last comma
	word         int    // length of the last word
	dotted       int    // length of the dotted name so far, brackets counted
	parts        int    // dots between names so far
	joined       bool   // the last token can have a further part behind it
	outer        []int  // lengths of the names of the open bodies
	path         int    // their sum, with dots
	spelled      int    // bytes of all full names so far
	edits        []edit
	apart        bool
}

// edit puts a text in, in place of skip bytes.
type edit struct {
	at   int
	text string
	skip int
}

// reservedItem meets a number or a name of a reserved statement.
func (s *scanner) reservedItem(kind byte) {
	if !s.stored || s.first != "reserved" || !s.inDeclarations() {
		return
	}
	if s.item != 0 && s.item != kind && s.comma > 0 {
		s.edits, s.apart = append(s.edits, edit{s.comma, ";\nreserved ", 1}), true
		s.comma = 0 // two items behind one comma are malformed; the parser tells
	}
	s.item = kind
}

func (s *scanner) fail(limit schemas.Limit, most, found, at int) error {
	return &schemas.LimitError{Limit: limit, Most: most, Found: found, Position: schemas.PositionAt(s.text, at)}
}

func (s *scanner) run() error {
	for s.at < len(s.text) {
		start := s.at
		c := s.text[s.at]
		switch {
		case c == '\n':
			s.at++
			s.line = s.at
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			s.at++
		case strings.HasPrefix(s.text[s.at:], "//"):
			if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
			continue
		case strings.HasPrefix(s.text[s.at:], "/*"):
			i := strings.Index(s.text[s.at+2:], "*/")
			if i < 0 {
				return nil
			}
			s.at += i + 4
			if i := strings.LastIndexByte(s.text[start:s.at], '\n'); i >= 0 {
				s.line = start + i + 1
			}
		case c == '"' || c == '\'':
			s.reservedItem('s')
			s.joined = false
			s.skipString(c)
		case isIdentStart(c):
			for s.at < len(s.text) && (isIdentStart(s.text[s.at]) || isDigit(s.text[s.at])) {
				s.at++
			}
			if n := s.at - start; n > s.limits.Name && !s.stored {
				return s.fail(schemas.LimitName, s.limits.Name, n, start)
			}
			word := s.text[start:s.at]
			s.word = len(word)
			if !s.joined {
				s.dotted = 0
			}
			s.joined = false
			if s.dotted += len(word); s.dotted > dottedNames*s.limits.Name && !s.stored {
				return s.fail(limitDotted, dottedNames*s.limits.Name, s.dotted, start)
			}
			if s.first == "" {
				s.first, s.item, s.comma = word, 0, 0
			}
			if s.first == "package" {
				s.path += len(word) + 1
			}
			s.group = s.group || word == "group"
		case isDigit(c) || c == '.' && s.at+1 < len(s.text) && isDigit(s.text[s.at+1]):
			s.reservedItem('n')
			s.joined = false
			if err := s.number(); err != nil {
				return err
			}
		default:
			s.at++
			if c == '(' && !s.joined {
				s.dotted = 0
			}
			if s.joined = c == '.' || c == '(' || c == ')'; s.joined {
				s.dotted++
			}
			if c == '.' {
				if s.parts++; s.parts > allParts*s.limits.Declarations && !s.stored {
					return s.fail(limitParts, allParts*s.limits.Declarations, s.parts, start)
				}
			}
			if err := s.punctuation(c, start); err != nil {
				return err
			}
		}
		if s.at-s.line > longLine && s.at < len(s.text) && s.text[s.at] != '\n' {
			s.edits = append(s.edits, edit{s.at, "\n", 0})
			s.line = s.at
		}
	}
	return nil
}

func (s *scanner) skipString(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '\n':
			return // malformed; the parser tells
		case quote:
			s.at++
			return
		}
	}
	s.at = min(s.at, len(s.text))
}

// number bounds digits and exponent: reading a number is not linear in either.
func (s *scanner) number() error {
	start := s.at
	hex := strings.HasPrefix(s.text[s.at:], "0x") || strings.HasPrefix(s.text[s.at:], "0X")
	exponent := -1
	for ; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if (c == '-' || c == '+') && !hex {
			if p := s.text[s.at-1]; s.at > start && (p == 'e' || p == 'E') {
				continue
			}
			break
		}
		if !isDigit(c) && !isIdentStart(c) && c != '.' {
			break
		}
		if (c == 'e' || c == 'E') && !hex && exponent < 0 {
			exponent = s.at + 1
		}
	}
	if s.stored {
		return nil
	}
	if n := s.at - start; n > s.limits.Digits {
		return s.fail(schemas.LimitDigits, s.limits.Digits, n, start)
	}
	if exponent >= 0 {
		digits := strings.TrimLeft(s.text[exponent:s.at], "+-0")
		n := 0
		for i := 0; i < len(digits) && isDigit(digits[i]) && n <= s.limits.Exponent; i++ {
			n = 10*n + int(digits[i]-'0')
		}
		if n > s.limits.Exponent {
			return s.fail(schemas.LimitExponent, s.limits.Exponent, n, start)
		}
	}
	return nil
}

func (s *scanner) punctuation(c byte, at int) error {
	switch c {
	case '{', '[', '(', '<':
		kind := c
		if c == '{' && (s.first == "message" || s.group) && s.first != "option" && s.inDeclarations() {
			kind = 'm'
			if s.messages++; s.messages > s.limits.Nesting {
				return s.fail(schemas.LimitNesting, s.limits.Nesting, s.messages, at)
			}
		}
		if c == '{' && s.first != "option" && s.inDeclarations() {
			if err := s.declare(at); err != nil {
				return err
			}
			if kind == c {
				kind = 'b' // the body of an enum, a service, a oneof …
			}
			s.outer = append(s.outer, s.word+1)
			s.path += s.word + 1
			s.first, s.group = "", false
		}
		s.open = append(s.open, kind)
		if len(s.open) > s.limits.Depth {
			return s.fail(schemas.LimitDepth, s.limits.Depth, len(s.open), at)
		}
	case '}', ']', ')', '>':
		if n := len(s.open); n > 0 {
			if s.open[n-1] == 'm' {
				s.messages--
			}
			if s.open[n-1] == 'm' || s.open[n-1] == 'b' {
				s.first, s.group = "", false
				s.path -= s.outer[len(s.outer)-1]
				s.outer = s.outer[:len(s.outer)-1]
			}
			s.open = s.open[:n-1]
		}
	case ';':
		if s.inDeclarations() {
			s.first, s.group = "", false
			return s.declare(at)
		}
	case ',':
		s.comma = at
		if s.first == "reserved" || s.first == "extensions" {
			return s.declare(at)
		}
	}
	return nil
}

// inDeclarations tells whether the innermost bracket is a body, not a value.
func (s *scanner) inDeclarations() bool {
	return len(s.open) == 0 || s.open[len(s.open)-1] == 'm' || s.open[len(s.open)-1] == 'b'
}

func (s *scanner) declare(at int) error {
	if s.declarations++; s.declarations > s.limits.Declarations && !s.stored {
		return s.fail(schemas.LimitDeclarations, s.limits.Declarations, s.declarations, at)
	}
	// Compiling spells every full name out, several times.
	if s.spelled += s.path + s.word; s.spelled > spelledTexts*s.limits.Text && !s.stored {
		return s.fail(limitSpelled, spelledTexts*s.limits.Text, s.spelled, at)
	}
	return nil
}

func isIdentStart(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
