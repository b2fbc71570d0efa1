// Command transactions shows read, process and write in one Kafka transaction with
// the validators inside: orders become invoices, an order that its schema refuses
// becomes a dead letter of the same transaction, and a program that dies in the
// middle leaves nothing that a reader of committed messages would see.
//
// It needs a registry and a Kafka; ./run beside this file starts both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// Two versions of an order, and one of an invoice.
const (
	orderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`
	orderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}`
	invoice = `{"type":"object","properties":{"order":{"type":"integer"}},"required":["order"],"additionalProperties":false}`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registry, broker := os.Getenv("CARTORIO_REGISTRY_URL"), os.Getenv("CARTORIO_TEST_KAFKA")
	if registry == "" || broker == "" {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_KAFKA (host:port), or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, registry, broker, "orders"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// topics are what the pipeline reads and writes.
func topics(name string) []string { return []string{name, name + ".invoices", name + ".dead"} }

// prepare registers the schemas, makes the topics and gives a validator.
func prepare(ctx context.Context, client *sr.Client, k *kgo.Client, name string, partitions int32) (*validate.Validator, error) {
	for _, one := range []struct{ topic, text string }{{name, orderV1}, {name, orderV2}, {name + ".invoices", invoice}} {
		if _, err := client.Register(ctx, schemas.ParseSubject(one.topic+"-value"), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: one.text}}); err != nil {
			return nil, err
		}
	}
	ask := kmsg.NewPtrCreateTopicsRequest()
	for _, topic := range topics(name) {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = topic, partitions, 1
		ask.Topics = append(ask.Topics, t)
	}
	if _, err := ask.RequestWith(ctx, k); err != nil {
		return nil, fmt.Errorf("create the topics: %w", err)
	}
	return validate.New(client, jsonschema.Format), nil
}

// run plays the whole story.
func run(ctx context.Context, out io.Writer, registry, broker, name string) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	k, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ProducerLinger(0))
	if err != nil {
		return fmt.Errorf("make a Kafka client: %w", err)
	}
	defer k.Close()
	v, err := prepare(ctx, client, k, name, 1)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := order(ctx, k, v, name); err != nil {
		return err
	}

	// The first pipeline dies with its transaction open.
	died := errors.New("died")
	if err := pipe(ctx, broker, name, v, func(step string) error {
		if step == "produced" {
			return died
		}
		return nil
	}); !errors.Is(err, died) {
		return fmt.Errorf("the first pipeline did not die: %w", err)
	}
	say("a pipeline wrote its invoices and died before the commit\n")
	// The second ends that transaction, and does the work.
	done := errors.New("done")
	if err := pipe(ctx, broker, name, v, func(step string) error {
		if step == "ended" {
			return done
		}
		return nil
	}); !errors.Is(err, done) {
		return fmt.Errorf("the second pipeline did not finish: %w", err)
	}
	say("another one took over and committed\n")
	for _, level := range []struct {
		name string
		kgo.IsolationLevel
	}{{"all that was written", kgo.ReadUncommitted()}, {"what was committed", kgo.ReadCommitted()}} {
		seen, err := read(ctx, broker, k, name, level.IsolationLevel)
		if err != nil {
			return err
		}
		say("who reads %s sees %d invoices and %d dead letters\n", level.name, seen[name+".invoices"], seen[name+".dead"])
	}
	return nil
}

// order writes an order of each version, and one that is of none.
func order(ctx context.Context, k *kgo.Client, v *validate.Validator, name string) error {
	for i, value := range []string{`{"id":1}`, `{"id":2,"note":"with care"}`} {
		version := schemas.Version(i + 1) //nolint:gosec // 1 and 2
		p, err := kafka.NewProducer(k, v, validate.Version(validate.ByDestination(), version), kafka.ProducerOptions{})
		if err != nil {
			return err
		}
		if err := p.Publish(ctx, &kgo.Record{Topic: name, Value: []byte(value)}); err != nil {
			return err
		}
	}
	return k.ProduceSync(ctx, &kgo.Record{Topic: name, Value: []byte(`{"id":"three"}`), Headers: []kgo.RecordHeader{
		{Key: "messageId", Value: []byte("third")}, {Key: "schemaSubject", Value: []byte(name + "-value")}, {Key: "schemaVersion", Value: []byte("1")},
	}}).FirstErr()
}

// pipe runs a pipeline until at says an error at one of its steps; then it is
// gone, as a killed process is: nothing is ended or given back.
func pipe(ctx context.Context, broker, name string, v *validate.Validator, at func(step string) error) error {
	p, err := newPipeline(broker, name, v)
	if err != nil {
		return err
	}
	defer p.sess.Close()
	gone := make(chan error, 1)
	p.at = func(step string) {
		if err := at(step); err != nil {
			gone <- err
			<-ctx.Done() // a dead one does nothing more
		}
	}
	go func() { gone <- p.run(ctx) }()
	return <-gone
}

// read counts the messages of the two topics that are written, up to a last one
// of each, which it writes itself.
func read(ctx context.Context, broker string, k *kgo.Client, name string, level kgo.IsolationLevel) (map[string]int, error) {
	reader, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(topics(name)[1:]...), kgo.FetchIsolationLevel(level), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, fmt.Errorf("make a Kafka client: %w", err)
	}
	defer reader.Close()
	const last = "last"
	for _, topic := range topics(name)[1:] {
		if err := k.ProduceSync(ctx, &kgo.Record{Topic: topic, Key: []byte(last)}).FirstErr(); err != nil {
			return nil, fmt.Errorf("write the last of %s: %w", topic, err)
		}
	}
	seen, marks := map[string]int{}, map[string]bool{}
	for len(marks) < 2 {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("read what was written: %w", err)
		}
		for _, r := range fetches.Records() {
			if string(r.Key) == last {
				marks[r.Topic] = true
			} else {
				seen[r.Topic]++
			}
		}
	}
	return seen, nil
}
