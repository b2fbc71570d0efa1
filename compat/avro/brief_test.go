package avro_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
)

// TestBrief: what a registration is told of a pair does not depend on whether
// payloads are to be shown.
func TestBrief(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, 300*time.Millisecond)
	levels := []compat.Level{compat.Backward, compat.Forward, compat.Full}
	policies := []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both}
	pairs := 0
	for i := uint64(0); time.Now().Before(end); i++ {
		r := rand.New(rand.NewPCG(seed, i))
		oldText, newText := generatePair(r, 1+r.IntN(16))
		q := compat.Question{
			Checkers: []compat.Checker{compatavro.Checker}, Level: pick(r, levels), VerdictPolicy: pick(r, policies), Next: parse(t, newText),
			History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, oldText)}},
		}
		full := compat.Check(q)
		q.Brief = true
		brief := compat.Check(q)
		for _, f := range brief.Compared[0].Findings {
			if f.Witness != nil || f.Fingerprint != "" {
				t.Errorf("seed %d pair %d: a brief answer shows %+v", seed, i, f)
			}
		}
		if diff := cmp.Diff(full, brief,
			cmpopts.IgnoreFields(compat.Finding{}, "Witness", "Fingerprint"),
			cmpopts.IgnoreFields(compat.Comparison{}, "Old", "Effects", "Changes")); diff != "" {
			t.Fatalf("seed %d pair %d (-full +brief):\n%s\nold: %s\nnew: %s", seed, i, diff, oldText, newText)
		}
		pairs++
	}
	if pairs == 0 {
		t.Error("nothing was tested")
	}
}
