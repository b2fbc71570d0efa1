package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// table is the file of kept ratios. Its lines are remarks, heads of packages and
// rows:
//
//	[PACKAGE] rounds=N time=DURATION clock
//	what | beside what | goal | ratio | our benchmark | its peer
//
// A package is a folder below the root. rounds and time may be left out: 5 rounds
// of 100ms a benchmark. clock says that its rows are by the clock: they are shown,
// and never lost, since a busy machine makes them anything.
type table struct {
	lines    []any // string, *section or *row, as they stand
	sections []*section
}

// section has the rows of one package, which are measured together.
type section struct {
	pack   string
	rounds int
	time   string // as go test's -benchtime
	clock  bool
	rows   []*row
}

// row is one pair.
type row struct {
	section      *section
	what, beside string
	goal         goal
	ratio        float64 // kept; 0 before the first is
	ours, peer   side
}

// side is a benchmark without its "Benchmark", and the unit in which it reports
// what is compared; a peer may also be a fixed number of that unit.
type side struct {
	bench, unit string
	fixed       float64
}

// cpu is the unit that costtest.Processor reports, which is meant when none is named.
const cpu = "cpu-ns/op"

// goal is the most that a ratio ought to be. A row may have none.
type goal struct {
	text string
	most float64
}

var (
	head  = regexp.MustCompile(`^\[(\S+)\](?: rounds=(\d+))?(?: time=(\S+))?( clock)?$`)
	share = regexp.MustCompile(`^(?:(\d+(?:\.\d+)?)/)?(\d+(?:\.\d+)?)$`)
)

func parse(text string) (*table, error) {
	t := &table{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			t.lines = append(t.lines, line)
		case strings.HasPrefix(line, "["):
			m := head.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("line %d: %q is no head: [PACKAGE] rounds=N time=DURATION clock", i+1, line)
			}
			s := &section{pack: m[1], rounds: 5, time: "100ms", clock: m[4] != ""}
			if m[2] != "" {
				s.rounds, _ = strconv.Atoi(m[2]) // digits
			}
			if m[3] != "" {
				s.time = m[3]
			}
			t.sections, t.lines = append(t.sections, s), append(t.lines, s)
		case len(t.sections) == 0:
			return nil, fmt.Errorf("line %d: a row stands before the first [PACKAGE]", i+1)
		default:
			r, err := parseRow(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			r.section = t.sections[len(t.sections)-1]
			r.section.rows, t.lines = append(r.section.rows, r), append(t.lines, r)
		}
	}
	return t, nil
}

func parseRow(line string) (*row, error) {
	cells := strings.Split(line, "|")
	if len(cells) != 6 {
		return nil, fmt.Errorf("%d cells, want: what | beside what | goal | ratio | our benchmark | its peer", len(cells))
	}
	for i := range cells {
		if cells[i] = strings.TrimSpace(cells[i]); cells[i] == "" {
			return nil, fmt.Errorf("cell %d is empty; - says none", i+1)
		}
	}
	r := &row{what: cells[0], beside: cells[1]}
	var err error
	if r.goal, err = parseGoal(cells[2]); err != nil {
		return nil, err
	}
	if cells[3] != "-" {
		if r.ratio, err = strconv.ParseFloat(cells[3], 64); err != nil || r.ratio <= 0 {
			return nil, fmt.Errorf("the ratio %q is no number above 0", cells[3])
		}
	}
	r.ours = parseSide(cells[4])
	if r.peer = parseSide(cells[5]); r.peer.fixed > 0 {
		r.peer.unit = r.ours.unit
	}
	if r.ours.fixed > 0 {
		return nil, fmt.Errorf("our side %q is a number and no benchmark", cells[4])
	}
	return r, nil
}

func parseGoal(text string) (goal, error) {
	if text == "-" {
		return goal{text: text}, nil
	}
	m := share.FindStringSubmatch(text)
	if m == nil {
		return goal{}, fmt.Errorf("the goal %q is none of 1/25, 1.15 and -", text)
	}
	g := goal{text: text}
	g.most, _ = strconv.ParseFloat(m[2], 64)
	if m[1] != "" {
		above, _ := strconv.ParseFloat(m[1], 64)
		g.most = above / g.most
	}
	if !(g.most > 0) || g.most > 1e12 {
		return goal{}, fmt.Errorf("the goal %q is not above 0", text)
	}
	return g, nil
}

func parseSide(text string) side {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 {
		return side{fixed: n}
	}
	bench, unit, named := strings.Cut(text, " in ")
	if !named {
		unit = cpu
	}
	return side{bench: "Benchmark" + bench, unit: unit}
}

func (s side) String() string {
	if s.fixed > 0 {
		return number(s.fixed)
	}
	text := strings.TrimPrefix(s.bench, "Benchmark")
	if s.unit != cpu {
		text += " in " + s.unit
	}
	return text
}

// number has three digits that matter, and never an exponent.
func number(n float64) string {
	if n == 0 {
		return "-"
	}
	digits, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 3, 64), 64)
	return strconv.FormatFloat(digits, 'f', -1, 64)
}

func (s *section) String() string {
	text := "[" + s.pack + "]"
	if s.rounds != 5 {
		text += " rounds=" + strconv.Itoa(s.rounds)
	}
	if s.time != "100ms" {
		text += " time=" + s.time
	}
	if s.clock {
		text += " clock"
	}
	return text
}

func (r *row) title() string { return r.what + " / " + r.beside }

func (r *row) cells() []string {
	return []string{r.what, r.beside, r.goal.text, number(r.ratio), r.ours.String(), r.peer.String()}
}

// String is the file, its columns under each other.
func (t *table) String() string {
	var widths [6]int
	for _, s := range t.sections {
		for _, r := range s.rows {
			for i, cell := range r.cells() {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
	}
	var b strings.Builder
	for _, line := range t.lines {
		r, isRow := line.(*row)
		if !isRow {
			fmt.Fprintln(&b, line)
			continue
		}
		var text strings.Builder
		for i, cell := range r.cells() {
			if i > 0 {
				text.WriteString(" | ")
			}
			fmt.Fprintf(&text, "%-*s", widths[i], cell)
		}
		fmt.Fprintln(&b, strings.TrimRight(text.String(), " "))
	}
	return b.String()
}

const (
	begins = "<!-- the ratios begin; `make ratios WRITE=1` writes them -->\n"
	ends   = "<!-- the ratios end -->\n"
)

// shownIn is the page with the table in its place.
func (t *table) shownIn(page string) (string, error) {
	before, rest, opened := strings.Cut(page, begins)
	_, after, closed := strings.Cut(rest, ends)
	if !opened || !closed {
		return "", fmt.Errorf("the page has no place for the table, between %q and %q", strings.TrimSpace(begins), strings.TrimSpace(ends))
	}
	var b strings.Builder
	b.WriteString("| what | beside | ratio | goal | |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range t.sections {
		for _, r := range s.rows {
			verdict := ""
			switch {
			case r.ratio == 0:
				verdict = "not measured"
			case r.goal.most > 0 && r.ratio > r.goal.most:
				verdict = "**missed**"
			case r.goal.most > 0:
				verdict = string(met)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.what, r.beside, plain(r.ratio), r.goal.text, verdict)
		}
	}
	return before + begins + b.String() + ends + after, nil
}

// plain is a ratio as people say it: 1/25 where we take the less, 1.3 otherwise.
func plain(ratio float64) string {
	if ratio > 0 && ratio < 0.67 {
		return "1/" + strconv.FormatFloat(1/ratio, 'f', 1, 64)
	}
	return number(ratio)
}
