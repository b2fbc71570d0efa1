package jsonschema

import (
	"slices"
	"unicode/utf8"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func stringValue(s string) *jsontext.Value { return &jsontext.Value{Kind: jsontext.String, Text: s} }

// text answers for the strings of a branch.
func (x *search) text(b *branch) state {
	for _, f := range b.unsoft {
		if slices.Contains(b.soft, f) {
			return empty
		}
	}
	l := language{min: b.min, max: b.max, yes: b.yes, no: b.no}
	for _, v := range b.excluded {
		if v.Kind == jsontext.String {
			l.not = append(l.not, v.Text)
		}
	}
	if x.formatted(b, l) {
		return found
	}
	const enough = 1 << 16
	if l.min > enough {
		return open // a string that long is no witness for people
	}
	for range 4 {
		text, ok, exact := plainString(l)
		if !ok {
			text, ok, exact = l.shortest(x.s.meter)
		}
		if !ok {
			if exact {
				return empty
			}
			return x.guess(b, l)
		}
		before := len(x.values)
		if st := x.try(stringValue(text)); st == found && (len(x.values) > before || x.pick == nil) {
			return found
		}
		if len(b.unsoft) > 0 {
			return open
		}
		l.not = append(l.not, text)
	}
	return x.guess(b, l)
}

// plainString is the shortest string where only the length counts.
func plainString(l language) (text string, ok, exact bool) {
	if len(l.yes)+len(l.no)+len(l.not) > 0 {
		return "", false, false
	}
	out := make([]byte, l.min)
	for i := range out {
		out[i] = 'a'
	}
	return string(out), l.min <= l.max, true
}

// guess tries strings for patterns that no automaton was built for: they are
// open, whatever it finds none of.
func (x *search) guess(b *branch, l language) state {
	words := []string{"", "a", "A", "0", "Aa0", "Aa0!Aa0!", "aaaaaaaa", "AAAAAAAA", "00000000", "Abcdef12", "abc def", "a@a.aa", "2020-01-01", "é", " ", "-"}
	for _, p := range slices.Concat(b.yes, b.no) {
		words = append(words, samples(p.String())...)
	}
	for _, w := range words {
		for utf8.RuneCountInString(w) < l.min && len(w) < 1<<10 {
			if w == "" {
				w = "a"
			}
			w += w
		}
		if utf8.RuneCountInString(w) > l.max {
			w = string([]rune(w)[:l.max])
		}
		if utf8.RuneCountInString(w) < l.min || !x.s.meter.Spend(1) {
			continue
		}
		if x.keeps(b, w) {
			return found
		}
	}
	return open
}

// keeps tries a string that the patterns of a branch leave standing.
func (x *search) keeps(b *branch, w string) bool {
	steps := 10_000
	for _, p := range b.yes {
		if ok, decided := p.Match(w, &steps); !ok || !decided {
			return false
		}
	}
	for _, p := range b.no {
		if ok, decided := p.Match(w, &steps); ok || !decided {
			return false
		}
	}
	before := len(x.values)
	return x.try(stringValue(w)) == found && len(x.values) > before
}

// formatted tries strings of the formats demanded, so that writers that assert
// them could write the value too.
func (x *search) formatted(b *branch, l language) bool {
	if len(b.soft) == 0 || len(b.unsoft) > 0 {
		return false
	}
	for _, soft := range b.soft {
		for _, w := range ofFormat[soft] {
			if n := utf8.RuneCountInString(w); n >= l.min && n <= l.max && !slices.Contains(l.not, w) && x.s.meter.Spend(1) && x.keeps(b, w) {
				return true
			}
		}
	}
	return false
}

// ofFormat are strings of each format that some readers assert, as branches name
// them: a short one first, then a longer one where the format allows.
var ofFormat = map[string][]string{
	"format date-time": {"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.123456+01:00"}, "format date": {"2020-01-01"}, "format time": {"00:00:00Z", "00:00:00.123456+01:00"},
	"format duration": {"P1D", "P1Y2M3DT4H5M6S"}, "format email": {"a@a.aa", "abcdefghijkl@example.org"}, "format idn-email": {"a@a.aa", "abcdefghijkl@example.org"},
	"format hostname": {"a.aa", "abcdefghijkl.example.org"}, "format idn-hostname": {"a.aa", "abcdefghijkl.example.org"}, "format ipv4": {"1.2.3.4", "127.127.127.127"},
	"format ipv6": {"::1", "2001:db8::1234:5678"}, "format uri": {"a:b", "http://example.org/abcdefghijkl"}, "format iri": {"a:b", "http://example.org/abcdefghijkl"},
	"format uri-reference": {"a", "http://example.org/abcdefghijkl"}, "format iri-reference": {"a", "http://example.org/abcdefghijkl"},
	"format uri-template": {"a", "http://example.org/{abcdefghijkl}"}, "format uuid": {"01234567-89ab-cdef-0123-456789abcdef"},
	"format json-pointer": {"", "/abcdefghijkl/mnopqrst"}, "format relative-json-pointer": {"0", "0/abcdefghijkl"}, "format regex": {"a", "^abcdefghijklmnop$"},
	"content base64": {"", "YWFh"}, "content application/json": {"0", "[]"},
}

// samples are the literal stretches of a pattern.
func samples(pattern string) (out []string) {
	from := 0
	cut := func(to int) {
		if to > from && len(out) < 16 {
			out = append(out, pattern[from:to])
		}
	}
	for i := range len(pattern) {
		c := pattern[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			continue
		}
		cut(i)
		from = i + 1
	}
	cut(len(pattern))
	return out
}
