package jsontext

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas"
)

// widest is how long a line may be for an array to stand on it.
const widest = 100

// Layout writes a JSON text anew in the one layout that texts of this project
// have: two blanks an indent, a member a line, arrays of plain values on one
// line where they fit into 100 columns, a line break at the end.
//
// Nothing but white space changes: members and items keep their order, values
// are spelled as they were, comments (where options allow them) stay before or
// behind what they stood at. The layout of a layout is itself.
//
// Errors: those of [Parse]; a member given twice in one object, since readers
// disagree on which one counts and somebody must choose.
func Layout(text string, o Options) (string, error) {
	type twice struct {
		name   string
		offset int
	}
	var again *twice
	o.Duplicate = func(name string, offset int) {
		if again == nil {
			again = &twice{name, offset}
		}
	}
	root, err := Parse(text, o)
	if err != nil {
		return "", err
	}
	if again != nil {
		return "", schemas.SyntaxErrors{{
			Position: schemas.PositionAt(text, again.offset), Summary: fmt.Sprintf("the member %q stands here a second time", again.name),
			Detail: "readers disagree on which one counts; keep one",
		}}
	}
	l := layout{text: text, comments: o.Comments}
	before, _ := l.between(0, root.Start)
	l.own(before, 0)
	l.value(root, 0)
	after := l.split(root.End, len(text))
	l.behind(after.same)
	if len(after.own) > 0 {
		l.b.WriteByte('\n')
		for i, c := range after.own {
			if i > 0 {
				l.b.WriteByte('\n')
			}
			l.comment(c, 0)
		}
	}
	out := strings.TrimRight(l.b.String(), "\n") + "\n"
	return out, nil
}

type layout struct {
	text     string
	comments bool
	b        strings.Builder
}

// trail is the comments behind a value: those of its line, and those below.
type trail struct{ same, own []string }

// between lists the comments from one place to another; commas and colons are
// passed over. lines tells for each whether a line break stands before it.
func (l *layout) between(from, to int) (list []string, lines []bool) {
	if !l.comments {
		return nil, nil
	}
	broken := false
	for at := from; at < to; {
		switch {
		case strings.HasPrefix(l.text[at:to], "//"):
			end := strings.IndexByte(l.text[at:to], '\n')
			if end < 0 {
				end = to - at
			}
			list, lines = append(list, strings.TrimRight(l.text[at:at+end], " \t\r")), append(lines, broken)
			at += end
			broken = false
		case strings.HasPrefix(l.text[at:to], "/*"):
			end := strings.Index(l.text[at+2:to], "*/") + 4
			list, lines = append(list, l.text[at:at+end]), append(lines, broken)
			at += end
			broken = false
		default:
			broken = broken || l.text[at] == '\n'
			at++
		}
	}
	return list, lines
}

// split parts the comments between two values: those on the line of the first,
// and the others.
func (l *layout) split(from, to int) (after trail) {
	list, lines := l.between(from, to)
	for i, c := range list {
		if lines[i] || len(after.own) > 0 {
			after.own = append(after.own, c)
		} else {
			after.same = append(after.same, c)
		}
	}
	return after
}

// comment writes one comment. The lines of a long one are set under its first.
func (l *layout) comment(c string, indent int) {
	for i, line := range strings.Split(c, "\n") {
		line = strings.TrimSpace(line)
		if i > 0 {
			l.b.WriteByte('\n')
			l.indent(indent)
			if strings.HasPrefix(line, "*") {
				l.b.WriteByte(' ')
			} else if line != "" {
				l.b.WriteString("   ")
			}
		}
		l.b.WriteString(line)
	}
}

// own writes comments each on a line of its own, and begins the next line.
func (l *layout) own(list []string, indent int) {
	for _, c := range list {
		l.comment(c, indent)
		l.line(indent)
	}
}

// behind writes comments at the end of a line.
func (l *layout) behind(list []string) {
	for _, c := range list {
		l.b.WriteByte(' ')
		l.comment(c, 0)
	}
}

