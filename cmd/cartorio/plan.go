package main

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitops"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/report"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// planning is what plan and apply were asked.
type planning struct {
	registry, environment, exceptions, format string
	prune                                     bool
}

// flags are those that plan and apply share.
func (p *planning) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	remoteFlags(cmd, &p.registry)
	f.StringVar(&p.environment, "environment", "", "`NAME` of an environment of cartorio.yaml: its registry, and its exceptions")
	f.StringVar(&p.exceptions, "exceptions", "", "`FILE` of accepted findings (default: cartorio.exceptions.yaml beside cartorio.yaml, or at the repository's root)")
	f.StringVar(&p.format, "format", "text", "text, json or markdown")
	f.BoolVar(&p.prune, "prune", false, "delete what the scope owns and nothing declares")
	oneOf(cmd, "format", "text", "json", "markdown")
}

func (a *app) planCommand() *cobra.Command {
	var p planning
	var detailed bool
	var out string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what it takes to make a registry what cartorio.yaml declares",
		Long: `Compares the subjects of cartorio.yaml and their files with the registry, by
canonical form: layout is no difference. It shows what would be created, which new
versions, settings and deletions there would be, the versions that references will
be pinned to, and the verdict on each: this binary's engine over the registry's
history, and the registry's own answer; where they differ, that is told. It changes
nothing, and asks about declared subjects only.

What the file does not say is not touched: a subject without a level keeps the one
it has. A reference follows the declared subject to the version that it gets.

With --prune, subjects inside the scope of cartorio.yaml that it does not declare
are to be deleted (softly), unless something that stays refers to them. Without a
scope that is refused.

It exits 1 when a step breaks, 2 when one could not be compared, 5 when the
registry would take nothing new; with --detailed-exitcode 3 when there is something
to apply. See docs/gitops.md.

` + remoteHelp,
		Example: `  cartorio plan
  cartorio plan --detailed-exitcode --format markdown
  cartorio plan --environment prod --prune --out prod.plan`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.choose(cmd, &p); err != nil {
				return err
			}
			plan, done, err := a.makePlan(cmd.Context(), p)
			if err != nil {
				return err
			}
			defer done()
			return a.tellPlan(plan, p, detailed, out)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 3 when there is something to apply")
	cmd.Flags().StringVar(&out, "out", "", "keep the plan in `FILE`, for cartorio apply FILE")
	return cmd
}

// choose checks the format and takes the registry of the environment.
func (a *app) choose(cmd *cobra.Command, p *planning) error {
	if p.format != "text" && p.format != "json" && p.format != "markdown" {
		return failf(exitUsage, "--format %q is none of text, json, markdown", p.format)
	}
	address, err := a.environment(p.environment)
	if err == nil && address != "" && !explicit(cmd, "registry") {
		p.registry = address
	}
	return err
}

// makePlan compares what is declared with the registry. done is to be called when
// the plan is no longer needed.
func (a *app) makePlan(ctx context.Context, p planning) (*gitops.Plan, func(), error) {
	desired, err := a.desired(ctx, p.exceptions, p.environment)
	if err != nil {
		return nil, nil, err
	}
	client, err := dial(p.registry, a.config.Auth)
	if err != nil {
		return nil, nil, err
	}
	plan, err := gitops.Make(ctx, client, desired, gitops.Options{
		Formats: formats.All, Checkers: checkers.All(), Prune: p.prune, Tool: version, Label: unsigned(p.registry),
	})
	if err != nil {
		client.Close()
		var faults gitops.Faults
		if errors.As(err, &faults) {
			return nil, nil, fail(exitNotCompared, err)
		}
		return nil, nil, fail(codeOf(err), err)
	}
	for _, n := range plan.Notes {
		a.say("%s", n)
	}
	return plan, client.Close, nil
}

var _ gitops.Registry = (*sr.Client)(nil)

// unsigned is the address of a registry without user and password.
func unsigned(list string) string {
	parts := strings.Split(list, ",")
	for i, text := range parts {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil {
			return "the registry" // the client has refused it already
		}
		u.User = nil
		parts[i] = strings.TrimSuffix(u.String(), "/")
	}
	return strings.Join(parts, ",")
}

// tellPlan prints a plan, keeps it where that was asked, and makes the exit code.
func (a *app) tellPlan(plan *gitops.Plan, p planning, detailed bool, out string) error {
	if err := a.printPlan(plan, p.format, plan.Summary()); err != nil {
		return err
	}
	if code := plan.Blocked(); code != 0 {
		if out != "" {
			a.say("%s is not written: the plan cannot be applied", out)
		}
		return fail(code, nil)
	}
	if out != "" {
		text, err := plan.Bytes()
		if err != nil {
			return fail(exitNotCompared, err)
		}
		if err := a.write(out, func(w io.Writer, _ bool) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	if detailed && !plan.IsEmpty() {
		return fail(exitPending, nil)
	}
	return nil
}

func (a *app) printPlan(plan *gitops.Plan, format, last string) error {
	return a.write("", func(w io.Writer, colours bool) error {
		switch format {
		case "json":
			text, err := plan.Bytes()
			if err != nil {
				return err
			}
			_, err = w.Write(text)
			return err
		case "markdown":
			_, err := io.WriteString(w, plan.Markdown(readable, report.MostComment))
			return err
		}
		var b strings.Builder
		for _, l := range plan.Lines(readable) {
			colour := ""
			if l.Good {
				colour = green
			}
			if l.Bad {
				colour = red
			}
			b.WriteString(paint(colours && colour != "", colour, padded(l.Mark)) + " " + plain(l.Text) + "\n")
			for _, more := range l.More {
				b.WriteString("    " + plain(more) + "\n")
			}
		}
		b.WriteString(plain(last) + "\n")
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// padded is a mark in the width of the longest usual one.
func padded(mark string) string { return mark + strings.Repeat(" ", max(0, 12-len(mark))) }
