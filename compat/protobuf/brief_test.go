package protobuf_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// sameInBrief holds that a brief answer differs from the full one in what is shown
// only, and tells how many changes lose values on the wire.
func sameInBrief(t *testing.T, old, next schemas.Schema, level compat.Level, policy compat.VerdictPolicy, told string) (losses int) {
	t.Helper()
	q := compat.Question{
		Checkers: []compat.Checker{checker.Checker}, Level: level, VerdictPolicy: policy, Next: next,
		History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
	}
	full := compat.Check(q)
	q.Brief = true
	brief := compat.Check(q)
	// The effects of every change are the same too: they say in which directions
	// findings are told.
	if diff := cmp.Diff(full, brief,
		cmpopts.IgnoreFields(compat.Finding{}, "Witness", "Fingerprint"),
		cmpopts.IgnoreFields(compat.Change{}, "Witness"),
		cmpopts.IgnoreFields(compat.Old{}, "Schema")); diff != "" {
		t.Fatalf("%s at %s under %s (-full +brief):\n%s", told, level, policy, diff)
	}
	for _, c := range brief.Compared[0].Changes {
		if c.Witness != nil {
			t.Fatalf("%s: a brief answer shows %+v", told, c)
		}
		if e := c.Effects[compat.Wire]; e.NewReadsOld == compat.Loses || e.OldReadsNew == compat.Loses {
			losses++
		}
	}
	return losses
}

// TestBrief: what a registration is told of a pair does not depend on whether
// payloads are to be shown. CARTORIO_HUNT=1h hunts for longer.
func TestBrief(t *testing.T) {
	t.Parallel()
	h := newHunter(t)
	levels := []compat.Level{compat.Backward, compat.Forward, compat.Full}
	policies := []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both}
	pairs, losses := 0, 0
	for i := uint64(0); h.hunts(); i++ {
		r := rand.New(rand.NewPCG(h.seed, i))
		drawn := draw(r)
		oldText, oldOther := drawn.texts()
		newText, newOther := drawn.change(r).texts()
		old, err := newJudge(t, oldText, oldOther)
		if err != nil {
			continue // the drawing was no schema
		}
		next, err := newJudge(t, newText, newOther)
		if err != nil {
			continue
		}
		losses += sameInBrief(t, old.schema, next.schema, levels[r.IntN(3)], policies[r.IntN(3)], "old: "+oldText+oldOther+"\nnew: "+newText+newOther)
		pairs++
	}
	if pairs == 0 || losses == 0 {
		t.Errorf("nothing was tested: %d pairs, %d losses", pairs, losses)
	}
}

// TestBriefRenumbered: a field of every sort of kind, label and surrounding that changes
// its number is told in brief as the reader's own answer has it.
func TestBriefRenumbered(t *testing.T) {
	t.Parallel()
	pairs, lost := 0, 0
	for _, syntax := range []string{p2, p3, ed} {
		for _, label := range []string{"", "optional ", "required ", "repeated "} {
			for _, kind := range []string{
				"int32", "uint64", "sint32", "bool", "fixed32", "double", "string", "bytes", "E", "Z", "N", "map<string, int32>",
			} {
				for _, around := range []string{
					"message M { F }",
					"message M { F optional N n = 9; }",
					"message M { oneof o { F int32 other = 7; } }",
					"message M { message Inner { F } optional Inner inner = 1; }",
					"message M { F required int32 must = 8; }",
					"message M { F } message R { optional M m = 1; }",
				} {
					text := func(number, more string) string {
						out := "enum E { A = 0; B = 1; } enum Z { O = 0; } message N { optional int32 x = 1; } " +
							strings.Replace(around, "F", label+kind+" f = "+number+";"+more, 1)
						if syntax == ed {
							out = strings.ReplaceAll(out, "optional ", "")
						}
						return syntax + out
					}
					old := perhaps(t, text("3", ""))
					if old == nil {
						continue // the syntax does not have it
					}
					// The number may be another's in the new text, or the old number may.
					for _, to := range [][2]string{{"4", ""}, {"8", ""}, {"500000000", ""}, {"4", "N g = 3;"}, {"4", "optional N g = 3;"}} {
						if next := perhaps(t, text(to[0], to[1])); next != nil {
							lost += sameInBrief(t, old, next, compat.Full, compat.Both, text("3", "")+" to "+to[0]+" "+to[1])
							pairs++
						}
					}
				}
			}
		}
	}
	t.Logf("%d pairs, %d changes lose values", pairs, lost)
	if lost < 1000 {
		t.Errorf("only %d changes of %d pairs lose values", lost, pairs)
	}
}

// perhaps is the schema of a text, nil for what is none.
func perhaps(t *testing.T, text string) schemas.Schema {
	t.Helper()
	s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		return nil
	}
	return s
}
