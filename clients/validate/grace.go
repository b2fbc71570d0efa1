package validate

import (
	"sync"
	"time"
)

const (
	// A grace holds a consumer up, so a producer of random versions could hold
	// it for ever: no more than gracesPerMinute begin for one Expect.
	gracesPerMinute = 5
	mostGraces      = 10_000
	// graceMemory is how long a grace that has passed is remembered after its
	// last sight, so that the same typo is not held again.
	graceMemory = 10 * time.Minute
	// graceAsk is how often an unknown name is asked again during its grace.
	graceAsk = time.Second
)

type graceKey struct {
	expect *Expect
	name   name
}

type grace struct {
	first, last time.Time
	over        bool
}

// graces remembers which unknown names are held, and since when.
type graces struct {
	mu     sync.Mutex
	seen   map[graceKey]*grace
	begun  map[*Expect][]time.Time
	active map[name]int
}

func (g *graces) open() {
	g.seen = map[graceKey]*grace{}
	g.begun = map[*Expect][]time.Time{}
	g.active = map[name]int{}
}

// isActive tells whether some consumer holds for n, so that it is asked past
// the negative cache.
func (g *graces) isActive(n name) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.active[n] > 0
}

// holds tells whether e's messages with the unknown name n are held now.
func (g *graces) holds(e *Expect, n name, now time.Time, length time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := graceKey{e, n}
	one := g.seen[key]
	if one == nil {
		return g.begin(key, now)
	}
	one.last = now
	if !one.over && now.Sub(one.first) >= length {
		g.end(key, one)
	}
	return !one.over
}

func (g *graces) begin(key graceKey, now time.Time) bool {
	begun := g.begun[key.expect]
	for len(begun) > 0 && now.Sub(begun[0]) >= time.Minute {
		begun = begun[1:]
	}
	g.begun[key.expect] = begun
	if len(begun) >= gracesPerMinute {
		return false
	}
	if len(g.seen) >= mostGraces {
		for k, one := range g.seen {
			if now.Sub(one.last) >= graceMemory {
				if !one.over {
					g.end(k, one)
				}
				delete(g.seen, k)
			}
		}
		if len(g.seen) >= mostGraces {
			return false
		}
	}
	g.begun[key.expect] = append(begun, now)
	g.seen[key] = &grace{first: now, last: now}
	g.active[key.name]++
	return true
}

func (g *graces) end(key graceKey, one *grace) {
	one.over = true
	if g.active[key.name]--; g.active[key.name] == 0 {
		delete(g.active, key.name)
	}
}
