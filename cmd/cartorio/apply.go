package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitops"
)

// mostPlan bounds a kept plan, in bytes.
const mostPlan = 64 << 20

func (a *app) applyCommand() *cobra.Command {
	var p planning
	var yes bool
	var most int
	cmd := &cobra.Command{
		Use:   "apply [PLAN]",
		Short: "Make a registry what cartorio.yaml declares",
		Long: `Does what plan says, in the order of references, and prints the versions and ids.
Everything is checked before anything is written; when a step of the plan cannot be
done, nothing is. Subjects whose new versions refer to each other are one group:
when one of its steps fails while writing, what the group did is taken back (new
versions are soft-deleted, settings become what they were), and that is told.
Applying again does the rest; applying what is there does nothing.

Exceptions that a verdict rests on are told to the registry first, where it keeps
them, so that it judges as the gate did.

With PLAN, a file of plan --out, exactly that is done: it is refused when the
registry or the files have moved since. Else --yes is needed, or the answer of a
person at the terminal.

` + remoteHelp,
		Example: `  cartorio apply --yes
  cartorio apply --yes --prune --max-deletes 3
  cartorio apply prod.plan --environment prod`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.choose(cmd, &p); err != nil {
				return err
			}
			var kept *gitops.Plan
			if len(args) == 1 {
				if explicit(cmd, "prune") {
					return failf(exitUsage, "--prune and PLAN: the plan says already whether to prune")
				}
				var err error
				if kept, err = readPlan(args[0]); err != nil {
					return err
				}
				p.prune = kept.Prune
			}
			return a.apply(cmd.Context(), p, kept, yes, most)
		},
	}
	p.flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "do it without asking")
	cmd.Flags().IntVar(&most, "max-deletes", 10, "refuse to delete more than `N` subjects")
	return cmd
}

func readPlan(file string) (*gitops.Plan, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, failf(exitNotCompared, "reading the plan %s: %w", file, bare(err))
	}
	if !info.Mode().IsRegular() || info.Size() > mostPlan {
		return nil, failf(exitNotCompared, "reading the plan %s: it is no file of up to %d bytes", file, mostPlan)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, failf(exitNotCompared, "reading the plan %s: %w", file, bare(err))
	}
	plan, err := gitops.Read(text)
	if err != nil {
		return nil, failf(exitNotCompared, "reading the plan %s: %w", file, err)
	}
	return plan, nil
}

func (a *app) apply(ctx context.Context, p planning, kept *gitops.Plan, yes bool, most int) error {
	plan, done, err := a.makePlan(ctx, p)
	if err != nil {
		return err
	}
	defer done()
	if kept != nil {
		why, err := kept.Moved(plan)
		if err != nil {
			return fail(exitNotCompared, err)
		}
		if why != "" {
			return failf(exitNotCompared, "the plan is not what it would be now: %s: plan again", why)
		}
	}
	if plan.IsEmpty() {
		return a.printPlan(plan, p.format, plan.Summary())
	}
	refuse := func(err error) error {
		if printErr := a.printPlan(plan, p.format, plan.Summary()); printErr != nil {
			return printErr
		}
		return err
	}
	if code := plan.Blocked(); code != 0 {
		return refuse(failf(code, "nothing was applied: a step of the plan cannot be done"))
	}
	if n := plan.Count(gitops.Delete); n > most {
		return refuse(failf(exitNotCompared, "nothing was applied: %s to be deleted, and --max-deletes is %d", plural(n, "subject is", "subjects are"), most))
	}
	if !yes && kept == nil {
		if err := a.confirm(plan); err != nil {
			return err
		}
	}
	err = gitops.Apply(ctx, plan)
	if printErr := a.printPlan(plan, p.format, plan.Outcome()); printErr != nil {
		return printErr
	}
	if err != nil {
		return fail(codeOf(err), err)
	}
	return nil
}

// confirm shows the plan to a person and asks.
func (a *app) confirm(plan *gitops.Plan) error {
	in, ok := a.in.(io.Writer)
	if !ok || !isTerminal(in) {
		return failf(exitUsage, "nothing was applied: say --yes, or give a plan of cartorio plan --out")
	}
	for _, l := range plan.Lines(readable) {
		_, _ = fmt.Fprintf(a.err, "%s %s\n", padded(l.Mark), plain(l.Text))
	}
	_, _ = fmt.Fprintf(a.err, "%s\nApply this? Only yes is taken: ", plain(plan.Summary()))
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return failf(exitUsage, "nothing was applied")
	}
	return nil
}
