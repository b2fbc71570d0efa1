package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// gate is what the configuration and the exceptions make of the findings.
type gate struct {
	app     *app
	c       checking
	from    string // the way from the configuration's folder to the head
	list    []config.Exception
	file    string             // of the exceptions
	inForce []compat.Exception // those that count today, here
	used    map[string]bool    // patterns and rules that matched
	seen    int                // files that were left out
	before  *config.File       // the configuration at the base; nil when it is not known
	lints   bool               // the findings are lint's
	alone   bool               // the head is one file, and not the folder that it lies in
	vain    []string           // what else the configuration says in vain
}

func (a *app) newGate(c checking) *gate { return &gate{app: a, c: c, used: map[string]bool{}} }

// explicit tells whether the command line or the environment gave a flag, and
// not the file.
func explicit(cmd *cobra.Command, flag string) bool {
	f := cmd.Flags().Lookup(flag)
	said := f.Annotations[fromNote]
	return f.Changed && (said == nil || said[0] == variable(f))
}

// defaults takes from the configuration what nothing nearer said.
func (c *checking) defaults(d config.Choices) {
	for _, one := range []struct {
		text   string
		to     *string
		chosen *bool
	}{{d.Level, &c.level, &c.chosen.level}, {d.Policy, &c.policy, &c.chosen.policy}, {d.VerdictPolicy, &c.verdictPolicy, &c.chosen.verdictPolicy}, {d.Category, &c.category, &c.chosen.category}} {
		if one.text != "" && !*one.chosen {
			*one.to, *one.chosen = one.text, true
		}
	}
}

// environment is the registry of a named environment; "" for none.
func (a *app) environment(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var names []string
	for _, e := range a.config.Environments {
		if e.Name == name {
			if e.Context != "" {
				a.config.Context = e.Context
			}
			return e.URL, nil
		}
		names = append(names, e.Name)
	}
	return "", failf(exitUsage, "--environment %s is not in the configuration: it has %s", name, orWord(strings.Join(names, ", "), "none"))
}

// at is where a line of the configuration stands.
func (g *gate) at(line int) string {
	return fmt.Sprintf("%s, line %d", filepath.ToSlash(g.app.config.Name), line)
}

// pathOf is a file as seen from the configuration's folder.
func (g *gate) pathOf(e *folder.Entry) string { return path.Join(g.from, e.Path) }

func (g *gate) of(e *folder.Entry) config.Subject {
	return g.app.declared().of(g.pathOf(e), e.Subject.String())
}

// leftOut tells the files under check.ignore. It is asked before anything is
// compared.
func (g *gate) leftOut(e *folder.Entry) bool {
	for _, ignore := range g.app.config.Check.Ignore {
		if folder.Match(ignore.Text, g.pathOf(e)) {
			g.used[ignore.Text] = true
			g.seen++
			return true
		}
	}
	return false
}

// apply changes how findings are shown, as the configuration says. No verdict
// changes with it.
func (g *gate) apply(results []result) {
	for i := range results {
		r := &results[i]
		entry := entryOf(r.pair)
		stability, source := g.stabilityOf(entry) // once: it looks into the text
		if own := g.of(entry); r.keyUnknown {
			g.vain = append(g.vain, fmt.Sprintf("%s: partition_key: no field of %s is called %s", g.at(own.Line), entry.Path, own.PartitionKey))
		}
		for j := range r.report.Compared {
			c := &r.report.Compared[j]
			if f, ok := g.stabilityLowered(*r, *c); ok {
				g.tell(c, f)
			}
			if f, ok := g.partitionKeyChanged(*r, *c); ok && j == 0 {
				g.tell(c, f)
			}
			for n := range c.Findings {
				if c.Findings[n].Rule == ruleStability {
					continue // it is about this very configuration
				}
				g.override(&c.Findings[n], entry, stability, source)
			}
			g.bump(*r, c)
			slices.SortStableFunc(c.Findings, func(a, b compat.Finding) int { return rank(a.Severity) - rank(b.Severity) })
		}
	}
}

