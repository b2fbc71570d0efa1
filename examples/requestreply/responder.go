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

// responder answers requests of versions 1 and 2, in the newest version of the
// reply that the sender of the request reads.
type responder struct {
	s        *story
	writes   []schemas.Version // newest first
	replies  map[schemas.Version]*rabbitmq.Producer
	bodies   map[schemas.Version]string
	released <-chan struct{} // a slow request waits for it
}

func (s *story) newResponder(released <-chan struct{}) *responder {
	r := &responder{
		s: s, writes: []schemas.Version{2, 1}, replies: map[schemas.Version]*rabbitmq.Producer{}, released: released,
		bodies: map[schemas.Version]string{1: `{"cents":1250}`, 2: `{"cents":1250,"currency":"EUR"}`},
	}
	for _, v := range r.writes {
		r.replies[v] = s.replier(v)
	}
	return r
}

// replier makes a producer of replies. Their queues are many and their subject is
// one.
func (s *story) replier(v schemas.Version) *rabbitmq.Producer {
	return s.producer(s.name+".replies-value", v)
}

// serve answers requests until ctx ends.
func (r *responder) serve(ctx context.Context) error {
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}
	consumer, err := rabbitmq.NewConsumer(r.s.connector.Open, r.s.v, expect, r.answer, rabbitmq.ConsumerOptions{
		Queue: r.s.requests(), DeadLetter: rabbitmq.Destination{Key: r.s.dead()}, Observe: r.s.observe,
	})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// answer replies, and then the request is acknowledged: one that is killed in
// between replies twice, with one messageId.
func (r *responder) answer(ctx context.Context, d *rabbitmq.Delivery) error {
	asked, _ := d.Message.Headers[replySchema].(string)
	reads, err := validate.Reads(asked)
	if err != nil {
		return rabbitmq.Reject(fmt.Errorf("the header %s: %w", replySchema, err))
	}
	version, ok := newest(r.writes, reads)
	if !ok {
		return rabbitmq.Reject(fmt.Errorf("the sender reads replies of %s, and %v are written", reads, r.writes))
	}
	if string(d.Payload) == `{"item":"slow"}` {
		select {
		case <-r.released:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err = r.replies[version].Publish(ctx, "", d.Message.ReplyTo, amqp.Publishing{
		MessageId: d.Message.MessageId + "-reply", CorrelationId: d.Message.CorrelationId, Body: []byte(r.bodies[version]),
	})
	var failed *rabbitmq.Error
	if errors.As(err, &failed) && failed.Fate == rabbitmq.Unroutable {
		return nil // its queue is gone, and with it whoever asked
	}
	return err
}

// newest is the first of the versions that is in a range.
func newest(versions []schemas.Version, r validate.Range) (schemas.Version, bool) {
	for _, v := range versions {
		if r.Has(v) {
			return v, true
		}
	}
	return 0, false
}
