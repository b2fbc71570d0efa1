package avro

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// JSONOf writes a binary payload of s in Avro's JSON encoding: compact, fields
// in their order, the value of a union with its type's name around it unless it
// is null, bytes and fixed as texts whose characters U+0000 to U+00FF stand for
// the bytes, NaN and the infinities as texts. Of a key that a map holds twice the
// last value counts, as for Reads.
//
// The violations are those of Reads; a text that would be out of proportion to
// the payload is one too.
//
// Source: Avro specification, JSON encoding.
func (s *Schema) JSONOf(payload []byte, options schemas.ReadOptions) ([]byte, []schemas.Violation) {
	return s.written(payload, options, false)
}

// written is JSONOf, or the same with bare unions.
func (s *Schema) written(payload []byte, options schemas.ReadOptions, bare bool) ([]byte, []schemas.Violation) {
	options.Value = false
	if r := s.Reads(s, schemas.Payload{Bytes: payload}, options); !r.OK() {
		return nil, r.Violations
	}
	w := jsonWriter{b: payload, most: 1<<20 + 64*len(payload), bare: bare, out: make([]byte, 0, 256+4*min(len(payload), 1<<16))}
	if !w.write(s.root) {
		return nil, []schemas.Violation{{
			Kind: schemas.TooComplex, Offset: w.pos, Rule: "steps",
			Text: fmt.Sprintf("as JSON the payload of %d bytes would have more than %d", len(payload), w.most),
		}}
	}
	return w.out, nil
}

// jsonWriter walks a payload that has been judged valid.
type jsonWriter struct {
	b    []byte
	pos  int
	most int
	out  []byte
	bare bool // no name around the value of a union with null and one other
}

func (w *jsonWriter) long() (n int64) {
	n, w.pos = readLong(w.b, w.pos)
	return n
}

func (w *jsonWriter) bytes() []byte {
	n := int(w.long())
	w.pos += n
	return w.b[w.pos-n : w.pos]
}

// write writes one value; false when the text grows too large.
func (w *jsonWriter) write(t *Type) bool {
	if len(w.out) > w.most {
		return false
	}
	switch t.Kind {
	case Null:
		w.out = append(w.out, "null"...)
	case Boolean:
		if w.b[w.pos] == 1 {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
		w.pos++
	case Int, Long:
		w.out = strconv.AppendInt(w.out, w.long(), 10)
	case Float:
		w.out = appendFloat(w.out, float64(readFloat(w.b, w.pos)), 32)
		w.pos += 4
	case Double:
		w.out = appendFloat(w.out, readDouble(w.b, w.pos), 64)
		w.pos += 8
	case String:
		w.out = jsontext.AppendString(w.out, string(w.bytes()))
	case Bytes:
		w.out = appendBytesText(w.out, w.bytes())
	case Fixed:
		w.out = appendBytesText(w.out, w.b[w.pos:w.pos+t.Named.Size])
		w.pos += t.Named.Size
	case Enum:
		w.out = jsontext.AppendString(w.out, t.Named.Symbols[w.long()])
	case Union:
		b := t.Branches[w.long()]
		if b.Kind == Null || w.bare && onlyBranch(t) >= 0 {
			return w.write(b)
		}
		w.out = append(w.out, '{')
		w.out = jsontext.AppendString(w.out, branchName(b))
		w.out = append(w.out, ':')
		if !w.write(b) {
			return false
		}
		w.out = append(w.out, '}')
	case Record:
		w.out = append(w.out, '{')
		for i, f := range t.Named.Fields {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.out = jsontext.AppendString(w.out, f.Name)
			w.out = append(w.out, ':')
			if !w.write(f.Type) {
				return false
			}
		}
		w.out = append(w.out, '}')
	case Array, Map:
		return w.items(t)
	}
	return true
}

func (w *jsonWriter) items(t *Type) bool {
	brackets := "[]"
	if t.Kind == Map {
		brackets = "{}"
	}
	w.out = append(w.out, brackets[0])
	start := len(w.out)
	var members []member
	for {
		n := w.long()
		if n == 0 {
			w.lastWins(start, members)
			w.out = append(w.out, brackets[1])
			return true
		}
		if n < 0 {
			n = -n
			w.long()
		}
		for ; n > 0; n-- {
			if len(w.out) > start {
				w.out = append(w.out, ',')
			}
			if t.Kind == Map {
				key := w.bytes()
				members = append(members, member{key, len(w.out)})
				w.out = jsontext.AppendString(w.out, string(key))
				w.out = append(w.out, ':')
			}
			if !w.write(t.Items) {
				return false
			}
		}
	}
}

// member is where the text of a map's entry starts.
type member struct {
	key   []byte
	start int
}

// lastWins takes away the entries whose key comes again: JSON has a name once.
func (w *jsonWriter) lastWins(start int, members []member) {
	if len(members) < 2 {
		return
	}
	last := make(map[string]int, len(members))
	for i, m := range members {
		last[string(m.key)] = i
	}
	if len(last) == len(members) {
		return
	}
	text, end := append([]byte(nil), w.out[start:]...), len(w.out)
	w.out = w.out[:start]
	for i, m := range members {
		stop := end
		if i+1 < len(members) {
			stop = members[i+1].start - 1 // the comma
		}
		if last[string(m.key)] != i {
			continue
		}
		if len(w.out) > start {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, text[m.start-start:stop-start]...)
	}
}

// branchName is the name that a union's value carries in JSON.
func branchName(t *Type) string {
	if t.Named != nil {
		return t.Named.Full
	}
	return t.Kind.String()
}

func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return jsontext.AppendString(dst, javaDouble(f))
	}
	return append(dst, javaFloat(f, bits)...)
}

// appendBytesText writes bytes as the characters U+0000 to U+00FF. What is not
// ASCII is escaped: goavro reads the UTF-8 of such a character as two bytes.
func appendBytesText(dst, b []byte) []byte {
	const hexDigits = "0123456789ABCDEF"
	dst = append(dst, '"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20 || c >= 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
