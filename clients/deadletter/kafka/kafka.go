// Package kafka is a dead letter in a topic of Kafka.
//
// A topic forgets nothing on demand, so what was removed is written down in a
// topic beside it, "<topic>.handled": one record for each letter, with its
// partition and offset as key and its timestamp as value, which tells it from a
// letter at the same place of a topic that was made anew.
package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// HandledSuffix makes the name of the topic of what was removed.
const HandledSuffix = ".handled"

// Box is a topic.
type Box struct {
	options []kgo.Opt
	topic   string
	client  *kgo.Client // to ask and to publish; nil until it is used

	newest  int64           // records to show, of all partitions; 0: all
	handled map[place]int64 // timestamps in milliseconds, by place
	ready   bool            // the topic of what was removed is there
	found   map[string]bool // topics that are there
}

// place is where a record lies.
type place struct {
	partition int32
	offset    int64
}

func (p place) String() string { return fmt.Sprintf("%d:%d", p.partition, p.offset) }

var _ deadletter.Box = (*Box)(nil)

// Open makes a box of a topic. It connects when it is used.
func Open(a brokers.Address) *Box {
	return &Box{topic: a.Name, options: a.Options(), found: map[string]bool{}}
}

// Newest makes a box of the last records of a topic that is no dead letter, n at
// least where it has so many, as many of each partition: what dlq has removed is
// not looked for.
func Newest(a brokers.Address, n int) *Box {
	b := Open(a)
	b.newest, b.handled = int64(n), map[place]int64{}
	return b
}

const (
	askTime = 15 * time.Second
	// sendTime bounds the wait for one confirm.
	sendTime = 30 * time.Second
	// largestBatch is what a broker takes by its own defaults.
	largestBatch = 1_048_588
)

func (b *Box) connect() error {
	if b.client != nil {
		return nil
	}
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.ProducerBatchMaxBytes(largestBatch), kgo.RecordDeliveryTimeout(sendTime), kgo.ProducerLinger(0)}, b.options...)...)
	if err != nil {
		return fmt.Errorf("make a Kafka client: %w", err)
	}
	b.client = c
	return nil
}

// Walk shows what lies in the topic and was not removed, by partition and offset.
func (b *Box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) error {
	if err := b.connect(); err != nil {
		return err
	}
	if err := b.load(ctx); err != nil {
		return err
	}
	from, to, err := b.bounds(ctx, b.topic)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(from)) {
		if share := int64(len(from)); b.newest > 0 {
			from[p] = max(from[p], to[p]-(b.newest+share-1)/share)
		}
		stop := false
		err := b.read(ctx, b.topic, p, from[p], to[p], func(r *kgo.Record) (bool, error) {
			at := place{r.Partition, r.Offset}
			if sent, gone := b.handled[at]; gone && sent == r.Timestamp.UnixMilli() {
				return true, nil
			}
			fate, err := visit(ctx, letterOf(r))
			if err != nil {
				return false, err
			}
			stop = fate == deadletter.Stop
			if fate == deadletter.Remove {
				if err := b.remove(ctx, at, r.Timestamp); err != nil {
					return false, fmt.Errorf("remove %s: %w", at, err)
				}
			}
			return !stop, nil
		})
		if err != nil || stop {
			return err
		}
	}
	return nil
}

// bounds asks for the first offset of each partition that has records and the
// one behind the last.
func (b *Box) bounds(ctx context.Context, topic string) (from, to map[int32]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if from, to, err = Bounds(ctx, b.client, topic); err != nil {
		return nil, nil, err
	}
	maps.DeleteFunc(from, func(p int32, at int64) bool { return at >= to[p] })
	return from, to, nil
}

// quiet is how long a partition may give nothing before it is taken to have
// ended: the last records may be gone by compaction.
const quiet = 5 * time.Second

// read gives the records of a partition from an offset up to another; visit
// answers whether to go on.
func (b *Box) read(ctx context.Context, topic string, partition int32, from, to int64, visit func(*kgo.Record) (bool, error)) error {
	c, err := kgo.NewClient(append(slices.Clone(b.options),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(from)}}),
		kgo.KeepControlRecords(), kgo.FetchMaxWait(200*time.Millisecond), kgo.FetchMaxBytes(8<<20))...)
	if err != nil {
		return fmt.Errorf("make a Kafka client: %w", err)
	}
	defer c.Close()
	for {
		limited, cancel := context.WithTimeout(ctx, quiet)
		fetches := c.PollRecords(limited, 1000)
		cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, e := range fetches.Errors() {
			if !errors.Is(e.Err, context.DeadlineExceeded) {
				return fmt.Errorf("read partition %d of %s: %w", partition, topic, Explain(e.Err))
			}
		}
		if fetches.NumRecords() == 0 {
			return b.silent(ctx, topic, partition)
		}
		for _, r := range fetches.Records() {
			if r.Offset >= to {
				return nil
			}
			if !r.Attrs.IsControl() {
				if more, err := visit(r); err != nil || !more {
					return err
				}
			}
			if r.Offset == to-1 {
				return nil
			}
		}
	}
}

// silent tells whether a partition that gave nothing has nothing, or whether the
// broker is away.
func (b *Box) silent(ctx context.Context, topic string, partition int32) error {
	if _, _, err := b.bounds(ctx, topic); err != nil {
		return fmt.Errorf("read partition %d of %s: nothing came for %s: %w", partition, topic, quiet, err)
	}
	return nil
}

