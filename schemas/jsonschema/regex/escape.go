package regex

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const syntaxCharacters = `^$\.*+?()[]{}|/`

// escape reads an escape outside a class; the backslash at is read.
func (p *parser) escape(at int) (*node, bool, error) {
	if p.at >= len(p.text) {
		return nil, false, p.fail(at, "the pattern ends with a backslash")
	}
	switch c := p.text[p.at]; {
	case c == 'b' || c == 'B':
		p.at++
		return &node{op: opWord, neg: c == 'B'}, false, nil
	case !p.strict && (c == 'A' || c == 'z' || c == 'Z'):
		p.at++
		return ends(c), false, nil
	case c >= '1' && c <= '9':
		start, n := p.at, 0
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			n = min(n*10+int(p.text[p.at]-'0'), 1<<20)
			p.at++
		}
		if n <= p.total {
			return &node{op: opBack, index: n, fold: p.fold}, true, nil
		}
		if p.strict {
			return nil, false, p.fail(at, fmt.Sprintf("\\%d refers to a group that does not exist", n))
		}
		p.at = start
	case c == 'k' && (p.strict || p.named):
		rest := p.text[p.at+1:]
		end := strings.IndexByte(rest, '>')
		if !strings.HasPrefix(rest, "<") || end < 0 {
			return nil, false, p.fail(at, "\\k needs a group's name between < and >")
		}
		n := &node{op: opBack, fold: p.fold}
		p.pending = append(p.pending, pending{n, rest[1:end], at})
		p.at += 1 + end + 1
		return n, true, nil
	}
	s := &set{fold: p.fold}
	if err := p.classEscape(at, s, false); err != nil {
		return nil, false, err
	}
	s.tidy()
	return &node{op: opSet, set: s}, true, nil
}

// ends are the anchors of other engines. \Z also stands before a last line end.
func ends(c byte) *node {
	switch c {
	case 'A':
		return &node{op: opStart}
	case 'z':
		return &node{op: opEnd}
	}
	last := &node{op: opRepeat, max: 1, subs: []*node{{op: opChoice, subs: []*node{
		{op: opSequence, subs: []*node{point('\r'), point('\n')}}, {op: opSet, set: &set{ranges: append([]rune{0x85, 0x85}, lines...)}},
	}}}}
	last.subs[0].subs[1].set.tidy()
	return &node{op: opLook, subs: []*node{{op: opSequence, subs: []*node{last, {op: opEnd}}}}}
}

func point(r rune) *node { return &node{op: opSet, set: &set{ranges: []rune{r, r}}} }

// classEscape reads the escape of a set or of one code point into s.
func (p *parser) classEscape(at int, s *set, inClass bool) error {
	switch p.text[p.at] {
	case 'd':
		s.ranges = append(s.ranges, digits...)
	case 'D':
		s.ranges = append(s.ranges, without(digits)...)
	case 'w':
		s.ranges = append(s.ranges, words...)
	case 'W':
		s.ranges = append(s.ranges, without(words)...)
	case 's':
		s.ranges = append(s.ranges, spaces...)
	case 'S':
		s.ranges = append(s.ranges, without(spaces)...)
	case 'p', 'P':
		return p.property(at, s)
	default:
		r, err := p.point(at, inClass)
		if err != nil {
			return err
		}
		s.ranges = append(s.ranges, r, r)
		return nil
	}
	p.at++
	return nil
}

