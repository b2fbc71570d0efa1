package main

import (
	"context"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// activeMQ routes by selectors. Over STOMP the broker turns the text of a header
// into a number where a selector compares numbers; a JMS client compares texts
// and quotes them. What no selector takes waits in the queue.
func (s *story) activeMQ(ctx context.Context, address string) error {
	open := activemq.Connect(address, activemq.Options{})
	for version := schemas.Version(1); version <= 3; version++ {
		producer := activemq.NewProducer(open, s.v, validate.Version(validate.ByDestination(), version), activemq.ProducerOptions{})
		if err := producer.Publish(ctx, s.name, &activemq.Message{Body: body(version)}); err != nil {
			return err
		}
		if err := producer.Close(ctx); err != nil {
			return err
		}
	}
	for _, selector := range []string{
		"schemaVersion = '2'",
		"schemaVersion BETWEEN 1 AND 2", // 2 is taken
		"schemaSubject = '" + s.name + "-value' AND schemaVersion IN ('1','2','3')",
	} {
		running, done := context.WithCancel(ctx)
		consumer, err := activemq.NewConsumer(open, s.v, &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..3")},
			func(_ context.Context, d *activemq.Delivery) error {
				s.say("%s takes %s of version %s\n", selector, d.Payload, d.Version)
				return nil
			}, activemq.ConsumerOptions{Queue: s.name, Selector: selector, Observe: func(activemq.Handled) { done() }})
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
