// Command requestreply shows request and reply with schemas both ways: a
// responder answers old and new requesters in the version that each of them
// reads, a requester gives up after a time, and a reply that comes later is
// recognised and dropped.
//
// It needs a registry and a RabbitMQ; ./run beside this file starts both.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// Two versions of the question and two of the answer. Who reads version 1 of the
// answer alone refuses version 2: it has more than that allows.
var texts = map[string][]string{
	"requests": {
		`{"type":"object","properties":{"item":{"type":"string"}},"required":["item"],"additionalProperties":false}`,
		`{"type":"object","properties":{"item":{"type":"string"},"count":{"type":"integer"}},"required":["item"],"additionalProperties":false}`,
	},
	"replies": {
		`{"type":"object","properties":{"cents":{"type":"integer"}},"required":["cents"],"additionalProperties":false}`,
		`{"type":"object","properties":{"cents":{"type":"integer"},"currency":{"type":"string"}},"required":["cents"],"additionalProperties":false}`,
	},
}

// requesters are the programs that ask.
var requesters = []string{"old", "new", "ahead"}

// patience is how long a requester waits for an answer that is to come.
const patience = 20 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	registry, broker := os.Getenv("CARTORIO_REGISTRY_URL"), os.Getenv("CARTORIO_TEST_RABBITMQ")
	if registry == "" || broker == "" {
		fmt.Fprintln(os.Stderr, "set CARTORIO_REGISTRY_URL (http://…) and CARTORIO_TEST_RABBITMQ (amqp://…), or start ./run")
		os.Exit(64)
	}
	if err := run(ctx, os.Stdout, registry, broker, "prices"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// story is what both sides share.
type story struct {
	name      string // the stem of queues and subjects
	out       io.Writer
	connector *rabbitmq.Connector
	ch        *amqp.Channel
	v         *validate.Validator
	aside     chan string // what was set aside, and why
	producers []*rabbitmq.Producer
}

// producer makes a producer that lives as long as the story.
func (s *story) producer(subject string, v schemas.Version) *rabbitmq.Producer {
	p := rabbitmq.NewProducer(s.connector.Open, s.v, validate.Version(validate.Fixed(subject), v), rabbitmq.ProducerOptions{})
	s.producers = append(s.producers, p)
	return p
}

func (s *story) say(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format, args...) }

func (s *story) requests() string          { return s.name + ".requests" }
func (s *story) replies(who string) string { return s.name + ".replies." + who }
func (s *story) dead() string              { return s.name + ".dead" }

// observe passes on what was set aside.
func (s *story) observe(h rabbitmq.Handled) {
	if h.Action == deliver.DeadLettered {
		s.aside <- fmt.Sprintf("%s %s", h.Outcome.Subject, h.Reason)
	}
}

// run plays the whole story.
func run(ctx context.Context, out io.Writer, registry, broker, name string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client, err := sr.New(sr.Options{URLs: []string{registry}})
	if err != nil {
		return err
	}
	defer client.Close()
	for _, kind := range []string{"requests", "replies"} {
		for _, text := range texts[kind] {
			if _, err := client.Register(ctx, schemas.ParseSubject(name+"."+kind+"-value"), sr.Registration{Source: schemas.Source{Type: schemas.JSON, Text: text}}); err != nil {
				return err
			}
		}
	}
	s := &story{name: name, out: out, connector: rabbitmq.Connect(broker, amqp.Config{}), v: validate.New(client, jsonschema.Format), aside: make(chan string, 10)}
	defer s.connector.Close() //nolint:errcheck // the program ends here
	defer s.v.Close()
	if err := s.declare(ctx); err != nil {
		return err
	}
	defer s.ch.Close() //nolint:errcheck // as above

	released, late := make(chan struct{}), make(chan string, 1)
	old := s.newRequester("old", 1, "1", func(c string) { late <- c })
	recent := s.newRequester("new", 2, "1..2", func(c string) { late <- c })
	ahead := s.newRequester("ahead", 2, "3..", func(c string) { late <- c })
	var parts []func(context.Context) error
	parts = append(parts, s.newResponder(released).serve)
	for _, r := range []*requester{old, recent, ahead} {
		parts = append(parts, func(ctx context.Context) error { return r.listen(ctx, s) })
	}
	ended := make(chan error, len(parts))
	for _, part := range parts {
		go func() { ended <- part(ctx) }()
	}
	if err := s.converse(ctx, old, recent, ahead, released, late); err != nil {
		return err
	}
	cancel()
	for range parts {
		err = errors.Join(err, <-ended)
	}
	for _, p := range s.producers {
		err = errors.Join(err, p.Close(context.WithoutCancel(ctx)))
	}
	return err
}

// declare makes the queues. A requester's own goes when it has not been used for
// ten minutes; until then it outlives a lost connection.
func (s *story) declare(ctx context.Context) error {
	if _, err := s.connector.Open(ctx); err != nil {
		return err
	}
	ch, err := s.connector.Connection().Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	s.ch = ch
	queues := map[string]amqp.Table{s.requests(): nil, s.dead(): nil}
	for _, who := range requesters {
		queues[s.replies(who)] = amqp.Table{"x-expires": int32(10 * 60 * 1000)}
	}
	for queue, args := range queues {
		if _, err := ch.QueueDeclare(queue, true, false, false, false, args); err != nil {
			return fmt.Errorf("declare the queue %s: %w", queue, err)
		}
	}
	return nil
}

// converse asks: old and new, in vain, too early, and of nobody who knows.
func (s *story) converse(ctx context.Context, old, recent, ahead *requester, released chan struct{}, late <-chan string) error {
	for _, q := range []struct {
		by         *requester
		name, body string
	}{{old, "old", `{"item":"book"}`}, {recent, "new", `{"item":"book","count":2}`}} {
		got, err := q.by.ask(ctx, q.body, patience)
		if err != nil {
			return err
		}
		s.say("the %s requester reads %s and was answered in version %s: %s\n", q.name, q.by.reads, got.Version, got.Payload)
	}

	if _, err := recent.ask(ctx, `{"item":"slow"}`, 1500*time.Millisecond); !errors.Is(err, errTimeout) {
		return fmt.Errorf("a slow answer was waited for: %w", err)
	}
	s.say("a slow request: %v\n", errTimeout)
	close(released)
	select {
	case <-late:
		s.say("its reply came late, was recognised and dropped\n")
	case <-ctx.Done():
		return ctx.Err()
	}

	if _, err := ahead.ask(ctx, `{"item":"book"}`, 1500*time.Millisecond); !errors.Is(err, errTimeout) {
		return fmt.Errorf("a request for a reply that nobody writes was answered: %w", err)
	}
	s.say("a requester that reads %s has no answer: the request is set aside: %s\n", ahead.reads, <-s.aside)

	// A responder that does not look at what the requester reads.
	careless := s.replier(2)
	if err := careless.Publish(ctx, "", s.replies("old"), amqp.Publishing{CorrelationId: "no matter", Body: []byte(`{"cents":1,"currency":"EUR"}`)}); err != nil {
		return err
	}
	s.say("a reply of version 2 to one that reads %s is set aside: %s\n", old.reads, <-s.aside)
	return nil
}
