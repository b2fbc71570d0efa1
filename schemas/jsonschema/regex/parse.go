package regex

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nested bounds the groups inside groups, and so the parser's recursion.
const nested = 500

type parser struct {
	text   string
	at     int
	strict bool // the grammar of Unicode mode

	groups  int // capturing groups opened so far
	total   int // capturing groups of the whole pattern
	names   map[string]int
	named   bool // the pattern has a named group: then \k is a reference
	depth   int
	fold    bool
	multi   bool
	dotAll  bool
	pending []pending
}

// pending is a back reference by name, which may stand before its group.
type pending struct {
	node *node
	name string
	at   int
}

func parseTree(text string, strict bool) (*Pattern, error) {
	p := &parser{text: text, strict: strict, names: map[string]int{}}
	p.count()
	root, err := p.choice()
	if err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.fail(p.at, "a closing parenthesis without its opening one")
	}
	for _, one := range p.pending {
		index, ok := p.names[one.name]
		if !ok {
			return nil, p.fail(one.at, fmt.Sprintf("no group is named %q", one.name))
		}
		one.node.index = index
	}
	return &Pattern{text: text, root: root, captures: p.groups, size: root.total()}, nil
}

// total is a rough size of the program.
func (n *node) total() int {
	size, ok := n.weigh(fastest)
	if !ok {
		return fastest
	}
	return size
}

// count finds how many capturing groups there are, since \2 means a group only
// when there are two.
func (p *parser) count() {
	class := false
	for i := 0; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			rest := p.text[i+1:]
			if !strings.HasPrefix(rest, "?") {
				p.total++
			} else if strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!") {
				p.total++
				p.named = true
			}
		}
	}
}

func (p *parser) fail(at int, what string) error { return &Error{Offset: at, What: what} }

func (p *parser) peek() rune {
	if p.at >= len(p.text) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return r
}

func (p *parser) next() rune {
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += n
	return r
}

func (p *parser) take(s string) bool {
	if strings.HasPrefix(p.text[p.at:], s) {
		p.at += len(s)
		return true
	}
	return false
}

func (p *parser) choice() (*node, error) {
	if p.depth++; p.depth > nested {
		return nil, p.fail(p.at, fmt.Sprintf("more than %d groups inside each other", nested))
	}
	defer func() { p.depth-- }()
	var subs []*node
	for {
		sub, err := p.sequence()
		if err != nil {
			return nil, err
		}
		subs = append(subs, sub)
		if !p.take("|") {
			break
		}
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	return &node{op: opChoice, subs: subs}, nil
}

func (p *parser) sequence() (*node, error) {
	var subs []*node
	for p.at < len(p.text) && p.text[p.at] != '|' && p.text[p.at] != ')' {
		from, at := p.groups, p.at
		atom, quantifiable, err := p.atom()
		if err != nil {
			return nil, err
		}
		if atom == nil { // (?i) alone
			continue
		}
		if atom, err = p.quantifier(atom, quantifiable, at, from+1); err != nil {
			return nil, err
		}
		subs = append(subs, atom)
	}
	switch len(subs) {
	case 0:
		return &node{op: opEmpty}, nil
	case 1:
		return subs[0], nil
	}
	return &node{op: opSequence, subs: subs}, nil
}

// atom reads one term; quantifiable tells whether a quantifier may follow.
func (p *parser) atom() (n *node, quantifiable bool, err error) {
	at := p.at
	switch r := p.next(); r {
	case '^':
		return &node{op: opStart, multi: p.multi}, false, nil
	case '$':
		return &node{op: opEnd, multi: p.multi}, false, nil
	case '.':
		if p.dotAll {
			return &node{op: opSet, set: &set{neg: true}}, true, nil
		}
		return &node{op: opSet, set: &set{ranges: lines, neg: true}}, true, nil
	case '(':
		return p.group(at)
	case '[':
		s, err := p.class(at)
		return &node{op: opSet, set: s}, true, err
	case '\\':
		return p.escape(at)
	case '*', '+', '?':
		return nil, false, p.fail(at, fmt.Sprintf("%q has nothing before it to repeat", r))
	case '{':
		p.at = at
		if _, _, ok := p.braces(); ok || p.strict {
			return nil, false, p.fail(at, "\"{\" has nothing before it to repeat; a literal one is written \\{")
		}
		p.at = at + 1
		return p.literal(r), true, nil
	case '}', ']':
		if p.strict {
			return nil, false, p.fail(at, fmt.Sprintf("a lone %q; a literal one is written \\%c", r, r))
		}
		return p.literal(r), true, nil
	default:
		return p.literal(r), true, nil
	}
}

func (p *parser) literal(r rune) *node {
	return &node{op: opSet, set: &set{ranges: []rune{r, r}, fold: p.fold}}
}

// braces reads {n}, {n,} or {n,m}; ok is false, and nothing read, when the text
// is something else.
func (p *parser) braces() (low, high int, ok bool) {
	start := p.at
	number := func() (int, bool) {
		from, n := p.at, 0
		for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
			n = min(n*10+int(p.text[p.at]-'0'), 1<<30)
			p.at++
		}
		return n, p.at > from
	}
	if p.take("{") {
		if low, ok = number(); ok {
			high = low
			if p.take(",") {
				var has bool
				if high, has = number(); !has {
					high = -1
				}
			}
			if p.take("}") {
				return low, high, true
			}
		}
	}
	p.at = start
	return 0, 0, false
}

