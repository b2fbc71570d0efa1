package avro_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/compat/checktest"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// FuzzDiff holds any two schemas to the laws of identity, swap, canon and blame,
// and every verdict to an answer without a panic.
func FuzzDiff(f *testing.F) {
	for _, r := range compatavro.Checker.Rules {
		f.Add(r.Old, r.New)
		f.Add(r.Near, r.New)
	}
	for i := range uint64(20) {
		old, next := generatePair(rand.New(rand.NewPCG(7, i)), 10)
		f.Add(old, next)
	}
	f.Fuzz(func(t *testing.T, old, next string) {
		law, text := checktest.Broken(avro.Format, compatavro.Checker, old, next)
		switch law {
		case "parse":
			return
		case "":
		default:
			t.Fatalf("%s: %s\nold: %s\nnew: %s", law, text, old, next)
		}
		for _, policy := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
			r := compat.Check(compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, VerdictPolicy: policy,
				Next: parse(t, next), History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, old)}},
			})
			if (len(r.Messages) == 0) != r.Compatible {
				t.Fatalf("%s: %s with the messages %q", policy, r.Verdict(), r.Messages)
			}
		}
	})
}
