package rabbitmq_test

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// openedWith is connectWith, for tests of the workshop that register themselves.
func openedWith(args amqp.Table) brokertest.Opened {
	return func(t *testing.T) (brokertest.Away, *brokertest.Registry) {
		t.Helper()
		r := connectWith(t, args)
		return r, r.registry
	}
}

// withOrders is connect, as the tests of the workshop need it: a queue that one
// consumer has at a time, since a broker that does not know yet that one is gone
// would hand the next one what comes behind.
func withOrders(t *testing.T) brokertest.Place {
	t.Helper()
	r := connectWith(t, amqp.Table{"x-single-active-consumer": true})
	r.registry.RegisterOrders()
	t.Cleanup(func() {
		ch := r.channel()
		defer ch.Close()
		for _, ms := range []string{"2000", "4000", "8000", "16000"} {
			_, _ = ch.QueueDelete(r.queue+".retry."+ms, false, false, false)
		}
	})
	return r
}

// Part is where a part works.
func (r *real) Part() brokertest.Part {
	return brokertest.Part{Registry: r.registry.URL(), Address: r.url, Queue: r.queue, Dead: r.dead}
}

// Put publishes messages.
func (r *real) Put(list ...brokertest.Message) {
	r.t.Helper()
	all := make([]amqp.Publishing, 0, len(list))
	for _, m := range list {
		one := amqp.Publishing{MessageId: m.ID, Headers: amqp.Table{"messageId": m.ID}, Body: []byte(m.Body)}
		for _, h := range m.Stamps() {
			one.Headers[h[0]] = h[1]
		}
		if m.Key != "" {
			one.Headers["messageKey"] = m.Key
		}
		all = append(all, one)
	}
	r.put(all...)
}

// Lying is what is in the queue.
func (r *real) Lying() []brokertest.Message { return messagesOf(r.look(r.queue)) }

// Dead is what was set aside.
func (r *real) Dead() []brokertest.Message { return messagesOf(r.look(r.dead)) }

func messagesOf(list []amqp.Delivery) (out []brokertest.Message) {
	text := func(d *amqp.Delivery, name string) string {
		text, _ := d.Headers[name].(string)
		return text
	}
	for i := range list {
		d := &list[i]
		out = append(out, brokertest.Message{ID: d.MessageId, Key: text(d, "messageKey"), Body: string(d.Body), Reason: text(d, "dlqReason"), Error: text(d, "dlqError")})
	}
	return out
}

// IsDone tells that the queue is empty.
func (r *real) IsDone(int) bool { return r.depth(r.queue) == 0 }

// Publisher publishes messages.
func (r *real) Publisher(v *validate.Validator, pin validate.Pin) func(ctx context.Context, m brokertest.Message) error {
	r.v = v
	p := r.producer(pin)
	return func(ctx context.Context, m brokertest.Message) error {
		return p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: m.ID, Body: []byte(m.Body)})
	}
}

// Consume hands messages on.
func (r *real) Consume(v *validate.Validator, e *validate.Expect, handle func(brokertest.Judged)) {
	r.t.Helper()
	r.v = v
	r.consumer(e, func(_ context.Context, d *rabbitmq.Delivery) error {
		handle(brokertest.Judged{ID: d.Message.MessageId, IsRedelivered: d.Message.Redelivered, Outcome: d.Outcome})
		return nil
	}, rabbitmq.ConsumerOptions{HoldFor: time.Second})
}

// openPart opens channels that die where the part dies.
func openPart(p *brokertest.Part) rabbitmq.Open {
	address := p.Address
	if u, err := url.Parse(address); err == nil && p.Through != "" {
		u.Host = p.Through
		address = u.String()
	}
	config := amqp.Config{}
	if p.IsAlert {
		config = amqp.Config{Heartbeat: time.Second, Dial: amqp.DefaultDial(3 * time.Second)}
	}
	conn := rabbitmq.Connect(address, config)
	return func(ctx context.Context) (rabbitmq.Channel, error) {
		ch, err := conn.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &dying{Channel: ch, p: p}, nil
	}
}

// dying is a channel on which the process dies around one message.
type dying struct {
	rabbitmq.Channel
	p      *brokertest.Part
	isNext bool // the message was published, and the next confirm is its
}

func (d *dying) PublishWithContext(ctx context.Context, exchange, key string, mandatory, immediate bool, msg amqp.Publishing) error {
	isIt := msg.MessageId == d.p.Message
	if isIt {
		d.p.At("handed over", msg.MessageId)
		d.isNext = true
	}
	err := d.Channel.PublishWithContext(ctx, exchange, key, mandatory, immediate, msg)
	if isIt {
		d.p.At("on its way", msg.MessageId)
	}
	return err
}

// NotifyPublish hands confirms on, but for the one at which the process dies.
func (d *dying) NotifyPublish(confirm chan amqp.Confirmation) chan amqp.Confirmation {
	if d.p.Step != "answered" {
		return d.Channel.NotifyPublish(confirm)
	}
	in := d.Channel.NotifyPublish(make(chan amqp.Confirmation, cap(confirm)))
	go func() {
		defer close(confirm)
		for c := range in {
			if d.isNext {
				d.p.At("answered", d.p.Message)
			}
			confirm <- c
		}
	}()
	return confirm
}

func consumePart(ctx context.Context, p *brokertest.Part, v *validate.Validator) error {
	c, err := rabbitmq.NewConsumer(openPart(p), v, &validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		key, _ := d.Message.Headers["messageKey"].(string)
		return p.Handle(key, d.Message.MessageId, d.Attempt)
	}, rabbitmq.ConsumerOptions{
		Queue: p.Queue, DeadLetter: rabbitmq.Destination{Key: p.Dead}, Keyed: !p.Leaves, RetryQueues: p.Leaves, Workers: 4, Prefetch: 20,
		Logger: slog.New(slog.DiscardHandler), Observe: p.Settled,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func producePart(_ context.Context, p *brokertest.Part, v *validate.Validator) (publish func(ctx context.Context, key, id string) error, end func(), err error) {
	producer := rabbitmq.NewProducer(openPart(p), v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
	return func(ctx context.Context, key, id string) error {
		return producer.Publish(ctx, "", p.Queue, amqp.Publishing{MessageId: id, Headers: amqp.Table{"messageKey": key}, Body: []byte(`{"id":1}`)})
	}, func() { _ = producer.Close(context.Background()) }, nil
}
