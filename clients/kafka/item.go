package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Handled is one message that was settled, for logs and metrics.
type Handled = deliver.Handled

// Action is how a message was settled.
type Action = deliver.Action

// The ways in which a message is settled.
const (
	Acknowledged = deliver.Acknowledged // marked: its offset may be committed
	Skipped      = deliver.Skipped
	DeadLettered = deliver.DeadLettered
	Delayed      = deliver.Delayed   // published to a retry topic, then marked
	GivenBack    = deliver.GivenBack // unmarked: it comes again
	Lost         = deliver.Lost      // acknowledged before the work, which failed; see LossAcceptable
)

// The headers of retries. RetryAttempts counts the attempts made; RetryNotBefore
// is when the next one may be, RFC 3339.
const (
	RetryAttempts  = "retryAttempts"
	RetryNotBefore = "retryNotBefore"
)

// item is one record, as a desk works on it.
type item struct {
	m     *member
	p     *partition
	at    *mark
	r     *kgo.Record
	value validate.Message
	key   *validate.Outcome
}

var _ deliver.Item = (*item)(nil)

// lane is what a record is in order with, within its partition.
func (c *Consumer) lane(r *kgo.Record) string {
	if !c.o.Keyed {
		return ""
	}
	if r.Key != nil {
		return "k" + string(r.Key)
	}
	if key := text(r, messageKeyHeader); key != "" {
		return "k" + key
	}
	return strconv.FormatInt(r.Offset, 10) // alone
}

// Facts are the record's. Kafka does not tell a redelivery.
func (i *item) Facts() deliver.Facts {
	f := deliver.Facts{Destination: i.r.Topic, Headers: i.value.Headers, MessageID: i.value.MessageID, Bytes: len(i.r.Value)}
	if n, err := strconv.ParseUint(text(i.r, RetryAttempts), 10, 16); err == nil {
		f.Attempts = int(n)
	}
	if level, ok := i.m.c.levelOf(i.r.Topic); ok {
		// Nobody can make a topic wait for longer than its level.
		if t, err := time.Parse(time.RFC3339Nano, text(i.r, RetryNotBefore)); err == nil && time.Until(t) <= level {
			f.NotBefore = t
		}
	}
	return f
}

// Judge asks the validator about the key, when it has a schema, and the value.
func (i *item) Judge(ctx context.Context) validate.Outcome {
	c := i.m.c
	if c.o.Key != nil {
		k := keyOf(i.r, i.value.Headers)
		o := c.validator.BeforeConsume(ctx, &k, c.o.Key)
		if o.Verdict != validate.Accept {
			o.Err = fmt.Errorf("the key: %w", orReason(&o))
			return o
		}
		i.key = &o
	}
	return c.validator.BeforeConsume(ctx, &i.value, c.expect)
}

func orReason(o *validate.Outcome) error {
	if o.Err == nil {
		return errors.New(o.Reason.String())
	}
	return o.Err
}

// Handle calls the user's handler.
func (i *item) Handle(ctx context.Context, o *validate.Outcome, attempt int) error {
	return i.m.c.handler(ctx, &Delivery{Outcome: *o, Key: i.key, Message: i.r, Attempt: attempt})
}

// DeadLetter publishes everything of the original with as much of the reason as
// the topic's limit has room for.
func (i *item) DeadLetter(ctx context.Context, dead validate.DeadLetter) error {
	dead.Destination, dead.Partition, dead.Offset, dead.Timestamp = i.origin()
	var err error
	for _, most := range []int{deliver.MostDead, 2 << 10, 1} {
		r := i.republish(i.m.c.o.DeadLetter, dead.Headers(i.value.Headers, most))
		if i.m.c.o.SpringHeaders {
			r.Headers = append(r.Headers, i.spring(dead, most)...)
		}
		err = send(ctx, i.m.client, r, i.value.MessageID)
		var e *Error
		if !errors.As(err, &e) || e.Fate != TooLarge {
			return err
		}
	}
	return err
}

// origin is where the record stood, in the dead letter's words.
func (i *item) origin() (topic, partition, offset, timestamp string) {
	return i.r.Topic, strconv.Itoa(int(i.r.Partition)), strconv.FormatInt(i.r.Offset, 10), strconv.FormatInt(i.r.Timestamp.UnixMilli(), 10)
}

// republish is the record as one to send on. Its time is that of sending: a
// topic forgets by time, and what is set aside must stay.
func (i *item) republish(topic string, headers []validate.Header) *kgo.Record {
	return &kgo.Record{Topic: topic, Key: i.r.Key, Value: i.r.Value, Headers: recordHeaders(headers)}
}

