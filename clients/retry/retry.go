// Package retry says when a failed message is tried again: a wait that grows up
// to a bound, with a random share so that those who failed together do not come
// back together, and an end after so many attempts.
//
// It waits for nobody and knows no broker; the consumers under clients use it.
package retry

import (
	"math/rand/v2"
	"time"
)

// Policy is the law of the waits. Zero fields mean the defaults.
//
// Source: client specification 4.3.
type Policy struct {
	// Attempts is how often a message is handled at most, 6.
	Attempts int
	// Base is the wait before the second attempt, 1 s; Cap bounds all waits, 60 s,
	// their random share not counted.
	Base, Cap time.Duration
	// Factor is what each wait is multiplied by for the next one, 2.
	Factor float64
	// Jitter is the greatest random share on top of a wait, as a part of it, 0.25;
	// a negative one means none.
	Jitter float64
}

// OrDefault is the policy with its zero fields filled in, and those that make no
// law put right: a Cap below Base is Base, a Factor below 1 is 1.
func (p Policy) OrDefault() Policy {
	if p.Attempts <= 0 {
		p.Attempts = 6
	}
	if p.Base <= 0 {
		p.Base = time.Second
	}
	if p.Cap <= 0 {
		p.Cap = time.Minute
	}
	p.Cap = max(p.Cap, p.Base)
	if p.Factor == 0 {
		p.Factor = 2
	}
	p.Factor = max(p.Factor, 1)
	if p.Jitter == 0 {
		p.Jitter = 0.25
	}
	return p
}

// Wait is the wait after so many attempts, from 1, without its random share:
// min(Cap, Base·Factor^(attempts-1)).
func (p Policy) Wait(attempts int) time.Duration {
	p = p.OrDefault()
	d := float64(p.Base)
	for i := 1; i < attempts && d < float64(p.Cap); i++ {
		if d *= p.Factor; p.Factor == 1 {
			break
		}
	}
	if d >= float64(p.Cap) {
		return p.Cap
	}
	return time.Duration(d)
}

// Next is the wait after so many attempts, from 1, its random share included; ok
// is false when no attempt is left. A nil r draws from the package's own source.
func (p Policy) Next(attempts int, r *rand.Rand) (wait time.Duration, ok bool) {
	p = p.OrDefault()
	if attempts >= p.Attempts {
		return 0, false
	}
	return p.Spread(p.Wait(attempts), r), true
}

// Spread adds a random share to a wait. A nil r draws from the package's own
// source.
func (p Policy) Spread(d time.Duration, r *rand.Rand) time.Duration {
	p = p.OrDefault()
	most := int64(float64(d) * p.Jitter)
	if most <= 0 {
		return d
	}
	if r == nil {
		return d + time.Duration(rand.Int64N(most+1)) //nolint:gosec // spreads load, hides nothing
	}
	return d + time.Duration(r.Int64N(most+1))
}

// Levels are the different waits of the policy that are not shorter than least,
// in rising order: the delays for which a broker needs a place to wait.
func (p Policy) Levels(least time.Duration) []time.Duration {
	p = p.OrDefault()
	var out []time.Duration
	for i := 1; i < p.Attempts; i++ {
		d := p.Wait(i)
		if d >= least && (len(out) == 0 || out[len(out)-1] != d) {
			out = append(out, d)
		}
		if d == p.Cap || p.Factor == 1 {
			break
		}
	}
	return out
}
