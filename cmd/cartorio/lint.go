package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint/linters"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// lintPages is where the rules of lint are told to people.
const lintPages = "https://github.com/cartorio-registry/cartorio/blob/main/docs/lint.md"

// linting is what lint was asked.
type linting struct {
	root, subject, output, failOn string
	formats, rules                []string
	include, exclude              []string
	fix, all, exitZero, strict    bool
	exceptions, environment       string
	maxFindings                   int
}

func (a *app) lintCommand() *cobra.Command {
	var c linting
	cmd := &cobra.Command{
		Use:   "lint [PATH]",
		Short: "Say what in schemas is accepted and seldom meant",
		Long: `Looks at each schema of PATH (default: the current folder), which may be all that
HEAD of check may be: a folder, a file, an archive or a git ref. A risk is what may
hurt data or readers; a note is style. "cartorio explain RULE" tells more of one.

Which rules are looked for follows lint.use, lint.except and lint.ignore of
cartorio.yaml, and --rule, which wins over the first two; a severity there holds
here too. Rules that are optional are looked for where they are named, or with
--all.

A remark that is meant is accepted for a while, by its fingerprint in
cartorio.exceptions.yaml as findings of check are, or in the schema itself:
  // cartorio:ignore RULE until DAY: REASON       above the element, in Protobuf
  "x-cartorio-ignore": {"RULE": "until DAY: REASON"}    in the object, elsewhere
It stays in every output, marked, and fails nothing until that day, at most a year
away.

--fix mends what it can in the files: only where the fingerprint stays, or where
each schema is proved to read all that the other writes. The rest is told.

Exits 1 for a finding at or above --fail-on, 2 when a file could not be read.`,
		Example: `  cartorio lint
  cartorio lint schemas/ --fix
  cartorio lint --rule avro.enum-without-default --rule 'json.keyword-*'
  cartorio lint --format github-actions`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			head := "."
			if len(args) == 1 {
				head = args[0]
			}
			return a.lint(cmd.Context(), head, c)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&c.rules, "rule", nil, "look for `RULE` alone, or for the rules that begin as before a *; as often as wanted")
	f.BoolVar(&c.all, "all", false, "look for optional rules too")
	f.BoolVar(&c.fix, "fix", false, "mend what can be mended without changing a meaning")
	f.StringSliceVar(&c.formats, "format", []string{"text"}, "`FORM` or FORM=FILE, as often as wanted: text, "+strings.Join(report.Names(), ", "))
	f.StringVar(&c.output, "output", "", "write the one FORM without a file of its own to `FILE` instead of stdout")
	f.StringVar(&c.failOn, "fail-on", "risk", "lowest severity that exits 1: breaking, risk or note")
	f.BoolVar(&c.exitZero, "exit-zero", false, "exit 0 for findings; never for what could not be read")
	f.StringVar(&c.exceptions, "exceptions", "", "`FILE` of accepted findings (default: cartorio.exceptions.yaml beside cartorio.yaml, or at the repository's root)")
	f.BoolVar(&c.strict, "strict-exceptions", false, "exit 1 when an exception or an ignore has ended or matches nothing")
	f.StringVar(&c.environment, "environment", "", "`NAME` of an environment of cartorio.yaml, whose exceptions count too")
	f.IntVar(&c.maxFindings, "max-findings", 0, "show at most `N` findings, and say how many there are; 0 shows all")
	f.StringSliceVar(&c.include, "path", nil, "look only at what matches `PATTERN`")
	f.StringSliceVar(&c.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: PATH, or the folder of a file)")
	f.StringVar(&c.subject, "subject", "", "`TEMPLATE` of subject names, as of register")
	oneOf(cmd, "format", append([]string{"text"}, report.Names()...)...)
	oneOf(cmd, "fail-on", "breaking", "risk", "note")
	return cmd
}

func (a *app) lint(ctx context.Context, arg string, c linting) error {
	outputs, err := parseOutputs(c.formats, c.output)
	if err != nil {
		return fail(exitUsage, err)
	}
	switch {
	case !slices.Contains([]string{"breaking", "risk", "note"}, c.failOn):
		return failf(exitUsage, "--fail-on %s is none of breaking, risk, note", c.failOn)
	case c.maxFindings < 0:
		return failf(exitUsage, "--max-findings takes no number below 0")
	}
	if err := checkPatterns(c.include, c.exclude); err != nil {
		return fail(exitUsage, err)
	}
	l, reports, err := a.look(ctx, arg, c)
	if err != nil {
		return err
	}
	return l.tell(outputs, reports)
}

// look opens what is to be looked at, and looks.
func (a *app) look(ctx context.Context, arg string, c linting) (*linter, []compat.Report, error) {
	naming, err := folder.ParseNaming(c.subject)
	if err != nil {
		return nil, nil, fail(exitUsage, err)
	}
	if _, err := a.environment(c.environment); err != nil {
		return nil, nil, err
	}
	g := a.newGate(checking{environment: c.environment, include: c.include, exclude: c.exclude, strict: c.strict})
	g.lints = true
	if err := g.readExceptions(c.exceptions); err != nil {
		return nil, nil, err
	}
	l := &linter{app: a, c: c, gate: g, used: map[string]bool{}, mended: map[string]int{}}
	for _, text := range c.rules {
		e := config.Entry{Text: text}
		if !knownToLint(e) {
			return nil, nil, failf(exitUsage, "--rule %s names no rule of lint: see cartorio rules --of lint", text)
		}
		l.only = append(l.only, e)
	}
	head, err := openHead(ctx, arg, reading{root: c.root, naming: naming, include: c.include, exclude: c.exclude, declared: a.declared(), gate: true, in: a.in})
	if err != nil {
		return nil, nil, err
	}
	defer head.close()
	g.alone = head.file != ""
	if err := unmatched(head, nil); err != nil {
		return nil, nil, err
	}
	if c.fix && !head.isDisk() {
		return nil, nil, failf(exitUsage, "--fix: %s is no folder or file of this disk", arg)
	}
	if err := a.spare(head); err != nil {
		return nil, nil, err
	}
	a.count(head)
	a.sayLikely(head)
	if head.folder.Selected() == 0 {
		return nil, nil, failf(exitNotCompared, "%s holds no schema to look at%s", head.label, head.jsonHint())
	}
	if err := head.declaredAbsent(); err != nil {
		return nil, nil, err
	}
	reports, err := l.run(ctx, head)
	return l, reports, err
}

