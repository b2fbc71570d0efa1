package protobuf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// sketch reads a text without building a syntax tree: a folder of a thousand
// files is outlined before it is known which of them must be compiled, and those
// that must mostly say nothing that takes a compiler to read.
// It takes a part of the language and nothing outside the language: what it does
// not know, wrong or not, it leaves to the parser, which has the words for it.
type sketch struct {
	text  string
	at    int
	token string           // empty at the end
	kind  byte             // of token: i(dentifier), n(umber), s(tring), or the punctuation itself
	line  int              // that at stands in, from 1
	start int              // offset of its first byte
	last  schemas.Position // of the last byte of the token before this one

	pack            string
	messages, enums []string
	inner           []string // enums inside messages, told behind those of the file
	needs           []string
	made            *File // nil where nobody asks for it
}

// outlineOf gives ok false for a text that it does not know.
func outlineOf(path, text string) (out schemas.Outline, ok bool) {
	s := &sketch{text: text, line: 1}
	if !s.next() || !s.file() {
		return out, false
	}
	names := append([]string{path}, s.messages...)
	return schemas.Outline{Schema: true, Names: append(append(names, s.enums...), s.inner...), Needs: s.needs}, true
}

// plainFile reads the text of a file as the parser and build would; ok is false
// for a text that it does not know.
func plainFile(path, text string) (f *File, ok bool) {
	if !utf8.ValidString(text) {
		return nil, false
	}
	s := &sketch{text: text, line: 1, made: &File{Path: path}}
	if !s.next() || !s.file() {
		return nil, false
	}
	s.made.Package = s.pack
	return s.made, true
}

// spot is the position of a byte of the line that is read.
func (s *sketch) spot(offset int) schemas.Position {
	return schemas.Position{Line: s.line, Column: offset - s.start + 1, Offset: offset}
}

// here is where the token begins.
func (s *sketch) here() schemas.Position { return s.spot(s.at - len(s.token)) }

// since is the place of what began at a position and ended with the token before
// this one.
func (s *sketch) since(begin schemas.Position, p schemas.Pointer) schemas.Place {
	return schemas.Place{Pointer: p, Position: begin, End: s.last}
}

// next goes to the next token; false is a text of another kind.
func (s *sketch) next() bool {
	s.last = s.spot(s.at - 1)
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == '\n':
			s.at++
			s.line, s.start = s.line+1, s.at
		case c == ' ' || c == '\t' || c == '\r':
			s.at++
		case c == '/' && strings.HasPrefix(s.text[s.at:], "/*"):
			if !s.block() {
				return false
			}
		case c == '/' && s.at+1 < len(s.text) && s.text[s.at+1] == '/':
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				if s.text[s.at] == 0 {
					return false
				}
				s.at++
			}
		default:
			return s.read(c)
		}
	}
	s.token, s.kind = "", 0
	return true
}

// block passes over a comment in a block.
func (s *sketch) block() bool {
	n := strings.Index(s.text[s.at+2:], "*/")
	if n < 0 {
		return false
	}
	end := s.at + n + 4
	for ; s.at < end; s.at++ {
		switch s.text[s.at] {
		case 0:
			return false
		case '\n':
			s.line, s.start = s.line+1, s.at+1
		}
	}
	return true
}

func (s *sketch) read(c byte) bool {
	start := s.at
	switch {
	case isIdentStart(c):
		for s.at < len(s.text) && (isIdentStart(s.text[s.at]) || isDigit(s.text[s.at])) {
			s.at++
		}
		s.kind = 'i'
	case isDigit(c):
		for s.at < len(s.text) && isDigit(s.text[s.at]) {
			s.at++
		}
		// Other bases, fractions and what is too long for a number are the
		// parser's.
		if s.at-start > 9 || c == '0' && s.at-start > 1 || s.at < len(s.text) && (isIdentStart(s.text[s.at]) || s.text[s.at] == '.') {
			return false
		}
		s.kind = 'n'
	case c == '"' || c == '\'':
		for s.at++; s.at < len(s.text) && s.text[s.at] != c; s.at++ {
			if b := s.text[s.at]; b == '\\' || b == '\n' || b == 0 {
				return false
			}
		}
		if s.at == len(s.text) {
			return false
		}
		s.at++
		s.kind = 's'
	case slices.Contains([]byte("{}()[]<>=;,.-"), c):
		s.at++
		s.kind = c
	default:
		return false
	}
	s.token = s.text[start:s.at]
	return true
}

// takes goes on when the token is of the kind.
func (s *sketch) takes(kind byte) bool { return s.kind == kind && s.next() }

// word goes on when the token is that word.
func (s *sketch) word(word string) bool { return s.kind == 'i' && s.token == word && s.next() }

// name reads an identifier.
func (s *sketch) name() (string, bool) {
	name := s.token
	return name, s.takes('i')
}

// path reads identifiers joined by dots, which stand together.
func (s *sketch) path() (string, bool) {
	start := s.at - len(s.token)
	if s.kind != 'i' {
		return "", false
	}
	for s.at < len(s.text) && s.text[s.at] == '.' {
		s.at++
		if s.at == len(s.text) || !isIdentStart(s.text[s.at]) || !s.read(s.text[s.at]) {
			return "", false
		}
	}
	path := s.text[start:s.at]
	return path, s.next()
}
