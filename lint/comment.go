package lint

import (
	"slices"
	"strings"
)

// inComments reads the comments of a Protobuf text.
func inComments(text string) []Ignore {
	var list []Ignore
	s := scanner{text: text}
	for !s.done() && len(list) <= MostIgnores {
		if begin, end, ok := s.comment(); ok {
			list = append(list, ignoresOf(text, begin, end, s.depth)...)
			continue
		}
		s.step()
	}
	return list
}

// ignoresOf reads the lines of one comment, which stands at a depth of braces.
func ignoresOf(text string, begin, end, depth int) []Ignore {
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
			if one.from, one.to = covered(text, begin, end, depth); one.to == 0 && one.Wrong == "" {
				one.Wrong = "no element follows it"
			}
			list = append(list, one)
		}
		at += len(line)
	}
	return list
}

// covered is the element that a comment is about: the one whose first line it
// ends, else the one behind it.
func covered(text string, begin, end, depth int) (from, to int) {
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
	for !s.done() {
		if _, _, ok := s.comment(); ok {
			continue
		}
		c := text[s.at]
		s.step()
		if s.depth <= 0 && (c == ';' || c == '}') {
			break
		}
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
