package jsonschema

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
)

// language is a set of strings: those of a length, which patterns match or do
// not, and which are none of a list.
type language struct {
	min, max int
	yes, no  []*regex.Pattern
	not      []string
}

// mostStates bounds the product of automata that is searched.
const mostStates = 4_000

// automaton runs the programs of a language side by side, made deterministic on
// the way: a state is, per program, the instructions it may be at.
type automaton struct {
	programs []*syntax.Prog
	yes      int // the first so many are to match
	points   []rune
	prefixes map[string]bool // of the excluded strings
	excluded map[string]bool
	min, max int
}

// at is where the automaton may be after a text.
type at struct {
	sets    [][]uint32 // per program; nil once it has matched
	matched []bool
	last    rune // -1 at the beginning
	length  int
	text    string // while it is a prefix of an excluded one
	near    bool
	from    int // index of the place before, and by which character
	by      rune
}

// shortest finds a shortest string of the language. exact tells that the answer
// "none" is proved; patterns that RE2 cannot say are left out, and then a found
// string is a guess.
func (l language) shortest(meter *compat.Meter) (text string, ok, exact bool) {
	if l.min > l.max {
		return "", false, true
	}
	a := &automaton{min: l.min, max: l.max, prefixes: map[string]bool{}, excluded: map[string]bool{}}
	for _, p := range l.yes {
		if prog := p.Program(); prog != nil {
			a.programs = append(a.programs, prog)
		}
	}
	a.yes = len(a.programs)
	for _, p := range l.no {
		if slices.ContainsFunc(l.yes, func(q *regex.Pattern) bool { return q.String() == p.String() }) {
			return "", false, true
		}
		if prog := p.Program(); prog != nil {
			a.programs = append(a.programs, prog)
		}
	}
	for _, s := range l.not {
		a.excluded[s] = true
		for i := range s {
			a.prefixes[s[:i]] = true
		}
		a.prefixes[s] = true
	}
	a.alphabet(l.not)
	return a.search(meter)
}

// alphabet picks one character of every class that the programs and the excluded
// strings tell apart.
func (a *automaton) alphabet(not []string) {
	cuts := map[rune]bool{0: true, 'a': true, 'A': true, '0': true, 'x': true}
	cut := func(low, high rune) {
		cuts[low] = true
		if high < unicode.MaxRune {
			cuts[high+1] = true
		}
	}
	for _, low := range []rune{'0', 'A', '_', 'a'} { // the words, for \b
		high := map[rune]rune{'0': '9', 'A': 'Z', '_': '_', 'a': 'z'}[low]
		cut(low, high)
	}
	cut('\n', '\n')
	cut(0xD800, 0xDFFF) // never part of a string
	for _, p := range a.programs {
		for i := range p.Inst {
			inst := &p.Inst[i]
			switch inst.Op {
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if len(inst.Rune) == 1 {
					r := inst.Rune[0]
					cut(r, r)
					if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
						for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
							cut(f, f)
						}
					}
				}
				for j := 0; j+1 < len(inst.Rune); j += 2 {
					cut(inst.Rune[j], inst.Rune[j+1])
				}
			default: // the others read no character
			}
		}
	}
	for _, s := range not {
		for _, r := range s {
			cut(r, r)
		}
	}
	for r := range cuts {
		if r <= unicode.MaxRune && (r < 0xD800 || r > 0xDFFF) {
			a.points = append(a.points, r)
		}
	}
	// Readable characters first: the strings are shown to people.
	rank := func(r rune) int {
		switch {
		case r >= 'a' && r <= 'z':
			return 0
		case r >= 'A' && r <= 'Z':
			return 1
		case r >= '0' && r <= '9':
			return 2
		case r > ' ' && r < 0x7F:
			return 3
		case r == ' ':
			return 4
		case unicode.IsPrint(r):
			return 5
		}
		return 6
	}
	slices.SortFunc(a.points, func(p, q rune) int {
		if rank(p) != rank(q) {
			return rank(p) - rank(q)
		}
		return int(p - q)
	})
}

