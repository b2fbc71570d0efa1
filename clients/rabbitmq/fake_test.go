package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// published is one message that a fake broker was handed.
type published struct {
	exchange, key string
	msg           amqp.Publishing
}

// broker is a fake: it keeps what is published, and a test says what becomes of
// each message.
type broker struct {
	mu       sync.Mutex
	log      []published
	channels []*channel
	openErr  error
	// answer decides about the nth message, from 0: "ack", "nack", "return",
	// "close" (the connection goes before the confirm), "refuse" (the channel is
	// closed over it), "silence".
	answer func(n int, p published) string
	queue  chan amqp.Delivery
	acks   []string
	ackErr error
	// How the last consumer was made.
	autoAck bool
	args    amqp.Table
	next    uint64
	// step is asked first in whatever a consumer calls, when not nil.
	step func() error
}

func (b *broker) stepped() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

// left tells of channels that were not closed.
func (b *broker) left() error {
	for i, c := range b.channels {
		select {
		case <-c.gone:
		default:
			return fmt.Errorf("channel %d of %d is still open", i+1, len(b.channels))
		}
	}
	return nil
}

func newBroker() *broker {
	return &broker{answer: func(int, published) string { return "ack" }, queue: make(chan amqp.Delivery, 1000)}
}

func (b *broker) open(context.Context) (rabbitmq.Channel, error) {
	if err := b.stepped(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openErr != nil {
		return nil, b.openErr
	}
	c := &channel{b: b, gone: make(chan struct{})}
	b.channels = append(b.channels, c)
	return c, nil
}

func (b *broker) published() []published {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]published(nil), b.log...)
}

func (b *broker) opened() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.channels)
}

// deliver puts a message into the queue.
func (b *broker) deliver(d amqp.Delivery) {
	b.mu.Lock()
	b.next++
	d.DeliveryTag = b.next
	d.Acknowledger = b
	b.mu.Unlock()
	b.queue <- d
}

func (b *broker) settled() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.acks...)
}

func (b *broker) note(what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if what == "ack" && b.ackErr != nil {
		return b.ackErr
	}
	b.acks = append(b.acks, what)
	return nil
}

func (b *broker) Ack(_ uint64, multiple bool) error {
	if multiple {
		return b.note("ack multiple")
	}
	return b.note("ack")
}

func (b *broker) Nack(_ uint64, _, requeue bool) error {
	if requeue {
		return b.note("requeue")
	}
	return b.note("nack")
}

func (b *broker) Reject(uint64, bool) error { return b.note("reject") }

// channel is a fake channel.
type channel struct {
	b        *broker
	mu       sync.Mutex
	once     sync.Once
	gone     chan struct{}
	sent     uint64
	confirms chan amqp.Confirmation
	returns  chan amqp.Return
	closes   []chan *amqp.Error
	stop     chan struct{}
	// isConsumer tells that something was consumed here; what of it is not
	// settled when the channel closes goes back to the queue.
	isConsumer bool
}

func (c *channel) Confirm(bool) error { return nil }

func (c *channel) NotifyPublish(n chan amqp.Confirmation) chan amqp.Confirmation {
	c.confirms = n
	return n
}

func (c *channel) NotifyReturn(n chan amqp.Return) chan amqp.Return {
	c.returns = n
	return n
}

func (c *channel) NotifyClose(n chan *amqp.Error) chan *amqp.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closes = append(c.closes, n)
	return n
}

func (c *channel) PublishWithContext(_ context.Context, exchange, key string, mandatory, _ bool, msg amqp.Publishing) error {
	select {
	case <-c.gone:
		return amqp.ErrClosed
	default:
	}
	if mandatory != (c.confirms != nil) {
		return errors.New("mandatory and confirms go together")
	}
	p := published{exchange, key, msg}
	c.b.mu.Lock()
	n := len(c.b.log)
	c.b.log = append(c.b.log, p)
	answer := c.b.answer(n, p)
	c.b.mu.Unlock()
	c.sent++
	switch {
	case c.confirms != nil:
	case answer == "close":
		c.end(&amqp.Error{Code: 320, Reason: "CONNECTION_FORCED", Server: true})
		return nil
	default:
		return nil
	}
	switch answer {
	case "ack":
		c.confirms <- amqp.Confirmation{DeliveryTag: c.sent, Ack: true}
	case "nack":
		c.confirms <- amqp.Confirmation{DeliveryTag: c.sent}
	case "return":
		c.returns <- amqp.Return{ReplyCode: 312, Exchange: exchange, RoutingKey: key, MessageId: msg.MessageId}
		c.confirms <- amqp.Confirmation{DeliveryTag: c.sent, Ack: true}
	case "close":
		c.end(&amqp.Error{Code: 320, Reason: "CONNECTION_FORCED", Server: true})
	case "refuse":
		c.end(&amqp.Error{Code: 404, Reason: "NOT_FOUND - no exchange", Server: true, Recover: true})
	}
	return nil
}

