package amqp10_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
)

// fake is a broker of one queue without a network. It hands out what is in the
// queue, in order, to whoever receives, and takes back what a link leaves
// unsettled.
type fake struct {
	mu     sync.Mutex
	queue  []*amqp.Message // not handed out
	sent   []*amqp.Message
	log    []string // what was settled, and how
	opened int
	refuse error // what opening answers
	// answer is the outcome of a message, when not nil.
	answer func(m *amqp.Message) (amqp.DeliveryState, error)
	conns  []*fakeConn
	// step is asked first in whatever a consumer calls, when not nil.
	step func() error
}

func (b *fake) stepped() error {
	if b.step == nil {
		return nil
	}
	return b.step()
}

// left tells of connections that were not closed.
func (b *fake) left() error {
	for i, c := range b.conns {
		select {
		case <-c.done:
		default:
			return fmt.Errorf("connection %d of %d is still open", i+1, len(b.conns))
		}
	}
	return nil
}

type fakeConn struct {
	b         *fake
	done      chan struct{}
	once      sync.Once
	news      chan struct{} // there may be something to hand out
	unsettled []*amqp.Message
	credit    int
}

func (b *fake) open(context.Context) (amqp10.Conn, error) {
	if err := b.stepped(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	if b.refuse != nil {
		return nil, b.refuse
	}
	c := &fakeConn{b: b, done: make(chan struct{}), news: make(chan struct{}, 1)}
	b.conns = append(b.conns, c)
	return c, nil
}

func (b *fake) put(id, body string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, message(body, "messageId", id, "schemaSubject", "orders-value", "schemaVersion", "1"))
	for _, c := range b.conns {
		c.tell()
	}
}

func (b *fake) cut() {
	b.mu.Lock()
	list := slices.Clone(b.conns)
	b.mu.Unlock()
	for _, c := range list {
		_ = c.Close()
	}
}

func (b *fake) published() []*amqp.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.sent)
}

func (b *fake) connections() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.opened
}

func (c *fakeConn) tell() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *fakeConn) Done() <-chan struct{} { return c.done }

// Close gives back what is unsettled, to where it was.
func (c *fakeConn) Close() error {
	c.once.Do(func() {
		close(c.done)
		c.b.mu.Lock()
		defer c.b.mu.Unlock()
		c.b.queue = append(c.unsettled, c.b.queue...)
		c.unsettled = nil
	})
	return nil
}

func (c *fakeConn) NewSender(_ context.Context, address string) (amqp10.Sender, error) {
	if err := c.b.stepped(); err != nil {
		return nil, err
	}
	if address == "broken" {
		return nil, fmt.Errorf("attach: %w", &amqp.ConnError{})
	}
	if address == "nowhere" {
		return nil, fmt.Errorf("attach: %w", &amqp.Error{Condition: amqp.ErrCondNotFound, Description: "no such queue"})
	}
	return &fakeSender{c, false}, nil
}

func (c *fakeConn) NewSettledSender(ctx context.Context, address string) (amqp10.Sender, error) {
	if s, err := c.NewSender(ctx, address); err != nil {
		return s, err
	}
	return &fakeSender{c, true}, nil
}

func (c *fakeConn) NewReceiver(_ context.Context, address, _ string, credit int) (amqp10.Receiver, error) {
	if err := c.b.stepped(); err != nil {
		return nil, err
	}
	if address == "broken" {
		return nil, fmt.Errorf("attach: %w", &amqp.ConnError{})
	}
	if address == "nowhere" {
		return nil, fmt.Errorf("attach: %w", &amqp.Error{Condition: amqp.ErrCondNotFound, Description: "no such queue"})
	}
	c.credit = credit
	return &fakeReceiver{c}, nil
}

type fakeSender struct {
	c       *fakeConn
	settled bool
}

func (s *fakeSender) Close(context.Context) error { return nil }

func (s *fakeSender) Send(_ context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	if err := s.c.b.stepped(); err != nil {
		return nil, err
	}
	select {
	case <-s.c.done:
		return nil, &amqp.ConnError{}
	default:
	}
	b := s.c.b
	b.mu.Lock()
	b.sent = append(b.sent, m)
	answer := b.answer
	b.mu.Unlock()
	if s.settled {
		return nil, nil
	}
	if answer != nil {
		return answer(m)
	}
	return &amqp.StateAccepted{}, nil
}

type fakeReceiver struct{ c *fakeConn }

func (r *fakeReceiver) Address() string { return "" }

func (r *fakeReceiver) Close(context.Context) error {
	r.c.b.mu.Lock()
	defer r.c.b.mu.Unlock()
	r.c.b.log = append(r.c.b.log, "detach")
	return nil
}

func (r *fakeReceiver) Receive(ctx context.Context, _ *amqp.ReceiveOptions) (*amqp.Message, error) {
	b := r.c.b
	if err := b.stepped(); err != nil {
		return nil, err
	}
	for {
		b.mu.Lock()
		if len(b.queue) > 0 && len(r.c.unsettled) < r.c.credit {
			m := b.queue[0]
			b.queue = b.queue[1:]
			r.c.unsettled = append(r.c.unsettled, m)
			b.mu.Unlock()
			return m, nil
		}
		b.mu.Unlock()
		select {
		case <-r.c.news:
		case <-r.c.done:
			return nil, &amqp.ConnError{}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *fakeReceiver) settle(how string, m *amqp.Message) error {
	b := r.c.b
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(r.c.unsettled, m)
	if at < 0 {
		return &amqp.LinkError{}
	}
	r.c.unsettled = slices.Delete(r.c.unsettled, at, at+1)
	b.log = append(b.log, how+" "+prop(m, "messageId"))
	r.c.tell()
	return nil
}

func (r *fakeReceiver) AcceptMessage(_ context.Context, m *amqp.Message) error {
	return r.settle("accept", m)
}

func (r *fakeReceiver) RejectMessage(_ context.Context, m *amqp.Message, e *amqp.Error) error {
	return r.settle("reject for "+e.Description+":", m)
}

var errNoBroker = errors.New("connection refused")
