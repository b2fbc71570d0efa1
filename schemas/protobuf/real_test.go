package protobuf_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// TestRealFiles parses a tree of real files with its references.
func TestRealFiles(t *testing.T) {
	root := os.Getenv("CARTORIO_REAL")
	if root == "" {
		t.Skip("NOT RUN: set CARTORIO_REAL to a folder of real schemas with a tree protobuf/ in it")
	}
	root = filepath.Join(root, "protobuf")
	known := registry{}
	needs := map[string][]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		out, err := protobuf.Outline(path, string(text), schemas.Limits{})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		needs[path] = out.Needs
		known[path] = schemas.Source{Type: schemas.Protobuf, Text: string(text)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, list := range needs {
		source := known[path]
		for _, need := range list {
			source.References = append(source.References, ref(need, need))
		}
		known[path] = source
	}
	if len(known) == 0 {
		t.Fatal("no file was found")
	}
	for path, source := range known {
		t.Run(path, func(t *testing.T) {
			s, err := protobuf.Parse(t.Context(), source, known, schemas.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			checkFixpoint(t, s, known)
			checkMeaning(t, s, known)
		})
	}
}
