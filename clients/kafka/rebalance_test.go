package kafka_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var zero = map[string][]int32{"orders": {0}}

// A partition that is taken away: what is being handled ends and is committed,
// what waits is the next owner's, and the other partition goes on.
func TestRevoked(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{}, func(_ context.Context, d *kafka.Delivery) error {
		if get(d.Message, "messageId") == "m-1" {
			time.Sleep(10 * time.Second)
		}
		return nil
	}, func(w *bench) {
		for n := range 3 {
			w.b.deliver(0, order(1, n))
		}
		time.Sleep(time.Second)
		began := time.Now()
		w.b.group.Revoked(ctx, zero)
		if took := time.Since(began); took < 8*time.Second || took > 10*time.Second {
			t.Errorf("given up after %v, and the handler needs 9 s more", took)
		}
		if got := w.b.committed(); got != "orders/0:2" {
			t.Errorf("committed %q as the partition is given up", got)
		}
		w.b.deliver(1, order(1, 9))
		w.b.deliver(0, order(1, 3)) // polled and not ours
		time.Sleep(time.Minute)
	})
	if got := w.ids(); got != "m-0 m-1 m-9" || w.b.committed() != "orders/1:1" {
		t.Errorf("handled %s, committed %s", got, w.b.committed())
	}
}

// One that comes back is read on, although it was paused when it went.
func TestRevokedWhileHolding(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{Prefetch: 2}, nil, func(w *bench) {
		w.s.Fail(schemas.ErrUnreachable)
		w.b.deliver(0, order(1, 1))
		w.b.deliver(0, order(1, 2))
		time.Sleep(time.Minute)
		began := time.Now()
		w.b.group.Revoked(ctx, zero)
		if took := time.Since(began); took > time.Second {
			t.Errorf("a held message keeps its partition for %v", took)
		}
		if got := w.b.committed(); got != "" {
			t.Errorf("committed %s", got)
		}
		w.s.Fail(nil)
		w.b.group.Assigned(ctx, zero)
		w.b.set(func() { w.b.offsets[0] = 0 })
		w.b.deliver(0, order(1, 1))
		w.b.deliver(0, order(1, 2))
		time.Sleep(time.Minute)
	})
	if got := w.ids(); got != "m-1 m-2" || w.b.committed() != "orders/0:2" {
		t.Errorf("handled %s, committed %s", got, w.b.committed())
	}
}

// A handler that does not end is abandoned, and its message not committed.
func TestRevokedFromAHandlerThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var told atomic.Bool
	w := consume(t, any1(), kafka.ConsumerOptions{Drain: 5 * time.Second}, func(ctx context.Context, _ *kafka.Delivery) error {
		<-ctx.Done()
		told.Store(ctx.Err() != nil)
		<-release
		return nil
	}, func(w *bench) {
		release = make(chan struct{})
		w.b.deliver(0, order(1, 1))
		time.Sleep(time.Second)
		began := time.Now()
		w.b.group.Revoked(ctx, zero)
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second || !told.Load() {
			t.Errorf("given up after %v, told to end: %v", took, told.Load())
		}
		close(release)
		synctest.Wait()
		time.Sleep(time.Minute)
	})
	if got := w.b.committed(); got != "" {
		t.Errorf("committed %s", got)
	}
}

// A partition that was lost is another's already: nothing is waited for and
// nothing is committed.
func TestLost(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{}, func(ctx context.Context, _ *kafka.Delivery) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(w *bench) {
		w.b.deliver(0, order(1, 1))
		time.Sleep(time.Second)
		began := time.Now()
		w.b.group.Lost(ctx, zero)
		if took := time.Since(began); took != 0 {
			t.Errorf("waited %v", took)
		}
		time.Sleep(time.Minute)
	})
	if e := w.settled(); w.b.committed() != "" || len(e) != 1 || e[0].Action != kafka.GivenBack || len(w.b.published()) != 0 {
		t.Errorf("committed %s, %+v", w.b.committed(), e)
	}
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	var ended error
	w := consume(t, any1(), kafka.ConsumerOptions{}, func(ctx context.Context, d *kafka.Delivery) error {
		time.Sleep(10 * time.Second)
		ended = ctx.Err()
		return nil
	}, func(w *bench) {
		w.b.deliver(0, order(1, 1))
		w.b.deliver(0, order(1, 2))
		time.Sleep(time.Second)
	})
	if w.ids() != "m-1" || w.b.committed() != "orders/0:1" || ended != nil || !w.b.closed {
		t.Errorf("handled %s, committed %s; the handler's context: %v", w.ids(), w.b.committed(), ended)
	}
}

// The last attempt of a handler that was told to end says nothing about its
// message: it comes again, and is not set aside.
func TestStopAtTheLastAttempt(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), kafka.ConsumerOptions{Drain: 5 * time.Second, Retry: retry.Policy{Attempts: 1}}, func(ctx context.Context, _ *kafka.Delivery) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(w *bench) {
		w.b.deliver(0, order(1, 1))
		time.Sleep(time.Second)
	})
	if w.b.committed() != "" || len(w.b.published()) != 0 {
		t.Errorf("committed %s, %d set aside", w.b.committed(), len(w.b.published()))
	}
}

