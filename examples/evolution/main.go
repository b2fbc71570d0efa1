// Command evolution is a shop whose queue has old messages when a new version is
// deployed: it publishes orders of a version, and consumes those of a range.
// walk.sh beside this file plays a change with it, step by step, as
// docs/guides/evolution.md shows it.
//
// It needs a registry and a RabbitMQ; ./run beside this file starts both and walks.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

const usage = `usage: evolution publish VERSION COUNT    orders of a version, into the queue
       evolution consume VERSIONS COUNT   so many messages, by a consumer that reads VERSIONS
set CARTORIO_REGISTRY_URL (http://…), CARTORIO_TEST_RABBITMQ (amqp://…) and SHOP, the name of the queue, or start ./run`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := &shop{out: os.Stdout, registry: os.Getenv("CARTORIO_REGISTRY_URL"), broker: os.Getenv("CARTORIO_TEST_RABBITMQ"), queue: os.Getenv("SHOP")}
	if len(os.Args) != 4 || s.registry == "" || s.broker == "" || s.queue == "" {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	count, err := strconv.ParseUint(os.Args[3], 10, 16)
	if err != nil {
		fmt.Fprintf(os.Stderr, "COUNT is %q, and is to be a number\n%s\n", os.Args[3], usage)
		os.Exit(64)
	}
	switch os.Args[1] {
	case "publish":
		err = s.publish(ctx, os.Args[2], int(count))
	case "consume":
		err = s.consume(ctx, os.Args[2], int(count))
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shop is where it runs.
type shop struct {
	out                     io.Writer
	registry, broker, queue string
}

// open connects to both, and declares the queue and its dead letter.
func (s *shop) open(ctx context.Context) (*sr.Client, *rabbitmq.Connector, error) {
	client, err := sr.New(sr.Options{URLs: []string{s.registry}})
	if err != nil {
		return nil, nil, err
	}
	connector := rabbitmq.Connect(s.broker, amqp.Config{})
	if _, err := connector.Open(ctx); err != nil {
		return nil, nil, err
	}
	ch, err := connector.Connection().Channel()
	if err != nil {
		return nil, nil, fmt.Errorf("open a channel: %w", err)
	}
	for _, queue := range []string{s.queue, s.queue + ".dead"} {
		if _, err := ch.QueueDeclare(queue, true, false, false, false, nil); err != nil {
			return nil, nil, fmt.Errorf("declare the queue %s: %w", queue, err)
		}
	}
	return client, connector, nil
}

// publish writes with a version that is pinned in code, as a release would.
func (s *shop) publish(ctx context.Context, version string, count int) error {
	n, err := strconv.ParseInt(version, 10, 32)
	if err != nil {
		return fmt.Errorf("VERSION is %q, and is to be a number", version)
	}
	client, connector, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer connector.Close() //nolint:errcheck // the program ends here
	v := validate.New(client, jsonschema.Format)
	defer v.Close()
	producer := rabbitmq.NewProducer(connector.Open, v, validate.Version(validate.ByDestination(), schemas.Version(n)), rabbitmq.ProducerOptions{})
	defer producer.Close(ctx) //nolint:errcheck // each publish was waited for
	body := map[string]string{"1": `{"id":1,"total":1250}`, "2": `{"id":1,"total":1250,"note":"with care"}`}[version]
	for range count {
		if err := producer.Publish(ctx, "", s.queue, amqp.Publishing{Body: []byte(body)}); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(s.out, "published %d of version %s\n", count, version)
	return nil
}

// consume settles so many messages, and tells the registry what it reads.
func (s *shop) consume(ctx context.Context, versions string, count int) error {
	reads, err := validate.Reads(versions)
	if err != nil {
		return fmt.Errorf("VERSIONS: %w", err)
	}
	client, connector, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer connector.Close() //nolint:errcheck // the program ends here
	v := validate.NewWith(client, validate.Options{Readership: client, Environment: "shop"}, jsonschema.Format)
	defer v.Close() // tells the registry the rest
	expect := &validate.Expect{Subject: validate.ByDestination(), Reads: reads, Consumer: "billing"}
	if err := v.Warm(ctx, expect, s.queue); err != nil {
		return err
	}
	ctx, done := context.WithCancel(ctx)
	defer done()
	became := map[string]int{}
	consumer, err := rabbitmq.NewConsumer(connector.Open, v, expect, func(context.Context, *rabbitmq.Delivery) error { return nil }, rabbitmq.ConsumerOptions{
		Queue: s.queue, DeadLetter: rabbitmq.Destination{Key: s.queue + ".dead"}, Observe: func(h rabbitmq.Handled) {
			switch {
			case h.Action == deliver.DeadLettered:
				became["set aside, version "+h.Outcome.Version.String()+": "+h.Reason.String()]++
			case h.Outcome.Retired:
				became["handled, version "+h.Outcome.Version.String()+", which is retired"]++
			default:
				became["handled, version "+h.Outcome.Version.String()]++
			}
			if count--; count == 0 {
				done()
			}
		},
	})
	if err != nil {
		return err
	}
	if err := consumer.Run(ctx); err != nil {
		return err
	}
	var lines []string
	for what, n := range became {
		lines = append(lines, fmt.Sprintf("%d %s\n", n, what))
	}
	slices.Sort(lines)
	_, _ = io.WriteString(s.out, strings.Join(lines, ""))
	return nil
}
