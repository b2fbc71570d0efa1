package protobuf

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

func quote(s string) string { return strconv.Quote(s) }

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// versioned is a package that ends with a version.
var versioned = regexp.MustCompile(`(^|\.)v[0-9]+((alpha|beta)[0-9]*|test.*|p[0-9]+(alpha|beta)[0-9]*)?$`)

var wholeNumbers = []string{"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64"}

func packable(name string) bool {
	return slices.Contains(wholeNumbers, name) || slices.Contains([]string{"bool", "float", "double"}, name)
}

// tagBytes is how many bytes the tag of a field takes.
func tagBytes(number int32) int {
	n := 1
	for v := uint64(number) << 3; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// jsonName is the name that a field has in JSON.
//
// Source: protobuf, ToJsonName.
func jsonName(name string) string {
	var b strings.Builder
	up := false
	for _, c := range name {
		switch {
		case c == '_':
			up = true
		case up && c >= 'a' && c <= 'z':
			b.WriteRune(c - 'a' + 'A')
			up = false
		default:
			b.WriteRune(c)
			up = false
		}
	}
	return b.String()
}

// gapsOf are the numbers below the highest field that nothing uses or reserves,
// as text; empty for none.
func gapsOf(m *protobuf.Message) string {
	var taken []protobuf.Range
	fields(m, func(f *protobuf.Field) { taken = append(taken, protobuf.Range{Start: f.Number, End: f.Number}) })
	highest := int32(0)
	for _, r := range taken {
		highest = max(highest, r.End)
	}
	for _, g := range groups(m) {
		taken = append(taken, protobuf.Range{Start: g.Number, End: g.Number})
		highest = max(highest, g.Number)
	}
	for _, r := range m.Reserved {
		taken = append(taken, r.Ranges...)
	}
	for _, x := range m.Extensions {
		taken = append(taken, x.Ranges...)
	}
	taken = append(taken, protobuf.Range{Start: 19000, End: 19999})
	return gaps(taken, 1, highest)
}

// valueGaps are the same of an enum. Values that are far apart are meant so.
func valueGaps(e *protobuf.Enum) string {
	var taken []protobuf.Range
	low, high := int32(math.MaxInt32), int32(0)
	for _, v := range e.Values {
		taken = append(taken, protobuf.Range{Start: v.Number, End: v.Number})
		low, high = min(low, v.Number), max(high, v.Number)
	}
	if low < 0 || int(high) > 4*len(e.Values) {
		return ""
	}
	for _, r := range e.Reserved {
		taken = append(taken, r.Ranges...)
	}
	return gaps(taken, 0, high)
}

func unreserved(gaps, name string) string {
	if strings.ContainsAny(gaps, " ,") {
		return fmt.Sprintf("the numbers %s of %s are neither used nor reserved", gaps, name)
	}
	return fmt.Sprintf("the number %s of %s is neither used nor reserved", gaps, name)
}

// gaps are what lies between from and to and in no range. A gap of many numbers
// is a jump that was meant.
func gaps(taken []protobuf.Range, from, to int32) string {
	const jump = 20
	slices.SortFunc(taken, func(a, b protobuf.Range) int { return int(a.Start) - int(b.Start) })
	var parts []string
	next := int64(from)
	for _, r := range taken {
		if start := int64(r.Start); start > next && start <= int64(to) && start-next <= jump {
			if start-1 == next {
				parts = append(parts, strconv.FormatInt(next, 10))
			} else {
				parts = append(parts, fmt.Sprintf("%d to %d", next, start-1))
			}
		}
		next = max(next, int64(r.End)+1)
	}
	return strings.Join(parts, ", ")
}

var packageWord = regexp.MustCompile(`(?m)^[ \t]*(package)\b`)

var weakImport = regexp.MustCompile(`(?m)^import\s+weak\s*("[^"\n]*"|'[^'\n]*')`)

// packageLine is the place of the package statement.
func (v *visit) packageLine() schemas.Place {
	at := packageWord.FindStringSubmatchIndex(v.text)
	if at == nil {
		return v.start()
	}
	end := at[3]
	if n := strings.IndexByte(v.text[end:], ';'); n >= 0 {
		end += n + 1
	}
	return schemas.Place{Pointer: "/package", Position: schemas.PositionAt(v.text, at[2]), End: schemas.PositionAt(v.text, end)}
}

// nameOf narrows the place of a declaration to its first line: a body may be
// long.
func (v *visit) nameOf(place schemas.Place, name string) schemas.Place {
	from := place.Position.Offset
	if len(v.List) >= lint.Most || from < 0 || from >= len(v.text) || place.End.Offset > len(v.text) || place.End.Offset < from {
		return place
	}
	if n := strings.Index(v.text[from:place.End.Offset], name); n >= 0 {
		place.End = schemas.PositionAt(v.text, from+n+len(name))
	}
	return place
}

// commented tells whether a comment stands right before a declaration, or behind
// it on its last line.
func (v *visit) commented(place schemas.Place) bool {
	if place.Position.Offset > len(v.text) {
		return true
	}
	before := strings.TrimRight(v.text[:place.Position.Offset], " \t")
	if strings.HasSuffix(before, "*/") {
		return true
	}
	if above, ok := strings.CutSuffix(before, "\n"); ok {
		above = strings.TrimRight(above, " \t\r")
		line := strings.TrimSpace(above[strings.LastIndexByte(above, '\n')+1:])
		if strings.HasPrefix(line, "//") || strings.HasSuffix(line, "*/") {
			return true
		}
	}
	rest := v.text[min(place.End.Offset, len(v.text)):]
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	rest = strings.TrimLeft(rest, " \t;")
	return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}

// usesFile tells whether a type that the file names is defined in an import.
func (v *visit) usesFile(name string) bool {
	if v.used == nil {
		v.used = map[string]bool{}
		note := func(scope, name string) {
			if s, ok := v.schema.Lookup(scope, name); ok && s.File != nil {
				v.used[s.File.Path] = true
			}
		}
		var inside func(m *protobuf.Message)
		extends := func(scope string, list []*protobuf.Extend) {
			for _, x := range list {
				note(scope, x.Extendee)
				for _, f := range x.Fields {
					note(scope, f.Type)
				}
				for _, g := range x.Groups {
					inside(g.Body)
				}
			}
		}
		inside = func(m *protobuf.Message) {
			fields(m, func(f *protobuf.Field) {
				note(m.FullName, f.Type)
				note(m.FullName, f.Value)
			})
			extends(m.FullName, m.Extends)
			for _, n := range m.Messages {
				inside(n)
			}
			for _, g := range groups(m) {
				inside(g.Body)
			}
		}
		f := v.schema.File()
		for _, m := range f.Messages {
			inside(m)
		}
		extends(f.Package, f.Extends)
		for _, s := range f.Services {
			for _, m := range s.Methods {
				note(f.Package, m.Input)
				note(f.Package, m.Output)
			}
		}
	}
	return v.used[name]
}

// doesWithout tells whether the text still parses without an import: options may
// use it, and types that it passes on.
func (v *visit) doesWithout(i protobuf.Import) bool {
	if v.subject.Parse == nil || v.tried+len(v.text) > mostTried {
		return false
	}
	v.tried += len(v.text)
	e := v.cut(i.Place)
	_, err := v.subject.Parse(v.text[:e.Start] + e.Text + v.text[e.End:])
	return err == nil
}

// mostTried bounds how many bytes of one text are parsed again.
const mostTried = 1 << 20

// cut takes a statement away, and its line where nothing else stands on it.
func (v *visit) cut(place schemas.Place) jsontext.Edit {
	start, end := place.Position.Offset, place.End.Offset
	for end < len(v.text) && v.text[end-1] != ';' && v.text[end-1] != '\n' {
		end++
	}
	from := strings.LastIndexByte(v.text[:start], '\n') + 1
	rest := v.text[end:]
	n := strings.IndexByte(rest, '\n')
	if strings.TrimSpace(v.text[from:start]) == "" && n >= 0 && strings.TrimSpace(rest[:n]) == "" {
		start, end = from, end+n+1
	}
	return jsontext.Edit{Start: start, End: end}
}