// spring are the headers of Spring for Apache Kafka's dead letters, numbers in
// bytes of Java's order.
//
// Source: client specification 3.6.
func (i *item) spring(d validate.DeadLetter, most int) []kgo.RecordHeader {
	problem := ""
	if d.Err != nil {
		problem = d.Err.Error()
	}
	kind := "CreateTime"
	if i.r.Attrs.TimestampType() == 1 {
		kind = "LogAppendTime"
	}
	cut := func(s string, most int) []byte { return []byte(strings.ToValidUTF8(s[:min(len(s), most)], "")) }
	u64 := func(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) } //nolint:gosec // Java's two's complement
	return []kgo.RecordHeader{
		{Key: "kafka_dlt-exception-fqcn", Value: []byte("cartorio." + d.Reason.String())},
		{Key: "kafka_dlt-exception-message", Value: cut(problem, min(most, 2<<10))},
		{Key: "kafka_dlt-exception-stacktrace", Value: cut(d.Trace, min(most, 8<<10))},
		{Key: "kafka_dlt-original-topic", Value: []byte(i.r.Topic)},
		{Key: "kafka_dlt-original-partition", Value: binary.BigEndian.AppendUint32(nil, uint32(i.r.Partition))}, //nolint:gosec // as above
		{Key: "kafka_dlt-original-offset", Value: u64(i.r.Offset)},
		{Key: "kafka_dlt-original-timestamp", Value: u64(i.r.Timestamp.UnixMilli())},
		{Key: "kafka_dlt-original-timestamp-type", Value: []byte(kind)},
		{Key: "kafka_dlt-original-consumer-group", Value: []byte(i.m.c.o.Group)},
	}
}

// Delay publishes to the retry topic of the wait's level. The record remembers
// where it stood first and when it failed first.
func (i *item) Delay(ctx context.Context, f deliver.Failure) (ok bool, err error) {
	level, ok := i.m.c.levelFor(f.Wait)
	if !ok {
		return false, nil
	}
	headers := make([]validate.Header, 0, len(i.value.Headers)+8)
	isMoved := false
	for _, h := range i.value.Headers {
		switch h.Name {
		case RetryAttempts, RetryNotBefore:
			continue
		case validate.DLQOriginalDestination:
			isMoved = true
		}
		headers = append(headers, h)
	}
	// A random share comes off, so that what failed together does not come back
	// together and nothing waits longer than its topic's level.
	wait := level - rand.N(level/4+1) //nolint:gosec // spreads load, hides nothing
	add := func(name, value string) {
		headers = append(headers, validate.Header{Name: name, Value: value})
	}
	add(RetryAttempts, strconv.Itoa(f.Attempts))
	add(RetryNotBefore, time.Now().Add(wait).UTC().Format(time.RFC3339Nano))
	if !isMoved {
		topic, partition, offset, timestamp := i.origin()
		add(validate.DLQOriginalDestination, topic)
		add(validate.DLQOriginalPartition, partition)
		add(validate.DLQOriginalOffset, offset)
		add(validate.DLQOriginalTimestamp, timestamp)
		add(validate.DLQFirstFailedAt, f.First.UTC().Format(time.RFC3339Nano))
	}
	return true, send(ctx, i.m.client, i.republish(i.m.c.retryTopic(level), headers), i.value.MessageID)
}

// Settle marks the record, which lets its offset be committed once all before it
// are marked.
func (i *item) Settle(a Action) error {
	if a != GivenBack {
		i.m.finish(i.p, i.at)
	}
	return nil
}

// retryTopic is the topic where messages of the group wait for one level.
func (c *Consumer) retryTopic(level time.Duration) string {
	return c.o.Group + ".retry." + strconv.FormatInt(level.Milliseconds(), 10)
}

// levelOf is the level of a retry topic.
func (c *Consumer) levelOf(topic string) (time.Duration, bool) {
	for _, level := range c.levels {
		if c.retryTopic(level) == topic {
			return level, true
		}
	}
	return 0, false
}

// levelFor is the level for a wait: the first that is not shorter, else the last.
func (c *Consumer) levelFor(wait time.Duration) (time.Duration, bool) {
	for _, level := range c.levels {
		if level >= wait {
			return level, true
		}
	}
	if len(c.levels) == 0 {
		return 0, false
	}
	return c.levels[len(c.levels)-1], true
}