// tell adds a finding of the gate's own, which refuses as a break does.
func (g *gate) tell(c *compat.Comparison, f compat.Finding) {
	list := []compat.Finding{f}
	compat.Accept(list, g.inForce, g.app.now())
	if list[0].Accepted == nil && c.Verdict == compat.Compatible {
		c.Verdict = compat.Breaking
	}
	c.Findings = append(c.Findings, list[0])
}

// override is what the configuration makes of one finding: the rule's own
// severity first, then where it does not count, then how settled its subject is.
func (g *gate) override(f *compat.Finding, e *folder.Entry, stability, source string) {
	show := func(to compat.Severity, off bool, source string) {
		if to == f.Severity && !off {
			return
		}
		f.Override = &compat.Override{From: f.Severity, Off: off, Source: source}
		f.Severity = to
	}
	cfg := g.app.config
	off := func(why string) { show(compat.Note, true, why) }
	if s, ok := g.severityOf(f); ok {
		if s.To == "off" {
			off(g.at(s.Rule.Line) + ": severity")
		} else {
			show(compat.Severity(s.To), false, g.at(s.Rule.Line)+": severity")
		}
		return
	}
	names := func(list []config.Entry) (config.Entry, bool) {
		i := slices.IndexFunc(list, func(e config.Entry) bool { return e.Names(f.Rule, f.Aliases) })
		if i < 0 {
			return config.Entry{}, false
		}
		g.used[list[i].Text] = true
		return list[i], true
	}
	if e, ok := names(cfg.Check.Except); ok {
		off(g.at(e.Line) + ": check.except")
		return
	}
	if _, ok := names(cfg.Check.Use); !ok && len(cfg.Check.Use) > 0 {
		off(g.at(cfg.Check.Use[0].Line) + ": check.use")
		return
	}
	for _, only := range cfg.Check.IgnoreOnly {
		if !only.Rule.Names(f.Rule, f.Aliases) {
			continue
		}
		for _, p := range only.Paths {
			if folder.Match(p, g.pathOf(e)) {
				g.used[only.Rule.Text], g.used[p] = true, true
				off(g.at(only.Rule.Line) + ": check.ignore_only")
				return
			}
		}
	}
	if f.Severity == compat.Note {
		return
	}
	switch {
	case stability == "draft" || stability == "alpha":
		show(compat.Note, false, source)
	case stability == "beta" && f.Severity == compat.SeverityBreaking:
		show(compat.Risk, false, source)
	}
}

// severityOf finds what severity: says of a rule; a whole name wins over the
// beginning of names.
func (g *gate) severityOf(f *compat.Finding) (found config.Severity, ok bool) {
	for _, s := range g.app.config.Severity {
		if !s.Rule.Names(f.Rule, f.Aliases) {
			continue
		}
		g.used[s.Rule.Text] = true
		if !strings.HasSuffix(s.Rule.Text, "*") {
			return s, true
		}
		found, ok = s, true
	}
	return found, ok
}

// protoPackage finds the package of a Protobuf text that was read already.
var protoPackage = regexp.MustCompile(`(?m)^\s*package\s+([A-Za-z_][A-Za-z0-9_.]*)\s*;`)

// packageOf is the Protobuf package, or the Avro namespace, of a file; "" for
// none.
func packageOf(e *folder.Entry) string {
	if e.Source.Type == schemas.Protobuf {
		if m := protoPackage.FindStringSubmatch(e.Source.Text); m != nil {
			return m[1]
		}
		return ""
	}
	if n := name(e); e.Source.Type == schemas.Avro && len(e.Names) > 0 {
		if at := strings.LastIndexByte(n, '.'); at > 0 {
			return n[:at]
		}
	}
	return ""
}

