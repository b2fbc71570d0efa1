package activemq_test

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
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
	for _, m := range list {
		headers := []string{"messageId", m.ID}
		for _, h := range m.Stamps() {
			headers = append(headers, h[0], h[1])
		}
		if m.Key != "" {
			headers = append(headers, "messageKey", m.Key, "JMSXGroupID", m.Key)
		}
		r.put([]byte(m.Body), headers...)
	}
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
		return p.Publish(ctx, r.queue, &activemq.Message{MessageID: m.ID, Body: []byte(m.Body)})
	}
}

// Consume hands messages on.
func (r *real) Consume(v *validate.Validator, e *validate.Expect, handle func(brokertest.Judged)) {
	r.t.Helper()
	r.v = v
	r.consumer(e, func(_ context.Context, d *activemq.Delivery) error {
		handle(brokertest.Judged{ID: d.Message.MessageID, IsRedelivered: d.Message.Redelivered, Outcome: d.Outcome})
		return nil
	}, activemq.ConsumerOptions{HoldFor: time.Second})
}

// openPart is a connection that dies where the part dies.
func openPart(p *brokertest.Part) activemq.Open {
	address := p.Address
	if p.Through != "" {
		address = p.Through
	}
	o := activemq.Options{}
	if p.IsAlert {
		o = activemq.Options{HeartBeat: time.Second, Timeout: 3 * time.Second}
	}
	open := activemq.Connect(address, o)
	return func(ctx context.Context) (activemq.Conn, error) {
		c, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &dying{Conn: c, p: p}, nil
	}
}

// dying is a connection on which the process dies around one message's frame.
type dying struct {
	activemq.Conn
	p      *brokertest.Part
	isNext bool // the message's frame was written, and the next receipt is its
}

func (d *dying) Write(f *frame.Frame) error {
	id := ""
	if f != nil {
		id = f.Header.Get("messageId")
	}
	isIt := f != nil && f.Command == frame.SEND && id == d.p.Message
	if isIt {
		d.p.At("handed over", id)
		d.isNext = true
	}
	err := d.Conn.Write(f)
	switch {
	case isIt:
		d.p.At("on its way", id)
	case d.isNext && f != nil && f.Command == frame.COMMIT:
		d.p.At("committing", d.p.Message)
	}
	return err
}

func (d *dying) Read() (*frame.Frame, error) {
	f, err := d.Conn.Read()
	if err == nil && f.Command == frame.RECEIPT && d.isNext {
		d.p.At("answered", d.p.Message)
	}
	return f, err
}

func consumePart(ctx context.Context, p *brokertest.Part, v *validate.Validator) error {
	c, err := activemq.NewConsumer(openPart(p), v, &validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		return p.Handle(d.Message.Key, d.Message.MessageID, d.Attempt)
	}, activemq.ConsumerOptions{
		Queue: p.Queue, Keyed: !p.Leaves, ScheduledRetries: p.Leaves, Workers: 4, Prefetch: 20, Logger: slog.New(slog.DiscardHandler), Observe: p.Settled,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func producePart(_ context.Context, p *brokertest.Part, v *validate.Validator) (publish func(ctx context.Context, key, id string) error, end func(), err error) {
	producer := activemq.NewProducer(openPart(p), v, validate.Version(orders, 1), activemq.ProducerOptions{})
	return func(ctx context.Context, key, id string) error {
		return producer.Publish(ctx, p.Queue, &activemq.Message{MessageID: id, Key: key, Body: []byte(`{"id":1}`)})
	}, func() { _ = producer.Close(context.Background()) }, nil
}
