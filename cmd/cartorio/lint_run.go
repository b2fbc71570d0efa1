package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/lint"
	"github.com/cartorio-registry/cartorio/lint/linters"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

type lintRule = lint.Rule

// linter is one run of lint.
type linter struct {
	app    *app
	c      linting
	only   []config.Entry  // of --rule
	gate   *gate           // for its exceptions
	stale  []string        // remarks on what schemas ignore in vain
	used   map[string]bool // texts of entries that matched something
	seen   int             // files left out by lint.ignore
	mended map[string]int  // remarks by rule
	files  int             // that were mended
}

// wants tells whether a rule is looked for.
func (l *linter) wants(r lint.Rule) bool {
	named := func(list []config.Entry) bool {
		found := false
		for _, e := range list {
			if e.Names(r.ID, r.Peers) {
				l.used[e.Text] = true
				found = true
			}
		}
		return found
	}
	cfg := l.app.config.Lint
	switch {
	case len(l.only) > 0:
		return named(l.only)
	case named(cfg.Except):
		return false
	case len(cfg.Use) > 0:
		return named(cfg.Use)
	}
	return !r.Optional || l.c.all
}

// run looks at every schema that is selected, in the order of their paths.
func (l *linter) run(ctx context.Context, head *side) ([]compat.Report, error) {
	entries := make([]*folder.Entry, len(head.folder.Entries))
	for i := range head.folder.Entries {
		entries[i] = &head.folder.Entries[i]
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Path < entries[j].Path })
	wanted := map[string]lint.Rule{}
	for _, r := range linters.Rules() {
		if l.wants(r) {
			wanted[r.ID] = r
		}
	}
	from := l.app.declared().from(head.root)
	p := l.app.startProgress("looking")
	defer p.stop()
	p.total(len(entries))
	var reports []compat.Report
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, failf(exitNotCompared, "looking: %w", err)
		}
		p.add()
		if !e.Selected || l.ignored(path.Join(from, e.Path)) {
			continue
		}
		report, err := l.entry(ctx, head, e, path.Join(from, e.Path), wanted)
		if err != nil {
			return nil, err
		}
		reports = append(reports, report)
	}
	return reports, nil
}

func (l *linter) ignored(p string) bool {
	for _, e := range l.app.config.Lint.Ignore {
		if folder.Match(e.Text, p) {
			l.used[e.Text] = true
			l.seen++
			return true
		}
	}
	return false
}

// entry looks at one schema, and mends its file where that is asked.
func (l *linter) entry(ctx context.Context, head *side, e *folder.Entry, configured string, wanted map[string]lint.Rule) (compat.Report, error) {
	label := head.show(e.Path)
	report := compat.Report{Subject: e.Subject.String(), Label: label, Format: e.Source.Type}
	if report.Subject == "" {
		report.Subject = e.Path
	}
	comparison := compat.Comparison{OneSided: true, Verdict: compat.Compatible}
	give := func(err error) compat.Report {
		comparison.OneSided = false
		comparison.Verdict, comparison.Reason, comparison.Faults = compat.NotChecked, err.Error(), faultsOf(label, err)
		report.NotChecked, report.Compared = true, []compat.Comparison{comparison}
		return report
	}
	parse := func(text string) (schemas.Schema, error) {
		if text == e.Source.Text {
			return head.parse(ctx, e, schemas.New, nil)
		}
		variant := *e
		variant.Source.Text = text
		return head.parse(ctx, &variant, schemas.New, nil)
	}
	schema, err := parse(e.Source.Text)
	if err != nil {
		return give(err), nil
	}
	of, ok := linters.Of(e.Source.Type)
	if !ok {
		return give(errNoLinter), nil
	}
	subject := lint.Subject{Schema: schema, Path: e.Path, Parse: parse, Wanted: func(id string) bool {
		_, ok := wanted[id]
		return ok
	}}
	if tags := l.app.declared().of(configured, e.Subject.String()).Metadata; tags != nil {
		for p := range tags.Tags {
			subject.Tagged = append(subject.Tagged, p)
		}
	}
	look := func(s schemas.Schema) []lint.Remark {
		subject := subject
		subject.Schema = s
		return of.Look(subject)
	}
	accept, identity, also := l.accepting(label, configured, e), identityOf(head, e), nameSeen(e, head)
	if l.c.fix {
		open := func(s schemas.Schema) []lint.Remark {
			_, said := accept(s.Source())
			return slices.DeleteFunc(look(s), func(r lint.Remark) bool {
				f := l.finding(wanted[r.Rule], r, report, identity, also, head.label)
				return said(r, wanted[r.Rule], &f)
			})
		}
		if schema, err = l.mend(head, e, schema, open, parse); err != nil {
			return report, err
		}
	}
	ignores, said := accept(schema.Source())
	remarks := look(schema)
	for _, r := range remarks {
		f := l.finding(wanted[r.Rule], r, report, identity, also, head.label)
		said(r, wanted[r.Rule], &f)
		comparison.Findings = append(comparison.Findings, f)
	}
	if len(remarks) >= lint.Most {
		give(errTooMuchToSay)
	}
	l.stale = append(l.stale, l.vain(label, ignores, wanted)...)
	report.Compared = []compat.Comparison{comparison}
	return report, nil
}

