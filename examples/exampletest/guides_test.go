package exampletest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The guides show what examples print: every line that they show of one is a line
// that its test expects, in both languages alike.
func TestGuidesShowWhatExamplesPrint(t *testing.T) {
	t.Parallel()
	const begin = "<!-- examples/"
	shown := map[string]map[string]string{} // by language and example
	for _, language := range []string{"guides", "pt"} {
		shown[language] = map[string]string{}
		pages, err := filepath.Glob("../../docs/" + language + "/*.md")
		if err != nil || len(pages) < 6 {
			t.Fatalf("%d pages: %v", len(pages), err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range strings.Split(string(text), begin)[1:] {
				example, rest, _ := strings.Cut(part, "/run -->\n```console\n")
				block, _, closed := strings.Cut(rest, "```\n")
				if !closed {
					t.Errorf("%s: what it shows of %.30q has no block", page, part)
					continue
				}
				shown[language][example] = block
				if example == "evolution" {
					continue // its own test compares the whole
				}
				expected, err := os.ReadFile("../" + example + "/main_test.go")
				if err != nil {
					t.Errorf("%s: %v", page, err)
					continue
				}
				for line := range strings.Lines(block) {
					if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "$ ") && !strings.Contains(string(expected), line) {
						t.Errorf("%s: the test of %s expects no line %q", page, example, line)
					}
				}
			}
		}
	}
	if len(shown["guides"]) < 6 {
		t.Errorf("only %d examples are shown", len(shown["guides"]))
	}
	for example, block := range shown["guides"] {
		if shown["pt"][example] != block {
			t.Errorf("what the guides show of %s is not the same in both languages", example)
		}
	}
	for example := range shown["pt"] {
		if _, ok := shown["guides"][example]; !ok {
			t.Errorf("%s is shown in Portuguese alone", example)
		}
	}
}