// tell writes the findings and says how the run ends.
func (l *linter) tell(outputs []output, reports []compat.Report) error {
	doc := compat.NewDocument("cartorio "+readBuild().Version, reports...)
	stale := append(l.gate.exceptionRemarks(doc), l.stale...)
	doc.Remarks = append(l.remarks(), stale...)
	for _, text := range doc.Remarks {
		l.app.say("%s", text)
	}
	run := report.Run{
		Document: doc, Reports: reports, Path: platformPath(), Annotations: l.app.config.Gate.MaxAnnotations, Findings: l.c.maxFindings,
		Alone: true, Fails: compat.Severity(l.c.failOn), Pages: lintPages,
	}
	if l.c.strict {
		run.Failing = stale
	}
	run.Rules = append(run.Rules, compat.CoreRules()...)
	for _, r := range linters.Rules() {
		run.Rules = append(run.Rules, r.Listed())
	}
	for _, o := range outputs {
		if err := l.app.write(o.file, func(w io.Writer, colours bool) error {
			if o.form == textForm {
				return lintText(w, colours, report.Cut(doc, l.c.maxFindings), doc.Summary)
			}
			form, _ := report.Named(o.form)
			var b bytes.Buffer
			if err := form.Write(&b, run); err != nil {
				return err
			}
			if _, err := w.Write(b.Bytes()); err != nil || form.Name != "github-actions" {
				return err
			}
			return l.app.jobSummary(run)
		}); err != nil {
			return err
		}
	}
	s := doc.Summary
	switch {
	case doc.Verdict == compat.NotChecked:
		return fail(exitNotCompared, nil)
	case l.c.exitZero:
		return nil
	case l.c.strict && len(stale) > 0:
		return fail(exitFindings, nil)
	case s.Breaks > 0, l.c.failOn != "breaking" && s.Risks > 0, l.c.failOn == "note" && s.Notes > 0:
		return fail(exitFindings, nil)
	}
	return nil
}

// lintText prints one line for each finding, in the form that editors
// understand, and what can be done about each rule at the end.
func lintText(w io.Writer, colours bool, doc compat.Document, all compat.Summary) error {
	t := &text{colours: colours}
	for _, c := range doc.Compared {
		for _, f := range c.Faults {
			fmt.Fprintf(&t.b, "%s: %s: %s\n", t.paint(bold, plain(located(compat.Location{File: f.File, Line: f.Line, Column: f.Column}))), t.paint(red, "not checked"), plain(f.Message))
		}
	}
	fixes := map[string]string{}
	var order []string
	for _, f := range doc.Findings {
		if f.Override != nil && f.Override.Off {
			continue
		}
		if f.Accepted != nil {
			fmt.Fprintf(&t.b, "%s: %s: %s: %s (%s, until %s)\n", t.paint(bold, place(f)), t.paint(dim, "accepted"), f.Rule, plain(f.Message), plain(f.Accepted.Reason), f.Accepted.Until)
			continue
		}
		fmt.Fprintf(&t.b, "%s: %s: %s: %s\n", t.paint(bold, place(f)), t.paint(colourOf(f.Severity), string(f.Severity)), f.Rule, plain(f.Message))
		if fixes[f.Rule] == "" {
			fixes[f.Rule] = f.Fix
			order = append(order, f.Rule)
		}
	}
	if len(order) > 0 {
		t.b.WriteByte('\n')
		slices.Sort(order)
		for _, rule := range order {
			fmt.Fprintf(&t.b, "    %s %s\n", t.paint(dim, rule+":"), plain(fixes[rule]))
		}
	}
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
	counts := []string{}
	for _, n := range []struct {
		n         int
		one, many string
	}{{all.NotChecked, "not read", "not read"}, {all.Breaks, "error", "errors"}, {all.Risks, "risk", "risks"}, {all.Notes, "note", "notes"}, {all.Accepted, "accepted", "accepted"}, {all.Off, "switched off", "switched off"}, {doc.Summary.Hidden, "not shown", "not shown"}} {
		if n.n > 0 {
			counts = append(counts, plural(n.n, n.one, n.many))
		}
	}
	ending := "nothing to say"
	if len(counts) > 0 {
		ending = strings.Join(counts, ", ")
	}
	fmt.Fprintf(&t.b, "%s looked at: %s\n", plural(len(doc.Compared), "schema", "schemas"), ending)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// knownToLint tells whether an entry names a rule of lint.
func knownToLint(e config.Entry) bool {
	return slices.ContainsFunc(linters.Rules(), func(r lintRule) bool { return e.Names(r.ID, r.Peers) })
}

var errNoLinter = errors.New("there is no linter for this schema language")
