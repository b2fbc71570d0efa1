package regex_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema/regex"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern   string
		linear    bool
		yes, nope []string
	}{
		{``, true, []string{"", "a"}, nil},
		{`a`, true, []string{"bab"}, []string{"", "b"}},
		{`^a$`, true, []string{"a"}, []string{"a\n", "\na"}},
		{`^.$`, true, []string{"é", "😀", "\u0085"}, []string{"\n", "\r", "\u2028", "\u2029", "ab", ""}},
		{`^\d+$`, true, []string{"12"}, []string{"١", ""}},
		{`^\D$`, true, []string{"١", "a"}, []string{"1"}},
		{`^\w$`, true, []string{"_"}, []string{"é"}},
		{`^\W$`, true, []string{"é", "-"}, []string{"a"}},
		{`^\s$`, true, []string{"\u00a0", "\ufeff", "\u2029", "\v", "\u3000"}, []string{"\u0085", "a", "\u180e"}},
		{`^\S$`, true, []string{"\u0085"}, []string{"\u00a0"}},
		{`^[\s\S]$`, true, []string{"\n", "a"}, nil},
		{`^\cC\x41\u0042\u{1F600}\uD83D\uDE00\t\0$`, true, []string{"\x03AB😀😀\t\x00"}, nil},
		{`^[^]$`, true, []string{"\n"}, []string{""}},
		{`[]`, true, nil, []string{"", "a"}},
		{`^[\b]$`, true, []string{"\b"}, []string{"b"}},
		{`^[a\-z]$`, true, []string{"-"}, []string{"b"}},
		{`^[a-]$`, true, []string{"-", "a"}, []string{"b"}},
		{`^[\w-.]$`, true, []string{"-", ".", "x"}, []string{"/"}},
		{`^\p{Letter}\p{L}\p{Script=Greek}\p{sc=Grek}\p{Lu}$`, true, nil, nil},
		{`^\p{Letter}\p{L}\p{Script=Greek}\P{Lu}$`, true, []string{"éaαa"}, []string{"éaaa", "éaαA"}},
		{`^\p{Alphabetic}\p{ASCII}\p{Any}$`, false, []string{"éa\n"}, []string{"1aa", "aéa"}},
		{`^\pL\p{IsGreek}\p{Alnum}$`, false, []string{"éα1"}, []string{"1α1"}},
		{`a{2}`, true, []string{"aa"}, []string{"a"}},
		{`^a{2,3}?$`, true, []string{"aa", "aaa"}, []string{"a", "aaaa"}},
		{`^a{,2}$`, true, []string{"a{,2}"}, []string{"a"}},
		{`a{`, true, []string{"a{"}, []string{"a"}},
		{`^.{1,5000}$`, false, []string{"a", strings.Repeat("é", 5000)}, []string{"", strings.Repeat("é", 5001)}},
		{`^(a|ab)(c|bcd)$`, true, []string{"abcd", "ac"}, []string{"ab"}},
		{`^(?:a*)*$`, true, []string{"", "aaa"}, []string{"b"}},
		{`\bfoo\b`, true, []string{"a foo b", "éfoo"}, []string{"food"}},
		{`\Boo`, true, []string{"foo"}, []string{"oo"}},
		{`(?i)^straße$`, true, []string{"STRAßE"}, []string{"x"}},
		{`^(?i:a)b$`, true, []string{"Ab"}, []string{"AB"}},
		{`(?m:^b$)`, true, []string{"a\nb"}, nil},
		{`(?s:^.$)`, true, []string{"\n"}, nil},

		{`^(?=.*[A-Z])(?=.*\d).{8,}$`, false, []string{"Passw0rdx"}, []string{"password1", "Pass1"}},
		{`^(?!foo)`, false, []string{"bar"}, []string{"foobar"}},
		{`(?<=a)b`, false, []string{"ab"}, []string{"cb", "b"}},
		{`(?<!a)b`, false, []string{"cb", "b"}, []string{"ab"}},
		{`(?<=^\w{3})d`, false, []string{"abcd"}, []string{"abd"}},
		{`(?<=(\d+)(\d+))$`, false, []string{"1053"}, []string{"1"}},
		{`^(a+)b\1$`, false, []string{"aabaa"}, []string{"aaba"}},
		{`^(?<q>['"]).*\k<q>$`, false, []string{`"x"`}, []string{`"x'`}},
		{`^\1(a)$`, false, []string{"a"}, []string{"aa"}},
		{`^(?:(a)|b)*\1$`, false, []string{"ab", "aa"}, []string{"c"}},
		{`(?i)^(a)\1$(?=)`, false, []string{"aA"}, []string{"ab"}},
		{`^(?:a|(?=b)b)*?c$`, false, []string{"ababc", "c"}, []string{"abd"}},
		{`^(?=(a*))a*b\1`, false, nil, []string{"aab"}},
		{`\Aa\z`, true, []string{"a"}, []string{"a\n", "ba"}},
		{`^a\Z`, false, []string{"a", "a\n", "a\r\n", "a\u2028"}, []string{"a\n\n", "ab"}},
		{`\/\-\_\@\ \"`, true, []string{`/-_@ "`}, nil},
	} {
		p, err := regex.Compile(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if p.IsLinear() != c.linear {
			t.Errorf("%s: linear is %v", c.pattern, p.IsLinear())
		}
		for want, texts := range map[bool][]string{true: c.yes, false: c.nope} {
			for _, s := range texts {
				steps := 1_000_000
				if got, decided := p.Match(s, &steps); !decided || got != want {
					t.Errorf("%s on %.40q: want %v, got %v, decided %v", c.pattern, s, want, got, decided)
				}
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`[a`:             "a class is not closed; end it with ], at byte 0",
		`(`:              "a group is not closed, at byte 0",
		`a)`:             "closing parenthesis",
		`*a`:             "nothing before it to repeat",
		`a**`:            "nothing before it to repeat",
		`a{3,2}`:         "wrong order",
		`[z-a]`:          "wrong order",
		`\`:              "ends with a backslash",
		`[\`:             "ends with a backslash",
		`\ha`:            `the escape \h is unknown in ECMA-262; write ^ and $`,
		`a++`:            "possessive",
		`^*`:             "an assertion cannot be repeated",
		`(?<=a)*`:        "an assertion cannot be repeated",
		`(?`:             "a group begins with",
		`(?x)a`:          "a group begins with",
		`(?<n>a)(?<n>b)`: "two groups",
		`(?<1>a)`:        "a group's name",
		`(?<a>)\k<b>`:    `no group is named "b"`,
		`\p{Nope}`:       `"Nope" is no property`,
		`\p{L`:           "between { and }",
		strings.Repeat("(", 501) + strings.Repeat(")", 501): "more than 500 groups",
	} {
		_, err := regex.Compile(pattern)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: want %q, got %v", pattern, want, err)
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{`^a$`: true, `\a`: false, `\-`: false, `[\-]`: true, `(?i)a`: false, `a{`: false, `]`: false, `(?=a)*`: false, `\1`: false} {
		if got := regex.Valid(pattern); got != want {
			t.Errorf("%s: want %v", pattern, want)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	p, err := regex.Compile(`(?=(a+)+$)b`)
	if err != nil {
		t.Fatal(err)
	}
	steps := 10_000
	if matched, decided := p.Match(strings.Repeat("a", 40)+"b", &steps); matched || decided || steps != 0 {
		t.Errorf("matched %v, decided %v, %d steps left", matched, decided, steps)
	}
	linear, _ := regex.Compile(`a`)
	steps = 10
	if _, decided := linear.Match(strings.Repeat("b", 1000), &steps); decided {
		t.Error("a linear pattern is free")
	}
	budget := 5
	if p, err := regex.CompileWithin(`[a-z]{100}`, &budget); err != nil || p.IsLinear() {
		t.Errorf("a pattern over the shared budget went to RE2: %v", err)
	}
	if budget = 1000; true {
		if p, err := regex.CompileWithin(`[a-z]{100}`, &budget); err != nil || !p.IsLinear() || budget == 1000 {
			t.Errorf("a pattern within the shared budget did not, or took nothing: %d, %v", budget, err)
		}
	}
}

// FuzzPattern compares our matcher with RE2 where both can run a pattern, and
// asks of every other that it ends.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{`^a+b*$`, "aab"},
		{`(a|b)*c`, "abc"},
		{`[^a-c]{2,3}`, "xyz"},
		{`\d\w\s`, "1a "},
		{`(?=a)b`, "ab"},
		{`(a)\1`, "aa"},
		{`\bx\B`, "xy"},
		{`(?i)ab`, "AB"},
		{`a*?b`, "aab"},
		{`(?:a*)*b`, "aa"},
		{`\p{Lu}`, "É"},
		{`(?<n>x)\k<n>`, "xx"},
		{`(?<=a|bc)d`, "bcd"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := regex.Compile(pattern)
		if err != nil {
			return
		}
		steps := 200_000
		got, decided := p.Match(text, &steps)
		if !decided || !p.IsLinear() {
			return
		}
		none := 0
		own, err := regex.CompileWithin(pattern, &none)
		if err != nil || own.IsLinear() {
			t.Fatalf("%q: the same pattern without RE2: %v", pattern, err)
		}
		steps = 200_000
		if mine, decided := own.Match(text, &steps); decided && mine != got {
			t.Fatalf("%q on %q: RE2 says %v, our matcher %v", pattern, text, got, mine)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, c := range []struct{ name, pattern, text string }{
		{"translated", `^[a-z]+\d{2,3}$`, "abcdefgh123"},
		{"password", `^(?=.*[A-Z])(?=.*\d)(?!.*\s).{8,64}$`, "correctHorse7battery"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := regex.Compile(c.pattern)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				steps := 1 << 20
				if ok, _ := p.Match(c.text, &steps); !ok {
					b.Fatal("no match")
				}
			}
		})
	}
	b.Run("RE2 alone", func(b *testing.B) {
		re := regexp.MustCompile(`^[a-z]+\d{2,3}$`)
		for b.Loop() {
			re.MatchString("abcdefgh123")
		}
	})
}
