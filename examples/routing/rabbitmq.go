package main

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// rabbitMQ routes by a headers exchange: x-match all compares each header that
// the binding names, as text.
func (s *story) rabbitMQ(ctx context.Context, address string) error {
	connector := rabbitmq.Connect(address, amqp.Config{})
	defer connector.Close() //nolint:errcheck // the program ends here
	if _, err := connector.Open(ctx); err != nil {
		return err
	}
	ch, err := connector.Connection().Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	defer ch.Close() //nolint:errcheck // as above
	if err := ch.ExchangeDeclare(s.name, "headers", true, false, false, false, nil); err != nil {
		return fmt.Errorf("declare the exchange: %w", err)
	}
	if _, err := ch.QueueDeclare(s.name+".dead", true, false, false, false, nil); err != nil {
		return fmt.Errorf("declare the dead letter: %w", err)
	}
	for _, version := range []string{"1", "2"} {
		queue := s.name + ".v" + version
		if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			return fmt.Errorf("declare the queue %s: %w", queue, err)
		}
		if err := ch.QueueBind(queue, "", s.name, false, amqp.Table{
			"x-match": "all", "schemaSubject": s.name + "-value", "schemaVersion": version,
		}); err != nil {
			return fmt.Errorf("bind the queue %s: %w", queue, err)
		}
	}

	for version := schemas.Version(1); version <= 3; version++ {
		producer := rabbitmq.NewProducer(connector.Open, s.v, validate.Version(validate.ByDestination(), version), rabbitmq.ProducerOptions{})
		err := producer.Publish(ctx, s.name, "", amqp.Publishing{Body: body(version)})
		if failed := (*rabbitmq.Error)(nil); errors.As(err, &failed) && failed.Fate == rabbitmq.Unroutable {
			s.say("version %s has no queue, and its producer is told so\n", version)
			err = nil
		}
		if err := errors.Join(err, producer.Close(ctx)); err != nil {
			return err
		}
	}
	for _, reads := range []string{"1", "2"} {
		running, done := context.WithCancel(ctx)
		consumer, err := rabbitmq.NewConsumer(connector.Open, s.v, &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads(reads)},
			func(_ context.Context, d *rabbitmq.Delivery) error {
				s.say("the queue of version %s has %s of version %s\n", reads, d.Payload, d.Version)
				return nil
			}, rabbitmq.ConsumerOptions{Queue: s.name + ".v" + reads, DeadLetter: rabbitmq.Destination{Key: s.name + ".dead"}, Observe: func(rabbitmq.Handled) { done() }})
		if err == nil {
			err = consumer.Run(running)
		}
		done()
		if err != nil {
			return err
		}
	}
	return nil
}
