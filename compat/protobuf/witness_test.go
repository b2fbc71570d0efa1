package protobuf_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// TestOutsideWitnesses reads the payloads that an outside oracle found to fail,
// to be lost or to change, and expects the same of Reads.
func TestOutsideWitnesses(t *testing.T) {
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
		Witness                      map[string]struct{ Message, Effect, Payload string }
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	// Where the oracle and Reads differ, and why that stands.
	differ := map[string]string{
		"own-map-string-point-to-string-bytes/wireBackward": "the encoded message as opaque bytes counts as kept, in a map as elsewhere (B.1, mark O)",
	}
	ran := 0
	for _, c := range cases {
		for side, w := range c.Witness {
			if side != "wireBackward" && side != "wireForward" {
				continue
			}
			if differ[c.ID+"/"+side] != "" {
				continue
			}
			t.Run(c.ID+"/"+side, func(t *testing.T) {
				ran++
				writer, reader := parse(t, c.Old, c.OldReferences), parse(t, c.New, c.NewReferences)
				if side == "wireForward" {
					writer, reader = reader, writer
				}
				payload := schemas.Payload{Message: w.Message}
				if p := writer.(*protobuf.Schema).File().Package; p != "" {
					payload.Message = p + "." + w.Message
				}
				if w.Payload != "(empty)" {
					if payload.Bytes, err = hex.DecodeString(w.Payload); err != nil {
						t.Fatal(err)
					}
				}
				if own := writer.Reads(writer, payload, schemas.ReadOptions{}); !own.OK() {
					t.Fatalf("the writer cannot read it: %+v", own.Violations)
				}
				got := reader.Reads(writer, payload, schemas.ReadOptions{})
				switch w.Effect {
				case "fail", "utf8":
					if got.OK() {
						t.Errorf("%s is read, with %+v", w.Payload, got.Losses)
					}
				case "default":
					// The payload holds no value that could change.
				default:
					want := schemas.Lost
					if w.Effect == "cast" {
						want = schemas.AlteredOutOfRange
					}
					if !got.OK() || len(got.Losses) == 0 {
						t.Fatalf("%s (%s): no loss, violations %+v", w.Payload, w.Effect, got.Violations)
					}
					if w.Effect == "corrupt" {
						if got.Losses[0].Kind == schemas.AlteredOutOfRange {
							t.Errorf("%s (%s): %+v", w.Payload, w.Effect, got.Losses)
						}
					} else if got.Losses[0].Kind != want && w.Effect != "lost" {
						t.Errorf("%s (%s): %+v", w.Payload, w.Effect, got.Losses)
					}
				}
			})
		}
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
}

// TestWitnessesOfImportsAreTheDependentsOwn lets many files that import one
// message ask what becomes of its fields, in any order: each answers with a
// payload of its own, and each the same as when it is asked alone.
func TestWitnessesOfImportsAreTheDependentsOwn(t *testing.T) {
	t.Parallel()
	before := map[string]string{"base.proto": p3 + "package p; message A { repeated int32 many = 1; map<int32, string> keys = 2; string text = 3; }"}
	after := map[string]string{"base.proto": p3 + "package p; message A { int32 many = 1; map<bool, string> keys = 2; fixed32 text = 3; }"}
	var names []string
	for i := range 4 {
		name := fmt.Sprintf("m%d.proto", i)
		names = append(names, name)
		before[name] = fmt.Sprintf(p3+"import \"base.proto\"; message M%d { p.A a = %d; }", i, 1+i)
		after[name] = before[name] + fmt.Sprintf(" message New%d {}", i) // so that it is compiled
	}
	read := func(f map[string]string, shared *schemas.Shared, path string) schemas.Schema {
		s, err := protobuf.Parse(t.Context(), tree(f).source(t, path), schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
			return schemas.Resolved{Subject: ref.Target(in), Version: 1, Source: tree(f).source(t, ref.Name)}, nil
		}), schemas.ParseOptions{Shared: shared, Name: path, Leaf: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var sides [2]schemas.Shared
	for i := range 3 * len(names) {
		name := names[(i*3+i/4)%len(names)]
		_, got := checker.Checker.Truth(read(before, &sides[0], name), read(after, &sides[1], name), compat.Budget{})
		_, want := checker.Checker.Truth(read(before, nil, name), read(after, nil, name), compat.Budget{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alone +among others):\n%s", name, diff)
		}
		shown := 0
		for _, c := range got {
			for _, pair := range c.Witness {
				for _, w := range pair {
					if w != nil {
						shown++
						if want := "M" + name[1:2]; w.Message != want {
							t.Errorf("%s: %s has a witness of %s, want one of %s", name, c.Path, w.Message, want)
						}
					}
				}
			}
		}
		if shown == 0 {
			t.Errorf("%s: no witness", name)
		}
	}
}
