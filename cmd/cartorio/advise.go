package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

func (a *app) adviseCommand() *cobra.Command {
	c := checking{failOn: "breaking", ownLevel: true, advise: true, chosen: choices{true, true, true, true}}
	cmd := &cobra.Command{
		Use:   "advise OLD NEW",
		Short: "Say under which levels a change passes, how to roll it out, and how to make it without the break",
		Long: `For each schema of NEW that differs from OLD: under which levels and policies it
passes; who moves first, consumers or producers, and what holds while both
versions run; and for each break the ways out. A repair is a whole schema that
was read and compared before it is shown: with it the finding is gone and nothing
else is worse. --level says for which level repairs are sought.

OLD and NEW are what check compares. Exits 0 when everything could be compared, 2
when not: it is the command check that judges.`,
		Example: `  cartorio advise old.avsc new.avsc
  cartorio advise git:main schemas/ --level FULL --format json`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.against = args[0]
			return a.advise(cmd.Context(), args[1], c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.level, "level", "BACKWARD", "BACKWARD, FORWARD or FULL: what repairs are sought for")
	f.StringVar(&c.policy, "policy", "STRICT", "STRICT or LENIENT: LENIENT loosens JSON Schema's closed models")
	f.StringVar(&c.verdictPolicy, "verdict-policy", "BOTH", "REFERENCE (what the reference registry says), SOUND (what happens to data) or BOTH")
	f.StringVar(&c.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	pairFlags(cmd, &c)
	return cmd
}

func (a *app) advise(ctx context.Context, head string, c checking) error {
	if strings.EqualFold(c.level, "NONE") {
		return failf(exitUsage, "--level NONE asks nothing: say BACKWARD, FORWARD or FULL")
	}
	results, doc, err := a.compared(ctx, head, c)
	if err != nil {
		return err
	}
	if err := a.write(c.output, func(w io.Writer, colours bool) error {
		if c.format == "json" {
			return writeJSON(w, doc)
		}
		return textAdvice(w, colours, doc, results, c.against)
	}); err != nil {
		return err
	}
	if doc.Verdict == compat.NotChecked {
		return fail(exitNotCompared, nil)
	}
	return nil
}

func textAdvice(w io.Writer, colours bool, doc compat.Document, results []result, against string) error {
	t := &text{colours: colours}
	for _, r := range results {
		for _, c := range r.report.Compared {
			if c.Verdict == compat.NotChecked {
				t.notChecked(r, c)
			}
			if r.advice == nil && len(c.Findings) > 0 {
				t.finding(c.Findings[0], r.report.Label) // it stands on one side only
			}
			if r.advice != nil && len(c.Findings) > 0 {
				t.advice(*r.advice, c.Findings)
			}
		}
	}
	t.summary(doc, results, against)
	_, err := io.WriteString(w, t.b.String())
	return err
}

func (t *text) advice(a compat.Advice, findings []compat.Finding) {
	rollout := "rollout " + string(a.Rollout)
	if a.Look != "" {
		rollout += ", after a look"
	}
	fmt.Fprintf(&t.b, "%s: %s\n", t.paint(bold, plain(a.Head)), rollout)
	t.line("look", a.Look)
	t.line("window", a.Window)
	for _, level := range []string{"BACKWARD", "FORWARD", "FULL"} {
		for _, policy := range []string{"STRICT", "LENIENT"} {
			var row []string
			for _, p := range a.Passes {
				if p.Level == level && p.Policy == policy {
					row = append(row, p.VerdictPolicy+" "+string(p.Verdict))
				}
			}
			name := level
			if policy == "LENIENT" {
				name += " " + policy
			}
			if len(row) > 0 {
				t.line(name, strings.ReplaceAll(strings.Join(row, ", "), "_", " "))
			}
		}
	}
	for _, f := range findings {
		if f.Severity == compat.Note {
			continue
		}
		fmt.Fprintf(&t.b, "%s: %s: %s: %s\n", t.paint(bold, place(f)), t.paint(colourOf(f.Severity), string(f.Severity))+hurts(f), f.Rule, plain(f.Message))
		for _, r := range f.Repairs {
			label := "repair"
			if r.First {
				label = "or in steps"
			}
			text := r.Text
			if r.Reference != "" {
				text += " in " + r.Reference
			}
			if r.Whole {
				text += " (then the pair passes)"
			}
			t.line(label, text)
		}
		if len(f.Repairs) == 0 {
			t.line("fix", f.Fix)
		}
	}
	for _, way := range a.Ways {
		t.line("way out", way)
	}
	if a.Repaired == "" {
		return
	}
	fmt.Fprintf(&t.b, "    %s\n", t.paint(dim, "repaired schema"))
	for line := range strings.Lines(a.Repaired) {
		fmt.Fprintf(&t.b, "        %s\n", plain(strings.TrimRight(line, "\r\n")))
	}
}

// variants reads texts in the place of two schemas, for repairs.
func variants(next schemas.Schema, asNew, asOld func(text string) (schemas.Schema, error)) func(schemas.Schema, string) (schemas.Schema, error) {
	return func(of schemas.Schema, text string) (schemas.Schema, error) {
		if of == next {
			return asNew(text)
		}
		return asOld(text)
	}
}
