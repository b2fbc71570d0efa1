package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
)

// pairFlags are those of the commands that take OLD and NEW.
func pairFlags(cmd *cobra.Command, c *checking) {
	f := cmd.Flags()
	f.StringVar(&c.output, "output", "", "write to `FILE` instead of stdout")
	f.BoolVar(&c.allowEmpty, "allow-empty-base", false, "take an OLD that does not exist as empty")
	f.StringSliceVar(&c.include, "path", nil, "compare only what matches `PATTERN`")
	f.StringSliceVar(&c.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: NEW, or the folder of a file)")
	f.StringVar(&c.subject, "subject", "", "`TEMPLATE` of subject names, as of register")
	remoteFlags(cmd, &c.registry)
}

func (a *app) diffCommand() *cobra.Command {
	c := checking{level: "FULL", policy: "STRICT", verdictPolicy: "BOTH", failOn: "breaking", ownLevel: true, chosen: choices{true, true, true, true}}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "List every change between two sets of schemas, not only the breaking ones",
		Long: `Lists all changes from OLD to NEW, each with what it does: "breaking" where one
side cannot read the other's messages, or the reference registry says so; "risk"
where a value may change or a person should look; "note" for the rest. Levels and
policies of the configuration and of a registry do not matter here: it is the
command check that judges.

OLD and NEW are what check compares: files, folders, git refs, and for OLD also
registry:SUBJECT[@VERSION]. Exits 0 when everything could be compared, 2 when not.`,
		Example: `  cartorio diff old.avsc new.avsc
  cartorio diff git:v1.4.0 schemas/ --format markdown
  cartorio diff registry:orders-value order.avsc`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.against = args[0]
			return a.diff(cmd.Context(), args[1], c)
		},
	}
	cmd.Flags().StringVar(&c.format, "format", "text", "text, json, markdown or html")
	oneOf(cmd, "format", "text", "json", "markdown", "html")
	pairFlags(cmd, &c)
	return cmd
}

func (a *app) diff(ctx context.Context, head string, c checking) error {
	format := c.format
	if !slices.Contains([]string{"text", "json", "markdown", "html"}, format) {
		return failf(exitUsage, "--format %s is none of text, json, markdown, html", format)
	}
	if format == "markdown" || format == "html" {
		c.format = "text"
	}
	results, doc, err := a.compared(ctx, head, c)
	if err != nil {
		return err
	}
	if err := a.write(c.output, func(w io.Writer, colours bool) error {
		switch format {
		case "json":
			return writeJSON(w, doc)
		case "markdown":
			return markdownDiff(w, doc, results, c.against)
		case "html":
			return htmlDiff(w, doc, results, c.against)
		}
		return textDiff(w, colours, doc, results, c.against)
	}); err != nil {
		return err
	}
	if doc.Verdict == compat.NotChecked {
		return fail(exitNotCompared, nil)
	}
	return nil
}

// compared compares as check does, and makes the document.
func (a *app) compared(ctx context.Context, head string, c checking) ([]result, compat.Document, error) {
	q, err := c.question()
	if err != nil {
		return nil, compat.Document{}, fail(exitUsage, err)
	}
	results, err := a.results(ctx, head, &c, q)
	if err != nil {
		return nil, compat.Document{}, err
	}
	return results, documentOf(results), nil
}

// textDiff prints one line for each change, in the form that editors understand.
func textDiff(w io.Writer, colours bool, doc compat.Document, results []result, against string) error {
	t := &text{colours: colours}
	for _, r := range results {
		for _, c := range r.report.Compared {
			if c.Verdict == compat.NotChecked {
				t.notChecked(r, c)
			}
			for _, f := range c.Findings {
				fmt.Fprintf(&t.b, "%s: %s: %s: %s\n", t.paint(bold, place(f)), t.paint(colourOf(f.Severity), string(f.Severity))+hurts(f), f.Rule, plain(f.Message))
			}
		}
	}
	t.summary(doc, results, against)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// hurts tells the direction of a finding that hurts somebody.
func hurts(f compat.Finding) string {
	if f.Severity == compat.Note {
		return ""
	}
	return " (" + f.Direction + ")"
}

func wholeFile(f compat.Finding) bool {
	return f.Rule == ruleAdded || f.Rule == ruleRemoved || f.Rule == ruleMoved
}

// markdownDiff prints a table for each schema.
func markdownDiff(w io.Writer, doc compat.Document, results []result, against string) error {
	t := &text{}
	for _, r := range results {
		for _, c := range r.report.Compared {
			if c.Verdict == compat.NotChecked {
				fmt.Fprintf(&t.b, "### %s\n\nnot checked: %s\n\n", report.InMarkdown(orWord(r.report.Label, c.Old.Label)), report.InMarkdown(c.Reason))
				continue
			}
			if len(c.Findings) == 0 {
				continue
			}
			fmt.Fprintf(&t.b, "### %s\n\n| | change | where | rule |\n|---|---|---|---|\n", report.InMarkdown(orWord(r.report.Label, c.Old.Label)))
			for _, f := range c.Findings {
				severity := string(f.Severity) + hurts(f)
				if f.Severity == compat.SeverityBreaking {
					severity = "**" + severity + "**"
				}
				at := f.Head
				if at.File == "" {
					at = f.Base
				}
				where := []string{}
				if f.Path != "" {
					where = append(where, report.InMarkdown(f.Path))
				}
				// A finding about a whole file has no place in it.
				if at.Line > 0 && !wholeFile(f) {
					where = append(where, fmt.Sprintf("line %d", at.Line))
				}
				fmt.Fprintf(&t.b, "| %s | %s | %s | `%s` |\n", severity, report.InMarkdown(f.Message), strings.Join(where, ", "), f.Rule)
			}
			t.b.WriteByte('\n')
		}
	}
	var counts text
	counts.summary(doc, results, against)
	t.b.WriteString(counts.b.String())
	_, err := io.WriteString(w, t.b.String())
	return err
}
