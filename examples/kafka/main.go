// Command kafka shows the client validators at work: a producer whose invalid
// message never reaches the broker, a consumer that understands two versions and
// keeps the order of each key although a handler fails, and a dead letter that
// says why a message was set aside.
//
// It needs a registry and a broker; ./run beside this file starts both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// The two versions of an order. The second allows what the first did not, so
// whoever reads it reads the first too.
const (
	orderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`
	orderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}`
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

// run plays the whole story. name is the topic, and the stem of the dead
// letter's topic, the group and the subject.
func run(ctx context.Context, out io.Writer, registry, broker, name string) error {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	// In life a build registers: cartorio register, after cartorio check.
	subject := schemas.ParseSubject(name + "-value")
	for _, text := range []string{orderV1, orderV2} {
		found, err := client.Register(ctx, subject, sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}})
		if err != nil {
			return err
		}
		say("registered %s version %s\n", found.Subject, found.Version)
	}

	k, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.ConsumeTopics(name+".dead"))
	if err != nil {
		return fmt.Errorf("make a Kafka client: %w", err)
	}
	defer k.Close()
	if err := create(ctx, k, name, name+".dead"); err != nil {
		return err
	}
	validator := validate.New(client, avro.Format, jsonschema.Format, protobuf.Format)
	defer validator.Close()
	if err := produce(ctx, say, k, validator, name); err != nil {
		return err
	}
	if err := consume(ctx, say, broker, validator, name); err != nil {
		return err
	}
	dead := k.PollRecords(ctx, 1)
	if err := dead.Err(); err != nil {
		return fmt.Errorf("look into the dead letter: %w", err)
	}
	for _, r := range dead.Records() {
		say("set aside %s: %s, %s\n", header(r, "messageId"), header(r, validate.DLQReason), header(r, validate.DLQDetail))
	}
	return nil
}

// create makes the topics, of one partition each.
func create(ctx context.Context, k *kgo.Client, topics ...string) error {
	ask := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range topics {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, 1, 1
		ask.Topics = append(ask.Topics, t)
	}
	if _, err := ask.RequestWith(ctx, k); err != nil {
		return fmt.Errorf("create the topics: %w", err)
	}
	return nil
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}

// produce publishes an order of each version, is refused an invalid one, and
// plays a producer that validates nothing.
func produce(ctx context.Context, say func(string, ...any), k *kgo.Client, v *validate.Validator, name string) error {
	publish := func(version schemas.Version, id, body string) error {
		producer, err := kafka.NewProducer(k, v, validate.Version(validate.ByDestination(), version), kafka.ProducerOptions{})
		if err != nil {
			return err
		}
		return producer.Publish(ctx, &kgo.Record{
			Topic: name, Key: []byte("customer 7"), Value: []byte(body),
			Headers: []kgo.RecordHeader{{Key: "messageId", Value: []byte(id)}},
		})
	}
	if err := publish(1, "first", `{"id":1}`); err != nil {
		return err
	}
	if err := publish(2, "second", `{"id":2,"note":"with care"}`); err != nil {
		return err
	}
	err := publish(2, "third", `{"id":"three"}`)
	var refused *validate.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("an invalid order was not refused: %w", err)
	}
	say("refused third before it was sent: %s at %s\n", refused.Reason, refused.Violations[0].Payload)

	// Somebody who does not use the validator sends one anyway.
	return k.ProduceSync(ctx, &kgo.Record{Topic: name, Key: []byte("customer 7"), Value: []byte(`{"id":"four"}`), Headers: []kgo.RecordHeader{
		{Key: "messageId", Value: []byte("fourth")}, {Key: "schemaSubject", Value: []byte(name + "-value")}, {Key: "schemaVersion", Value: []byte("1")},
	}}).FirstErr()
}

// consume handles what there is: two orders, of which the first fails once and
// the second waits for it, and one that is set aside.
func consume(ctx context.Context, say func(string, ...any), broker string, v *validate.Validator, name string) error {
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}
	if err := v.Warm(ctx, expect, name); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	left := 3
	handle := func(_ context.Context, d *kafka.Delivery) error {
		id := header(d.Message, "messageId")
		if id == "first" && d.Attempt == 1 {
			say("failed with %s, and try again: what is behind it waits\n", id)
			return errors.New("the database is busy")
		}
		say("handled %s of version %s: %s\n", id, d.Version, d.Payload)
		return nil
	}
	consumer, err := kafka.NewConsumer(kafka.With(kgo.SeedBrokers(broker)), v, expect, handle, kafka.ConsumerOptions{
		Group: name + ".work", Topics: []string{name}, DeadLetter: name + ".dead", Keyed: true, Retry: retry.Policy{Base: 100 * time.Millisecond},
		Observe: func(kafka.Handled) {
			if left--; left == 0 { // one key: one after the other
				done()
			}
		},
	})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}
