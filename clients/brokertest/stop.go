package brokertest

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// StoppedStart has a consumer be stopped at each step of its start, one after the
// other: it answers nil at once, whether the step was done or failed for the stop,
// and leaves nothing behind.
//
// run makes a fake broker and runs a consumer on it, in a bubble of time. Its
// broker asks step first in whatever the consumer calls, and answers its error. run
// answers the consumer's error, or what was left open at the broker.
func StoppedStart(t *testing.T, run func(ctx context.Context, step func() error) error) {
	t.Helper()
	calls := stoppedAt(t, 0, nil, run)
	if calls < 3 {
		t.Fatalf("a start has %d steps: nothing was tried", calls)
	}
	for at := 1; at <= calls; at++ {
		for name, answer := range map[string]error{"done": nil, "failed": fmt.Errorf("the connection is closed: %w", context.Canceled)} {
			t.Run(fmt.Sprintf("%d of %d, %s", at, calls, name), func(t *testing.T) {
				stoppedAt(t, at, answer, run)
			})
		}
	}
}

// stoppedAt stops a consumer at one step, or at rest for 0, and tells how many
// steps there were until then.
func stoppedAt(t *testing.T, at int, answer error, run func(ctx context.Context, step func() error) error) (calls int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var n atomic.Int64
		var since atomic.Pointer[time.Time]
		halt := func() {
			now := time.Now()
			since.Store(&now)
			stop()
		}
		step := func() error {
			if n.Add(1) != int64(at) {
				return nil
			}
			halt()
			return answer
		}
		done := make(chan error, 1)
		go func() { done <- run(ctx, step) }()
		if at == 0 {
			time.Sleep(time.Minute) // of the bubble's: it is at rest
			calls = int(n.Load())
			halt()
		}
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if took := time.Since(*since.Load()); took > 0 {
			t.Errorf("it stopped %v later", took)
		}
	})
	return calls
}

// StoppedInSilence has something that connects to a broker be stopped while that
// says nothing: it answers nil, and soon.
//
// run is called with the broker's host:port.
func StoppedInSilence(t *testing.T, run func(ctx context.Context, address string) error) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // of a test
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- run(ctx, l.Addr().String()) }()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // as above
	since := time.Now()
	stop()
	if err := Next(t, done); err != nil {
		t.Errorf("Run: %v", err)
	}
	// Well under any time that it would wait for the broker, and long for a machine
	// that is busy.
	if took := time.Since(since); took > 8*time.Second {
		t.Errorf("it stopped %v later", took)
	}
}
