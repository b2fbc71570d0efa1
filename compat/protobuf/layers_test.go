package protobuf_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
)

// TestOutsideLayers holds the effects to what an outside oracle found: a hard
// break where it lists one, and none where its list is empty.
func TestOutsideLayers(t *testing.T) {
	root := os.Getenv("CARTORIO_CONFORMANCE")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of the conformance kit")
	}
	raw, err := os.ReadFile(filepath.Join(root, "protobuf/handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Old, New                 string
		OldReferences, NewReferences []reference
		Breaks                       struct {
			Wire, JSON map[string][]string
			Source     bool
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	hard, witnessed, agree := 0, 0, 0
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			old, next := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
			effects, changes := checker.Checker.Truth(old, next, compat.Budget{})
			var told []string
			for _, change := range changes {
				told = append(told, fmt.Sprintf("%s at %s %v", change.Rule, change.Path, change.Effects))
				for _, layer := range []compat.Layer{compat.Wire, compat.JSONMapping} {
					for d, o := range []compat.Outcome{change.Effects[layer].NewReadsOld, change.Effects[layer].OldReadsNew} {
						if o.IsHard() {
							hard++
							if change.Witness[layer][d] != nil {
								witnessed++
							} else {
								t.Errorf("%s at %s breaks on %s without a witness", change.Rule, change.Path, layer)
							}
						}
					}
				}
			}
			for _, side := range []struct {
				layer compat.Layer
				want  map[string][]string
			}{{compat.Wire, c.Breaks.Wire}, {compat.JSONMapping, c.Breaks.JSON}} {
				for d, name := range []string{"BACKWARD", "FORWARD"} {
					pick := func(e compat.Effect) compat.Outcome { return [2]compat.Outcome{e.NewReadsOld, e.OldReadsNew}[d] }
					want := side.want[name]
					soft := !slices.ContainsFunc(want, func(one string) bool { return !slices.Contains([]string{"cast", "closed", "default", "utf8"}, one) })
					any := slices.ContainsFunc(changes, func(c compat.Change) bool { return pick(c.Effects[side.layer]).Answer == compat.Breaks })
					got := pick(effects[side.layer])
					key := fmt.Sprintf("%s/%s/%s", c.ID, side.layer, name)
					if got.Answer == compat.Unchecked {
						t.Errorf("%s is not checked: %v", key, told)
					}
					ok := got.IsHard()
					switch {
					case len(want) == 0:
						ok = !any
					case soft:
						ok = any
					}
					if reason := otherwise[key]; reason != "" {
						if ok {
							t.Errorf("%s agrees, and the ledger says: %s", key, reason)
						}
						continue
					}
					if ok {
						agree++
						continue
					}
					t.Errorf("%s is %v (any %t), the oracle found %v\n%v", key, got, any, want, told)
				}
			}
			if got := effects[compat.SourceCode].NewReadsOld.Answer == compat.Breaks; got != c.Breaks.Source && otherwise[c.ID+"/source"] == "" {
				t.Errorf("source breaks: %t, want %t: %v", got, c.Breaks.Source, told)
			}
		})
	}
	if agree == 0 {
		t.Fatal("no case ran")
	}
	t.Logf("%d outcomes agree with the oracle, %d of %d hard breaks carry a witness, %d differ as the ledger says", agree, witnessed, hard, len(otherwise))
}

// otherwise lists where the answer differs from the oracle's, and why that
// stands.
var otherwise = map[string]string{}
