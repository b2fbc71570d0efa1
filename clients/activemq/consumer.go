package activemq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Delivery is an accepted message.
type Delivery struct {
	// Outcome carries the identity, the payload without framing and, when asked
	// for, the parsed document.
	validate.Outcome
	// Message is the broker's message. The consumer acknowledges it.
	Message *Message
	// Attempt counts from 1.
	Attempt int
}

// Handler works on an accepted message and returns when the durable part is
// done; then the message is acknowledged. Its error is transient unless it is
// made by Reject. The context ends when the consumer has waited long enough for
// handlers to finish while it stops.
type Handler func(ctx context.Context, d *Delivery) error

// ConsumerOptions shape a consumer. Queue is needed.
type ConsumerOptions struct {
	// Queue is what is read; a subscriber of a virtual topic reads its own,
	// Consumer.NAME.VirtualTopic.TOPIC.
	Queue string
	// Selector leaves messages to others that do not match, as schemaVersion IN
	// ('1','2'); empty takes all.
	Selector string
	// DeadLetter is the queue of rejected messages, "DLQ.<Queue>" when empty. The
	// broker makes it when the first one comes.
	DeadLetter string
	// BrokerDeadLetter lets a message whose dead letter the broker will not take go
	// where the broker's own strategy puts it, without its reason. Otherwise it is
	// held.
	BrokerDeadLetter bool

	// Workers is how many messages are handled at once, 1. With more than one,
	// messages of a queue finish out of order.
	Workers int
	// Prefetch is how many unacknowledged messages the broker hands out, twice
	// Workers. It counts messages, not bytes.
	Prefetch int

	// Keyed handles messages with one value of the header messageKey one after the
	// other, in the order in which they come, whatever the number of Workers; a
	// failing one holds up its key alone. Messages without the header are in no
	// order. Where several consumers read the queue it takes producers that send
	// JMSXGroupID, as this package's does. It excludes ScheduledRetries.
	Keyed bool

	// Retry says how often a handler is tried.
	Retry retry.Policy
	// ScheduledRetries lets waits of 2 s and more leave the queue: the broker hands
	// the message out again after AMQ_SCHEDULED_DELAY. The messages behind go on
	// meanwhile, so order is lost. Run refuses a broker whose scheduler is off, since
	// it would hand them out at once. Otherwise the worker waits.
	ScheduledRetries bool

	// LossAcceptable says why messages of this queue may be lost, as "presence, the
	// next one comes in a second"; it is logged at the start and told in the signals.
	// Then a message is acknowledged when it is found valid, before the work, and
	// worked on once: what fails or is under way in a crash is gone. The broker's
	// own automatic acknowledgement is not used: it knows no Prefetch. It excludes
	// ScheduledRetries.
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

// Consumer takes messages from a queue, validates them and hands the accepted
// ones to a handler.
type Consumer struct {
	open      Open
	validator *validate.Validator
	expect    *validate.Expect
	handler   Handler
	o         ConsumerOptions
	log       *slog.Logger
	desk      *deliver.Desk
	unburied  unburied
}

const (
	// startTries is how often a consumer tries to start before it gives up.
	startTries = 3
	// mostPrefetch is where a prefetch begins to look copied rather than chosen.
	mostPrefetch = 250
)

// NewConsumer makes a consumer; Run works.
//
// Errors: no queue, the dead letter is the queue, options that exclude each
// other, an Expect whose members do not fit together.
func NewConsumer(open Open, v *validate.Validator, e *validate.Expect, h Handler, o ConsumerOptions) (*Consumer, error) {
	o.Queue, o.DeadLetter = queueName(o.Queue), queueName(o.DeadLetter)
	if o.Queue == "" {
		return nil, errors.New("make a consumer: ConsumerOptions.Queue is empty: name the queue to read")
	}
	if o.DeadLetter == "" {
		o.DeadLetter = "DLQ." + o.Queue
	}
	if o.DeadLetter == o.Queue {
		return nil, fmt.Errorf("make a consumer: the dead letter %s is the queue to read: what is rejected would come again at once", o.DeadLetter)
	}
	if o.Keyed && o.ScheduledRetries {
		return nil, errors.New("make a consumer: Keyed and ScheduledRetries exclude each other: a message that leaves the queue is overtaken by its key's next")
	}
	if o.LossAcceptable != "" && o.ScheduledRetries {
		return nil, errors.New("make a consumer: LossAcceptable and ScheduledRetries exclude each other: what is acknowledged before the work is not tried again")
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
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	c := &Consumer{open: open, validator: v, expect: e, handler: h, o: o, log: o.Logger}
	desk := deliver.Options{
		Validator: v, System: "activemq", Source: o.Queue, Consumer: o.Name, Expected: e.Expected(), Retry: o.Retry, HoldFor: o.HoldFor,
		LeaveToBroker: o.BrokerDeadLetter, LossAcceptable: o.LossAcceptable,
		Prefetch: o.Prefetch, MemoryBudget: o.MemoryBudget, Observe: o.Observe, Logger: o.Logger,
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
// reached in three tries, or its scheduler is off and ScheduledRetries need it.
func (c *Consumer) Run(ctx context.Context) error {
	if err := deliver.Start(ctx, startTries, c.prepare, func(err error) bool { return errors.Is(err, errNoScheduler) }); err != nil {
		return fmt.Errorf("consume from %s: %w", c.o.Queue, err)
	}
	c.desk.Sessions(ctx, c.session)
	return nil
}

// prepare sees that the broker is there and can do what is asked of it.
func (c *Consumer) prepare(ctx context.Context) error {
	l, err := openLink(ctx, c.open, 1)
	if err != nil {
		return err
	}
	defer l.lose(errLeft)
	if c.o.ScheduledRetries {
		return probeScheduler(ctx, l)
	}
	return nil
}

// session consumes on one connection until it is lost, ctx ends, or a message
// was held too long.
func (c *Consumer) session(ctx context.Context) error {
	l, err := openLink(ctx, c.open, c.o.Prefetch)
	if err != nil {
		return err
	}
	defer l.lose(errLeft) // what is not acknowledged goes back to the queue, in its place
	subscribe := frame.New(frame.SUBSCRIBE, frame.Id, "0", frame.Destination, frameDestination(c.o.Queue), frame.Ack, "client-individual",
		"activemq.prefetchSize", strconv.Itoa(c.o.Prefetch), "prefetch-count", strconv.Itoa(c.o.Prefetch)) // the second is RabbitMQ's word
	if c.o.Selector != "" {
		subscribe.Header.Add("selector", c.o.Selector)
	}
	// A broker answers when it has subscribed, and messages may come before: there
	// is room for them.
	if _, err := l.ask(ctx, subscribe); err != nil {
		return fmt.Errorf("begin to consume: %w", err)
	}
	s := deliver.NewSession(ctx)
	deliver.Feed(c.desk, s, l.messages, func(f *frame.Frame) *item { return c.item(l, f) }, c.o.Workers, c.o.Keyed)
	select {
	case <-l.lost:
		// What is held here will come again: nobody is to wait for it.
		err = fmt.Errorf("the connection was lost: %w", l.why())
	case <-ctx.Done():
	case <-s.Stopped():
	}
	// What is worked on ends and is acknowledged; to unsubscribe before would make
	// the broker hand it out anew. Then the connection ends, and what was handed out
	// and not settled goes back.
	s.Finish(c.o.Drain, 0)
	if err != nil {
		return err
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliver.SettleTime)
	defer cancel()
	return l.leave(stop)
}

// unburied remembers messages whose dead letter made the broker end the
// connection: it will not take that either the next time.
type unburied struct {
	mu  sync.Mutex
	ids map[string]bool
}

// mostUnburied bounds what is remembered; a message that is forgotten is tried
// once more.
const mostUnburied = 1000

func (u *unburied) add(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil || len(u.ids) >= mostUnburied {
		u.ids = map[string]bool{}
	}
	u.ids[id] = true
}

func (u *unburied) take(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	is := u.ids[id]
	delete(u.ids, id)
	return is
}
