package amqp10_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// partVariable holds, in a process that a crash test started, the part that it
// plays, as JSON.
const partVariable = "CARTORIO_TEST_AMQP10_PART"

// part is a process that works until it is told to stop, or kills itself at one
// step of one message.
type part struct {
	Play                     string // "consume" or "produce"
	Address, Registry, Queue string
	Effects                  string // the file of what was durably done
	Step, Message            string // where it dies; "" for nowhere
	Scheduled                bool
	Count                    int // messages to produce
}

// die ends the process as kill -9 does.
func die() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	fmt.Fprintln(os.Stderr, "kill this process:", err)
	select {}
}

func (p *part) at(step, message string) {
	if p.Step == step && p.Message == message {
		die()
	}
}

// done appends to the file of effects: what is in it survives the process.
func (p *part) done(what string) error {
	f, err := os.OpenFile(p.Effects, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(what + "\n")
	return errors.Join(err, f.Close())
}

func play(text string) int {
	var p part
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		stopping, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		var client *sr.Client
		if client, err = sr.New(sr.Options{URLs: []string{p.Registry}}); err == nil {
			v := validate.New(client, jsonschema.Format)
			defer v.Close()
			if p.Play == "produce" {
				err = p.produce(stopping, v)
			} else {
				err = p.consume(stopping, v)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// open is a connection that dies where the part dies.
func (p *part) open(ctx context.Context) (amqp10.Conn, error) {
	c, err := amqp10.Connect(p.Address, amqp.ConnOptions{IdleTimeout: 2 * time.Second})(ctx)
	if err != nil {
		return nil, err
	}
	return &dying{Conn: c, p: p}, nil
}

// dying is a connection on which the process dies around one message's transfer.
type dying struct {
	amqp10.Conn
	p *part
}

func (d *dying) NewSender(ctx context.Context, address string) (amqp10.Sender, error) {
	s, err := d.Conn.NewSender(ctx, address)
	return &dyingSender{s, d.p}, err
}

type dyingSender struct {
	amqp10.Sender
	p *part
}

func (s *dyingSender) Send(ctx context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	id, _ := m.ApplicationProperties["messageId"].(string)
	s.p.at("handed over", id)
	if s.p.Step == "on its way" && s.p.Message == id {
		time.AfterFunc(2*time.Millisecond, die)
	}
	state, err := s.Sender.Send(ctx, m)
	s.p.at("answered", id)
	return state, err
}

func (p *part) consume(ctx context.Context, v *validate.Validator) error {
	c, err := amqp10.NewConsumer(p.open, v, &validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
		id := prop(d.Message, "messageId")
		p.at("received", id)
		if p.Scheduled && id == p.Message && d.Attempt == 1 {
			return amqp10.Retry(errors.New("busy"), 2*time.Second)
		}
		if err := p.done(prop(d.Message, "messageKey") + "/" + id); err != nil {
			return err
		}
		p.at("worked", id)
		return nil
	}, amqp10.ConsumerOptions{
		Queue: p.Queue, Keyed: !p.Scheduled, ScheduledRetries: p.Scheduled, Workers: 4, Prefetch: 20, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Observe: func(h amqp10.Handled) { p.at(h.Action.String(), h.MessageID) },
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// produce publishes messages in order, each once it is noted that the one before
// was confirmed: what an outbox does.
func (p *part) produce(ctx context.Context, v *validate.Validator) error {
	producer := amqp10.NewProducer(p.open, v, validate.Version(orders, 1), amqp10.ProducerOptions{})
	defer producer.Close(ctx)
	noted, err := os.ReadFile(p.Effects)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	from := 0
	for _, b := range noted {
		if b == '\n' {
			from++
		}
	}
	for n := from; n < p.Count; n++ {
		id := fmt.Sprintf("%05d", n)
		p.at("not sent", id)
		if err := producer.Publish(ctx, p.Queue, message(`{"id":1}`, "messageId", id, "messageKey", "k"+strconv.Itoa(n%5))); err != nil {
			return err
		}
		p.at("confirmed", id)
		if err := p.done(id); err != nil {
			return err
		}
	}
	return nil
}

// message is one with application properties, names and values.
func message(body string, properties ...any) *amqp.Message {
	m := amqp.NewMessage([]byte(body))
	m.ApplicationProperties = map[string]any{}
	for i := 0; i < len(properties); i += 2 {
		m.ApplicationProperties[properties[i].(string)] = properties[i+1]
	}
	return m
}

// prop is an application property that is text.
func prop(m *amqp.Message, name string) string {
	text, _ := m.ApplicationProperties[name].(string)
	return text
}
