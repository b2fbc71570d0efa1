package regex

// MatchRE2 matches by RE2 alone; ok is false for a pattern that it cannot say.
func (p *Pattern) MatchRE2(s string) (matched, ok bool) {
	if p.fast == nil {
		return false, false
	}
	return p.fast.MatchString(s), true
}

// IsStraight tells whether RE2 is not asked.
func (p *Pattern) IsStraight() bool { return p.straight != nil }
