// Command ratios measures what Cartório takes beside what others take for the same
// work, on one machine at one time, and refuses when a ratio is worse than the one
// that is kept. Nanoseconds of one machine say nothing about another; ratios do.
//
//	go run ./scripts/ratios                 measure, compare with scripts/ratios.txt
//	go run ./scripts/ratios -rows 'Avro'    only the rows whose text matches
//	go run ./scripts/ratios -write          keep what was measured, and write it into docs/performance.md
//
// Start with [table], which says what a row is, and [judge], which says what is
// refused. The benchmarks themselves stand in the packages that they measure.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

const (
	kept = "scripts/ratios.txt"
	page = "docs/performance.md"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run answers the exit code: 0 when nothing was lost, 1 when a row was lost or
// could not be measured, 64 for wrong usage.
func run(ctx context.Context, args []string, out, complaints io.Writer) int {
	flags := flag.NewFlagSet("ratios", flag.ContinueOnError)
	flags.SetOutput(complaints)
	write := flags.Bool("write", false, "keep what was measured in "+kept+" and "+page)
	only := flags.String("rows", "", "measure only rows whose package and text match this `regexp`")
	rounds := flags.Int("rounds", 0, "`number` of rounds (0: what "+kept+" says)")
	if err := flags.Parse(args); err != nil {
		return 64
	}
	wanted, err := regexp.Compile(*only)
	if err != nil || flags.NArg() > 0 || *rounds < 0 {
		say(complaints, "ratios: -rows is a regexp, -rounds a number from 0, and nothing follows: %v\n", err)
		return 64
	}
	fail := func(err error) int {
		say(complaints, "ratios: %v\n", err)
		return 1
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		return fail(fmt.Errorf("reading the kept ratios, from the root of the checkout: %w", err))
	}
	t, err := parse(string(text))
	if err != nil {
		return fail(fmt.Errorf("%s: %w", kept, err))
	}
	dir, err := os.MkdirTemp("", "ratios")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m := &measurer{dir: dir, rounds: *rounds, complaints: complaints}
	s := survey(ctx, t, wanted, m.sample, out)
	if *write {
		if err := save(t); err != nil {
			return fail(err)
		}
	}
	say(out, "%d rows: %d met, %d missed, %d lost, %d without a goal, %d not measured\n", s.rows, s.of[met], s.of[missed], s.of[lost], s.of[noGoal], s.of[notRun])
	return s.exit(*write)
}

// exit is the code to end with: what is written down is no loss, and what could not
// run here is none but in CI.
func (s summary) exit(written bool) int {
	if s.failed || s.of[lost] > 0 && !written || s.of[notRun] > 0 && os.Getenv("CI") == "true" {
		return 1
	}
	return 0
}

// save writes the table to its file and to the page that shows it.
func save(t *table) error {
	if err := os.WriteFile(kept, []byte(t.String()), 0o644); err != nil { //nolint:gosec // a file of the tree
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	shown, err := t.shownIn(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(shown), 0o644) //nolint:gosec // a file of the tree
}

// say writes for people. One who stopped reading is not told.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
