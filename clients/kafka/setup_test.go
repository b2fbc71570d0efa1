package kafka_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// They wait for brokers, registries and each other's deaths, and compute little.
var workshop = &brokertest.Workshop{
	Name: "Kafka", Broker: "kafka", Variable: "CARTORIO_TEST_KAFKA", Parallel: 12, Consume: consumePart, Produce: producePart,
}

func TestMain(m *testing.M) { os.Exit(workshop.Main(m)) }

// real is a topic, its dead letter, a group and a registry, all real and of this
// test's own.
type real struct {
	t                  *testing.T
	seed               string
	topic, dead, group string
	registry           *brokertest.Registry
	v                  *validate.Validator
	k                  *kgo.Client
	assigned           int // how often partitions were handed to what Consume began
}

// connect makes a topic of so many partitions on the real broker.
func connect(t *testing.T, partitions int32) *real {
	t.Helper()
	return connectTo(t, workshop.Address(t), partitions)
}

// connectFake is connect on a broker within the process.
func connectFake(t *testing.T, partitions int32, options ...kfake.Opt) (*real, *kfake.Cluster) {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(time.Millisecond)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return connectTo(t, cluster.ListenAddrs()[0], partitions), cluster
}

func connectTo(t *testing.T, seed string, partitions int32) *real {
	t.Helper()
	r := &real{t: t, seed: seed, registry: brokertest.NewRegistry(t)}
	suffix := strings.ToLower(rand.Text()[:8])
	r.topic, r.group = "orders-"+suffix, "work-"+suffix
	r.dead = r.group + ".DLT"
	var err error
	if r.k, err = kgo.NewClient(kgo.SeedBrokers(seed), kgo.ProducerLinger(0), kgo.MetadataMinAge(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.k.Close)
	r.create(r.topic, partitions)
	r.create(r.dead, 1)
	r.v = r.registry.Validator(validate.Options{Grace: 500 * time.Millisecond})
	return r
}

func (r *real) create(topic string, partitions int32) {
	r.t.Helper()
	ask := kmsg.NewPtrCreateTopicsRequest()
	one := kmsg.NewCreateTopicsRequestTopic()
	one.Topic, one.NumPartitions, one.ReplicationFactor = topic, partitions, 1
	ask.Topics = append(ask.Topics, one)
	answer, err := ask.RequestWith(ctx, r.k)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.await(topic, partitions)
	r.t.Cleanup(func() { r.remove(topic) })
}

// await waits until the broker knows of what the controller has decided: that a
// topic has so many partitions, or none.
func (r *real) await(topic string, partitions int32) {
	r.t.Helper()
	brokertest.Await(r.t, fmt.Sprintf("topic %s with %d partitions", topic, partitions), func() bool { return r.partitions(topic) == partitions })
}

func (r *real) remove(topics ...string) {
	ask := kmsg.NewPtrDeleteTopicsRequest()
	ask.TopicNames = topics
	for _, name := range topics {
		one := kmsg.NewDeleteTopicsRequestTopic()
		one.Topic = kmsg.StringPtr(name)
		ask.Topics = append(ask.Topics, one)
	}
	brief, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, _ = ask.RequestWith(brief, r.k)
}

func (r *real) producer(p validate.Pin, o kafka.ProducerOptions) *kafka.Producer {
	r.t.Helper()
	producer, err := kafka.NewProducer(r.k, r.v, p, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return producer
}

// put publishes a record as it is, unvalidated.
func (r *real) put(rec kgo.Record) {
	r.t.Helper()
	if rec.Topic == "" {
		rec.Topic = r.topic
	}
	if err := r.k.ProduceSync(ctx, &rec).FirstErr(); err != nil {
		r.t.Fatal(err)
	}
}

// consumer runs until the test ends, or stop.
func (r *real) consumer(e *validate.Expect, h kafka.Handler, o kafka.ConsumerOptions, options ...kgo.Opt) (stop func()) {
	r.t.Helper()
	o.Group, o.Topics, o.DeadLetter = r.group, []string{r.topic}, r.dead
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c, err := kafka.NewConsumer(kafka.With(append([]kgo.Opt{kgo.SeedBrokers(r.seed)}, options...)...), r.v, e, h, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return brokertest.Run(r.t, c.Run)
}

// committed is the sum of the group's committed offsets of the topic.
func (r *real) committed() int64 {
	r.t.Helper()
	ask := kmsg.NewPtrOffsetFetchRequest()
	ask.Group = r.group
	one := kmsg.NewOffsetFetchRequestGroup()
	one.Group = r.group
	ask.Groups = append(ask.Groups, one)
	answer, err := ask.RequestWith(ctx, r.k)
	if errors.Is(err, kerr.CoordinatorNotAvailable) {
		return 0 // a broker that has just begun has none yet, nor anything committed
	}
	if err != nil {
		r.t.Fatal(err)
	}
	sum := int64(0)
	for _, g := range answer.Groups {
		for _, t := range g.Topics {
			if t.Topic == r.topic {
				for _, p := range t.Partitions {
					sum += max(p.Offset, 0)
				}
			}
		}
	}
	return sum
}

// all reads a topic from its beginning to what its end is now.
func (r *real) all(topic string) []*kgo.Record {
	r.t.Helper()
	ask := kmsg.NewPtrListOffsetsRequest()
	one := kmsg.NewListOffsetsRequestTopic()
	one.Topic = topic
	for p := range r.partitions(topic) {
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp = p, -1
		one.Partitions = append(one.Partitions, part)
	}
	ask.Topics = append(ask.Topics, one)
	want := int64(0)
	for _, shard := range r.k.RequestSharded(ctx, ask) {
		if shard.Err != nil {
			r.t.Fatal(shard.Err)
		}
		for _, p := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions {
			want += p.Offset
		}
	}
	c, err := kgo.NewClient(kgo.SeedBrokers(r.seed), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(100*time.Millisecond))
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	brief, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	var out []*kgo.Record
	for int64(len(out)) < want {
		f := c.PollFetches(brief)
		if brief.Err() != nil {
			r.t.Fatalf("read %s: %d of %d messages", topic, len(out), want)
		}
		out = append(out, f.Records()...)
	}
	return out
}

func (r *real) partitions(topic string) int32 {
	r.t.Helper()
	ask := kmsg.NewPtrMetadataRequest()
	one := kmsg.NewMetadataRequestTopic()
	one.Topic = kmsg.StringPtr(topic)
	ask.Topics = append(ask.Topics, one)
	answer, err := ask.RequestWith(ctx, r.k)
	if err != nil {
		r.t.Fatal(err)
	}
	return int32(len(answer.Topics[0].Partitions))
}
