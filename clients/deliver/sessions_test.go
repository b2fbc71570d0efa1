package deliver_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Key makes an item one of an order.
func (i *item) Key() string { return i.facts.MessageID }

// A session that fails is followed by another, later each time; one that a held
// message ended is followed when that message can be judged, and not before.
func TestSessions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := &desk{began: time.Now()}
		held := &item{d: d, name: "held", judge: slices.Repeat([]validate.Outcome{hold}, 12)}
		held.judge = append(held.judge, accept)
		work := deliver.NewDesk(deliver.Options{Validator: nobody, HoldFor: 2 * time.Second, Retry: retry.Policy{Jitter: -1}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		stopping, stop := context.WithCancel(ctx)
		n := 0
		work.Sessions(stopping, func(context.Context) error {
			n++
			switch n {
			case 1, 2, 3, 4, 5:
				d.note("session %d", n)
				return errors.New("no broker")
			case 6:
				s := deliver.NewSession(ctx)
				work.Work(s, held)
				return nil
			}
			d.note("session %d", n)
			stop()
			return nil
		})
		text := d.String()
		if !strings.HasPrefix(text, "0s session 1, 0s session 2, 0s session 3, 0s session 4, 1s session 5, ") || !strings.Contains(text, "given_back") || !strings.HasSuffix(text, "session 7") {
			t.Errorf("%s", text)
		}
		if len(held.judge) > 1 {
			t.Errorf("%d answers left: a session began while the message could not be judged", len(held.judge))
		}
		if c := strings.Count(log.String(), "begins anew"); c != 5 {
			t.Errorf("%d interruptions were logged", c)
		}
	})
}

// Feed lets keys wait for nobody else, and those without one for nobody.
func TestFeed(t *testing.T) {
	t.Parallel()
	for byKey, want := range map[bool]string{false: "a1 a2 b1 alone", true: "b1 alone a1 a2"} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var order []string
			work := deliver.NewDesk(deliver.Options{Validator: nobody, Workers: 4, Retry: retry.Policy{Base: time.Second, Jitter: -1}})
			s := deliver.NewSession(ctx)
			in := make(chan string, 4)
			d := &desk{began: time.Now()}
			deliver.Feed(work, s, in, func(name string) *item {
				key := name[:1]
				if name == "alone" {
					key = ""
				}
				return &item{d: d, name: name, facts: deliver.Facts{MessageID: key}, handle: func(_ context.Context, attempt int) error {
					if name == "a1" && attempt == 1 {
						return errors.New("busy")
					}
					mu.Lock()
					defer mu.Unlock()
					order = append(order, name)
					return nil
				}}
			}, 1, byKey)
			for _, name := range []string{"a1", "a2", "b1", "alone"} {
				in <- name
				synctest.Wait()
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := strings.Join(order, " "); got != want {
				t.Errorf("by key %v: %s, want %s", byKey, got, want)
			}
			if !s.Finish(time.Second, time.Second) {
				t.Error("it does not end though nothing comes in")
			}
		})
	}
}

// Who ends a consumer from within a message gets no other, however many wait and
// however late the session is halted.
func TestNoneBeginsBehindTheEnd(t *testing.T) {
	t.Parallel()
	for _, byKey := range []bool{false, true} {
		for range 50 { // a select that chose among what is ready would be right now and then
			synctest.Test(t, func(t *testing.T) {
				work := deliver.NewDesk(deliver.Options{Validator: nobody, Workers: 1})
				ending, end := context.WithCancel(ctx)
				defer end()
				s := deliver.NewSession(ending)
				in := make(chan string, 3)
				for _, name := range []string{"a1", "a2", "a3"} {
					in <- name
				}
				d, worked := &desk{began: time.Now()}, 0
				deliver.Feed(work, s, in, func(name string) *item {
					return &item{d: d, name: name, facts: deliver.Facts{MessageID: "a"}, handle: func(context.Context, int) error {
						worked++
						end()
						return nil
					}}
				}, 1, byKey)
				synctest.Wait()
				if worked != 1 {
					t.Errorf("by key %v: %d were worked on", byKey, worked)
				}
				s.Finish(0, 0)
			})
		}
	}
}
