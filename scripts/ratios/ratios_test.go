package main

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var everything = regexp.MustCompile("")

// rows parses a table of one package.
func rows(t *testing.T, lines string) *table {
	t.Helper()
	out, err := parse("[p]\n" + lines)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// answers is a sampler that has a list of what it says, one for each time that it
// is asked.
func answers(asked *int, list ...samples) sampler {
	return func(context.Context, *section, []*row) (samples, map[string]error) {
		*asked++
		return list[*asked-1], nil
	}
}

// of makes the samples of two benchmarks.
func of(ours, peer []float64) samples {
	return samples{"BenchmarkOurs": {cpu: ours}, "BenchmarkPeer": {cpu: peer}}
}

func flat(n float64) []float64 { return []float64{n, n, n} }

func TestSurvey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, goal, kept string
		list             []samples
		want             verdict
		ratio            float64 // in the table then
	}{
		{"under its goal", "1/10", "0.09", []samples{of(flat(8), flat(100))}, met, 0.08},
		{"at its goal", "1/10", "0.1", []samples{of(flat(10), flat(100))}, met, 0.1},
		{"over its goal", "1/10", "0.11", []samples{of(flat(12), flat(100))}, missed, 0.12},
		{"no goal", "-", "0.11", []samples{of(flat(12), flat(100))}, noGoal, 0.12},
		{"nothing kept yet", "1/10", "-", []samples{of(flat(12), flat(100))}, missed, 0.12},
		{"one round in three is off", "1/10", "0.08", []samples{of([]float64{8, 900, 8}, []float64{100, 1, 100})}, met, 0.08},
		{"a quarter worse", "1/2", "0.08", []samples{of(flat(10), flat(100))}, met, 0.1},
		{"more than a quarter worse, twice", "1/2", "0.08", []samples{of(flat(10.1), flat(100)), of(flat(10.2), flat(100))}, lost, 0.102},
		{"more than a quarter worse, once", "1/2", "0.08", []samples{of(flat(20), flat(100)), of(flat(8), flat(100))}, met, 0.08},
		{"ten times as slow, and the goal is missed too", "1/10", "0.08", []samples{of(flat(80), flat(100)), of(flat(80), flat(100))}, lost, 0.8},
		{"the peer became faster", "-", "0.08", []samples{of(flat(8), flat(50)), of(flat(8), flat(50))}, lost, 0.16},
		{"our benchmark says nothing", "1/10", "0.08", []samples{of(nil, flat(1))}, notRun, 0.08},
		{"the peer's takes no time", "1/10", "0.08", []samples{of(flat(1), flat(0))}, notRun, 0.08},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table := rows(t, "w | b | "+c.goal+" | "+c.kept+" | Ours | Peer\n")
			asked, out := 0, &strings.Builder{}
			got := survey(t.Context(), table, everything, answers(&asked, c.list...), out)
			if got.of[c.want] != 1 || got.rows != 1 || got.failed != (c.want == notRun) {
				t.Errorf("got %+v, want one %s:\n%s", got, c.want, out)
			}
			if asked != len(c.list) {
				t.Errorf("measured %d times, want %d", asked, len(c.list))
			}
			if r := table.sections[0].rows[0].ratio; r < c.ratio-1e-9 || r > c.ratio+1e-9 {
				t.Errorf("the table has %v, want %v", r, c.ratio)
			}
			if !strings.Contains(out.String(), string(c.want)) {
				t.Errorf("the line does not say %q:\n%s", c.want, out)
			}
		})
	}
}

// By the clock nothing is lost: a busy machine makes of it what it likes.
func TestTheClockIsShown(t *testing.T) {
	t.Parallel()
	table, err := parse("[p] clock\nw | b | 1/10 | 0.08 | Ours | Peer\n")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	got := survey(t.Context(), table, everything, answers(&asked, of(flat(80), flat(100))), &strings.Builder{})
	if got.of[missed] != 1 || asked != 1 {
		t.Errorf("%+v after %d measurements, want one missed after one", got, asked)
	}
}

// A made-up loss makes the command fail, and one that is written down does not.
func TestExitCodes(t *testing.T) {
	lostOne, missedOne := summary{of: map[verdict]int{lost: 1}}, summary{of: map[verdict]int{missed: 3, met: 1, notRun: 2}}
	for _, c := range []struct {
		name  string
		sum   summary
		write bool
		ci    string
		want  int
	}{
		{"lost", lostOne, false, "", 1},
		{"lost and written", lostOne, true, "", 0},
		{"missed and skipped", missedOne, false, "", 0},
		{"skipped in CI", missedOne, false, "true", 1},
		{"failed", summary{of: map[verdict]int{}, failed: true}, true, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("CI", c.ci)
			if got := c.sum.exit(c.write); got != c.want {
				t.Errorf("exit %d, want %d", got, c.want)
			}
		})
	}
	for _, args := range [][]string{{"-rows", "("}, {"-rounds", "-1"}, {"more"}, {"-what"}} {
		if got := run(t.Context(), args, &strings.Builder{}, &strings.Builder{}); got != 64 {
			t.Errorf("%v: exit %d, want 64", args, got)
		}
	}
}

func TestSurveyTellsWhatDidNotRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		failed bool
	}{{skipped("buf is not installed"), false}, {errors.New("it does not compile"), true}} {
		table := rows(t, "w | b | 1/10 | 0.5 | Ours | Peer\nanother | b | - | 0.5 | Ours | 7\n")
		sample := func(_ context.Context, _ *section, asked []*row) (samples, map[string]error) {
			if len(asked) != 2 {
				t.Errorf("asked for %d rows", len(asked))
			}
			return of(flat(3.5), nil), map[string]error{"BenchmarkPeer": c.err}
		}
		var out strings.Builder
		got := survey(t.Context(), table, everything, sample, &out)
		if got.failed != c.failed || got.of[notRun] != 1 || got.of[noGoal] != 1 || !strings.Contains(out.String(), c.err.Error()) {
			t.Errorf("%v: %+v\n%s", c.err, got, &out)
		}
	}
	none := survey(t.Context(), rows(t, "w | b | - | - | Ours | Peer\n"), regexp.MustCompile("^other"), nil, &strings.Builder{})
	if none.rows != 0 {
		t.Errorf("%d rows that nobody wanted", none.rows)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	suffix := func(text string) string { return strings.ReplaceAll(text, "-N", procs()) }
	all, troubles := samples{}, map[string]error{}
	for range 2 {
		read(suffix(`goos: linux
BenchmarkReads/100-goavro
    reads_test.go:9: something
BenchmarkReads/100-goavro-N         	 1000	 12.5 ns/op	 3 MB/s	 0 allocs/op	 14.25 cpu-ns/op
BenchmarkOther-N         	 1	 7 µs
BenchmarkGone/x
    gone_test.go:12: NOT RUN: buf is not installed
--- SKIP: BenchmarkGone/x
PASS
`), all, troubles)
	}
	want := samples{
		"BenchmarkReads/100-goavro": {"ns/op": {12.5, 12.5}, "MB/s": {3, 3}, "allocs/op": {0, 0}, cpu: {14.25, 14.25}},
		"BenchmarkOther":            {"µs": {7, 7}},
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := troubles["BenchmarkGone/x"]; len(troubles) != 1 || !errors.As(err, new(skipped)) || err.Error() != "buf is not installed" {
		t.Errorf("troubles: %v", troubles)
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	list := rows(t, "a | b | - | - | Wire in get-µs | Wire in bare-µs\nb | b | - | - | Reads/1.5_(x) | 30\n").sections[0].rows
	if got, want := pattern(benchmarks(list)), `^BenchmarkWire$|^BenchmarkReads$/^1\.5_\(x\)$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What was written reads the same, and only the ratios changed.
func TestTable(t *testing.T) {
	t.Parallel()
	const text = `# a remark

[api]
what we do | beside | 1/25     | 0.0399 | Ours/x            | Theirs
é          | b      | 60       | -      | Ours in ms/op     | 30

[registry] rounds=3 time=1x clock
w          | b      | 1.15     | 1230   | Ours in reg/s     | Theirs in s/reg
`
	table, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s := table.sections[1]
	if s.rounds != 3 || s.time != "1x" || !s.clock || table.sections[0].clock || table.sections[0].rounds != 5 || s.rows[0].ratio != 1230 || table.sections[0].rows[1].peer.unit != "ms/op" {
		t.Errorf("read as %+v", *s)
	}
	table.sections[0].rows[1].ratio = 0.123456
	want := strings.Replace(text, "60       | -      | Ours in ms/op ", "60       | 0.123  | Ours in ms/op ", 1)
	again, err := parse(table.String())
	if err != nil {
		t.Fatal(err)
	}
	flatten := func(s string) string { return regexp.MustCompile(` +`).ReplaceAllString(s, " ") }
	if d := cmp.Diff(flatten(want), flatten(again.String())); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, c := range []struct{ line, want string }{
		{"a | b | 1 | - | A", "5 cells"},
		{"a | b | 1 | - | A | ", "cell 6 is empty"},
		{"a | b | soon | - | A | B", `the goal "soon"`},
		{"a | b | 0 | - | A | B", `the goal "0" is not above 0`},
		{"a | b | 1/0 | - | A | B", `the goal "1/0" is not above 0`},
		{"a | b | 1 | -2 | A | B", `the ratio "-2"`},
		{"a | b | 1 | - | 7 | B", `our side "7"`},
		{"[a b]", "is no head"},
	} {
		if _, err := parse("[p]\n" + c.line); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v, want %q", c.line, err, c.want)
		}
	}
	if _, err := parse("a | b | 1 | - | A | B"); err == nil {
		t.Error("a row of no package is taken")
	}
}

// The page shows what is kept, every row has a ratio, and every package is there.
func TestPageShowsWhatIsKept(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../ratios.txt")
	if err != nil {
		t.Fatal(err)
	}
	table, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), table.String()); d != "" {
		t.Errorf("scripts/ratios.txt is not as it is written (-file +written):\n%s", d)
	}
	seen := map[string]bool{}
	for _, s := range table.sections {
		if _, err := os.Stat("../../" + s.pack); err != nil {
			t.Error(err)
		}
		for _, r := range s.rows {
			if r.ratio == 0 || seen[r.what+r.beside] {
				t.Errorf("%s beside %s has no ratio, or stands twice", r.what, r.beside)
			}
			seen[r.what+r.beside] = true
		}
	}
	shown, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := table.shownIn(string(shown))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(shown)); d != "" {
		t.Errorf("%s does not show scripts/ratios.txt (-want +page):\n%s", page, d)
	}
}
