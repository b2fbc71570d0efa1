package kafka_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// brokerVariable holds the address of a Kafka that tests may use;
// scripts/brokers.sh start sets it.
const brokerVariable = "CARTORIO_TEST_KAFKA"

var brokerTests atomic.Int32

// TestMain fails when a broker was given and no test used it, and is loud when
// none was given. In a process that a crash test started it plays its part.
func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		os.Exit(play(part))
	}
	flag.Parse()
	// They wait for brokers, registries and each other's deaths, and compute little.
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	status := m.Run()
	filter := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() + flag.Lookup("test.list").Value.String() + flag.Lookup("test.fuzz").Value.String()
	switch url := os.Getenv(brokerVariable); {
	case url == "":
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real Kafka: set %s, or run `make test`\n", brokerVariable)
	case filter == "" && brokerTests.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", brokerVariable)
		status = 1
	}
	os.Exit(status)
}

// real is a topic, its dead letter, a group and a registry, all real and of this
// test's own.
type real struct {
	t                  *testing.T
	seed               string
	topic, dead, group string
	registry           *door
	client             *sr.Client
	v                  *validate.Validator
	k                  *kgo.Client
}

// door is the registry's HTTP server, which a test may shut and open again at
// the same address, or guard.
type door struct {
	t       *testing.T
	handler http.Handler
	address string
	mu      sync.Mutex
	server  *http.Server
	guarded atomic.Bool
	asked   atomic.Int64
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.asked.Add(1)
	if d.guarded.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error_code":401,"message":"who are you"}`)
		return
	}
	d.handler.ServeHTTP(w, r)
}

func (d *door) open() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.address == "" {
		d.address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", d.address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.address = l.Addr().String()
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: time.Second}
	server := d.server
	go func() { _ = server.Serve(l) }()
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		_ = d.server.Close()
	}
}

// connect makes a topic of so many partitions on the real broker.
func connect(t *testing.T, partitions int32) *real {
	t.Helper()
	seed := os.Getenv(brokerVariable)
	if seed == "" {
		t.Skipf("set %s to the address of a Kafka", brokerVariable)
	}
	brokerTests.Add(1)
	return connectTo(t, seed, partitions)
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
	r := &real{t: t, seed: seed}
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Open(ctx, journal, registry.Options{Formats: []schemas.Format{avro.Format, jsonschema.Format, protobuf.Format}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	r.registry = &door{t: t, handler: api.New(reg, api.Options{})}
	r.registry.open()
	t.Cleanup(r.registry.shut)
	if r.client, err = sr.New(sr.Options{URLs: []string{"http://" + r.registry.address}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.SetConfig(ctx, sr.Global, sr.Config{Level: "NONE"}); err != nil {
		t.Fatal(err)
	}
	suffix := strings.ToLower(rand.Text()[:8])
	r.topic, r.group = "orders-"+suffix, "work-"+suffix
	r.dead = r.group + ".DLT"
	if r.k, err = kgo.NewClient(kgo.SeedBrokers(seed), kgo.ProducerLinger(0), kgo.MetadataMinAge(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.k.Close)
	r.create(r.topic, partitions)
	r.create(r.dead, 1)
	r.v = r.validator(validate.Options{Grace: 500 * time.Millisecond})
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
	await(r.t, fmt.Sprintf("topic %s with %d partitions", topic, partitions), func() bool { return r.partitions(topic) == partitions })
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

func (r *real) validator(o validate.Options) *validate.Validator {
	v := validate.NewWith(r.client, o, avro.Format, jsonschema.Format, protobuf.Format)
	r.t.Cleanup(v.Close)
	return v
}

func (r *real) register(subject string, t schemas.Type, text string) schemas.Found {
	r.t.Helper()
	f, err := r.client.Register(ctx, schemas.ParseSubject(subject), sr.Registration{Source: schemas.Source{Type: t, Text: text}})
	if err != nil {
		r.t.Fatal(err)
	}
	return f
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
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.Run(running) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					r.t.Errorf("Run: %v", err)
				}
			case <-time.After(60 * time.Second):
				r.t.Error("the consumer does not stop")
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
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
	brief, cancel := context.WithTimeout(ctx, 30*time.Second)
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

// await asks until it is so. A real broker tells nobody when it is done.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(90 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came about: %s", what)
		}
	}
}

// tally counts what a handler did.
type tally struct {
	mu    sync.Mutex
	order []string
	times map[string]int
}

func (c *tally) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.order = append(c.order, id)
	c.times[id]++
}

func (c *tally) ids() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

func (c *tally) all() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order)
}
