// Package amqp10 is a dead letter in a queue of a broker of AMQP 1.0, as of
// ActiveMQ.
//
// Letters are received and left unsettled, so what is kept goes back to its place
// when the walk ends, or the process.
package amqp10

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Box is a queue.
type Box struct {
	queue   string
	dial    amqp10.Open
	out     amqp10.Conn // to publish; what is read has a connection of its own
	senders map[string]amqp10.Sender
}

var _ deadletter.Box = (*Box)(nil)

// Open makes a box of a queue. It connects when it is used.
func Open(a brokers.Address) *Box {
	return &Box{queue: a.Name, dial: amqp10.Connect(a.Server(), amqp.ConnOptions{TLSConfig: a.TLSConfig()})}
}

const (
	// quiet is how long the queue may give nothing before the broker is asked whether
	// that is all: a receiver is not told how much lies in it.
	quiet = 500 * time.Millisecond
	// credit is how many letters are asked for at once.
	credit = 100
	// outcomeTime bounds the wait for one outcome, and taking leave.
	outcomeTime = 30 * time.Second
)

// receiver is one whose credit is given by hand: what is kept is not settled, and
// the library would ask for no more.
type receiver interface {
	amqp10.Receiver
	IssueCredit(n uint32) error
}

// open connects.
func (b *Box) open(ctx context.Context) (amqp10.Conn, error) {
	conn, err := b.dial(ctx)
	if err != nil {
		return nil, explain(err)
	}
	return conn, nil
}

// explain wraps what the broker says with what it means: brokers.ErrRefused or
// brokers.ErrMissing, where it is one of them.
//
// Source: AMQP 1.0, part 2.8.15, amqp-error; the library has no error of its own
// for a user that SASL does not take, but this text.
func explain(err error) error {
	var e *amqp.Error
	switch errors.As(err, &e); {
	case e != nil && e.Condition == amqp.ErrCondNotFound:
		return fmt.Errorf("%w: %w", brokers.ErrMissing, err)
	case e != nil && e.Condition == amqp.ErrCondUnauthorizedAccess, strings.Contains(err.Error(), " auth failed with code "):
		return fmt.Errorf("%w: %w", brokers.ErrRefused, err)
	}
	return err
}

// Walk shows what lies in the queue.
func (b *Box) Walk(ctx context.Context, visit func(context.Context, *deadletter.Letter) (deadletter.Fate, error)) (err error) {
	conn, err := b.open(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // what was removed is answered below
	attached, err := conn.NewReceiver(ctx, b.queue, "", 0)
	if err != nil {
		return fmt.Errorf("look for the queue: %w", explain(err))
	}
	r, ok := attached.(receiver)
	if !ok {
		return fmt.Errorf("look at %s: a link of type %T gives no credit by hand", b.queue, attached)
	}
	defer func() {
		// The broker answers when it has done all that was settled before.
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
		defer cancel()
		if left := r.Close(leaving); err == nil && left != nil {
			err = fmt.Errorf("take leave of the broker: %w", left)
		}
	}()
	began := time.Now()
	for n := 0; ; n++ {
		if n%credit == 0 {
			if err := r.IssueCredit(credit); err != nil {
				return fmt.Errorf("ask for messages: %w", err)
			}
		}
		m, err := b.next(ctx, conn, r)
		if m == nil || err != nil {
			return err
		}
		l := letterOf(m)
		// What failed again meanwhile is not looked at a second time.
		if l.FailedAt().After(began) && l.Replays() > 0 {
			continue
		}
		fate, err := visit(ctx, l)
		if err != nil {
			return err
		}
		switch fate {
		case deadletter.Remove:
			if err := r.AcceptMessage(ctx, m); err != nil {
				return fmt.Errorf("remove %s: %w", l.ID(), err)
			}
		case deadletter.Stop:
			return nil
		case deadletter.Keep:
		}
	}
}

// next waits for a message; nil for none. That none comes for a while says little
// on a busy machine: then the broker is asked something else about the queue, which
// it answers when it gets to it, and none has come after that either.
func (b *Box) next(ctx context.Context, conn amqp10.Conn, r amqp10.Receiver) (*amqp.Message, error) {
	for isAsked := false; ; isAsked = true {
		waiting, cancel := context.WithTimeout(ctx, quiet)
		m, err := r.Receive(waiting, nil)
		isQuiet := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			return m, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !isQuiet:
			return nil, fmt.Errorf("take a message: %w", explain(err))
		case isAsked:
			return nil, nil
		}
		if err := b.ask(ctx, conn); err != nil {
			return nil, fmt.Errorf("see whether that is all: %w", explain(err))
		}
	}
}

// ask has the broker answer about the queue: a link that takes nothing comes and
// goes. ActiveMQ does not answer a drain, which is made for this.
func (b *Box) ask(ctx context.Context, conn amqp10.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, outcomeTime)
	defer cancel()
	link, err := conn.NewReceiver(ctx, b.queue, "", 0)
	if err != nil {
		return err
	}
	return link.Close(ctx)
}

// The names of properties that a letter carries beside headers.
const (
	correlationID = "correlation-id"
	replyTo       = "reply-to"
	groupID       = "group-id"
	priority      = "priority"
	// bodyKind tells a body that is not data: asText is a value that is text, asOther
	// one that is no payload, and which can therefore not be sent again.
	bodyKind = "body"
	asText   = "text"
	asOther  = "other"
)

