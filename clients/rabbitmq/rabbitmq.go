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
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

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
	return func(context.Context) (Channel, error) {
		ch, err := conn.Channel()
		if err != nil {
			return nil, fmt.Errorf("open a channel: %w", err)
		}
		return ch, nil
	}
}

// Connector keeps one connection to a broker and makes a new one when it is
// lost. A producer and a consumer of much traffic are better off with one each:
// the broker slows down a connection that publishes too fast, acknowledgements
// on it included.
type Connector struct {
	url    string
	config amqp.Config

	mu     sync.Mutex
	conn   *amqp.Connection
	closed bool
}

// Connect makes a Connector for a URL such as amqp://user:password@host:5672/.
// It connects when the first channel is opened.
func Connect(url string, config amqp.Config) *Connector {
	if config.Locale == "" {
		config.Locale = "en_US"
	}
	if config.Heartbeat == 0 {
		config.Heartbeat = 10 * time.Second // a line that was cut is noticed
	}
	return &Connector{url: url, config: config}
}

var errConnectorClosed = errors.New("the connector is closed")

// Open is an Open on the connection as it is now, or on a new one.
func (c *Connector) Open(ctx context.Context) (Channel, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fmt.Errorf("open a channel: %w", errConnectorClosed)
	}
	if c.conn == nil || c.conn.IsClosed() {
		conn, err := amqp.DialConfig(c.url, c.config)
		if err != nil {
			var u *url.Error
			if errors.As(err, &u) {
				err = u.Err // its own text repeats the URL, password included
			}
			return nil, fmt.Errorf("connect to the broker: %w", err)
		}
		c.conn = conn
	}
	ch, err := c.conn.Channel()
	if err != nil {
		return nil, fmt.Errorf("open a channel: %w", err)
	}
	return ch, nil
}

// Connection is the connection as it is now; nil before the first Open.
func (c *Connector) Connection() *amqp.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// Close closes the connection and opens no other. Producers and consumers on it
// are to be closed first.
func (c *Connector) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.conn == nil || c.conn.IsClosed() {
		return nil
	}
	if err := c.conn.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("close the connection to the broker: %w", err)
	}
	return nil
}
