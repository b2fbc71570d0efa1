package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitfs"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// checking is what check was asked.
type checking struct {
	against, root          string
	level                  string
	policy, verdictPolicy  string
	format, output, failOn string
	exitZero, allowEmpty   bool
	include, exclude       []string
}

func (a *app) checkCommand() *cobra.Command {
	var c checking
	cmd := &cobra.Command{
		Use:   "check [HEAD] --against BASE",
		Short: "Say which changes between two sets of schemas break readers or writers",
		Long: `Compares the schemas of HEAD (default: the current folder) with those of BASE.
Each may be a folder, a file, or a git ref: git:REF, git:merge-base(REF), with
#path=DIR behind it or not; without it the ref is read at the path of HEAD.
Nothing is checked out or fetched, and no registry is asked.

Files are paired by declared subject, else by path, else by full name. A new
schema is a note, a removed one a risk. What could not be compared is never
called compatible: it exits 2. See "cartorio help exit-codes".

A PATTERN is a file, a folder or a glob with * and **, seen from HEAD.`,
		Example: `  cartorio check schemas/ --against git:main
  cartorio check --against 'git:merge-base(origin/main)' --format json
  cartorio check new.avsc --against old.avsc --level FULL`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			head := "."
			if len(args) == 1 {
				head = args[0]
			}
			return a.check(cmd.Context(), head, c)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.against, "against", "", "`BASE` to compare with")
	f.StringVar(&c.level, "level", "BACKWARD", "BACKWARD, FORWARD, FULL, each _TRANSITIVE or not, or NONE")
	f.StringVar(&c.policy, "policy", "STRICT", "STRICT or LENIENT: LENIENT loosens JSON Schema's closed models")
	f.StringVar(&c.verdictPolicy, "verdict-policy", "REFERENCE", "REFERENCE (what the reference registry says), SOUND (what happens to data) or BOTH")
	f.StringVar(&c.format, "format", "text", "text or json")
	f.StringVar(&c.output, "output", "", "write to `FILE` instead of stdout")
	f.StringVar(&c.failOn, "fail-on", "breaking", "lowest severity that exits 1: breaking or risk")
	f.BoolVar(&c.exitZero, "exit-zero", false, "exit 0 for findings; never for what could not be compared")
	f.BoolVar(&c.allowEmpty, "allow-empty-base", false, "take a base that does not exist as empty")
	f.StringSliceVar(&c.include, "path", nil, "compare only what matches `PATTERN`")
	f.StringSliceVar(&c.exclude, "exclude-path", nil, "leave out what matches `PATTERN`")
	f.StringVar(&c.root, "root", "", "`FOLDER` in which references are found (default: HEAD, or the folder of a file)")
	return cmd
}

func (a *app) check(ctx context.Context, headArg string, c checking) error {
	q, err := c.question()
	if err != nil {
		return fail(exitUsage, err)
	}
	if c.against == "" {
		return failf(exitUsage, "--against is missing: name a folder, a file, or a git ref such as git:main")
	}
	head, base, err := a.sides(ctx, headArg, c)
	if err != nil {
		return err
	}
	defer head.close()
	defer base.close()
	if err := unmatched(head, base); err != nil {
		return err
	}
	for _, s := range []*side{head, base} {
		a.count(s)
	}
	if head.folder.Selected() == 0 {
		return failf(exitNotCompared, "%s holds no schema to compare: nothing was checked", head.label)
	}
	p := a.startProgress("comparing")
	results := compareSides(ctx, head, base, q, a.subjects, p)
	p.stop()
	if err := ctx.Err(); err != nil {
		return failf(exitNotCompared, "comparing: %w", err)
	}
	reports := make([]compat.Report, len(results))
	for i, r := range results {
		reports[i] = r.report
	}
	doc := compat.NewDocument("cartorio "+readBuild().Version, reports...)
	if err := a.write(c.output, func(w io.Writer, colours bool) error {
		if c.format == "json" {
			return writeJSON(w, doc)
		}
		return renderText(w, colours, doc, results, base.label)
	}); err != nil {
		return err
	}
	switch {
	case doc.Verdict == compat.NotChecked:
		return fail(exitNotCompared, nil)
	case c.exitZero:
		return nil
	case doc.Verdict == compat.Breaking, c.failOn == "risk" && doc.Summary.Risks > 0:
		return fail(exitFindings, nil)
	}
	return nil
}