// point reads an escape that stands for one code point.
func (p *parser) point(at int, inClass bool) (rune, error) {
	r := p.next()
	switch r {
	case 't':
		return '\t', nil
	case 'n':
		return '\n', nil
	case 'v':
		return '\v', nil
	case 'f':
		return '\f', nil
	case 'r':
		return '\r', nil
	case 'b':
		if inClass {
			return '\b', nil
		}
	case '0':
		if p.at >= len(p.text) || p.text[p.at] < '0' || p.text[p.at] > '9' {
			return 0, nil
		}
		if p.strict {
			return 0, p.fail(at, "an octal escape; write \\x and two hex digits")
		}
		p.at--
		return p.octal(), nil
	case '1', '2', '3', '4', '5', '6', '7':
		if !p.strict {
			p.at--
			return p.octal(), nil
		}
	case 'c':
		if p.at < len(p.text) {
			if c := p.text[p.at]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				p.at++
				return rune(c % 32), nil
			}
		}
		if p.strict {
			return 0, p.fail(at, "\\c needs a letter")
		}
		p.at-- // the backslash stands for itself
		return '\\', nil
	case 'x':
		if v, ok := p.hex(2, 2); ok {
			return v, nil
		}
		if p.strict {
			return 0, p.fail(at, "\\x needs two hex digits")
		}
		return 'x', nil
	case 'u':
		return p.unicodeEscape(at)
	case '-':
		if inClass || !p.strict {
			return r, nil
		}
	}
	if strings.ContainsRune(syntaxCharacters, r) {
		return r, nil
	}
	if p.strict {
		return 0, p.fail(at, fmt.Sprintf("the escape \\%c is unknown", r))
	}
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		// The web's grammar reads \h as h; other engines give these letters a
		// meaning, so whoever wrote one meant that.
		return 0, p.fail(at, fmt.Sprintf("the escape \\%c is unknown in ECMA-262; write ^ and $ for the ends, \\x or \\u for a character", r))
	}
	return r, nil
}

func (p *parser) octal() rune {
	v, n := rune(0), 0
	for n < 3 && p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '7' && v*8+rune(p.text[p.at]-'0') <= 0o377 {
		v = v*8 + rune(p.text[p.at]-'0')
		p.at++
		n++
	}
	return v
}

func (p *parser) hex(low, high int) (rune, bool) {
	start, v := p.at, rune(0)
	for p.at < len(p.text) && p.at-start < high {
		c := p.text[p.at]
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			v = v<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			v = v<<4 | rune(c-'A'+10)
		default:
			if p.at-start >= low {
				return v, true
			}
			p.at = start
			return 0, false
		}
		p.at++
	}
	if p.at-start >= low {
		return v, true
	}
	p.at = start
	return 0, false
}

func (p *parser) unicodeEscape(at int) (rune, error) {
	if p.take("{") {
		v, ok := p.hex(1, 7)
		if ok && v <= unicode.MaxRune && p.take("}") {
			return v, nil
		}
		if p.strict {
			return 0, p.fail(at, "\\u{…} needs the hex digits of a code point up to 10FFFF")
		}
		p.at = at + 2
		return 'u', nil
	}
	v, ok := p.hex(4, 4)
	if !ok {
		if p.strict {
			return 0, p.fail(at, "\\u needs four hex digits")
		}
		return 'u', nil
	}
	if v >= 0xD800 && v < 0xDC00 && strings.HasPrefix(p.text[p.at:], `\u`) {
		mark := p.at
		p.at += 2
		if low, ok := p.hex(4, 4); ok && low >= 0xDC00 && low < 0xE000 {
			return 0x10000 + (v-0xD800)<<10 + (low - 0xDC00), nil
		}
		p.at = mark
	}
	return v, nil
}

// class reads a bracketed class; the opening bracket at is read.
func (p *parser) class(at int) (*set, error) {
	s := &set{fold: p.fold, neg: p.take("^")}
	for {
		if p.at >= len(p.text) {
			return nil, p.fail(at, "a class is not closed; end it with ]")
		}
		if p.take("]") {
			s.tidy()
			return s, nil
		}
		start := p.at
		low, single, err := p.classAtom(s)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(p.text[p.at:], "-") || strings.HasPrefix(p.text[p.at:], "-]") || p.at+1 >= len(p.text) {
			if single {
				s.ranges = append(s.ranges, low, low)
			}
			continue
		}
		p.at++
		high, also, err := p.classAtom(s)
		if err != nil {
			return nil, err
		}
		if !single || !also {
			if p.strict {
				return nil, p.fail(start, "a range has a set for an end")
			}
			s.ranges = append(s.ranges, '-', '-')
			if single {
				s.ranges = append(s.ranges, low, low)
			}
			if also {
				s.ranges = append(s.ranges, high, high)
			}
			continue
		}
		if high < low {
			return nil, p.fail(start, "the ends of a range are in the wrong order")
		}
		s.ranges = append(s.ranges, low, high)
	}
}

// classAtom reads one member: a code point, or a set that goes into s at once.
func (p *parser) classAtom(s *set) (r rune, single bool, err error) {
	at := p.at
	if r = p.next(); r != '\\' {
		return r, true, nil
	}
	if p.at >= len(p.text) {
		return 0, false, p.fail(at, "the pattern ends with a backslash")
	}
	if strings.IndexByte("dDwWsSpP", p.text[p.at]) >= 0 {
		return 0, false, p.classEscape(at, s, true)
	}
	r, err = p.point(at, true)
	return r, true, err
}