func (p *parser) quantifier(atom *node, quantifiable bool, at, from int) (*node, error) {
	mark := p.at
	low, high := 0, 0
	switch {
	case p.take("*"):
		low, high = 0, -1
	case p.take("+"):
		low, high = 1, -1
	case p.take("?"):
		low, high = 0, 1
	case p.peek() == '{':
		var ok bool
		if low, high, ok = p.braces(); !ok {
			if p.strict {
				return nil, p.fail(mark, "an unfinished {n,m}; a literal brace is written \\{")
			}
			return atom, nil
		}
	default:
		return atom, nil
	}
	if !quantifiable && (p.strict || atom.op != opLook || atom.behind) {
		return nil, p.fail(mark, "an assertion cannot be repeated")
	}
	if high >= 0 && high < low {
		return nil, p.fail(mark, "the numbers of {n,m} are in the wrong order")
	}
	lazy := p.take("?")
	if p.at < len(p.text) && p.text[p.at] == '+' {
		return nil, p.fail(p.at, "possessive repeats are not part of ECMA-262")
	}
	if atom.op == opStart || atom.op == opEnd || atom.op == opWord {
		return nil, p.fail(at, "an assertion cannot be repeated")
	}
	return &node{op: opRepeat, subs: []*node{atom}, min: low, max: high, lazy: lazy, from: from, to: p.groups + 1}, nil
}

func (p *parser) group(at int) (*node, bool, error) {
	fold, multi, dotAll := p.fold, p.multi, p.dotAll
	out := &node{op: opGroup}
	quantifiable := true
	switch {
	case p.take("?:"):
		out.op = opSequence
	case p.take("?="):
		out.op = opLook
	case p.take("?!"):
		out.op, out.neg = opLook, true
	case p.take("?<="):
		out.op, out.behind = opLook, true
	case p.take("?<!"):
		out.op, out.behind, out.neg = opLook, true, true
	case p.take("?<"):
		end := strings.IndexByte(p.text[p.at:], '>')
		if end < 0 || !isName(p.text[p.at:p.at+end]) {
			return nil, false, p.fail(at, "a group's name is a word between < and >")
		}
		name := p.text[p.at : p.at+end]
		p.at += end + 1
		if _, twice := p.names[name]; twice {
			return nil, false, p.fail(at, fmt.Sprintf("two groups are named %q", name))
		}
		p.names[name] = p.groups + 1
	case p.take("?"):
		alone, err := p.flags(at)
		if err != nil {
			return nil, false, err
		}
		if alone {
			return nil, false, nil
		}
		out.op = opSequence
	}
	if out.op == opGroup {
		p.groups++
		out.index = p.groups
	}
	if out.op == opLook {
		quantifiable = false
	}
	sub, err := p.choice()
	if err != nil {
		return nil, false, err
	}
	if !p.take(")") {
		return nil, false, p.fail(at, "a group is not closed")
	}
	p.fold, p.multi, p.dotAll = fold, multi, dotAll
	if out.op == opSequence {
		return sub, quantifiable && sub.op != opStart && sub.op != opEnd && sub.op != opWord && sub.op != opLook || wrap(sub), nil
	}
	out.subs = []*node{sub}
	return out, quantifiable, nil
}

// wrap turns an assertion in (?:…) into a node that may be repeated.
func wrap(n *node) bool {
	inner := *n
	*n = node{op: opChoice, subs: []*node{&inner}}
	return true
}

// flags reads what follows "(?": letters that switch i, m and s on, and off
// behind a hyphen, up to a colon. Alone, up to the parenthesis, they hold for
// the rest of the group.
func (p *parser) flags(at int) (alone bool, err error) {
	on, seen := true, 0
	for p.at < len(p.text) {
		switch c := p.next(); c {
		case 'i', 'm', 's':
			seen++
			switch c {
			case 'i':
				p.fold = on
			case 'm':
				p.multi = on
			default:
				p.dotAll = on
			}
			continue
		case '-':
			if on {
				on = false
				continue
			}
		case ':':
			return false, nil
		case ')':
			if seen > 0 && !p.strict {
				return true, nil
			}
		}
		break
	}
	return false, p.fail(at, "a group begins with (?: (?= (?! (?<= (?<! (?<name> or flags among i, m and s")
}

func isName(s string) bool {
	for i, r := range s {
		if r != '$' && r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}
