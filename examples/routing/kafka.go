package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// kafka routes nothing: each group reads all, and passes over the versions of
// others. They are counted, and are in no dead letter.
func (s *story) kafka(ctx context.Context, address string) error {
	k, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.ProducerLinger(0))
	if err != nil {
		return fmt.Errorf("make a Kafka client: %w", err)
	}
	defer k.Close()
	ask := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range []string{s.name, s.name + ".dead"} {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, 1, 1
		ask.Topics = append(ask.Topics, t)
	}
	if _, err := ask.RequestWith(ctx, k); err != nil {
		return fmt.Errorf("create the topics: %w", err)
	}
	for version := schemas.Version(1); version <= 3; version++ {
		producer, err := kafka.NewProducer(k, s.v, validate.Version(validate.ByDestination(), version), kafka.ProducerOptions{})
		if err != nil {
			return err
		}
		if err := producer.Publish(ctx, &kgo.Record{Topic: s.name, Value: body(version)}); err != nil {
			return err
		}
	}
	for _, reads := range []string{"1", "2"} {
		expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads(reads), Pass: []validate.Reason{validate.VersionUnsupported}}
		running, done := context.WithCancel(ctx)
		settled, skipped := 0, 0
		consumer, err := kafka.NewConsumer(kafka.With(kgo.SeedBrokers(address)), s.v, expect, func(_ context.Context, d *kafka.Delivery) error {
			s.say("the group of version %s takes %s of version %s\n", reads, d.Payload, d.Version)
			return nil
		}, kafka.ConsumerOptions{Group: s.name + ".v" + reads, Topics: []string{s.name}, DeadLetter: s.name + ".dead", Observe: func(h kafka.Handled) {
			if h.Action == deliver.Skipped {
				skipped++
			}
			if settled++; settled == 3 {
				done()
			}
		}})
		if err == nil {
			err = consumer.Run(running)
		}
		done()
		if err != nil {
			return err
		}
		s.say("the group of version %s passed over %d\n", reads, skipped)
	}
	return nil
}