// finding is a remark as a document shows it.
func (l *linter) finding(rule lint.Rule, r lint.Remark, of compat.Report, identity, also, label string) compat.Finding {
	about := r.Path
	if r.Value != "" {
		about += "\x00" + r.Value
	}
	f := compat.Finding{
		Rule: r.Rule, Aliases: slices.Clone(rule.Peers), Severity: rule.Severity, Direction: "both", Format: of.Format, Subject: of.Subject, Path: r.Path,
		Head: compat.Location{
			Label: label, File: of.Label, Line: r.Place.Position.Line, Column: r.Place.Position.Column,
			EndLine: max(r.Place.End.Line, 0), EndColumn: max(r.Place.End.Column, 0), Pointer: string(r.Place.Pointer),
		},
		Message: r.Text, Why: rule.Why, Fix: rule.Instead, Fingerprint: compat.FileFingerprint(of.Format, identity, r.Rule, about),
	}
	if also != "" {
		f.Also = compat.FileFingerprint(of.Format, also, r.Rule, about)
	}
	if f.Aliases == nil {
		f.Aliases = []string{}
	}
	var to *config.Severity
	for i, s := range l.app.config.Severity {
		if s.Rule.Names(r.Rule, rule.Peers) && (to == nil || !strings.HasSuffix(s.Rule.Text, "*")) {
			l.used[s.Rule.Text] = true
			to = &l.app.config.Severity[i]
		}
	}
	if to == nil {
		return f
	}
	source := fmt.Sprintf("%s:%d: severity", filepath.ToSlash(l.app.config.Name), to.Rule.Line)
	switch {
	case to.To == "off":
		f.Override = &compat.Override{From: f.Severity, Off: true, Source: source}
	case compat.Severity(to.To) != f.Severity:
		f.Override = &compat.Override{From: f.Severity, Source: source}
		f.Severity = compat.Severity(to.To)
	}
	return f
}

// mend writes the file anew where remarks can be mended, and gives the schema
// that it then is.
func (l *linter) mend(head *side, e *folder.Entry, schema schemas.Schema, look func(schemas.Schema) []lint.Remark, parse func(string) (schemas.Schema, error)) (schemas.Schema, error) {
	parsed := map[string]schemas.Schema{e.Source.Text: schema} // of the last texts: each is asked for twice
	get := func(text string) (schemas.Schema, error) {
		if s, ok := parsed[text]; ok {
			return s, nil
		}
		s, err := parse(text)
		if err == nil {
			parsed[text] = s
		}
		return s, err
	}
	text, mended := lint.Mend(e.Source.Text, func(text string) []lint.Remark {
		s, err := get(text)
		if err != nil {
			return nil
		}
		return look(s)
	}, func(text string) bool {
		after, err := get(text)
		return err == nil && lint.Same(schema, after, allCheckers())
	})
	if text == e.Source.Text {
		return schema, nil
	}
	if err := rewriteFile(filepath.Join(head.root, filepath.FromSlash(e.Path)), e.Source.Text, text); err != nil {
		return nil, failf(exitNotCompared, "mending %s: %w", head.show(e.Path), err)
	}
	for rule, n := range mended {
		l.mended[rule] += n
	}
	l.files++
	return get(text)
}

// remarks tell what was mended, and what the configuration says in vain.
func (l *linter) remarks() []string {
	var list []string
	if l.files > 0 {
		var rules []string
		for rule, n := range l.mended {
			rules = append(rules, fmt.Sprintf("%s (%d)", rule, n))
		}
		slices.Sort(rules)
		list = append(list, fmt.Sprintf("mended %s: %s", plural(l.files, "file", "files"), strings.Join(rules, ", ")))
	}
	cfg := l.app.config
	at := func(line int) string { return fmt.Sprintf("%s:%d", filepath.ToSlash(cfg.Name), line) }
	for _, group := range []struct {
		key  string
		list []config.Entry
	}{{"lint.use", cfg.Lint.Use}, {"lint.except", cfg.Lint.Except}} {
		for _, e := range group.list {
			if !knownToLint(e) {
				list = append(list, fmt.Sprintf("%s: %s: no rule of lint is called %s: see cartorio rules --of lint", at(e.Line), group.key, e.Text))
			}
		}
	}
	for _, e := range cfg.Lint.Ignore {
		if !l.used[e.Text] {
			list = append(list, fmt.Sprintf("%s: lint.ignore: %s matches nothing here", at(e.Line), e.Text))
		}
	}
	if l.seen > 0 {
		list = append(list, plural(l.seen, "schema", "schemas")+" left out by lint.ignore of "+filepath.ToSlash(cfg.Name))
	}
	return list
}

// isDisk tells whether the side's files can be written.
func (s *side) isDisk() bool {
	if s.commit != "" || s.root == "" || strings.Contains(s.prefix, ":") {
		return false
	}
	info, err := os.Stat(s.root)
	return err == nil && info.IsDir()
}

// byteOrderMark is what some editors put before UTF-8.
const byteOrderMark = "\ufeff"

// rewriteFile replaces a file that still holds before, whole or not at all. A
// byte order mark, which reading leaves away, is not written again.
func rewriteFile(name, before, after string) error {
	info, err := os.Stat(name)
	if err != nil {
		return bare(err)
	}
	was, err := os.ReadFile(name) //nolint:gosec // the file that was asked for
	if err != nil {
		return bare(err)
	}
	if strings.TrimPrefix(string(was), byteOrderMark) != before {
		return fmt.Errorf("the file was changed meanwhile, or is not UTF-8 as it is read")
	}
	part, err := os.CreateTemp(filepath.Dir(name), ".cartorio-*")
	if err != nil {
		return bare(err)
	}
	_, err = part.WriteString(after)
	if err == nil {
		err = part.Chmod(info.Mode().Perm())
	}
	if closeErr := part.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		_ = os.Remove(part.Name())
		return bare(err)
	}
	return nil
}

// errTooMuchToSay is of a schema whose remarks end where lint.Most are.
var errTooMuchToSay = fmt.Errorf("it has %d remarks, and there may be more: look for fewer rules with lint.use or --rule, or leave it out with lint.ignore", lint.Most)
