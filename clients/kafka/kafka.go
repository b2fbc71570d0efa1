// Package kafka publishes validated messages to Kafka and consumes them: a
// [Producer] lets nothing through that its schema refuses and answers only when
// all in-sync replicas have the message; a [Consumer] hands the accepted ones to
// a handler, sets the rejected ones aside with their reason, and keeps those
// that could not be judged, while other partitions go on. Offsets are committed
// by hand, never beyond a message that is not finished.
//
// It speaks through franz-go: a producer takes the caller's client, a consumer
// makes one from the caller's options ([With]), since a group's callbacks are
// fixed when a client is made. It decides nothing about schemas, which is
// package validate's.
//
// Start with [NewProducer], and with [With] and [NewConsumer].
package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Publisher is what a producer needs of *kgo.Client.
type Publisher interface {
	Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error))
}

// Offsets are the next offsets to read, by topic and partition.
type Offsets map[string]map[int32]kgo.EpochOffset

// Client is what a consumer needs of Kafka; [With] makes one of franz-go.
type Client interface {
	Publisher
	// PollRecords waits for records. Partitions do not change hands from its
	// return until AllowRebalance.
	PollRecords(ctx context.Context, most int) kgo.Fetches
	AllowRebalance()
	PauseFetchPartitions(map[string][]int32) map[string][]int32
	ResumeFetchPartitions(map[string][]int32)
	// Commit stores offsets for the group.
	Commit(ctx context.Context, o Offsets) error
	// Missing are those of the topics that do not exist.
	Missing(ctx context.Context, topics []string) ([]string, error)
	// Create makes topics with the broker's own defaults; one that exists is fine.
	Create(ctx context.Context, topics []string) error
	// Close leaves the group.
	Close()
}

// Group is a consumer's membership: what it reads, and what it is to be told.
// With no name there is no membership and the client only writes and asks.
type Group struct {
	Name   string
	Topics []string
	// Assigned, Revoked and Lost are told of partitions, one call at a time.
	// Revoked ones are still ours until it returns; lost ones are not.
	Assigned, Revoked, Lost func(ctx context.Context, partitions map[string][]int32)
	// Rebalance is how long a member may take, from a rebalance's beginning, to let
	// go of what it has and to join again; 0 for the client's own.
	Rebalance time.Duration
}

// Open makes a client. A consumer calls it once for its group, and once before
// to look for its topics.
type Open func(ctx context.Context, g Group) (Client, error)

// largestBatch is the largest batch that a broker takes by its own defaults: a
// message that was as large as it may be fits a dead letter's topic again.
const largestBatch = 1_048_588

// With opens franz-go clients with options of the caller's, kgo.SeedBrokers at
// least. Those that belong to the group, to its offsets and to rebalancing are
// the consumer's. The rebalance timeout follows ConsumerOptions.Drain, unless the
// options name one.
//
// A line that is cut and never speaks again costs a consumer up to that timeout and
// kgo.RequestTimeoutOverhead, 65 s by default: franz-go may have asked over it to
// join the group, and that answer may rightly take so long. A short Drain makes it
// short; a producer goes on after the overhead alone.
func With(options ...kgo.Opt) Open {
	return func(_ context.Context, g Group) (Client, error) {
		// A partition that is read on waits for the fetch that is under way.
		all := []kgo.Opt{kgo.ProducerBatchMaxBytes(largestBatch), kgo.FetchMaxWait(500 * time.Millisecond)}
		if g.Rebalance > 0 {
			all = append(all, kgo.RebalanceTimeout(g.Rebalance))
		}
		all = append(all, options...)
		if g.Name != "" {
			told := func(f func(context.Context, map[string][]int32)) func(context.Context, *kgo.Client, map[string][]int32) {
				return func(ctx context.Context, _ *kgo.Client, m map[string][]int32) { f(ctx, m) }
			}
			all = append(all,
				kgo.ConsumerGroup(g.Name), kgo.ConsumeTopics(g.Topics...), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
				kgo.OnPartitionsAssigned(told(g.Assigned)), kgo.OnPartitionsRevoked(told(g.Revoked)), kgo.OnPartitionsLost(told(g.Lost)))
		}
		c, err := kgo.NewClient(all...)
		if err != nil {
			return nil, fmt.Errorf("make a Kafka client: %w", err)
		}
		if err := confirms(c); err != nil {
			c.Close()
			return nil, fmt.Errorf("make a Kafka client: %w", err)
		}
		return &client{c}, nil
	}
}

// confirms refuses a client that does not wait for all replicas, or whose own
// retries could write a message twice: dead letters are as dear as messages.
func confirms(p any) error {
	c, ok := p.(interface{ OptValue(any) any })
	if !ok {
		return nil
	}
	if acks, ok := c.OptValue(kgo.RequiredAcks).(kgo.Acks); ok && acks != kgo.AllISRAcks() {
		return errors.New("kgo.RequiredAcks is not AllISRAcks: a message that one broker alone has can be lost: leave the option out")
	}
	if off, ok := c.OptValue(kgo.DisableIdempotentWrite).(bool); ok && off {
		return errors.New("kgo.DisableIdempotentWrite is set: a retry could write a message twice: leave the option out")
	}
	return nil
}

// client is franz-go's, with what it answers in our words.
type client struct{ *kgo.Client }

// Close leaves the group.
func (c *client) Close() { c.CloseAllowingRebalance() }

// Commit stores offsets and answers the first error of any partition.
func (c *client) Commit(ctx context.Context, o Offsets) error {
	var failed error
	c.CommitOffsetsSync(ctx, o, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
		if failed = err; err != nil || answer == nil {
			return
		}
		for _, t := range answer.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil && failed == nil {
					failed = fmt.Errorf("partition %d of %s: %w", p.Partition, t.Topic, err)
				}
			}
		}
	})
	if failed != nil {
		return fmt.Errorf("commit offsets: %w", failed)
	}
	return nil
}

// Missing asks for the topics' metadata, which creates none.
func (c *client) Missing(ctx context.Context, topics []string) ([]string, error) {
	ask := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		ask.Topics = append(ask.Topics, t)
	}
	answer, err := ask.RequestWith(ctx, c.Client)
	if err != nil {
		return nil, fmt.Errorf("look for the topics %s: %w", strings.Join(topics, ", "), err)
	}
	var missing []string
	for _, t := range answer.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		switch err := kerr.ErrorForCode(t.ErrorCode); {
		case err == nil, kerr.IsRetriable(err) && !errors.Is(err, kerr.UnknownTopicOrPartition):
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			missing = append(missing, name)
		default:
			return nil, fmt.Errorf("look for the topic %s: %w", name, err)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// Create makes topics.
func (c *client) Create(ctx context.Context, topics []string) error {
	ask := kmsg.NewPtrCreateTopicsRequest()
	ask.TimeoutMillis = 15_000
	for _, name := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
		ask.Topics = append(ask.Topics, t)
	}
	answer, err := ask.RequestWith(ctx, c.Client)
	if err != nil {
		return fmt.Errorf("create the topics %s: %w", strings.Join(topics, ", "), err)
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create the topic %s: %w", t.Topic, err)
		}
	}
	return nil
}
