package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
)

// mostExceptions bounds the file of exceptions, in bytes.
const mostExceptions = 4 << 20

// loadExceptions reads a file of exceptions whole.
//
// Errors: what is wrong with it, each line, as wrong usage.
func (a *app) loadExceptions(file string) ([]config.Exception, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, failf(exitNotCompared, "reading the exceptions %s: %w", file, bare(err))
	}
	if !info.Mode().IsRegular() || info.Size() > mostExceptions {
		return nil, failf(exitUsage, "reading the exceptions %s: it is no file of up to %d bytes", file, mostExceptions)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, failf(exitNotCompared, "reading the exceptions %s: %w", file, bare(err))
	}
	list, faults := config.ReadExceptions(filepath.ToSlash(file), text, a.now())
	if len(faults) > 0 {
		var lines []string
		for _, f := range faults {
			at := file
			if f.Line > 0 {
				at = fmt.Sprintf("%s, line %d", file, f.Line)
			}
			lines = append(lines, fmt.Sprintf("reading %s: %s", at, f.Text))
		}
		return nil, failf(exitUsage, "%s", strings.Join(lines, "\n"))
	}
	return list, nil
}

// readExceptions takes those that count today and in this environment.
func (g *gate) readExceptions(named string) error {
	file, err := g.app.exceptionsFile(named)
	if err != nil || file == "" {
		return err
	}
	g.file = file
	if g.list, err = g.app.loadExceptions(file); err != nil {
		return err
	}
	for _, e := range g.list {
		if g.counts(e) && !g.ended(e) {
			g.inForce = append(g.inForce, e.Exception)
		}
	}
	return nil
}

func (g *gate) counts(e config.Exception) bool {
	return len(e.Environments) == 0 || slices.Contains(e.Environments, g.c.environment)
}

func (g *gate) ended(e config.Exception) bool { return g.app.now().After(e.Until) }

// exceptionRemarks tell of exceptions that have ended or match nothing. Where
// only a part was compared, one that matches nothing may belong to the rest; one
// whose rule is of lint belongs to lint, and the others to check.
func (g *gate) exceptionRemarks(doc compat.Document) []string {
	found := fingerprints(doc)
	var list []string
	for _, e := range g.list {
		what := orWord(strings.TrimSpace(e.Rule+" "+e.Path), e.Fingerprint)
		switch {
		case g.isOthers(e):
		case g.ended(e):
			list = append(list, fmt.Sprintf("%s: the exception for %s ended on %s and no longer counts: mend the schema, or extend it", e.Source, what, e.Until.UTC().Format("2006-01-02")))
		case !g.counts(e):
		case !found[e.Fingerprint] && !g.narrowed():
			advice := "take it out"
			if e.Rule == "" {
				advice += ", or name its rule if it is one of lint"
			}
			list = append(list, fmt.Sprintf("%s: the exception for %s is unused: nothing here has the fingerprint %s: %s", e.Source, what, e.Fingerprint, advice))
		}
	}
	return list
}

func (g *gate) narrowed() bool { return g.alone || len(g.c.include)+len(g.c.exclude) > 0 }

// isOthers tells the exceptions that are about what the other command finds: lint
// from the gate's side, check from lint's.
func (g *gate) isOthers(e config.Exception) bool {
	return knownToLint(config.Entry{Text: e.Rule}) != g.lints
}

func fingerprints(doc compat.Document) map[string]bool {
	found := map[string]bool{}
	for _, f := range doc.Findings {
		found[f.Fingerprint] = true
		found[f.Also] = true
	}
	return found
}

// stale tells whether an exception has ended or matches nothing.
func (g *gate) stale(doc compat.Document) bool {
	found := fingerprints(doc)
	return slices.ContainsFunc(g.list, func(e config.Exception) bool {
		return !g.isOthers(e) && (g.ended(e) || g.counts(e) && !found[e.Fingerprint] && !g.narrowed())
	})
}

// ruleNamed finds the rule that an entry of the configuration names, or one of
// those that it begins.
func ruleNamed(text string) (compat.Rule, bool) {
	e := config.Entry{Text: text}
	for _, r := range checkers.Named() {
		if e.Names(r.ID, append(slices.Clone(r.Peers), r.Was...)) {
			return r, true
		}
	}
	return compat.Rule{}, false
}
