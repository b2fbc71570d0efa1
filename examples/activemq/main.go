// Command activemq shows the client validators at work on ActiveMQ: a producer
// over STOMP whose invalid message never reaches the broker, a consumer over
// STOMP that understands two versions, one over AMQP 1.0 on the same queue where
// the broker has it, and a dead letter that says why a message was set aside.
//
// It needs a registry and a broker; ./run beside this file starts both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// The two versions of an order. The second allows what the first did not, so
// whoever reads it reads the first too.
const (
	orderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`
	orderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := brokers{registry: os.Getenv("CARTORIO_REGISTRY_URL"), stomp: os.Getenv("CARTORIO_TEST_STOMP"), amqp: os.Getenv("CARTORIO_TEST_AMQP10")}
	if b.registry == "" || b.stomp == "" {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_STOMP (host:port), or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, b, "orders"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// brokers are the addresses; amqp may be empty.
type brokers struct{ registry, stomp, amqp string }

// story is what the steps share. name is the queue's, and the stem of the
// subject.
type story struct {
	name string
	out  io.Writer
	open activemq.Open
	v    *validate.Validator
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// run plays the whole story.
func run(ctx context.Context, out io.Writer, b brokers, name string) error {
	client, err := sr.New(sr.Options{URLs: []string{b.registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	s := &story{name: name, out: out, open: activemq.Connect(b.stomp, activemq.Options{})}
	// In life a build registers: cartorio register, after cartorio check.
	subject := schemas.ParseSubject(name + "-value")
	for _, text := range []string{orderV1, orderV2} {
		found, err := client.Register(ctx, subject, sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}})
		if err != nil {
			return err
		}
		s.say("registered %s version %s\n", found.Subject, found.Version)
	}
	s.v = validate.New(client, avro.Format, jsonschema.Format, protobuf.Format)
	defer s.v.Close()
	if err := s.produce(ctx); err != nil {
		return err
	}
	if err := s.consume(ctx); err != nil {
		return err
	}
	if err := s.lookAside(ctx); err != nil {
		return err
	}
	if b.amqp == "" {
		s.say("the broker has no AMQP 1.0\n")
		return nil
	}
	return s.overAMQP(ctx, amqp10.Connect(b.amqp, amqp.ConnOptions{}))
}

// publish publishes one order with the schema of a version.
func (s *story) publish(ctx context.Context, pin validate.Pin, m *activemq.Message) error {
	producer := activemq.NewProducer(s.open, s.v, pin, activemq.ProducerOptions{})
	defer producer.Close(ctx) //nolint:errcheck // the publish was waited for
	return producer.Publish(ctx, s.name, m)
}

// produce publishes an order of each version, is refused an invalid one, and
// plays a producer that names a schema it does not keep to.
func (s *story) produce(ctx context.Context) error {
	byQueue := validate.ByDestination()
	if err := s.publish(ctx, validate.Version(byQueue, 1), &activemq.Message{MessageID: "first", Key: "k", Body: []byte(`{"id":1}`)}); err != nil {
		return err
	}
	if err := s.publish(ctx, validate.Version(byQueue, 2), &activemq.Message{MessageID: "second", Key: "k", Body: []byte(`{"id":2,"note":"with care"}`)}); err != nil {
		return err
	}
	err := s.publish(ctx, validate.Version(byQueue, 2), &activemq.Message{MessageID: "third", Body: []byte(`{"id":"three"}`)})
	var refused *validate.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("an invalid order was not refused: %w", err)
	}
	s.say("refused third before it was sent: %s at %s\n", refused.Reason, refused.Violations[0].Payload)

	// Valid it is, and of no use to anyone: the handler will say so.
	return s.publish(ctx, validate.Version(byQueue, 1), &activemq.Message{MessageID: "fourth", Body: []byte(`{"id":404}`)})
}

// consume handles what there is: two orders, and one that is set aside.
func (s *story) consume(ctx context.Context) error {
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}
	if err := s.v.Warm(ctx, expect, s.name); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	left := 3
	handle := func(_ context.Context, d *activemq.Delivery) error {
		if d.Message.MessageID == "fourth" {
			return activemq.Reject(errors.New("there is no customer 404"))
		}
		s.say("handled %s of version %s: %s\n", d.Message.MessageID, d.Version, d.Payload)
		return nil
	}
	consumer, err := activemq.NewConsumer(s.open, s.v, expect, handle, activemq.ConsumerOptions{
		Queue: s.name,
		Observe: func(activemq.Handled) {
			if left--; left == 0 {
				done()
			}
		},
	})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// lookAside takes the message out of the dead letter, by the same means.
func (s *story) lookAside(ctx context.Context) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	consumer, err := activemq.NewConsumer(s.open, s.v, &validate.Expect{}, func(_ context.Context, d *activemq.Delivery) error {
		said := map[string]any{}
		for _, h := range d.Message.Headers {
			said[h.Name] = h.Value
		}
		s.say("set aside %s: %v, %v\n", d.Message.MessageID, said[validate.DLQReason], said[validate.DLQError])
		return nil
	}, activemq.ConsumerOptions{Queue: "DLQ." + s.name, Observe: func(activemq.Handled) { done() }})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// overAMQP publishes over STOMP what it consumes over AMQP 1.0.
func (s *story) overAMQP(ctx context.Context, open amqp10.Open) error {
	if err := s.publish(ctx, validate.Latest(validate.ByDestination(), 0), &activemq.Message{MessageID: "fifth", Body: []byte(`{"id":5}`)}); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	consumer, err := amqp10.NewConsumer(open, s.v, &validate.Expect{Subject: validate.ByDestination()}, func(_ context.Context, d *amqp10.Delivery) error {
		s.say("handled %v over AMQP 1.0: %s\n", d.Message.ApplicationProperties["messageId"], d.Payload)
		return nil
	}, amqp10.ConsumerOptions{Queue: s.name, Observe: func(amqp10.Handled) { done() }})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}
