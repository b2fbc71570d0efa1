package regex

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

type op uint8

const (
	opEmpty op = iota
	opSet
	opSequence
	opChoice
	opRepeat
	opGroup // capturing
	opStart
	opEnd
	opWord // \b, with neg \B
	opLook // lookaround, with neg and behind
	opBack // back reference
)

// node is one part of a pattern.
type node struct {
	op       op
	set      *set
	subs     []*node
	min, max int // opRepeat; max -1 is "any number"
	lazy     bool
	neg      bool
	behind   bool
	multi    bool // opStart, opEnd: at line ends too
	fold     bool // opBack
	index    int  // opGroup, opBack
	from, to int  // opRepeat: the captures inside, [from, to)
}

// set is a set of code points: ranges and tables, united, then negated.
type set struct {
	ranges []rune // pairs, sorted and disjoint
	tables []table
	neg    bool
	fold   bool
}

type table struct {
	name  string // as RE2 knows it; empty when it does not
	table *unicode.RangeTable
	neg   bool
}

func (s *set) has(r rune) bool {
	if !s.fold {
		return s.holds(r) != s.neg
	}
	in := s.holds(r)
	for f := unicode.SimpleFold(r); f != r && !in; f = unicode.SimpleFold(f) {
		in = s.holds(f)
	}
	return in != s.neg
}

func (s *set) holds(r rune) bool {
	at := sort.Search(len(s.ranges)/2, func(i int) bool { return s.ranges[2*i+1] >= r })
	if 2*at < len(s.ranges) && s.ranges[2*at] <= r {
		return true
	}
	for _, t := range s.tables {
		if unicode.Is(t.table, r) != t.neg {
			return true
		}
	}
	return false
}

var (
	digits = []rune{'0', '9'}
	words  = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	spaces = []rune{'\t', '\r', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000, 0xFEFF, 0xFEFF}
	lines  = []rune{'\n', '\n', '\r', '\r', 0x2028, 0x2029}
)

// without is the complement of sorted, disjoint ranges.
func without(ranges []rune) []rune {
	var out []rune
	next := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > next {
			out = append(out, next, ranges[i]-1)
		}
		next = ranges[i+1] + 1
	}
	return append(out, next, unicode.MaxRune)
}

// tidy sorts and joins the ranges.
func (s *set) tidy() {
	pairs := make([][2]rune, 0, len(s.ranges)/2)
	for i := 0; i < len(s.ranges); i += 2 {
		pairs = append(pairs, [2]rune{s.ranges[i], s.ranges[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return cmp.Compare(a[0], b[0]) })
	var out []rune
	for _, p := range pairs {
		if n := len(out); n > 0 && p[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p[1])
			continue
		}
		out = append(out, p[0], p[1])
	}
	s.ranges = out
}

// re2 writes the pattern in RE2's syntax; ok is false when RE2 has no equal, or
// its program would be larger than most.
func (n *node) re2(most int) (text string, ok bool) {
	size, ok := n.weigh(most)
	if !ok || size > most {
		return "", false
	}
	var b strings.Builder
	n.write(&b)
	return b.String(), true
}

// weigh estimates RE2's program size, and refuses what RE2 cannot say.
func (n *node) weigh(most int) (int, bool) {
	size := 1
	switch n.op {
	case opLook, opBack:
		return 0, false
	case opSet:
		for _, t := range n.set.tables {
			if t.name == "" {
				return 0, false
			}
			size += (len(t.table.R16) + len(t.table.R32)) / 8
		}
		size += len(n.set.ranges) / 16
	default: // its parts are weighed below
	}
	for _, sub := range n.subs {
		s, ok := sub.weigh(most)
		if !ok {
			return 0, false
		}
		if size += s; size > most {
			return 0, false
		}
	}
	if n.op == opRepeat {
		times := max(n.max, n.min+1)
		if times > 1000 {
			return 0, false
		}
		size *= times
	}
	return size, size <= most
}

func (n *node) write(b *strings.Builder) {
	switch n.op {
	case opEmpty:
		b.WriteString("(?:)")
	case opSet:
		n.set.write(b)
	case opSequence:
		for _, sub := range n.subs {
			sub.write(b)
		}
	case opChoice:
		b.WriteString("(?:")
		for i, sub := range n.subs {
			if i > 0 {
				b.WriteByte('|')
			}
			sub.write(b)
		}
		b.WriteByte(')')
	case opGroup:
		b.WriteString("(?:")
		n.subs[0].write(b)
		b.WriteByte(')')
	case opRepeat:
		b.WriteString("(?:")
		n.subs[0].write(b)
		b.WriteByte(')')
		switch {
		case n.min == 0 && n.max == 1:
			b.WriteByte('?')
		case n.min == 0 && n.max < 0:
			b.WriteByte('*')
		case n.min == 1 && n.max < 0:
			b.WriteByte('+')
		default:
			b.WriteString("{" + strconv.Itoa(n.min))
			if n.max != n.min {
				b.WriteByte(',')
				if n.max >= 0 {
					b.WriteString(strconv.Itoa(n.max))
				}
			}
			b.WriteByte('}')
		}
	case opStart:
		if n.multi {
			b.WriteString(`(?m:^)`)
		} else {
			b.WriteString(`\A`)
		}
	case opEnd:
		if n.multi {
			b.WriteString(`(?m:$)`)
		} else {
			b.WriteString(`\z`)
		}
	case opWord:
		if n.neg {
			b.WriteString(`\B`)
		} else {
			b.WriteString(`\b`)
		}
	default: // weigh has refused lookaround and back references
	}
}

func (s *set) write(b *strings.Builder) {
	if len(s.ranges) == 0 && len(s.tables) == 0 {
		if s.neg {
			b.WriteString(`[\x{0}-\x{10FFFF}]`)
		} else {
			b.WriteString(`[^\x{0}-\x{10FFFF}]`)
		}
		return
	}
	if s.fold {
		b.WriteString("(?i:")
		defer b.WriteByte(')')
	}
	b.WriteByte('[')
	if s.neg {
		b.WriteByte('^')
	}
	hex := func(r rune) {
		b.WriteString(`\x{`)
		b.WriteString(strconv.FormatInt(int64(r), 16))
		b.WriteByte('}')
	}
	for i := 0; i < len(s.ranges); i += 2 {
		hex(s.ranges[i])
		if s.ranges[i+1] > s.ranges[i] {
			b.WriteByte('-')
			hex(s.ranges[i+1])
		}
	}
	for _, t := range s.tables {
		if t.neg {
			b.WriteString(`\P{`)
		} else {
			b.WriteString(`\p{`)
		}
		b.WriteString(t.name)
		b.WriteByte('}')
	}
	b.WriteByte(']')
}
