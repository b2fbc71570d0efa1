// Package linttest is the workshop of linters: what every one of them must keep.
package linttest

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/schemas"
)

var update = flag.Bool("update", false, "rewrite what the examples are mended to")

// Run refuses a linter unless its rules are complete and its examples show what
// they say: the bad one has exactly the remarks of its rule, the good one none;
// where the bad one can be mended, what comes out is the section fixed, has no
// remark of the rule and passes both ways under every policy.
func Run(t *testing.T, format schemas.Format, checker compat.Checker, l lint.Linter) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range checker.Rules {
		seen[r.ID] = true
	}
	for _, r := range l.Rules {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			rule(t, format, checker, l, r)
		})
		if seen[r.ID] {
			t.Errorf("%s: the id is taken", r.ID)
		}
		seen[r.ID] = true
		if !strings.HasPrefix(r.ID, strings.ToLower(string(format.Type))+".") {
			t.Errorf("%s: the id does not begin with the format", r.ID)
		}
	}
}

func rule(t *testing.T, format schemas.Format, checker compat.Checker, l lint.Linter, r lint.Rule) {
	if r.Title == "" || r.Why == "" || r.Instead == "" || r.Bad == "" || r.Good == "" {
		t.Fatalf("rules/%s lacks a part: it has a title, a paragraph, one after fix:, and the sections bad and good", r.File())
	}
	parse := func(text string) (schemas.Schema, error) {
		return format.Parse(context.Background(), schemas.Source{Type: format.Type, Text: text}, nil, schemas.ParseOptions{})
	}
	look := func(text, path string) []lint.Remark {
		s, err := parse(text)
		if err != nil {
			t.Fatalf("the example does not parse: %v\n%s", err, text)
		}
		var of []lint.Remark
		for _, m := range l.Look(lint.Subject{Schema: s, Path: path, Parse: parse}) {
			if m.Place.Position.Line < 1 || m.Place.Position.Column < 1 {
				t.Errorf("%s: the remark %q has no place: %+v", m.Rule, m.Text, m.Place)
			}
			if m.Rule == r.ID {
				of = append(of, m)
			}
		}
		return of
	}
	remarks := func(text string) []lint.Remark { return look(text, r.Path) }
	bad := remarks(r.Bad)
	if len(bad) != 1 {
		t.Errorf("the bad example has %d remarks of the rule, want 1: %+v", len(bad), bad)
	}
	if good := look(r.Good, cmp.Or(r.GoodPath, r.Path)); len(good) > 0 {
		t.Errorf("the good example has remarks of the rule: %+v", good)
	}
	edits := 0
	for _, m := range bad {
		edits += len(m.Edits)
	}
	if (edits > 0) != (r.Fixed != "") && !*update {
		t.Errorf("the bad example has %d edits, and the section fixed is %q", edits, r.Fixed)
	}
	if edits == 0 {
		return
	}
	before, _ := parse(r.Bad)
	fixed, _ := lint.Mend(r.Bad, remarks, func(text string) bool {
		after, err := parse(text)
		return err == nil && lint.Same(before, after, []compat.Checker{checker})
	})
	if *update && fixed != r.Fixed {
		rewrite(t, r, fixed)
		return
	}
	if fixed != r.Fixed {
		t.Errorf("mended to\n%s\nwant\n%s", fixed, r.Fixed)
	}
	if left := remarks(fixed); len(left) > 0 {
		t.Errorf("what was mended still has remarks of the rule: %+v", left)
	}
}

func rewrite(t *testing.T, r lint.Rule, fixed string) {
	file := "rules/" + r.File()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(text), "-- fixed --\n")
	if err := os.WriteFile(file, []byte(fmt.Sprintf("%s-- fixed --\n%s", head, fixed)), 0o600); err != nil {
		t.Fatal(err)
	}
}
