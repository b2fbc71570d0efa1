// Package amqp10 publishes validated messages over AMQP 1.0 and consumes them,
// from ActiveMQ Classic and brokers like it: a [Producer] lets nothing through
// that its schema refuses and answers only when the broker has accepted the
// message; a [Consumer] hands the accepted ones to a handler, sets the rejected
// ones aside with their reason, and keeps those that could not be judged.
//
// It speaks through go-amqp, over connections that the caller opens ([Open]); it
// decides nothing about schemas, which is package validate's, and it has no path
// that releases a message without waiting.
//
// Start with [Connect], then [NewProducer] and [NewConsumer].
package amqp10

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/Azure/go-amqp"
)

// Conn is a connection with one session. Errors of its links that say that the
// connection is gone are final.
type Conn interface {
	// NewSender attaches a link that sends to an address.
	NewSender(ctx context.Context, address string) (Sender, error)
	// NewSettledSender attaches one whose messages are done when they are sent: its
	// Send answers no outcome.
	NewSettledSender(ctx context.Context, address string) (Sender, error)
	// NewReceiver attaches a link that receives from an address, with credit for so
	// many unsettled messages; none receives nothing. An empty address asks for one
	// of the broker's that lives as long as the link.
	NewReceiver(ctx context.Context, address, selector string, credit int) (Receiver, error)
	// Done is closed when the connection is lost.
	Done() <-chan struct{}
	Close() error
}

// Sender is a link that sends.
type Sender interface {
	// Send sends a message and waits for its outcome; nil where the link is settled.
	Send(ctx context.Context, m *amqp.Message) (amqp.DeliveryState, error)
	Close(ctx context.Context) error
}

// Receiver is what this package needs of *amqp.Receiver.
type Receiver interface {
	Receive(ctx context.Context, o *amqp.ReceiveOptions) (*amqp.Message, error)
	AcceptMessage(ctx context.Context, m *amqp.Message) error
	RejectMessage(ctx context.Context, m *amqp.Message, e *amqp.Error) error
	Address() string
	Close(ctx context.Context) error
}

// Open opens a new connection. It is called again whenever one is lost; a
// producer and each session of a consumer has one of its own.
type Open func(ctx context.Context) (Conn, error)

const (
	// dialTime bounds connecting.
	dialTime = 30 * time.Second
	// idleTime is how long the broker may be silent, unless the options say otherwise.
	idleTime = 20 * time.Second
)

// Connect gives an Open for a URL such as amqp://user:password@host:5672. Without
// a user, and a SASLType in the options, it is anonymous: ActiveMQ takes no one
// who does not say who they are.
func Connect(address string, o amqp.ConnOptions) Open {
	if u, err := url.Parse(address); o.SASLType == nil && (err != nil || u.User == nil) {
		o.SASLType = amqp.SASLTypeAnonymous()
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = idleTime
	}
	return func(ctx context.Context) (Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTime)
		defer cancel()
		options := o
		conn, err := amqp.Dial(ctx, address, &options)
		if err != nil {
			var u *url.Error
			if errors.As(err, &u) {
				err = u.Err // its own text repeats the URL, password included
			}
			return nil, fmt.Errorf("connect to the broker: %w", err)
		}
		session, err := conn.NewSession(ctx, nil)
		if err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("begin a session: %w", err)
		}
		return &connection{conn, session}, nil
	}
}

// connection is go-amqp's.
type connection struct {
	*amqp.Conn
	session *amqp.Session
}

// NewSender attaches a link that sends unsettled, to a durable target.
func (c *connection) NewSender(ctx context.Context, address string) (Sender, error) {
	s, err := c.session.NewSender(ctx, address, &amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeUnsettled.Ptr()})
	if err != nil {
		return nil, fmt.Errorf("attach a link to %q: %w", address, err)
	}
	return &sender{s}, nil
}

// NewSettledSender attaches a link that sends settled.
func (c *connection) NewSettledSender(ctx context.Context, address string) (Sender, error) {
	s, err := c.session.NewSender(ctx, address, &amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeSettled.Ptr()})
	if err != nil {
		return nil, fmt.Errorf("attach a link to %q: %w", address, err)
	}
	return &settledSender{s}, nil
}

// NewReceiver attaches a link that receives.
func (c *connection) NewReceiver(ctx context.Context, address, selector string, credit int) (Receiver, error) {
	o := amqp.ReceiverOptions{Credit: int32(min(credit, 1<<20)), DynamicAddress: address == ""} //nolint:gosec // bounded
	if credit <= 0 {
		o.Credit = -1
	}
	if selector != "" {
		o.Filters = append(o.Filters, amqp.NewSelectorFilter(selector))
	}
	r, err := c.session.NewReceiver(ctx, address, &o)
	if err != nil {
		return nil, fmt.Errorf("attach a link to %q: %w", address, err)
	}
	return r, nil
}

// sender is go-amqp's, with the outcome in view: its own Send takes a message
// that was released for one that was accepted.
type sender struct{ *amqp.Sender }

// Send sends a message and waits for its outcome. The transfer itself does not end
// with ctx: a part of a message would be left on the link.
func (s *sender) Send(ctx context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	receipt, err := s.SendWithReceipt(context.WithoutCancel(ctx), m, nil)
	if err != nil {
		return nil, err
	}
	return receipt.Wait(ctx)
}

// settledSender is go-amqp's, for messages whose outcome nobody waits for.
type settledSender struct{ *amqp.Sender }

// Send sends a message, whole: see sender.
func (s *settledSender) Send(ctx context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	return nil, s.Sender.Send(context.WithoutCancel(ctx), m, nil)
}
