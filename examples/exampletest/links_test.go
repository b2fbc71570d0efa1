package exampletest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	blocks   = regexp.MustCompile("(?s)```.*?```")
	link     = regexp.MustCompile(`\]\(([^)]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// Every link of the guides, within this repository, leads to a file and a heading.
func TestGuidesLinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, pattern := range []string{"../../docs/guides/*.md", "../../docs/pt/*.md", "../README.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, page := range pages {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range link.FindAllStringSubmatch(blocks.ReplaceAllString(string(text), ""), -1) {
				file, anchor, _ := strings.Cut(found[1], "#")
				if strings.Contains(file, "://") {
					continue
				}
				seen++
				target := page
				if file != "" {
					target = filepath.Join(filepath.Dir(page), file)
				}
				there, err := os.ReadFile(target)
				if err != nil {
					t.Errorf("%s links to %s: %v", page, found[1], err)
				} else if anchor != "" && !hasHeading(string(there), anchor) {
					t.Errorf("%s links to %s, and there is no such heading", page, found[1])
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d links were followed", seen)
	}
}

// hasHeading tells whether a page has a heading under an anchor, as forges make
// them: lower case, without punctuation, dashes for spaces.
func hasHeading(page, anchor string) bool {
	for _, h := range headings.FindAllStringSubmatch(blocks.ReplaceAllString(page, ""), -1) {
		if strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
