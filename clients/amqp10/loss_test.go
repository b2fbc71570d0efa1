package amqp10_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Where losses are acceptable a producer waits for no outcome, and asks for nothing
// to be kept. What is refused before it is sent is refused all the same.
func TestProducerThatMayLose(t *testing.T) {
	t.Parallel()
	b := &fake{answer: func(*amqp.Message) (amqp.DeliveryState, error) { return &amqp.StateRejected{}, nil }}
	produce(t, b, amqp10.ProducerOptions{LossAcceptable: "presence"}, func(p *amqp10.Producer) {
		if err := p.Publish(ctx, "work", message("{}")); !errors.Is(err, validate.ErrPermanent) || b.connections() != 0 {
			t.Errorf("invalid: %v", err)
		}
		kept := message(good)
		kept.Header = &amqp.MessageHeader{Durable: true}
		for _, m := range []*amqp.Message{message(good), kept} {
			if err := p.Publish(ctx, "work", m); err != nil {
				t.Error(err)
			}
		}
		var e *amqp10.Error
		if err := p.Publish(ctx, "nowhere", message(good)); !errors.As(err, &e) || e.Fate != amqp10.Unroutable {
			t.Errorf("no such address: %v", err)
		}
	})
	sent := b.published()
	if len(sent) != 2 {
		t.Fatalf("%d sent", len(sent))
	}
	for i, m := range sent {
		if m.Header.Durable != (i == 1) || prop(m, "schemaVersion") != "1" {
			t.Errorf("message %d: %+v %v", i, m.Header, m.ApplicationProperties)
		}
	}
}

// What was sent settled before Close is at the broker, unless something fails.
func TestRealProducerThatMayLose(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	p := amqp10.NewProducer(r.open, r.v, validate.Version(orders, 1), amqp10.ProducerOptions{LossAcceptable: "presence"})
	const n = 200
	for i := range n {
		if err := p.Publish(ctx, r.queue, amqp.NewMessage(fmt.Appendf(nil, `{"id":%d}`, i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	brokertest.Await(t, "all are there", func() bool { return r.depth(r.queue) == n })
	if m := r.take(r.queue); m.Header.Durable || prop(m, "schemaVersion") != "1" || prop(m, "messageId") == "" {
		t.Errorf("%+v %v", m.Header, m.ApplicationProperties)
	}
}

// Where losses are acceptable a message is accepted before the work, which is done
// once.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	before, handled := "", 0
	var w *bench
	told := consume(t, amqp10.ConsumerOptions{LossAcceptable: "presence"}, func(context.Context, *amqp10.Delivery) error {
		before = w.settled()
		handled++
		return errors.New("busy")
	}, func(b *bench) {
		w = b
		b.b.put("m-1", good)
	})
	if got := told.actions(); before != "accept m-1" || got != "m-1 lost" || handled != 1 {
		t.Errorf("settled %q before the work, told %s, handled %d times", before, got, handled)
	}
}
