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
	"github.com/cartorio-registry/cartorio/compat/checkers"
)

// bump is the part of a semantic version that a change should raise.
type bump string

// The bumps, the least first; bumpOpen is of what was not compared.
const (
	bumpNone  bump = "none"
	bumpPatch bump = "patch"
	bumpMinor bump = "minor"
	bumpMajor bump = "major"
	bumpOpen  bump = "unknown"
)

var bumps = []bump{bumpNone, bumpPatch, bumpMinor, bumpMajor, bumpOpen}

func (b bump) or(other bump) bump {
	return bumps[max(slices.Index(bumps, b), slices.Index(bumps, other))]
}

// remarkRules are the rules of what no payload and no reader knows of.
var remarkRules = []string{"avro.doc-changed", "avro.attribute-changed", "json.annotation-changed", "json.attribute-changed", ruleMoved}

// bumpOf advises on one comparison: major where the level asked is broken or the
// schema is gone, minor for another change of what may be said, patch for words.
func bumpOf(r result, c compat.Comparison, level compat.Level) bump {
	if c.Verdict == compat.NotChecked {
		return bumpOpen
	}
	b := bumpNone
	for _, f := range c.Findings {
		switch {
		case f.Rule == ruleRemoved,
			f.Severity == compat.SeverityBreaking && f.Direction == "both" && level != compat.None,
			f.Severity == compat.SeverityBreaking && f.Direction == "backward" && level.AsksBackward(),
			f.Severity == compat.SeverityBreaking && f.Direction == "forward" && level.AsksForward():
			b = b.or(bumpMajor)
		case f.Severity == compat.Note && slices.Contains(remarkRules, f.Rule):
			b = b.or(bumpPatch)
		default:
			b = b.or(bumpMinor)
		}
	}
	if b == bumpNone && r.pair.Old != nil && r.pair.New != nil && r.pair.Old.Source.Text != r.pair.New.Source.Text {
		return bumpPatch // layout and comments
	}
	return b
}

// logged is the document of a run.
type logged struct {
	Version int            `json:"version"`
	Tool    string         `json:"tool"`
	Old     string         `json:"old"`
	New     string         `json:"new"`
	Advice  bump           `json:"advice"` // for all of it together
	Schemas []loggedSchema `json:"schemas"`
}

// loggedSchema is one schema that changed.
type loggedSchema struct {
	Subject string `json:"subject"`
	Base    string `json:"base"`
	Head    string `json:"head"`
	Level   string `json:"level"` // by which the advice was given
	Advice  bump   `json:"advice"`
	Reason  string `json:"reason,omitempty"` // why it was not compared
	// VersionBefore and VersionNow are what the two say of themselves; empty for
	// nothing. Raised tells whether they follow the advice; nil where there are
	// none.
	VersionBefore string           `json:"version_before,omitempty"`
	VersionNow    string           `json:"version_now,omitempty"`
	Raised        *bool            `json:"raised,omitempty"`
	Changes       []compat.Finding `json:"changes"`
}

func (a *app) changelogCommand() *cobra.Command {
	c := checking{level: "FULL", policy: "STRICT", verdictPolicy: "BOTH", failOn: "breaking", ownLevel: true, chosen: choices{true, true, true, true}}
	var level string
	cmd := &cobra.Command{
		Use:   "changelog OLD NEW",
		Short: "Tell what changed between two sets of schemas, with the version to give it",
		Long: `Lists all changes from OLD to NEW by schema, the breaking ones first, and advises on
the semantic version: major where a schema is gone or breaks the level of its
subject (--level, else that of cartorio.yaml, else BACKWARD), minor for any other
change, patch for words and layout alone, none where nothing changed.

Where schemas say a version of themselves (the member version or x-version, for
Protobuf the end of the package) it is told whether it was raised enough;
gate.require_version_bump lets check insist on that.

OLD and NEW are what diff takes. Exits 0 when everything could be compared, 2 when
not.`,
		Example: `  cartorio changelog git:v1.4.0 schemas/
  cartorio changelog old.avsc new.avsc --format markdown >> CHANGELOG.md
  cartorio changelog 'git:tags(v*)' . --format json | jq -r .advice`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.against = args[0]
			return a.changelog(cmd.Context(), args[1], level, c)
		},
	}
	cmd.Flags().StringVar(&c.format, "format", "text", "text, json, markdown or html")
	cmd.Flags().StringVar(&level, "level", "", "level whose break is a major change: BACKWARD, FORWARD, FULL, each _TRANSITIVE or not, or NONE")
	oneOf(cmd, "format", "text", "json", "markdown", "html")
	oneOf(cmd, "level", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE")
	pairFlags(cmd, &c)
	return cmd
}

func (a *app) changelog(ctx context.Context, head, level string, c checking) error {
	format := c.format
	if !slices.Contains([]string{"text", "json", "markdown", "html"}, format) {
		return failf(exitUsage, "--format %s is none of text, json, markdown, html", format)
	}
	if level != "" {
		if _, err := compat.ParseLevel(level); err != nil {
			return fail(exitUsage, err)
		}
	}
	c.format = "text"
	results, doc, err := a.compared(ctx, head, c)
	if err != nil {
		return err
	}
	out := logged{Version: 1, Tool: doc.Tool, Old: c.against, New: head, Advice: bumpNone, Schemas: []loggedSchema{}}
	for _, r := range results {
		for _, comparison := range r.report.Compared {
			one := a.logged(r, comparison, level)
			out.Advice = out.Advice.or(one.Advice)
			if one.Advice != bumpNone {
				out.Schemas = append(out.Schemas, one)
			}
		}
	}
	if err := a.write(c.output, func(w io.Writer, colours bool) error {
		switch format {
		case "json":
			return writeJSON(w, out)
		case "markdown":
			return out.markdown(w)
		case "html":
			doc.Remarks = append(out.remarks(), doc.Remarks...)
			return htmlDiff(w, doc, results, c.against)
		}
		return out.text(w, colours)
	}); err != nil {
		return err
	}
	if doc.Verdict == compat.NotChecked {
		return fail(exitNotCompared, nil)
	}
	return nil
}

