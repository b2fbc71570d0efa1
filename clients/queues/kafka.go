package queues

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
)

// overKafka asks for a topic's offsets, and for those of a group and its members.
func overKafka(ctx context.Context, at brokers.Address, group string) (Numbers, error) {
	c, err := kgo.NewClient(at.Options()...)
	if err != nil {
		return Numbers{}, fmt.Errorf("make a Kafka client: %w", err)
	}
	defer c.Close()
	k := asker{c: c, topic: at.Name}
	partitions, err := k.partitions(ctx)
	if err != nil {
		return Numbers{}, fmt.Errorf("look for the topic: %w", err)
	}
	first, err := k.offsets(ctx, partitions, -2)
	if err != nil {
		return Numbers{}, err
	}
	last, err := k.offsets(ctx, partitions, -1)
	if err != nil {
		return Numbers{}, err
	}
	n := Numbers{Partitions: len(partitions)}
	if group != "" {
		members, err := k.members(ctx, group)
		if err != nil {
			return Numbers{}, err
		}
		n.Consumers = known(members)
		committed, err := k.committed(ctx, group, partitions)
		if err != nil {
			return Numbers{}, err
		}
		for p, at := range committed {
			first[p] = max(first[p], at)
		}
	}
	ready := int64(0)
	for _, p := range partitions {
		ready += max(last[p]-first[p], 0)
	}
	n.Ready = known(ready)
	return n, nil
}

// asker asks a Kafka cluster about a topic.
type asker struct {
	c     *kgo.Client
	topic string
}

func (k asker) partitions(ctx context.Context) ([]int32, error) {
	ask := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(k.topic)
	ask.Topics = append(ask.Topics, t)
	answer, err := ask.RequestWith(ctx, k.c)
	if err != nil {
		return nil, err
	}
	var out []int32
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return nil, err
		}
		for _, p := range t.Partitions {
			out = append(out, p.Partition)
		}
	}
	return out, nil
}

// offsets asks for the first offsets (-2) or for those behind the last (-1).
func (k asker) offsets(ctx context.Context, partitions []int32, at int64) (map[int32]int64, error) {
	ask := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = k.topic
	for _, p := range partitions {
		one := kmsg.NewListOffsetsRequestTopicPartition()
		one.Partition, one.Timestamp = p, at
		t.Partitions = append(t.Partitions, one)
	}
	ask.Topics = append(ask.Topics, t)
	answer, err := ask.RequestWith(ctx, k.c)
	if err != nil {
		return nil, fmt.Errorf("ask for the offsets: %w", err)
	}
	out := map[int32]int64{}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("ask for the offsets of partition %d: %w", p.Partition, err)
			}
			out[p.Partition] = p.Offset
		}
	}
	return out, nil
}

// committed asks for a group's offsets; partitions without one are left out.
func (k asker) committed(ctx context.Context, group string, partitions []int32) (map[int32]int64, error) {
	ask := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	g.Group, t.Topic, t.Partitions = group, k.topic, partitions
	g.Topics = append(g.Topics, t)
	ask.Groups = append(ask.Groups, g)
	answer, err := ask.RequestWith(ctx, k.c)
	if err != nil {
		return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, err)
	}
	out := map[int32]int64{}
	for _, g := range answer.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, err)
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, err)
				}
				if p.Offset >= 0 {
					out[p.Partition] = p.Offset
				}
			}
		}
	}
	return out, nil
}

func (k asker) members(ctx context.Context, group string) (int64, error) {
	ask := kmsg.NewPtrDescribeGroupsRequest()
	ask.Groups = []string{group}
	answer, err := ask.RequestWith(ctx, k.c)
	if err != nil {
		return 0, fmt.Errorf("ask for the members of the group %s: %w", group, err)
	}
	n := int64(0)
	for _, g := range answer.Groups {
		err := kerr.ErrorForCode(g.ErrorCode)
		switch {
		case errors.Is(err, kerr.GroupIDNotFound) || err == nil && g.State == "Dead": // older brokers say so
			return 0, fmt.Errorf("there is no consumer group %s", group)
		case err != nil:
			return 0, fmt.Errorf("ask for the members of the group %s: %w", group, err)
		}
		n += int64(len(g.Members))
	}
	return n, nil
}
