package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// bench is a consumer at work on a fake broker.
type bench struct {
	b       *broker
	s       *brokertest.Shelf
	mu      sync.Mutex
	handled []string
	events  []kafka.Handled
	stop    func()
}

func (w *bench) ids() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.handled, " ")
}

func (w *bench) settled() []kafka.Handled {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// consume runs a consumer that has partitions 0 and 1 in a bubble of time while
// f plays with it, then stops it. h decides about each message; nil takes all.
func consume(t *testing.T, e *validate.Expect, o kafka.ConsumerOptions, h kafka.Handler, f func(w *bench)) *bench {
	t.Helper()
	w := &bench{s: newShelf()}
	synctest.Test(t, func(t *testing.T) {
		w.b = newBroker()
		v := w.s.Validator()
		defer v.Close()
		o.Group, o.Topics = "work", []string{"orders"}
		if o.DeadLetter == "" {
			o.DeadLetter = "work.DLT"
		}
		o.Logger = slog.New(slog.DiscardHandler)
		o.Name = "test"
		o.Observe = func(one kafka.Handled) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, one)
		}
		handler := func(ctx context.Context, d *kafka.Delivery) error {
			if h != nil {
				if err := h(ctx, d); err != nil {
					return err
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.handled = append(w.handled, get(d.Message, "messageId"))
			return nil
		}
		c, err := kafka.NewConsumer(w.b.open, v, e, handler, o)
		if err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- c.Run(running) }()
		var once sync.Once
		w.stop = func() {
			once.Do(func() {
				stop()
				if err := <-done; err != nil {
					t.Errorf("Run: %v", err)
				}
			})
		}
		synctest.Wait()
		w.b.group.Assigned(ctx, map[string][]int32{"orders": {0, 1}})
		f(w)
		w.stop()
	})
	return w
}

func any1() *validate.Expect { return &validate.Expect{Subject: orders} }

func TestAccepted(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{}, nil, func(w *bench) {
		for n := range 10 {
			w.b.deliver(0, order(1+n%2, n))
		}
		time.Sleep(time.Second)
		if got := w.b.committed(); got != "orders/0:10" {
			t.Errorf("committed %q after a second", got)
		}
	})
	if got := w.ids(); got != "m-0 m-1 m-2 m-3 m-4 m-5 m-6 m-7 m-8 m-9" {
		t.Errorf("handled %s", got)
	}
	e := w.settled()[0]
	if e.Action != kafka.Acknowledged || e.Attempts != 1 || e.Outcome.Version != 1 || e.MessageID != "m-0" || e.Received.IsZero() || e.Started.IsZero() || e.Finished.IsZero() || e.Settled.IsZero() || e.Bytes == 0 {
		t.Errorf("%+v", e)
	}
	if !w.b.closed {
		t.Error("the group was not left")
	}
}

// What may be committed is the end of the finished ones that have no unfinished
// one before them, in whatever order they finish.
func TestLowestUnfinishedOffset(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	w := consume(t, any1(), kafka.ConsumerOptions{Keyed: true, Workers: 4}, func(_ context.Context, d *kafka.Delivery) error {
		if string(d.Message.Key) == "slow" {
			<-release
		}
		return nil
	}, func(w *bench) {
		release = make(chan struct{})
		w.b.deliver(0, keyed("a", 0))
		w.b.deliver(0, keyed("slow", 1))
		for n := range 5 {
			w.b.deliver(0, keyed("b", 2+n))
		}
		w.b.deliver(1, keyed("a", 9))
		time.Sleep(time.Second)
		if got := w.b.committed(); got != "orders/0:1 orders/1:1" {
			t.Errorf("committed %q while offset 1 is unfinished", got)
		}
		close(release)
		time.Sleep(time.Second)
	})
	if got := w.b.committed(); got != "orders/0:7" {
		t.Errorf("committed %q", got)
	}
}

func TestCommitsAreTriedAgain(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{}, nil, func(w *bench) {
		w.b.set(func() { w.b.commitErr = kerr.RebalanceInProgress })
		w.b.deliver(0, order(1, 0))
		time.Sleep(10 * time.Second)
		w.b.set(func() { w.b.commitErr = nil })
		time.Sleep(20 * time.Second)
		if got := w.b.committed(); got != "orders/0:1" {
			t.Errorf("committed %q", got)
		}
	})
	if w.ids() != "m-0" {
		t.Errorf("handled %s", w.ids())
	}
}

