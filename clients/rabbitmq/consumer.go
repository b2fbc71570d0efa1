package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Delivery is an accepted message.
type Delivery struct {
	// Outcome carries the identity, the payload without framing and, when asked
	// for, the parsed document.
	validate.Outcome
	// Message is the broker's message. The consumer acknowledges it; a handler
	// does not.
	Message *amqp.Delivery
	// Attempt counts from 1.
	Attempt int
}

// Handler works on an accepted message and returns when the durable part is
// done; then the message is acknowledged. Its error is transient unless it is
// made by Reject. The context ends when the consumer has waited long enough for
// handlers to finish while it stops.
type Handler func(ctx context.Context, d *Delivery) error

// ConsumerOptions shape a consumer. Queue and DeadLetter are needed.
type ConsumerOptions struct {
	Queue string
	// DeadLetter is where rejected messages go.
	DeadLetter Destination
	// NoDeadLetterCheck starts although the dead letter's destination cannot be
	// seen to exist.
	NoDeadLetterCheck bool
	// QueueHasDLX says that the queue has a dead-letter exchange of its own:
	// when the consumer cannot publish a dead letter, the message goes there
	// without its reason. Otherwise it is held.
	QueueHasDLX bool

	// Workers is how many messages are handled at once, 1. With more than one,
	// messages of a queue finish out of order.
	Workers int
	// Prefetch is how many unacknowledged messages the broker hands out, twice
	// Workers. It counts messages, not bytes.
	Prefetch int

	// Keyed handles messages with one value of the header messageKey one after the
	// other, in the order in which they come, whatever the number of Workers; a
	// failing one holds up its key alone. Messages without the header are in no
	// order. It takes one consumer on the queue (single active consumer, or a queue
	// of a consistent-hash exchange), and excludes RetryQueues.
	Keyed bool

	// Retry says how often a handler is tried.
	Retry retry.Policy
	// RetryQueues lets waits of 2 s and more leave the queue, into queues
	// "<queue>.retry.<ms>" that the consumer declares; the messages behind go
	// on meanwhile, so order is lost. Otherwise the worker waits.
	RetryQueues bool

	// LossAcceptable says why messages of this queue may be lost, as "presence, the
	// next one comes in a second"; it is logged at the start and told in the signals.
	// Then a message is acknowledged when it is found valid, before the work, and
	// worked on once: what fails or is under way in a crash is gone. The broker's
	// own automatic acknowledgement is not used: it knows no Prefetch. It excludes
	// RetryQueues.
	LossAcceptable string
	// MemoryBudget is how many bytes Prefetch messages of the mean size may have
	// before that is warned of, 64 MiB; negative for no warning.
	MemoryBudget int

	// HoldFor is how long a message that cannot be judged is kept by a worker
	// before it goes back to the queue and the consumer pauses, 60 s.
	HoldFor time.Duration
	// Drain is how long handlers may take to finish when the consumer stops, 30 s.
	Drain time.Duration

	// Name is this consumer in the dead letter's headers; the queue, the host
	// and the process id when empty.
	Name string
	// Observe is told of every message that was settled, when not nil. It must
	// not block.
	Observe func(Handled)
	// Logger takes alarms and lost connections; slog.Default() when nil.
	Logger *slog.Logger
}

// Destination is an exchange and a routing key; the default exchange (empty)
// routes to the queue that the key names.
type Destination struct{ Exchange, Key string }

// Consumer takes messages from a queue, validates them and hands the accepted
// ones to a handler.
type Consumer struct {
	open      Open
	validator *validate.Validator
	expect    *validate.Expect
	handler   Handler
	o         ConsumerOptions
	out       *confirmer // dead letters and retries
	levels    []time.Duration
	log       *slog.Logger
	desk      *deliver.Desk
}

// LossArgument is the argument of a consumer at the broker that tells its
// LossAcceptable.
const LossArgument = "cartorio-loss-acceptable"

