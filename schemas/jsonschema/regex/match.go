package regex

import (
	"unicode"
	"unicode/utf8"
)

type span struct{ from, to int }

var unset = span{-1, -1}

// deepest bounds the matcher's recursion, and so its stack: about 20 MB.
const deepest = 20_000

// machine is the state of one match.
type machine struct {
	s        string
	steps    int
	depth    int
	out      bool // the budget ran out: every answer from here on means nothing
	captures []span
}

// matcher tries to match at i and calls k with the place behind the match.
type matcher func(m *machine, i int, k func(int) bool) bool

func (m *machine) spend() bool {
	m.steps--
	if m.steps < 0 {
		m.out = true
	}
	return !m.out
}

func decode(s string, i int) (rune, int) {
	if i < len(s) && s[i] < utf8.RuneSelf {
		return rune(s[i]), 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return r, max(n, 1)
}

func decodeLast(s string, i int) (rune, int) {
	r, n := utf8.DecodeLastRuneInString(s[:i])
	return r, max(n, 1)
}

// step reads one code point in the matcher's direction; ok is false at the end.
func (m *machine) step(i int, back bool) (r rune, next int, ok bool) {
	if back {
		if i == 0 {
			return 0, 0, false
		}
		r, n := decodeLast(m.s, i)
		return r, i - n, true
	}
	if i >= len(m.s) {
		return 0, 0, false
	}
	r, n := decode(m.s, i)
	return r, i + n, true
}

// compile makes the matcher of a node; back matches towards the start, as
// inside a lookbehind.
func (n *node) compile(back bool) matcher {
	switch n.op {
	case opSet:
		return func(m *machine, i int, k func(int) bool) bool {
			if !m.spend() {
				return false
			}
			r, next, ok := m.step(i, back)
			return ok && n.set.has(r) && k(next)
		}
	case opSequence:
		return n.sequence(back)
	case opChoice:
		subs := make([]matcher, len(n.subs))
		for j, sub := range n.subs {
			subs[j] = sub.compile(back)
		}
		return func(m *machine, i int, k func(int) bool) bool {
			for _, sub := range subs {
				if !m.spend() {
					return false
				}
				if sub(m, i, k) {
					return true
				}
			}
			return false
		}
	case opGroup:
		sub := n.subs[0].compile(back)
		return func(m *machine, i int, k func(int) bool) bool {
			if !m.spend() {
				return false
			}
			return sub(m, i, func(end int) bool {
				old := m.captures[n.index]
				m.captures[n.index] = span{min(i, end), max(i, end)}
				if k(end) {
					return true
				}
				m.captures[n.index] = old
				return false
			})
		}
	case opRepeat:
		if n.subs[0].op == opSet {
			return n.run(back)
		}
		return n.loop(back)
	case opStart:
		return func(m *machine, i int, k func(int) bool) bool {
			return m.spend() && (i == 0 || n.multi && isLineEnd(lastRune(m.s, i))) && k(i)
		}
	case opEnd:
		return func(m *machine, i int, k func(int) bool) bool {
			return m.spend() && (i == len(m.s) || n.multi && isLineEnd(firstRune(m.s, i))) && k(i)
		}
	case opWord:
		return func(m *machine, i int, k func(int) bool) bool {
			before := i > 0 && isWord(m.s[i-1])
			after := i < len(m.s) && isWord(m.s[i])
			return m.spend() && (before != after) != n.neg && k(i)
		}
	case opLook:
		return n.look()
	case opBack:
		return n.reference(back)
	default: // opEmpty
		return func(m *machine, i int, k func(int) bool) bool { return m.spend() && k(i) }
	}
}

func (n *node) sequence(back bool) matcher {
	subs := make([]matcher, len(n.subs))
	for j, sub := range n.subs {
		if back {
			subs[len(subs)-1-j] = sub.compile(back)
		} else {
			subs[j] = sub.compile(back)
		}
	}
	var from func(m *machine, j, i int, k func(int) bool) bool
	from = func(m *machine, j, i int, k func(int) bool) bool {
		if j == len(subs) {
			return k(i)
		}
		return subs[j](m, i, func(next int) bool { return from(m, j+1, next, k) })
	}
	return func(m *machine, i int, k func(int) bool) bool { return from(m, 0, i, k) }
}

// run repeats a single code point: no recursion, one pass there and one back.
func (n *node) run(back bool) matcher {
	set := n.subs[0].set
	return func(m *machine, i int, k func(int) bool) bool {
		count, at := 0, i
		more := func() bool {
			if n.max >= 0 && count >= n.max || !m.spend() {
				return false
			}
			r, next, ok := m.step(at, back)
			if !ok || !set.has(r) {
				return false
			}
			at = next
			count++
			return true
		}
		for count < n.min {
			if !more() {
				return false
			}
		}
		if n.lazy {
			for {
				if k(at) {
					return true
				}
				if m.out || !more() {
					return false
				}
			}
		}
		for more() {
		}
		for !m.out {
			if k(at) {
				return true
			}
			if count == n.min || !m.spend() {
				return false
			}
			_, at, _ = m.step(at, !back)
			count--
		}
		return false
	}
}

// loop repeats anything else. Captures inside are forgotten at each turn, and a
// turn beyond the minimum that takes nothing is no turn (ECMA-262,
// RepeatMatcher).
func (n *node) loop(back bool) matcher {
	sub := n.subs[0].compile(back)
	var turn func(m *machine, i, count int, k func(int) bool) bool
	turn = func(m *machine, i, count int, k func(int) bool) bool {
		if !m.spend() {
			return false
		}
		if m.depth >= deepest {
			m.out = true
			return false
		}
		again := func() bool {
			if n.max >= 0 && count >= n.max {
				return false
			}
			var kept []span
			if n.to > n.from {
				kept = append(kept, m.captures[n.from:n.to]...)
				for c := n.from; c < n.to; c++ {
					m.captures[c] = unset
				}
			}
			m.depth++
			ok := sub(m, i, func(next int) bool {
				if next == i && count >= n.min {
					return false
				}
				if next == i { // the rest of the minimum takes nothing either
					return turn(m, next, n.min, k)
				}
				return turn(m, next, count+1, k)
			})
			m.depth--
			if !ok && kept != nil {
				copy(m.captures[n.from:n.to], kept)
			}
			return ok
		}
		if count < n.min {
			return again()
		}
		if n.lazy {
			return k(i) || again()
		}
		return again() || !m.out && k(i)
	}
	return func(m *machine, i int, k func(int) bool) bool { return turn(m, i, 0, k) }
}

func (n *node) look() matcher {
	sub := n.subs[0].compile(n.behind)
	return func(m *machine, i int, k func(int) bool) bool {
		if !m.spend() {
			return false
		}
		kept := append([]span(nil), m.captures...)
		found := sub(m, i, func(int) bool { return true })
		if m.out {
			return false
		}
		if n.neg {
			copy(m.captures, kept)
			return !found && k(i)
		}
		if found && k(i) {
			return true
		}
		copy(m.captures, kept)
		return false
	}
}

func (n *node) reference(back bool) matcher {
	return func(m *machine, i int, k func(int) bool) bool {
		if !m.spend() {
			return false
		}
		c := m.captures[n.index]
		if c == unset {
			return k(i)
		}
		want := m.s[c.from:c.to]
		m.steps -= len(want) / 16
		if n.fold {
			return n.folded(m, want, i, back, k)
		}
		if back {
			return i >= len(want) && m.s[i-len(want):i] == want && k(i-len(want))
		}
		return len(m.s)-i >= len(want) && m.s[i:i+len(want)] == want && k(i+len(want))
	}
}

func (n *node) folded(m *machine, want string, i int, back bool, k func(int) bool) bool {
	for len(want) > 0 {
		var w rune
		var size int
		if back {
			w, size = decodeLast(want, len(want))
			want = want[:len(want)-size]
		} else {
			w, size = decode(want, 0)
			want = want[size:]
		}
		r, next, ok := m.step(i, back)
		if !ok || !sameFold(r, w) {
			return false
		}
		i = next
	}
	return k(i)
}

func sameFold(a, b rune) bool {
	if a == b {
		return true
	}
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' || r == 0x2028 || r == 0x2029 }

func lastRune(s string, i int) rune  { r, _ := decodeLast(s, i); return r }
func firstRune(s string, i int) rune { r, _ := decode(s, i); return r }
