package protobuf_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// conformance opens a file below the folder that CARTORIO_CONFORMANCE names.
func conformance(t *testing.T, name string, into any) {
	t.Helper()
	root := os.Getenv("CARTORIO_CONFORMANCE")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of the conformance kit")
	}
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

type outsideReference struct {
	Name, Subject, Schema string
	Version               schemas.Version
}

// register makes a resolver of a list of references, dependencies first; each
// gets those earlier ones that it imports.
func register(t *testing.T, list []outsideReference) ([]schemas.Reference, schemas.Resolver) {
	t.Helper()
	known := map[schemas.Subject]map[schemas.Version]schemas.Source{}
	var refs []schemas.Reference
	for _, r := range list {
		var own []schemas.Reference
		out, err := protobuf.Outline(r.Name, r.Schema, schemas.Limits{})
		if err != nil {
			t.Fatalf("reference %s: %v", r.Name, err)
		}
		for _, need := range out.Needs {
			for _, earlier := range refs {
				if earlier.Name == need {
					own = append(own, earlier)
				}
			}
		}
		subject := schemas.ParseSubject(r.Subject)
		if known[subject] == nil {
			known[subject] = map[schemas.Version]schemas.Source{}
		}
		known[subject][r.Version] = schemas.Source{Type: schemas.Protobuf, Text: r.Schema, References: own}
		refs = append(refs, schemas.Reference{Name: r.Name, Subject: r.Subject, Version: r.Version})
	}
	return refs, schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		subject := ref.Target(in)
		source, ok := known[subject][ref.Version]
		if !ok {
			return schemas.Resolved{}, schemas.ErrVersionUnknown
		}
		return schemas.Resolved{Subject: subject, Version: ref.Version, Source: source}, nil
	})
}

func TestOutsideParseCases(t *testing.T) {
	var cases []struct {
		ID, Schema string
		References []outsideReference
		Valid      *bool
		Scored     *bool
	}
	conformance(t, "protobuf/protobuf-parse.json", &cases)
	ran := 0
	for _, c := range cases {
		if c.Valid == nil || c.Scored != nil && !*c.Scored {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			refs, resolver := register(t, c.References)
			s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: c.Schema, References: refs}, resolver, schemas.ParseOptions{})
			if (err == nil) != *c.Valid {
				t.Fatalf("valid is %v, got error %v", *c.Valid, err)
			}
			if err == nil {
				checkFixpoint(t, s, resolver)
				checkMeaning(t, s, resolver)
			}
		})
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
}

// checkFixpoint demands that canonical and normalized text parse again and
// print as they are.
func checkFixpoint(t *testing.T, s schemas.Schema, resolver schemas.Resolver) {
	t.Helper()
	refs := s.Source().References
	again, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: s.Canonical(), References: refs}, resolver, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("canonical text does not parse: %v\n%s", err, s.Canonical())
	}
	if again.Canonical() != s.Canonical() {
		t.Fatalf("canonical text is no fixpoint:\n%s\nbecame\n%s", s.Canonical(), again.Canonical())
	}
	if !again.Equivalent(s) || again.Fingerprint() != s.Fingerprint() {
		t.Fatal("canonical text is another schema")
	}
	text, refs := s.Normalized()
	normal, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text, References: refs}, resolver, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("normalized text does not parse: %v\n%s", err, text)
	}
	if second, _ := normal.Normalized(); second != text {
		t.Fatalf("normalized text is no fixpoint:\n%s\nbecame\n%s", text, second)
	}
	if normal.Canonical() != text {
		t.Fatalf("normalized text is not canonical:\n%s\nprints as\n%s", text, normal.Canonical())
	}
}

// TestOutsidePairsPrint prints both sides of every outside pair.
func TestOutsidePairsPrint(t *testing.T) {
	var cases []struct {
		ID, Old, New                 string
		OldReferences, NewReferences []outsideReference
	}
	conformance(t, "protobuf/handed.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no case ran")
	}
	for _, c := range cases {
		for side, text := range map[string]string{"old": c.Old, "new": c.New} {
			t.Run(c.ID+"/"+side, func(t *testing.T) {
				list := c.OldReferences
				if side == "new" {
					list = c.NewReferences
				}
				refs, resolver := register(t, list)
				s, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: text, References: refs}, resolver, schemas.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				checkFixpoint(t, s, resolver)
				checkMeaning(t, s, resolver)
				serialized, err := s.(*protobuf.Schema).Serialized()
				if err != nil {
					t.Fatal(err)
				}
				d, err := protobuf.Parse(t.Context(), schemas.Source{Type: schemas.Protobuf, Text: serialized, References: refs}, resolver, schemas.ParseOptions{})
				if err != nil {
					t.Fatalf("the serialized descriptor is refused: %v", err)
				}
				checkFixpoint(t, d, resolver)
			})
		}
	}
}
