package jsonschema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
)

// TestTruthConformance runs an outside folder of cases, named by
// CARTORIO_CONFORMANCE, against the answer about data: never a yes where the
// truth is no, never a break where it is yes, and few left open.
func TestTruthConformance(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("CARTORIO_CONFORMANCE")
	if folder == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of conformance cases")
	}
	raw, err := os.ReadFile(filepath.Join(folder, "jsonschema", "handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID                           string
		Old, New                     json.RawMessage
		OldReferences, NewReferences []reference
		Truth                        map[string]*bool
		TruthDialect                 string
		Registrable                  *bool
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	directions, undecided, breaks, witnessed := 0, 0, 0, 0
	for _, c := range cases {
		if c.Registrable != nil && !*c.Registrable || c.TruthDialect != "" {
			continue
		}
		old, err := parseWith(textOf(c.Old), c.OldReferences)
		if err != nil {
			t.Errorf("%s: old: %v", c.ID, err)
			continue
		}
		next, err := parseWith(textOf(c.New), c.NewReferences)
		if err != nil {
			t.Errorf("%s: new: %v", c.ID, err)
			continue
		}
		start := time.Now()
		effects, changes := jsoncompat.Checker.Truth(old, next, compat.Budget{})
		if took := time.Since(start); took > time.Second {
			t.Logf("%s: took %v", c.ID, took)
		}
		whole := effects[compat.Data]
		for level, got := range map[string]compat.Outcome{"BACKWARD": whole.NewReadsOld, "FORWARD": whole.OldReadsNew} {
			want := c.Truth[level]
			if want == nil {
				continue
			}
			directions++
			switch {
			case got.Answer == compat.Unchecked:
				undecided++
				t.Logf("%s: %s is open, truth is %v: %s => %s", c.ID, level, *want, c.Old, c.New)
			case (got.Answer == compat.Safe) != *want:
				t.Errorf("%s: %s: want %v, got %v: %s => %s", c.ID, level, *want, got, c.Old, c.New)
			}
		}
		for _, change := range changes {
			e := change.Effects[compat.Data]
			for d, outcome := range []compat.Outcome{e.NewReadsOld, e.OldReadsNew} {
				if outcome.IsHard() {
					breaks++
					if change.Witness[compat.Data][d] != nil {
						witnessed++
					}
				}
			}
		}
	}
	if directions == 0 {
		t.Fatal("no case ran")
	}
	t.Logf("%d directions judged, %d open; %d breaking changes, %d with a witness", directions, undecided, breaks, witnessed)
}
