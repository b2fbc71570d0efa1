package registry_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// mending proposes that a field which is missing may be.
func mending(o *registry.Options) {
	c := fakeChecker(schemas.Avro)
	c.Truth = func(_, next schemas.Schema, _ compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
		if !strings.Contains(next.Source().Text, "y") || strings.Contains(next.Source().Text, "y?") {
			return compat.OnData(compat.Reads, compat.Reads), nil
		}
		return compat.OnData(compat.Refuses, compat.Reads), []compat.Change{{Rule: "avro.y", Path: "y", Text: "y came", Effects: compat.OnData(compat.Refuses, compat.Reads)}}
	}
	c.Repair = func(_, next schemas.Schema, _ compat.Change, _, _ bool) []compat.Patch {
		at := strings.Index(next.Source().Text, "y") + 1
		return []compat.Patch{{Text: "let y be missing", Edits: []compat.Edit{{Start: at, End: at, Text: "?"}}}}
	}
	o.Checkers = []compat.Checker{c}
}

// Pairs are compared whatever they are, many at once, and repairs are read while
// others wait for a processor.
func TestCompare(t *testing.T) {
	t.Parallel()
	r := open(t, mending)
	play(t, r, `
		register base "B b" => id 1 v1 new
		register s "A x" => id 2 v1 new
		config s level=NONE => {level=NONE}
	`)
	refs := []schemas.Reference{{Name: "B", Subject: "base", Version: schemas.Latest}}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			report, advice, err := r.Compare(t.Context(), registry.Pair{
				Old:   registry.Side{Subject: schemas.Subject{Name: "s"}},
				New:   registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A x y", References: refs}},
				Level: compat.Backward, VerdictPolicy: ptr(compat.Sound), Advise: true,
			})
			switch {
			case err != nil || report.Compatible || advice == nil:
				t.Errorf("%+v, %v", report, err)
			case advice.Repaired != "A x y?":
				t.Errorf("repaired: %q", advice.Repaired)
			case report.Subject != "s" || report.Compared[0].Old.Label != "s@1":
				t.Errorf("%+v", report)
			}
		})
	}
	wg.Wait()
	if report, advice, err := r.Compare(t.Context(), registry.Pair{Old: registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A"}}, New: registry.Side{Subject: schemas.Subject{Name: "s"}, Version: 1}, Level: compat.Forward}); err != nil || advice != nil || !report.Compatible {
		t.Errorf("%+v, %+v, %v", report, advice, err)
	}
}

func TestCompareErrors(t *testing.T) {
	t.Parallel()
	r := open(t)
	good := registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A"}}
	for _, c := range []struct {
		name     string
		old, new registry.Side
		code     registry.Code
		says     string
	}{
		{"no side", registry.Side{}, good, registry.CodeSchemaInvalid, "the old side"},
		{"unknown subject", good, registry.Side{Subject: schemas.Subject{Name: "s"}}, registry.CodeSubjectUnknown, "s"},
		{"bad version", good, registry.Side{Subject: schemas.Subject{Name: "s"}, Version: -2}, registry.CodeVersionInvalid, "-2"},
		{"broken text", registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A broken"}}, good, registry.CodeSchemaInvalid, "the old side: schema is invalid"},
		{"panic", good, registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A panic"}}, registry.CodeInternal, "the new side"},
		{"unknown type", good, registry.Side{Source: schemas.Source{Type: "XML", Text: "A"}}, registry.CodeSchemaInvalid, "XML"},
		{"unknown reference", good, registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A", References: []schemas.Reference{{Name: "B", Subject: "b", Version: 1}}}}, registry.CodeSchemaInvalid, "the new side"},
		{"too large", good, registry.Side{Source: schemas.Source{Type: schemas.Avro, Text: "A" + strings.Repeat(" x", 1<<20)}}, registry.CodeSchemaTooLarge, "the new side"},
	} {
		_, _, err := r.Compare(t.Context(), registry.Pair{Old: c.old, New: c.new, Level: compat.Full})
		var told *registry.Error
		if !errors.As(err, &told) || told.Code != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
