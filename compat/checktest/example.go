package checktest

import (
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// example: the pair reports exactly this one change, with an effect that the
// rule may have and witnesses that hold; the swapped pair reports the mirror;
// the near miss does not report it.
func (s suite) example(t *testing.T, r compat.Rule) {
	old, next := s.mustParse(t, "old", r.Old), s.mustParse(t, "new", r.New)
	near := s.mustParse(t, "near", r.Near)

	_, changes := s.checker.Truth(old, next, compat.Budget{})
	if len(changes) != 1 || changes[0].Rule != r.ID {
		t.Fatalf("the example reports %s, want exactly %s", names(changes), r.ID)
	}
	change := changes[0]
	for layer, effect := range change.Effects {
		if !r.Allows(effect) {
			t.Errorf("the effect on %s is %s, which the rule may not have", layer, describe(effect))
		}
	}
	if change.Text == "" || change.Old.Pointer == "" && change.New.Pointer == "" && change.Path == "" {
		t.Errorf("the change says too little of itself: %+v", change)
	}
	s.witnesses(t, change, old, next)
	s.golden(t, r, change)

	_, back := s.checker.Truth(next, old, compat.Budget{})
	if len(back) != 1 || back[0].Rule != r.Mirror {
		t.Errorf("the swapped example reports %s, want exactly %s", names(back), r.Mirror)
	}
	_, missed := s.checker.Truth(old, near, compat.Budget{})
	for _, c := range missed {
		if c.Rule == r.ID {
			t.Errorf("the near miss reports %s: %s", r.ID, c.Text)
		}
	}
}

// witnesses: each hard break on a layer of payloads has a witness, which the
// writer's side reads and the other side refuses or reads as another value.
func (s suite) witnesses(t *testing.T, c compat.Change, old, next schemas.Schema) {
	t.Helper()
	for _, layer := range []compat.Layer{compat.Data, compat.Wire, compat.JSONMapping} {
		effect, ok := c.Effects[layer]
		if !ok {
			continue
		}
		for d, outcome := range []compat.Outcome{effect.NewReadsOld, effect.OldReadsNew} {
			w := c.Witness[layer][d]
			if !outcome.IsHard() {
				if w != nil {
					t.Errorf("%s on %s hurts nobody and has a witness: %s", direction(d), layer, w.JSON)
				}
				continue
			}
			if w == nil {
				t.Errorf("%s on %s is %s and has no witness", direction(d), layer, outcome.Kind)
				continue
			}
			writer, reader := old, next
			if d == 1 {
				writer, reader = next, old
			}
			if text := hurts(writer, reader, w); text != "" {
				t.Errorf("%s on %s: the witness %s %x proves nothing: %s", direction(d), layer, w.JSON, w.Bytes, text)
			}
		}
	}
}

// hurts answers why w proves nothing; empty when it does.
func hurts(writer, reader schemas.Schema, w *compat.Witness) string {
	payload := schemas.Payload{Bytes: w.Bytes, Message: w.Message}
	options := schemas.ReadOptions{Value: true}
	own := writer.Reads(writer, payload, options)
	if !own.OK() {
		return fmt.Sprintf("its own writer refuses it: %s", own.Violations[0].Text)
	}
	other := reader.Reads(writer, payload, options)
	if !other.OK() || len(other.Losses) > 0 || !reflect.DeepEqual(own.Value, other.Value) {
		return ""
	}
	return "the reader takes it as it was written"
}

// golden compares the witness section with the witnesses found, or rewrites it.
func (s suite) golden(t *testing.T, r compat.Rule, c compat.Change) {
	t.Helper()
	got := WitnessLines(c)
	if got == r.Witness {
		return
	}
	if !*update {
		t.Errorf("the witness section differs (-update rewrites it)\nwant:\n%sgot:\n%s", r.Witness, got)
		return
	}
	name := folder + "/" + r.File()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "-- witness --\n")
	_, after, more := strings.Cut(rest, "\n-- ")
	if strings.HasPrefix(rest, "-- ") {
		after, more = strings.TrimPrefix(rest, "-- "), true
	}
	if !ok || !more {
		t.Fatalf("%s has no witness section before another", name)
	}
	if err := os.WriteFile(name, []byte(before+"-- witness --\n"+got+"-- "+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// WitnessLines writes the witnesses of a change, one a line: who reads whom, the
// value, the payload in hex and what the reader says.
func WitnessLines(c compat.Change) string {
	var b strings.Builder
	for _, layer := range []compat.Layer{compat.Data, compat.Wire, compat.JSONMapping, compat.SourceCode} {
		for d, w := range c.Witness[layer] {
			if w == nil {
				continue
			}
			where := ""
			if layer != compat.Data {
				where = " (" + layer.String() + ")"
			}
			payload := hex.EncodeToString(w.Bytes)
			if payload == "" {
				payload = "no bytes"
			}
			fmt.Fprintf(&b, "%s%s: %s, %s: %s\n", direction(d), where, w.JSON, payload, w.Text)
		}
	}
	return b.String()
}

func direction(d int) string {
	if d == 0 {
		return "new reads old"
	}
	return "old reads new"
}

func describe(e compat.Effect) string {
	one := func(o compat.Outcome) string {
		if o.Answer == compat.Breaks {
			return o.Kind.String()
		}
		return o.Answer.String()
	}
	return "new reads old " + one(e.NewReadsOld) + ", old reads new " + one(e.OldReadsNew)
}

func names(changes []compat.Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%s at %s", c.Rule, c.Path))
	}
	return "[" + strings.Join(out, ", ") + "]"
}