// property reads \p{…} or \P{…}; the p is not read yet.
func (p *parser) property(at int, s *set) error {
	neg := p.text[p.at] == 'P'
	p.at++
	name := ""
	switch {
	case p.take("{"):
		end := strings.IndexByte(p.text[p.at:], '}')
		if end < 0 {
			return p.fail(at, "\\p needs a property's name between { and }")
		}
		name = p.text[p.at : p.at+end]
		p.at += end + 1
	case !p.strict && p.at < len(p.text):
		_, n := utf8.DecodeRuneInString(p.text[p.at:])
		name = p.text[p.at : p.at+n]
		p.at += n
	}
	t, ok := propertyNamed(name, p.strict)
	if !ok {
		return p.fail(at, fmt.Sprintf("%q is no property of characters that is known here", name))
	}
	t.neg = neg
	s.tables = append(s.tables, t)
	return nil
}

// scriptAliases are the short names of the scripts in common use; the standard
// library knows the long ones only.
var scriptAliases = map[string]string{
	"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Ethi": "Ethiopic",
	"Geor": "Georgian", "Grek": "Greek", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana",
	"Kana": "Katakana", "Khmr": "Khmer", "Latn": "Latin", "Mong": "Mongolian", "Taml": "Tamil", "Thaa": "Thaana",
	"Tibt": "Tibetan", "Zinh": "Inherited", "Zyyy": "Common",
}

// propertyNamed finds a general category, a script or a binary property, under
// ECMA-262's names; not strict, also under those that other engines use.
func propertyNamed(name string, strict bool) (table, bool) {
	category := func(n string) (table, bool) {
		if long, ok := unicode.CategoryAliases[n]; ok {
			n = long
		}
		t, ok := unicode.Categories[n]
		return table{name: n, table: t}, ok
	}
	script := func(n string) (table, bool) {
		if long, ok := scriptAliases[n]; ok {
			n = long
		}
		t, ok := unicode.Scripts[n]
		return table{name: n, table: t}, ok
	}
	if key, value, ok := strings.Cut(name, "="); ok {
		switch key {
		case "General_Category", "gc":
			return category(value)
		case "Script", "sc", "Script_Extensions", "scx":
			return script(value)
		}
		return table{}, false
	}
	switch name {
	case "Any":
		return table{table: everything}, true
	case "ASCII":
		return ascii([2]uint16{0, 0x7F}), true
	case "Alphabetic", "Alpha":
		return alphabetic(), true
	case "Lowercase", "Lower":
		if name == "Lowercase" || strict {
			return lowercase(), true
		}
		return ascii([2]uint16{'a', 'z'}), true
	case "Uppercase", "Upper":
		if name == "Uppercase" || strict {
			return uppercase(), true
		}
		return ascii([2]uint16{'A', 'Z'}), true
	}
	if t, ok := category(name); ok {
		return t, true
	}
	if t, ok := unicode.Properties[name]; ok {
		return table{table: t}, true
	}
	if strict {
		return table{}, false
	}
	switch name {
	case "Digit":
		return ascii([2]uint16{'0', '9'}), true
	case "Alnum":
		return ascii([2]uint16{'0', '9'}, [2]uint16{'A', 'Z'}, [2]uint16{'a', 'z'}), true
	case "XDigit":
		return ascii([2]uint16{'0', '9'}, [2]uint16{'A', 'F'}, [2]uint16{'a', 'f'}), true
	case "Punct":
		return ascii([2]uint16{'!', '/'}, [2]uint16{':', '@'}, [2]uint16{'[', '`'}, [2]uint16{'{', '~'}), true
	case "Space":
		return ascii([2]uint16{'\t', '\r'}, [2]uint16{' ', ' '}), true
	}
	name = strings.TrimPrefix(name, "Is")
	if t, ok := category(name); ok {
		return t, true
	}
	return script(name)
}

func ascii(ranges ...[2]uint16) table {
	t := &unicode.RangeTable{LatinOffset: len(ranges)}
	for _, r := range ranges {
		t.R16 = append(t.R16, unicode.Range16{Lo: r[0], Hi: r[1], Stride: 1})
	}
	return table{table: t}
}
