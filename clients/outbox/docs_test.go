package outbox_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocsShowWhatCompiles finds every line of the Go text of docs/companions.md
// in the examples of the three packages, and its columns in the table.
func TestDocsShowWhatCompiles(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/companions.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range []string{"example_test.go", "../dedupe/example_test.go", "../claim/example_test.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(source)) {
			known[strings.TrimSpace(line)] = true
		}
	}
	blocks := strings.Split(string(docs), "```go\n")[1:]
	if len(blocks) < 4 {
		t.Fatalf("the page shows %d pieces of Go text", len(blocks))
	}
	for _, block := range blocks {
		block, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatal("a piece of Go text does not end")
		}
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" && !known[line] {
				t.Errorf("the page shows a line that no example has: %s", line)
			}
		}
	}
}
