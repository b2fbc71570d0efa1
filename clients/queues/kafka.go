package queues

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter/kafka"
)

// overKafka asks for a topic's offsets, and for those of a group and its members.
func overKafka(ctx context.Context, at brokers.Address, group string) (Numbers, error) {
	c, err := kgo.NewClient(at.Options()...)
	if err != nil {
		return Numbers{}, fmt.Errorf("make a Kafka client: %w", err)
	}
	defer c.Close()
	first, last, err := kafka.Bounds(ctx, c, at.Name)
	if err != nil {
		return Numbers{}, err
	}
	partitions := slices.Sorted(maps.Keys(last))
	k := asker{c: c, topic: at.Name}
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

// asker asks a Kafka cluster about a group's place in a topic.
type asker struct {
	c     *kgo.Client
	topic string
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
		return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, kafka.Explain(err))
	}
	out := map[int32]int64{}
	for _, g := range answer.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, kafka.Explain(err))
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return nil, fmt.Errorf("ask for the offsets of the group %s: %w", group, kafka.Explain(err))
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
		return 0, fmt.Errorf("ask for the members of the group %s: %w", group, kafka.Explain(err))
	}
	n := int64(0)
	for _, g := range answer.Groups {
		err := kerr.ErrorForCode(g.ErrorCode)
		switch {
		case errors.Is(err, kerr.GroupIDNotFound) || err == nil && g.State == "Dead": // older brokers say so
			return 0, fmt.Errorf("look for the consumer group %s: %w", group, brokers.ErrMissing)
		case err != nil:
			return 0, fmt.Errorf("ask for the members of the group %s: %w", group, kafka.Explain(err))
		}
		n += int64(len(g.Members))
	}
	return n, nil
}
