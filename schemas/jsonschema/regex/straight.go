package regex

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// straight is a pattern that begins at the start of a text and says one kind of
// ASCII character behind the other, each as often as it likes, where the next
// character always tells whether to go on with one kind or with the next. Such
// are most patterns of identifiers; one look at each byte matches them.
type straight struct {
	pieces []piece
	toEnd  bool
}

// piece is one kind of character, at least and at most so often; -1 for ever.
type piece struct {
	set         [2]uint64
	least, most int
}

func (p *piece) has(c byte) bool { return c < utf8.RuneSelf && p.set[c>>6]&(1<<(c&63)) != 0 }

// mostPieces bounds how many kinds stand behind each other.
const mostPieces = 64

// straightOf is a pattern of RE2 as a straight one; nil when it is not.
func straightOf(text string) *straight {
	if !strings.HasPrefix(text, `\A`) {
		return nil
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	list := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		list = re.Sub
	}
	if list[0].Op != syntax.OpBeginText {
		return nil
	}
	s := &straight{}
	for i, one := range list[1:] {
		if one.Op == syntax.OpEndText && one.Flags&syntax.WasDollar == 0 && i == len(list)-2 {
			s.toEnd = true
			break
		}
		if !s.add(one) || len(s.pieces) > mostPieces {
			return nil
		}
	}
	if !s.isTold() {
		return nil
	}
	return s
}

func (s *straight) add(re *syntax.Regexp) bool {
	least, most := 1, 1
	switch re.Op {
	case syntax.OpStar:
		least, most = 0, -1
	case syntax.OpPlus:
		least, most = 1, -1
	case syntax.OpQuest:
		least, most = 0, 1
	case syntax.OpRepeat:
		least, most = re.Min, re.Max
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf || re.Flags&syntax.FoldCase != 0 {
				return false
			}
			p := piece{least: 1, most: 1}
			p.set[r>>6] |= 1 << (r & 63)
			s.pieces = append(s.pieces, p)
		}
		return true
	case syntax.OpCharClass:
	default:
		return false
	}
	p := piece{least: least, most: most}
	if re.Op != syntax.OpCharClass {
		re = re.Sub[0]
	}
	switch {
	case re.Op == syntax.OpLiteral && len(re.Rune) == 1 && re.Rune[0] < utf8.RuneSelf && re.Flags&syntax.FoldCase == 0:
		p.set[re.Rune[0]>>6] |= 1 << (re.Rune[0] & 63)
	case re.Op == syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1] >= utf8.RuneSelf {
				return false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				p.set[r>>6] |= 1 << (r & 63)
			}
		}
	default:
		return false
	}
	s.pieces = append(s.pieces, p)
	return true
}

// isTold tells whether a piece that may be longer or shorter shares no character
// with what may stand behind it.
func (s *straight) isTold() bool {
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.least == p.most {
			continue
		}
		for j := i + 1; j < len(s.pieces); j++ {
			next := &s.pieces[j]
			if p.set[0]&next.set[0]|p.set[1]&next.set[1] != 0 {
				return false
			}
			if next.least > 0 {
				break
			}
		}
	}
	return true
}

func (s *straight) match(text string) bool {
	at := 0
	for i := range s.pieces {
		p := &s.pieces[i]
		n := 0
		for n != p.most && at < len(text) && p.has(text[at]) {
			at++
			n++
		}
		if n < p.least {
			return false
		}
	}
	return !s.toEnd || at == len(text)
}