// failOn is the lowest severity that refuses: as said, else as configured.
func (g *gate) failOn() string {
	if said := g.app.config.Gate.FailOn; said != "" && !g.c.failOnSaid && g.c.failOn == "breaking" {
		return said
	}
	return g.c.failOn
}

// outcome is the exit code of a run.
func (g *gate) outcome(doc compat.Document) error {
	failOn := g.failOn()
	refused, unread := false, false
	for _, r := range doc.Replays {
		refused = refused || r.Refused > 0 || failOn == "risk" && r.Changed > 0
		unread = unread || r.Unread > 0 || judgedNothing(r)
	}
	if len(g.c.replay.messages) > 0 && len(doc.Replays) == 0 {
		return failf(exitNotCompared, "%s holds no messages: nothing was replayed", strings.Join(g.c.replay.messages, ", "))
	}
	switch {
	case (doc.Verdict == compat.NotChecked || unread) && !g.c.allowUnchecked:
		return fail(exitNotCompared, nil)
	case g.c.exitZero:
		return nil
	case refused, doc.Summary.Breaks > 0, failOn == "risk" && doc.Summary.Risks > 0:
		return fail(exitFindings, nil)
	case g.c.strict && g.stale(doc):
		return fail(exitFindings, nil)
	}
	return nil
}

// remarks tell of what the configuration says in vain.
func (g *gate) remarks(doc compat.Document) []string {
	list := append(g.exceptionRemarks(doc), g.vain...)
	cfg := g.app.config
	tell := func(line int, key, text string) {
		if !g.used[text] {
			list = append(list, fmt.Sprintf("%s: %s: %s matches nothing here", g.at(line), key, text))
		}
	}
	for _, e := range cfg.Check.Ignore {
		tell(e.Line, "check.ignore", e.Text)
	}
	for _, s := range cfg.Severity {
		if _, known := ruleNamed(s.Rule.Text); !known && !g.used[s.Rule.Text] {
			list = append(list, fmt.Sprintf("%s: severity: no rule is called %s: see cartorio rules", g.at(s.Rule.Line), s.Rule.Text))
		}
	}
	for _, group := range [][]config.Entry{cfg.Check.Use, cfg.Check.Except} {
		for _, e := range group {
			if _, known := ruleNamed(e.Text); !known && !g.used[e.Text] {
				list = append(list, fmt.Sprintf("%s: no rule is called %s: see cartorio rules", g.at(e.Line), e.Text))
			}
		}
	}
	for _, o := range cfg.Check.IgnoreOnly {
		if _, known := ruleNamed(o.Rule.Text); !known && !g.used[o.Rule.Text] {
			list = append(list, fmt.Sprintf("%s: check.ignore_only: no rule is called %s: see cartorio rules", g.at(o.Rule.Line), o.Rule.Text))
		}
	}
	if g.seen > 0 {
		list = append(list, plural(g.seen, "schema", "schemas")+" left out by check.ignore of "+filepath.ToSlash(cfg.Name))
	}
	return list
}

// exceptionsFile finds the file of exceptions: named, beside the configuration,
// or at the repository's root; "" when there is none.
func (a *app) exceptionsFile(named string) (string, error) {
	if named != "" {
		if _, err := os.Stat(named); err != nil {
			return "", failf(exitNotCompared, "reading the exceptions %s: %w", named, bare(err))
		}
		return named, nil
	}
	file := a.exceptionsPlace()
	if _, err := os.Stat(file); err != nil {
		return "", nil //nolint:nilerr // there are none
	}
	return file, nil
}

// exceptionsPlace is where the file of exceptions belongs.
func (a *app) exceptionsPlace() string {
	const name = "cartorio.exceptions.yaml"
	if a.config.Name != "" {
		return filepath.Join(filepath.Dir(a.config.Name), name)
	}
	if root := repositoryRoot(""); root != "" {
		if here, err := filepath.Abs("."); err == nil {
			if rel, err := filepath.Rel(here, root); err == nil {
				return filepath.Join(rel, name)
			}
		}
	}
	return name
}
