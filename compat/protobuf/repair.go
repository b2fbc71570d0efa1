package protobuf

import (
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// fieldNumber finds the number in the text of a field.
var fieldNumber = regexp.MustCompile(`=\s*(\d+)`)

// repair proposes the ways that keep data readable: an optional field for a
// required one, the old JSON name, the old number, and a new field beside an
// old one whose type changed.
func repair(old, next schemas.Schema, c compat.Change, _, _ bool) []compat.Patch {
	o, okOld := old.(*protobuf.Schema)
	n, okNew := next.(*protobuf.Schema)
	if !okOld || !okNew || c.Elsewhere[0] || c.Elsewhere[1] {
		return nil
	}
	before, after := written(o, c.Old), written(n, c.New)
	start := c.New.Position.Offset
	end := start + len(after)
	name := c.Path[strings.LastIndexByte(c.Path, '.')+1:]
	replace := func(with, format string, args ...any) []compat.Patch {
		if with == "" || with == after {
			return nil
		}
		return []compat.Patch{{Text: fmt.Sprintf(format, args...), Edits: []compat.Edit{{Start: start, End: end, Text: with}}}}
	}
	switch c.Rule {
	case requiredAdded.ID, becameRequired.ID:
		return replace(strings.Replace(after, "required ", "optional ", 1), "make field %s optional", name)
	case fieldRenumbered.ID, valueRenumbered.ID:
		at := fieldNumber.FindStringSubmatchIndex(after)
		if at == nil {
			return nil
		}
		return replace(after[:at[2]]+c.Before+after[at[3]:], "give %s its number %s back", name, c.Before)
	case fieldRenamed.ID:
		if m := modelOf(o); m != nil {
			if key, ok := keyAt(m, c); ok {
				return replace(withOption(after, fmt.Sprintf("json_name = %q", key)), "keep the JSON name %s", key)
			}
		}
	case kindChangedRule.ID, becameRepeated.ID, becameSingular.ID, encodingChanged.ID, becameMap.ID, noLongerMap.ID:
		m := modelOf(n)
		if m == nil || before == "" || !strings.HasSuffix(strings.TrimSpace(after), ";") {
			return nil
		}
		number, ok := freeNumber(m, c)
		at := fieldNumber.FindStringSubmatchIndex(after)
		if !ok || at == nil {
			return nil
		}
		head := strings.TrimRight(after[:at[0]], " \t\r\n")
		if !strings.HasSuffix(head, name) {
			return nil
		}
		beside := fmt.Sprintf("%s_new = %d%s", head, number, after[at[1]:])
		return replace(before+"\n  "+beside, "keep field %s and add %s_new beside it, number %d", name, name, number)
	}
	return nil
}

// written is the text at a place, with the semicolon behind it; empty when the place is not of that text.
func written(s *protobuf.Schema, p schemas.Place) string {
	text := s.Source().Text
	if p.Position.Offset < 0 || p.End.Offset > len(text) || p.Position.Offset >= p.End.Offset {
		return ""
	}
	end := p.End.Offset
	if rest := text[end:]; !strings.HasSuffix(text[:end], ";") && strings.HasPrefix(rest, ";") {
		end++
	}
	return text[p.Position.Offset:end]
}

// around finds the message that a change of a field is about, by the pointer
// of the field.
func around(m *model, p schemas.Pointer) *message {
	for _, one := range m.messages {
		if rest, ok := strings.CutPrefix(string(p), string(one.place.Pointer)+"/fields/"); ok && !strings.Contains(rest, "/") && !m.isElsewhere(one.text) {
			return one
		}
	}
	return nil
}

func keyAt(m *model, c compat.Change) (string, bool) {
	if one := around(m, c.Old.Pointer); one != nil && one.byField()[c.Before] != nil {
		return one.byField()[c.Before].key, true
	}
	return "", false
}

// freeNumber is the next number of the message that nothing has had.
func freeNumber(m *model, c compat.Change) (protoreflect.FieldNumber, bool) {
	one := around(m, c.New.Pointer)
	if one == nil || len(one.fields) == 0 {
		return 0, false
	}
	n := one.fields[len(one.fields)-1].number + 1
	for one.reserved.has(int64(n)) {
		n++
	}
	return n, n < 19000
}

// withOption adds an option to the text of a field.
func withOption(field, option string) string {
	end := strings.LastIndexByte(field, ';')
	if end < 0 {
		return ""
	}
	body := strings.TrimRight(field[:end], " \t\r\n")
	if strings.HasSuffix(body, "]") {
		return body[:len(body)-1] + ", " + option + "]" + field[end:]
	}
	return body + " [" + option + "]" + field[end:]
}
