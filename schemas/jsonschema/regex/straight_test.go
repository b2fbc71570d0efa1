package regex_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
)

func TestStraightMatchesAsRE2(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern  string
		straight bool
	}{
		{`^[A-Z]{3}-[0-9]+$`, true},
		{`^[a-c]*b$`, false}, // b may be one of the first
		{`^a{2,3}b?[bc]$`, false},
		{`^a{2,3}b?c`, true},
		{`^a?b*c+$`, true},
		{`^a?b?a$`, false},
		{`^a{0,2}b{2}`, true},
		{`^a{2}a$`, true},
		{`^a{1,2}`, true},
		{`^[^a]$`, false}, // more than ASCII
		{`^é$`, false},
		{`^a.c$`, false},
		{`^\d{4}-\d{2}$`, true},
		{`^\w+$`, true},
		{`a$`, false},
		{`^(ab)+$`, false},
		{`^a|b$`, false},
		{`^$`, true},
		{`^`, true},
		{`^a$b`, false},
		{`^[]$`, true},
		{`^\ba`, false},
		{`^a+?b$`, true},
	} {
		p, err := regex.Compile(tt.pattern)
		if err != nil {
			t.Fatalf("%s: %v", tt.pattern, err)
		}
		if p.IsStraight() != tt.straight {
			t.Errorf("%s: straight %v", tt.pattern, p.IsStraight())
		}
	}
}

// TestRandomPatternsMatchAsRE2 makes patterns that are often straight, and texts
// that often match.
func TestRandomPatternsMatchAsRE2(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	kinds := []string{"a", "b", "c", "[ab]", "[b-c]", "[0-9]", "-", "é", "[^a]", "A"}
	often := []string{"", "", "", "?", "*", "+", "{2}", "{1,2}", "{0,2}", "{2,}", "+?", "??"}
	straight := 0
	for range 3000 {
		var b strings.Builder
		if r.IntN(8) > 0 {
			b.WriteByte('^')
		}
		for range r.IntN(5) {
			b.WriteString(kinds[r.IntN(len(kinds))] + often[r.IntN(len(often))])
		}
		if r.IntN(3) > 0 {
			b.WriteByte('$')
		}
		p, err := regex.Compile(b.String())
		if err != nil {
			t.Fatalf("%s: %v", b.String(), err)
		}
		if p.IsStraight() {
			straight++
		}
		for range 40 {
			text := ""
			for range r.IntN(7) {
				text += string([]rune("aaabbbcc01-éA\n")[r.IntN(14)])
			}
			steps := 1 << 20
			got, decided := p.Match(text, &steps)
			if want, ok := p.MatchRE2(text); !decided || ok && got != want {
				t.Fatalf("%s and %q: %v, and RE2 says %v", b.String(), text, got, want)
			}
		}
	}
	if straight < 500 {
		t.Errorf("only %d patterns were straight", straight)
	}
}
