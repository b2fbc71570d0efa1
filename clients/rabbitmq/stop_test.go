package rabbitmq_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

func TestLostChannel(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.deliver(order(1, 1))
		synctest.Wait()
		for _, c := range w.b.channels {
			c.end(&amqp.Error{Code: 320, Server: true})
		}
		time.Sleep(time.Minute)
		w.b.deliver(order(1, 2))
		synctest.Wait()
	})
	if got := strings.Join(w.ids(), " "); got != "m-1 m-2" {
		t.Errorf("handled %s", got)
	}
}

// A message that is held on a channel that is gone is let go at once: the broker
// hands it out again.
func TestLostChannelWhileHolding(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.s.Fail(schemas.ErrUnreachable)
		w.b.deliver(order(1, 1))
		time.Sleep(time.Second)
		before := w.b.opened()
		for _, c := range w.b.channels {
			c.end(&amqp.Error{Code: 320, Server: true})
		}
		time.Sleep(5 * time.Second)
		if w.b.opened() == before {
			t.Error("no new channel while the old one's message is held")
		}
		w.s.Fail(nil)
		w.b.deliver(order(1, 1))
		time.Sleep(time.Minute)
	})
	if got := strings.Join(w.ids(), " "); got != "m-1" {
		t.Errorf("handled %s", got)
	}
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	var ended error
	w := consume(t, any1(), rabbitmq.ConsumerOptions{Workers: 2}, func(ctx context.Context, d *rabbitmq.Delivery) error {
		if d.Message.MessageId == "m-1" {
			time.Sleep(10 * time.Second)
			ended = ctx.Err()
		}
		return nil
	}, func(w *bench) {
		w.b.deliver(order(1, 1))
		w.b.deliver(order(1, 2))
		time.Sleep(time.Second)
	})
	if got := strings.Join(w.b.settled(), " "); got != "ack cancel ack close" || ended != nil {
		t.Errorf("settled %s; the handler's context: %v", got, ended)
	}
}

func TestHandlerThatDoesNotStop(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{Drain: 5 * time.Second}, func(ctx context.Context, _ *rabbitmq.Delivery) error {
		<-ctx.Done()
		return ctx.Err()
	}, func(w *bench) {
		w.b.deliver(order(1, 1))
		time.Sleep(time.Second)
	})
	if got := strings.Join(w.b.settled(), " "); got != "cancel close" {
		t.Errorf("settled %s", got)
	}
}

func TestConsumerRefusesToStart(t *testing.T) {
	t.Parallel()
	v := brokertest.NewShelf(orderV1, orderV2).Validator()
	t.Cleanup(v.Close)
	dead := rabbitmq.Destination{Key: "dead"}
	nothing := func(context.Context, *rabbitmq.Delivery) error { return nil }
	for _, tt := range []struct {
		name string
		e    validate.Expect
		o    rabbitmq.ConsumerOptions
		says string
	}{
		{"no queue", validate.Expect{}, rabbitmq.ConsumerOptions{DeadLetter: dead}, "Queue"},
		{"no dead letter", validate.Expect{}, rabbitmq.ConsumerOptions{Queue: "work"}, "DeadLetter"},
		{"an expectation that does not fit", validate.Expect{Assume: 1}, rabbitmq.ConsumerOptions{Queue: "work", DeadLetter: dead}, "Subject"},
	} {
		if _, err := rabbitmq.NewConsumer(newBroker().open, v, &tt.e, nothing, tt.o); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	gone := newBroker()
	gone.openErr = errors.New("connection refused")
	for _, tt := range []struct {
		name string
		b    *broker
		o    rabbitmq.ConsumerOptions
	}{
		{"no broker", gone, rabbitmq.ConsumerOptions{Queue: "work", DeadLetter: dead}},
		{"queue missing", newBroker(), rabbitmq.ConsumerOptions{Queue: "missing", DeadLetter: dead}},
		{"dead letter's queue missing", newBroker(), rabbitmq.ConsumerOptions{Queue: "work", DeadLetter: rabbitmq.Destination{Key: "missing"}}},
		{"dead letter's exchange missing", newBroker(), rabbitmq.ConsumerOptions{Queue: "work", DeadLetter: rabbitmq.Destination{Exchange: "missing"}}},
	} {
		c, err := rabbitmq.NewConsumer(tt.b.open, v, any1(), nothing, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err == nil {
			t.Errorf("%s: Run answers nil", tt.name)
		}
	}
}

// The channel is lost between the publish of the dead letter and the ack: the
// message comes again and is in the dead letter twice, under one id.
func TestDeadLetteredAndNotAcknowledged(t *testing.T) {
	t.Parallel()
	bad := order(1, 1)
	bad.Body = []byte(`{`)
	w := consume(t, any1(), rabbitmq.ConsumerOptions{}, nil, func(w *bench) {
		w.b.mu.Lock()
		w.b.ackErr = amqp.ErrClosed
		w.b.mu.Unlock()
		w.b.deliver(bad)
		synctest.Wait()
		w.b.mu.Lock()
		w.b.ackErr = nil
		w.b.mu.Unlock()
		w.b.deliver(bad)
		synctest.Wait()
	})
	log := w.b.published()
	if len(log) != 2 || log[0].msg.MessageId != "m-1" || log[1].msg.MessageId != "m-1" {
		t.Errorf("%d dead letters", len(log))
	}
	if events := w.settled(); !errors.Is(events[0].Err, amqp.ErrClosed) || events[1].Action != rabbitmq.DeadLettered {
		t.Errorf("%+v", events)
	}
}
