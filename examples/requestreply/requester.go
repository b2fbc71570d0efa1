package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// replySchema is the header by which a request says which versions of the reply
// its sender can read.
const replySchema = "replySchema"

// errTimeout is ask's answer when no reply came in time. What became of the
// request is not known: a request that must not be done twice carries an id of
// the business in its payload.
var errTimeout = errors.New("nobody answered in time")

// reply is an answer that was validated.
type reply struct {
	Version schemas.Version
	Payload []byte
}

// requester sends requests to one queue and reads the replies from one of its own.
type requester struct {
	requests, replies string // queues
	reads             validate.Range
	producer          *rabbitmq.Producer
	late              func(correlation string)

	mu      sync.Mutex
	pending map[string]chan reply
}

// newRequester makes a requester that writes requests with a version and reads
// replies of a range; listen makes it hear. late is told of replies that nobody
// waits for any more.
func (s *story) newRequester(who string, writes schemas.Version, reads string, late func(string)) *requester {
	return &requester{
		requests: s.requests(), replies: s.replies(who), reads: validate.MustReads(reads), late: late, pending: map[string]chan reply{},
		producer: s.producer(s.requests()+"-value", writes),
	}
}

// listen consumes the replies until ctx ends. A reply of a version that was not
// asked for is set aside like any other message that cannot be read.
func (r *requester) listen(ctx context.Context, s *story) error {
	expect := &validate.Expect{Subject: validate.Fixed(s.name + ".replies-value"), Reads: r.reads, AllowFuture: true}
	consumer, err := rabbitmq.NewConsumer(s.connector.Open, s.v, expect, func(_ context.Context, d *rabbitmq.Delivery) error {
		if to := r.forget(d.Message.CorrelationId); to != nil {
			to <- reply{d.Version, d.Payload}
			return nil
		}
		r.late(d.Message.CorrelationId) // counted and dropped: acknowledged without work
		return nil
	}, rabbitmq.ConsumerOptions{Queue: r.replies, DeadLetter: rabbitmq.Destination{Key: s.dead()}, Observe: s.observe})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// forget gives whoever waits for a reply, nil when nobody does.
func (r *requester) forget(correlation string) chan reply {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.pending[correlation]
	delete(r.pending, correlation)
	return to
}

// ask sends a request and waits for its reply. A request that nobody has taken
// within that time is dropped by the broker.
//
// Errors: errTimeout; what a producer says of a request that was not sent.
func (r *requester) ask(ctx context.Context, body string, timeout time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	correlation, answer := rand.Text(), make(chan reply, 1)
	r.mu.Lock()
	r.pending[correlation] = answer
	r.mu.Unlock()
	defer r.forget(correlation)
	if err := r.producer.Publish(ctx, "", r.requests, amqp.Publishing{
		MessageId: correlation, CorrelationId: correlation, ReplyTo: r.replies, Headers: amqp.Table{replySchema: r.reads.String()},
		Expiration: strconv.FormatInt(timeout.Milliseconds(), 10), Body: []byte(body),
	}); err != nil {
		return reply{}, fmt.Errorf("ask: %w", err)
	}
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return reply{}, errTimeout
		}
		return reply{}, ctx.Err()
	}
}
