package deliver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Shared is a connection that many publishes use at once. It is made when the
// first one asks for it, and anew when it is lost: one caller looks for it at a
// time, and the pauses between its tries double until a connection was of use.
type Shared[C any] struct {
	open   func(ctx context.Context) (C, error)
	isLost func(C) bool
	leave  func(C)

	looking   chan struct{} // whoever is in it may look; it guards the five below
	isOver    bool          // none is made any more
	isMade    bool
	conn      C
	notBefore time.Time // one is tried again
	pause     time.Duration

	used atomic.Bool // since the last one was tried

	mu        sync.Mutex
	closed    bool
	unreached error // why the last one was not made
	busy      sync.WaitGroup
}

// NewShared makes a connection to share, which open opens; leave ends one, also
// one that is lost.
func NewShared[C any](open func(ctx context.Context) (C, error), isLost func(C) bool, leave func(C)) *Shared[C] {
	return &Shared[C]{open: open, isLost: isLost, leave: leave, looking: make(chan struct{}, 1)}
}

// Begin tells that a publish begins, until it calls end; ok is false when the
// connection was closed.
func (s *Shared[C]) Begin() (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.busy.Add(1)
	return s.busy.Done, true
}

// Used tells that the connection was of use: the next one is tried soon.
func (s *Shared[C]) Used() { s.used.Store(true) }

// Get gives the connection, a new one when the old one is lost, for as long as ctx
// lasts.
//
// Errors: that of ctx, with why there is no connection; ErrClosed.
func (s *Shared[C]) Get(ctx context.Context) (none C, err error) {
	for {
		select {
		case s.looking <- struct{}{}:
		case <-ctx.Done():
			return none, s.orUnreached(ctx.Err())
		}
		if s.isOver {
			<-s.looking
			return none, ErrClosed
		}
		conn, wait := s.look(ctx)
		<-s.looking
		if wait == 0 {
			return conn, nil
		}
		if err := Sleep(ctx, wait); err != nil {
			return none, s.orUnreached(err)
		}
	}
}

func (s *Shared[C]) orUnreached(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreached != nil {
		return fmt.Errorf("%w: %w", err, s.unreached)
	}
	return err
}

// look gives the connection, or how long to wait until it is worth another look.
func (s *Shared[C]) look(ctx context.Context) (conn C, wait time.Duration) {
	if s.isMade && !s.isLost(s.conn) {
		return s.conn, 0
	}
	if wait := time.Until(s.notBefore); wait > 0 {
		return conn, wait
	}
	if s.used.Swap(false) {
		s.pause = 0
	}
	s.pause = min(max(2*s.pause, FirstPause), LongestPause)
	if s.isMade {
		s.isMade = false
		s.leave(s.conn)
	}
	conn, err := s.open(ctx)
	// One that is lost before it is of use is not to be made again at once either.
	s.notBefore = time.Now().Add(s.pause)
	s.mu.Lock()
	if err == nil || s.unreached == nil || !isOver(ctx) {
		s.unreached = err // what was cut short knows no better than the try before
	}
	s.mu.Unlock()
	if err != nil {
		return conn, s.pause
	}
	s.conn, s.isMade = conn, true
	return conn, 0
}

// isOver tells whether ctx has ended, or is about to: who dials by its deadline may
// hear of it first.
func isOver(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// Close lets nothing begin any more, waits, as long as ctx lasts, for what has,
// and ends the connection. Who has begun and is not waited for any more gets no
// other.
func (s *Shared[C]) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		s.busy.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = fmt.Errorf("close a publisher with messages on their way: %w", ctx.Err())
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.looking <- struct{}{}
		s.isOver = true
		if s.isMade {
			s.isMade = false
			s.leave(s.conn)
		}
		<-s.looking
	}()
	select {
	case <-left:
	case <-ctx.Done(): // whoever is connecting has a ctx that ends; then it is left
	}
	return err
}
