package linters_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/lint/linters"
	"github.com/cartorio-registry/cartorio/schemas"
)

var update = flag.Bool("update", false, "write docs/lint.md")

func TestDocument(t *testing.T) {
	t.Parallel()
	const file = "../../docs/lint.md"
	want := linters.Markdown()
	if *update {
		if err := os.WriteFile(file, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the rules say: go test ./lint/linters -update", file)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for _, r := range checkers.Named() {
		taken[r.ID] = true
	}
	count := map[schemas.Type]int{}
	for _, r := range linters.Rules() {
		if taken[r.ID] {
			t.Errorf("%s: two rules have the id", r.ID)
		}
		taken[r.ID] = true
		count[r.Format()]++
		if r.Severity != compat.Risk && r.Severity != compat.Note {
			t.Errorf("%s: the severity is %q", r.ID, r.Severity)
		}
	}
	for _, l := range linters.All {
		if found, ok := linters.Of(l.Format); !ok || len(found.Rules) != count[l.Format] {
			t.Errorf("%s: %d rules, %d with its prefix", l.Format, len(found.Rules), count[l.Format])
		}
	}
	if _, ok := linters.Of("THRIFT"); ok {
		t.Error("there is a linter for THRIFT")
	}
	for name, want := range map[string]string{"ENUM_VALUE_PREFIX": "protobuf.value-prefix", "avro.doc-missing": "avro.doc-missing", "doc-missing": "avro.doc-missing"} {
		if list := linters.Named(name); len(list) != 1 || list[0].ID != want {
			t.Errorf("%s names %v", name, list)
		}
	}
}
