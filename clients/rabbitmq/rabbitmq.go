// Package rabbitmq publishes validated messages to RabbitMQ and consumes them:
// a [Producer] lets nothing through that its schema refuses and answers only
// when the broker has confirmed and routed the message; a [Consumer] hands the
// accepted ones to a handler, sets the rejected ones aside with their reason,
// and keeps those that could not be judged.
//
// It speaks AMQP 0-9-1 through amqp091-go, over channels that the caller opens
// ([Open]); it decides nothing about schemas, which is package validate's, and
// it has no path that requeues a message without waiting.
//
// Start with [Connect], then [NewProducer] and [NewConsumer].
package rabbitmq

import (
	"context"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Channel is what this package needs of *amqp091.Channel.
type Channel interface {
	Confirm(noWait bool) error
	NotifyPublish(confirm chan amqp.Confirmation) chan amqp.Confirmation
	NotifyReturn(c chan amqp.Return) chan amqp.Return
	NotifyClose(c chan *amqp.Error) chan *amqp.Error
	PublishWithContext(ctx context.Context, exchange, key string, mandatory, immediate bool, msg amqp.Publishing) error
	Qos(prefetchCount, prefetchSize int, global bool) error
	ConsumeWithContext(ctx context.Context, queue, consumer string, autoAck, exclusive, noLocal, noWait bool, args amqp.Table) (<-chan amqp.Delivery, error)
	Cancel(consumer string, noWait bool) error
	QueueDeclare(name string, durable, autoDelete, exclusive, noWait bool, args amqp.Table) (amqp.Queue, error)
	QueueDeclarePassive(name string, durable, autoDelete, exclusive, noWait bool, args amqp.Table) (amqp.Queue, error)
	ExchangeDeclarePassive(name, kind string, durable, autoDelete, internal, noWait bool, args amqp.Table) error
	Close() error
}

// Open opens a new channel, and a connection for it when there is none. It is
// called again whenever a channel is lost.
type Open func(ctx context.Context) (Channel, error)

// On opens channels on a connection of the caller's. When that connection is
// gone, opening fails until the process ends; see Connect for one that returns.
func On(conn *amqp.Connection) Open {
	return func(ctx context.Context) (Channel, error) { return channelOn(ctx, conn) }
}

// channelOn opens a channel, for as long as ctx lasts: the library waits until the
// heartbeat finds out that the broker is silent. One that comes later is closed.
func channelOn(ctx context.Context, conn *amqp.Connection) (Channel, error) {
	type answer struct {
		ch  *amqp.Channel
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		ch, err := conn.Channel()
		answers <- answer{ch, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return nil, fmt.Errorf("open a channel: %w", a.err)
		}
		return a.ch, nil
	case <-ctx.Done():
		go func() {
			if a := <-answers; a.err == nil {
				_ = a.ch.Close()
			}
		}()
		return nil, fmt.Errorf("open a channel: %w", ctx.Err())
	}
}
