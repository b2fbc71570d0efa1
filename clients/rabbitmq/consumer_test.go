package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
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
	events  []rabbitmq.Handled
}

func (w *bench) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.handled...)
}

func (w *bench) settled() []rabbitmq.Handled {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]rabbitmq.Handled(nil), w.events...)
}

// consume runs a consumer in a bubble of time while f plays with it, then stops
// it. h decides about each message; nil takes all.
func consume(t *testing.T, e *validate.Expect, o rabbitmq.ConsumerOptions, h rabbitmq.Handler, f func(w *bench)) *bench {
	t.Helper()
	w := &bench{s: brokertest.NewShelf(orderV1, orderV2)}
	synctest.Test(t, func(t *testing.T) {
		w.b = newBroker()
		v := w.s.Validator()
		defer v.Close()
		if o.Queue == "" {
			o.Queue = "work"
		}
		if o.DeadLetter == (rabbitmq.Destination{}) {
			o.DeadLetter = rabbitmq.Destination{Exchange: "dead", Key: "work"}
		}
		o.Logger = slog.New(slog.DiscardHandler)
		o.Name = "test"
		o.Observe = func(one rabbitmq.Handled) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, one)
		}
		handler := func(ctx context.Context, d *rabbitmq.Delivery) error {
			if h != nil {
				if err := h(ctx, d); err != nil {
					return err
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.handled = append(w.handled, d.Message.MessageId)
			return nil
		}
		c, err := rabbitmq.NewConsumer(w.b.open, v, e, handler, o)
		if err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- c.Run(running) }()
		f(w)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return w
}

func any1() *validate.Expect { return &validate.Expect{Subject: orders} }

func TestAccepted(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		for n := range 10 {
			w.b.deliver(order(1+n%2, n))
		}
		synctest.Wait()
	})
	if got := strings.Join(w.ids(), " "); got != "m-0 m-1 m-2 m-3 m-4 m-5 m-6 m-7 m-8 m-9" {
		t.Errorf("handled %s", got)
	}
	if got := count(w.b.settled()); got != "ack 10 cancel 1" {
		t.Errorf("settled %s", got)
	}
	e := w.settled()[0]
	if e.Action != rabbitmq.Acknowledged || e.Attempts != 1 || e.Outcome.Version != 1 || e.MessageID != "m-0" || e.Received.IsZero() || e.Started.IsZero() || e.Finished.IsZero() || e.Settled.IsZero() || e.Bytes == 0 {
		t.Errorf("%+v", e)
	}
}

func count(list []string) string {
	n := map[string]int{}
	var names []string
	for _, s := range list {
		if s == "close" {
			continue
		}
		if n[s] == 0 {
			names = append(names, s)
		}
		n[s]++
	}
	out := ""
	for _, s := range names {
		out += fmt.Sprintf("%s %d ", s, n[s])
	}
	return strings.TrimSpace(out)
}

