package jsonschema_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

type reference struct {
	Name, Subject string
	Version       int
	Schema        json.RawMessage
}

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func parseWith(text string, refs []reference) (schemas.Schema, error) {
	source := schemas.Source{Type: schemas.JSON, Text: text}
	texts := map[string]string{}
	for _, r := range refs {
		source.References = append(source.References, schemas.Reference{Name: r.Name, Subject: r.Subject, Version: schemas.Version(r.Version)})
		texts[fmt.Sprint(r.Subject, r.Version)] = textOf(r.Schema)
	}
	resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		return schemas.Resolved{
			Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: ref.Version,
			Source: schemas.Source{Type: schemas.JSON, Text: texts[fmt.Sprint(ref.Subject, ref.Version)]},
		}, nil
	})
	return jsonschema.Format.Parse(context.Background(), source, resolver, schemas.ParseOptions{})
}

func isCompatible(list []compat.Difference) bool {
	return !slices.ContainsFunc(list, func(d compat.Difference) bool { return !d.Compatible })
}

// TestConformance runs an outside folder of cases, named by
// CARTORIO_CONFORMANCE, against the reference answer.
func TestConformance(t *testing.T) {
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
		Expect, ExpectLenient        map[string]bool
		Registrable                  *bool
		Peer                         struct {
			Name        string
			Differences *[]string
		}
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		if c.Registrable != nil && !*c.Registrable {
			continue
		}
		ran++
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
		for policy, want := range map[compat.Policy]map[string]bool{compat.Strict: c.Expect, compat.Lenient: c.ExpectLenient} {
			for level, wanted := range want {
				reader, writer := next, old
				if level == "FORWARD" {
					reader, writer = old, next
				} else if level != "BACKWARD" {
					continue
				}
				list, err := jsoncompat.Checker.Reference(reader, writer, policy, compat.Budget{})
				if err != nil || isCompatible(list) != wanted {
					t.Errorf("%s: %s, policy %d: want %v, got %v: %v", c.ID, level, policy, wanted, list, err)
				}
			}
		}
		if c.Peer.Differences == nil || c.Peer.Name != "confluent" {
			continue
		}
		list, _ := jsoncompat.Checker.Reference(next, old, compat.Strict, compat.Budget{})
		var got []string
		for _, d := range list {
			got = append(got, d.Type+" "+d.Path)
		}
		want := slices.Clone(*c.Peer.Differences)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: differences: want %v, got %v", c.ID, want, got)
		}
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
	t.Logf("%d cases ran", ran)
}
