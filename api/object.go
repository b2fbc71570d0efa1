package api

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// object writes one JSON object. Members whose value is empty are left out
// unless the method says always, and strings stand unescaped: <, >, & and
// U+2028 as they are, because stored texts must come back exact.
//
// Source: REST contract 3.
type object struct {
	b []byte
}

func begin(size int) *object {
	return &object{append(make([]byte, 0, size), '{')}
}

func (o *object) end() []byte { return append(o.b, '}') }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

// text writes a string member, left out when empty.
func (o *object) text(name, value string) {
	if value != "" {
		o.always(name, value)
	}
}

// always writes a string member, empty or not.
func (o *object) always(name, value string) {
	o.key(name)
	o.b = appendString(o.b, value)
}

func (o *object) number(name string, value int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, value, 10)
}

func (o *object) boolean(name string, value bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, value)
}

// list writes an array member of n items, left out when n is 0.
func (o *object) list(name string, n int, item func(b []byte, i int) []byte) {
	if n > 0 {
		o.key(name)
		o.b = appendList(o.b, n, item)
	}
}

func appendList(b []byte, n int, item func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, i)
	}
	return append(b, ']')
}

// appendString appends s in double quotes with only the escapes that JSON
// demands. Bytes that are no UTF-8 become U+FFFD: an answer is always JSON.
func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return jsontext.AppendString(b, s)
}