func TestRejectedGoesToTheDeadLetter(t *testing.T) {
	t.Parallel()
	bad := order(1, 1)
	bad.Body = []byte(`{"id":"x"}`)
	bad.CorrelationId, bad.Expiration, bad.UserId = "c", "5000", "somebody"
	bad.Headers["x-list"] = []any{int32(1), "a"}
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.deliver(bad)
		synctest.Wait()
	})
	if got := count(w.b.settled()); got != "ack 1 cancel 1" || len(w.ids()) != 0 {
		t.Errorf("settled %s, handled %s", got, w.ids())
	}
	log := w.b.published()
	if len(log) != 1 || log[0].exchange != "dead" || log[0].key != "work" {
		t.Fatalf("%+v", log)
	}
	msg := log[0].msg
	if string(msg.Body) != `{"id":"x"}` || msg.MessageId != "m-1" || msg.CorrelationId != "c" || msg.Expiration != "" || msg.UserId != "" || msg.DeliveryMode != amqp.Persistent {
		t.Errorf("%+v", msg)
	}
	for name, want := range map[string]any{
		"schemaVersion": "1", "x-list": []any{int32(1), "a"}, "dlqReason": "payload_invalid", "dlqClass": "permanent", "dlqAttempts": "1",
		"dlqOriginalDestination": "orders", "dlqOriginalRoutingKey": "order.placed", "dlqOriginalQueue": "work", "dlqConsumer": "test", "dlqExpected": "orders-value any",
	} {
		if d := cmp.Diff(want, msg.Headers[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if detail, _ := msg.Headers["dlqDetail"].(string); !strings.Contains(detail, "/id") {
		t.Errorf("dlqDetail %q", detail)
	}
	if e := w.settled()[0]; e.Action != rabbitmq.DeadLettered || e.Reason != validate.PayloadInvalid {
		t.Errorf("%+v", e)
	}
}

func TestPassIsSkipped(t *testing.T) {
	t.Parallel()
	e := &validate.Expect{Subject: orders, Pass: []validate.Reason{validate.HeaderMissing}}
	w := consume(t, e, rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.deliver(amqp.Delivery{Body: []byte(`{}`)})
		synctest.Wait()
	})
	if got := count(w.b.settled()); got != "ack 1 cancel 1" || len(w.b.published()) != 0 || len(w.ids()) != 0 || w.settled()[0].Action != rabbitmq.Skipped {
		t.Errorf("settled %s, published %d, handled %s", got, len(w.b.published()), w.ids())
	}
}

// While the registry is away nothing is handed out again, nothing is set aside,
// and the order stays.
func TestOutageHolds(t *testing.T) {
	t.Parallel()
	for _, err := range []error{schemas.ErrUnreachable, schemas.ErrRefused, schemas.ErrUnintelligible} {
		t.Run(err.Error(), func(t *testing.T) {
			t.Parallel()
			w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
				w.s.Fail(err)
				for n := range 10 {
					w.b.deliver(order(1, n))
				}
				time.Sleep(30 * time.Second)
				if got := w.b.settled(); len(got) != 0 {
					t.Errorf("in the outage: %s", count(got))
				}
				w.s.Fail(nil)
				time.Sleep(time.Minute)
			})
			if got := strings.Join(w.ids(), " "); got != "m-0 m-1 m-2 m-3 m-4 m-5 m-6 m-7 m-8 m-9" {
				t.Errorf("handled %s", got)
			}
			if got := count(w.b.settled()); got != "ack 10 cancel 1" || len(w.b.published()) != 0 {
				t.Errorf("settled %s, %d set aside", got, len(w.b.published()))
			}
		})
	}
}

// A long outage: the consumer lets go once, asks without consuming, and takes up
// work again by itself.
func TestLongOutagePauses(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.s.Fail(schemas.ErrUnreachable)
		w.b.deliver(order(1, 1))
		time.Sleep(time.Hour)
		if got := strings.Join(w.b.settled(), " "); got != "cancel close" {
			t.Errorf("first no more come, then it goes back, once: %s", got)
		}
		w.s.Fail(nil)
		time.Sleep(time.Minute)
		w.b.deliver(order(1, 1)) // the broker hands it out again
		synctest.Wait()
	})
	if got := strings.Join(w.b.settled(), " "); got != "cancel close ack cancel close" || len(w.ids()) != 1 || len(w.b.published()) != 0 {
		t.Errorf("settled %s, handled %s", got, w.ids())
	}
}

func TestUnknownVersionIsHeldThenSetAside(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.deliver(order(9, 1))
		w.b.deliver(order(1, 2))
		time.Sleep(25 * time.Second)
		if n := len(w.b.published()); n != 0 {
			t.Errorf("%d set aside within the grace", n)
		}
		time.Sleep(20 * time.Second)
	})
	log := w.b.published()
	if len(log) != 1 || log[0].msg.Headers["dlqReason"] != "version_unknown" || strings.Join(w.ids(), " ") != "m-2" {
		t.Errorf("set aside %+v, handled %s", log, w.ids())
	}
}

