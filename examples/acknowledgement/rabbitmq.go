package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// rabbitBench measures RabbitMQ.
type rabbitBench struct {
	address string
	v       *validate.Validator
	out     *rabbitmq.Connector
	ch      *amqp.Channel
	queue   string
}

func openRabbitMQ(ctx context.Context, address string, v *validate.Validator) (bench, error) {
	b := &rabbitBench{address: address, v: v, out: rabbitmq.Connect(address, amqp.Config{})}
	if _, err := b.out.Open(ctx); err != nil {
		return nil, err
	}
	ch, err := b.out.Connection().Channel()
	if err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	b.ch = ch
	return b, nil
}

func (b *rabbitBench) isShared() bool { return true }

func (b *rabbitBench) close() {
	b.remove()
	_ = b.out.Close()
}

func (b *rabbitBench) remove() {
	for _, queue := range []string{b.queue, b.queue + ".dead"} {
		_, _ = b.ch.QueueDelete(queue, false, false, false)
	}
}

func (b *rabbitBench) fill(ctx context.Context, s *setting) error {
	if b.queue != "" {
		b.remove()
	}
	b.queue = "acknowledgement-" + rand.Text()[:8]
	for _, queue := range []string{b.queue, b.queue + ".dead"} {
		if _, err := b.ch.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-queue-type": s.queue}); err != nil {
			return fmt.Errorf("declare the queue %s: %w", queue, err)
		}
	}
	producer := rabbitmq.NewProducer(b.out.Open, b.v, validate.Version(validate.Fixed(subject), 1), rabbitmq.ProducerOptions{})
	err := publish(ctx, s.messages, func(ctx context.Context, i int) error {
		return producer.Publish(ctx, "", b.queue, amqp.Publishing{Body: payload(i, s.size)})
	})
	return errors.Join(err, producer.Close(context.WithoutCancel(ctx)))
}

func (b *rabbitBench) consume(ctx context.Context, s *setting, handle func()) error {
	if s.ack == "auto" {
		return b.automatic(ctx, s, handle)
	}
	connector := rabbitmq.Connect(b.address, amqp.Config{})
	defer connector.Close() //nolint:errcheck // the measurement is done
	o := rabbitmq.ConsumerOptions{
		Queue: b.queue, DeadLetter: rabbitmq.Destination{Key: b.queue + ".dead"}, Workers: s.workers, Prefetch: s.hold(), MemoryBudget: -1, Logger: slog.New(slog.DiscardHandler),
	}
	if s.ack == "early" {
		o.LossAcceptable = whyLost
	}
	c, err := rabbitmq.NewConsumer(connector.Open, b.v, expect, func(context.Context, *rabbitmq.Delivery) error {
		handle()
		return nil
	}, o)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// receive begins to consume on a connection of its own, which the broker will see
// go without a word.
func (b *rabbitBench) receive(s *setting) (*amqp.Connection, <-chan amqp.Delivery, error) {
	conn, err := amqp.Dial(b.address)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the broker: %w", err)
	}
	ch, err := conn.Channel()
	if err == nil && s.ack != "auto" {
		err = ch.Qos(s.hold(), 0, false)
	}
	var deliveries <-chan amqp.Delivery
	if err == nil {
		deliveries, err = ch.Consume(b.queue, "", s.ack == "auto", false, false, false, nil)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, fmt.Errorf("begin to consume: %w", err)
	}
	return conn, deliveries, nil
}

func (b *rabbitBench) automatic(ctx context.Context, s *setting, handle func()) error {
	conn, deliveries, err := b.receive(s)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	return work(ctx, b.v, s.workers, deliveries, func(d amqp.Delivery) validate.Message {
		m := validate.Message{Destination: d.RoutingKey, Payload: d.Body}
		for name, value := range d.Headers {
			m.Headers = append(m.Headers, validate.Header{Name: name, Value: value})
		}
		return m
	}, handle)
}

func (b *rabbitBench) crash(_ context.Context, s *setting, handled int) (lost, again int, err error) {
	conn, deliveries, err := b.receive(s)
	if err != nil {
		return 0, 0, err
	}
	for i := range handled + 1 { // the last one is under way when it dies
		d := <-deliveries
		if s.ack == "early" {
			err = errors.Join(err, d.Ack(false))
		}
		if i == handled {
			break
		}
		time.Sleep(s.work)
		if s.ack == "manual" {
			err = errors.Join(err, d.Ack(false))
		}
	}
	if err = errors.Join(err, conn.Close()); err != nil {
		return 0, 0, fmt.Errorf("acknowledge: %w", err)
	}
	left := 0
	for ended := time.Now().Add(quiet(s)); left < s.messages-handled && time.Now().Before(ended); {
		d, ok, err := b.ch.Get(b.queue, true)
		if err != nil {
			return 0, 0, fmt.Errorf("count what is left: %w", err)
		}
		if !ok {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		if left++; d.Redelivered {
			again++
		}
		ended = time.Now().Add(quiet(s))
	}
	return s.messages - handled - left, again, nil
}
