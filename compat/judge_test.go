package compat_test

import (
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
)

// TestDifferencesFindTheirChange: which of several changes a difference of the
// peer's is about.
func TestDifferencesFindTheirChange(t *testing.T) {
	t.Parallel()
	here, part := place("/r", 0), place("/r", 0)
	change := func(rule, path string, effect compat.Outcome) compat.Change {
		return compat.Change{Rule: rule, Path: path, Old: part, New: part, Effects: compat.OnData(effect, effect)}
	}
	difference := func(kind, path string) compat.Difference {
		return compat.Difference{Type: kind, Path: path, Reader: here, Writer: here}
	}
	rules := []compat.Rule{
		{ID: "avro.gone", Mirror: "avro.come", Peers: []string{"MISSING"}},
		{ID: "avro.come", Mirror: "avro.gone", Peers: []string{"EXTRA"}},
	}
	for _, c := range []struct {
		name    string
		level   compat.Level
		changes []compat.Change
		list    []compat.Difference
		want    map[string]compat.Severity // by path
	}{
		{
			"the one of its name", compat.Backward,
			[]compat.Change{change("avro.gone", "r.a", compat.Reads), change("avro.gone", "r.b", compat.Reads)},
			[]compat.Difference{difference("MISSING", "/fields/b")},
			map[string]compat.Severity{"r.a": compat.Note, "r.b": compat.SeverityBreaking},
		},
		{
			"the mirror's name, where the peer swaps the pair", compat.Forward,
			[]compat.Change{change("avro.come", "r.a", compat.Reads)},
			[]compat.Difference{difference("MISSING", "/0")},
			map[string]compat.Severity{"r.a": compat.SeverityBreaking},
		},
		{
			"not the mirror's name in the peer's own direction", compat.Backward,
			[]compat.Change{change("avro.come", "r.a", compat.Reads)},
			[]compat.Difference{difference("MISSING", "/0")},
			map[string]compat.Severity{"r.a": compat.Note, "/0": compat.SeverityBreaking},
		},
		{
			"one inside that hurts, where the peer blames the whole", compat.Backward,
			[]compat.Change{change("avro.come", "r.a", compat.Reads), change("avro.come", "r.b", compat.Refuses)},
			[]compat.Difference{difference("UNION", "/0")},
			map[string]compat.Severity{"r.a": compat.Note, "r.b": compat.SeverityBreaking},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key := "n<o"
			if c.level == compat.Forward {
				key = "o<n"
			}
			effect := compat.Effect{NewReadsOld: compat.Refuses, OldReadsNew: compat.Refuses}
			s := &script{
				reference: map[string][]compat.Difference{key: c.list}, changes: map[string][]compat.Change{"o>n": c.changes},
				effects: map[string]compat.Effect{"o>n": effect},
			}
			q := s.ask(c.level, "n", "o")
			q.Checkers[0].Rules = rules
			got := map[string]compat.Severity{}
			for _, f := range compat.Check(q).Compared[0].Findings {
				if f.Path != "" {
					got[f.Path] = f.Severity
				}
			}
			for path, want := range c.want {
				if got[path] != want {
					t.Errorf("%s is %q, want %q", path, got[path], want)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("want %v, got %v", c.want, got)
			}
		})
	}
}

// TestWordsOfDoubt: what the reference registry says of a pair is told as its
// word, with what is known of data beside it; and a whole break by what the
// reader does.
func TestWordsOfDoubt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		outcome compat.Outcome
		list    []compat.Difference
		want    string
	}{
		{"the peer alone", compat.Reads, []compat.Difference{{Type: "UNION", Path: "/0"}}, "the reference registry says that the new schema does not read what the old one writes at /0: UNION; it reads every payload all the same"},
		{"open", compat.Undecided, []compat.Difference{{Type: "UNION", Path: "/0"}}, "the reference registry says that the new schema does not read what the old one writes at /0: UNION; whether a payload exists that it does not read is open"},
		{"both", compat.Refuses, []compat.Difference{{Type: "UNION", Path: "/0"}}, "the reference registry says that the new schema does not read what the old one writes at /0: UNION"},
		{"refused", compat.Refuses, nil, "payloads exist that the other side refuses"},
		{"lost", compat.Loses, nil, "payloads exist that the other side reads without a value that was written"},
		{"altered", compat.Alters, nil, "payloads exist that the other side reads as another value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &script{
				reference: map[string][]compat.Difference{"n<o": c.list},
				effects:   map[string]compat.Effect{"o>n": {NewReadsOld: c.outcome, OldReadsNew: compat.Reads}},
			}
			var got []string
			for _, f := range compat.Check(s.ask(compat.Backward, "n", "o")).Compared[0].Findings {
				got = append(got, f.Message)
			}
			if !slices.Contains(got, c.want) {
				t.Errorf("want %q among %q", c.want, got)
			}
		})
	}
}

// A witness says "fails" only of a reader that refuses it.
func TestWitnessSentence(t *testing.T) {
	t.Parallel()
	for kind, want := range map[compat.Kind]string{
		compat.Unhurt:            "fails under the new one",
		compat.Refused:           "fails under the new one",
		compat.Lost:              "loses a value under the new one",
		compat.Altered:           "reads as another value under the new one",
		compat.AlteredOutOfRange: "reads as another value under the new one",
		compat.MeaningOnly:       "stands for something else under the new one",
	} {
		w := compat.ShownWitness{Value: "1", Writer: "old", Reader: "new", Text: "why", Kind: kind}
		if got := w.Sentence(); got != "1, written with the old schema, "+want+": why" {
			t.Errorf("%s: %s", kind, got)
		}
	}
	if got := (compat.ShownWitness{Hex: "00", Message: "a.B", Writer: "new", Reader: "old", Text: "why"}).Sentence(); got != "a.B bytes 00, written with the new schema, fails under the old one: why" {
		t.Error(got)
	}
}
