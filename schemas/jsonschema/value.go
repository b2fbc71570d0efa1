package jsonschema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// content is the text of a string, unescaped, or of a number as written. It
// shares the memory of the tape's text unless there were escapes.
func (t *tape) content(v int32) string {
	k := &t.tokens[v]
	s := t.text[k.start:k.end]
	if !k.escaped {
		return s
	}
	return unescape(s)
}

// unescape undoes the escapes of a JSON string; a lone surrogate, which only a
// schema can have here, becomes U+FFFD, and so does what is no UTF-8.
func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 >= len(s) {
			out = append(out, c)
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(s, i+1)
			i += 4
			if r >= 0xD800 && r < 0xDC00 {
				if low, ok := lowSurrogate(s, i+1); ok {
					r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, s[i])
		}
	}
	if utf8.Valid(out) {
		return string(out)
	}
	return string([]rune(string(out)))
}

// size is how many bytes of text a value takes.
func (t *tape) size(v int32) int { return int(t.tokens[v].end - t.tokens[v].start) }

// offset is where a value begins, its quote included.
func (t *tape) offset(v int32) int {
	if t.tokens[v].kind == jsontext.String {
		return int(t.tokens[v].start) - 1
	}
	return int(t.tokens[v].start)
}

// tapeOf lays a schema's text out as a tape, so that it can be held to its
// meta-schema. at tells where the values of find are.
func tapeOf(text string, root *jsontext.Value, find map[*jsontext.Value]bool) (t *tape, at map[int32]bool) {
	t, at = &tape{text: text}, map[int32]bool{}
	str := func(start, end int) {
		t.tokens = append(t.tokens, token{
			kind: jsontext.String, start: int32(start + 1), end: int32(end - 1), next: int32(len(t.tokens) + 1),
			escaped: strings.IndexByte(text[start:end], '\\') >= 0 || !utf8.ValidString(text[start:end]),
		})
	}
	var add func(v *jsontext.Value)
	add = func(v *jsontext.Value) {
		index := len(t.tokens)
		if find[v] {
			at[int32(index)] = true
		}
		if v.Kind == jsontext.String {
			str(v.Start, v.End)
			return
		}
		t.tokens = append(t.tokens, token{kind: v.Kind, start: int32(v.Start), end: int32(v.End), yes: v.Bool, count: int32(len(v.Items) + len(v.Members))})
		for _, item := range v.Items {
			add(item)
		}
		for i := range v.Members {
			m := &v.Members[i]
			str(m.Start, endOfString(text, m.Start))
			add(m.Value)
		}
		t.tokens[index].next = int32(len(t.tokens))
	}
	add(root)
	return t, at
}

func endOfString(text string, start int) int {
	for i := start + 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// appendCanonical appends one text per JSON value, the same as the function for schemas does.
func (t *tape) appendCanonical(dst []byte, v int32) []byte {
	k := &t.tokens[v]
	switch k.kind {
	case jsontext.Number:
		return ParseNumber(t.content(v)).Canonical(dst)
	case jsontext.String:
		return appendCanonicalString(append(dst, '"'), t.content(v))
	case jsontext.Array:
		dst = append(dst, '[')
		for i := v + 1; i < k.next; i = t.tokens[i].next {
			dst = append(t.appendCanonical(dst, i), ',')
		}
		return append(dst, ']')
	case jsontext.Object:
		names := make([]int32, 0, k.count)
		for m := v + 1; m < k.next; m = t.tokens[m+1].next {
			names = append(names, m)
		}
		slices.SortFunc(names, func(a, b int32) int { return strings.Compare(t.content(a), t.content(b)) })
		dst = append(dst, '{')
		for _, m := range names {
			dst = appendCanonicalString(dst, t.content(m))
			dst = append(t.appendCanonical(dst, m+1), ',')
		}
		return append(dst, '}')
	default:
		return append(dst, t.text[k.start:k.end]...)
	}
}

func appendCanonicalString(dst []byte, s string) []byte {
	dst = strconv.AppendInt(dst, int64(len(s)), 10)
	return append(append(dst, ':'), s...)
}

// native is a value as Go has it, numbers as json.Number. It shares no memory
// with the text.
func (t *tape) native(v int32) any {
	k := &t.tokens[v]
	switch k.kind {
	case jsontext.Bool:
		return k.yes
	case jsontext.Number:
		return json.Number(strings.Clone(t.content(v)))
	case jsontext.String:
		return strings.Clone(t.content(v))
	case jsontext.Array:
		out := make([]any, 0, k.count)
		for i := v + 1; i < k.next; i = t.tokens[i].next {
			out = append(out, t.native(i))
		}
		return out
	case jsontext.Object:
		out := make(map[string]any, k.count)
		for m := v + 1; m < k.next; m = t.tokens[m+1].next {
			out[strings.Clone(t.content(m))] = t.native(m + 1)
		}
		return out
	default:
		return nil
	}
}
