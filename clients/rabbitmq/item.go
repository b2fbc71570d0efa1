package rabbitmq

import (
	"context"

	amqp "github.com/rabbitmq/amqp091-go"

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
	DeadLettered = deliver.DeadLettered
	LeftToBroker = deliver.LeftToBroker // nacked into the queue's own dead-letter exchange
	Delayed      = deliver.Delayed      // published to a retry queue, then acknowledged
	GivenBack    = deliver.GivenBack    // returned to its queue
	Lost         = deliver.Lost         // acknowledged before the work, which failed; see LossAcceptable
)

// item is one delivery, as a desk works on it.
type item struct {
	c *Consumer
	d *amqp.Delivery
	m validate.Message
}

var _ deliver.Keyed = (*item)(nil)

func (c *Consumer) item(d amqp.Delivery) *item {
	return &item{c: c, d: &d, m: messageOf(&d)}
}

// Facts are the delivery's.
func (i *item) Facts() deliver.Facts {
	return deliver.Facts{Destination: i.c.o.Queue, Headers: i.m.Headers, MessageID: i.d.MessageId, Bytes: len(i.d.Body), Attempts: attemptsOf(i.d), Redelivered: i.d.Redelivered}
}

// Judge asks the validator.
func (i *item) Judge(ctx context.Context) validate.Outcome {
	return i.c.validator.BeforeConsume(ctx, &i.m, i.c.expect)
}

// Handle calls the user's handler.
func (i *item) Handle(ctx context.Context, o *validate.Outcome, attempt int) error {
	return i.c.handler(ctx, &Delivery{Outcome: *o, Message: i.d, Attempt: attempt})
}

// DeadLetter publishes everything of the original, and as much of the reason as
// a frame has room for.
func (i *item) DeadLetter(ctx context.Context, dead validate.DeadLetter) error {
	dead.Destination, dead.RoutingKey, dead.Queue = destination(i.d.Exchange, i.d.RoutingKey), i.d.RoutingKey, i.c.o.Queue
	msg := republish(i.d, dead.Headers(i.m.Headers, deliver.MostDead))
	if over := headerSize(&msg) - LongestHeader; over > 0 {
		// Each header costs its name, its length bytes and its type besides.
		msg = republish(i.d, dead.Headers(i.m.Headers, max(deliver.MostDead-over, 1)))
	}
	return i.c.out.publish(ctx, i.c.o.DeadLetter.Exchange, i.c.o.DeadLetter.Key, msg)
}

// Delay publishes to the retry queue of the wait's level.
func (i *item) Delay(ctx context.Context, f deliver.Failure) (ok bool, err error) {
	level, ok := levelFor(i.c.levels, f.Wait)
	if !ok {
		return false, nil
	}
	return true, i.c.out.publish(ctx, "", retryQueue(i.c.o.Queue, level), waiting(i.d, i.c.o.Queue, f, level))
}

// Settle acknowledges one message, never several: with many workers those before
// it may be unfinished. What is given back goes back when its channel closes.
func (i *item) Settle(a Action) error {
	switch a {
	case GivenBack:
		return nil
	case LeftToBroker:
		return i.d.Nack(false, false)
	default:
		return i.d.Ack(false)
	}
}

// Key is what a keyed consumer orders by: the header messageKey, else nothing,
// and then the message is alone.
func (i *item) Key() string {
	text, _, err := validate.Header{Name: "messageKey", Value: i.d.Headers["messageKey"]}.Text()
	if err != nil {
		return ""
	}
	return text
}
