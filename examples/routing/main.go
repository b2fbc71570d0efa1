// Command routing shows how messages go to those who read their version, by the
// headers that our producers write: through a headers exchange of RabbitMQ, by
// selectors of ActiveMQ, and, where the broker routes nothing, by a consumer of
// Kafka that passes over what is not its own.
//
// It needs a registry and one of the brokers at least; ./run beside this file
// starts all.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// Three versions of an order. Nobody reads the third yet.
var orders = []string{
	`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}`,
	`{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"],"additionalProperties":false}`,
	`{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"},"gift":{"type":"boolean"}},"required":["id"],"additionalProperties":false}`,
}

// a story is one broker's.
type story struct {
	name string // the destination, and the stem of the subject
	out  io.Writer
	v    *validate.Validator
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

// body is an order that is valid in every version.
func body(v schemas.Version) []byte { return fmt.Appendf(nil, `{"id":%d}`, v) }

// brokers are how each is called, the setting that holds its address, and its
// story.
var brokers = []struct {
	name, setting string
	play          func(s *story, ctx context.Context, address string) error
}{
	{"RabbitMQ", "RABBITMQ", (*story).rabbitMQ},
	{"ActiveMQ", "STOMP", (*story).activeMQ},
	{"Kafka", "KAFKA", (*story).kafka},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registry, played := os.Getenv("CARTORIO_REGISTRY_URL"), false
	for _, b := range brokers {
		address := os.Getenv("CARTORIO_TEST_" + b.setting)
		if registry == "" || address == "" {
			continue
		}
		played = true
		fmt.Println(b.name)
		if err := run(ctx, os.Stdout, registry, "orders", func(s *story) error { return b.play(s, ctx, address) }); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", b.name, err)
			os.Exit(1)
		}
	}
	if !played {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…), CARTORIO_TEST_STOMP or CARTORIO_TEST_KAFKA (host:port), or start ./run")
		os.Exit(64)
	}
}

// run registers and plays one broker's story.
func run(ctx context.Context, out io.Writer, registry, name string, play func(*story) error) error {
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, text := range orders {
		if _, err := client.Register(ctx, schemas.ParseSubject(name+"-value"), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}}); err != nil {
			return err
		}
	}
	s := &story{name: name, out: out, v: validate.New(client, jsonschema.Format)}
	defer s.v.Close()
	return play(s)
}
