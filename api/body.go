package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

// value is one JSON value of a request's body, and where it stands. Its bytes
// are the body's own: a body of a million members costs no more memory than its
// text. The zero value is a member that was not sent.
type value struct {
	raw  []byte
	in   schemas.Pointer // what it is a member or an item of
	name string
}

// unread passes over a JSON value; unmarshalling into it only checks the text.
type unread struct{}

func (*unread) UnmarshalJSON([]byte) error { return nil }

// parse reads body as one JSON object and picks the members with the given
// names. null counts as no body.
//
// Errors: 400 with line and column for text that is no JSON, or for JSON that
// is no object; 422 for null.
func parse(body []byte, names ...string) (*members, error) {
	if !json.Valid(body) {
		reason := ""
		var syntax *json.SyntaxError
		if err := json.Unmarshal(body, &unread{}); errors.As(err, &syntax) {
			// Offset counts the bytes read, the offending one included.
			p := schemas.PositionAt(string(body), int(syntax.Offset)-1)
			reason = fmt.Sprintf(": line %d, column %d: %s", p.Line, p.Column, syntax)
		}
		return nil, bare(http.StatusBadRequest, "the request's body is no JSON"+reason)
	}
	if at := halfCharacter(body); at >= 0 {
		p := schemas.PositionAt(string(body), at)
		return nil, bare(http.StatusBadRequest, fmt.Sprintf("the request's body is no text: line %d, column %d: %s is half a character: send both halves, or the character itself", p.Line, p.Column, body[at:at+6]))
	}
	root := value{raw: bytes.TrimSpace(body)}
	if root.null() {
		return nil, bare(http.StatusUnprocessableEntity, "the request's body is required and is null")
	}
	return root.pick(names...)
}

// halfCharacter finds the first escape of a surrogate without its other half,
// which no text can hold: reading it would store another text than was sent. It
// is -1 for none. body is JSON.
func halfCharacter(body []byte) int {
	unit := func(at int) uint64 { // of the escape at, 0 for none
		if at+6 > len(body) || body[at] != '\\' || body[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(body[at+2:at+6]), 16, 16)
		return n
	}
	for i := 0; ; {
		j := bytes.IndexByte(body[i:], '\\')
		if j < 0 {
			return -1
		}
		i += j
		switch n := unit(i); {
		case n == 0:
			i += 2
		case n >= 0xD800 && n < 0xDC00 && unit(i+6)>>10 == 0xDC00>>10:
			i += 12
		case n >= 0xD800 && n < 0xE000:
			return i
		default:
			i += 6
		}
	}
}

// missing tells whether v was not sent.
func (v value) missing() bool { return v.raw == nil }

// null tells whether v was sent as null, or not sent.
func (v value) null() bool { return v.missing() || string(v.raw) == "null" }

func (v value) at() schemas.Pointer {
	if v.name == "" {
		return v.in
	}
	return v.in.Append(v.name)
}

// kind is what people call the type that v has.
func (v value) kind() string {
	switch v.raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func (v value) wrong(want string) error {
	where := "the request's body"
	if at := v.at(); at != "" {
		where = "the member " + string(at)
	}
	return bare(http.StatusBadRequest, fmt.Sprintf("%s is %s where %s is expected", where, v.kind(), want))
}

// pick takes v's members with the given names; a repeated one counts by its last
// value, others are passed over.
//
// Errors: 400 when v is no object.
func (v value) pick(names ...string) (*members, error) {
	if v.raw[0] != '{' {
		return nil, v.wrong("an object")
	}
	m := &members{names: names, values: make([]value, len(names))}
	in := v.at()
	v.walk(func(name []byte, one value) bool {
		for i, known := range names {
			if string(name) == known {
				m.values[i] = value{one.raw, in, known}
			}
		}
		return true
	})
	return m, nil
}

// each gives v's items to item, at most so many; null has none.
func (v value) each(most int, item func(value) error) (err error) {
	if v.null() {
		return nil
	}
	if v.raw[0] != '[' {
		return v.wrong("an array")
	}
	i, in := 0, v.at()
	v.walk(func(_ []byte, one value) bool {
		if i == most {
			err = coded(42201, "the member %s has more than %d items", in, most)
			return false
		}
		err = item(value{one.raw, in, strconv.Itoa(i)})
		i++
		return err == nil
	})
	return err
}

// walk goes over the members of an object or the items of an array, whose names
// are empty, until visit says no. It copies nothing. v is known to be JSON, so
// only its structure matters.
func (v value) walk(visit func(name []byte, one value) bool) {
	b := v.raw
	for i := 1; ; {
		i = blank(b, i)
		if b[i] == ',' {
			i = blank(b, i+1)
		}
		if b[i] == '}' || b[i] == ']' {
			return
		}
		var name []byte
		if b[0] == '{' {
			end := past(b, i)
			name = spelled(b[i:end])
			i = blank(b, blank(b, end)+1) // behind the colon
		}
		end := past(b, i)
		if !visit(name, value{raw: b[i:end]}) {
			return
		}
		i = end
	}
}

// spelled is the name that a JSON string spells.
func spelled(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is a string
	return []byte(s)
}

// blank is the first byte from i on that is no white space.
func blank(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' {
		i++
	}
	return i
}

// past is the end of the value that begins at i.
func past(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i // behind a number or a word
			}
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
