package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/config"
	"github.com/cartorio-registry/cartorio/compat"
)

// excepting is what except was asked.
type excepting struct {
	file, reason, owner, until string
	environments               []string
	rule, path                 string
	remove, lint, unseen       bool
	head                       string // with check.against: what is compared
	check                      checking
}

func (a *app) exceptCommand() *cobra.Command {
	var x excepting
	cmd := &cobra.Command{
		Use:   "except FINGERPRINT --reason TEXT --owner WHO --until DAY",
		Short: "Accept one finding for a while",
		Long: `Adds an entry to cartorio.exceptions.yaml: this one finding was looked at and does
no harm here, who says so, why, and until which day, at most a year away. The
finding stays in every output, marked as accepted; from the day after it counts
again. The fingerprint is the last line of a finding; it stays the same when lines
move or texts of Cartório change, and is another one when the schema changes
further.

The finding is looked for where --against, or check.against of the configuration,
tells what to compare (and --head, where check was given one), or --lint that lint
found it; a fingerprint that no finding there has is refused. --unseen adds it all
the same, without looking.

Rule and path of the entry are for readers; by its rule an entry is lint's, else it
is check's, and only whose it is says that it ended or matches nothing. They are
taken from the finding where it is looked for, else from --rule and --path.

An entry that is there already is replaced. --remove takes it out.`,
		Example: `  cartorio except 7fbc1c5f2ee8bc9f394ce11aaabafd11 --reason 'no consumer left' \
    --owner team-orders --until 2026-12-31
  cartorio except 7fbc1c5f2ee8bc9f394ce11aaabafd11 --remove`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.likeCheck(a, cmd); err != nil {
				return err
			}
			return a.except(cmd.Context(), args[0], x)
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.reason, "reason", "", "`TEXT`: why it does no harm")
	f.StringVar(&x.owner, "owner", "", "`WHO` answers for that")
	f.StringVar(&x.until, "until", "", "last `DAY` on which it counts, such as 2026-12-31, or a moment (RFC 3339)")
	f.StringSliceVar(&x.environments, "environment", nil, "`NAME` of an environment in which it counts; none is everywhere")
	f.StringVar(&x.rule, "rule", "", "`RULE` of the finding, for readers")
	f.StringVar(&x.path, "path", "", "`PATH` of the finding, for readers")
	f.StringVar(&x.file, "exceptions", "", "`FILE` to change (default: cartorio.exceptions.yaml beside cartorio.yaml, or at the repository's root)")
	f.BoolVar(&x.remove, "remove", false, "take the entry out")
	f.StringVar(&x.check.against, "against", "", "`BASE` to compare with, to find the finding (default: check.against of the configuration)")
	f.StringVar(&x.head, "head", ".", "`HEAD` of that comparison, or what lint looks at, as it was given there")
	f.BoolVar(&x.lint, "lint", false, "the finding is one of lint: look at --head to find its rule and path")
	f.BoolVar(&x.unseen, "unseen", false, "add the entry without looking for the finding")
	for _, name := range []string{"reason", "owner", "until", "environment", "rule", "path", "exceptions", "remove", "against", "head", "lint", "unseen"} {
		keyed(cmd, name, "except."+name, "CARTORIO_EXCEPT_"+strings.ToUpper(name))
	}
	return cmd
}

// likeCheck takes from check's own settings what nothing said here, so that the
// comparison is the one whose output the fingerprint was copied from.
func (x *excepting) likeCheck(a *app, cmd *cobra.Command) error {
	if x.remove || x.unseen || x.lint && x.check.against == "" {
		return nil
	}
	check, _, err := cmd.Root().Find([]string{"check"})
	if err != nil {
		return err
	}
	file, values, err := a.configured(cmd.Root(), cmd)
	if err != nil {
		return err
	}
	if err := a.fill(check, file, values); err != nil {
		return err
	}
	for name, to := range map[string]*string{"against": &x.check.against, "root": &x.check.root, "subject": &x.check.subject, "registry": &x.check.registry, "category": &x.check.category} {
		if *to == "" {
			*to = check.Flag(name).Value.String()
		}
	}
	return nil
}

func (a *app) except(ctx context.Context, fingerprint string, x excepting) error {
	fingerprint = strings.ToLower(strings.TrimSpace(fingerprint))
	if !config.Fingerprint.MatchString(fingerprint) {
		return failf(exitUsage, "%q is no fingerprint: it has 32 hexadecimal digits and stands in the last line of a finding", fingerprint)
	}
	file := orWord(x.file, a.exceptionsPlace())
	var list []config.Exception
	header := ""
	if text, err := os.ReadFile(file); err == nil {
		if list, err = a.loadExceptions(file); err != nil {
			return err
		}
		header = headComment(text)
	} else if !errors.Is(err, os.ErrNotExist) {
		return failf(exitNotCompared, "reading %s: %w", file, bare(err))
	}
	at := slices.IndexFunc(list, func(e config.Exception) bool {
		return e.Fingerprint == fingerprint && slices.Equal(e.Environments, x.environments)
	})
	if x.remove {
		if at < 0 {
			return failf(exitNotCompared, "%s has no entry for %s", file, fingerprint)
		}
		list = slices.Delete(list, at, at+1)
		return a.writeExceptions(file, header, list, "took "+fingerprint+" out of "+file)
	}
	entry := config.Exception{Exception: compat.Exception{Fingerprint: fingerprint, Reason: x.reason, Owner: x.owner}, Rule: x.rule, Path: x.path, Environments: x.environments}
	if err := a.complete(ctx, &entry, x); err != nil {
		return err
	}
	if at >= 0 {
		list[at] = entry
	} else {
		list = append(list, entry)
	}
	return a.writeExceptions(file, header, list, "accepted "+fingerprint+" in "+file+" until "+x.until)
}

