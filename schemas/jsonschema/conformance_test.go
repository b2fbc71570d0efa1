package jsonschema_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// TestConformanceParse runs an outside folder of cases, named by
// CARTORIO_CONFORMANCE, through the parser.
func TestConformanceParse(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("CARTORIO_CONFORMANCE")
	if folder == "" {
		t.Skip("NOT RUN: set CARTORIO_CONFORMANCE to the folder of conformance cases")
	}
	text, err := os.ReadFile(filepath.Join(folder, "jsonschema", "jsonschema-parse.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID, Schema, Expect string
		References         []struct {
			Name, Subject string
			Version       int
			Schema        string
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range cases {
		source := schemas.Source{Type: schemas.JSON, Text: c.Schema}
		texts := map[string]string{}
		for _, r := range c.References {
			source.References = append(source.References, schemas.Reference{Name: r.Name, Subject: r.Subject, Version: schemas.Version(r.Version)})
			texts[r.Subject] = r.Schema
		}
		resolver := schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
			return schemas.Resolved{
				Subject: schemas.Subject{Context: in, Name: ref.Subject}, Version: ref.Version,
				Source: schemas.Source{Type: schemas.JSON, Text: texts[ref.Subject]},
			}, nil
		})
		_, err := jsonschema.Format.Parse(context.Background(), source, resolver, schemas.ParseOptions{})
		ran++
		if c.Expect != "either" && (err == nil) != (c.Expect == "accept") {
			t.Errorf("%s: want %s, got %v", c.ID, c.Expect, err)
		}
		if testing.Verbose() {
			t.Logf("%s (%s): %.200v", c.ID, c.Expect, err)
		}
	}
	if ran == 0 {
		t.Fatal("no case ran")
	}
	t.Logf("%d cases ran", ran)
}
