package deliver_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// A try that is cut short does not hide why the one before it failed.
func TestSharedSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errAway := errors.New("away")
		tries := 0
		s := deliver.NewShared(func(ctx context.Context) (int, error) {
			if tries++; tries == 1 {
				return 0, errAway
			}
			<-ctx.Done()
			return 0, ctx.Err()
		}, func(int) bool { return false }, func(int) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Get(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) || tries != 2 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	})
}

// early is a context that has not ended yet, though its deadline is over.
type early struct{ context.Context }

func (c early) Deadline() (time.Time, bool) {
	d, ok := c.Context.Deadline()
	return d.Add(-time.Second), ok
}

// A try that its deadline cut short does not hide it either, though it heard of
// that before the context did.
func TestSharedSaysWhyAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errAway, errTimeout := errors.New("away"), errors.New("i/o timeout")
		tries := 0
		s := deliver.NewShared(func(ctx context.Context) (int, error) {
			if tries++; tries == 1 {
				return 0, errAway
			}
			deadline, _ := ctx.Deadline()
			time.Sleep(time.Until(deadline))
			return 0, errTimeout
		}, func(int) bool { return false }, func(int) {})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := s.Get(early{ctx}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) || errors.Is(err, errTimeout) || tries < 2 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	})
}

// A connection is shared while it lasts, tried again with pauses that double, and
// soon again when the last one was of use.
func TestShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		errAway := errors.New("away")
		began := time.Now()
		var tried []time.Duration
		var left []int
		isAway, lost := false, map[int]bool{}
		s := deliver.NewShared(func(context.Context) (int, error) {
			tried = append(tried, time.Since(began))
			if isAway {
				return 0, errAway
			}
			return len(tried), nil
		}, func(n int) bool { return lost[n] }, func(n int) { left = append(left, n) })
		get := func(patience time.Duration) (int, error) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			return s.Get(ctx)
		}
		for range 2 {
			if n, err := get(time.Second); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		// It is lost before it was of use, and then there is none.
		lost[1], isAway = true, true
		if _, err := get(time.Second); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) {
			t.Error(err)
		}
		isAway = false
		n, err := get(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		// One that was of use is followed at once, and the pauses begin anew.
		s.Used()
		time.Sleep(time.Minute)
		for range 2 {
			lost[n] = true
			if n, err = get(time.Second); err != nil {
				t.Fatal(err)
			}
		}
		ms := func(list ...time.Duration) (out []time.Duration) {
			for _, one := range list {
				out = append(out, one*time.Millisecond)
			}
			return out
		}
		if d := cmp.Diff(ms(0, 100, 300, 700, 1500, 61500, 61600), tried); d != "" {
			t.Error(d)
		}
		end, ok := s.Begin()
		if !ok {
			t.Fatal("it is closed")
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(brief); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		end()
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, ok := s.Begin(); ok {
			t.Error("something began after the end")
		}
		if d := cmp.Diff([]int{1, 5, 6, 7}, left); d != "" {
			t.Errorf("what was ended: %s", d)
		}
	})
}

// Who is on the way when nobody waits any more gets no connection that nobody ends,
// whether it asks for one then or has asked before.
func TestSharedIsOver(t *testing.T) {
	t.Parallel()
	for name, connects := range map[string]time.Duration{"asks later": 0, "connects": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries, stand := 0, 0
				s := deliver.NewShared(func(ctx context.Context) (int, error) {
					tries++
					if err := deliver.Sleep(ctx, connects); err != nil {
						return 0, err
					}
					stand++
					return tries, nil
				}, func(int) bool { return false }, func(int) { stand-- })
				end, ok := s.Begin()
				if !ok {
					t.Fatal("it is closed")
				}
				go func() {
					defer end()
					_, _ = s.Get(t.Context())
					time.Sleep(2 * time.Second)
					if _, err := s.Get(t.Context()); !errors.Is(err, deliver.ErrClosed) {
						t.Errorf("asked when it was over: %v", err)
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("closed with %v", err)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if tries != 1 || stand != 0 {
					t.Errorf("%d were made, and %d stand", tries, stand)
				}
			})
		})
	}
}
