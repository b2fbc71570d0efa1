package brokertest

import (
	"context"
	"sync"
	"testing"
	"time"
)

// patience is how long tests wait for what a broker does in its own time.
const patience = 90 * time.Second

// Await asks until it is so. A real broker tells nobody when it is done.
func Await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came about: %s", what)
		}
	}
}

// Next is what comes next.
func Next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case one := <-c:
		return one
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// Run has run work until the test ends, or stop, which waits for it.
func Run(t *testing.T, run func(ctx context.Context) error) (stop func()) {
	t.Helper()
	running, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(running) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				t.Error("the consumer does not stop")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}
