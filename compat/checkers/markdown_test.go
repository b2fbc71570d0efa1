package checkers_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
)

var update = flag.Bool("update", false, "write docs/rules.md")

// docs/rules.md is what the rules say; go generate writes it.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	const path = "../../docs/rules.md"
	got := checkers.Markdown()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s is not what the rules say: run go generate ./compat/checkers", path)
	}
	for _, r := range checkers.Rules() {
		if n := strings.Count(string(got), "\n### "+r.ID+"\n"); n != 1 {
			t.Errorf("%s has %d sections", r.ID, n)
		}
	}
}

func TestPageShowsTheExample(t *testing.T) {
	t.Parallel()
	r, ok := checkers.ByID("avro.field-added-without-default")
	if !ok {
		t.Fatal("the rule is gone")
	}
	page := checkers.Page(r)
	for _, want := range []string{"### " + r.ID, "READER_FIELD_MISSING_DEFAULT_VALUE", "**Instead:** ", "Before:\n\n```json\n" + r.Old, "What breaks:", "avro.field-removed-without-default"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// Rules are found by the names that people have for them.
func TestRulesNamed(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"avro.type-widened":                       "avro.type-widened",
		"AVRO.TYPE_WIDENED":                       "avro.type-widened",
		"fixed-size-changed":                      "avro.fixed-size-changed",
		"FIXED_SIZE_MISMATCH":                     "avro.fixed-size-changed",
		"avro.reader-field-missing-default-value": "avro.field-added-without-default",
		"schema.added":                            "schema.added",
	} {
		list := compat.RulesNamed(checkers.Rules(), name)
		if len(list) == 0 || list[0].ID != want {
			t.Errorf("%s finds %d rules, want %s first", name, len(list), want)
		}
	}
	if list := compat.RulesNamed(checkers.Rules(), "MISSING_ENUM_SYMBOLS"); len(list) != 2 {
		t.Errorf("MISSING_ENUM_SYMBOLS is %d rules, want symbols added and removed", len(list))
	}
	if list := compat.RulesNamed(checkers.Rules(), "NO_SUCH_THING"); len(list) != 0 {
		t.Errorf("a name of nothing finds %s", list[0].ID)
	}
}