func TestRejectedGoesToTheDeadLetter(t *testing.T) {
	t.Parallel()
	bad := order(1, 1)
	bad.Value, bad.Key, bad.Timestamp = []byte(`{"id":"x"}`), []byte("k"), time.UnixMilli(1234)
	bad.Headers = append(bad.Headers, header("x", "1"), header("x", "2"), kgo.RecordHeader{Key: "null"})
	for _, spring := range []bool{false, true} {
		w := consume(t, any1(), kafka.ConsumerOptions{SpringHeaders: spring}, nil, func(w *bench) {
			w.b.deliver(1, order(1, 0))
			w.b.deliver(1, bad)
			time.Sleep(time.Second)
		})
		log := w.b.published()
		if len(log) != 1 || log[0].Topic != "work.DLT" || w.ids() != "m-0" || w.b.committed() != "orders/1:2" {
			t.Fatalf("published %v, handled %s, committed %s", log, w.ids(), w.b.committed())
		}
		r := log[0]
		if string(r.Value) != `{"id":"x"}` || string(r.Key) != "k" {
			t.Errorf("%s: %s", r.Key, r.Value)
		}
		for i, h := range bad.Headers {
			if r.Headers[i].Key != h.Key || string(r.Headers[i].Value) != string(h.Value) || (r.Headers[i].Value == nil) != (h.Value == nil) {
				t.Errorf("header %d is %v, want %v", i, r.Headers[i], h)
			}
		}
		for name, want := range map[string]string{
			"dlqReason": "payload_invalid", "dlqClass": "permanent", "dlqAttempts": "1", "dlqOriginalDestination": "orders", "dlqOriginalPartition": "1",
			"dlqOriginalOffset": "1", "dlqOriginalTimestamp": "1234", "dlqConsumer": "test", "dlqExpected": any1().Expected(),
		} {
			if got := get(r, name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		if detail := get(r, "dlqDetail"); !strings.Contains(detail, "/id") {
			t.Errorf("dlqDetail %q", detail)
		}
		if got := get(r, "kafka_dlt-original-offset"); spring != (got == "\x00\x00\x00\x00\x00\x00\x00\x01") || spring != (get(r, "kafka_dlt-original-topic") == "orders") {
			t.Errorf("kafka_dlt-original-offset %q", got)
		}
		if e := w.settled()[1]; e.Action != kafka.DeadLettered || e.Reason != validate.PayloadInvalid {
			t.Errorf("%+v", e)
		}
	}
}

func TestPassIsSkipped(t *testing.T) {
	t.Parallel()
	e := &validate.Expect{Subject: orders, Pass: []validate.Reason{validate.HeaderMissing}}
	w := consume(t, e, kafka.ConsumerOptions{}, nil, func(w *bench) {
		w.b.deliver(0, kgo.Record{Value: []byte(`{}`)})
		time.Sleep(time.Second)
	})
	if w.b.committed() != "orders/0:1" || len(w.b.published()) != 0 || w.ids() != "" || w.settled()[0].Action != kafka.Skipped {
		t.Errorf("committed %s, published %d, handled %s", w.b.committed(), len(w.b.published()), w.ids())
	}
}

// A tombstone is handled, with no payload; no bytes at all are a payload.
func TestTombstone(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{}, func(_ context.Context, d *kafka.Delivery) error {
		if !d.Tombstone || d.Payload != nil {
			t.Errorf("%+v", d.Outcome)
		}
		return nil
	}, func(w *bench) {
		dead, empty := order(1, 1), order(1, 2)
		dead.Value, empty.Value = nil, []byte{}
		w.b.deliver(0, dead)
		w.b.deliver(0, empty)
		time.Sleep(time.Second)
	})
	if log := w.b.published(); w.ids() != "m-1" || len(log) != 1 || get(log[0], "dlqReason") != "payload_unreadable" || log[0].Value == nil {
		t.Errorf("handled %s, set aside %v", w.ids(), log)
	}
}

func TestKeysHaveSchemas(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{Key: &validate.Expect{Subject: orders}}, func(_ context.Context, d *kafka.Delivery) error {
		if d.Key == nil || d.Key.Subject.String() != "orders-key" || string(d.Key.Payload) != `"ab"` {
			t.Errorf("%+v", d.Key)
		}
		return nil
	}, func(w *bench) {
		for n, key := range []string{`"ab"`, `"a"`, `?`} {
			r := keyed(key, n)
			r.Headers = append(r.Headers, header("keySchemaSubject", "orders-key"), header("keySchemaVersion", "1"))
			w.b.deliver(0, r)
		}
		w.b.deliver(0, keyed(`"ab"`, 3))
		time.Sleep(time.Second)
	})
	var reasons []string
	for _, r := range w.b.published() {
		reasons = append(reasons, get(r, "dlqReason"))
		if !strings.Contains(get(r, "dlqError"), "the key: ") {
			t.Errorf("dlqError %q does not name the key", get(r, "dlqError"))
		}
	}
	if got := strings.Join(reasons, " "); w.ids() != "m-0" || got != "payload_invalid payload_unreadable header_missing" {
		t.Errorf("handled %s, set aside for %s", w.ids(), got)
	}
}