// startTries is how often a consumer tries to start before it gives up.
const startTries = 3

// mostPrefetch is where a prefetch begins to look copied rather than chosen.
const mostPrefetch = 250

// NewConsumer makes a consumer; Run works.
//
// Errors: no queue, no dead letter, an Expect whose members do not fit together.
func NewConsumer(open Open, v *validate.Validator, e *validate.Expect, h Handler, o ConsumerOptions) (*Consumer, error) {
	if o.Queue == "" {
		return nil, errors.New("make a consumer: ConsumerOptions.Queue is empty: name the queue to read")
	}
	if o.DeadLetter == (Destination{}) {
		return nil, errors.New("make a consumer: ConsumerOptions.DeadLetter is empty: name the exchange or queue for rejected messages, before the first one comes")
	}
	if o.Keyed && o.RetryQueues {
		return nil, errors.New("make a consumer: Keyed and RetryQueues exclude each other: a message that leaves the queue is overtaken by its key's next")
	}
	if o.LossAcceptable != "" && o.RetryQueues {
		return nil, errors.New("make a consumer: LossAcceptable and RetryQueues exclude each other: what is acknowledged before the work is not tried again")
	}
	if err := e.Check(); err != nil {
		return nil, fmt.Errorf("make a consumer: %w", err)
	}
	o.Workers = max(o.Workers, 1)
	if o.Prefetch <= 0 {
		o.Prefetch = 2 * o.Workers
	}
	o.Retry = o.Retry.OrDefault()
	if o.HoldFor <= 0 {
		o.HoldFor = time.Minute
	}
	if o.Drain <= 0 {
		o.Drain = 30 * time.Second
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s@%s/%d", o.Queue, host, os.Getpid())
	}
	c := &Consumer{open: open, validator: v, expect: e, handler: h, o: o, log: o.Logger}
	if c.log == nil {
		c.log = slog.Default()
	}
	if o.RetryQueues {
		c.levels = o.Retry.Levels(deliver.InPlace)
	}
	desk := deliver.Options{
		Validator: v, System: "rabbitmq", Source: o.Queue, Consumer: o.Name, Expected: e.Expected(), Retry: o.Retry, HoldFor: o.HoldFor,
		LeaveToBroker: o.QueueHasDLX, LossAcceptable: o.LossAcceptable,
		Prefetch: o.Prefetch, MemoryBudget: o.MemoryBudget, Observe: o.Observe, Logger: c.log,
	}
	if o.Keyed {
		desk.Workers = o.Workers // else each worker works on one message
	}
	c.desk = deliver.NewDesk(desk)
	if o.Prefetch > mostPrefetch {
		c.log.Warn("prefetch is high: messages are hoarded by one consumer and redelivered in bursts", "prefetch", o.Prefetch, "workers", o.Workers)
	}
	return c, nil
}

// Run consumes until ctx ends; then it takes no more messages, lets handlers
// finish, gives back what was not handled and answers nil. A lost connection is
// made again.
//
// Errors: at the start only, and not when ctx ends in it: the broker cannot be
// reached in three tries, the queue or the dead letter's destination does not exist.
func (c *Consumer) Run(ctx context.Context) error {
	// What the broker refuses is told at once, a connection that was lost is made
	// again.
	isRefused := func(err error) bool {
		var e *amqp.Error
		return errors.As(err, &e) && e.Server && e.Recover
	}
	if err := deliver.Start(ctx, startTries, c.prepare, isRefused); err != nil {
		return fmt.Errorf("consume from %s: %w", c.o.Queue, err)
	}
	c.out = newConfirmer(c.open, max(2*c.o.Workers, 2))
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.Drain)
		defer cancel()
		_ = c.out.close(stop)
	}()
	c.desk.Sessions(ctx, c.session)
	return nil
}

