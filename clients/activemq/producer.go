package activemq

import (
	"context"
	"errors"
	"sync"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// ProducerOptions shape a producer. Zero fields mean the defaults.
type ProducerOptions struct {
	// Window is how many messages may wait for their receipt at once, 256.
	Window int
	// LossAcceptable says why messages of this producer may be lost, as "presence,
	// the next one comes in a second"; it is logged at the start. Then they are sent
	// without asking for a receipt, are not stored, and Publish answers nil when they
	// are on their way. They are validated and stamped all the same.
	LossAcceptable string
}

// Producer publishes validated messages. It is safe for use by many goroutines.
type Producer struct {
	validator *validate.Validator
	pin       validate.Pin
	mayLose   bool
	window    chan struct{}
	links     *deliver.Shared[*link]

	// A message that the broker's ERROR may have been about goes alone, so that it is
	// known which one it was.
	together sync.RWMutex
}

// NewProducer makes a producer that writes with the schema that pin names. It
// connects when the first message comes; Close ends the connection.
func NewProducer(open Open, v *validate.Validator, pin validate.Pin, o ProducerOptions) *Producer {
	if o.Window <= 0 {
		o.Window = 256
	}
	if o.LossAcceptable != "" {
		v.Logger().Warn("messages may be lost: they are sent without receipts", "reason", o.LossAcceptable)
	}
	links := deliver.NewShared(func(ctx context.Context) (*link, error) { return openLink(ctx, open, 0) },
		func(l *link) bool { return l.why() != nil }, func(l *link) { l.lose(errLeft) })
	return &Producer{validator: v, pin: pin, mayLose: o.LossAcceptable != "", links: links, window: make(chan struct{}, o.Window)}
}

// Publish validates, stamps and publishes a message. It answers nil when the
// broker has stored it; otherwise nothing, or nothing known, is there. What is
// sent to a topic that nobody subscribes to is gone all the same: a queue, or a
// virtual topic with a queue for each subscriber, keeps it.
//
// destination is a queue's name, or one with its kind: /queue/orders,
// queue://orders, /topic/VirtualTopic.orders. m is not changed. It is sent
// persistent, and a connection that is lost on the way is made again and the
// message sent again with the same id, for as long as ctx lasts.
//
// Errors: *validate.Error when the message was not let through; *Error for what
// became of it at the broker.
func (p *Producer) Publish(ctx context.Context, destination string, m *Message) error {
	sent := *m
	body := m.Body
	if body == nil {
		body = []byte{}
	}
	if sent.Key == "" {
		sent.Key = headerOf(m.Headers, messageKeyHeader)
	}
	judged := validate.Message{
		Destination: validate.DestinationName(destination), RoutingKey: validate.DestinationName(destination), Headers: append([]validate.Header(nil), m.Headers...), ContentType: m.ContentType,
		Payload: body, Type: m.Type, MessageID: m.MessageID,
	}
	if sent.Key != "" && headerOf(m.Headers, messageKeyHeader) == "" {
		judged.Headers = append(judged.Headers, validate.Header{Name: messageKeyHeader, Value: sent.Key})
	}
	if err := p.validator.BeforePublish(ctx, &judged, &p.pin); err != nil {
		return err
	}
	sent.Headers, sent.Body, sent.MessageID = judged.Headers, judged.Payload, judged.MessageID
	return p.send(ctx, destination, &sent)
}

// Forward publishes a message that was validated and stamped before, by an outbox
// for one, and answers as Publish does. It validates nothing: the schema may have
// been retired since, and the message was made all the same. m.Destination and
// m.RoutingKey are not looked at.
//
// Errors: *validate.Error with HeaderMissing for a message that was not stamped;
// *Error for what became of it at the broker.
func (p *Producer) Forward(ctx context.Context, destination string, m *validate.Message) error {
	if err := m.CheckStamped(); err != nil {
		return err
	}
	// STOMP has no tombstone: no payload is an empty one.
	return p.send(ctx, destination, &Message{Headers: m.Headers, ContentType: m.ContentType, MessageID: m.MessageID, Key: headerOf(m.Headers, messageKeyHeader), Body: m.Payload})
}

// send sends a message until its fate is known or ctx ends.
func (p *Producer) send(ctx context.Context, destination string, m *Message) error {
	f, err := sendFrame(destination, m)
	if err != nil {
		return err
	}
	if fate, err := p.publish(ctx, f); err != nil {
		return &Error{Fate: fate, Destination: destination, MessageID: m.MessageID, Err: err}
	}
	return nil
}

// publish sends a frame until its fate is known or ctx ends.
func (p *Producer) publish(ctx context.Context, f *frame.Frame) (Fate, error) {
	end, ok := p.links.Begin()
	if !ok {
		return Unsent, ErrClosed
	}
	defer end()
	select {
	case p.window <- struct{}{}:
	case <-ctx.Done():
		return Unsent, ctx.Err()
	}
	defer func() { <-p.window }()
	fate, isAlone := Unsent, false
	for {
		l, err := p.links.Get(ctx)
		if err != nil {
			return fate, err
		}
		isSent, err := p.try(ctx, l, f, isAlone)
		if err == nil {
			p.links.Used()
			return 0, nil
		}
		if isSent {
			fate = Unknown
		}
		if ctx.Err() != nil {
			return fate, err
		}
		var refused *brokerError
		if !errors.As(err, &refused) || refused.isOther {
			continue
		}
		// An ERROR may be of another message, or of a broker that is going down. The
		// one that gets it again, alone, is the one that is meant.
		switch {
		case isAlone && refused.isFull():
			return Nacked, err
		case isAlone:
			return Refused, err
		}
		isAlone = true
	}
}

// try sends a frame once.
func (p *Producer) try(ctx context.Context, l *link, f *frame.Frame, isAlone bool) (isSent bool, err error) {
	if isAlone {
		p.together.Lock()
		defer p.together.Unlock()
	} else {
		p.together.RLock()
		defer p.together.RUnlock()
	}
	if p.mayLose {
		f.Header.Set("persistent", "false")
		return false, l.send(f)
	}
	return l.ask(ctx, f)
}

// Close takes no more messages, waits, as long as ctx lasts, for those on their
// way, and ends the connection.
func (p *Producer) Close(ctx context.Context) error { return p.links.Close(ctx) }