// logged makes the entry of one comparison.
func (a *app) logged(r result, c compat.Comparison, level string) loggedSchema {
	e := r.pair.New
	if e == nil {
		e = r.pair.Old
	}
	said := level
	if said == "" && e != nil {
		said = orWord(a.declared().of(e.Path, e.Subject.String()).Choices.Level, a.config.Defaults.Level)
	}
	asked, err := compat.ParseLevel(orWord(said, "BACKWARD"))
	if err != nil {
		asked = compat.Backward
	}
	one := loggedSchema{
		Subject: orWord(r.report.Subject, orWord(r.report.Label, c.Old.Label)), Base: c.Old.Label, Head: r.report.Label, Level: asked.String(),
		Advice: bumpOf(r, c, asked), Reason: c.Reason, Changes: append([]compat.Finding{}, c.Findings...),
	}
	if r.pair.Old == nil || r.pair.New == nil || one.Advice == bumpOpen {
		return one
	}
	one.VersionBefore, one.VersionNow = versionOf(r.pair.Old), versionOf(r.pair.New)
	if one.VersionBefore != "" && one.VersionNow != "" {
		raised := raisedBy(one.VersionBefore, one.VersionNow).or(one.Advice) == raisedBy(one.VersionBefore, one.VersionNow)
		if !strings.Contains(one.VersionBefore, ".") { // a number alone counts breaks
			raised = one.Advice != bumpMajor || major(one.VersionNow) > major(one.VersionBefore)
		}
		one.Raised = &raised
	}
	return one
}

// raisedBy is the part of a version that was raised.
func raisedBy(before, now string) bump {
	was, is := versionParts(before), versionParts(now)
	for i, b := range []bump{bumpMajor, bumpMinor, bumpPatch} {
		if is[i] != was[i] {
			if is[i] > was[i] {
				return b
			}
			return bumpNone
		}
	}
	return bumpNone
}

func versionParts(version string) (parts [3]int) {
	core, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, p := range strings.SplitN(core, ".", 3) {
		parts[i] = major(p)
	}
	return parts
}

// headline is a schema and the advice on it.
func (s loggedSchema) headline() string {
	text := s.Subject + ": " + string(s.Advice)
	switch {
	case s.Raised != nil && !*s.Raised:
		text += fmt.Sprintf(", but its version went from %s to %s", s.VersionBefore, s.VersionNow)
	case s.Raised != nil:
		text += fmt.Sprintf(", its version went from %s to %s", s.VersionBefore, s.VersionNow)
	}
	return text
}

// line is a change in words: what it does to whom, and what it is.
func logLine(f compat.Finding) string {
	line := f.Message
	if f.Path != "" && !strings.Contains(line, f.Path) {
		line = f.Path + ": " + line
	}
	if f.Severity != compat.Note {
		line = string(f.Severity) + hurts(f) + ": " + line
	}
	return line
}

func (d logged) remarks() []string {
	list := []string{"version advice: " + string(d.Advice)}
	for _, s := range d.Schemas {
		list = append(list, s.headline())
	}
	return list
}

func (d logged) text(w io.Writer, colours bool) error {
	t := &text{colours: colours}
	for _, s := range d.Schemas {
		fmt.Fprintf(&t.b, "%s\n", t.paint(bold, plain(s.headline())))
		if s.Reason != "" {
			fmt.Fprintf(&t.b, "    %s: %s\n", t.paint(red, "not checked"), plain(s.Reason))
		}
		for _, f := range s.Changes {
			fmt.Fprintf(&t.b, "    %s (%s)\n", t.paint(colourOf(f.Severity), plain(logLine(f))), f.Rule)
		}
		if len(s.Changes) == 0 && s.Reason == "" {
			t.b.WriteString("    layout and comments alone\n")
		}
		t.b.WriteByte('\n')
	}
	fmt.Fprintf(&t.b, "version advice: %s\n", t.paint(bold, string(d.Advice)))
	_, err := io.WriteString(w, t.b.String())
	return err
}

func (d logged) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Changes from %s to %s\n\nVersion advice: **%s**\n", report.InMarkdown(d.Old), report.InMarkdown(d.New), d.Advice)
	for _, s := range d.Schemas {
		fmt.Fprintf(&b, "\n### %s\n\n", report.InMarkdown(s.headline()))
		if s.Reason != "" {
			fmt.Fprintf(&b, "- **not checked**: %s\n", report.InMarkdown(s.Reason))
		}
		for _, f := range s.Changes {
			line := report.InMarkdown(logLine(f))
			if f.Severity == compat.SeverityBreaking {
				line = "**" + strings.Replace(line, ": ", ":** ", 1)
			}
			fmt.Fprintf(&b, "- %s (`%s`)\n", line, f.Rule)
		}
		if len(s.Changes) == 0 && s.Reason == "" {
			b.WriteString("- layout and comments alone\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// htmlDiff prints the page that check prints too.
func htmlDiff(w io.Writer, doc compat.Document, results []result, against string) error {
	run := report.Run{Document: doc, Base: against, Path: platformPath(), Rules: checkers.Named()}
	for _, r := range results {
		run.Reports = append(run.Reports, r.report)
	}
	form, _ := report.Named("html")
	return form.Write(w, run)
}
