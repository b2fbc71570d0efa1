package protobuf_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

type reference struct {
	Name, Subject, Schema string
	Version               schemas.Version
}

// parse parses text; each reference gets those earlier ones that it imports.
func parse(t *testing.T, text string, list []reference) schemas.Schema {
	t.Helper()
	known := map[schemas.Reference]schemas.Source{}
	var refs []schemas.Reference
	for _, r := range list {
		out, err := protobuf.Outline(r.Name, r.Schema, schemas.Limits{})
		if err != nil {
			t.Fatalf("reference %s: %v", r.Name, err)
		}
		source := schemas.Source{Type: schemas.Protobuf, Text: r.Schema}
		for _, earlier := range refs {
			if slices.Contains(out.Needs, earlier.Name) {
				source.References = append(source.References, earlier)
			}
		}
		ref := schemas.Reference{Name: r.Name, Subject: r.Subject, Version: r.Version}
		known[ref] = source
		refs = append(refs, ref)
	}
	source := schemas.Source{Type: schemas.Protobuf, Text: text}
	out, err := protobuf.Outline("main.proto", text, schemas.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range refs {
		if slices.Contains(out.Needs, r.Name) {
			source.References = append(source.References, r)
		}
	}
	s, err := protobuf.Parse(t.Context(), source, schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		found, ok := known[ref]
		if !ok {
			return schemas.Resolved{}, schemas.ErrVersionUnknown
		}
		return schemas.Resolved{Subject: ref.Target(in), Version: ref.Version, Source: found}, nil
	}), schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// ask gives the verdict and the differences as "TYPE path".
func ask(t *testing.T, reader, writer schemas.Schema) (compatible bool, list []string) {
	t.Helper()
	found, err := checker.Reference(reader, writer, compat.Strict, compat.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	compatible = true
	for _, d := range found {
		compatible = compatible && d.Compatible
		list = append(list, d.Type+" "+d.Path)
	}
	return compatible, list
}

func TestOutsidePairs(t *testing.T) {
	root := os.Getenv("CARTORIO_CONFORMANCE")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of the conformance kit")
	}
	raw, err := os.ReadFile(filepath.Join(root, "protobuf/handed.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Old, New                 string
		OldReferences, NewReferences []reference
		Expect                       map[string]bool
		PeerDifferences              []string
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			old, next := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
			ran++
			backward, list := ask(t, next, old)
			if want, ok := c.Expect["BACKWARD"]; ok && want != backward {
				t.Errorf("BACKWARD is %v, want %v: %v", backward, want, list)
			}
			if c.PeerDifferences != nil {
				slices.Sort(list)
				slices.Sort(c.PeerDifferences)
				if diff := cmp.Diff(c.PeerDifferences, append([]string{}, list...)); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
			}
			forward, list := ask(t, old, next)
			if want, ok := c.Expect["FORWARD"]; ok && want != forward {
				t.Errorf("FORWARD is %v, want %v: %v", forward, want, list)
			}
		})
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
}
