package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
)

// value is one JSON value of a request's body and the pointer to it. Values are
// taken one by one, so that a body of a million members costs no more memory
// than its text.
type value struct {
	raw []byte
	at  schemas.Pointer
}

// unread passes over a JSON value; unmarshalling into it only checks the text.
type unread struct{}

func (*unread) UnmarshalJSON([]byte) error { return nil }

// parse reads body as one JSON object and gives every member that fields knows
// to its function; a repeated member counts by its last value, unknown ones are
// passed over. null counts as no body.
//
// Errors: 400 with line and column for text that is no JSON, with the pointer
// for a member of a wrong type; 422 for null.
func parse(body []byte, fields map[string]func(value) error) error {
	if err := json.Unmarshal(body, &unread{}); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			// Offset counts the bytes read, the offending one included.
			p := schemas.PositionAt(string(body), int(syntax.Offset)-1)
			return bare(http.StatusBadRequest, fmt.Sprintf("the request's body is no JSON: line %d, column %d: %s", p.Line, p.Column, syntax))
		}
		return bare(http.StatusBadRequest, "the request's body is no JSON")
	}
	root := value{raw: bytes.TrimSpace(body)}
	if root.null() {
		return bare(http.StatusUnprocessableEntity, "the request's body is required and is null")
	}
	return root.object(fields)
}

func (v value) null() bool { return string(v.raw) == "null" }

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
	if v.at != "" {
		where = "the member " + string(v.at)
	}
	return bare(http.StatusBadRequest, fmt.Sprintf("%s is %s where %s is expected", where, v.kind(), want))
}

// text is a string; null is empty.
func (v value) text() (string, error) {
	if v.null() {
		return "", nil
	}
	var s string
	if v.raw[0] != '"' || json.Unmarshal(v.raw, &s) != nil {
		return "", v.wrong("a string")
	}
	return s, nil
}

// boolean is true or false; null is nil.
func (v value) boolean() (*bool, error) {
	switch string(v.raw) {
	case "null":
		return nil, nil //nolint:nilnil // null says nothing, which is no error
	case "true", "false":
		b := v.raw[0] == 't'
		return &b, nil
	}
	return nil, v.wrong("true or false")
}

// integer is a whole number of 32 bits; null is nil.
func (v value) integer() (*int32, error) {
	if v.null() {
		return nil, nil //nolint:nilnil // null says nothing, which is no error
	}
	n, err := strconv.ParseInt(string(v.raw), 10, 32)
	if err != nil {
		return nil, v.wrong(fmt.Sprintf("a whole number from %d to %d", math.MinInt32, math.MaxInt32))
	}
	i := int32(n)
	return &i, nil
}

// object gives v's members to fields.
func (v value) object(fields map[string]func(value) error) error {
	if v.raw[0] != '{' {
		return v.wrong("an object")
	}
	// A repeated member counts by its last value, so none is read before all
	// were seen.
	last := map[string]value{}
	order := []string{}
	v.walk(func(name string, one value) bool {
		if fields[name] == nil {
			return true
		}
		if _, again := last[name]; !again {
			order = append(order, name)
		}
		one.at = v.at.Append(name)
		last[name] = one
		return true
	})
	for _, name := range order {
		if err := fields[name](last[name]); err != nil {
			return err
		}
	}
	return nil
}

// each gives v's items to item, at most so many; null has none.
func (v value) each(most int, item func(value) error) (err error) {
	if v.null() {
		return nil
	}
	if v.raw[0] != '[' {
		return v.wrong("an array")
	}
	i := 0
	v.walk(func(_ string, one value) bool {
		if i == most {
			err = coded(42201, "the member %s has more than %d items", v.at, most)
			return false
		}
		one.at = v.at.Append(strconv.Itoa(i))
		i++
		err = item(one)
		return err == nil
	})
	return err
}

// walk goes over the members of an object or the items of an array, whose names
// are empty, until visit says no. It copies nothing. v is known to be JSON, so
// only its structure matters.
func (v value) walk(visit func(name string, one value) bool) {
	b := v.raw
	for i := 1; ; {
		i = blank(b, i)
		if b[i] == ',' {
			i = blank(b, i+1)
		}
		if b[i] == '}' || b[i] == ']' {
			return
		}
		name := ""
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
func spelled(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is a string
	return s
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

// says tells whether v says anything: null, "", false, [] and objects of nothing
// but those do not. Metadata and rule sets are two levels deep; what is deeper
// says something without being looked at.
func (v value) says() bool { return v.saysWithin(2) }

func (v value) saysWithin(levels int) bool {
	switch v.raw[0] {
	case 'n', 'f':
		return false
	case '"':
		return len(v.raw) > 2
	case '[':
		return string(bytes.Map(dropSpace, v.raw)) != "[]"
	case '{':
		if levels == 0 {
			return string(bytes.Map(dropSpace, v.raw)) != "{}"
		}
		says := false
		v.walk(func(_ string, one value) bool {
			says = one.saysWithin(levels - 1)
			return !says
		})
		return says
	}
	return true
}

func dropSpace(r rune) rune {
	switch r {
	case ' ', '\t', '\r', '\n':
		return -1
	}
	return r
}
