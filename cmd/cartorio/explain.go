package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/lint/linters"
)

func (a *app) explainCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "explain RULE",
		Short: "Say what a rule means, whom it hurts and what to do instead",
		Long: `Explains a rule by its id, by an id that it had before, or by the name that
another tool has for it, such as READER_FIELD_MISSING_DEFAULT_VALUE; letter case,
hyphens and underscores do not matter. A name that several rules share explains
each of them. Nothing is asked of the network.`,
		Example: `  cartorio explain avro.field-added-without-default
  cartorio explain MISSING_ENUM_SYMBOLS`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.explain(args[0], format) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range checkers.Rules() {
				ids = append(ids, r.ID)
			}
			for _, r := range linters.Rules() {
				ids = append(ids, r.ID)
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json or markdown")
	oneOf(cmd, "format", "text", "json", "markdown")
	return cmd
}

func (a *app) explain(name, format string) error {
	rules := checkers.Named()
	list := compat.RulesNamed(rules, name)
	if lints := linters.Named(name); len(lints) > 0 && (len(list) == 0 || !strings.Contains(name, ".")) {
		return a.explainLint(list, lints, format)
	}
	if len(list) == 0 {
		return failf(exitUsage, "%q is the name of no rule%s; cartorio rules lists them all", name, nearest(append(rules, listedLints()...), name))
	}
	switch format {
	case "json":
		entries := make([]compat.RuleEntry, 0, len(list))
		for _, r := range list {
			entries = append(entries, r.Entry())
		}
		return a.write("", func(w io.Writer, _ bool) error { return writeJSON(w, entries) })
	case "markdown":
		return a.write("", func(w io.Writer, _ bool) error {
			var b strings.Builder
			for _, r := range list {
				b.WriteString(checkers.Page(r))
			}
			_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
			return err
		})
	case "text":
		return a.write("", func(w io.Writer, colours bool) error {
			t := &text{colours: colours}
			for i, r := range list {
				if i > 0 {
					t.b.WriteByte('\n')
				}
				t.rule(r)
			}
			_, err := io.WriteString(w, t.b.String())
			return err
		})
	}
	return failf(exitUsage, "--format %q is none of text, json, markdown", format)
}

// rule prints one rule for people.
func (t *text) rule(r compat.Rule) {
	e := r.Entry()
	fmt.Fprintf(&t.b, "%s: %s\n", t.paint(bold, e.ID), plain(e.Title))
	t.line("why", lowered(e.Why))
	t.line("instead", e.Fix)
	if len(e.Kinds) > 0 {
		t.line("hurts", fmt.Sprintf("%s (%s)", whoReads(e.Direction), strings.Join(e.Kinds, ", ")))
		t.line("SOUND", verdictUnder(r, r.IsHard()))
	} else if e.Format != "" {
		t.line("hurts", "nobody")
	}
	if e.Format != "" {
		t.line("REFERENCE", verdictUnder(r, len(r.Peers) > 0))
	}
	t.line("also called", strings.Join(e.Aliases, ", "))
	t.line("was called", strings.Join(e.Was, ", "))
	if e.Mirror != e.ID {
		t.line("swapped", e.Mirror)
	}
	if e.Example == nil {
		return
	}
	for _, part := range []struct{ title, text string }{
		{"before", e.Example.Old}, {"after", e.Example.New}, {"what breaks", e.Example.Witness}, {"near to it, and not it", e.Example.Near},
	} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&t.b, "\n    %s\n", t.paint(dim, part.title))
		for line := range strings.Lines(part.text) {
			fmt.Fprintf(&t.b, "        %s\n", plain(strings.TrimRight(line, "\n")))
		}
	}
}

func whoReads(direction string) string {
	switch direction {
	case "backward":
		return "the new schema reading what the old one wrote"
	case "forward":
		return "the old schema reading what the new one wrote"
	}
	return "each schema reading what the other wrote"
}

// verdictUnder says at which levels a rule refuses under a verdict policy.
func verdictUnder(r compat.Rule, refuses bool) string {
	if !refuses {
		return "passes at every level"
	}
	switch r.Direction() {
	case "backward":
		return "may refuse BACKWARD and FULL, and passes FORWARD"
	case "forward":
		return "may refuse FORWARD and FULL, and passes BACKWARD"
	}
	return "may refuse BACKWARD, FORWARD and FULL"
}

// nearest offers the rules whose names share most with a name that is none.
func nearest(rules []compat.Rule, name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	type candidate struct {
		id     string
		shared int
	}
	var list []candidate
	for _, r := range rules {
		c := candidate{id: r.ID}
		for _, w := range words {
			if len(w) > 2 && slices.Contains(strings.FieldsFunc(r.ID, func(r rune) bool { return r == '.' || r == '-' }), w) {
				c.shared++
			}
		}
		if c.shared > 1 {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.shared, a.shared) })
	if len(list) == 0 {
		return ""
	}
	return ": did you mean " + list[0].id + "?"
}
