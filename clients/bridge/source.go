package bridge

import (
	"context"
	"fmt"
	"strconv"
	"time"

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

// consume reads the source until ctx ends.
func (w *worker) consume(ctx context.Context) error {
	switch w.o.From.Kind {
	case brokers.RabbitMQ:
		return w.fromRabbitMQ(ctx)
	case brokers.Kafka:
		return w.fromKafka(ctx)
	case brokers.STOMP:
		return w.fromSTOMP(ctx)
	case brokers.AMQP10:
		return w.fromAMQP10(ctx)
	default:
		return fmt.Errorf("bridge from %s: this protocol is not spoken by a bridge", w.o.From)
	}
}

func (w *worker) fromRabbitMQ(ctx context.Context) error {
	in := rabbitmq.Connect(w.o.From.Server(), rabbit(w.o.From))
	defer in.Close() //nolint:errcheck // the consumer has given back what it held
	c, err := rabbitmq.NewConsumer(in.Open, w.o.Validator, w.o.Expect, func(ctx context.Context, d *rabbitmq.Delivery) error {
		m := &Message{
			ContentType: d.Message.ContentType, CorrelationID: d.Message.CorrelationId, ReplyTo: d.Message.ReplyTo,
			MessageID: d.Message.MessageId, RoutingKey: d.Message.RoutingKey,
		}
		for name, value := range d.Message.Headers {
			m.Headers = append(m.Headers, validate.Header{Name: name, Value: value})
		}
		return w.carry(ctx, &d.Outcome, m.keyed())
	}, rabbitmq.ConsumerOptions{
		Queue: w.o.From.Name, DeadLetter: rabbitmq.Destination{Key: w.o.Config.From.DeadLetter},
		Workers: w.o.Config.From.Workers, Keyed: w.o.Config.From.Keyed, Drain: drain, Logger: w.log, Observe: w.count,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// session is how long a bridge that died keeps its partitions from the next.
const session = 10 * time.Second

func (w *worker) fromKafka(ctx context.Context) error {
	c, err := kafka.NewConsumer(kafka.With(append(w.o.From.Options(), kgo.SessionTimeout(session))...), w.o.Validator, w.o.Expect, func(ctx context.Context, d *kafka.Delivery) error {
		r := d.Message
		m := &Message{Key: r.Key}
		for _, h := range r.Headers {
			one := validate.Header{Name: h.Key}
			if h.Value != nil {
				one.Value = h.Value
			}
			m.Headers = append(m.Headers, one)
		}
		m.ContentType, m.MessageID = m.header("content-type"), m.header(framing.MessageID)
		if m.MessageID == "" {
			// The same again when it comes again.
			m.MessageID = r.Topic + "-" + strconv.Itoa(int(r.Partition)) + "-" + strconv.FormatInt(r.Offset, 10)
		}
		return w.carry(ctx, &d.Outcome, m)
	}, kafka.ConsumerOptions{
		Group: w.o.Config.From.Group, Topics: []string{w.o.From.Name}, DeadLetter: w.o.Config.From.DeadLetter,
		Workers: w.o.Config.From.Workers, Keyed: w.o.Config.From.Keyed, Drain: drain, Logger: w.log, Observe: w.count,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// rabbit, stomp and amqp10Of are how brokers are connected to.
func rabbit(a brokers.Address) amqp091.Config {
	return amqp091.Config{TLSClientConfig: a.TLSConfig(), Properties: amqp091.Table{"connection_name": "cartorio bridge"}}
}

func stomp(a brokers.Address) activemq.Open {
	return activemq.Connect(a.Hosts[0], activemq.Options{Login: a.User, Passcode: a.Password, TLS: a.TLSConfig()})
}

func amqp10Of(a brokers.Address) amqp10.Open {
	return amqp10.Connect(a.Server(), amqp.ConnOptions{TLSConfig: a.TLSConfig()})
}

func (w *worker) fromAMQP10(ctx context.Context) error {
	c, err := amqp10.NewConsumer(amqp10Of(w.o.From), w.o.Validator, w.o.Expect, func(ctx context.Context, d *amqp10.Delivery) error {
		m := &Message{Headers: amqp10.Headers(d.Message)}
		if p := d.Message.Properties; p != nil {
			for to, value := range map[*string]*string{&m.ContentType: p.ContentType, &m.ReplyTo: p.ReplyTo, &m.RoutingKey: p.Subject} {
				if value != nil {
					*to = *value
				}
			}
			if p.CorrelationID != nil {
				m.CorrelationID = fmt.Sprint(p.CorrelationID)
			}
			if p.MessageID != nil {
				m.MessageID = fmt.Sprint(p.MessageID)
			}
			if p.GroupID != nil && *p.GroupID != "" {
				m.Key = []byte(*p.GroupID)
			}
		}
		return w.carry(ctx, &d.Outcome, m.keyed())
	}, amqp10.ConsumerOptions{
		Queue: w.o.From.Name, DeadLetter: w.o.Config.From.DeadLetter,
		Workers: w.o.Config.From.Workers, Keyed: w.o.Config.From.Keyed, Drain: drain, Logger: w.log, Observe: w.count,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func (w *worker) fromSTOMP(ctx context.Context) error {
	c, err := activemq.NewConsumer(stomp(w.o.From), w.o.Validator, w.o.Expect, func(ctx context.Context, d *activemq.Delivery) error {
		m := &Message{
			Headers: append([]validate.Header(nil), d.Message.Headers...), ContentType: d.Message.ContentType, CorrelationID: d.Message.CorrelationID, ReplyTo: d.Message.ReplyTo,
			MessageID: d.Message.MessageID,
		}
		return w.carry(ctx, &d.Outcome, m.keyed())
	}, activemq.ConsumerOptions{
		Queue: w.o.From.Name, DeadLetter: w.o.Config.From.DeadLetter,
		Workers: w.o.Config.From.Workers, Keyed: w.o.Config.From.Keyed, Drain: drain, Logger: w.log, Observe: w.count,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// keyed fills the members that brokers have no property for from the headers.
func (m *Message) keyed() *Message {
	if key := m.header(framing.MessageKey); key != "" {
		m.Key = []byte(key)
	}
	if id := m.header(framing.MessageID); id != "" {
		m.MessageID = id
	}
	return m
}
