package costtest

import (
	"slices"
	"testing"
	"time"
)

// Case is one piece of work.
type Case struct {
	Name string
	Do   func()
}

// Dearest reports, as times-the-usual, how many times the processor time of what is
// usual the dearest of other cases takes, and logs which that is. They run in turns.
func Dearest(b *testing.B, usual Case, others []Case) {
	b.Helper()
	cases := append([]Case{usual}, others...)
	took := make([][]time.Duration, len(cases))
	for b.Loop() {
		for i, c := range cases {
			start := Spent()
			c.Do()
			took[i] = append(took[i], Spent()-start)
		}
	}
	times := func(i int) float64 {
		slices.Sort(took[i])
		return float64(took[i][len(took[i])/2])
	}
	base, most, name := times(0), 0.0, "none"
	for i, c := range others {
		if n := times(i+1) / base; n > most {
			most, name = n, c.Name
		}
	}
	b.Logf("the dearest is: %s", name)
	b.ReportMetric(most, "times-the-usual")
}
