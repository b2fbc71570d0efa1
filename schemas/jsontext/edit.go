package jsontext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Edit replaces the bytes from Start up to End of a text; where they are the
// same it inserts.
type Edit struct {
	Start, End int
	Text       string
}

// Editor makes the edits of one text that keep everything else, layout included.
// The values that its methods take are those of Root.
type Editor struct {
	Text string
	Root *Value
}

// Spell is the text of a value as it stands; empty for none.
func (e Editor) Spell(v *Value) string {
	if v == nil {
		return ""
	}
	return e.Text[v.Start:v.End]
}

// At finds where a pointer leads; nil when there is nothing.
func (e Editor) At(p schemas.Pointer) *Value {
	v := e.Root
	for _, token := range Tokens(p) {
		switch {
		case v == nil:
			return nil
		case v.Kind != Array:
			v = v.Get(token)
		default:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = v.Items[i]
		}
	}
	return v
}

// Tokens are the steps of a pointer, unescaped.
func Tokens(p schemas.Pointer) []string {
	if p == "" {
		return nil
	}
	list := strings.Split(string(p[1:]), "/")
	for i := range list {
		list[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(list[i])
	}
	return list
}

// Quoted is s as a JSON string.
func Quoted(s string) string { return string(AppendString(nil, s)) }

// Replace puts a text in the place of v.
func (e Editor) Replace(v *Value, text string) Edit { return Edit{v.Start, v.End, text} }

// Rename gives the i-th member of an object another name.
func (e Editor) Rename(object *Value, i int, name string) Edit {
	m := &object.Members[i]
	end := m.Start + 1
	for end < m.Value.Start && e.Text[end] != '"' {
		if e.Text[end] == '\\' {
			end++
		}
		end++
	}
	return Edit{m.Start, end + 1, Quoted(name)}
}

// gap is what stands between a comma and the next of two values in a list: a
// line break and its indent, or a blank.
func (e Editor) gap(start int) string {
	from := start
	for from > 0 && strings.IndexByte(" \t\r\n", e.Text[from-1]) >= 0 {
		from--
	}
	if strings.Contains(e.Text[from:start], "\n") {
		return e.Text[from:start]
	}
	return " "
}

// Set gives an object members, each in the place of one of that name or behind
// the last that stays, and takes others out: those whose text is empty. It keeps
// the order given.
func (e Editor) Set(object *Value, members ...[2]string) []Edit {
	change := make(map[string]string, len(members))
	for _, m := range members {
		change[m[0]] = m[1]
	}
	var out []Edit
	last := -1 // of the members that stay
	kept := object.Members
	for i := 0; i < len(kept); i++ {
		text, touched := change[kept[i].Name]
		switch {
		case !touched:
			last = i
		case text != "":
			last = i
			out = append(out, e.Replace(kept[i].Value, text))
		default:
			from := i
			for i+1 < len(kept) && isDropped(change, kept[i+1].Name) {
				i++
			}
			switch {
			case i+1 < len(kept):
				out = append(out, Edit{kept[from].Start, kept[i+1].Start, ""})
			case from > 0:
				out = append(out, Edit{kept[from-1].Value.End, kept[i].Value.End, ""})
			default:
				out = append(out, Edit{kept[from].Start, kept[i].Value.End, ""})
			}
		}
	}
	at, before := object.Start+1, ""
	if last >= 0 {
		at, before = kept[last].Value.End, ","+e.gap(kept[last].Start)
	}
	for _, m := range members {
		if m[1] == "" || object.Get(m[0]) != nil {
			continue
		}
		out = append(out, Edit{at, at, before + Quoted(m[0]) + ": " + m[1]})
		if before == "" {
			before = ", "
		}
	}
	return out
}

func isDropped(change map[string]string, name string) bool {
	text, touched := change[name]
	return touched && text == ""
}

// Insert puts a member into an object behind the member called after, at the end
// where there is none of that name.
func (e Editor) Insert(object *Value, after, name, text string) Edit {
	i := slices.IndexFunc(object.Members, func(m Member) bool { return m.Name == after })
	if i < 0 {
		i = len(object.Members) - 1
	}
	if i < 0 {
		return Edit{object.Start + 1, object.Start + 1, Quoted(name) + ": " + text}
	}
	m := object.Members[i]
	return Edit{m.Value.End, m.Value.End, "," + e.gap(m.Start) + Quoted(name) + ": " + text}
}

// Add puts an item into an array behind the item with index after, at the front
// for -1.
func (e Editor) Add(array *Value, after int, item string) Edit {
	switch {
	case len(array.Items) == 0:
		return Edit{array.Start + 1, array.Start + 1, item}
	case after < 0:
		at := array.Items[0].Start
		return Edit{at, at, item + "," + e.gap(at)}
	}
	v := array.Items[min(after, len(array.Items)-1)]
	return Edit{v.End, v.End, "," + e.gap(v.Start) + item}
}

// Remove takes an item out of an array.
func (e Editor) Remove(array *Value, i int) Edit {
	switch {
	case i+1 < len(array.Items):
		return Edit{array.Items[i].Start, array.Items[i+1].Start, ""}
	case i > 0:
		return Edit{array.Items[i-1].End, array.Items[i].End, ""}
	}
	return e.Replace(array.Items[i], "")
}
