package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cartorio-registry/cartorio/registry/transfer"
)

// migrating is what migrate was asked.
type migrating struct {
	from, to, format         string
	dryRun, verify, renumber bool
	pace                     transfer.Pace
	fromKeys, toKeys         string // prefixes of the variables of credentials
}

func (a *app) migrateCommand() *cobra.Command {
	m := migrating{fromKeys: "CARTORIO_FROM", toKeys: "CARTORIO_TO"}
	cmd := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Move a whole registry: numbers, ids, deletions, levels and all",
		Long: `Makes the target hold what the source holds: subjects, versions and their
numbers, ids, texts byte for byte, references, what is soft-deleted, levels and
all other config, modes, metadata, rule sets, aliases and contexts. What is there
already is left alone: run it again after it was interrupted, and it goes on. What
the target does not take is named, and the exit code is then 1.

What is written to in a registry over HTTP is in mode IMPORT meanwhile and gets
its mode back, also after an error or an interruption. A registry that does not
keep ids is not filled unless --renumber says so.

` + placesHelp + `

Credentials are read from CARTORIO_FROM_USER and CARTORIO_FROM_PASSWORD, or
CARTORIO_FROM_TOKEN, and the same with CARTORIO_TO_, never from the command line.`,
		Example: `  cartorio migrate --from http://old:8081 --to http://127.0.0.1:8081 --dry-run
  cartorio migrate --from http://old:8081 --to http://127.0.0.1:8081 --verify
  cartorio migrate --from topic:schemas.dump --to sqlite:cartorio.db`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if m.from == "" || m.to == "" {
				return failf(exitUsage, "--from and --to are both needed")
			}
			return a.migrate(cmd.Context(), m)
		},
	}
	cmd.Flags().StringVar(&m.from, "from", "", "`PLACE` to read")
	cmd.Flags().StringVar(&m.to, "to", "", "`PLACE` to fill")
	m.flags(cmd)
	return cmd
}

// flags are those that import has too.
func (m *migrating) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.dryRun, "dry-run", false, "read both sides, say what would be done and write nothing")
	f.BoolVar(&m.verify, "verify", false, "afterwards read both sides by version, id and GUID, and name every difference")
	f.BoolVar(&m.renumber, "renumber", false, "go on where the target gives ids and numbers of its own, and past what a database refuses")
	f.StringVar(&m.format, "format", "text", "text or json")
	oneOf(cmd, "format", "text", "json")
	paceFlags(cmd, &m.pace)
}

// movement is what a migration came to, as JSON.
type movement struct {
	From         string                 `json:"from"`
	To           string                 `json:"to"`
	DryRun       bool                   `json:"dryRun"`
	Versions     int                    `json:"versions"` // at the source
	Subjects     int                    `json:"subjects"`
	Notes        []transfer.Loss        `json:"notes,omitempty"`
	Verification *transfer.Verification `json:"verification,omitempty"`
	transfer.Report
	failed bool // the target was not filled
}

func (a *app) migrate(ctx context.Context, m migrating) error {
	if m.format != "text" && m.format != "json" {
		return failf(exitUsage, "--format %q is neither text nor json", m.format)
	}
	if err := checkPace(m.pace); err != nil {
		return err
	}
	from, err := parsePlace(m.from, m.fromKeys)
	if err != nil {
		return err
	}
	defer from.close()
	to, err := parsePlace(m.to, m.toKeys)
	if err != nil {
		return err
	}
	defer to.close()
	if to.kind == placeTopic {
		return failf(exitUsage, "a topic is not written to: move into a registry, a database, a folder or an archive")
	}
	// Told to stop, it gives the target its modes back first.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	g, err := a.gather(ctx, from, m.pace)
	if err != nil {
		return err
	}
	done := movement{From: m.from, To: m.to, DryRun: m.dryRun, Versions: len(g.Versions), Subjects: subjectsIn(g), Notes: g.Notes}
	done.Report, err = a.fillPlace(ctx, to, g, m)
	if errors.Is(err, transfer.ErrRenumbered) {
		err = failf(exitNotCompared, "filling %s: %w; --renumber says so", m.to, err)
	}
	if err != nil {
		err = moveError("filling "+m.to, err)
	}
	done.failed = err != nil
	if err == nil && m.verify && !m.dryRun {
		v, verr := a.verify(ctx, from, to, g, m.pace)
		if verr != nil {
			err = moveError("verifying", verr)
		} else {
			done.Verification = &v
		}
	}
	if werr := a.write("", func(w io.Writer, _ bool) error { return done.print(w, m.format, counted(g)) }); werr != nil {
		return werr
	}
	switch {
	case err != nil:
		return err
	case len(done.Losses) > 0 || done.Verification != nil && done.Verification.Lost():
		return fail(exitFindings, nil)
	}
	return nil
}

