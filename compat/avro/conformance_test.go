package avro_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// conformancePair is a case of the outside suite that CARTORIO_CONFORMANCE
// names.
type conformancePair struct {
	ID            string
	Old, New      string
	OldReferences []conformanceReference
	NewReferences []conformanceReference
	Expect        map[string]bool
	Errors        map[string][]struct{ Type, Path, Info string }
	JavaReads     map[string]string
}

type conformanceReference struct{ Name, Schema string }

// TestConformance holds the checker to the cases of an outside suite: verdicts,
// and kinds, paths and texts of every difference in order.
func TestConformance(t *testing.T) {
	folder := os.Getenv("CARTORIO_CONFORMANCE")
	if folder == "" {
		t.Skip("CARTORIO_CONFORMANCE names no folder with avro/handed.json: the outside suite did not run")
	}
	text, err := os.ReadFile(filepath.Join(folder, "avro", "handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []conformancePair
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	passed, open := 0, 0
	for _, c := range cases {
		ok := t.Run(c.ID, func(t *testing.T) {
			old, next := parsePair(t, c.Old, c.OldReferences), parsePair(t, c.New, c.NewReferences)
			for level, want := range c.Expect {
				open += checkCase(t, c, level, want, old, next)
			}
		})
		if ok {
			passed++
		}
	}
	if len(cases) == 0 {
		t.Fatal("no case ran")
	}
	t.Logf("%d of %d pairs pass; truth left %d verdicts not checked", passed, len(cases), open)
}

func parsePair(t *testing.T, text string, references []conformanceReference) schemas.Schema {
	t.Helper()
	named := map[string]schemas.Source{}
	list := make([]schemas.Reference, 0, len(references))
	for _, r := range references {
		used := []schemas.Reference{}
		for _, before := range list {
			simple := before.Name[strings.LastIndex(before.Name, ".")+1:]
			if strings.Contains(r.Schema, `"`+before.Name+`"`) || strings.Contains(r.Schema, `"`+simple+`"`) {
				used = append(used, before)
			}
		}
		named[r.Name] = schemas.Source{Type: schemas.Avro, Text: r.Schema, References: used}
		list = append(list, schemas.Reference{Name: r.Name, Subject: r.Name, Version: 1})
	}
	resolve := schemas.ResolverFunc(func(_ context.Context, _ schemas.Context, r schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{Subject: schemas.Subject{Context: schemas.DefaultContext, Name: r.Subject}, Version: 1, Source: named[r.Name]}, nil
	})
	s, err := avro.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text, References: list}, resolve, schemas.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkCase(t *testing.T, c conformancePair, name string, want bool, old, next schemas.Schema) (open int) {
	t.Helper()
	level, err := compat.ParseLevel(name)
	if err != nil {
		t.Fatal(err)
	}
	q := compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Subject: "case", Level: level, Next: next,
		History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
	}
	r := compat.Check(q)
	if r.Compatible != want || r.NotChecked {
		t.Errorf("%s: compatible %t, want %t: %v", name, r.Compatible, want, r.Messages)
	}
	got := r.Compared[0].Backward
	if level == compat.Forward {
		got = r.Compared[0].Forward
	}
	if errors := c.Errors[name]; level != compat.Full && errors != nil {
		if len(got) != len(errors) {
			t.Errorf("%s: got %d differences, want %d: %+v", name, len(got), len(errors), got)
		}
		for i := range min(len(got), len(errors)) {
			if d := got[i]; d.Type != errors[i].Type || d.Path != errors[i].Path || d.Info != errors[i].Info {
				t.Errorf("%s: difference %d is %s %s %q, want %+v", name, i, d.Type, d.Path, d.Info, errors[i])
			}
		}
	}
	for _, f := range r.Compared[0].Findings {
		if f.Severity == compat.SeverityBreaking && len(f.Aliases) == 1 && strings.HasPrefix(f.Rule, "avro.") && f.Why == "" {
			t.Errorf("%s: no change explains %s at %s", name, f.Rule, f.Path)
		}
	}
	q.VerdictPolicy = compat.Sound
	sound := compat.Check(q)
	if sound.NotChecked {
		open++
		t.Logf("%s: truth is open: %v", name, sound.Messages)
	}
	if java := c.JavaReads[name]; java == "all" && !sound.Compatible || java != "" && java != "all" && sound.Compatible {
		t.Logf("%s: the peer's reader reads %s, ours says %s", name, java, sound.Verdict())
	}
	return open
}
