package checktest_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checktest"
	"github.com/cartorio-registry/cartorio/schemas"
)

// letters is a format for these tests: a schema is a set of letters, written in
// any order; the normalized form is sorted.
type letters string

func (l letters) Source() schemas.Source { return schemas.Source{Type: "LETTERS", Text: string(l)} }
func (l letters) Canonical() string      { return string(l) }
func (l letters) Normalized() (string, []schemas.Reference) {
	list := strings.Split(string(l), "")
	slices.Sort(list)
	return strings.Join(list, ""), nil
}
func (l letters) Fingerprint() schemas.Fingerprint { return sha256.Sum256([]byte(l)) }
func (l letters) Equivalent(o schemas.Schema) bool { return o.Canonical() == string(l) }
func (l letters) Names() []string                  { return nil }
func (l letters) Weight() int                      { return len(l) }
func (l letters) Reads(schemas.Schema, schemas.Payload, schemas.ReadOptions) schemas.Reading {
	return schemas.Reading{}
}

var format = schemas.Format{
	Type: "LETTERS",
	Parse: func(_ context.Context, s schemas.Source, _ schemas.Resolver, _ schemas.ParseOptions) (schemas.Schema, error) {
		if strings.Contains(s.Text, "!") {
			return nil, fmt.Errorf("parse %q: ! is no letter", s.Text)
		}
		return letters(s.Text), nil
	},
}

var gone, come = compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Reads}, compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Refuses}

// fault is what a broken checker gets wrong.
type fault struct {
	self, order, onlyAdded, wrongEffect, wrongWhole, noBlame bool
}

func checker(f fault) compat.Checker {
	return compat.Checker{
		Format: "LETTERS",
		Rules: []compat.Rule{
			{ID: "letters.gone", Mirror: "letters.come", May: []compat.Effect{gone}},
			{ID: "letters.come", Mirror: "letters.gone", May: []compat.Effect{come}},
		},
		Truth: func(old, next schemas.Schema, _ compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
			whole, changes := compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}, []compat.Change{}
			report := func(rule string, letter rune, e compat.Effect) {
				whole = whole.Combine(e)
				if f.wrongEffect && letter == 'w' {
					e = compat.Effect{NewReadsOld: compat.Loses, OldReadsNew: compat.Loses}
				}
				if f.noBlame {
					e = compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}
				}
				place := schemas.Place{Pointer: schemas.Pointer("/" + string(letter))}
				changes = append(changes, compat.Change{Rule: rule, Old: place, New: place, Effects: map[compat.Layer]compat.Effect{compat.Data: e}})
			}
			for _, letter := range old.Canonical() {
				if !f.onlyAdded && !strings.ContainsRune(next.Canonical(), letter) {
					report("letters.gone", letter, gone)
				}
			}
			for _, letter := range next.Canonical() {
				if !strings.ContainsRune(old.Canonical(), letter) {
					report("letters.come", letter, come)
				}
			}
			if f.self && old == next || f.order && len(changes) == 0 && old != next {
				report("letters.gone", 's', gone)
			}
			if f.wrongWhole {
				whole.NewReadsOld = compat.Refuses
			}
			return map[compat.Layer]compat.Effect{compat.Data: whole}, changes
		},
	}
}

// TestLawsBite: a checker that is right breaks no law, and each way of being
// wrong breaks its own.
func TestLawsBite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, old, next string
		fault           fault
		want            string
	}{
		{"right", "ba", "caw", fault{}, ""},
		{"no schema", "a!", "a", fault{}, "parse"},
		{"differs from itself", "ab", "ab", fault{self: true}, "identity"},
		{"differs from its normalized form", "ba", "ba", fault{order: true}, "canon"},
		{"sees additions alone", "ab", "a", fault{onlyAdded: true}, "swap"},
		{"whole that is not mirrored", "ab", "ac", fault{wrongWhole: true}, ""},
		{"whole that breaks one way only", "a", "ac", fault{wrongWhole: true}, "swap"},
		{"an effect the rule may not have", "a", "aw", fault{wrongEffect: true}, "effect"},
		{"nobody to blame", "a", "ab", fault{noBlame: true}, "blame"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if law, text := checktest.Broken(format, checker(c.fault), c.old, c.next); law != c.want {
				t.Errorf("breaks %q (%s), want %q", law, text, c.want)
			}
		})
	}
}

func TestWitnessLines(t *testing.T) {
	t.Parallel()
	c := compat.Change{Witness: map[compat.Layer][2]*compat.Witness{
		compat.Data: {{JSON: `{"a":1}`, Bytes: []byte{2}, Text: "no b"}, nil},
		compat.Wire: {nil, {JSON: `{}`, Text: "no a"}},
	}}
	const want = "new reads old: {\"a\":1}, 02: no b\nold reads new (wire): {}, no bytes: no a\n"
	if got := checktest.WitnessLines(c); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
