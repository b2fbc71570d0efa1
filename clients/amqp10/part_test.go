package amqp10_test

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Part is where a part works.
func (r *real) Part() brokertest.Part {
	return brokertest.Part{Registry: r.registry.URL(), Address: r.address, Queue: r.queue}
}

// Put publishes messages, of one group each key.
func (r *real) Put(list ...brokertest.Message) {
	r.t.Helper()
	all := make([]*amqp.Message, 0, len(list))
	for _, m := range list {
		one := message(m.Body, "messageId", m.ID)
		for _, h := range m.Stamps() {
			one.ApplicationProperties[h[0]] = h[1]
		}
		if m.Key != "" {
			one.ApplicationProperties["messageKey"] = m.Key
			one.Properties = &amqp.MessageProperties{GroupID: &m.Key}
		}
		all = append(all, one)
	}
	r.put(all...)
}

// Lying is what is in the queue.
func (r *real) Lying() []brokertest.Message { return messagesOf(r.look(r.queue)) }

// Dead is what was set aside.
func (r *real) Dead() []brokertest.Message { return messagesOf(r.look(r.dead)) }

func messagesOf(list []*frame.Frame) (out []brokertest.Message) {
	for _, f := range list {
		out = append(out, brokertest.Message{ID: f.Header.Get("messageId"), Key: f.Header.Get("messageKey"), Body: string(f.Body), Reason: f.Header.Get("dlqReason"), Error: f.Header.Get("dlqError")})
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
		return p.Publish(ctx, r.queue, message(m.Body, "messageId", m.ID))
	}
}

// Consume hands messages on.
func (r *real) Consume(v *validate.Validator, e *validate.Expect, handle func(brokertest.Judged)) {
	r.t.Helper()
	r.v = v
	r.consumer(e, func(_ context.Context, d *amqp10.Delivery) error {
		isRedelivered := d.Message.Header != nil && d.Message.Header.DeliveryCount > 0
		handle(brokertest.Judged{ID: prop(d.Message, "messageId"), IsRedelivered: isRedelivered, Outcome: d.Outcome})
		return nil
	}, amqp10.ConsumerOptions{HoldFor: time.Second})
}

// openPart is a connection that dies where the part dies.
func openPart(p *brokertest.Part) amqp10.Open {
	address := p.Address
	if u, err := url.Parse(address); err == nil && p.Through != "" {
		u.Host = p.Through
		address = u.String()
	}
	o, limit := amqp.ConnOptions{}, time.Minute
	if p.IsAlert {
		o.IdleTimeout, limit = 2*time.Second, 3*time.Second
	}
	open := amqp10.Connect(address, o)
	return func(ctx context.Context) (amqp10.Conn, error) {
		brief, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		c, err := open(brief)
		if err != nil {
			return nil, err
		}
		return &dying{Conn: c, p: p}, nil
	}
}

// dying is a connection on which the process dies around one message's transfer.
type dying struct {
	amqp10.Conn
	p *brokertest.Part
}

func (d *dying) NewSender(ctx context.Context, address string) (amqp10.Sender, error) {
	s, err := d.Conn.NewSender(ctx, address)
	return &dyingSender{s, d.p}, err
}

type dyingSender struct {
	amqp10.Sender
	p *brokertest.Part
}

func (s *dyingSender) Send(ctx context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	id := prop(m, "messageId")
	s.p.At("handed over", id)
	if s.p.Step == "on its way" && s.p.Message == id {
		time.AfterFunc(2*time.Millisecond, brokertest.Die)
	}
	state, err := s.Sender.Send(ctx, m)
	s.p.At("answered", id)
	return state, err
}

func consumePart(ctx context.Context, p *brokertest.Part, v *validate.Validator) error {
	c, err := amqp10.NewConsumer(openPart(p), v, &validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
		return p.Handle(prop(d.Message, "messageKey"), prop(d.Message, "messageId"), d.Attempt)
	}, amqp10.ConsumerOptions{
		Queue: p.Queue, Keyed: !p.Leaves, ScheduledRetries: p.Leaves, Workers: 4, Prefetch: 20, Logger: slog.New(slog.DiscardHandler), Observe: p.Settled,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func producePart(_ context.Context, p *brokertest.Part, v *validate.Validator) (publish func(ctx context.Context, key, id string) error, end func(), err error) {
	producer := amqp10.NewProducer(openPart(p), v, validate.Version(orders, 1), amqp10.ProducerOptions{})
	return func(ctx context.Context, key, id string) error {
		return producer.Publish(ctx, p.Queue, message(`{"id":1}`, "messageId", id, "messageKey", key))
	}, func() { _ = producer.Close(context.Background()) }, nil
}

// message is one with application properties, names and values.
func message(body string, properties ...any) *amqp.Message {
	m := amqp.NewMessage([]byte(body))
	m.ApplicationProperties = map[string]any{}
	for i := 0; i < len(properties); i += 2 {
		m.ApplicationProperties[properties[i].(string)] = properties[i+1]
	}
	return m
}

// prop is an application property that is text.
func prop(m *amqp.Message, name string) string {
	text, _ := m.ApplicationProperties[name].(string)
	return text
}