func TestHandlerErrors(t *testing.T) {
	t.Parallel()
	errTransient := errors.New("the database is busy")
	for _, tt := range []struct {
		name     string
		o        rabbitmq.ConsumerOptions
		handler  func(attempt int) error
		settled  string
		reason   any // dlqReason, nil for none
		attempts int
		headers  map[string]string // parts of the dead letter's headers
	}{
		{"once", rabbitmq.ConsumerOptions{}, func(a int) error {
			if a == 1 {
				return errTransient
			}
			return nil
		}, "ack 1", nil, 2, nil},
		{
			"until attempts are used up",
			rabbitmq.ConsumerOptions{},
			func(int) error { return errTransient }, "ack 1", "attempts_exhausted", 6,
			map[string]string{"dlqClass": "exhausted", "dlqAttempts": "6", "dlqError": "the database is busy", "dlqTrace": "*errors.errorString: the database is busy"},
		},
		{"three attempts", rabbitmq.ConsumerOptions{Retry: retry.Policy{Attempts: 3}}, func(int) error { return errTransient }, "ack 1", "attempts_exhausted", 3, nil},
		{
			"rejected",
			rabbitmq.ConsumerOptions{},
			func(int) error { return rabbitmq.Reject(errors.New("no such customer")) }, "ack 1", "handler_rejected", 1,
			map[string]string{"dlqClass": "permanent", "dlqError": "no such customer"},
		},
		{"wrapped rejection", rabbitmq.ConsumerOptions{}, func(int) error { return fmt.Errorf("bill: %w", rabbitmq.Reject(errTransient)) }, "ack 1", "handler_rejected", 1, nil},
		{"panics once", rabbitmq.ConsumerOptions{}, func(a int) error {
			if a == 1 {
				panic("oops")
			}
			return nil
		}, "ack 1", nil, 2, nil},
		{
			"panics again",
			rabbitmq.ConsumerOptions{},
			func(int) error { panic("oops") }, "ack 1", "handler_panicked", 2,
			map[string]string{"dlqError": "oops", "dlqTrace": "goroutine"},
		},
		{"retry asked for later", rabbitmq.ConsumerOptions{}, func(a int) error {
			if a == 1 {
				return rabbitmq.Retry(errTransient, 40*time.Second)
			}
			return nil
		}, "ack 1", nil, 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			attempts := 0
			w := consume(t, any1(), tt.o, func(_ context.Context, d *rabbitmq.Delivery) error {
				if attempts++; d.Attempt != attempts {
					t.Errorf("attempt %d, want %d", d.Attempt, attempts)
				}
				return tt.handler(d.Attempt)
			}, func(w *bench) {
				w.b.deliver(order(1, 1))
				time.Sleep(3 * time.Minute)
			})
			if got := strings.TrimSuffix(count(w.b.settled()), " cancel 1"); got != tt.settled || attempts != tt.attempts {
				t.Errorf("settled %s after %d attempts, want %s after %d", got, attempts, tt.settled, tt.attempts)
			}
			log := w.b.published()
			if tt.reason == nil {
				if len(log) != 0 {
					t.Errorf("set aside: %v", log[0].msg.Headers)
				}
				return
			}
			if len(log) != 1 || log[0].msg.Headers["dlqReason"] != tt.reason {
				t.Fatalf("%+v", log)
			}
			for name, part := range tt.headers {
				if got, _ := log[0].msg.Headers[name].(string); !strings.Contains(got, part) {
					t.Errorf("%s = %q, want %q in it", name, got, part)
				}
			}
		})
	}
}

