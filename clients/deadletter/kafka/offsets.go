package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

// Bounds asks for the first offset of each partition of a topic, and for the one
// behind its last record; they are equal where there is none.
//
// Errors: wraps brokers.ErrMissing for a topic that is not there, and
// brokers.ErrRefused.
func Bounds(ctx context.Context, c *kgo.Client, topic string) (first, behind map[int32]int64, err error) {
	partitions, err := partitionsOf(ctx, c, topic)
	if err != nil {
		return nil, nil, err
	}
	if behind, err = offsets(ctx, c, topic, partitions, -1); err != nil {
		return nil, nil, err
	}
	if first, err = offsets(ctx, c, topic, partitions, -2); err != nil {
		return nil, nil, err
	}
	return first, behind, nil
}

func partitionsOf(ctx context.Context, c *kgo.Client, topic string) ([]int32, error) {
	ask := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	ask.Topics = append(ask.Topics, t)
	answer, err := ask.RequestWith(ctx, c)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, fmt.Errorf("connect to the broker: %w", dial)
		}
		return nil, fmt.Errorf("ask the broker for the topic %s: %w", topic, Explain(err))
	}
	var out []int32
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, fmt.Errorf("look for the topic %s: %w", topic, Explain(err))
		}
		for _, p := range t.Partitions {
			out = append(out, p.Partition)
		}
	}
	return out, nil
}

// offsets asks for the first offsets (-2) or for those behind the last (-1).
func offsets(ctx context.Context, c *kgo.Client, topic string, partitions []int32, at int64) (map[int32]int64, error) {
	ask := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for _, p := range partitions {
		one := kmsg.NewListOffsetsRequestTopicPartition()
		one.Partition, one.Timestamp = p, at
		t.Partitions = append(t.Partitions, one)
	}
	ask.Topics = append(ask.Topics, t)
	answer, err := ask.RequestWith(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("ask for the offsets of %s: %w", topic, Explain(err))
	}
	out := map[int32]int64{}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("ask for the offsets of partition %d of %s: %w", p.Partition, topic, Explain(err))
			}
			out[p.Partition] = p.Offset
		}
	}
	return out, nil
}

// Explain wraps what the broker says with what it means: brokers.ErrRefused or
// brokers.ErrMissing, where it is one of them.
func Explain(err error) error {
	if errors.Is(err, brokers.ErrRefused) || errors.Is(err, brokers.ErrMissing) {
		return err
	}
	for _, refused := range []error{kerr.SaslAuthenticationFailed, kerr.UnsupportedSaslMechanism, kerr.TopicAuthorizationFailed, kerr.GroupAuthorizationFailed, kerr.ClusterAuthorizationFailed} {
		if errors.Is(err, refused) {
			return fmt.Errorf("%w: %w", brokers.ErrRefused, err)
		}
	}
	for _, missing := range []error{kerr.UnknownTopicOrPartition, kerr.UnknownTopicID, kerr.InvalidTopicException, kerr.GroupIDNotFound} {
		if errors.Is(err, missing) {
			return fmt.Errorf("%w: %w", brokers.ErrMissing, err)
		}
	}
	return err
}
