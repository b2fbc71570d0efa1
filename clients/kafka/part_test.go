package kafka_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// opened is connect with one partition, for tests of the workshop that register
// themselves; what consumes there is assigned it once.
func opened(t *testing.T) (brokertest.Away, *brokertest.Registry) {
	t.Helper()
	r := connect(t, 1)
	t.Cleanup(func() {
		if r.assigned > 1 {
			t.Errorf("assigned %d times", r.assigned)
		}
	})
	return r, r.registry
}

// withOrders is connect with two partitions, as the tests of the workshop need
// it.
func withOrders(t *testing.T) brokertest.Place {
	t.Helper()
	r := connect(t, 2)
	r.registry.RegisterOrders()
	t.Cleanup(func() {
		r.remove(r.group+".retry.2000", r.group+".retry.4000", r.group+".retry.8000", r.group+".retry.16000")
	})
	return r
}

// Part is where a part works.
func (r *real) Part() brokertest.Part {
	return brokertest.Part{Registry: r.registry.URL(), Address: r.seed, Queue: r.topic, Dead: r.dead, Group: r.group}
}

// Put publishes records.
func (r *real) Put(list ...brokertest.Message) {
	r.t.Helper()
	var all sync.WaitGroup
	for _, m := range list {
		rec := &kgo.Record{Topic: r.topic, Value: []byte(m.Body), Headers: []kgo.RecordHeader{header("messageId", m.ID)}}
		for _, h := range m.Stamps() {
			rec.Headers = append(rec.Headers, header(h[0], h[1]))
		}
		if m.Key != "" {
			rec.Key = []byte(m.Key)
		}
		all.Add(1)
		r.k.Produce(ctx, rec, func(_ *kgo.Record, err error) {
			defer all.Done()
			if err != nil {
				r.t.Error(err)
			}
		})
	}
	all.Wait()
}

// Lying is what was published.
func (r *real) Lying() []brokertest.Message { return messagesOf(r.all(r.topic)) }

// Dead is what was set aside.
func (r *real) Dead() []brokertest.Message { return messagesOf(r.all(r.dead)) }

func messagesOf(list []*kgo.Record) (out []brokertest.Message) {
	for _, rec := range list {
		out = append(out, brokertest.Message{ID: get(rec, "messageId"), Key: string(rec.Key), Body: string(rec.Value), Reason: get(rec, "dlqReason"), Error: get(rec, "dlqError")})
	}
	return out
}

// IsDone tells that n offsets are committed.
func (r *real) IsDone(n int) bool { return r.committed() == int64(n) }

// Publisher publishes records.
func (r *real) Publisher(v *validate.Validator, pin validate.Pin) func(ctx context.Context, m brokertest.Message) error {
	r.v = v
	p := r.producer(pin, kafka.ProducerOptions{})
	return func(ctx context.Context, m brokertest.Message) error {
		return p.Publish(ctx, &kgo.Record{Topic: r.topic, Headers: []kgo.RecordHeader{header("messageId", m.ID)}, Value: []byte(m.Body)})
	}
}

// Consume hands records on.
func (r *real) Consume(v *validate.Validator, e *validate.Expect, handle func(brokertest.Judged)) {
	r.t.Helper()
	r.v = v
	r.consumer(e, func(_ context.Context, d *kafka.Delivery) error {
		handle(brokertest.Judged{ID: get(d.Message, "messageId"), Outcome: d.Outcome})
		return nil
	}, kafka.ConsumerOptions{}, kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(time.Second), kgo.AdjustFetchOffsetsFn(func(_ context.Context, m map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		r.assigned++
		return m, nil
	}))
}

// partOptions are a client's; what a broker says of its address is not heeded
// where the part has a line to it.
func partOptions(p *brokertest.Part) []kgo.Opt {
	options := []kgo.Opt{kgo.SeedBrokers(p.Address)}
	if p.Through != "" {
		// A short wait: a line that was cut says nothing.
		options = append(options, kgo.RequestTimeoutOverhead(time.Second), kgo.Dialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, p.Through)
		}))
	}
	return options
}

func consumePart(ctx context.Context, p *brokertest.Part, v *validate.Validator) error {
	options := append(partOptions(p), kgo.SessionTimeout(6*time.Second), kgo.HeartbeatInterval(200*time.Millisecond))
	if p.Static {
		options = append(options, kgo.InstanceID("one"))
	}
	c, err := kafka.NewConsumer(kafka.With(options...), v, &validate.Expect{Subject: byOrders}, func(_ context.Context, d *kafka.Delivery) error {
		return p.Handle(string(d.Message.Key), get(d.Message, "messageId"), d.Attempt)
	}, kafka.ConsumerOptions{
		Group: p.Group, Topics: []string{p.Queue}, DeadLetter: p.Dead, Keyed: !p.Leaves, RetryTopics: p.Leaves, Logger: slog.New(slog.DiscardHandler), Observe: p.Settled,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// dying is a client that dies with one message on its way.
type dying struct {
	*kgo.Client
	p *brokertest.Part
}

func (d *dying) Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	id := get(r, "messageId")
	d.p.At("handed over", id)
	d.Client.Produce(ctx, r, func(r *kgo.Record, err error) {
		d.p.At("answered", id)
		promise(r, err)
	})
	if d.p.Message == id && d.p.Step == "on its way" {
		d.BufferedProduceRecords()
		time.AfterFunc(2*time.Millisecond, brokertest.Die)
	}
}

func producePart(_ context.Context, p *brokertest.Part, v *validate.Validator) (publish func(ctx context.Context, key, id string) error, end func(), err error) {
	client, err := kgo.NewClient(append(partOptions(p), kgo.ProducerLinger(0))...)
	if err != nil {
		return nil, nil, err
	}
	producer, err := kafka.NewProducer(&dying{client, p}, v, validate.Version(byOrders, 1), kafka.ProducerOptions{})
	if err != nil {
		client.Close()
		return nil, nil, err
	}
	return func(ctx context.Context, key, id string) error {
		return producer.Publish(ctx, &kgo.Record{Topic: p.Queue, Key: []byte(key), Headers: []kgo.RecordHeader{header("messageId", id)}, Value: []byte(`{"id":1}`)})
	}, client.Close, nil
}
