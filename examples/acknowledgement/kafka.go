package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// kafkaBench measures Kafka, whose consumers share partitions and not messages,
// and whose acknowledgement is a commit of all that came before.
type kafkaBench struct {
	address string
	v       *validate.Validator
	k       *kgo.Client
	topic   string
}

// fresh lets clients see a topic that was made just now.
var fresh = kgo.MetadataMinAge(100 * time.Millisecond)

func openKafka(_ context.Context, address string, v *validate.Validator) (bench, error) {
	k, err := kgo.NewClient(kgo.SeedBrokers(address), fresh)
	if err != nil {
		return nil, fmt.Errorf("make a Kafka client: %w", err)
	}
	return &kafkaBench{address: address, v: v, k: k}, nil
}

func (b *kafkaBench) isShared() bool { return false }

func (b *kafkaBench) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	b.remove(ctx)
	b.k.Close()
}

func (b *kafkaBench) remove(ctx context.Context) {
	ask := kmsg.NewPtrDeleteTopicsRequest()
	for _, topic := range []string{b.topic, b.topic + ".dead"} {
		one := kmsg.NewDeleteTopicsRequestTopic()
		one.Topic = kmsg.StringPtr(topic)
		ask.Topics, ask.TopicNames = append(ask.Topics, one), append(ask.TopicNames, topic)
	}
	_, _ = ask.RequestWith(ctx, b.k)
}

func (b *kafkaBench) fill(ctx context.Context, s *setting) error {
	if b.topic != "" {
		b.remove(ctx)
	}
	b.topic = "acknowledgement-" + strings.ToLower(rand.Text()[:8])
	ask := kmsg.NewPtrCreateTopicsRequest()
	for _, topic := range []string{b.topic, b.topic + ".dead"} {
		one := kmsg.NewCreateTopicsRequestTopic()
		one.Topic, one.NumPartitions, one.ReplicationFactor = topic, 8, 1
		ask.Topics = append(ask.Topics, one)
	}
	if _, err := ask.RequestWith(ctx, b.k); err != nil {
		return fmt.Errorf("create the topic: %w", err)
	}
	producer, err := kafka.NewProducer(b.k, b.v, validate.Version(validate.Fixed(subject), 1), kafka.ProducerOptions{})
	if err != nil {
		return err
	}
	return publish(ctx, s.messages, func(ctx context.Context, i int) error {
		return producer.Publish(ctx, &kgo.Record{Topic: b.topic, Key: fmt.Appendf(nil, "k%d", i%200), Value: payload(i, s.size)})
	})
}

func (b *kafkaBench) consume(ctx context.Context, s *setting, handle func()) error {
	if s.ack == "auto" {
		return b.automatic(ctx, s, handle)
	}
	o := kafka.ConsumerOptions{
		Group: b.topic, Topics: []string{b.topic}, DeadLetter: b.topic + ".dead", Keyed: true, Workers: s.workers, Prefetch: s.hold(), CommitEvery: s.commit, Logger: slog.New(slog.DiscardHandler),
	}
	if s.ack == "early" {
		o.LossAcceptable = whyLost
	}
	c, err := kafka.NewConsumer(kafka.With(kgo.SeedBrokers(b.address), fresh, kgo.FetchMaxWait(100*time.Millisecond)), b.v, expect, func(context.Context, *kafka.Delivery) error {
		handle()
		return nil
	}, o)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// member joins the group by hand.
func (b *kafkaBench) member() (*kgo.Client, error) {
	k, err := kgo.NewClient(kgo.SeedBrokers(b.address), fresh, kgo.ConsumerGroup(b.topic), kgo.ConsumeTopics(b.topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("make a Kafka client: %w", err)
	}
	return k, nil
}

// automatic commits what it was given before it works on it.
func (b *kafkaBench) automatic(ctx context.Context, s *setting, handle func()) error {
	k, err := b.member()
	if err != nil {
		return err
	}
	defer k.Close()
	records := make(chan *kgo.Record)
	go func() {
		defer close(records)
		for {
			fetches := k.PollRecords(ctx, 500)
			if ctx.Err() != nil || k.CommitRecords(ctx, fetches.Records()...) != nil {
				return
			}
			for _, r := range fetches.Records() {
				records <- r
			}
		}
	}()
	return work(ctx, b.v, s.workers, records, func(r *kgo.Record) validate.Message {
		m := validate.Message{Destination: r.Topic, Payload: r.Value}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, validate.Header{Name: h.Key, Value: h.Value})
		}
		return m
	}, handle)
}

func (b *kafkaBench) crash(ctx context.Context, s *setting, handled int) (lost, again int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	k, err := b.member()
	if err != nil {
		return 0, 0, err
	}
	defer k.Close()
	n, committed, last, most := 0, 0, time.Now(), s.hold()
	if s.ack == "auto" {
		most = 500
	}
	for {
		fetches := k.PollRecords(ctx, most)
		if err := fetches.Err(); err != nil {
			return 0, 0, fmt.Errorf("receive: %w", err)
		}
		batch := fetches.Records()
		if s.ack == "auto" {
			err, committed = k.CommitRecords(ctx, batch...), committed+len(batch)
		}
		for i, r := range batch {
			begun := batch[:i]
			if s.ack == "early" {
				begun = batch[:i+1]
			}
			if s.ack != "auto" && time.Since(last) >= s.commit {
				err = errors.Join(err, k.CommitRecords(ctx, begun...))
				committed, last = n+len(begun)-i, time.Now()
			}
			if err != nil {
				return 0, 0, fmt.Errorf("commit %s: %w", r.Topic, err)
			}
			if n == handled { // this one is under way when it dies
				return max(0, committed-n), max(0, n+1-committed), nil
			}
			time.Sleep(s.work)
			n++
		}
	}
}
