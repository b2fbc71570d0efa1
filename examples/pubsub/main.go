// Command pubsub shows publish and subscribe: three subscribers of one event,
// each with a queue, a dead letter and versions of its own. One is deployed late
// and one is stuck, and neither is the business of the others.
//
// It needs a registry and a RabbitMQ; ./run beside this file starts both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// The two versions of an order that was placed.
const (
	placedV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`
	placedV2 = `{"type":"object","properties":{"id":{"type":"integer"},"gift":{"type":"boolean"}},"required":["id"],"additionalProperties":false}`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registry, broker := os.Getenv("CARTORIO_REGISTRY_URL"), os.Getenv("CARTORIO_TEST_RABBITMQ")
	if registry == "" || broker == "" {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…), or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, registry, broker, "placed"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// story is what the subscribers share: not more than the event.
type story struct {
	name      string // the exchange, and the stem of queues and subject
	out       io.Writer
	connector *rabbitmq.Connector
	ch        *amqp.Channel
	v         *validate.Validator
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// subscribers read one event each in their own way.
var subscribers = []string{"billing", "archive", "mail"}

// run plays the whole story.
func run(ctx context.Context, out io.Writer, registry, broker, name string) error {
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	// In life a build registers: cartorio register, after cartorio check.
	subject := schemas.ParseSubject(name + "-value")
	for _, text := range []string{placedV1, placedV2} {
		if _, err := client.Register(ctx, subject, sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}}); err != nil {
			return err
		}
	}
	s := &story{name: name, out: out, connector: rabbitmq.Connect(broker, amqp.Config{}), v: validate.New(client, jsonschema.Format)}
	defer s.connector.Close() //nolint:errcheck // the program ends here
	defer s.v.Close()
	if err := s.declare(ctx); err != nil {
		return err
	}
	defer s.ch.Close() //nolint:errcheck // as above

	// mail hangs in its first message until all others are done.
	stuck := make(chan struct{})
	mail := s.subscribe(ctx, "mail", "1..2", 2, func(ctx context.Context, d *rabbitmq.Delivery) error {
		select {
		case <-stuck:
			return errors.New("the mail server does not answer")
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	// billing understands both versions. archive does not exist yet: its queue does.
	billing := s.subscribe(ctx, "billing", "1..2", 2, nil)
	if err := s.publish(ctx, 1, "first", `{"id":1}`); err != nil {
		return err
	}
	if err := s.publish(ctx, 2, "second", `{"id":2,"gift":true}`); err != nil {
		return err
	}
	if err := <-billing; err != nil {
		return err
	}
	s.say("billing is done, while mail is stuck and archive is not deployed\n")
	if err := <-s.subscribe(ctx, "archive", "1", 2, nil); err != nil {
		return err
	}
	close(stuck)
	if err := <-mail; err != nil {
		return err
	}
	return s.lookAside()
}

// declare makes the exchange, and for each subscriber a queue and a dead letter.
func (s *story) declare(ctx context.Context) error {
	if _, err := s.connector.Open(ctx); err != nil {
		return err
	}
	ch, err := s.connector.Connection().Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	s.ch = ch
	if err := ch.ExchangeDeclare(s.name, "fanout", true, false, false, false, nil); err != nil {
		return fmt.Errorf("declare the exchange: %w", err)
	}
	for _, who := range subscribers {
		for _, queue := range []string{s.queue(who), s.dead(who)} {
			if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
				return fmt.Errorf("declare the queue %s: %w", queue, err)
			}
		}
		if err := ch.QueueBind(s.queue(who), "", s.name, false, nil); err != nil {
			return fmt.Errorf("bind the queue of %s: %w", who, err)
		}
	}
	return nil
}

func (s *story) queue(who string) string { return s.name + "." + who }
func (s *story) dead(who string) string  { return s.queue(who) + ".dead" }

// publish knows of the event and of no subscriber.
func (s *story) publish(ctx context.Context, version schemas.Version, id, body string) error {
	producer := rabbitmq.NewProducer(s.connector.Open, s.v, validate.Version(validate.ByDestination(), version), rabbitmq.ProducerOptions{})
	defer producer.Close(ctx) //nolint:errcheck // the publish was waited for
	return producer.Publish(ctx, s.name, "placed", amqp.Publishing{MessageId: id, Body: []byte(body)})
}

// subscribe consumes until n messages are settled; then its channel has the
// outcome. A nil handler succeeds.
func (s *story) subscribe(ctx context.Context, who, reads string, n int, handle rabbitmq.Handler) <-chan error {
	ended := make(chan error, 1)
	ctx, done := context.WithCancel(ctx)
	if handle == nil {
		handle = func(context.Context, *rabbitmq.Delivery) error { return nil }
	}
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads(reads)}
	consumer, err := rabbitmq.NewConsumer(s.connector.Open, s.v, expect, handle, rabbitmq.ConsumerOptions{
		Queue: s.queue(who), DeadLetter: rabbitmq.Destination{Key: s.dead(who)}, Name: who,
		Retry: retry.Policy{Base: 10 * time.Millisecond, Attempts: 2},
		Observe: func(h rabbitmq.Handled) {
			if h.Action == deliver.DeadLettered {
				s.say("%s, which reads %s, set aside %s: %s\n", who, reads, h.MessageID, h.Reason)
			} else {
				s.say("%s, which reads %s, handled %s of version %s\n", who, reads, h.MessageID, h.Outcome.Version)
			}
			if n--; n == 0 {
				done()
			}
		},
	})
	if err != nil {
		done()
		ended <- err
		return ended
	}
	go func() {
		defer done()
		ended <- consumer.Run(ctx)
	}()
	return ended
}

// lookAside counts what each subscriber has in its own dead letter.
func (s *story) lookAside() error {
	for _, who := range subscribers {
		q, err := s.ch.QueueDeclarePassive(s.dead(who), true, false, false, false, nil)
		if err != nil {
			return fmt.Errorf("look into the dead letter of %s: %w", who, err)
		}
		s.say("the dead letter of %s has %d\n", who, q.Messages)
	}
	return nil
}
