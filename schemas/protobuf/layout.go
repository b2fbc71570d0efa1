package protobuf

import (
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Layout writes a .proto text anew in the one layout that texts of this project
// have: two blanks an indent, a statement a line, at most one empty line between
// two, a line break at the end.
//
// Nothing but white space changes: tokens keep their order and spelling, comments
// stay before or behind what they stood at. Options in brackets and literals in
// braces stay on one line where they were on one, and have a line for each part
// where they were not. The layout of a layout is itself.
//
// It knows the tokens of the language and not its grammar: the text is one that
// [Parse] has accepted.
//
// Errors: schemas.SyntaxErrors, a comment, string or bracket that is not closed.
func Layout(text string) (string, error) {
	tokens, err := lex(text)
	if err != nil {
		return "", err
	}
	if err := matched(text, tokens); err != nil {
		return "", err
	}
	l := layout{tokens: tokens, frames: []frame{{body: true}}}
	for i := range tokens {
		l.put(i)
	}
	if l.b.Len() == 0 {
		return "", nil
	}
	l.b.WriteByte('\n')
	return l.b.String(), nil
}

// frame is one open bracket, or the file.
type frame struct {
	open    byte
	body    bool // holds statements
	literal bool // of an option's value
	multi   bool // its parts stand on lines of their own
	tokens  int  // of the statement that is being written
	first   string
}

type layout struct {
	b      strings.Builder
	tokens []token
	frames []frame
	// last is the token before, and solid the last one that is no comment; -1 for
	// none. own tells that last is a comment that began its line.
	last, solid int
	begun, own  bool
	// ended tells that solid ended a statement.
	ended bool
}

func (l *layout) top() *frame { return &l.frames[len(l.frames)-1] }

// put writes one token, with what must stand before it.
func (l *layout) put(i int) {
	t := l.tokens[i]
	closes := t.kind == sign && strings.Contains(")]}>", t.text) && t.match >= 0
	if closes {
		f := *l.top()
		l.frames = l.frames[:len(l.frames)-1]
		l.before(i, f, true)
		l.write(t)
		if l.ended = f.body; f.body {
			l.top().tokens, l.top().first = 0, ""
		} else {
			l.top().tokens++
		}
		l.solid = i
		l.after(i)
		return
	}
	l.before(i, *l.top(), false)
	l.write(t)
	l.after(i)
	if t.kind == comment {
		return
	}
	l.solid = i
	f := l.top()
	if f.tokens == 0 {
		f.first = t.text
	}
	f.tokens++
	l.ended = f.body && t.text == ";" && t.kind == sign
	if l.ended {
		f.tokens, f.first = 0, ""
	}
	if t.kind == sign && t.match >= 0 {
		next := frame{open: t.text[0]}
		inLiteral := f.literal || f.open == '['
		switch {
		case t.text == "{" && f.body && f.first != "option":
			next.body = true
			l.ended = true
		case t.text == "{", t.text == "[" && inLiteral, t.text == "<" && inLiteral:
			next.literal = true
		}
		next.multi = !next.body && (next.literal || t.text == "[") && l.broken(i)
		l.frames = append(l.frames, next)
	}
}

func (l *layout) after(i int) { l.last, l.begun = i, true }

// broken tells whether a line breaks inside a bracket, or must.
func (l *layout) broken(i int) bool {
	for j := i + 1; j <= l.tokens[i].match; j++ {
		if l.tokens[j].lines > 0 || l.tokens[j].isLine() {
			return true
		}
	}
	return false
}

// before writes the white space before a token that stands in f, or that closes
// it.
func (l *layout) before(i int, f frame, closes bool) {
	t := l.tokens[i]
	if !l.begun {
		l.own = true
		return
	}
	last := l.tokens[l.last]
	ended := l.ended || f.tokens == 0 && f.body && l.last == l.solid
	opens := last.kind == sign && last.match > l.last // an open bracket
	switch {
	case t.kind == comment && t.lines == 0 && !last.isLine():
		l.own = false
		l.b.WriteByte(' ')
	case t.kind == comment:
		l.own = true
		l.newline(t.lines > 1 && ended && !opens, f, closes)
	case last.isLine():
		l.newline(t.lines > 1 && ended && !closes, f, closes)
	case last.kind == comment && ended && (t.lines > 0 || !l.own):
		l.newline(t.lines > 1 && !closes, f, closes)
	case last.kind == comment && closes && f.body:
		l.newline(false, f, closes)
	case last.kind == comment && t.lines > 0 && f.multi:
		l.newline(false, f, closes)
	case last.kind == comment:
		l.b.WriteByte(' ')
	case closes && f.body && opens: // {}
	case t.text == ";" && t.kind == sign:
	case closes && f.body, ended:
		l.newline(t.lines > 1 && !opens && !closes, f, closes)
	case f.multi && (opens && l.last == l.solid && l.tokens[l.last].match > i || closes):
		if closes && opens {
			return // []
		}
		l.newline(false, f, closes)
	case f.multi && f.literal && t.lines > 0 && !glued(t):
		l.newline(false, f, false)
	case f.multi && f.open == '[' && last.text == "," && last.kind == sign:
		l.newline(false, f, false)
	case t.kind == text && last.kind == text && t.lines > 0:
		l.newline(false, f, false)
	case l.spaced(last, t, f, closes):
		l.b.WriteByte(' ')
	}
}

// newline begins a line at the depth of f, one deeper inside a statement.
func (l *layout) newline(empty bool, f frame, closes bool) {
	l.b.WriteByte('\n')
	if empty {
		l.b.WriteByte('\n')
	}
	depth := 0
	for _, one := range l.frames[1:] {
		if one.body || one.multi {
			depth++
		}
	}
	inside := l.top().tokens > 0 && !closes && !l.ended && !f.multi
	if inside {
		depth++
	}
	for range depth {
		l.b.WriteString("  ")
	}
}

// glued are tokens that keep the line they share: a sign that ends a part.
func glued(t token) bool { return t.kind == sign && strings.Contains(",;:", t.text) }

// spaced tells whether a blank stands between two tokens of one line.
func (l *layout) spaced(a, b token, f frame, closes bool) bool {
	if a.kind == sign {
		switch a.text {
		case "(", "-", "+":
			return false
		case "[":
			return false
		case "<":
			return f.literal && !closes
		case ".", "/":
			return b.space
		case "{":
			return !closes
		}
	}
	if b.kind != sign {
		return true
	}
	switch b.text {
	case ";", ",", ")", "]", ":":
		return false
	case ".", "/":
		return b.space || a.kind == sign && strings.Contains(",=:", a.text)
	case ">":
		return f.literal
	case "<":
		return f.literal
	case "(":
		return a.kind != word || slices.Contains([]string{"returns", "option"}, a.text)
	}
	return true
}

// write writes a token. The lines of a comment in stars stand under its first
// star.
func (l *layout) write(t token) {
	if t.kind != comment || !strings.Contains(t.text, "\n") {
		l.b.WriteString(t.text)
		return
	}
	depth := 0
	written := l.b.String()
	line := written[strings.LastIndexByte(written, '\n')+1:]
	depth = len(line) - len(strings.TrimLeft(line, " "))
	for i, one := range strings.Split(t.text, "\n") {
		one = strings.TrimRight(one, " \t\r")
		if i > 0 {
			l.b.WriteByte('\n')
			if trimmed := strings.TrimLeft(one, " \t"); strings.HasPrefix(trimmed, "*") {
				one = strings.Repeat(" ", depth+1) + trimmed
			}
		}
		l.b.WriteString(one)
	}
}

func matched(text string, tokens []token) error {
	var open []int
	for i := range tokens {
		t := &tokens[i]
		t.match = -1
		if t.kind != sign {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			open = append(open, i)
		case "<":
			// A map, or a message in a literal; never less-than.
			open = append(open, i)
		case ")", "]", "}", ">":
			want := map[string]string{")": "(", "]": "[", "}": "{", ">": "<"}[t.text]
			if len(open) == 0 || tokens[open[len(open)-1]].text != want {
				return schemas.SyntaxErrors{{Position: schemas.PositionAt(text, t.at), Summary: t.text + " closes nothing"}}
			}
			from := open[len(open)-1]
			open = open[:len(open)-1]
			t.match, tokens[from].match = from, i
		}
	}
	if len(open) > 0 {
		t := tokens[open[len(open)-1]]
		return schemas.SyntaxErrors{{Position: schemas.PositionAt(text, t.at), Summary: t.text + " is not closed"}}
	}
	return nil
}
