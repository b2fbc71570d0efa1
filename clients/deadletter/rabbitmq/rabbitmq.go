// Package rabbitmq is a dead letter in a queue of RabbitMQ.
//
// Letters are taken one by one without acknowledgement, so what is kept goes
// back to its place when the walk ends, or the process. A quorum queue counts
// each look as a delivery: with a delivery limit, looking often enough is
// refused before the broker drops the letter.
package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Box is a queue. It opens its connection when it is first used.
type Box struct {
	at       brokers.Address
	conn     *amqp.Connection
	out      *amqp.Channel // in confirm mode
	returns  chan amqp.Return
	confirms chan amqp.Confirmation
	closed   chan *amqp.Error
	tag      uint64 // of the last message
}

var _ deadletter.Box = (*Box)(nil)

// Open makes a box of a queue. It connects when it is used.
func Open(a brokers.Address) *Box { return &Box{at: a} }

// dialTime bounds connecting, the greeting included.
const dialTime = 30 * time.Second

func (b *Box) connect(ctx context.Context) error {
	if b.conn != nil && !b.conn.IsClosed() {
		return nil
	}
	conn, err := Dial(ctx, b.at, "cartorio dead letters")
	if err != nil {
		return err
	}
	b.conn, b.out = conn, nil
	return nil
}

// Dial connects to the broker of an address, under a name that the broker shows.
//
// Errors: wraps brokers.ErrRefused and brokers.ErrMissing; never tells the
// password.
func Dial(ctx context.Context, at brokers.Address, name string) (*amqp.Connection, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	// The library knows no context: until it has connected the line is cut when this
	// one ends.
	stop := func() bool { return true }
	dial := func(network, address string) (net.Conn, error) {
		raw, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
		}
		return raw, err
	}
	conn, err := amqp.DialConfig(at.Server(), amqp.Config{Dial: dial, Heartbeat: 10 * time.Second, TLSClientConfig: at.TLSConfig(), Locale: "en_US", Properties: amqp.Table{"connection_name": name}})
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its own text repeats the URL, password included
		}
		return nil, fmt.Errorf("connect to the broker: %w", Explain(err))
	}
	return conn, nil
}

// Explain wraps what the broker says with what it means: brokers.ErrRefused or
// brokers.ErrMissing, where it is one of them.
//
// Source: AMQP 0-9-1, reply codes 403, 404 and 530.
func Explain(err error) error {
	var e *amqp.Error
	switch {
	case !errors.As(err, &e):
	case e.Code == amqp.NotFound, e.Code == amqp.NotAllowed && strings.Contains(e.Reason, "not found"): // of a virtual host
		return fmt.Errorf("%w: %w", brokers.ErrMissing, err)
	case e.Code == amqp.AccessRefused, e.Code == amqp.NotAllowed:
		return fmt.Errorf("%w: %w", brokers.ErrRefused, err)
	}
	return err
}

// mostDeliveries is how often a letter of a quorum queue may have been delivered
// to be looked at: the broker's own limit is 20 by default.
const mostDeliveries = 15

// Walk shows what lies in the queue.
func (b *Box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) error {
	if err := b.connect(ctx); err != nil {
		return err
	}
	ch, err := b.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	// What was not acknowledged goes back to its place.
	defer ch.Close() //nolint:errcheck // what was removed is confirmed below
	q, err := ch.QueueDeclarePassive(b.at.Name, true, false, false, false, nil)
	if err != nil {
		return fmt.Errorf("look for the queue %s: %w", b.at.Name, Explain(err))
	}
	err = b.walk(ctx, ch, q.Messages, visit)
	// An acknowledgement has no answer; a question behind it has.
	if _, asked := ch.QueueDeclarePassive(b.at.Name, true, false, false, false, nil); err == nil && asked != nil {
		err = fmt.Errorf("remove what was handled: %w", asked)
	}
	return err
}

func (b *Box) walk(ctx context.Context, ch *amqp.Channel, n int, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, ok, err := ch.Get(b.at.Name, false)
		if err != nil {
			return fmt.Errorf("take a message from %s: %w", b.at.Name, Explain(err))
		}
		if !ok {
			return nil
		}
		l := letterOf(&d)
		if count, err := strconv.Atoi(l.Header("x-delivery-count")); err == nil && count >= mostDeliveries {
			return fmt.Errorf("look at %s: the message %s was delivered %d times already, and a quorum queue drops what is delivered too often: replay or export and drop it from a queue without delivery limit, or raise the limit by a policy", b.at.Name, l.ID(), count)
		}
		fate, err := visit(ctx, l)
		if err != nil {
			return err
		}
		switch fate {
		case deadletter.Remove:
			if err := d.Ack(false); err != nil {
				return fmt.Errorf("remove %s: %w", l.ID(), err)
			}
		case deadletter.Stop:
			return nil
		case deadletter.Keep:
		}
	}
	return nil
}

// The names of properties that a letter carries beside headers.
const (
	contentEncoding = "content-encoding"
	correlationID   = "correlation-id"
	replyTo         = "reply-to"
	messageType     = "type"
	appID           = "app-id"
	priority        = "priority"
)

