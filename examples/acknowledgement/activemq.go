package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// activeBench measures ActiveMQ over STOMP.
type activeBench struct {
	open  activemq.Open
	v     *validate.Validator
	queue string
}

func openActiveMQ(_ context.Context, address string, v *validate.Validator) (bench, error) {
	return &activeBench{open: activemq.Connect(address, activemq.Options{}), v: v}, nil
}

func (b *activeBench) isShared() bool { return true }

// close leaves the queues: STOMP has no word for removing one.
func (b *activeBench) close() {}

func (b *activeBench) fill(ctx context.Context, s *setting) error {
	b.queue = "acknowledgement." + rand.Text()[:8]
	producer := activemq.NewProducer(b.open, b.v, validate.Version(validate.Fixed(subject), 1), activemq.ProducerOptions{})
	err := publish(ctx, s.messages, func(ctx context.Context, i int) error {
		return producer.Publish(ctx, b.queue, &activemq.Message{Body: payload(i, s.size)})
	})
	return errors.Join(err, producer.Close(context.WithoutCancel(ctx)))
}

func (b *activeBench) consume(ctx context.Context, s *setting, handle func()) error {
	if s.ack == "auto" {
		return b.automatic(ctx, s, handle)
	}
	o := activemq.ConsumerOptions{Queue: b.queue, Workers: s.workers, Prefetch: s.hold(), MemoryBudget: -1, Logger: slog.New(slog.DiscardHandler)}
	if s.ack == "early" {
		o.LossAcceptable = whyLost
	}
	c, err := activemq.NewConsumer(b.open, b.v, expect, func(context.Context, *activemq.Delivery) error {
		handle()
		return nil
	}, o)
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// receive begins to consume on a connection of its own.
func (b *activeBench) receive(ctx context.Context, s *setting) (activemq.Conn, error) {
	conn, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	subscribe := frame.New(frame.SUBSCRIBE, frame.Id, "0", frame.Destination, "/queue/"+b.queue, frame.Ack, frame.AckAuto)
	if s.ack != "auto" {
		subscribe.Header.Set(frame.Ack, frame.AckClientIndividual)
		subscribe.Header.Set("activemq.prefetchSize", strconv.Itoa(s.hold()))
	}
	if err := conn.Write(subscribe); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("begin to consume: %w", err)
	}
	return conn, nil
}

func (b *activeBench) automatic(ctx context.Context, s *setting, handle func()) error {
	conn, err := b.receive(ctx, s)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	frames := make(chan *frame.Frame, s.messages)
	go func() {
		defer close(frames)
		for {
			f, err := conn.Read()
			if err != nil {
				return
			}
			frames <- f
		}
	}()
	return work(ctx, b.v, s.workers, frames, func(f *frame.Frame) validate.Message {
		m := validate.Message{Destination: b.queue, Payload: f.Body}
		for i := range f.Header.Len() {
			name, value := f.Header.GetAt(i)
			m.Headers = append(m.Headers, validate.Header{Name: name, Value: value})
		}
		return m
	}, handle)
}

func (b *activeBench) crash(ctx context.Context, s *setting, handled int) (lost, again int, err error) {
	conn, err := b.receive(ctx, s)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close() //nolint:errcheck // closed below
	isRead := false
	for i := range handled + 1 { // the last one is under way when it dies
		f, err := conn.Read()
		if err != nil {
			return 0, 0, fmt.Errorf("receive: %w", err)
		}
		if f.Command == frame.RECEIPT { // of the last acknowledgement, before the next message
			isRead = true
			if f, err = conn.Read(); err != nil {
				return 0, 0, fmt.Errorf("receive: %w", err)
			}
		}
		ack := frame.New(frame.ACK, frame.Id, f.Header.Get(frame.Ack))
		if i == handled || i == handled-1 && s.ack == "manual" {
			ack.Header.Set(frame.Receipt, "last")
		}
		if s.ack == "early" {
			err = conn.Write(ack)
		}
		if i < handled {
			time.Sleep(s.work)
			if s.ack == "manual" {
				err = conn.Write(ack)
			}
		}
		if err != nil {
			return 0, 0, fmt.Errorf("acknowledge: %w", err)
		}
	}
	for s.ack != "auto" && !isRead { // until the broker has read all acknowledgements
		f, err := conn.Read()
		if err != nil {
			return 0, 0, fmt.Errorf("acknowledge: %w", err)
		}
		isRead = f.Command == frame.RECEIPT
	}
	if err := conn.Close(); err != nil {
		return 0, 0, fmt.Errorf("leave: %w", err)
	}
	return b.rest(ctx, s, handled)
}

// rest reads what is left until the broker is silent.
func (b *activeBench) rest(ctx context.Context, s *setting, handled int) (lost, again int, err error) {
	rest := *s
	rest.ack, rest.prefetch = "manual", 100
	conn, err := b.receive(ctx, &rest)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close() //nolint:errcheck // everything was read
	left, silence := 0, time.AfterFunc(quiet(s), func() { _ = conn.Close() })
	for left < s.messages-handled { // more there cannot be
		f, err := conn.Read()
		if err != nil {
			break // by silence
		}
		silence.Reset(quiet(s))
		if left++; f.Header.Get("redelivered") == "true" {
			again++
		}
		if err := conn.Write(frame.New(frame.ACK, frame.Id, f.Header.Get(frame.Ack))); err != nil {
			return 0, 0, fmt.Errorf("count what is left: %w", err)
		}
	}
	silence.Stop()
	return s.messages - handled - left, again, nil
}
