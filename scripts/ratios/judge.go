package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// verdict is what one line says of a row.
type verdict string

const (
	met    verdict = "met"
	missed verdict = "missed"
	noGoal verdict = "kept"
	lost   verdict = "lost"
	notRun verdict = "NOT RUN"
)

// loss is how much worse than the kept ratio one may be.
const loss = 1.25

// samples are what benchmarks reported in each round, by name and unit.
type samples map[string]map[string][]float64

// skipped is why a benchmark could not run here; everything else that goes wrong is
// a failure.
type skipped string

func (s skipped) Error() string { return string(s) }

// sampler measures rows of one package together. What it could not measure is told
// for each benchmark.
type sampler func(ctx context.Context, s *section, rows []*row) (samples, map[string]error)

// measured is one row's two medians.
type measured struct{ ours, peer float64 }

func (m measured) ratio() float64 { return m.ours / m.peer }

// judge says what a measurement means for a row: it is lost when its ratio is more
// than a quarter worse than the kept one, whatever the goal, unless it is by the clock; else it meets or misses
// its goal.
func judge(r *row, m measured) verdict {
	switch {
	case !r.section.clock && r.ratio > 0 && m.ratio() > r.ratio*loss:
		return lost
	case r.goal.most == 0:
		return noGoal
	case m.ratio() <= r.goal.most:
		return met
	}
	return missed
}

// medians takes a row's two figures out of what was sampled.
func medians(r *row, all samples) (measured, error) {
	one := func(s side) (float64, error) {
		if s.fixed > 0 {
			return s.fixed, nil
		}
		list := slices.Clone(all[s.bench][s.unit])
		if len(list) == 0 {
			return 0, fmt.Errorf("%s reports no %s", s.bench, s.unit)
		}
		slices.Sort(list)
		if m := list[len(list)/2]; m > 0 {
			return m, nil
		}
		return 0, fmt.Errorf("%s reports %v %s, which is no measure", s.bench, list, s.unit)
	}
	ours, err := one(r.ours)
	if err != nil {
		return measured{}, err
	}
	peer, err := one(r.peer)
	return measured{ours, peer}, err
}

// summary counts the rows of a survey. failed: a row that ought to be measured
// could not be.
type summary struct {
	rows   int
	of     map[verdict]int
	failed bool
}

// survey measures all wanted rows, prints a line for each, and puts the new ratios
// into the table. Before a row is called lost it is measured a second time.
func survey(ctx context.Context, t *table, wanted *regexp.Regexp, sample sampler, out io.Writer) summary {
	sum := summary{of: map[verdict]int{}}
	width := len("row")
	for _, s := range t.sections {
		for _, r := range s.rows {
			width = max(width, len([]rune(r.title())))
		}
	}
	line := func(what, ours, peer, unit, ratio, goal, kept, verdict string) {
		say(out, "%-*s  %9s  %9s  %-10s  %7s  %-8s  %7s  %s\n", width, what, ours, peer, unit, ratio, goal, kept, verdict)
	}
	line("row", "ours", "peer", "unit", "ratio", "goal", "kept", "")
	for _, s := range t.sections {
		var rows []*row
		for _, r := range s.rows {
			if wanted.MatchString(s.pack + ": " + r.title()) {
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 {
			continue
		}
		all, troubles := sample(ctx, s, rows)
		for _, r := range rows {
			m, v, err := outcome(ctx, r, all, troubles, sample)
			sum.rows++
			sum.of[v]++
			if err != nil {
				sum.failed = sum.failed || !errors.As(err, new(skipped))
				say(out, "%-*s  %s: %v\n", width, r.title(), v, err)
				continue
			}
			line(r.title(), number(m.ours), number(m.peer), r.ours.unit, number(m.ratio()), r.goal.text, number(r.ratio), string(v))
			r.ratio = m.ratio()
		}
	}
	return sum
}

func outcome(ctx context.Context, r *row, all samples, troubles map[string]error, sample sampler) (measured, verdict, error) {
	for _, s := range []side{r.ours, r.peer} {
		if err := troubles[s.bench]; err != nil {
			return measured{}, notRun, err
		}
	}
	m, err := medians(r, all)
	if err != nil {
		return m, notRun, err
	}
	v := judge(r, m)
	if v != lost {
		return m, v, nil
	}
	// Machines are shared: what somebody else did at that moment is no loss of ours.
	all, troubles = sample(ctx, r.section, []*row{r})
	if err := errors.Join(troubles[r.ours.bench], troubles[r.peer.bench]); err != nil {
		return m, notRun, err
	}
	if m, err = medians(r, all); err != nil {
		return m, notRun, err
	}
	return m, judge(r, m), nil
}
