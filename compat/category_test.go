package compat_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// TestCategory: a category replaces the level where the format has rule sets,
// and refuses whatever the reference and the truth say.
func TestCategory(t *testing.T) {
	t.Parallel()
	s := &script{reference: map[string][]compat.Difference{"b<a": {missing("/")}}}
	q := s.ask(compat.Backward, "b", "a")
	q.Category = "WIRE"
	if r := compat.Check(q); r.Compatible || r.Category != "" || r.Level != compat.Backward {
		t.Errorf("a format without rule sets is not judged by its level: %+v", r)
	}
	answer, err := []compat.Difference{{Type: "FIELD_SAME_NAME", Path: "M.a", Info: "it was renamed"}}, error(nil)
	var asked []string
	q.Checkers[0].CategoryNames = []string{"FILE", "WIRE"}
	q.Checkers[0].Categories = func(_, _ schemas.Schema, category string) ([]compat.Difference, error) {
		asked = append(asked, category)
		if category == "FILE" {
			panic("no such luck")
		}
		return answer, err
	}
	r := compat.Check(q)
	if r.Compatible || r.NotChecked || r.Category != "WIRE" || !slices.Equal(asked, []string{"WIRE"}) {
		t.Errorf("%+v, asked %v", r, asked)
	}
	f := r.Compared[0].Findings[0]
	if f.Rule != "avro.field-same-name" || f.Severity != compat.SeverityBreaking || f.Direction != "both" || f.Aliases[0] != "FIELD_SAME_NAME" {
		t.Errorf("finding %+v", f)
	}
	if !strings.Contains(strings.Join(r.Messages, " "), "errorType:'FIELD_SAME_NAME'") {
		t.Errorf("messages %v", r.Messages)
	}
	if d := compat.NewDocument("test", r); d.Compared[0].Level != "WIRE" || d.Compared[0].Direction != "both" {
		t.Errorf("document %+v", d.Compared[0])
	}
	q.Level = compat.None
	if r := compat.Check(q); r.Compatible {
		t.Error("level NONE let a category pass")
	}
	answer = nil
	if r := compat.Check(q); !r.Compatible || len(r.Messages) > 0 {
		t.Errorf("nothing refused, and the answer is %+v", r)
	}
	err = compat.ErrNotChecked
	if r := compat.Check(q); !r.NotChecked {
		t.Errorf("an answer that was not had is %+v", r)
	}
	err, q.Category = errors.New("odd"), "FILE"
	if r := compat.Check(q); !r.NotChecked || !strings.Contains(r.Compared[0].Reason, "no such luck") {
		t.Errorf("a panic is %+v", r)
	}
}

func TestParseCategory(t *testing.T) {
	t.Parallel()
	checkers := []compat.Checker{{}, {CategoryNames: []string{"FILE", "WIRE_JSON"}}}
	for text, want := range map[string]string{"": "", "file": "FILE", "wire-json": "WIRE_JSON"} {
		if got, err := compat.ParseCategory(checkers, text); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := compat.ParseCategory(checkers, "all"); err == nil || !strings.Contains(err.Error(), "FILE, WIRE_JSON") {
		t.Errorf("all is %v", err)
	}
}

// TestCategoryElsewhere: a place in a referenced text has no line in this one.
func TestCategoryElsewhere(t *testing.T) {
	t.Parallel()
	at := schemas.Place{Pointer: "/fields/0", Position: schemas.Position{Line: 10, Column: 3}, End: schemas.Position{Line: 10, Column: 9}}
	for _, sides := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
		q := (&script{}).ask(compat.Backward, "b", "a")
		q.Category = "WIRE"
		q.Checkers[0].CategoryNames = []string{"WIRE"}
		q.Checkers[0].Categories = func(_, _ schemas.Schema, _ string) ([]compat.Difference, error) {
			return []compat.Difference{{Type: "FIELD_SAME_NAME", Path: "M.a", Writer: at, Reader: at, Elsewhere: sides}}, nil
		}
		f := compat.Check(q).Compared[0].Findings[0]
		for i, l := range []compat.Location{f.Base, f.Head} {
			if l.Elsewhere != sides[i] || (l.Line == 10) == sides[i] || l.Pointer != "/fields/0" {
				t.Errorf("elsewhere %v, side %d: %+v", sides, i, l)
			}
		}
	}
}
