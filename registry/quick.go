package registry

import (
	"bytes"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// quick reads the body of a registration that is written as encodeBody writes
// one without attachments, which most are: a start and a look at the past read
// all of them. It is false, and b as it was, for every other text; encoding/json
// then reads it.
func (b *registeredBody) quick(text []byte) bool {
	c := cutter{rest: text}
	out := registeredBody{V: bodyVersion}
	c.cut(`{"v":1,"context":"`)
	out.Context = schemas.Context(c.word())
	c.cut(`,"subject":"`)
	out.Subject = c.word()
	c.cut(`,"version":`)
	out.Version = schemas.Version(c.number())
	c.cut(`,"id":`)
	out.ID = c.number()
	c.cut(`,"type":"`)
	out.Type = schemas.Type(c.word())
	c.cut(`,"guid":"`)
	out.GUID = c.word()
	c.cut(`}`)
	if c.failed || len(c.rest) > 0 {
		return false
	}
	*b = out
	return true
}

// cutter takes a text apart from its front; once something else stands there it
// has failed.
type cutter struct {
	rest   []byte
	failed bool
}

func (c *cutter) cut(text string) {
	if len(c.rest) < len(text) || string(c.rest[:len(text)]) != text {
		c.failed = true
		return
	}
	c.rest = c.rest[len(text):]
}

// word takes a string without escapes, and the quote behind it.
func (c *cutter) word() string {
	end := bytes.IndexByte(c.rest, '"')
	if c.failed || end < 0 {
		c.failed = true
		return ""
	}
	word := c.rest[:end]
	for _, b := range word {
		if b == '\\' || b < ' ' {
			c.failed = true
			return ""
		}
	}
	if !utf8.Valid(word) {
		c.failed = true
		return ""
	}
	c.rest = c.rest[end+1:]
	switch string(word) {
	case string(schemas.DefaultContext):
		return string(schemas.DefaultContext)
	case string(schemas.Avro):
		return string(schemas.Avro)
	case string(schemas.JSON):
		return string(schemas.JSON)
	case string(schemas.Protobuf):
		return string(schemas.Protobuf)
	}
	return string(word)
}

// number takes a whole number from 0 on as JSON spells it.
func (c *cutter) number() int32 {
	const most = 9 // digits that always fit
	n, i := int32(0), 0
	for ; i < len(c.rest) && i <= most && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		if i < most {
			n = n*10 + int32(c.rest[i]-'0')
		}
	}
	if i == 0 || i > most || c.rest[0] == '0' && i > 1 {
		c.failed = true
		return 0
	}
	c.rest = c.rest[i:]
	return n
}
