package amqp10_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

const good = `{"id":1}`

// bench is a consumer at work on a fake broker.
type bench struct {
	b       *fake
	s       *brokertest.Shelf
	handled brokertest.Tally
	events  []amqp10.Handled
}

func (w *bench) actions() string {
	var list []string
	for _, h := range w.events {
		list = append(list, h.MessageID+" "+h.Action.String())
	}
	return strings.Join(list, ", ")
}

func (w *bench) settled() string {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	return strings.Join(w.b.log, ", ")
}

// consume runs f while a consumer runs, in a bubble of time. A nil handler notes
// what it handles.
func consume(t *testing.T, o amqp10.ConsumerOptions, h amqp10.Handler, f func(w *bench)) *bench {
	t.Helper()
	w := &bench{b: &fake{}, s: brokertest.NewShelf(orderV1)}
	synctest.Test(t, func(t *testing.T) {
		v := w.s.Validator()
		defer v.Close()
		if h == nil {
			h = func(_ context.Context, d *amqp10.Delivery) error {
				w.handled.Add(prop(d.Message, "messageId"))
				return nil
			}
		}
		o.Queue, o.Logger = "work", slog.New(slog.DiscardHandler)
		o.Observe = func(h amqp10.Handled) { w.events = append(w.events, h) }
		c, err := amqp10.NewConsumer(w.b.open, v, &validate.Expect{Subject: orders}, h, o)
		if err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- c.Run(running) }()
		synctest.Wait()
		f(w)
		synctest.Wait()
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return w
}

// What is rejected is published to the dead letter and accepted then; what is
// accepted is so after the handler; the link is detached at the end.
func TestConsumer(t *testing.T) {
	t.Parallel()
	w := consume(t, amqp10.ConsumerOptions{}, nil, func(w *bench) {
		w.b.put("m-1", good)
		w.b.put("m-2", `{`)
		w.b.put("m-3", good)
	})
	if got := w.settled(); got != "accept m-1, accept m-2, accept m-3, detach" {
		t.Errorf("settled %s", got)
	}
	if got := w.actions(); got != "m-1 acknowledged, m-2 dead_lettered, m-3 acknowledged" {
		t.Errorf("told %s", got)
	}
	if dead := w.b.published(); len(dead) != 1 || prop(dead[0], "dlqReason") != "payload_unreadable" || !dead[0].Header.Durable || dead[0].Properties.MessageID != nil {
		t.Errorf("%+v", dead)
	}
}

// A dead letter that is not accepted, whatever the broker says, accepts nothing:
// it is tried again, or left to the broker when that is allowed.
func TestDeadLetterNotAccepted(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]amqp.DeliveryState{"released": &amqp.StateReleased{}, "modified": &amqp.StateModified{}, "rejected": &amqp.StateRejected{}} {
		for _, toBroker := range []bool{false, true} {
			w := consume(t, amqp10.ConsumerOptions{BrokerDeadLetter: toBroker}, nil, func(w *bench) {
				w.b.mu.Lock()
				w.b.answer = func(*amqp.Message) (amqp.DeliveryState, error) { return state, nil }
				w.b.mu.Unlock()
				w.b.put("bad", `{`)
				time.Sleep(time.Minute)
			})
			want := "detach"
			if toBroker {
				want = "reject for payload_unreadable: bad, detach"
			}
			if got := w.settled(); got != want {
				t.Errorf("%s: settled %s, want %s", name, got, want)
			}
			if n := len(w.b.published()); !toBroker && (n < 5 || n > 20) {
				t.Errorf("%s: tried %d times within a minute", name, n)
			}
		}
	}
}

// While the registry is away messages are held; after a minute the connection
// ends, and none is made until the message can be judged.
func TestHold(t *testing.T) {
	t.Parallel()
	w := consume(t, amqp10.ConsumerOptions{Prefetch: 3}, nil, func(w *bench) {
		w.s.Fail(schemas.ErrUnreachable)
		for n := range 5 {
			w.b.put(fmt.Sprint(n), good)
		}
		time.Sleep(10 * time.Minute)
		if n := w.b.connections(); n != 2 { // one at the start
			t.Errorf("%d connections while nothing can be judged", n)
		}
		w.s.Fail(nil)
		time.Sleep(time.Minute)
	})
	if got := strings.Join(w.handled.Order(), " "); got != "0 1 2 3 4" || len(w.b.published()) != 0 {
		t.Errorf("handled %s, %d published", got, len(w.b.published()))
	}
}

// A lost connection is made again, and what was not settled comes again. One that
// stops lets its handler end and leaves the rest.
func TestLostConnectionAndStop(t *testing.T) {
	t.Parallel()
	tries := 0
	w := consume(t, amqp10.ConsumerOptions{Prefetch: 5}, func(ctx context.Context, d *amqp10.Delivery) error {
		if prop(d.Message, "messageId") == "first" {
			if tries++; tries == 1 {
				return errors.New("busy")
			}
			return nil
		}
		time.Sleep(10 * time.Second)
		return ctx.Err()
	}, func(w *bench) {
		w.b.put("first", good)
		synctest.Wait()
		w.b.cut()
		time.Sleep(time.Minute)
		for n := range 5 {
			w.b.put(fmt.Sprint(n), good)
		}
		time.Sleep(time.Second)
	})
	if got := w.settled(); got != "accept first, accept 0, detach" || len(w.b.queue) != 4 {
		t.Errorf("settled %s, %d left; told %s", got, len(w.b.queue), w.actions())
	}
}

