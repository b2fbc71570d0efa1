package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Delivery is an accepted message.
type Delivery struct {
	// Outcome carries the identity, the payload without framing and, when asked
	// for, the parsed document.
	validate.Outcome
	// Key is what was decided about the record's key, when ConsumerOptions.Key is
	// set.
	Key *validate.Outcome
	// Message is the record. The consumer marks it; a handler does not.
	Message *kgo.Record
	// Attempt counts from 1.
	Attempt int
}

// Handler works on an accepted message and returns when the durable part is
// done; then its offset may be committed. Its error is transient unless it is
// made by Reject. The context ends when the consumer has waited long enough for
// handlers to finish while it stops or loses the partition.
type Handler func(ctx context.Context, d *Delivery) error

// ConsumerOptions shape a consumer. Group, Topics and DeadLetter are needed.
type ConsumerOptions struct {
	Group  string
	Topics []string
	// DeadLetter is the topic of rejected messages: the group's own, since each
	// group rejects for reasons of its own.
	DeadLetter string
	// NoDeadLetterCheck starts although that topic cannot be seen to exist.
	NoDeadLetterCheck bool
	// SpringHeaders adds the dead letter's headers that Spring for Apache Kafka
	// writes, kafka_dlt-….
	SpringHeaders bool

	// Key is what is expected of the records' keys; nil leaves them alone.
	Key *validate.Expect

	// Keyed handles messages of one partition at the same time, but those with one
	// key one after the other, in the order in which they come; a failing one holds
	// up its key alone. Otherwise all messages of a partition are handled one after
	// the other. Messages without a key (record key, else the header messageKey) are
	// in no order then.
	Keyed bool
	// Workers is how many messages are handled at once, of all partitions; 0: one of
	// each partition, or 8 when Keyed.
	Workers int
	// Prefetch is how many messages of one partition may wait here, 500; they may
	// not have more than 16 MiB either. What is beyond is left at the broker, and
	// other partitions are read on.
	Prefetch int

	// Retry says how often a handler is tried.
	Retry retry.Policy
	// RetryTopics lets waits of 2 s and more leave the partition, into topics
	// "<group>.retry.<ms>" that the consumer makes and reads; the messages behind go
	// on meanwhile, so order is lost. Otherwise the partition waits, or with Keyed
	// the key; the two exclude each other.
	RetryTopics bool

	// LossAcceptable says why messages may be lost, as "presence, the next one comes
	// in a second"; it is logged at the start and told in the signals. Then a message
	// is marked when it is found valid, before the work, and worked on once: what
	// fails or is under way in a crash is gone, but for what CommitEvery had not
	// committed yet. It excludes RetryTopics.
	LossAcceptable string

	// CommitEvery is how long finished messages may be uncommitted, 200 ms: what
	// comes twice after a crash.
	CommitEvery time.Duration
	// Drain is how long handlers may take to finish when the consumer stops or a
	// partition goes to another member, 30 s. The group's rebalance timeout is 25 s
	// more, unless With was given another.
	Drain time.Duration

	// Name is this consumer in the dead letter's headers; the group, the host and
	// the process id when empty.
	Name string
	// Observe is told of every message that was settled, when not nil. It must
	// not block.
	Observe func(Handled)
	// Logger takes alarms and lost connections; slog.Default() when nil.
	Logger *slog.Logger
}

// Consumer takes messages from topics as a member of a group, validates them and
// hands the accepted ones to a handler.
type Consumer struct {
	open      Open
	validator *validate.Validator
	expect    *validate.Expect
	handler   Handler
	o         ConsumerOptions
	levels    []time.Duration
	desk      *deliver.Desk
	log       *slog.Logger
}

