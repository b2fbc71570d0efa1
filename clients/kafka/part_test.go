package kafka_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// partVariable holds, in a process that a crash test started, the part that it
// plays, as JSON.
const partVariable = "CARTORIO_TEST_KAFKA_PART"

// part is a process that works until it is told to stop, or kills itself at one
// step of one message.
type part struct {
	Play                string // "consume" or "produce"
	Seed, Registry      string
	Topic, Dead, Group  string
	Effects             string // the file of what was durably done
	Step, Message       string // where it dies; "" for nowhere
	Static, RetryTopics bool
	Count               int // messages to produce
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

func (p *part) consume(ctx context.Context, v *validate.Validator) error {
	options := []kgo.Opt{kgo.SeedBrokers(p.Seed), kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(200 * time.Millisecond)}
	if p.Static {
		options = append(options, kgo.InstanceID("one"))
	}
	c, err := kafka.NewConsumer(kafka.With(options...), v, &validate.Expect{Subject: byOrders}, func(_ context.Context, d *kafka.Delivery) error {
		id := get(d.Message, "messageId")
		p.at("received", id)
		if p.RetryTopics && id == p.Message && d.Attempt == 1 {
			return kafka.Retry(errors.New("busy"), 2*time.Second)
		}
		if err := p.done(string(d.Message.Key) + "/" + id); err != nil {
			return err
		}
		p.at("worked", id)
		return nil
	}, kafka.ConsumerOptions{
		Group: p.Group, Topics: []string{p.Topic}, DeadLetter: p.Dead, Keyed: !p.RetryTopics, RetryTopics: p.RetryTopics,
		Observe: func(h kafka.Handled) {
			p.at(h.Action.String(), h.MessageID)
			if p.Step == "committed" && p.Message == h.MessageID {
				time.AfterFunc(time.Second, die)
			}
		},
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// dying is a client that dies with one message on its way.
type dying struct {
	*kgo.Client
	p *part
}

func (d *dying) Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	id := get(r, "messageId")
	d.p.at("handed over", id)
	d.Client.Produce(ctx, r, func(r *kgo.Record, err error) {
		d.p.at("answered", id)
		promise(r, err)
	})
	if d.p.Message == id && d.p.Step == "on its way" {
		d.BufferedProduceRecords()
		time.AfterFunc(2*time.Millisecond, die)
	}
}

// produce publishes messages in order, each once it is noted that the one before
// was confirmed: what an outbox does.
func (p *part) produce(ctx context.Context, v *validate.Validator) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(p.Seed), kgo.ProducerLinger(0))
	if err != nil {
		return err
	}
	defer client.Close()
	producer, err := kafka.NewProducer(&dying{client, p}, v, validate.Version(byOrders, 1), kafka.ProducerOptions{})
	if err != nil {
		return err
	}
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
		if err := producer.Publish(ctx, &kgo.Record{
			Topic: p.Topic, Key: []byte("k" + strconv.Itoa(n%5)), Headers: []kgo.RecordHeader{header("messageId", id)}, Value: []byte(`{"id":1}`),
		}); err != nil {
			return err
		}
		p.at("confirmed", id)
		if err := p.done(id); err != nil {
			return err
		}
	}
	return nil
}