func (a *app) fillPlace(ctx context.Context, to *movingEnd, g transfer.Gathered, m migrating) (transfer.Report, error) {
	o := transfer.Options{Pace: m.pace, DryRun: m.dryRun, Renumber: m.renumber}
	switch to.kind {
	case placeRegistry:
		p := a.startProgress("migrating")
		defer p.stop()
		o.Progress = func(_, total int) { p.total(total); p.add() }
		return transfer.ToRegistry(ctx, to.client, g, o)
	case placeDatabase:
		return fillDatabase(ctx, to.path, g, o)
	case placeFiles, placeTopic: // a topic was refused before
	}
	report := transfer.Report{Steps: []transfer.Step{}, Losses: append([]transfer.Loss{}, g.Losses...)}
	if m.dryRun {
		return report, nil
	}
	return report, a.writeFiles(ctx, to.path, g)
}

// verify reads the target anew.
func (a *app) verify(ctx context.Context, from, to *movingEnd, g transfer.Gathered, pace transfer.Pace) (transfer.Verification, error) {
	if to.kind == placeRegistry {
		return transfer.Verify(ctx, g, from.client, to.client, pace)
	}
	there, err := a.gather(ctx, to, pace)
	if err != nil {
		return transfer.Verification{}, err
	}
	return transfer.Verification{Versions: len(g.Versions), Differences: transfer.Compare(g, there), Unread: g.Losses}, nil
}

// print writes the outcome.
func (d movement) print(w io.Writer, format, source string) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(d)
	}
	p := func(format string, args ...any) {
		_, _ = fmt.Fprintf(w, "%s\n", plain(fmt.Sprintf(format, args...))) // the last write tells
	}
	p("source  %s: %s", d.From, source)
	p("target  %s: %s", d.To, d.summary())
	if d.DryRun {
		for _, s := range d.Steps {
			p("would   %s", stepText(s))
		}
	}
	for _, n := range d.Notes {
		p("note    %s", n)
	}
	for _, l := range d.Losses {
		p("lost    %s", l)
	}
	if v := d.Verification; v != nil {
		for _, l := range v.Unread {
			p("unread  %s", l)
		}
		for _, f := range v.Differences {
			word := "differs"
			if f.Extra {
				word = "extra  "
			}
			p("%s %s", word, f)
		}
		read := countOf(v.Versions, "version")
		if v.IDs > 0 {
			read += ", " + countOf(v.IDs, "id") + ", " + countOf(v.GUIDs, "GUID")
		}
		p("checked %s: %s", read, countOf(len(v.Differences), "difference"))
	}
	_, err := fmt.Fprint(w, "")
	return err
}

func (d movement) summary() string {
	count := map[string]int{}
	for _, s := range d.Steps {
		count[s.Action]++
	}
	if len(d.Steps) == 0 && d.Present == 0 {
		switch {
		case d.failed:
			return "not filled"
		case d.Versions == 0:
			return "there is no version to fill it with"
		case d.DryRun:
			return "would be filled as a whole"
		}
		return "filled as a whole"
	}
	return fmt.Sprintf("%d there already, %d imported, %d deleted, %s, %s", d.Present,
		count[transfer.ActionImport], count[transfer.ActionDelete], countOf(count[transfer.ActionConfig], "config"), countOf(count[transfer.ActionMode], "mode"))
}

func stepText(s transfer.Step) string {
	switch {
	case s.Version != 0:
		return fmt.Sprintf("%s %q version %d (id %d)", s.Action, s.Subject, s.Version, s.ID)
	case s.Value != "":
		return fmt.Sprintf("%s of %q: %s", s.Action, s.Subject, s.Value)
	}
	return fmt.Sprintf("%s of %q", s.Action, s.Subject)
}