func TestConsumerRefusesToStart(t *testing.T) {
	t.Parallel()
	v := brokertest.NewShelf(orderV1).Validator()
	t.Cleanup(v.Close)
	for _, tt := range []struct {
		name string
		e    validate.Expect
		o    amqp10.ConsumerOptions
		says string
	}{
		{"no queue", validate.Expect{}, amqp10.ConsumerOptions{}, "Queue"},
		{"its own dead letter", validate.Expect{}, amqp10.ConsumerOptions{Queue: "work", DeadLetter: "work"}, "come again"},
		{"an order that cannot be kept", validate.Expect{}, amqp10.ConsumerOptions{Queue: "work", Keyed: true, ScheduledRetries: true}, "exclude"},
		{"retries of what may be lost", validate.Expect{}, amqp10.ConsumerOptions{Queue: "work", LossAcceptable: "presence", ScheduledRetries: true}, "exclude"},
		{"an expectation that does not fit", validate.Expect{Assume: 1}, amqp10.ConsumerOptions{Queue: "work"}, "Subject"},
	} {
		if _, err := amqp10.NewConsumer((&fake{}).open, v, &tt.e, nil, tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, tt := range []struct {
		name string
		b    *fake
		o    amqp10.ConsumerOptions
		says string
	}{
		{"no broker", &fake{refuse: errNoBroker}, amqp10.ConsumerOptions{Queue: "work"}, "refused"},
		{"no such queue", &fake{}, amqp10.ConsumerOptions{Queue: "nowhere"}, "no such queue"},
		{"no such dead letter", &fake{}, amqp10.ConsumerOptions{Queue: "work", DeadLetter: "nowhere"}, "NoDeadLetterCheck"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, err := amqp10.NewConsumer(tt.b.open, v, &validate.Expect{}, nil, tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), tt.says) || tt.b.connections() != 3 {
				t.Errorf("%s: %v after %d tries", tt.name, err, tt.b.connections())
			}
		})
	}
}

// produce runs f with a producer on a fake broker, in a bubble of time.
func produce(t *testing.T, b *fake, o amqp10.ProducerOptions, f func(p *amqp10.Producer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := brokertest.NewShelf(orderV1).Validator()
		defer v.Close()
		p := amqp10.NewProducer(b.open, v, validate.Version(orders, 1), o)
		f(p)
		if err := p.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := p.Publish(ctx, "work", message(good)); !errors.Is(err, amqp10.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestProducer(t *testing.T) {
	t.Parallel()
	b := &fake{}
	produce(t, b, amqp10.ProducerOptions{MessageIDProperty: true}, func(p *amqp10.Producer) {
		m := message(good)
		group := "k"
		m.Properties = &amqp.MessageProperties{MessageID: amqp.UUID{1}, GroupID: &group}
		if err := p.Publish(ctx, "work", m); err != nil {
			t.Fatal(err)
		}
		for name, m := range map[string]*amqp.Message{"a list": message(good, "a", []string{"b"}), "a sequence": {Sequence: [][]any{{1}}}, "a number": {Value: int64(7)}} {
			var e *amqp10.Error
			if err := p.Publish(ctx, "work", m); !errors.As(err, &e) || e.Fate != amqp10.Refused {
				t.Errorf("%s: %v", name, err)
			}
		}
		var e *amqp10.Error
		if err := p.Publish(ctx, "nowhere", message(good)); !errors.As(err, &e) || e.Fate != amqp10.Unroutable {
			t.Errorf("no such address: %v", err)
		}
		b.cut()
		if err := p.Publish(ctx, "work", message(good)); err != nil {
			t.Errorf("a line that is cut: %v", err)
		}
	})
	sent := b.published()
	if len(sent) != 2 {
		t.Fatalf("%d sent", len(sent))
	}
	id := "01000000-0000-0000-0000-000000000000"
	if m := sent[0]; prop(m, "messageId") != id || m.Properties.MessageID != id || prop(m, "messageKey") != "k" || prop(m, "schemaVersion") != "1" || !m.Header.Durable {
		t.Errorf("%+v %v", m.Properties, m.ApplicationProperties)
	}
	gone := &fake{refuse: errNoBroker}
	produce(t, gone, amqp10.ProducerOptions{}, func(p *amqp10.Producer) {
		brief, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		var e *amqp10.Error
		if err := p.Publish(brief, "work", message(good)); !errors.As(err, &e) || e.Fate != amqp10.Unsent || !errors.Is(err, errNoBroker) {
			t.Errorf("no broker: %v", err)
		}
		if n := gone.connections(); n < 300 || n > 400 {
			t.Errorf("it was asked %d times within an hour", n)
		}
	})
}
