package avro

import (
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// text is one of the two schema texts, to be edited where a pointer leads.
type text struct {
	text string
	root *jsontext.Value // nil: the text is no JSON that could be edited
}

func textOf(s schemas.Schema) text {
	t := text{text: s.Source().Text}
	o := jsontext.SchemaOptions(schemas.Limits{})
	o.Comments = true
	if v, err := jsontext.Parse(t.text, o); err == nil {
		t.root = v
	}
	return t
}

// spell is the text of a value as it stands; empty for none.
func (t text) spell(v *jsontext.Value) string {
	if v == nil {
		return ""
	}
	return t.text[v.Start:v.End]
}

// at finds where a pointer leads; nil when there is nothing.
func (t text) at(p schemas.Pointer) *jsontext.Value { return jsontext.Editor{Root: t.root}.At(p) }

// parent is the pointer one step up, and the last step.
func parent(p schemas.Pointer) (up schemas.Pointer, last string) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", ""
	}
	return p[:i], string(p[i+1:])
}

// replace puts other in the place of v.
func replace(v *jsontext.Value, other string) compat.Edit {
	return compat.Edit{Start: v.Start, End: v.End, Text: other}
}

// set gives an object a member, in the place of one of that name or behind the
// last.
func set(object *jsontext.Value, name, value string) compat.Edit {
	if known := object.Get(name); known != nil {
		return replace(known, value)
	}
	member := string(jsontext.AppendString(nil, name)) + ": " + value
	if len(object.Members) == 0 {
		return compat.Edit{Start: object.Start + 1, End: object.Start + 1, Text: member}
	}
	end := object.Members[len(object.Members)-1].Value.End
	for _, m := range object.Members {
		end = max(end, m.Value.End) // a repeated name keeps its first place
	}
	return compat.Edit{Start: end, End: end, Text: ", " + member}
}

// drop takes a member out of an object. ok is false when it has none.
func drop(object *jsontext.Value, name string) (e compat.Edit, ok bool) {
	for i, m := range object.Members {
		switch {
		case m.Name != name:
		case i+1 < len(object.Members):
			return compat.Edit{Start: m.Start, End: object.Members[i+1].Start}, true
		case i > 0:
			return compat.Edit{Start: object.Members[i-1].Value.End, End: m.Value.End}, true
		default:
			return compat.Edit{Start: m.Start, End: m.Value.End}, true
		}
	}
	return e, false
}

// insert puts an item into an array behind the item with index after, at the
// front for -1.
func insert(array *jsontext.Value, after int, item string) compat.Edit {
	switch {
	case len(array.Items) == 0:
		return compat.Edit{Start: array.Start + 1, End: array.Start + 1, Text: item}
	case after < 0:
		at := array.Items[0].Start
		return compat.Edit{Start: at, End: at, Text: item + ", "}
	}
	at := array.Items[min(after, len(array.Items)-1)].End
	return compat.Edit{Start: at, End: at, Text: ", " + item}
}

// remove takes an item out of an array.
func remove(array *jsontext.Value, i int) compat.Edit {
	switch {
	case i+1 < len(array.Items):
		return compat.Edit{Start: array.Items[i].Start, End: array.Items[i+1].Start}
	case i > 0:
		return compat.Edit{Start: array.Items[i-1].End, End: array.Items[i].End}
	}
	return replace(array.Items[i], "")
}

// quoted is s as a JSON string.
func quoted(s string) string { return jsontext.Quoted(s) }
