package avro_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// hasEndless tells whether some type of s has no finite value.
func hasEndless(s *avro.Schema) bool {
	finite := map[*avro.Named]bool{}
	var ends func(t *avro.Type) bool
	ends = func(t *avro.Type) bool {
		switch {
		case t.Named != nil:
			return finite[t.Named]
		case t.Kind == avro.Union:
			return slices.ContainsFunc(t.Branches, ends)
		}
		return true
	}
	for changed := true; changed; {
		changed = false
		for _, n := range s.Known() {
			if !finite[n] && (n.Kind != avro.Enum || len(n.Symbols) > 0) && !slices.ContainsFunc(n.Fields, func(f *avro.Field) bool { return !ends(f.Type) }) {
				finite[n], changed = true, true
			}
		}
	}
	return has(s, func(t *avro.Type) bool { return !ends(t) })
}

// TestReferenceAgainstTruth: the port and the proof were written apart, and part
// ways only where the specification says so. The reference refuses what nobody
// can write; and it takes any default for usable, and two fields for one alias.
func TestReferenceAgainstTruth(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, 100*time.Millisecond)
	var both, neither, truthAlone, referenceAlone int
	for i := uint64(0); time.Now().Before(end); i++ {
		r := rand.New(rand.NewPCG(seed, i))
		oldText, newText := generatePair(r, 1+r.IntN(16))
		old, next := parse(t, oldText), parse(t, newText)
		effects, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
		list, err := compatavro.Checker.Reference(next, old, compat.Strict, compat.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		refused := effects[compat.Data].NewReadsOld.Kind == compat.Refused
		switch {
		case refused && len(list) > 0:
			both++
		case !refused && len(list) == 0:
			neither++
		case refused:
			truthAlone++
			if !slices.ContainsFunc(changes, func(c compat.Change) bool {
				return c.Effects[compat.Data].NewReadsOld.Kind == compat.Refused && slices.Contains([]string{
					"avro.field-added-with-unusable-default", "avro.field-renamed", "avro.field-renamed-from-alias", "avro.field-added-without-default",
				}, c.Rule)
			}) {
				t.Errorf("seed %d pair %d: the truth alone refuses\nold: %s\nnew: %s", seed, i, oldText, newText)
			}
		default:
			referenceAlone++
			if !hasEndless(old) {
				t.Errorf("seed %d pair %d: the reference alone refuses\nold: %s\nnew: %s\n%v", seed, i, oldText, newText, list)
			}
		}
	}
	t.Logf("seed %d: both refuse %d, neither %d, the truth alone %d, the reference alone %d", seed, both, neither, truthAlone, referenceAlone)
	if both == 0 || neither == 0 {
		t.Error("nothing was tested")
	}
}
