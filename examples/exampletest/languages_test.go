package exampletest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// translations are the pages of the guides, in both languages.
var translations = map[string]string{
	"README.md": "README.md", "acknowledgement.md": "confirmacao.md", "evolution.md": "evolucao.md", "guarantees.md": "garantias.md",
	"ordering.md": "ordem.md", "patterns.md": "padroes.md", "retries.md": "tentativas.md",
}

// Both languages have the same pages, with the same parts in the same order:
// headings, paragraphs, lists, rows of tables, and commands letter by letter.
func TestLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	for language, names := range map[string]func(en, pt string) string{"guides": func(en, _ string) string { return en }, "pt": func(_, pt string) string { return pt }} {
		pages, err := filepath.Glob("../../docs/" + language + "/*.md")
		if err != nil || len(pages) != len(translations) {
			t.Errorf("%s has %d pages, and %d are known here: %v", language, len(pages), len(translations), err)
		}
		for en, pt := range translations {
			if _, err := os.Stat(filepath.Join("../../docs", language, names(en, pt))); err != nil {
				t.Error(err)
			}
		}
	}
	for en, pt := range translations {
		if d := cmp.Diff(shape(t, "../../docs/guides/"+en), shape(t, "../../docs/pt/"+pt)); d != "" {
			t.Errorf("%s and %s are not of one shape (-guides +pt):\n%s", en, pt, d)
		}
	}
}

// What is translated within code: what stands beside a command, and Go's texts.
var (
	comment = regexp.MustCompile(` {2,}#.*$`)
	quoted  = regexp.MustCompile(`"[^"]*"`)
	step    = regexp.MustCompile(`^[0-9]+\. `)
)

// shape is what a page is made of, without its words.
func shape(t *testing.T, page string) (parts []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fence, isCode := "", false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		bare := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(bare, "```"):
			if isCode = !isCode; isCode {
				fence = strings.TrimPrefix(bare, "```")
			}
			parts = append(parts, "fence "+strings.TrimPrefix(bare, "```"))
		case isCode && fence == "":
			parts = append(parts, "line of a sketch")
		case isCode:
			line = comment.ReplaceAllString(line, "")
			if fence == "go" {
				line = quoted.ReplaceAllString(line, `"…"`)
			}
			parts = append(parts, "  "+line)
		case bare == "":
		case strings.HasPrefix(bare, "#"):
			parts = append(parts, "heading "+strings.Repeat("#", strings.Count(strings.SplitN(bare, " ", 2)[0], "#")))
		case strings.HasPrefix(bare, "|"):
			parts = append(parts, fmt.Sprintf("row of %d cells", strings.Count(bare, "|")-1))
		case strings.HasPrefix(bare, "- "):
			parts = append(parts, "item")
		case strings.HasPrefix(bare, "<!--"):
			parts = append(parts, bare)
		case step.MatchString(bare):
			parts = append(parts, "step "+step.FindString(bare))
		default:
			parts = append(parts, "paragraph")
		}
	}
	return parts
}
