package regex

import "regexp/syntax"

// Program is the pattern as RE2's program, for whoever compares languages; nil
// for a pattern that RE2 cannot say. The program searches: what stands before
// and behind a match is free.
func (p *Pattern) Program() *syntax.Prog {
	if p.fast == nil {
		return nil
	}
	re, err := syntax.Parse(p.fast.String(), syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil
	}
	return prog
}
