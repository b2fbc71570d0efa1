package registry_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/journaltest"
)

// shared is a journal that several registries write to, as nodes of one
// installation do. It is what a server in between would be.
type shared struct {
	mu       sync.Mutex
	events   []registry.Event
	texts    map[registry.Hash]string
	snapshot registry.Snapshot
	tell     []chan struct{}
	deaf     bool // tells nobody that it grew
	fail     error
	lost     bool // fails after it has written
	closed   bool
}

func newShared() *shared { return &shared{texts: map[registry.Hash]string{}} }

// node is one registry's end of it.
type node struct{ *shared }

func (node) Close() error { return nil }

func (s *shared) Append(ctx context.Context, after registry.Revision, b registry.Batch) (registry.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case s.closed:
		return 0, errClosed
	case s.fail != nil && !s.lost:
		return 0, s.fail
	case after != registry.Revision(len(s.events)):
		return 0, registry.ErrMoved
	}
	for _, h := range b.Erase {
		delete(s.texts, h)
	}
	for _, t := range b.Texts {
		s.texts[t.Hash] = t.Text
	}
	for _, e := range b.Events {
		e.Revision = registry.Revision(len(s.events) + 1)
		s.events = append(s.events, e)
	}
	if !s.deaf {
		for _, c := range s.tell {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
	return registry.Revision(len(s.events)), s.fail
}

func (s *shared) Read(_ context.Context, from registry.Revision, each func(registry.Record) error) error {
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return errClosed
		}
		if from >= registry.Revision(len(s.events)) {
			s.mu.Unlock()
			return nil
		}
		r := registry.Record{Event: s.events[from]}
		if r.Event.Text != (registry.Hash{}) {
			text, ok := s.texts[r.Event.Text]
			r.Text, r.Erased = text, !ok
		}
		s.mu.Unlock()
		if err := each(r); err != nil {
			return err
		}
		from++
	}
}

func (s *shared) Follow(ctx context.Context) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	grown, out := make(chan struct{}, 1), make(chan struct{})
	s.tell = append(s.tell, grown)
	go func() {
		defer close(out)
		for {
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
			select {
			case out <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

func (s *shared) SaveSnapshot(_ context.Context, n registry.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if n.Revision > s.snapshot.Revision {
		s.snapshot = registry.Snapshot{Revision: n.Revision, State: slices.Clone(n.State)}
	}
	return nil
}

func (s *shared) LoadSnapshot(_ context.Context, each func(registry.Text) error) (registry.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot.Revision > 0 {
		for h, t := range s.texts {
			if err := each(registry.Text{Hash: h, Text: t}); err != nil {
				return registry.Snapshot{}, err
			}
		}
	}
	return s.snapshot, nil
}

func (s *shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// The journal that the tests of several nodes stand on is held to the port too.
func TestSharedJournal(t *testing.T) {
	t.Parallel()
	journaltest.Run(t, func(*testing.T) registry.Journal { return newShared() })
}
