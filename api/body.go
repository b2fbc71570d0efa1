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
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return v.wrong("an object")
	}
	// A repeated member counts by its last value, so none is read before all
	// were seen.
	last := map[string]value{}
	order := []string{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return v.wrong("an object")
		}
		key, _ := name.(string)
		if fields[key] == nil {
			if err := d.Decode(&unread{}); err != nil {
				return v.wrong("an object")
			}
			continue
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return v.wrong("an object")
		}
		if _, again := last[key]; !again {
			order = append(order, key)
		}
		last[key] = value{raw, v.at.Append(key)}
	}
	for _, key := range order {
		if err := fields[key](last[key]); err != nil {
			return err
		}
	}
	return nil
}

// each gives v's items to item, at most so many; null has none.
func (v value) each(most int, item func(value) error) error {
	if v.null() {
		return nil
	}
	if v.raw[0] != '[' {
		return v.wrong("an array")
	}
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return v.wrong("an array")
	}
	for i := 0; d.More(); i++ {
		if i == most {
			return coded(42201, "the member %s has more than %d items", v.at, most)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return v.wrong("an array")
		}
		if err := item(value{raw, v.at.Append(strconv.Itoa(i))}); err != nil {
			return err
		}
	}
	return nil
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
		d := json.NewDecoder(bytes.NewReader(v.raw))
		_, _ = d.Token()
		for d.More() {
			_, _ = d.Token()
			var raw json.RawMessage
			if d.Decode(&raw) != nil || (value{raw: raw}).saysWithin(levels-1) {
				return true
			}
		}
		return false
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
