package transfer

import (
	"context"
	"sync"
	"time"
)

// Pace bounds what one side is asked.
type Pace struct {
	// Parallel is how many requests are under way at once, 8.
	Parallel int
	// PerSecond is how many requests begin in a second, 2,000; negative is
	// without bound.
	PerSecond int
}

const (
	defaultParallel  = 8
	defaultPerSecond = 2000
)

// gate lets so many through in a second.
type gate struct {
	parallel int
	gap      time.Duration

	mu   sync.Mutex
	next time.Time
}

func newGate(p Pace) *gate {
	g := &gate{parallel: p.Parallel}
	if g.parallel <= 0 {
		g.parallel = defaultParallel
	}
	switch {
	case p.PerSecond == 0:
		g.gap = time.Second / defaultPerSecond
	case p.PerSecond > 0:
		g.gap = time.Second / time.Duration(p.PerSecond)
	}
	return g
}

// pass waits for one's turn.
func (g *gate) pass(ctx context.Context) error {
	if g.gap == 0 {
		return ctx.Err()
	}
	// A short pause is saved up for: waiting is not exact to a microsecond.
	const slack = 20 * time.Millisecond
	g.mu.Lock()
	now := time.Now()
	if g.next.Before(now.Add(-slack)) {
		g.next = now.Add(-slack)
	}
	g.next = g.next.Add(g.gap)
	d := g.next.Sub(now)
	g.mu.Unlock()
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// side is by side: it does each of n things, so many at once, and answers the
// first error. The others are then not begun.
func (g *gate) side(ctx context.Context, n int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(g.parallel, n) {
		workers.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
