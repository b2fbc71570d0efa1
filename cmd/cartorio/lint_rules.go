package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/lint/linters"
)

// lintEntry is a rule of lint as a document shows it.
type lintEntry struct {
	ID       string          `json:"id"`
	Format   string          `json:"format"`
	Severity compat.Severity `json:"severity"`
	Optional bool            `json:"optional"`
	Mends    bool            `json:"mends"` // --fix can mend it where nothing can change
	Title    string          `json:"title"`
	Why      string          `json:"why"`
	Fix      string          `json:"fix"`
	Aliases  []string        `json:"aliases"`
	Bad      string          `json:"bad"`
	Good     string          `json:"good"`
	Fixed    string          `json:"fixed,omitempty"` // what --fix makes of bad
}

func lintEntryOf(r lintRule) lintEntry {
	return lintEntry{
		ID: r.ID, Format: string(r.Format()), Severity: r.Severity, Optional: r.Optional, Mends: r.Fixed != "",
		Title: r.Title, Why: r.Why, Fix: r.Instead, Aliases: append([]string{}, r.Peers...), Bad: r.Bad, Good: r.Good, Fixed: r.Fixed,
	}
}

func listedLints() []compat.Rule {
	var list []compat.Rule
	for _, r := range linters.Rules() {
		list = append(list, r.Listed())
	}
	return list
}

// printLints lists the rules of lint.
func (a *app) printLints(format string) error {
	all := linters.Rules()
	return a.write("", func(w io.Writer, colours bool) error {
		switch format {
		case "json":
			entries := []lintEntry{}
			for _, r := range all {
				entries = append(entries, lintEntryOf(r))
			}
			return writeJSON(w, entries)
		case "markdown":
			_, err := w.Write(linters.Markdown())
			return err
		}
		var b strings.Builder
		for _, r := range all {
			fmt.Fprintf(&b, "%s\n    %s\n    %s\n", paint(colours, bold, r.ID), plain(r.Title), linters.Kind(r))
			if len(r.Peers) > 0 {
				fmt.Fprintf(&b, "    also called %s\n", strings.Join(r.Peers, ", "))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// explainLint explains rules of lint, behind those of comparing that share their
// name.
func (a *app) explainLint(others []compat.Rule, lints []lintRule, format string) error {
	return a.write("", func(w io.Writer, colours bool) error {
		switch format {
		case "json":
			entries := []any{}
			for _, r := range others {
				entries = append(entries, r.Entry())
			}
			for _, r := range lints {
				entries = append(entries, lintEntryOf(r))
			}
			return writeJSON(w, entries)
		case "markdown":
			var b strings.Builder
			for _, r := range others {
				b.WriteString(checkers.Page(r))
			}
			for _, r := range lints {
				b.WriteString(linters.Page(r))
			}
			_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
			return err
		}
		t := &text{colours: colours}
		for _, r := range others {
			t.rule(r)
			t.b.WriteByte('\n')
		}
		for i, r := range lints {
			if i > 0 {
				t.b.WriteByte('\n')
			}
			t.lint(r)
		}
		_, err := io.WriteString(w, t.b.String())
		return err
	})
}

// lint prints one rule of lint for people.
func (t *text) lint(r lintRule) {
	fmt.Fprintf(&t.b, "%s: %s\n", t.paint(bold, r.ID), plain(r.Title))
	t.line("why", lowered(r.Why))
	t.line("instead", r.Instead)
	t.line("lint says", linters.Kind(r))
	t.line("also called", strings.Join(r.Peers, ", "))
	for _, part := range []struct{ title, text string }{{"bad", r.Bad}, {"good", r.Good}, {"bad, after lint --fix", r.Fixed}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&t.b, "\n    %s\n", t.paint(dim, part.title))
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(&t.b, "        %s\n", plain(strings.TrimRight(line, "\n")))
		}
	}
}
