package lint

import (
	"slices"
	"strings"
)

// mostFollowed is how many times over a text its ignored elements may be followed
// to their ends: unclosed ones go to the end of the text, each.
const mostFollowed = 8

// inComments reads the comments of a Protobuf text.
func inComments(text string) []Ignore {
	var list []Ignore
	s := scanner{text: text}
	left := mostFollowed*len(text) + 1<<16 // bytes that elements may be followed for
	for !s.done() && len(list) <= MostIgnores {
		if begin, end, ok := s.comment(); ok {
			list = append(list, ignoresOf(text, begin, end, s.depth, &left)...)
			continue
		}
		s.step()
		s.skip()
	}
	return list
}

// ignoresOf reads the lines of one comment, which stands at a depth of braces.
func ignoresOf(text string, begin, end, depth int, left *int) []Ignore {
	var list []Ignore
	at := begin
	for line := range strings.Lines(text[begin:end]) {
		if len(list) > MostIgnores {
			break
		}
		said := strings.TrimLeft(line, "/* \t")
		rest, ok := strings.CutPrefix(said, IgnoreMark)
		if ok && strings.TrimLeft(rest, " \t*/\r\n") != "" && rest[0] != ' ' && rest[0] != '\t' {
			ok = false // a longer word
		}
		if ok {
			rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "*/"))
			one := Ignore{}
			rule, said, _ := strings.Cut(rest, " ")
			one.Rule, one.Position.Offset = rule, at+strings.Index(line, IgnoreMark)
			one.said(said)
			if one.from, one.to = covered(text, begin, end, depth, left); one.to == 0 && one.Wrong == "" {
				one.Wrong = "no element follows it"
			}
			if *left <= 0 {
				one.Wrong, one.to = "the schema has too many of them around long elements: name the findings in cartorio.exceptions.yaml", 0
			}
			list = append(list, one)
		}
		at += len(line)
	}
	return list
}

// covered is the element that a comment is about: the one whose first line it
// ends, else the one behind it.
func covered(text string, begin, end, depth int, left *int) (from, to int) {
	line := strings.LastIndexByte(text[:begin], '\n') + 1
	from = line + len(text[line:begin]) - len(strings.TrimLeft(text[line:begin], " \t\r"))
	if before := strings.TrimSpace(text[line:begin]); before == "" || strings.HasPrefix(before, "}") {
		s := scanner{text: text, at: end}
		for !s.done() {
			if _, _, ok := s.comment(); ok {
				continue
			}
			if !strings.ContainsRune(" \t\r\n", rune(text[s.at])) {
				break
			}
			s.at++
		}
		if s.done() || text[s.at] == '}' {
			return 0, 0
		}
		from = s.at
	}
	word := strings.FieldsFunc(text[from:min(from+20, len(text))], func(r rune) bool { return r < 'a' || r > 'z' })
	if depth == 0 && len(word) > 0 && slices.Contains([]string{"syntax", "edition", "package", "import", "option"}, word[0]) {
		return 0, len(text)
	}
	// The element ends with its statement, or with the block that it opens.
	s := scanner{text: text, at: from}
	defer func() { *left -= s.at - from }()
	for !s.done() && s.at-from < *left {
		if _, _, ok := s.comment(); ok {
			continue
		}
		c := text[s.at]
		s.step()
		if s.depth <= 0 && (c == ';' || c == '}') {
			break
		}
		s.skip()
	}
	return from, s.at
}

// scanner walks over a Protobuf text without reading it.
type scanner struct {
	text  string
	at    int
	depth int // of braces and brackets
}

func (s *scanner) done() bool { return s.at >= len(s.text) }

// comment passes over a comment, where one stands.
func (s *scanner) comment() (begin, end int, ok bool) {
	rest := s.text[s.at:]
	end = len(s.text)
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			end = s.at + n
		}
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			end = s.at + 2 + n + 2
		}
	default:
		return 0, 0, false
	}
	begin, s.at = s.at, end
	return begin, end, true
}

// skip passes over what means nothing here.
func (s *scanner) skip() {
	if n := strings.IndexAny(s.text[s.at:], "{}[]()\"'/;"); n >= 0 {
		s.at += n
	} else {
		s.at = len(s.text)
	}
}

// step passes over one byte, or one string.
func (s *scanner) step() {
	c := s.text[s.at]
	s.at++
	switch c {
	case '{', '[', '(':
		s.depth++
	case '}', ']', ')':
		s.depth--
	case '"', '\'':
		for s.at < len(s.text) && s.text[s.at] != c && s.text[s.at] != '\n' {
			if s.text[s.at] == '\\' {
				s.at++
			}
			s.at++
		}
		s.at = min(s.at+1, len(s.text))
	}
}
