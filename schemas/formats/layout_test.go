package formats_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// The layout of every example of a rule is the same schema, and its own layout.
func TestLayoutOfExamples(t *testing.T) {
	t.Parallel()
	for room, kind := range map[string]schemas.Type{"avro": schemas.Avro, "jsonschema": schemas.JSON, "protobuf": schemas.Protobuf} {
		t.Run(room, func(t *testing.T) {
			t.Parallel()
			format, _ := formats.Named(kind)
			files, err := filepath.Glob("../../compat/" + room + "/rules/*.txtar")
			if err != nil {
				t.Fatal(err)
			}
			more, err := filepath.Glob("../../lint/" + room + "/rules/*.txtar")
			if err != nil {
				t.Fatal(err)
			}
			parse := func(text string) (schemas.Schema, error) {
				return format.Parse(context.Background(), schemas.Source{Type: kind, Text: text}, nil, schemas.ParseOptions{})
			}
			seen := 0
			for _, file := range append(files, more...) {
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, section := range strings.Split(string(raw), "\n-- ")[1:] {
					name, text, _ := strings.Cut(section, " --\n")
					before, err := parse(text)
					if err != nil {
						continue // witnesses and paths are no schemas
					}
					got, err := format.Layout(text)
					if err != nil {
						if strings.Contains(err.Error(), "a second time") {
							continue
						}
						t.Fatalf("%s, %s: %v", file, name, err)
					}
					seen++
					after, err := parse(got)
					if err != nil || after.Fingerprint() != before.Fingerprint() {
						t.Errorf("%s, %s: another schema (%v):\n%s", file, name, err, got)
					}
					if again, err := format.Layout(got); err != nil || again != got {
						t.Errorf("%s, %s: laid out again (%v):\n%s\nafter\n%s", file, name, err, again, got)
					}
				}
			}
			if seen < 100 {
				t.Errorf("only %d examples were looked at", seen)
			}
		})
	}
}