func letterOf(m *amqp.Message) *deadletter.Letter {
	l := &deadletter.Letter{Properties: map[string]string{}, Message: validate.Message{Headers: amqp10.Headers(m)}}
	payload, err := amqp10.Payload(m)
	l.Message.Payload = payload
	if _, isText := m.Value.(string); isText {
		l.Properties[bodyKind] = asText
	}
	if err != nil {
		l.Properties[bodyKind] = asOther
	}
	if m.Header != nil && m.Header.Priority != 4 {
		l.Properties[priority] = strconv.Itoa(int(m.Header.Priority))
	}
	p := m.Properties
	if p == nil {
		return l
	}
	for name, value := range map[string]*string{replyTo: p.ReplyTo, groupID: p.GroupID} {
		if value != nil {
			l.Properties[name] = *value
		}
	}
	for to, value := range map[*string]*string{&l.Message.Destination: p.To, &l.Message.RoutingKey: p.Subject, &l.Message.ContentType: p.ContentType} {
		if value != nil {
			*to = *value
		}
	}
	if p.CorrelationID != nil {
		l.Properties[correlationID] = fmt.Sprint(p.CorrelationID)
	}
	if p.MessageID != nil {
		l.Message.MessageID = fmt.Sprint(p.MessageID)
	}
	if p.CreationTime != nil {
		l.Time = p.CreationTime.UTC()
	}
	return l
}

// messageOf is a letter as a message to send. Its id is the application property
// messageId: ActiveMQ cannot read a foreign message-id back.
func messageOf(l *deadletter.Letter) (*amqp.Message, error) {
	m := &amqp.Message{Header: &amqp.MessageHeader{Durable: true, Priority: 4}, Properties: &amqp.MessageProperties{}, ApplicationProperties: map[string]any{}}
	switch l.Properties[bodyKind] {
	case asText:
		m.Value = string(l.Message.Payload)
	case asOther:
		return nil, fmt.Errorf("%w: its body is neither data nor text", validate.ErrPermanent)
	default:
		m.Data = [][]byte{append([]byte{}, l.Message.Payload...)}
	}
	for _, h := range l.Message.Headers {
		m.ApplicationProperties[h.Name] = h.Value
	}
	if id := l.MessageID(); id != "" {
		m.ApplicationProperties["messageId"] = id
	}
	if n, err := strconv.ParseUint(l.Properties[priority], 10, 8); err == nil {
		m.Header.Priority = uint8(n)
	}
	group := l.Properties[groupID]
	if group == "" {
		group = l.Header("messageKey")
	}
	set := func(to **string, value string) {
		if value != "" {
			*to = &value
		}
	}
	set(&m.Properties.GroupID, group)
	set(&m.Properties.ReplyTo, l.Properties[replyTo])
	set(&m.Properties.Subject, l.Message.RoutingKey)
	set(&m.Properties.ContentType, l.Message.ContentType)
	if id := l.Properties[correlationID]; id != "" {
		m.Properties.CorrelationID = id
	}
	return m, nil
}

// Send publishes to where the message came from.
func (b *Box) Send(ctx context.Context, to deadletter.Destination, l *deadletter.Letter) error {
	return b.publish(ctx, to.String(), l)
}

// Put adds a letter to the queue.
func (b *Box) Put(ctx context.Context, l *deadletter.Letter) error {
	return b.publish(ctx, b.queue, l)
}

// publish sends a message and waits until the broker has accepted it.
func (b *Box) publish(ctx context.Context, name string, l *deadletter.Letter) error {
	fail := func(err error) error { return fmt.Errorf("publish to %s: %w", name, err) }
	m, err := messageOf(l)
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, outcomeTime)
	defer cancel()
	s, err := b.sender(ctx, name)
	if err != nil {
		return fail(permanent(err))
	}
	state, err := s.Send(ctx, m)
	if err != nil {
		delete(b.senders, name)
		_ = s.Close(ctx) // what it says is the same again
		return fail(permanent(err))
	}
	switch state := state.(type) {
	case *amqp.StateAccepted:
		return nil
	case *amqp.StateRejected:
		if state.Error == nil {
			return fail(fmt.Errorf("%w: the broker rejects it and does not say why", validate.ErrPermanent))
		}
		return fail(permanent(state.Error))
	default:
		return fail(fmt.Errorf("the broker did not take it: its outcome is %T", state))
	}
}

// permanent tells what the broker refuses for good from what may pass.
func permanent(err error) error {
	var e *amqp.Error
	if errors.As(err, &e) {
		switch e.Condition {
		case amqp.ErrCondNotFound, amqp.ErrCondUnauthorizedAccess, amqp.ErrCondNotAllowed, amqp.ErrCondInvalidField, amqp.ErrCondPreconditionFailed, amqp.ErrCondMessageSizeExceeded:
			return fmt.Errorf("%w: %w", validate.ErrPermanent, explain(err))
		}
	}
	return err
}

// sender gives the link to an address, on a new connection where the old one is
// lost.
func (b *Box) sender(ctx context.Context, name string) (amqp10.Sender, error) {
	if b.out != nil {
		select {
		case <-b.out.Done():
			b.out = nil
		default:
		}
	}
	if b.out == nil {
		conn, err := b.open(ctx)
		if err != nil {
			return nil, err
		}
		b.out, b.senders = conn, map[string]amqp10.Sender{}
	}
	if s := b.senders[name]; s != nil {
		return s, nil
	}
	s, err := b.out.NewSender(ctx, name)
	if err != nil {
		return nil, err
	}
	b.senders[name] = s
	return s, nil
}

// Close ends the connection.
func (b *Box) Close() error {
	if b.out == nil {
		return nil
	}
	if err := b.out.Close(); err != nil {
		return fmt.Errorf("close the connection to the broker: %w", err)
	}
	return nil
}
