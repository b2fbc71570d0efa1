package deliver

import (
	"context"
	"sync"
	"time"
)

// Session is the span in which messages that were handed out can be settled.
// When it halts nobody waits any longer: what is being handled ends, the rest
// is given back.
type Session struct {
	over   context.Context // whose end is the session's
	work   context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	busy   sync.WaitGroup

	mu       sync.Mutex // nothing begins once it is halted
	isHalted bool
}

// NewSession begins a session. Handlers get ctx's values and not its end: they
// may finish what they began.
func NewSession(ctx context.Context) *Session {
	s := &Session{over: ctx, stop: make(chan struct{})}
	s.work, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return s
}

// Context is that of the handlers.
func (s *Session) Context() context.Context { return s.work }

// Go runs f as a part of the session, for which Finish waits; a session that was
// halted runs nothing more.
func (s *Session) Go(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isHalted {
		s.busy.Go(f)
	}
}

// Halt ends all waits and lets no other message be begun.
func (s *Session) Halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isHalted {
		s.isHalted = true
		close(s.stop)
	}
}

// Stopping tells that no other message may be begun: the session was halted, or its
// context has ended and somebody is about to halt it. So whoever ends it while a
// message is worked on gets no other.
func (s *Session) Stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return s.over.Err() != nil
	}
}

// Stopped is closed when the session is halted.
func (s *Session) Stopped() <-chan struct{} { return s.stop }

// Abandon halts the session and ends the handlers' context at once.
func (s *Session) Abandon() {
	s.Halt()
	s.cancel()
}

// Finish halts the session and waits for what is being handled: for drain, then
// with the handlers' context ended, for grace (0: without an end). It tells
// whether all has ended.
func (s *Session) Finish(drain, grace time.Duration) bool {
	s.Halt()
	late := time.AfterFunc(drain, s.cancel)
	defer late.Stop()
	ended := make(chan struct{})
	go func() {
		s.busy.Wait()
		close(ended)
	}()
	var over <-chan time.Time
	if grace > 0 {
		t := time.NewTimer(drain + grace)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ended:
		s.cancel()
		return true
	case <-over:
		return false
	}
}

// Sleep waits for d or the end of ctx, whose error it answers then.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
