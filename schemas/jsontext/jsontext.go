// Package jsontext reads JSON keeping what a schema's text must not lose: the
// order of members, numbers digit for digit, and the place of everything.
//
// It knows no format. Start with [Parse].
package jsontext

import (
	"fmt"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The six kinds.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String is the word JSON Schema has for the kind.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is one JSON value and where it stands.
type Value struct {
	Kind    Kind
	Bool    bool
	Text    string   // String: unescaped. Number: exactly as written
	Items   []*Value // Array
	Members []Member // Object: a repeated name keeps its first place and its last value
	Start   int      // byte offset of the first byte
	End     int      // byte offset behind the last byte
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value *Value
	Start int // byte offset of the name's opening quote
}

// Get finds a member by name; nil when v is no object or has none.
func (v *Value) Get(name string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value
		}
	}
	return nil
}

// Options shape a parse.
type Options struct {
	// Depth, Digits, Exponent and Text bound the text. Zero means no limit of
	// that kind, except that depth never goes beyond 10,000.
	Depth, Digits, Exponent, Text int
	// Comments allows /* … */ and // … between tokens.
	Comments bool
	// Strict refuses duplicate member names, invalid UTF-8 and lone surrogates:
	// the rule for payloads. Otherwise the last duplicate wins and broken
	// characters become U+FFFD.
	Strict bool
	// Duplicate is told of each repeated name, when not nil.
	Duplicate func(name string, offset int)
}

// SchemaOptions are the options for the text of a new schema.
func SchemaOptions(l schemas.Limits) Options {
	l = l.OrDefault()
	return Options{Depth: l.Depth, Digits: l.Digits, Exponent: l.Exponent, Text: l.Text}
}

const deepest = 10_000

// Parse reads exactly one JSON value (RFC 8259) with white space around it.
//
// Errors: schemas.SyntaxErrors with one entry (a broken JSON text has no
// trustworthy second error), or *schemas.LimitError. It never panics, and takes
// time and memory in proportion to the text.
func Parse(text string, o Options) (*Value, error) {
	if o.Text > 0 && len(text) > o.Text {
		return nil, &schemas.LimitError{Limit: schemas.LimitText, Most: o.Text, Found: len(text)}
	}
	if o.Depth <= 0 || o.Depth > deepest {
		o.Depth = deepest
	}
	p := parser{text: text, o: o}
	if err := p.space(); err != nil {
		return nil, err
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.fail(p.at, "text after the end of the JSON value", "only white space may follow")
	}
	return v, nil
}

type parser struct {
	text string
	at   int
	o    Options
}

func (p *parser) fail(at int, summary, detail string) error {
	return schemas.SyntaxErrors{{Position: schemas.PositionAt(p.text, at), Summary: summary, Detail: detail}}
}

func (p *parser) over(limit schemas.Limit, most, found, at int) error {
	return &schemas.LimitError{Limit: limit, Most: most, Found: found, Position: schemas.PositionAt(p.text, at)}
}

func (p *parser) space() error {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			if !p.o.Comments || p.at+1 >= len(p.text) {
				return nil
			}
			switch p.text[p.at+1] {
			case '/':
				for p.at < len(p.text) && p.text[p.at] != '\n' {
					p.at++
				}
			case '*':
				start := p.at
				p.at += 2
				for {
					if p.at+1 >= len(p.text) {
						return p.fail(start, "comment is not closed", "end it with */")
					}
					if p.text[p.at] == '*' && p.text[p.at+1] == '/' {
						p.at += 2
						break
					}
					p.at++
				}
			default:
				return nil
			}
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) value(depth int) (*Value, error) {
	if p.at >= len(p.text) {
		return nil, p.fail(p.at, "the text ends where a JSON value is expected", "")
	}
	start := p.at
	switch c := p.text[p.at]; {
	case c == '{':
		if depth >= p.o.Depth {
			return nil, p.over(schemas.LimitDepth, p.o.Depth, depth+1, start)
		}
		return p.object(depth + 1)
	case c == '[':
		if depth >= p.o.Depth {
			return nil, p.over(schemas.LimitDepth, p.o.Depth, depth+1, start)
		}
		return p.array(depth + 1)
	case c == '"':
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		return &Value{Kind: String, Text: s, Start: start, End: p.at}, nil
	case c == '-' || (c >= '0' && c <= '9'):
		return p.number()
	case p.word("true"):
		return &Value{Kind: Bool, Bool: true, Start: start, End: p.at}, nil
	case p.word("false"):
		return &Value{Kind: Bool, Start: start, End: p.at}, nil
	case p.word("null"):
		return &Value{Kind: Null, Start: start, End: p.at}, nil
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	detail := ""
	if r == '\uFEFF' {
		detail = "the file begins with a byte order mark: save it as UTF-8 without one"
	}
	return nil, p.fail(p.at, fmt.Sprintf("%q where a JSON value is expected", r), detail)
}

func (p *parser) word(w string) bool {
	if len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return false
	}
	if end := p.at + len(w); end < len(p.text) {
		if c := p.text[end]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return false
		}
	}
	p.at += len(w)
	return true
}

