// Package checktest holds the examples and laws that every checker must pass.
//
// A checker's test is one call of [Run]. Rules and their example files are read
// from the folder rules/ beside that test; with the flag -update the witness
// sections are rewritten, never the schemas.
package checktest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

var update = flag.Bool("update", false, "rewrite the witness sections of rule examples")

// folder is where a checker's rules stand, seen from its test.
const folder = compat.Examples

// Run holds checker to every law: its rules as a set, each rule's example and
// near miss, witnesses judged by the format's own reader, mirrors, identity,
// swap, canon, blame, and coverage of the format's vocabulary.
//
// generate makes schema pairs for the laws beside those that the examples give;
// nil means the examples alone.
func Run(t *testing.T, format schemas.Format, checker compat.Checker, generate Generator) {
	t.Helper()
	s := suite{format: format, checker: checker}
	t.Run("rules", s.rules)
	t.Run("coverage", s.coverage)
	for _, r := range checker.Rules {
		t.Run("example/"+r.ID, func(t *testing.T) { s.example(t, r) })
	}
	t.Run("laws", func(t *testing.T) { s.laws(t, generate) })
}

type suite struct {
	format  schemas.Format
	checker compat.Checker
}

func (s suite) parse(text string) (schemas.Schema, error) {
	return s.format.Parse(context.Background(), schemas.Source{Type: s.format.Type, Text: text}, nil, schemas.ParseOptions{})
}

func (s suite) mustParse(t *testing.T, what, text string) schemas.Schema {
	t.Helper()
	schema, err := s.parse(text)
	if err != nil {
		t.Fatalf("%s does not parse: %v\n%s", what, err, text)
	}
	return schema
}

// rules checks the rules as a set, and the files as theirs.
func (s suite) rules(t *testing.T) {
	prefix := strings.ToLower(string(s.format.Type)) + "."
	ids, files := map[string]bool{}, map[string]bool{}
	for _, r := range s.checker.Rules {
		for _, id := range append([]string{r.ID}, r.Was...) {
			if ids[id] {
				t.Errorf("rule id %s is used twice", id)
			}
			ids[id] = true
		}
		files[r.File()] = true
		name, ok := strings.CutPrefix(r.ID, prefix)
		if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("rule id %q is not %s and a kebab-case name", r.ID, prefix)
		}
		if len(r.May) == 0 {
			t.Errorf("rule %s may have no effect at all", r.ID)
		}
		if len(r.Claims) == 0 {
			t.Errorf("rule %s answers for no word of the vocabulary", r.ID)
		}
		for what, text := range map[string]string{"title": r.Title, "reason": r.Why, "fix": r.Fix, "old": r.Old, "new": r.New, "near": r.Near} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("rule %s: its file %s/%s has no %s", r.ID, folder, r.File(), what)
			}
		}
		mirror, ok := compat.RuleByID(s.checker.Rules, r.Mirror)
		if !ok {
			t.Errorf("rule %s: its mirror %q is no rule", r.ID, r.Mirror)
			continue
		}
		if mirror.Mirror != r.ID {
			t.Errorf("rule %s has the mirror %s, whose mirror is %s", r.ID, r.Mirror, mirror.Mirror)
		}
		for _, e := range r.May {
			if !mirror.Allows(e.Mirror()) {
				t.Errorf("rule %s may have the effect %v, its mirror %s not the mirrored one", r.ID, e, mirror.ID)
			}
		}
	}
	found, err := filepath.Glob(folder + "/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		if !files[filepath.Base(file)] {
			t.Errorf("%s is no rule's file", file)
		}
	}
}

// coverage: every word of the format is claimed by a rule or listed as neutral
// with a reason, and no entry is stale.
func (s suite) coverage(t *testing.T) {
	words := s.format.Vocabulary()
	claimed := map[string]bool{}
	for _, r := range s.checker.Rules {
		for _, claim := range r.Claims {
			claimed[claim] = true
			if !slices.Contains(words, claim) {
				t.Errorf("rule %s claims %q, which is no word of the vocabulary", r.ID, claim)
			}
		}
	}
	neutral := map[string]bool{}
	text, err := os.ReadFile(folder + "/neutral.txt")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, reason, ok := strings.Cut(line, ": ")
		switch {
		case !ok || strings.TrimSpace(reason) == "":
			t.Errorf("neutral.txt: %q gives no reason; write \"word: reason\"", line)
		case !slices.Contains(words, word):
			t.Errorf("neutral.txt: %q is no word of the vocabulary", word)
		case claimed[word]:
			t.Errorf("neutral.txt: %q is claimed by a rule", word)
		}
		neutral[word] = true
	}
	for _, word := range words {
		if !claimed[word] && !neutral[word] {
			t.Errorf("%q of the vocabulary is neither claimed by a rule nor neutral", word)
		}
	}
}