func TestConsumerRefusesToStart(t *testing.T) {
	t.Parallel()
	v := newShelf().Validator()
	t.Cleanup(v.Close)
	nothing := func(context.Context, *kafka.Delivery) error { return nil }
	full := func(f func(*kafka.ConsumerOptions)) kafka.ConsumerOptions {
		o := kafka.ConsumerOptions{Group: "g", Topics: []string{"orders"}, DeadLetter: "dead"}
		f(&o)
		return o
	}
	for _, tt := range []struct {
		name string
		e    validate.Expect
		o    kafka.ConsumerOptions
		says string
	}{
		{"no group", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.Group = "" }), "Group"},
		{"no topic", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.Topics = nil }), "Topics"},
		{"no dead letter", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.DeadLetter = "" }), "DeadLetter"},
		{"a dead letter that is read", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.DeadLetter = "orders" }), "come again"},
		{"order by key and retry topics", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.Keyed, o.RetryTopics = true, true }), "exclude"},
		{"retries of what may be lost", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.LossAcceptable, o.RetryTopics = "presence", true }), "exclude"},
		{"an expectation that does not fit", validate.Expect{Assume: 1}, full(func(*kafka.ConsumerOptions) {}), "Subject"},
		{"a key's that does not fit", validate.Expect{}, full(func(o *kafka.ConsumerOptions) { o.Key = &validate.Expect{Reader: 1} }), "Subject"},
	} {
		if _, err := kafka.NewConsumer(newBroker().open, v, &tt.e, nothing, tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, tt := range []struct {
		name string
		b    func(*broker)
		o    func(*kafka.ConsumerOptions)
		says string // "" for a start
		made string
	}{
		{"no broker", func(b *broker) { b.openErr = errors.New("connection refused") }, nil, "connection refused", ""},
		{"topic missing", func(b *broker) { b.missing = []string{"orders"} }, nil, "no topic orders", ""},
		{"dead letter missing", func(b *broker) { b.missing = []string{"dead"} }, nil, "NoDeadLetterCheck", ""},
		{"dead letter missing and not looked for", func(b *broker) { b.missing = []string{"dead"} }, func(o *kafka.ConsumerOptions) { o.NoDeadLetterCheck = true }, "", ""},
		{"retry topics are made", func(b *broker) { b.missing = []string{"g.retry.4000"} }, func(o *kafka.ConsumerOptions) { o.RetryTopics = true }, "", "g.retry.4000"},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newShelf().Validator()
			defer v.Close()
			b := newBroker()
			tt.b(b)
			c, err := kafka.NewConsumer(b.open, v, any1(), nothing, full(func(o *kafka.ConsumerOptions) {
				if tt.o != nil {
					tt.o(o)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			brief, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err = c.Run(brief)
			if isRefused := brief.Err() == nil; (tt.says == "") != (err == nil) || isRefused != (err != nil) || err != nil && !strings.Contains(err.Error(), tt.says) || strings.Join(b.made, " ") != tt.made {
				t.Errorf("%s: %v, made %v", tt.name, err, b.made)
			}
		})
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		fate kafka.Fate
		is   error
	}{
		{kerr.MessageTooLarge, kafka.TooLarge, validate.ErrPermanent},
		{kerr.UnknownTopicOrPartition, kafka.Unroutable, validate.ErrPermanent},
		{kerr.InvalidTopicException, kafka.Unroutable, validate.ErrPermanent},
		{kerr.TopicAuthorizationFailed, kafka.Refused, validate.ErrPermanent},
		{kerr.ClusterAuthorizationFailed, kafka.Refused, validate.ErrPermanent},
		{kerr.InvalidRecord, kafka.Refused, validate.ErrPermanent},
		{kerr.NotEnoughReplicas, kafka.Nacked, validate.ErrUnavailable},
		{kerr.NotEnoughReplicasAfterAppend, kafka.Unknown, validate.ErrUnavailable},
		{kgo.ErrRecordTimeout, kafka.Unknown, validate.ErrUnavailable},
		{kgo.ErrRecordRetries, kafka.Unknown, validate.ErrUnavailable},
		{kgo.ErrClientClosed, kafka.Unknown, validate.ErrUnavailable},
		{kgo.ErrMaxBuffered, kafka.Unsent, validate.ErrUnavailable},
		{errSilence, kafka.Unknown, validate.ErrUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newShelf().Validator()
			defer v.Close()
			b := newBroker()
			b.answer = func(int, *kgo.Record) error { return tt.err }
			c, err := b.open(ctx, kafka.Group{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := kafka.NewProducer(c, v, validate.Version(orders, 1), kafka.ProducerOptions{})
			if err != nil {
				t.Fatal(err)
			}
			brief, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err = p.Publish(brief, &kgo.Record{Topic: "orders", Value: []byte(`{"id":1}`)})
			var e *kafka.Error
			if !errors.As(err, &e) || e.Fate != tt.fate || !errors.Is(err, tt.is) || e.Topic != "orders" || e.MessageID == "" {
				t.Errorf("%v: %v", tt.err, err)
			}
		})
	}
}
