package lint

import (
	"slices"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

const (
	// IgnoreMark begins a comment of Protobuf that ignores a rule.
	IgnoreMark = "cartorio:ignore"
	// IgnoreMember is the member of an object of Avro or JSON Schema that ignores
	// rules; its value has one member a rule.
	IgnoreMember = "x-cartorio-ignore"
)

// MostIgnores bounds what one schema may say of its remarks.
const MostIgnores = 200

// Ignore is what a schema itself says of a rule that it does not keep, and means
// not to: in Protobuf a comment above an element or behind its first line,
//
//	// cartorio:ignore RULE until DAY: REASON
//
// and in Avro and JSON Schema a member of the object,
//
//	"x-cartorio-ignore": {"RULE": "until DAY: REASON"}
//
// It holds for the element, or the object, and all in it; above syntax, edition,
// package, an import or an option of the file it holds for the whole file.
type Ignore struct {
	Rule     string // as it is written: an id, one of its other names, or the beginning of ids before a *
	Until    string // a day or a moment, as it is written
	Reason   string
	Position schemas.Position
	Wrong    string // why it ignores nothing; empty where it is well formed

	from, to int
}

// Covers tells whether a place of the same text is one that i is about.
func (i Ignore) Covers(p schemas.Place) bool {
	return i.from <= p.Position.Offset && p.Position.Offset < i.to
}

// Ignores lists what a schema says of its own remarks, in reading order. A text
// that cannot be read has none.
func Ignores(source schemas.Source) []Ignore {
	name := IgnoreMember
	if source.Type == schemas.Protobuf {
		name = IgnoreMark
	}
	if !strings.Contains(source.Text, name) {
		return nil
	}
	var list []Ignore
	if source.Type == schemas.Protobuf {
		list = inComments(source.Text)
	} else if v, err := jsontext.Parse(source.Text, jsontext.Options{Comments: true}); err == nil {
		list = inMembers(v, source.Type, nil)
	}
	if len(list) > MostIgnores {
		list = list[:MostIgnores+1]
		last := &list[MostIgnores]
		last.Rule, last.Wrong = "", "there are more than "+itoa(MostIgnores)+" of them in one schema: leave the file out with lint.ignore"
	}
	for i := range list {
		list[i].Position = schemas.PositionAt(source.Text, list[i].Position.Offset)
	}
	return list
}

// said reads "until DAY: REASON".
func (i *Ignore) said(text string) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "until ")
	day, reason, colon := cutDay(rest)
	i.Until, i.Reason = day, strings.TrimSpace(reason)
	switch {
	case i.Rule == "":
		i.Wrong = "it names no rule"
	case !ok || !colon || day == "":
		i.Wrong = "write: until DAY: REASON"
	case i.Reason == "":
		i.Wrong = "it gives no reason"
	}
}

// cutDay cuts at the colon behind a day or a moment, which has colons itself.
func cutDay(text string) (day, reason string, ok bool) {
	for at, r := range text {
		if r != ':' {
			continue
		}
		day := strings.TrimSpace(text[:at])
		if _, err := time.Parse(time.RFC3339, day); err == nil || !strings.ContainsRune(day, 'T') {
			return day, text[at+1:], true
		}
	}
	return strings.TrimSpace(text), "", false
}

// Members whose names are not keywords, and those that hold data.
var (
	named = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	data  = []string{"default", "const", "enum", "example", "examples", IgnoreMember}
)

func inMembers(v *jsontext.Value, format schemas.Type, list []Ignore) []Ignore {
	if len(list) > MostIgnores {
		return list
	}
	for _, item := range v.Items {
		list = inMembers(item, format, list)
	}
	for _, m := range v.Members {
		switch {
		case m.Name == IgnoreMember:
			list = append(list, inMember(v, m)...)
		case m.Name == "default", format == schemas.JSON && slices.Contains(data, m.Name):
		case format == schemas.JSON && slices.Contains(named, m.Name):
			for _, schema := range m.Value.Members {
				list = inMembers(schema.Value, format, list)
			}
		default:
			list = inMembers(m.Value, format, list)
		}
	}
	return list
}

func inMember(object *jsontext.Value, m jsontext.Member) []Ignore {
	one := Ignore{from: object.Start, to: object.End}
	if m.Value.Kind != jsontext.Object || len(m.Value.Members) == 0 {
		one.Position.Offset, one.Wrong = m.Start, `write: {"RULE": "until DAY: REASON"}`
		return []Ignore{one}
	}
	var list []Ignore
	for _, rule := range m.Value.Members {
		one := one
		one.Rule, one.Position.Offset = rule.Name, rule.Start
		if rule.Value.Kind != jsontext.String {
			one.Wrong = "write: until DAY: REASON"
		} else {
			one.said(rule.Value.Text)
		}
		list = append(list, one)
	}
	return list
}
