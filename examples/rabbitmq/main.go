// Command rabbitmq shows the client validators at work: a producer whose invalid
// message never reaches the broker, a consumer that understands two versions,
// and a dead letter that says why a message was set aside.
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

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
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
	registry, broker := os.Getenv("CARTORIO_REGISTRY_URL"), os.Getenv("CARTORIO_TEST_RABBITMQ")
	if registry == "" || broker == "" {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…), or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, registry, broker, "orders"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run plays the whole story. name is the exchange, and the stem of the queues
// and of the subject.
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

	connector := rabbitmq.Connect(broker, amqp.Config{})
	defer connector.Close() //nolint:errcheck // the program ends here
	ch, err := declare(ctx, connector, name)
	if err != nil {
		return err
	}
	defer ch.Close() //nolint:errcheck // as above

	validator := validate.New(client, avro.Format, jsonschema.Format, protobuf.Format)
	defer validator.Close()
	if err := produce(ctx, say, connector, validator, ch, name); err != nil {
		return err
	}
	if err := consume(ctx, say, connector, validator, name); err != nil {
		return err
	}
	dead, ok, err := ch.Get(name+".dead", true)
	if err != nil || !ok {
		return fmt.Errorf("look into the dead letter: there is a message: %v: %w", ok, err)
	}
	say("set aside %s: %v, %v\n", dead.MessageId, dead.Headers[validate.DLQReason], dead.Headers[validate.DLQDetail])
	return nil
}

// declare makes the exchange, the work queue and the dead letter's queue.
func declare(ctx context.Context, connector *rabbitmq.Connector, name string) (*amqp.Channel, error) {
	if _, err := connector.Open(ctx); err != nil {
		return nil, err
	}
	ch, err := connector.Connection().Channel()
	if err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	if err := ch.ExchangeDeclare(name, "topic", true, false, false, false, nil); err != nil {
		return nil, fmt.Errorf("declare the exchange: %w", err)
	}
	for _, queue := range []string{name + ".work", name + ".dead"} {
		if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			return nil, fmt.Errorf("declare the queue %s: %w", queue, err)
		}
	}
	return ch, ch.QueueBind(name+".work", "order.#", name, false, nil)
}

// produce publishes an order of each version, is refused an invalid one, and
// plays a producer that validates nothing.
func produce(ctx context.Context, say func(string, ...any), connector *rabbitmq.Connector, v *validate.Validator, ch *amqp.Channel, name string) error {
	publish := func(version schemas.Version, id, body string) error {
		producer := rabbitmq.NewProducer(connector.Open, v, validate.Version(validate.ByDestination(), version), rabbitmq.ProducerOptions{})
		defer producer.Close(ctx) //nolint:errcheck // the publish was waited for
		return producer.Publish(ctx, name, "order.placed", amqp.Publishing{MessageId: id, Body: []byte(body)})
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
	return ch.PublishWithContext(ctx, name, "order.placed", true, false, amqp.Publishing{
		MessageId: "fourth", Headers: amqp.Table{"schemaSubject": name + "-value", "schemaVersion": "1"}, Body: []byte(`{"id":"four"}`),
	})
}

// consume handles what there is: two orders, and one that is set aside.
func consume(ctx context.Context, say func(string, ...any), connector *rabbitmq.Connector, v *validate.Validator, name string) error {
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}
	if err := v.Warm(ctx, expect, name); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	left := 3
	handle := func(_ context.Context, d *rabbitmq.Delivery) error {
		say("handled %s of version %s: %s\n", d.Message.MessageId, d.Version, d.Payload)
		return nil
	}
	consumer, err := rabbitmq.NewConsumer(connector.Open, v, expect, handle, rabbitmq.ConsumerOptions{
		Queue: name + ".work", DeadLetter: rabbitmq.Destination{Key: name + ".dead"},
		Observe: func(rabbitmq.Handled) {
			if left--; left == 0 {
				done()
			}
		},
	})
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}