// prepare looks for the destinations and makes the retry queues. A passive
// declaration that fails closes its channel, so each has its own.
func (c *Consumer) prepare(ctx context.Context) error {
	with := func(f func(Channel) error) error {
		ch, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer ch.Close() //nolint:errcheck // closed by the broker when f failed
		return f(ch)
	}
	if err := with(func(ch Channel) error {
		_, err := ch.QueueDeclarePassive(c.o.Queue, true, false, false, false, nil)
		return err
	}); err != nil {
		return fmt.Errorf("look for the queue: %w", err)
	}
	if !c.o.NoDeadLetterCheck {
		if err := with(c.lookForDeadLetter); err != nil {
			advice := ""
			if e := (*amqp.Error)(nil); errors.As(err, &e) && e.Code == amqp.NotFound {
				advice = ": declare it, or set NoDeadLetterCheck"
			}
			return fmt.Errorf("look for the dead letter's destination: %w%s", err, advice)
		}
	}
	if len(c.levels) == 0 {
		return nil
	}
	return with(func(ch Channel) error { return declareRetry(ch, c.o.Queue, c.levels) })
}

func (c *Consumer) lookForDeadLetter(ch Channel) error {
	d := c.o.DeadLetter
	if d.Exchange == "" {
		_, err := ch.QueueDeclarePassive(d.Key, true, false, false, false, nil)
		return err
	}
	return ch.ExchangeDeclarePassive(d.Exchange, "direct", true, false, false, false, nil)
}

// session consumes on one channel until it is lost, ctx ends, or a message was
// held too long.
func (c *Consumer) session(ctx context.Context) error {
	ch, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer ch.Close() //nolint:errcheck // what is not acknowledged goes back to the queue
	if err := ch.Qos(c.o.Prefetch, 0, false); err != nil {
		return fmt.Errorf("set the prefetch: %w", err)
	}
	tag := fmt.Sprintf("%s-%d", c.o.Name, time.Now().UnixNano())
	if len(tag) > 255 {
		tag = tag[len(tag)-255:]
	}
	deliveries, err := ch.ConsumeWithContext(context.WithoutCancel(ctx), c.o.Queue, tag, false, false, false, false, c.arguments())
	if err != nil {
		return fmt.Errorf("begin to consume: %w", err)
	}
	closes := ch.NotifyClose(make(chan *amqp.Error, 1))
	s := deliver.NewSession(ctx)
	in, ended := make(chan amqp.Delivery), make(chan struct{})
	go func() {
		defer close(ended)
		for d := range deliveries {
			select {
			case in <- d:
			case <-s.Stopped(): // what comes now is left unsettled, which gives it back
			}
		}
	}()
	deliver.Feed(c.desk, s, in, c.item, c.o.Workers, c.o.Keyed)
	var lost error
	select {
	case <-ended:
		lost = errors.New("the broker ended the deliveries")
	case e := <-closes:
		// What is held here will come again: nobody is to wait for it.
		lost = fmt.Errorf("the channel was closed: %w", orClosed(e))
	case <-ctx.Done():
	case <-s.Stopped():
	}
	s.Halt()
	// First no more messages come and what is worked on ends; then the channel
	// closes and what was not settled goes back, all at once and in its place. A
	// negative acknowledgement would do so one by one: on a quorum queue to the
	// end, before the cancel into our own hands again.
	err = ch.Cancel(tag, false)
	s.Finish(c.o.Drain, 0)
	if lost == nil && err != nil {
		lost = fmt.Errorf("stop consuming: %w", err)
	}
	return lost
}

// arguments tell the broker, and by its management cartorio doctor, why this
// consumer may lose messages.
func (c *Consumer) arguments() amqp.Table {
	if c.o.LossAcceptable == "" {
		return nil
	}
	return amqp.Table{LossArgument: c.o.LossAcceptable}
}

// orClosed is why a channel closed, where the broker said so.
func orClosed(e *amqp.Error) error {
	if e == nil {
		return amqp.ErrClosed
	}
	return e
}