// complete checks an entry, and names its rule and path where it can.
func (a *app) complete(ctx context.Context, e *config.Exception, x excepting) error {
	for _, must := range []struct{ flag, text string }{{"reason", e.Reason}, {"owner", e.Owner}, {"until", x.until}} {
		if strings.TrimSpace(must.text) == "" {
			return failf(exitUsage, "--%s is missing: an exception says why, who answers for it, and until when", must.flag)
		}
	}
	until, err := config.ParseUntil(x.until)
	switch {
	case err != nil:
		return failf(exitUsage, "--until: %w", err)
	case a.now().After(until):
		return failf(exitUsage, "--until %s has passed", x.until)
	case until.Sub(a.now()) > config.LongestException:
		return failf(exitUsage, "--until %s is more than a year away: an exception is looked at again within a year", x.until)
	}
	e.Until = until
	if x.lint {
		if x.check.against != "" || x.unseen {
			return failf(exitUsage, "--lint looks at schemas alone, --against compares, and --unseen does not look: name one of them")
		}
		_, reports, err := a.look(ctx, x.head, linting{failOn: "note", all: true})
		if err != nil {
			return err
		}
		return nameAfter(e, reports, "lint")
	}
	switch {
	case x.unseen && x.check.against != "":
		return failf(exitUsage, "--unseen does not look for the finding, and --against tells where it is: name one of them")
	case x.unseen:
		return nil
	case x.check.against == "":
		a.say("nothing tells what to compare, so that nobody has looked whether a finding has the fingerprint %s: --against BASE looks, and --unseen says that it is meant", e.Fingerprint)
		return nil
	}
	c := x.check
	// Whatever the level of a subject, each of its changes is a finding of these.
	c.level, c.policy, c.verdictPolicy, c.failOn = "FULL", "STRICT", "BOTH", "breaking"
	c.explicit = choices{level: true, policy: true, verdictPolicy: true}
	c.chosen = c.explicit
	c.defaults(a.config.Defaults)
	c.gate = a.newGate(c)
	q, err := c.question()
	if err != nil {
		return fail(exitUsage, err)
	}
	results, err := a.results(ctx, x.head, &c, q)
	if err != nil {
		return err
	}
	c.gate.apply(results) // which finds what only the configuration asks for
	reports := make([]compat.Report, len(results))
	for i, r := range results {
		reports[i] = r.report
	}
	return nameAfter(e, reports, "check --against "+x.check.against)
}

// nameAfter takes rule and path from the finding that an entry is about.
func nameAfter(e *config.Exception, reports []compat.Report, command string) error {
	blind := 0
	for _, r := range reports {
		for _, compared := range r.Compared {
			if compared.Verdict == compat.NotChecked {
				blind++
			}
			for _, f := range compared.Findings {
				if f.Has(e.Fingerprint) {
					e.Rule, e.Path = orWord(e.Rule, f.Rule), orWord(e.Path, f.Path)
					return nil
				}
			}
		}
	}
	hidden := ""
	if blind > 0 {
		hidden = fmt.Sprintf(" (%s not be looked at)", plural(blind, "pair could", "pairs could"))
	}
	return failf(exitNotCompared, "no finding here has the fingerprint %s%s: copy it from the output of %s, give --head what that was given, say --lint if lint found it, or --unseen to add it all the same", e.Fingerprint, hidden, command)
}

// exceptionEntry is an entry as it is written.
type exceptionEntry struct {
	Fingerprint  string   `yaml:"fingerprint"`
	Rule         string   `yaml:"rule,omitempty"`
	Path         string   `yaml:"path,omitempty"`
	Reason       string   `yaml:"reason"`
	Owner        string   `yaml:"owner"`
	Until        string   `yaml:"until"`
	Environments []string `yaml:"environments,omitempty,flow"`
}

// writeExceptions writes the file anew: sorted, so that two branches that add
// entries seldom meet in one line.
func (a *app) writeExceptions(file, header string, list []config.Exception, said string) error {
	slices.SortStableFunc(list, func(a, b config.Exception) int {
		if c := strings.Compare(a.Rule+" "+a.Path, b.Rule+" "+b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Fingerprint, b.Fingerprint)
	})
	entries := make([]exceptionEntry, 0, len(list))
	for _, e := range list {
		until := e.Until.UTC().Format("2006-01-02")
		if end, err := config.ParseUntil(until); err != nil || !end.Equal(e.Until) {
			until = e.Until.UTC().Format("2006-01-02T15:04:05Z")
		}
		entries = append(entries, exceptionEntry{e.Fingerprint, e.Rule, e.Path, e.Reason, e.Owner, until, e.Environments})
	}
	var b bytes.Buffer
	b.WriteString(orWord(header, "# Findings of cartorio check and lint that were looked at and accepted for a while.\n# Change it with: cartorio except\n"))
	y := yaml.NewEncoder(&b)
	y.SetIndent(2)
	if err := y.Encode(struct {
		Version    int              `yaml:"version"`
		Exceptions []exceptionEntry `yaml:"exceptions"`
	}{1, entries}); err != nil {
		return failf(exitNotCompared, "writing %s: %w", file, err)
	}
	if err := a.write(file, func(w io.Writer, _ bool) error { _, err := w.Write(b.Bytes()); return err }); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, plain(said))
	return err
}

// headComment is the comment that a file begins with.
func headComment(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
