package compat

import "fmt"

// defaultSteps keeps a pair under 2 s and 512 MB; the tests of the checkers
// measure it.
const defaultSteps = 2_000_000

// Budget bounds a comparison in steps, so that an answer is the same on every
// machine. The zero value is the default.
type Budget struct {
	Steps int
}

// Meter starts a count.
func (b Budget) Meter() *Meter {
	return &Meter{left: b.steps(), most: b.steps()}
}

// Part is the budget of one of n equal parts.
func (b Budget) Part(n int) Budget { return Budget{Steps: max(b.steps()/max(n, 1), 1)} }

func (b Budget) steps() int {
	if b.Steps <= 0 {
		return defaultSteps
	}
	return b.Steps
}

// Meter counts the steps of one comparison. It is not safe for use by many
// goroutines.
type Meter struct{ left, most int }

// Spend takes n steps and tells whether they were there. Once it said no it
// says no for ever.
func (m *Meter) Spend(n int) bool {
	if m.left < n {
		m.left = -1
		return false
	}
	m.left -= n
	return true
}

// Spent tells whether the budget is exhausted.
func (m *Meter) Spent() bool { return m.left < 0 }

// Err is ErrNotChecked with the budget in its text when it is exhausted.
func (m *Meter) Err() error {
	if !m.Spent() {
		return nil
	}
	return fmt.Errorf("%w: the comparison takes more than %d steps", ErrNotChecked, m.most)
}