func (c *channel) end(e *amqp.Error) {
	c.once.Do(func() {
		close(c.gone)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, n := range c.closes {
			if e != nil {
				n <- e
			}
			close(n)
		}
		if c.confirms != nil {
			close(c.confirms)
		}
		if c.returns != nil {
			close(c.returns)
		}
	})
}

func (c *channel) Close() error {
	c.mu.Lock()
	isConsumer := c.isConsumer
	c.isConsumer = false
	c.mu.Unlock()
	if isConsumer {
		_ = c.b.note("close")
	}
	c.end(nil)
	return nil
}

func (c *channel) Qos(int, int, bool) error { return c.b.stepped() }

func (c *channel) ConsumeWithContext(_ context.Context, _, _ string, autoAck, _, _, _ bool, args amqp.Table) (<-chan amqp.Delivery, error) {
	if err := c.b.stepped(); err != nil {
		return nil, err
	}
	c.b.mu.Lock()
	c.b.autoAck, c.b.args = autoAck, args
	c.b.mu.Unlock()
	out := make(chan amqp.Delivery)
	stop := make(chan struct{})
	c.mu.Lock()
	c.stop, c.isConsumer = stop, true
	c.mu.Unlock()
	go func() {
		defer close(out)
		for {
			select {
			case d := <-c.b.queue:
				select {
				case out <- d:
				case <-stop:
					c.b.queue <- d // undelivered: it never left
					return
				case <-c.gone:
					c.b.queue <- d
					return
				}
			case <-stop:
				return
			case <-c.gone:
				return
			}
		}
	}()
	return out, nil
}

func (c *channel) Cancel(string, bool) error {
	c.mu.Lock()
	if c.stop != nil {
		_ = c.b.note("cancel")
		close(c.stop)
		c.stop = nil
	}
	c.mu.Unlock()
	select {
	case <-c.gone:
		return amqp.ErrClosed
	default:
		return nil
	}
}

func (c *channel) QueueDeclare(name string, _, _, _, _ bool, _ amqp.Table) (amqp.Queue, error) {
	if err := c.b.stepped(); err != nil {
		return amqp.Queue{}, err
	}
	return amqp.Queue{Name: name}, c.b.note("declare " + name)
}

func (c *channel) QueueDeclarePassive(name string, _, _, _, _ bool, _ amqp.Table) (amqp.Queue, error) {
	if err := c.b.stepped(); err != nil {
		return amqp.Queue{}, err
	}
	if name == "missing" {
		return amqp.Queue{}, &amqp.Error{Code: 404, Reason: "NOT_FOUND", Server: true, Recover: true}
	}
	return amqp.Queue{Name: name}, nil
}

func (c *channel) ExchangeDeclarePassive(name, _ string, _, _, _, _ bool, _ amqp.Table) error {
	if err := c.b.stepped(); err != nil {
		return err
	}
	if name == "missing" {
		return &amqp.Error{Code: 404, Reason: "NOT_FOUND", Server: true, Recover: true}
	}
	return nil
}

const (
	orderV1 = brokertest.OrderV1
	orderV2 = brokertest.OrderV2
)

var orders = validate.Fixed("orders-value")

// order is a delivery of version v with a number as its payload's id.
func order(v, id int) amqp.Delivery {
	return amqp.Delivery{
		Exchange: "orders", RoutingKey: "order.placed", MessageId: fmt.Sprintf("m-%d", id),
		Headers: amqp.Table{"schemaSubject": "orders-value", "schemaVersion": fmt.Sprint(v), "messageId": fmt.Sprintf("m-%d", id)},
		Body:    fmt.Appendf(nil, `{"id":%d}`, id),
	}
}