func (p *parser) object(depth int) (*Value, error) {
	v := &Value{Kind: Object, Start: p.at}
	p.at++
	var index map[string]int
	for first := true; ; first = false {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.text) {
			return nil, p.fail(v.Start, "object is not closed", "end it with }")
		}
		if p.text[p.at] == '}' && first {
			break
		}
		if !first {
			if p.text[p.at] == '}' {
				break
			}
			if p.text[p.at] != ',' {
				return nil, p.fail(p.at, "a comma or } is expected after an object's member", "")
			}
			p.at++
			if err := p.space(); err != nil {
				return nil, err
			}
		}
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.fail(p.at, "a member's name in double quotes is expected", "")
		}
		start := p.at
		name, err := p.str()
		if err != nil {
			return nil, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.text) || p.text[p.at] != ':' {
			return nil, p.fail(p.at, fmt.Sprintf("a colon is expected after the name %q", name), "")
		}
		p.at++
		if err := p.space(); err != nil {
			return nil, err
		}
		member, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		twin := -1
		if index == nil && len(v.Members) >= 16 {
			index = make(map[string]int, 32)
			for i := range v.Members {
				index[v.Members[i].Name] = i
			}
		}
		if index != nil {
			if i, ok := index[name]; ok {
				twin = i
			}
		} else {
			for i := range v.Members {
				if v.Members[i].Name == name {
					twin = i
				}
			}
		}
		if twin >= 0 {
			if p.o.Strict {
				return nil, p.fail(start, fmt.Sprintf("the member %q stands here a second time", name), "readers disagree on which one counts; keep one")
			}
			if p.o.Duplicate != nil {
				p.o.Duplicate(name, start)
			}
			v.Members[twin].Value = member
			continue
		}
		if index != nil {
			index[name] = len(v.Members)
		}
		v.Members = append(v.Members, Member{Name: name, Value: member, Start: start})
	}
	p.at++
	v.End = p.at
	return v, nil
}

func (p *parser) array(depth int) (*Value, error) {
	v := &Value{Kind: Array, Start: p.at}
	p.at++
	for first := true; ; first = false {
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.at >= len(p.text) {
			return nil, p.fail(v.Start, "array is not closed", "end it with ]")
		}
		if p.text[p.at] == ']' {
			break
		}
		if !first {
			if p.text[p.at] != ',' {
				return nil, p.fail(p.at, "a comma or ] is expected after an array's item", "")
			}
			p.at++
			if err := p.space(); err != nil {
				return nil, err
			}
		}
		item, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
	}
	p.at++
	v.End = p.at
	return v, nil
}

func (p *parser) number() (*Value, error) {
	start, digits := p.at, 0
	run := func() int {
		from := p.at
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			p.at++
		}
		return p.at - from
	}
	bad := func() error {
		return p.fail(start, "a number is malformed", "JSON writes -12, 0.5 or 1e3: no leading zero or plus, a digit on both sides of the point")
	}
	if p.text[p.at] == '-' {
		p.at++
	}
	whole := p.at
	n := run()
	if n == 0 || n > 1 && p.text[whole] == '0' {
		return nil, bad()
	}
	digits += n
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if n = run(); n == 0 {
			return nil, bad()
		}
		digits += n
	}
	exponent := 0
	if p.at < len(p.text) && (p.text[p.at] == 'e' || p.text[p.at] == 'E') {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		from := p.at
		if n = run(); n == 0 {
			return nil, bad()
		}
		for _, c := range p.text[from:p.at] {
			if exponent < 1<<40 {
				exponent = exponent*10 + int(c-'0')
			}
		}
	}
	if p.o.Digits > 0 && digits > p.o.Digits {
		return nil, p.over(schemas.LimitDigits, p.o.Digits, digits, start)
	}
	if p.o.Exponent > 0 && exponent > p.o.Exponent {
		return nil, p.over(schemas.LimitExponent, p.o.Exponent, exponent, start)
	}
	return &Value{Kind: Number, Text: p.text[start:p.at], Start: start, End: p.at}, nil
}

func (p *parser) str() (string, error) {
	start := p.at
	p.at++
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '"' {
			s := p.text[from:p.at]
			if !utf8.ValidString(s) {
				break
			}
			p.at++
			return s, nil
		}
		if c == '\\' || c < 0x20 {
			break
		}
		p.at++
	}
	// The slow way: there is an escape, a control character or broken UTF-8.
	p.at = from
	var out []byte
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.fail(p.at, fmt.Sprintf("the control character U+%04X stands unescaped in a string", c), "write it as \\u and four hex digits")
		case c == '\\':
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		case c < utf8.RuneSelf:
			out = append(out, c)
			p.at++
		default:
			r, n := utf8.DecodeRuneInString(p.text[p.at:])
			if r == utf8.RuneError && n == 1 && p.o.Strict {
				return "", p.fail(p.at, "a string is not valid UTF-8", "")
			}
			out = utf8.AppendRune(out, r)
			p.at += n
		}
	}
	return "", p.fail(start, "string is not closed", "end it with a double quote")
}

func (p *parser) escape(out []byte) ([]byte, error) {
	at := p.at
	if at+1 >= len(p.text) {
		return nil, p.fail(at, "the text ends inside an escape", "")
	}
	p.at += 2
	switch p.text[at+1] {
	case '"', '\\', '/':
		return append(out, p.text[at+1]), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		r, ok := p.hex4(at + 2)
		if !ok {
			return nil, p.fail(at, "\\u needs four hex digits", "")
		}
		p.at = at + 6
		if r >= 0xD800 && r < 0xDC00 {
			if p.at+1 < len(p.text) && p.text[p.at] == '\\' && p.text[p.at+1] == 'u' {
				if low, ok := p.hex4(p.at + 2); ok && low >= 0xDC00 && low < 0xE000 {
					p.at += 6
					return utf8.AppendRune(out, 0x10000+(r-0xD800)<<10+(low-0xDC00)), nil
				}
			}
		}
		if r >= 0xD800 && r < 0xE000 && p.o.Strict {
			return nil, p.fail(at, "a surrogate stands alone in a string", "escape characters beyond U+FFFF as a pair")
		}
		return utf8.AppendRune(out, r), nil
	}
	return nil, p.fail(at, fmt.Sprintf("the escape \\%c is unknown", p.text[at+1]), "")
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.text[at : at+4]) {
		switch {
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
