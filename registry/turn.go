package registry

import (
	"context"
	"sync"

	"github.com/cartorio-registry/cartorio/schemas"
)

// turns lets the writers of one subject go one after the other, so that none of
// them compares in vain. Right numbers do not depend on it: the committer checks
// again what was decided.
type turns struct {
	mu      sync.Mutex
	waiting map[schemas.Subject]*turn
}

type turn struct {
	free    chan struct{} // holds one token
	holders int           // those who have it or wait for it
}

// take waits for the turn at a subject and answers how to give it back.
func (t *turns) take(ctx context.Context, s schemas.Subject) (done func(), err error) {
	t.mu.Lock()
	if t.waiting == nil {
		t.waiting = map[schemas.Subject]*turn{}
	}
	mine := t.waiting[s]
	if mine == nil {
		mine = &turn{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		t.waiting[s] = mine
	}
	mine.holders++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		if mine.holders--; mine.holders == 0 {
			delete(t.waiting, s)
		}
		t.mu.Unlock()
	}
	select {
	case <-mine.free:
		return func() { mine.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