func (l *layout) indent(n int) {
	for range n {
		l.b.WriteString("  ")
	}
}

func (l *layout) line(indent int) {
	l.b.WriteByte('\n')
	l.indent(indent)
}

// part is one item or member.
type part struct {
	name       string // spelled, with quotes; empty for an item
	start, end int
	value      *Value
	inner      []string // comments between the name and the value
}

func (l *layout) parts(v *Value) (list []part) {
	for _, item := range v.Items {
		list = append(list, part{start: item.Start, end: item.End, value: item})
	}
	for i, m := range v.Members {
		name := (Editor{Text: l.text}).Rename(v, i, "")
		inner, _ := l.between(name.End, m.Value.Start)
		list = append(list, part{name: l.text[name.Start:name.End], start: m.Start, end: m.Value.End, value: m.Value, inner: inner})
	}
	return list
}

func (l *layout) value(v *Value, indent int) {
	if v.Kind != Array && v.Kind != Object {
		l.b.WriteString(l.text[v.Start:v.End])
		return
	}
	open, shut := byte('['), byte(']')
	if v.Kind == Object {
		open, shut = '{', '}'
	}
	if v.Kind == Array && l.inline(v, indent) {
		return
	}
	parts := l.parts(v)
	if len(parts) == 0 {
		inside, _ := l.between(v.Start+1, v.End-1)
		l.b.WriteByte(open)
		if len(inside) > 0 {
			l.line(indent + 1)
			l.own(inside[:len(inside)-1], indent+1)
			l.comment(inside[len(inside)-1], indent+1)
			l.line(indent)
		}
		l.b.WriteByte(shut)
		return
	}
	l.b.WriteByte(open)
	from := v.Start + 1
	rest := l.split(from, parts[0].start)
	l.behind(rest.same)
	lead := rest.own
	for i, p := range parts {
		l.line(indent + 1)
		l.own(lead, indent+1)
		if p.name != "" {
			l.b.WriteString(p.name + ": ")
			for _, c := range p.inner {
				l.comment(c, indent+1)
				if strings.HasPrefix(c, "//") {
					l.line(indent + 1)
				} else {
					l.b.WriteByte(' ')
				}
			}
		}
		l.value(p.value, indent+1)
		to := v.End - 1
		if i+1 < len(parts) {
			l.b.WriteByte(',')
			to = parts[i+1].start
		}
		after := l.split(p.end, to)
		l.behind(after.same)
		lead = after.own
	}
	if len(lead) > 0 {
		l.line(indent + 1)
		l.own(lead[:len(lead)-1], indent+1)
		l.comment(lead[len(lead)-1], indent+1)
	}
	l.line(indent)
	l.b.WriteByte(shut)
}

// inline writes an array of plain values on one line, where it fits and holds no
// comments.
func (l *layout) inline(v *Value, indent int) bool {
	if len(v.Items) == 0 || !l.isPlain(v) {
		return false
	}
	width := 2*indent + 2
	for _, item := range v.Items {
		if item.Kind == Array && len(item.Items) > 0 || item.Kind == Object && len(item.Members) > 0 {
			return false
		}
		width += utf8.RuneCountInString(l.text[item.Start:item.End]) + 2
	}
	if width > widest {
		return false
	}
	l.b.WriteByte('[')
	for i, item := range v.Items {
		if i > 0 {
			l.b.WriteString(", ")
		}
		l.value(item, indent)
	}
	l.b.WriteByte(']')
	return true
}

// isPlain tells whether no comment stands in an array.
func (l *layout) isPlain(v *Value) bool {
	from := v.Start + 1
	for _, item := range v.Items {
		if list, _ := l.between(from, item.Start); len(list) > 0 {
			return false
		}
		if item.Kind == Array || item.Kind == Object {
			if list, _ := l.between(item.Start, item.End); len(list) > 0 {
				return false
			}
		}
		from = item.End
	}
	list, _ := l.between(from, v.End-1)
	return len(list) == 0
}
