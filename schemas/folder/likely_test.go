package folder_test

import (
	"slices"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// What is JSON and reads like a schema that does not say so is told apart from what
// else lies in a repository.
func TestLikely(t *testing.T) {
	t.Parallel()
	likely := map[string]string{
		"object.json":   `{"type": "object", "properties": {"id": {"type": "integer"}}}`,
		"required.json": `{"type": "object", "required": ["id"]}`,
		"array.json":    `{"type": "array", "items": {}}`,
		"enum.json":     `{"type": "string", "enum": ["a"]}`,
		"several.json":  `{"type": ["object", "null"], "$defs": {}}`,
		"defs.json":     `{"$defs": {"id": {"type": "integer"}}}`,
	}
	files := map[string]string{
		"package.json":  `{"name": "orders", "type": "module"}`,
		"swagger.json":  `{"swagger": "2.0", "definitions": {"a": {"type": "object"}}}`,
		"event.json":    `{"type": "string", "id": 7}`,
		"data.json":     `{"type": "object", "id": 7}`,
		"list.json":     `[{"type": "object", "properties": {}}]`,
		"number.json":   `7`,
		"broken.json":   `{"type": "object", "properties": `,
		"null.json":     `null`,
		"listed.json":   `{"type": 7, "properties": {}}`,
		"notes.txt":     `{"type": "object", "properties": {}}`,
		"a.schema.json": "name x:y",
	}
	want := make([]string, 0, len(likely))
	for p, text := range likely {
		files[p] = text
		want = append(want, p)
	}
	slices.Sort(want)
	f := open(t, tree(files), folder.Options{})
	if !slices.Equal(f.Likely, want) {
		t.Errorf("likely are %v, want %v", f.Likely, want)
	}
	for _, p := range f.Likely {
		if !slices.Contains(f.Others, p) {
			t.Errorf("%s is likely and no other file", p)
		}
	}
}