// While the registry is away nothing is set aside and the order stays; a
// partition that needs no registry goes on.
func TestOutageHolds(t *testing.T) {
	t.Parallel()
	for _, err := range []error{schemas.ErrUnreachable, schemas.ErrRefused, schemas.ErrUnintelligible} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			w := consume(t, any1(), kafka.ConsumerOptions{Prefetch: 4}, nil, func(w *bench) {
				w.b.deliver(1, order(1, 100))
				time.Sleep(time.Second)
				w.s.Fail(err)
				for n := range 10 {
					w.b.deliver(0, order(2, n))
				}
				w.b.deliver(1, order(1, 101))
				time.Sleep(time.Hour)
				if got := w.ids(); got != "m-100 m-101" {
					t.Errorf("in the outage: handled %s", got)
				}
				if !w.b.paused[0] || w.b.paused[1] {
					t.Errorf("paused: %v", w.b.paused)
				}
				w.s.Fail(nil)
				time.Sleep(time.Minute)
			})
			if got := w.ids(); got != "m-100 m-101 m-0 m-1 m-2 m-3 m-4 m-5 m-6 m-7 m-8 m-9" || len(w.b.published()) != 0 {
				t.Errorf("handled %s, %d set aside", got, len(w.b.published()))
			}
			if w.b.pauses > 5 {
				t.Errorf("paused %d times", w.b.pauses)
			}
		})
	}
}

func TestHandlerErrors(t *testing.T) {
	t.Parallel()
	errBusy := errors.New("the database is busy")
	for _, tt := range []struct {
		name     string
		o        kafka.ConsumerOptions
		handler  func(attempt int) error
		reason   string
		attempts int
	}{
		{"once", kafka.ConsumerOptions{}, func(a int) error {
			if a == 1 {
				return errBusy
			}
			return nil
		}, "", 2},
		{"until attempts are used up", kafka.ConsumerOptions{}, func(int) error { return errBusy }, "attempts_exhausted", 6},
		{"three attempts", kafka.ConsumerOptions{Retry: retry.Policy{Attempts: 3}}, func(int) error { return errBusy }, "attempts_exhausted", 3},
		{"rejected", kafka.ConsumerOptions{}, func(int) error { return fmt.Errorf("bill: %w", kafka.Reject(errBusy)) }, "handler_rejected", 1},
		{"panics again", kafka.ConsumerOptions{}, func(int) error { panic("oops") }, "handler_panicked", 2},
		{"retry asked for later", kafka.ConsumerOptions{}, func(a int) error {
			if a == 1 {
				return kafka.Retry(errBusy, 40*time.Second)
			}
			return nil
		}, "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			w := consume(t, any1(), tt.o, func(_ context.Context, d *kafka.Delivery) error {
				if get(d.Message, "messageId") != "m-1" {
					return nil
				}
				attempts++
				return tt.handler(d.Attempt)
			}, func(w *bench) {
				w.b.deliver(0, order(1, 1))
				w.b.deliver(0, order(1, 2))
				time.Sleep(3 * time.Minute)
			})
			want := "m-1 m-2"
			if tt.reason != "" {
				want = "m-2"
			}
			log := w.b.published()
			if attempts != tt.attempts || w.ids() != want || (tt.reason == "") != (len(log) == 0) || len(log) > 0 && get(log[0], "dlqReason") != tt.reason {
				t.Errorf("%d attempts, handled %s, %d set aside", attempts, w.ids(), len(log))
			}
		})
	}
}

