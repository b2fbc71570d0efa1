// Package regex reads patterns as ECMA-262 defines them, in code points, and
// matches them in a bounded number of steps.
//
// A pattern whose meaning RE2 shares is translated and run by the standard
// library in linear time. The others (lookaround, back references, large
// counts) are run by a backtracking matcher that counts its steps and gives up
// instead of going on for ever. Start with [Compile].
//
// Read are first the grammar of Unicode mode, then, where that refuses, the
// web's lenient grammar (a needless backslash, a lone bracket), since schemas in
// use rely on it. Beside ECMA-262, flags may lead a group without a colon, as
// in (?i)abc, and \A, \z and \Z are the ends of the text: Unicode mode has no
// other meaning for them, and the reference registry's engine has this one.
package regex

import (
	"fmt"
	"regexp"
)

// Pattern is a compiled pattern. It is immutable and safe for use by many
// goroutines.
type Pattern struct {
	text     string
	fast     *regexp.Regexp
	straight *straight // the same as fast, where it is that simple
	root     *node
	run      matcher // nil when fast is set
	captures int
	size     int
}

// Error says what is wrong with a pattern and where: Offset is in bytes.
type Error struct {
	Offset int
	What   string
}

// Error is "what, at byte offset".
func (e *Error) Error() string { return fmt.Sprintf("%s, at byte %d of the pattern", e.What, e.Offset) }

// fastest is the program size up to which a pattern is handed to RE2; larger
// ones would take memory out of proportion to their text.
const fastest = 4_000

// Compile reads a pattern.
//
// Errors: *Error.
// Source: ECMA-262, section "RegExp (Regular Expression) Objects", and its
// annex B.1.2.
func Compile(text string) (*Pattern, error) { return compile(text, fastest) }

// CompileWithin is Compile with a budget of program instructions that many
// patterns share: what a pattern takes of RE2's memory is subtracted, and what
// does not fit is run by our own matcher, which needs none.
func CompileWithin(text string, budget *int) (*Pattern, error) {
	p, err := compile(text, min(*budget, fastest))
	if err == nil && p.fast != nil {
		*budget -= p.size
	}
	return p, err
}

func compile(text string, most int) (*Pattern, error) {
	p, err := parseTree(text, true)
	if err != nil {
		lenient, again := parseTree(text, false)
		if again != nil {
			return nil, again
		}
		p = lenient
	}
	if re, ok := p.root.re2(most); ok {
		if fast, err := regexp.Compile(re); err == nil {
			p.fast, p.straight = fast, straightOf(re)
			return p, nil
		}
	}
	p.run = p.root.compile(false)
	return p, nil
}

// Valid tells whether text is a pattern in the strict grammar of Unicode mode:
// what the format "regex" asks.
func Valid(text string) bool {
	_, err := parseTree(text, true)
	return err == nil
}

// String is the pattern as written.
func (p *Pattern) String() string { return p.text }

// IsLinear tells whether the pattern is run in linear time.
func (p *Pattern) IsLinear() bool { return p.fast != nil }

// Match tells whether s contains a match. steps is the budget, and what is left
// of it afterwards; decided is false when it ran out.
func (p *Pattern) Match(s string, steps *int) (matched, decided bool) {
	if p.fast != nil {
		*steps -= 1 + len(s)/8*(1+p.size/64)
		if *steps < 0 {
			return false, false
		}
		if p.straight != nil {
			return p.straight.match(s), true
		}
		return p.fast.MatchString(s), true
	}
	m := machine{s: s, steps: *steps, captures: make([]span, p.captures+1)}
	for i := range m.captures {
		m.captures[i] = unset
	}
	for at := 0; ; {
		if p.run(&m, at, func(int) bool { return true }) && !m.out {
			*steps = m.steps
			return true, true
		}
		if m.out {
			*steps = 0
			return false, false
		}
		if at >= len(s) {
			*steps = m.steps
			return false, true
		}
		_, n := decode(s, at)
		at += n
	}
}
