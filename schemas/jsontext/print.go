package jsontext

import (
	"fmt"
	"sort"

	"github.com/cartorio-registry/cartorio/schemas"
)

// AppendString appends s in double quotes with only the escapes that JSON
// demands; control characters without a short form are \u and upper-case hex.
func AppendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789ABCDEF"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// Append appends v as compact JSON: members in order, numbers digit for digit.
// With sorted the members of every object are in the order of their names.
func (v *Value) Append(dst []byte, sorted bool) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		if v.Bool {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return append(dst, v.Text...)
	case String:
		return AppendString(dst, v.Text)
	case Array:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.Append(dst, sorted)
		}
		return append(dst, ']')
	case Object:
		members := v.Members
		if sorted {
			members = append([]Member(nil), members...)
			sort.SliceStable(members, func(i, j int) bool { return members[i].Name < members[j].Name })
		}
		dst = append(dst, '{')
		for i, m := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.Append(dst, sorted)
		}
		return append(dst, '}')
	}
	return dst
}

// String is v as compact JSON in its own order.
func (v *Value) String() string { return string(v.Append(nil, false)) }

// PositionsOf maps the RFC 6901 pointer of every value in v to its place.
func PositionsOf(text string, v *Value) map[schemas.Pointer]schemas.Place {
	lines := []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	at := func(offset int) schemas.Position {
		line := sort.SearchInts(lines, offset+1)
		return schemas.Position{Line: line, Column: offset - lines[line-1] + 1, Offset: offset}
	}
	out := map[schemas.Pointer]schemas.Place{}
	var walk func(v *Value, p schemas.Pointer)
	walk = func(v *Value, p schemas.Pointer) {
		out[p] = schemas.Place{Pointer: p, Position: at(v.Start), End: at(v.End)}
		for i, item := range v.Items {
			walk(item, p.Append(fmt.Sprint(i)))
		}
		for _, m := range v.Members {
			walk(m.Value, p.Append(m.Name))
		}
	}
	walk(v, "")
	return out
}