// A key that fails waits alone, in its place, even when more keys fail than
// there are workers.
func TestOrderByKey(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{Keyed: true, Workers: 2, Retry: retry.Policy{Base: 10 * time.Second}}, func(_ context.Context, d *kafka.Delivery) error {
		if strings.HasPrefix(string(d.Message.Key), "bad") && d.Attempt == 1 && get(d.Message, "messageId") < "m-4" {
			return errors.New("busy")
		}
		return nil
	}, func(w *bench) {
		for n, key := range []string{"bad1", "bad2", "bad3", "bad1", "good", "bad2", "good", ""} {
			r := keyed(key, n)
			if key == "" {
				r.Key = nil
			}
			w.b.deliver(0, r)
		}
		time.Sleep(5 * time.Second)
		if got := strings.Fields(w.ids()); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"m-4", "m-6", "m-7"}) {
			t.Errorf("while three keys wait: %s", got)
		}
		time.Sleep(time.Minute)
	})
	got := strings.Fields(w.ids())
	for _, pair := range [][2]string{{"m-0", "m-3"}, {"m-1", "m-5"}, {"m-4", "m-6"}} {
		if slices.Index(got, pair[0]) > slices.Index(got, pair[1]) {
			t.Errorf("%s after %s: %s", pair[0], pair[1], got)
		}
	}
	if len(got) != 8 || len(w.b.published()) != 0 {
		t.Errorf("handled %s, %d set aside", got, len(w.b.published()))
	}
}

func TestRetryTopics(t *testing.T) {
	t.Parallel()
	fails := true
	w := consume(t, any1(), kafka.ConsumerOptions{RetryTopics: true}, func(_ context.Context, d *kafka.Delivery) error {
		if fails && get(d.Message, "messageId") == "m-1" {
			return errors.New("busy")
		}
		return nil
	}, func(w *bench) {
		w.b.group.Assigned(ctx, map[string][]int32{"work.retry.2000": {7}})
		w.b.set(func() { w.b.missing = nil })
		began := time.Now()
		w.b.deliver(0, order(1, 1))
		w.b.deliver(0, order(1, 2))
		time.Sleep(1300 * time.Millisecond) // the first wait is in place
		log := w.b.published()
		if len(log) != 1 || log[0].Topic != "work.retry.2000" || w.ids() != "m-2" {
			t.Fatalf("published %v, handled %s", log, w.ids())
		}
		r := log[0]
		for name, want := range map[string]string{"retryAttempts": "2", "dlqOriginalDestination": "orders", "dlqOriginalPartition": "0", "dlqOriginalOffset": "0"} {
			if got := get(r, name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		due, err := time.Parse(time.RFC3339Nano, get(r, "retryNotBefore"))
		if wait := due.Sub(began); err != nil || wait < 2500*time.Millisecond || wait > 3300*time.Millisecond {
			t.Errorf("due after %v: %v", wait, err)
		}
		fails = false
		again := kgo.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Headers: r.Headers}
		w.b.deliver(7, again)
		time.Sleep(time.Until(due) - time.Millisecond)
		if w.ids() != "m-2" {
			t.Errorf("handled before it is due: %s", w.ids())
		}
		time.Sleep(2 * time.Second)
	})
	if got := strings.Join(w.b.made, " "); got != "" {
		t.Errorf("made %s, which are there", got)
	}
	events := w.settled()
	if len(events) != 3 || events[0].Action != kafka.Delayed || events[2].Attempts != 3 || w.ids() != "m-2 m-1" {
		t.Errorf("handled %s, %+v", w.ids(), events)
	}
}
