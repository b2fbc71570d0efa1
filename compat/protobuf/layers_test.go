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
	hard, witnessed, agree, met := 0, 0, 0, 0
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			old, next := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
			effects, changes := checker.Checker.Truth(old, next, compat.Budget{})
			var told []string
			for _, change := range changes {
				for layer, e := range change.Effects {
					if e != (compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: compat.Reads}) {
						told = append(told, fmt.Sprintf("%s %s %s %v", layer, change.Rule, change.Path, e))
					}
				}
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
						met++
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
			if got := effects[compat.SourceCode].NewReadsOld.Answer == compat.Breaks; got != c.Breaks.Source {
				t.Errorf("source breaks: %t, want %t: %v", got, c.Breaks.Source, told)
			}
		})
	}
	if agree == 0 {
		t.Fatal("no case ran")
	}
	if met != len(otherwise) {
		t.Errorf("%d entries of the ledger were met, it has %d", met, len(otherwise))
	}
	t.Logf("%d outcomes agree with the oracle, %d of %d hard breaks carry a witness, %d differ as the ledger says", agree, witnessed, hard, len(otherwise))
}

// otherwise lists where the answer differs from the oracle's, and why that
// stands.
var otherwise = func() map[string]string {
	out := map[string]string{}
	add := func(reason string, keys ...string) {
		for _, key := range keys {
			out[key] = reason
		}
	}
	both := func(id string, layers ...string) (keys []string) {
		for _, layer := range layers {
			keys = append(keys, id+"/"+layer+"/BACKWARD", id+"/"+layer+"/FORWARD")
		}
		return keys
	}
	const extensions = "the oracle sets no extensions; their values travel and break like those of other fields"
	add(extensions, both("buf-field-same-cardinality-3-proto", "wire", "json")...)
	add(extensions, both("buf-field-same-name-2-proto", "json")...)
	add(extensions, both("buf-field-same-type-3-proto", "json")...)
	add(extensions, both("buf-field-wire-compatible-cardinality-3-proto", "wire", "json")...)
	add(extensions, both("buf-field-wire-json-compatible-cardinality-3-proto", "wire", "json")...)
	add("the oracle takes no message of an imported file for the message of the same full name in the own file",
		"buf-field-same-type-2-proto/wire/FORWARD", "buf-field-same-type-2-proto/json/FORWARD",
		"buf-field-wire-json-compatible-cardinality-2-proto/wire/FORWARD", "buf-field-wire-json-compatible-cardinality-2-proto/json/FORWARD")
	add("numbers that the open enum does not declare may be written, and are told as out of range; the oracle writes declared ones only",
		"buf-message-enum-1-proto/wire/FORWARD", "buf-message-enum-1-proto/json/FORWARD", "buf-message-enum-2-proto/wire/BACKWARD",
		"buf-message-enum-2-proto/json/BACKWARD", "own-msg-becomes-enum/wire/FORWARD", "own-msg-becomes-enum/json/FORWARD",
		"buf-int-enum-1-proto/json/BACKWARD",
		"own-ed-enum-open-to-closed/wire/BACKWARD", "own-ed-enum-open-to-closed/json/BACKWARD")
	add("a number that the floating type does not hold exactly is rounded: out of range, which is told softly (the vocabulary of Kind)",
		"own-scalar-int32-to-float/json/BACKWARD", "own-scalar-int64-to-double/json/BACKWARD", "own-scalar-float-to-double/json/BACKWARD",
		"own-scalar-float-to-fixed32/json/FORWARD", "own-scalar-float-to-int32/json/FORWARD", "own-scalar-double-to-int64/json/FORWARD",
		"own-repeated-fixed32-to-float/json/BACKWARD", "rp-float-double/json/FORWARD")
	add("the encoded message as opaque bytes counts as kept, in a map as elsewhere (B.1, mark O)", "own-map-string-point-to-string-bytes/wire/BACKWARD")
	add("the oracle writes no Any with a type, since it has no resolver for JSON",
		"own-wkt-struct-to-any/json/FORWARD", "own-wkt-message-to-any/json/FORWARD")
	return out
}()