// NewConsumer makes a consumer; Run works.
//
// Errors: no group, no topic, no dead letter, options that exclude each other,
// an Expect whose members do not fit together.
func NewConsumer(open Open, v *validate.Validator, e *validate.Expect, h Handler, o ConsumerOptions) (*Consumer, error) {
	switch {
	case o.Group == "":
		return nil, errors.New("make a consumer: ConsumerOptions.Group is empty: name the consumer group, whose offsets are committed")
	case len(o.Topics) == 0:
		return nil, errors.New("make a consumer: ConsumerOptions.Topics is empty: name the topics to read")
	case o.DeadLetter == "":
		return nil, errors.New("make a consumer: ConsumerOptions.DeadLetter is empty: name the topic of rejected messages, before the first one comes")
	case slices.Contains(o.Topics, o.DeadLetter):
		return nil, fmt.Errorf("make a consumer: the dead letter %s is among the topics to read: what is rejected would come again at once", o.DeadLetter)
	case o.Keyed && o.RetryTopics:
		return nil, errors.New("make a consumer: Keyed and RetryTopics exclude each other: a message that leaves its partition is overtaken by its key's next")
	}
	if o.LossAcceptable != "" && o.RetryTopics {
		return nil, errors.New("make a consumer: LossAcceptable and RetryTopics exclude each other: what is marked before the work is not tried again")
	}
	for _, one := range []*validate.Expect{e, o.Key} {
		if one == nil {
			continue
		}
		if err := one.Check(); err != nil {
			return nil, fmt.Errorf("make a consumer: %w", err)
		}
	}
	if o.Keyed && o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Prefetch <= 0 {
		o.Prefetch = 500
	}
	if o.CommitEvery <= 0 {
		o.CommitEvery = 200 * time.Millisecond
	}
	if o.Drain <= 0 {
		o.Drain = 30 * time.Second
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s@%s/%d", o.Group, host, os.Getpid())
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Retry = o.Retry.OrDefault()
	c := &Consumer{open: open, validator: v, expect: e, handler: h, o: o, log: o.Logger}
	if o.RetryTopics {
		c.levels = o.Retry.Levels(deliver.InPlace)
	}
	c.desk = deliver.NewDesk(deliver.Options{
		Validator: v, System: "kafka", Source: o.Group, Consumer: o.Name, Expected: e.Expected(), Retry: o.Retry, Workers: max(o.Workers, 0), LossAcceptable: o.LossAcceptable, Observe: o.Observe, Logger: o.Logger,
	})
	return c, nil
}

const (
	// startTries is how often a consumer looks for its topics, which takes a second
	// and a half.
	startTries = 5
	// askTime bounds the start, and each commit.
	askTime = 15 * time.Second
)

// Run consumes until ctx ends; then it takes no more messages, lets handlers
// finish, commits what is finished, leaves the group and answers nil. A lost
// connection is made again.
//
// Errors: at the start only, and not when ctx ends in it: the broker cannot be
// reached within 15 s, a topic or the dead letter's topic does not exist.
func (c *Consumer) Run(ctx context.Context) error {
	err := c.start(ctx)
	if ctx.Err() != nil {
		return nil // it was told to stop before it began
	}
	if err != nil {
		return fmt.Errorf("consume as group %s: %w", c.o.Group, err)
	}
	m := newMember(ctx, c)
	topics := append([]string(nil), c.o.Topics...)
	for _, level := range c.levels {
		topics = append(topics, c.retryTopic(level))
	}
	client, err := c.open(ctx, Group{Name: c.o.Group, Topics: topics, Assigned: m.assigned, Revoked: m.revoked, Lost: m.lost, Rebalance: notice + c.o.Drain + grace + askTime})
	if err != nil && ctx.Err() != nil {
		return nil // as above
	}
	if err != nil {
		return fmt.Errorf("consume as group %s: %w", c.o.Group, err)
	}
	m.begin(client)
	defer client.Close()
	defer m.stop()
	pause := deliver.FirstPause
	for {
		fetches := client.PollRecords(ctx, c.o.Prefetch)
		n := m.take(fetches)
		client.AllowRebalance()
		if ctx.Err() != nil {
			return nil
		}
		err := fetches.Err()
		if errors.Is(err, kgo.ErrClientClosed) {
			return fmt.Errorf("consume as group %s: %w", c.o.Group, err)
		}
		if err == nil || n > 0 {
			pause = deliver.FirstPause
			continue
		}
		c.log.Warn("the broker did not give messages and is asked again", "group", c.o.Group, "error", err)
		if deliver.Sleep(ctx, pause) != nil {
			return nil
		}
		pause = min(2*pause, deliver.LongestPause)
	}
}

// start looks for the topics and makes those of retries. It tries again, since a
// topic that was created just now is not known to every broker yet.
func (c *Consumer) start(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client, err := c.open(asking, Group{})
	if err != nil {
		return err
	}
	defer client.Close()
	return deliver.Start(ctx, startTries, func(context.Context) error { return c.prepare(asking, client) }, func(error) bool { return asking.Err() != nil })
}

// missing says that topics are not there.
func missing(names []string, what string) error {
	return fmt.Errorf("there is no topic %s: %s", strings.Join(names, ", "), what)
}

func (c *Consumer) prepare(ctx context.Context, client Client) error {
	gone, err := client.Missing(ctx, c.o.Topics)
	if err != nil {
		return err
	}
	if len(gone) > 0 {
		return missing(gone, "create what is to be read")
	}
	if !c.o.NoDeadLetterCheck {
		gone, err := client.Missing(ctx, []string{c.o.DeadLetter})
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			return missing(gone, "it is the dead letter's: create it, or set NoDeadLetterCheck")
		}
	}
	if len(c.levels) == 0 {
		return nil
	}
	var topics []string
	for _, level := range c.levels {
		topics = append(topics, c.retryTopic(level))
	}
	if gone, err = client.Missing(ctx, topics); err != nil || len(gone) == 0 {
		return err
	}
	return client.Create(ctx, gone)
}
