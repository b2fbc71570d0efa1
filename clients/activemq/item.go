package activemq

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Handled is one message that was settled, for logs and metrics.
type Handled = deliver.Handled

// Action is how a message was settled.
type Action = deliver.Action

// The ways in which a message is settled.
const (
	Acknowledged = deliver.Acknowledged
	Skipped      = deliver.Skipped
	DeadLettered = deliver.DeadLettered // published and acknowledged in one transaction
	LeftToBroker = deliver.LeftToBroker // nacked into the broker's own dead letter
	Delayed      = deliver.Delayed      // scheduled anew, then acknowledged
	GivenBack    = deliver.GivenBack    // returned to its queue
	Lost         = deliver.Lost         // acknowledged before the work, which failed; see LossAcceptable
)

// item is one message, as a desk works on it.
type item struct {
	c     *Consumer
	l     *link
	f     *frame.Frame
	m     *Message
	judge validate.Message
	isAck bool // the dead letter's transaction has acknowledged it
}

var _ deliver.Keyed = (*item)(nil)

func (c *Consumer) item(l *link, f *frame.Frame) *item {
	m := messageOf(f)
	name := validate.DestinationName(m.Destination)
	return &item{c: c, l: l, f: f, m: m, judge: validate.Message{
		Destination: name, RoutingKey: name, Headers: m.Headers, ContentType: m.ContentType, Payload: m.Body,
	}}
}

// Key is what the message is in order with.
func (i *item) Key() string { return i.m.Key }

// Facts are the message's.
func (i *item) Facts() deliver.Facts {
	return deliver.Facts{Destination: i.c.o.Queue, Headers: i.m.Headers, MessageID: i.m.MessageID, Bytes: len(i.m.Body), Attempts: attemptsOf(i.m), Redelivered: i.m.Redelivered}
}

// Judge asks the validator.
func (i *item) Judge(ctx context.Context) validate.Outcome {
	return i.c.validator.BeforeConsume(ctx, &i.judge, i.c.expect)
}

// Handle calls the user's handler.
func (i *item) Handle(ctx context.Context, o *validate.Outcome, attempt int) error {
	return i.c.handler(ctx, &Delivery{Outcome: *o, Message: i.m, Attempt: attempt})
}

// DeadLetter publishes everything of the original with its reason, and
// acknowledges it in the same transaction: it is in one place or the other.
func (i *item) DeadLetter(ctx context.Context, dead validate.DeadLetter) error {
	id := i.f.Header.Get(frame.MessageId)
	if i.c.unburied.take(id) && i.c.o.BrokerDeadLetter {
		return errors.New("the broker refused its dead letter before")
	}
	dead.Destination, dead.Queue = i.judge.Destination, i.c.o.Queue
	transaction := "t" + strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // a name, not a secret
	send := resend(i.c.o.DeadLetter, i.m, dead.Headers(i.m.Headers, deliver.MostDead))
	send.Header.Add(frame.Transaction, transaction)
	ack := i.ack(frame.ACK)
	ack.Header.Add(frame.Transaction, transaction)
	_, err := i.l.ask(ctx, frame.New(frame.BEGIN, frame.Transaction, transaction), send, ack, frame.New(frame.COMMIT, frame.Transaction, transaction))
	var refused *brokerError
	if errors.As(err, &refused) {
		i.c.unburied.add(id)
	}
	if err != nil {
		// Whether it was done is not known, and nothing may follow on this connection
		// that would do it twice.
		i.l.lose(fmt.Errorf("a transaction did not end: %w", err))
		return err
	}
	i.isAck = true
	return nil
}

// Delay publishes the message to its own queue, to be handed out later. That is
// not in one transaction with the acknowledgement: the broker schedules after it
// has committed, and a message would be lost if it died between the two.
func (i *item) Delay(ctx context.Context, f deliver.Failure) (ok bool, err error) {
	if !i.c.o.ScheduledRetries {
		return false, nil
	}
	headers := make([]validate.Header, 0, len(i.m.Headers)+5)
	for _, h := range i.m.Headers {
		if h.Name != RetryAttempts {
			headers = append(headers, h)
		}
	}
	add := func(name, value string) {
		if headerOf(headers, name) == "" {
			headers = append(headers, validate.Header{Name: name, Value: value})
		}
	}
	add(RetryAttempts, strconv.Itoa(f.Attempts))
	if headerOf(headers, validate.DLQOriginalDestination) == "" {
		add(validate.DLQOriginalDestination, i.judge.Destination)
		add(validate.DLQOriginalQueue, i.c.o.Queue)
	}
	add(validate.DLQFirstFailedAt, f.First.UTC().Format(time.RFC3339Nano))
	send := resend(i.c.o.Queue, i.m, headers)
	if i.m.Key != "" {
		send.Header.Add(groupHeader, i.m.Key)
	}
	// A random share comes off, so that what failed together does not come back
	// together.
	wait := f.Wait - rand.N(f.Wait/4+1) //nolint:gosec // spreads load, hides nothing
	send.Header.Add(scheduledDelay, strconv.FormatInt(wait.Milliseconds(), 10))
	_, err = i.l.ask(ctx, send)
	return true, err
}

// Settle acknowledges one message, never several: with many workers those before
// it may be unfinished. What is given back goes back when its connection ends.
func (i *item) Settle(a Action) error {
	switch {
	case a == GivenBack || i.isAck:
		return nil
	case a == LeftToBroker:
		return i.l.send(i.ack(frame.NACK))
	default:
		return i.l.send(i.ack(frame.ACK))
	}
}

func (i *item) ack(command string) *frame.Frame {
	return frame.New(command, frame.Id, i.f.Header.Get(frame.Ack))
}