func TestRetryQueues(t *testing.T) {
	t.Parallel()
	o := rabbitmq.ConsumerOptions{RetryQueues: true}
	fails := true
	w := consume(t, &validate.Expect{Subject: validate.ByDestination()}, o, func(context.Context, *rabbitmq.Delivery) error {
		if fails {
			return errors.New("busy")
		}
		return nil
	}, func(w *bench) {
		w.b.deliver(order(1, 1))
		time.Sleep(10 * time.Second)
		log := w.b.published()
		if len(log) != 1 || log[0].exchange != "" || log[0].key != "work.retry.2000" {
			t.Fatalf("%+v", log)
		}
		msg := log[0].msg
		if msg.Headers["dlqOriginalQueue"] != "work" || msg.Headers["dlqFirstFailedAt"] == nil {
			t.Errorf("%v", msg.Headers)
		}
		if msg.Headers["retryAttempts"] != "2" || msg.Headers["dlqOriginalDestination"] != "orders" || msg.Headers["dlqOriginalRoutingKey"] != "order.placed" {
			t.Errorf("%v", msg.Headers)
		}
		if ms := msg.Expiration; len(ms) != 4 || ms < "1500" || ms > "2000" {
			t.Errorf("expiration %s ms, want 1500 to 2000", ms)
		}
		fails = false
		// It expires there and comes back by the default exchange.
		w.b.deliver(amqp.Delivery{RoutingKey: "work", MessageId: msg.MessageId, Headers: msg.Headers, Body: msg.Body})
		synctest.Wait()
	})
	got := count(w.b.settled())
	if want := "declare work.retry.2000 1 declare work.retry.4000 1 declare work.retry.8000 1 declare work.retry.16000 1 ack 2 cancel 1"; got != want {
		t.Errorf("settled %s, want %s", got, want)
	}
	events := w.settled()
	if events[0].Action != rabbitmq.Delayed || events[1].Action != rabbitmq.Acknowledged || events[1].Attempts != 3 {
		t.Errorf("%+v", events)
	}
}

func TestDeadLetterThatCannotBePublished(t *testing.T) {
	t.Parallel()
	bad := order(1, 1)
	bad.Body = []byte(`{`)
	t.Run("the queue has its own", func(t *testing.T) {
		t.Parallel()
		w := consume(t, any1(), rabbitmq.ConsumerOptions{QueueHasDLX: true}, nil, func(w *bench) {
			w.b.answer = func(int, published) string { return "return" }
			w.b.deliver(bad)
			time.Sleep(time.Second)
		})
		if got := count(w.b.settled()); got != "nack 1 cancel 1" || w.settled()[0].Action != rabbitmq.LeftToBroker {
			t.Errorf("settled %s", got)
		}
	})
	t.Run("otherwise it is held, and never acknowledged", func(t *testing.T) {
		t.Parallel()
		works := false
		w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
			w.b.answer = func(int, published) string {
				if works {
					return "ack"
				}
				return "return"
			}
			w.b.deliver(bad)
			time.Sleep(time.Hour)
			if got := w.b.settled(); len(got) != 0 {
				t.Errorf("settled %s", count(got))
			}
			w.b.mu.Lock()
			works = true
			w.b.mu.Unlock()
			time.Sleep(time.Minute)
		})
		if got := count(w.b.settled()); got != "ack 1 cancel 1" {
			t.Errorf("settled %s", got)
		}
	})
}

func TestLargeDeadLetterFitsAFrame(t *testing.T) {
	t.Parallel()
	big := order(1, 1)
	big.Headers["big"] = strings.Repeat("x", 110_000)
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, func(context.Context, *rabbitmq.Delivery) error {
		return rabbitmq.Reject(errors.New(strings.Repeat("e", 1<<20)))
	}, func(w *bench) {
		w.b.deliver(big)
		time.Sleep(time.Second)
	})
	log := w.b.published()
	if len(log) != 1 {
		t.Fatalf("%d messages", len(log))
	}
	size := 0
	for name, value := range log[0].msg.Headers {
		if text, ok := value.(string); ok {
			size += len(name) + len(text) + 6
		}
	}
	if size > 131_064 || log[0].msg.Headers["dlqReason"] != "handler_rejected" {
		t.Errorf("%d bytes of headers, reason %v", size, log[0].msg.Headers["dlqReason"])
	}
}
