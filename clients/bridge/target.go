package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/Azure/go-amqp"
	"github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/amqp10"
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
		out := rabbitmq.Connect(w.o.To.Server(), rabbit(w.o.To))
		return &toRabbitMQ{w.o.Config.To, w.o.To.Name, out, rabbitmq.NewProducer(out.Open, w.o.Validator, w.pin(), rabbitmq.ProducerOptions{})}, nil
	case brokers.Kafka:
		c, err := kgo.NewClient(append([]kgo.Opt{kgo.ProducerBatchMaxBytes(largestBatch), kgo.RecordDeliveryTimeout(publishTime)}, w.o.To.Options()...)...)
		if err != nil {
			return nil, fmt.Errorf("make a Kafka client: %w", err)
		}
		framing := w.o.Config.To.Framing
		return &toKafka{topic: w.o.To.Name, client: c, producers: byType[*kafka.Producer]{open: func(message string) (*kafka.Producer, error) {
			return kafka.NewProducer(c, w.o.Validator, w.o.Pin, kafka.ProducerOptions{Type: message, StampConfluent: framing == "header", FramePrefix: framing == "confluent"})
		}}}, nil
	case brokers.STOMP:
		return &toSTOMP{w.o.To.Name, activemq.NewProducer(stomp(w.o.To), w.o.Validator, w.pin(), activemq.ProducerOptions{})}, nil
	case brokers.AMQP10:
		return &toAMQP10{w.o.To.Name, byType[*amqp10.Producer]{open: func(message string) (*amqp10.Producer, error) {
			return amqp10.NewProducer(amqp10Of(w.o.To), w.o.Validator, w.pin(), amqp10.ProducerOptions{Type: message}), nil
		}}}, nil
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
		p.Headers[h.Name] = textOr(h.Value)
	}
	return t.producer.Publish(ctx, exchange, key, p)
}

func (t *toRabbitMQ) close(ctx context.Context) error {
	return errors.Join(t.producer.Close(ctx), t.conn.Close())
}

// byType has one producer for each Protobuf message, of which there are few.
type byType[P interface {
	Close(ctx context.Context) error
}] struct {
	open func(message string) (P, error)

	mu   sync.Mutex
	made map[string]P
}

func (b *byType[P]) of(message string) (P, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.made[message]; ok {
		return p, nil
	}
	p, err := b.open(message)
	if err == nil {
		if b.made == nil {
			b.made = map[string]P{}
		}
		b.made[message] = p
	}
	return p, err
}

func (b *byType[P]) close(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, p := range b.made {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(errs...)
}

type toKafka struct {
	topic     string
	client    *kgo.Client // shared by the producers
	producers byType[*kafka.Producer]
}

func (t *toKafka) publish(ctx context.Context, m *Message) error {
	p, err := t.producers.of(m.Type)
	if err != nil {
		return err
	}
	r := &kgo.Record{Topic: t.topic, Key: m.Key, Value: m.Payload}
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
	err := t.producers.close(ctx)
	t.client.Close()
	return err
}

type toAMQP10 struct {
	queue     string
	producers byType[*amqp10.Producer]
}

func (t *toAMQP10) publish(ctx context.Context, m *Message) error {
	p, err := t.producers.of(m.Type)
	if err != nil {
		return err
	}
	out := amqp.NewMessage(m.Payload)
	out.ApplicationProperties, out.Properties = map[string]any{}, &amqp.MessageProperties{}
	for _, h := range m.withKey() {
		// Kafka has the content type among the headers; here it is a property.
		if h.Name != "content-type" {
			out.ApplicationProperties[h.Name] = textOr(h.Value)
		}
	}
	if m.MessageID != "" {
		out.ApplicationProperties[framing.MessageID] = m.MessageID
	}
	if m.CorrelationID != "" {
		out.Properties.CorrelationID = m.CorrelationID
	}
	for to, value := range map[**string]string{&out.Properties.ContentType: m.ContentType, &out.Properties.ReplyTo: m.ReplyTo, &out.Properties.Subject: m.RoutingKey} {
		if value != "" {
			*to = &value
		}
	}
	return p.Publish(ctx, t.queue, out)
}

func (t *toAMQP10) close(ctx context.Context) error { return t.producers.close(ctx) }

// textOr is a header's value as readers of AMQP look for it: Kafka's bytes are
// text where they can be.
func textOr(value any) any {
	if b, ok := value.([]byte); ok && utf8.Valid(b) {
		return string(b)
	}
	return value
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