func letterOf(d *amqp.Delivery) *deadletter.Letter {
	l := &deadletter.Letter{Time: d.Timestamp, Properties: map[string]string{}, Message: validate.Message{
		Destination: d.Exchange, RoutingKey: d.RoutingKey, ContentType: d.ContentType, MessageID: d.MessageId, Payload: d.Body,
	}}
	if l.Message.Payload == nil {
		l.Message.Payload = []byte{} // AMQP has no tombstone
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		l.Message.Headers = append(l.Message.Headers, validate.Header{Name: name, Value: d.Headers[name]})
	}
	for name, value := range map[string]string{contentEncoding: d.ContentEncoding, correlationID: d.CorrelationId, replyTo: d.ReplyTo, messageType: d.Type, appID: d.AppId} {
		if value != "" {
			l.Properties[name] = value
		}
	}
	if d.Priority != 0 {
		l.Properties[priority] = strconv.Itoa(int(d.Priority))
	}
	return l
}

func publishing(l *deadletter.Letter) amqp.Publishing {
	m := amqp.Publishing{
		Headers: make(amqp.Table, len(l.Message.Headers)), ContentType: l.Message.ContentType, ContentEncoding: l.Properties[contentEncoding], DeliveryMode: amqp.Persistent,
		CorrelationId: l.Properties[correlationID], ReplyTo: l.Properties[replyTo], MessageId: l.MessageID(), Timestamp: l.Time,
		Type: l.Properties[messageType], AppId: l.Properties[appID], Body: l.Message.Payload,
	}
	if n, err := strconv.ParseUint(l.Properties[priority], 10, 8); err == nil {
		m.Priority = uint8(n)
	}
	for _, h := range l.Message.Headers {
		if n, ok := h.Value.(int); ok {
			m.Headers[h.Name] = int64(n)
			continue
		}
		m.Headers[h.Name] = h.Value
	}
	return m
}

// Send publishes to the queue where the message lay, or by the exchange that it
// came by where no queue is known.
func (b *Box) Send(ctx context.Context, to deadletter.Destination, l *deadletter.Letter) error {
	if to.Queue != "" {
		return b.publish(ctx, "", to.Queue, l)
	}
	if to.RoutingKey == "" {
		return b.publish(ctx, "", to.Name, l)
	}
	return b.publish(ctx, to.Name, to.RoutingKey, l)
}

// Put adds a letter to the queue.
func (b *Box) Put(ctx context.Context, l *deadletter.Letter) error {
	return b.publish(ctx, "", b.at.Name, l)
}

// confirmTime bounds the wait for one confirm.
const confirmTime = 30 * time.Second

func (b *Box) publish(ctx context.Context, exchange, key string, l *deadletter.Letter) error {
	if err := b.connect(ctx); err != nil {
		return err
	}
	if err := b.outgoing(); err != nil {
		return err
	}
	where := fmt.Sprintf("publish to %q", strings.TrimPrefix(exchange+"/"+key, "/"))
	b.tag++
	if err := b.out.PublishWithContext(ctx, exchange, key, true, false, publishing(l)); err != nil {
		b.out = nil
		return fmt.Errorf("%s: %w", where, err)
	}
	limited, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	select {
	case c, ok := <-b.confirms:
		if !ok || c.DeliveryTag != b.tag {
			b.out = nil
			return b.lost(where)
		}
		// A return comes before its confirm, and one reader puts both there.
		select {
		case r := <-b.returns:
			err := fmt.Errorf("no queue took it (%s)", r.ReplyText)
			if exchange == "" { // which knows every queue by its name
				err = fmt.Errorf("%w: %w", brokers.ErrMissing, err)
			}
			return fmt.Errorf("%s: %w: %w", where, validate.ErrPermanent, err)
		default:
		}
		if !c.Ack {
			return fmt.Errorf("%s: the broker could not take it", where)
		}
		return nil
	case <-limited.Done():
		b.out = nil
		return fmt.Errorf("%s: no confirm came: %w", where, limited.Err())
	}
}

// lost tells why a channel is gone: an exchange that is not there closes it.
func (b *Box) lost(where string) error {
	e := <-b.closed // the library sends it, or closes the channel
	switch {
	case e == nil:
		return fmt.Errorf("%s: the channel was closed before the confirm came", where)
	case e.Code == amqp.NotFound || e.Code == amqp.AccessRefused:
		return fmt.Errorf("%s: %w: %w", where, validate.ErrPermanent, Explain(e))
	}
	return fmt.Errorf("%s: the channel was closed: %w", where, e)
}

// outgoing opens the channel to publish on.
func (b *Box) outgoing() error {
	if b.out != nil && !b.out.IsClosed() {
		return nil
	}
	ch, err := b.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	if err := ch.Confirm(false); err != nil {
		_ = ch.Close()
		return fmt.Errorf("switch publisher confirms on: %w", err)
	}
	b.out, b.tag = ch, 0
	b.confirms = ch.NotifyPublish(make(chan amqp.Confirmation, 1))
	b.returns = ch.NotifyReturn(make(chan amqp.Return, 1))
	b.closed = ch.NotifyClose(make(chan *amqp.Error, 1))
	return nil
}

// Close ends the connection.
func (b *Box) Close() error {
	if b.conn == nil || b.conn.IsClosed() {
		return nil
	}
	if err := b.conn.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("close the connection to the broker: %w", err)
	}
	return nil
}