// load reads what was removed.
func (b *Box) load(ctx context.Context) error {
	if b.handled != nil {
		return nil
	}
	from, to, err := b.bounds(ctx, b.topic+HandledSuffix)
	if errors.Is(err, brokers.ErrMissing) {
		b.handled = map[place]int64{}
		return nil
	}
	if err != nil {
		return err
	}
	handled := map[place]int64{}
	for p, at := range from {
		if err := b.read(ctx, b.topic+HandledSuffix, p, at, to[p], func(r *kgo.Record) (bool, error) {
			partition, offset, ok := bytes.Cut(r.Key, []byte(":"))
			n, err1 := strconv.ParseInt(string(partition), 10, 32)
			o, err2 := strconv.ParseInt(string(offset), 10, 64)
			sent, err3 := strconv.ParseInt(string(r.Value), 10, 64)
			if ok && err1 == nil && err2 == nil && err3 == nil {
				handled[place{int32(n), o}] = sent
			}
			return true, nil
		}); err != nil {
			return err
		}
	}
	b.handled, b.ready = handled, true
	return nil
}

// remove writes down that a letter is handled.
func (b *Box) remove(ctx context.Context, at place, sent time.Time) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	value := strconv.FormatInt(sent.UnixMilli(), 10)
	if err := b.produce(ctx, &kgo.Record{Topic: b.topic + HandledSuffix, Key: []byte(at.String()), Value: []byte(value)}); err != nil {
		return err
	}
	b.handled[at] = sent.UnixMilli()
	return nil
}

// prepare makes the topic of what was removed. It keeps its records for ever, by
// compaction, since retention by time would bring letters back.
func (b *Box) prepare(ctx context.Context) error {
	if b.ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	ask := kmsg.NewPtrCreateTopicsRequest()
	ask.TimeoutMillis = int32(askTime.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = b.topic+HandledSuffix, 1, -1
	policy := kmsg.NewCreateTopicsRequestTopicConfig()
	policy.Name, policy.Value = "cleanup.policy", kmsg.StringPtr("compact")
	t.Configs = append(t.Configs, policy)
	ask.Topics = append(ask.Topics, t)
	answer, err := ask.RequestWith(ctx, b.client)
	if err != nil {
		return fmt.Errorf("create the topic %s: %w", t.Topic, Explain(err))
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create the topic %s, where it is written down which letters are handled: %w", t.Topic, Explain(err))
		}
	}
	b.ready, b.found[t.Topic] = true, true // not every broker knows a new one at once
	return nil
}

// Send publishes to the topic that a message came from.
func (b *Box) Send(ctx context.Context, to deadletter.Destination, l *deadletter.Letter) error {
	return b.publish(ctx, to.String(), l)
}

// Put adds a letter to the topic.
func (b *Box) Put(ctx context.Context, l *deadletter.Letter) error { return b.publish(ctx, b.topic, l) }

// publish sends without a timestamp of its own: a topic forgets by time.
func (b *Box) publish(ctx context.Context, topic string, l *deadletter.Letter) error {
	if err := b.connect(); err != nil {
		return err
	}
	headers := l.Message.Headers
	if l.Message.ContentType != "" && l.Header(contentType) == "" {
		headers = append(slices.Clone(headers), validate.Header{Name: contentType, Value: l.Message.ContentType})
	}
	return b.produce(ctx, &kgo.Record{Topic: topic, Key: l.Key, Value: l.Message.Payload, Headers: recordHeaders(headers)})
}

// find looks for a topic once before it is written to: the library would try a
// user who is refused, until the record is given up.
func (b *Box) find(ctx context.Context, topic string) error {
	if b.found[topic] {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if _, err := partitionsOf(ctx, b.client, topic); err != nil {
		return err
	}
	b.found[topic] = true
	return nil
}

func (b *Box) produce(ctx context.Context, r *kgo.Record) error {
	err := b.find(ctx, r.Topic)
	if err == nil {
		err = b.client.ProduceSync(ctx, r).FirstErr()
	}
	for _, final := range []error{
		kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InvalidTopicException, kerr.MessageTooLarge, kerr.RecordListTooLarge,
		kerr.TopicAuthorizationFailed, kerr.InvalidRecord,
	} {
		if errors.Is(err, final) {
			return fmt.Errorf("publish to %s: %w: %w", r.Topic, validate.ErrPermanent, Explain(err))
		}
	}
	if err != nil {
		return fmt.Errorf("publish to %s: %w", r.Topic, Explain(err))
	}
	return nil
}

// contentType is a header on Kafka.
const contentType = "content-type"

func letterOf(r *kgo.Record) *deadletter.Letter {
	l := &deadletter.Letter{Place: place{r.Partition, r.Offset}.String(), Key: r.Key, Time: r.Timestamp, Message: validate.Message{Destination: r.Topic, Payload: r.Value}}
	for _, h := range r.Headers {
		one := validate.Header{Name: h.Key}
		if h.Value != nil {
			one.Value = h.Value
		}
		l.Message.Headers = append(l.Message.Headers, one)
	}
	l.Message.ContentType = l.Header(contentType)
	return l
}

func recordHeaders(list []validate.Header) []kgo.RecordHeader {
	out := make([]kgo.RecordHeader, 0, len(list))
	for _, h := range list {
		one := kgo.RecordHeader{Key: h.Name}
		switch v := h.Value.(type) {
		case nil:
		case []byte:
			one.Value = v
		case string:
			one.Value = []byte(v)
		default:
			one.Value = fmt.Append(nil, v)
		}
		out = append(out, one)
	}
	return out
}

// Close ends the connection.
func (b *Box) Close() error {
	if b.client != nil {
		b.client.Close()
	}
	return nil
}