// question reads the choices that hold for every pair.
func (c checking) question() (q compat.Question, err error) {
	if q.Level, err = compat.ParseLevel(c.level); err != nil {
		return q, err
	}
	if q.Policy, err = compat.ParsePolicy(c.policy); err != nil {
		return q, err
	}
	if q.VerdictPolicy, err = compat.ParseVerdictPolicy(c.verdictPolicy); err != nil {
		return q, err
	}
	if c.format != "text" && c.format != "json" {
		return q, errors.New("--format " + c.format + " is neither text nor json")
	}
	if c.failOn != "breaking" && c.failOn != "risk" {
		return q, errors.New("--fail-on " + c.failOn + " is neither breaking nor risk")
	}
	if err := checkPatterns(c.include, c.exclude); err != nil {
		return q, err
	}
	q.Checkers = allCheckers()
	return q, nil
}

func checkPatterns(lists ...[]string) error {
	for _, list := range lists {
		for _, pattern := range list {
			if err := folder.CheckPattern(pattern); err != nil {
				return err
			}
		}
	}
	return nil
}

// sides opens head and base.
func (a *app) sides(ctx context.Context, headArg string, c checking) (head, base *side, err error) {
	for _, arg := range []string{headArg, c.against} {
		if strings.HasPrefix(arg, "registry:") || strings.HasPrefix(arg, "bundle:") || arg == "-" {
			return nil, nil, failf(exitUsage, "%s cannot be compared yet: name a folder, a file or a git ref; POST /compatibility asks a registry", arg)
		}
	}
	r := reading{root: c.root, include: c.include, exclude: c.exclude, declared: a.subjects}
	if gitfs.Is(headArg) {
		spec, err := gitfs.Parse(headArg)
		if err != nil {
			return nil, nil, fail(exitUsage, err)
		}
		head, err = openGit(ctx, spec, nil, false, r)
		if err != nil {
			return nil, nil, err
		}
	} else if head, err = openDisk(ctx, headArg, r); err != nil {
		return nil, nil, err
	}
	if gitfs.Is(c.against) {
		spec, err := gitfs.Parse(c.against)
		if err != nil {
			head.close()
			return nil, nil, fail(exitUsage, err)
		}
		base, err = openGit(ctx, spec, head, c.allowEmpty, r)
		if err != nil {
			head.close()
			return nil, nil, err
		}
		return head, base, nil
	}
	if _, statErr := os.Stat(c.against); c.allowEmpty && errors.Is(statErr, os.ErrNotExist) {
		base, err = (&side{label: c.against, prefix: c.against}).empty(ctx)
	} else {
		r.root = "" // the head's
		base, err = openDisk(ctx, c.against, r)
	}
	if err != nil {
		head.close()
		return nil, nil, err
	}
	return head, base, nil
}

// unmatched complains of patterns that match on neither side: they are typing
// errors, and would leave a gate open.
func unmatched(head, base *side) error {
	var lost []string
	for _, pattern := range head.folder.Unmatched {
		if slices.Contains(base.folder.Unmatched, pattern) || len(base.folder.Entries) == 0 {
			lost = append(lost, pattern)
		}
	}
	if len(lost) > 0 {
		return failf(exitNotCompared, "no schema matches %s", strings.Join(lost, ", "))
	}
	return nil
}

// count tells on stderr what was read and what was not looked at.
func (a *app) count(s *side) {
	parts := []string{plural(len(s.folder.Entries), "schema", "schemas")}
	if n := len(s.folder.Others); n > 0 {
		parts = append(parts, plural(n, "other file", "other files"))
	}
	if n := len(s.folder.Links); n > 0 {
		parts = append(parts, plural(n, "link or submodule not followed", "links or submodules not followed"))
	}
	a.say("%s: %s", s.label, strings.Join(parts, ", "))
	for _, p := range s.folder.Absent {
		if s.prefix == "" || !strings.Contains(s.prefix, "\x00") {
			a.say("%s is declared in the configuration and not there", s.show(p))
		}
	}
}