// close follows what reads no character, between last and next (-1 at the ends).
func (a *automaton) close(p *syntax.Prog, set []uint32, last, next rune) (out []uint32, match bool) {
	flags := syntax.EmptyOpContext(last, next)
	seen := make(map[uint32]bool, len(set)*2)
	stack := slices.Clone(set)
	stack = append(stack, uint32(p.Start)) // a match may begin anywhere
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		inst := &p.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^flags == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstMatch:
			return nil, true
		case syntax.InstFail:
		default:
			out = append(out, pc)
		}
	}
	return out, false
}

// step reads one character.
func (a *automaton) step(s *at, r rune, index int, meter *compat.Meter) (*at, bool) {
	next := &at{sets: make([][]uint32, len(a.programs)), matched: slices.Clone(s.matched), last: r, length: s.length + 1, from: index, by: r}
	if next.length > a.max {
		return nil, false
	}
	for i, p := range a.programs {
		if s.matched[i] {
			continue
		}
		meter.Spend(1 + len(s.sets[i])/4)
		here, match := a.close(p, s.sets[i], s.last, r)
		if match {
			if i >= a.yes {
				return nil, false // it will match whatever follows
			}
			next.matched[i] = true
			continue
		}
		var set []uint32
		for _, pc := range here {
			if p.Inst[pc].MatchRune(r) {
				set = append(set, p.Inst[pc].Out)
			}
		}
		slices.Sort(set)
		next.sets[i] = slices.Compact(set)
	}
	if s.near {
		if t := s.text + string(r); a.prefixes[t] {
			next.text, next.near = t, true
		}
	}
	return next, true
}

// accepts tells whether the text may end here.
func (a *automaton) accepts(s *at) bool {
	if s.length < a.min || s.near && a.excluded[s.text] {
		return false
	}
	for i, p := range a.programs {
		match := s.matched[i]
		if !match {
			_, match = a.close(p, s.sets[i], s.last, -1)
		}
		if match != (i < a.yes) {
			return false
		}
	}
	return true
}

func (a *automaton) key(s *at) string {
	var b []byte
	for i := range a.programs {
		if s.matched[i] {
			b = append(b, 0xFF)
			continue
		}
		b = binary.AppendUvarint(b, uint64(len(s.sets[i])))
		for _, pc := range s.sets[i] {
			b = binary.AppendUvarint(b, uint64(pc))
		}
	}
	context := byte(0)
	switch {
	case s.last < 0:
		context = 1
	case s.last == '\n':
		context = 2
	case syntax.IsWordChar(s.last):
		context = 3
	}
	b = append(b, context)
	length := s.length
	if a.max > 1<<40 { // beyond min, longer is all the same
		length = min(length, a.min)
	}
	b = binary.AppendUvarint(b, uint64(length))
	if s.near {
		b = append(append(b, 1), s.text...)
	}
	return string(b)
}

func (a *automaton) search(meter *compat.Meter) (text string, ok, exact bool) {
	start := &at{sets: make([][]uint32, len(a.programs)), matched: make([]bool, len(a.programs)), last: -1, near: a.prefixes[""], from: -1}
	places := []*at{start}
	known := map[string]bool{a.key(start): true}
	for i := 0; i < len(places); i++ {
		s := places[i]
		if !meter.Spend(1) {
			return "", false, false
		}
		if a.accepts(s) {
			var out []rune
			for j := i; j > 0; j = places[j].from {
				out = append(out, places[j].by)
			}
			slices.Reverse(out)
			return strings.ToValidUTF8(string(out), ""), true, true
		}
		for _, r := range a.points {
			next, ok := a.step(s, r, i, meter)
			if !ok {
				continue
			}
			key := a.key(next)
			if known[key] {
				continue
			}
			if len(places) >= mostStates || meter.Spent() {
				return "", false, false
			}
			known[key] = true
			places = append(places, next)
		}
	}
	return "", false, true
}
