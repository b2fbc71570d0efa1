package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// target opens the broker to publish at.
func (w *worker) target() (target, error) {
	if err := w.o.Check(); err != nil {
		return nil, err
	}
	switch w.o.To.Kind {
	case brokers.RabbitMQ:
		out := rabbitmq.Connect(w.o.To.Server(), amqp091.Config{Properties: amqp091.Table{"connection_name": "cartorio bridge"}})
		return &toRabbitMQ{w.o.Config.To, w.o.To.Name, out, rabbitmq.NewProducer(out.Open, w.o.Validator, w.pin(), rabbitmq.ProducerOptions{})}, nil
	case brokers.Kafka:
		c, err := kgo.NewClient(append([]kgo.Opt{kgo.ProducerBatchMaxBytes(largestBatch), kgo.RecordDeliveryTimeout(publishTime)}, w.o.To.Options()...)...)
		if err != nil {
			return nil, fmt.Errorf("make a Kafka client: %w", err)
		}
		return &toKafka{w: w, client: c, producers: map[string]*kafka.Producer{}}, nil
	case brokers.STOMP:
		return &toSTOMP{w.o.To.Name, activemq.NewProducer(stomp(w.o.To), w.o.Validator, w.pin(), activemq.ProducerOptions{})}, nil
	}
	return nil, errors.New("this protocol is not spoken by a bridge")
}

// largestBatch is what a Kafka broker takes by its own defaults.
const largestBatch = 1_048_588

// pin is what is published, with the framing that was asked for.
func (w *worker) pin() validate.Pin {
	switch w.o.Config.To.Framing {
	case "confluent":
		return w.o.Pin.WithPrefix()
	case "header":
		return w.o.Pin.WithBinaryHeader()
	}
	return w.o.Pin
}

type toRabbitMQ struct {
	c        Target
	queue    string
	conn     *rabbitmq.Connector
	producer *rabbitmq.Producer
}

func (t *toRabbitMQ) publish(ctx context.Context, m *Message) error {
	exchange, key := t.c.Exchange, t.c.RoutingKey
	switch {
	case exchange == "":
		key = t.queue
	case key == "":
		key = m.RoutingKey
	}
	p := amqp091.Publishing{
		Headers: amqp091.Table{}, ContentType: m.ContentType, CorrelationId: m.CorrelationID, ReplyTo: m.ReplyTo,
		MessageId: m.MessageID, Type: m.Type, Body: m.Payload,
	}
	for _, h := range m.withKey() {
		p.Headers[h.Name] = h.Value
		// Kafka's are bytes; text is what readers of AMQP look for.
		if b, ok := h.Value.([]byte); ok && utf8.Valid(b) {
			p.Headers[h.Name] = string(b)
		}
	}
	return t.producer.Publish(ctx, exchange, key, p)
}

func (t *toRabbitMQ) close(ctx context.Context) error {
	return errors.Join(t.producer.Close(ctx), t.conn.Close())
}

// toKafka has one producer for each Protobuf message: there are few, and they
// share a client.
type toKafka struct {
	w      *worker
	client *kgo.Client

	mu        sync.Mutex
	producers map[string]*kafka.Producer
}

func (t *toKafka) of(message string) (*kafka.Producer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.producers[message]; p != nil {
		return p, nil
	}
	p, err := kafka.NewProducer(t.client, t.w.o.Validator, t.w.o.Pin, kafka.ProducerOptions{
		Type: message, StampConfluent: t.w.o.Config.To.Framing == "header", FramePrefix: t.w.o.Config.To.Framing == "confluent",
	})
	if err == nil {
		t.producers[message] = p
	}
	return p, err
}

func (t *toKafka) publish(ctx context.Context, m *Message) error {
	p, err := t.of(m.Type)
	if err != nil {
		return err
	}
	r := &kgo.Record{Topic: t.w.o.To.Name, Key: m.Key, Value: m.Payload}
	hasID := false
	for _, h := range m.Headers {
		one := kgo.RecordHeader{Key: h.Name}
		switch v := h.Value.(type) {
		case nil:
		case []byte:
			one.Value = v
		case string:
			one.Value = []byte(v)
		default:
			one.Value = fmt.Append(nil, v)
		}
		hasID = hasID || h.Name == framing.MessageID
		r.Headers = append(r.Headers, one)
	}
	if !hasID && m.MessageID != "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: framing.MessageID, Value: []byte(m.MessageID)})
	}
	if m.ContentType != "" && m.header("content-type") == "" {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "content-type", Value: []byte(m.ContentType)})
	}
	return p.Publish(ctx, r)
}

func (t *toKafka) close(ctx context.Context) error {
	var errs []error
	for _, p := range t.producers {
		errs = append(errs, p.Close(ctx))
	}
	t.client.Close()
	return errors.Join(errs...)
}

type toSTOMP struct {
	queue    string
	producer *activemq.Producer
}

func (t *toSTOMP) publish(ctx context.Context, m *Message) error {
	out := &activemq.Message{
		ContentType: m.ContentType, CorrelationID: m.CorrelationID, ReplyTo: m.ReplyTo, MessageID: m.MessageID, Key: string(m.Key), Type: m.Type, Body: m.Payload,
	}
	for _, h := range m.Headers {
		// Kafka has it among the headers; here it is the frame's.
		if h.Name != "content-type" {
			out.Headers = append(out.Headers, h)
		}
	}
	return t.producer.Publish(ctx, t.queue, out)
}

func (t *toSTOMP) close(ctx context.Context) error { return t.producer.Close(ctx) }
