package amqp10

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Handled is one message that was settled, for logs and metrics.
type Handled = deliver.Handled

// Action is how a message was settled.
type Action = deliver.Action

// The ways in which a message is settled.
const (
	Acknowledged = deliver.Acknowledged // accepted
	Skipped      = deliver.Skipped
	DeadLettered = deliver.DeadLettered
	LeftToBroker = deliver.LeftToBroker // rejected, into the broker's own dead letter
	Delayed      = deliver.Delayed      // published to be handed out later, then accepted
	GivenBack    = deliver.GivenBack    // returned to its queue
	Lost         = deliver.Lost         // acknowledged before the work, which failed; see LossAcceptable
)

// item is one message, as a desk works on it.
type item struct {
	c       *Consumer
	r       Receiver
	m       *amqp.Message
	judged  validate.Message
	bodyErr error
	reason  validate.Reason // of its dead letter
}

var _ deliver.Keyed = (*item)(nil)

func (c *Consumer) item(r Receiver, m *amqp.Message) *item {
	payload, err := body(m)
	p := properties(m)
	return &item{c: c, r: r, m: m, bodyErr: err, judged: validate.Message{
		Destination: validate.DestinationName(c.o.Queue), RoutingKey: deref(p.Subject), Headers: headersOf(m.ApplicationProperties),
		ContentType: deref(p.ContentType), Payload: payload,
	}}
}

// Key is what the message is in order with.
func (i *item) Key() string { return keyOf(i.m) }

// Facts are the message's. Its id is the property that its producer set: a broker
// may give another.
func (i *item) Facts() deliver.Facts {
	id := text(i.m, messageIDHeader)
	if id == "" {
		id = idText(properties(i.m).MessageID)
	}
	redelivered := i.m.Header != nil && i.m.Header.DeliveryCount > 0
	return deliver.Facts{Destination: i.c.o.Queue, Headers: i.judged.Headers, MessageID: id, Bytes: len(i.judged.Payload), Attempts: attemptsOf(i.m), Redelivered: redelivered}
}

// Judge asks the validator.
func (i *item) Judge(ctx context.Context) validate.Outcome {
	if i.bodyErr != nil {
		return validate.Outcome{Verdict: validate.Reject, Reason: validate.PayloadUnreadable, Err: i.bodyErr}
	}
	return i.c.validator.BeforeConsume(ctx, &i.judged, i.c.expect)
}

// Handle calls the user's handler.
func (i *item) Handle(ctx context.Context, o *validate.Outcome, attempt int) error {
	return i.c.handler(ctx, &Delivery{Outcome: *o, Message: i.m, Attempt: attempt})
}

// DeadLetter publishes everything of the original with its reason.
func (i *item) DeadLetter(ctx context.Context, dead validate.DeadLetter) error {
	i.reason = dead.Reason
	dead.Destination, dead.Queue = i.judged.Destination, i.c.o.Queue
	return i.c.out.publish(ctx, i.c.o.DeadLetter, resend(i.m, dead.Headers(i.judged.Headers, deliver.MostDead)))
}

// Delay publishes the message to its own queue, to be handed out later.
func (i *item) Delay(ctx context.Context, f deliver.Failure) (ok bool, err error) {
	if !i.c.o.ScheduledRetries {
		return false, nil
	}
	send := resend(i.m, i.judged.Headers)
	add := func(name, value string) {
		if _, there := send.ApplicationProperties[name]; !there {
			send.ApplicationProperties[name] = value
		}
	}
	send.ApplicationProperties[RetryAttempts] = strconv.Itoa(f.Attempts)
	if _, isMoved := send.ApplicationProperties[validate.DLQOriginalDestination]; !isMoved {
		add(validate.DLQOriginalDestination, i.judged.Destination)
		add(validate.DLQOriginalQueue, i.c.o.Queue)
	}
	add(validate.DLQFirstFailedAt, f.First.UTC().Format(time.RFC3339Nano))
	// A random share comes off, so that what failed together does not come back
	// together.
	wait := f.Wait - rand.N(f.Wait/4+1) //nolint:gosec // spreads load, hides nothing
	delayed(send, wait)
	return true, i.c.out.publish(ctx, i.c.o.Queue, send)
}

// Settle settles one message. What is given back goes back when its connection
// ends.
func (i *item) Settle(a Action) error {
	ctx, cancel := context.WithTimeout(context.Background(), deliver.SettleTime)
	defer cancel()
	switch a {
	case GivenBack:
		return nil
	case LeftToBroker:
		return i.r.RejectMessage(ctx, i.m, &amqp.Error{Condition: "cartorio:rejected", Description: i.reason.String()})
	default:
		return i.r.AcceptMessage(ctx, i.m)
	}
}
