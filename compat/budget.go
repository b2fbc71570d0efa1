package compat

import (
	"fmt"
	"math"
)

// defaultSteps keeps a pair under 2 s and 512 MB; the tests of the checkers
// measure it.
const defaultSteps = 2_000_000

// Budget bounds a comparison in steps, so that an answer is the same on every
// machine. The zero value is the default.
type Budget struct {
	Steps int
	// Asked is what the steps are for: nothing need be spent on the rest.
	Asked Asked
	// pool, where there is one, is what all meters of a question draw on together.
	pool *Meter
}

// Asked is what the caller of a checker's Truth looks at. The zero value is
// everything, and a checker may always tell more than it was asked.
type Asked struct {
	// Level has the directions for which the whole pair is to be proved or refuted;
	// None is both. Of the other one the changes and their effects are told all the
	// same.
	Level Level
	// Brief asks for no payload that does not decide the whole pair.
	Brief bool
}

// Backward tells whether it matters what new makes of old's data.
func (a Asked) Backward() bool { return a.Level == None || a.Level.AsksBackward() }

// Forward tells whether it matters what old makes of new's data.
func (a Asked) Forward() bool { return a.Level == None || a.Level.AsksForward() }

// Meter starts a count.
func (b Budget) Meter() *Meter {
	return &Meter{left: b.steps(), most: b.steps(), pool: b.pool}
}

// Part is the budget of one of n equal parts.
func (b Budget) Part(n int) Budget {
	b.Steps = max(b.steps()/max(n, 1), 1)
	return b
}

// counted is b with a pool that has no bottom, to tell what was spent in all.
func (b Budget) counted() Budget {
	if b.pool == nil {
		b.pool = &Meter{left: math.MaxInt, most: math.MaxInt}
	}
	return b
}

// rest is what is left of one budget of b once all that b's pool counted is taken
// from it, for whatever number of meters together; false where nothing is.
func (b Budget) rest() (Budget, bool) {
	left := b.steps()
	if b.pool != nil {
		left -= b.pool.most - b.pool.left
	}
	if left <= 0 {
		return b, false
	}
	return Budget{Steps: left, pool: &Meter{left: left, most: left}}, true
}

func (b Budget) steps() int {
	if b.Steps <= 0 {
		return defaultSteps
	}
	return b.Steps
}

// Meter counts the steps of one comparison. It is not safe for use by many
// goroutines.
type Meter struct {
	left, most int
	pool       *Meter
}

// Spend takes n steps and tells whether they were there. Once it said no it
// says no for ever.
func (m *Meter) Spend(n int) bool {
	if m.left < n {
		m.left = -1
		return false
	}
	m.left -= n
	return m.pool == nil || m.draw(n)
}

// draw takes n steps of the pool too.
func (m *Meter) draw(n int) bool {
	if !m.pool.Spend(n) {
		m.left = -1
		return false
	}
	return true
}

// Has tells whether n steps are there, and takes none.
func (m *Meter) Has(n int) bool { return m.left >= n && (m.pool == nil || m.pool.left >= n) }

// Spent tells whether the budget is exhausted.
func (m *Meter) Spent() bool { return m.left < 0 }

// Err is ErrNotChecked with the budget in its text when it is exhausted.
func (m *Meter) Err() error {
	if !m.Spent() {
		return nil
	}
	return fmt.Errorf("%w: the comparison takes more than %d steps", ErrNotChecked, m.most)
}
