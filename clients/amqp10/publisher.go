package amqp10

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// mostLinks is to how many addresses a publisher keeps a link; to others it
// attaches one for each message.
const mostLinks = 64

// publisher sends messages, and answers when the broker has accepted them. It
// validates nothing. What was on its way when a connection is lost is sent again
// on the next one.
type publisher struct {
	conn    *deliver.Shared[*links]
	mayLose bool // what is sent is settled, and has no outcome
	window  chan struct{}
}

func newPublisher(open Open, window int) *publisher {
	p := &publisher{window: make(chan struct{}, window)}
	p.conn = deliver.NewShared(func(ctx context.Context) (*links, error) {
		conn, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &links{conn: conn, mayLose: p.mayLose, senders: map[string]*attached{}}, nil
	}, (*links).isLost, func(l *links) { _ = l.conn.Close() })
	return p
}

// close takes no more messages and waits for those on their way.
func (p *publisher) close(ctx context.Context) error { return p.conn.Close(ctx) }

// publish sends a message until its fate is known or ctx ends.
func (p *publisher) publish(ctx context.Context, address string, m *amqp.Message) error {
	fail := func(fate Fate, err error) error {
		return &Error{Fate: fate, Address: address, MessageID: text(m, messageIDHeader), Err: err}
	}
	end, ok := p.conn.Begin()
	if !ok {
		return fail(Unsent, ErrClosed)
	}
	defer end()
	fate, pause := Unsent, deliver.FirstPause
	for {
		l, err := p.conn.Get(ctx)
		if err != nil {
			return fail(fate, err)
		}
		select {
		case p.window <- struct{}{}:
		case <-ctx.Done():
			return fail(fate, ctx.Err())
		}
		type answer struct {
			isSent bool
			state  amqp.DeliveryState
			err    error
		}
		answers := make(chan answer, 1)
		go func() { // a transfer is not given up half done
			defer func() { <-p.window }()
			var a answer
			a.isSent, a.state, a.err = l.send(ctx, address, m)
			answers <- a
		}()
		var a answer
		select {
		case a = <-answers:
		case <-ctx.Done():
			select {
			case a = <-answers: // both came at once: the broker's word counts
			default:
				return fail(Unknown, fmt.Errorf("no outcome came in time: %w", ctx.Err()))
			}
		}
		if a.isSent {
			fate = Unknown
		}
		switch state := a.state.(type) {
		case *amqp.StateAccepted:
			p.conn.Used()
			return nil
		case *amqp.StateRejected:
			return fail(fateOfRejected(state.Error), orRejected(state.Error))
		case *amqp.StateReleased:
			return fail(Nacked, errors.New("the broker released it"))
		case *amqp.StateModified:
			return fail(Nacked, errors.New("the broker modified it"))
		default:
			switch {
			case a.err != nil:
			case p.mayLose:
				p.conn.Used()
				return nil
			default:
				return fail(Unknown, fmt.Errorf("the broker's outcome is %T", a.state))
			}
		}
		if f := fateOf(a.err, a.isSent); f != 0 {
			return fail(f, a.err)
		}
		// The link is lost, or could not be attached: not again at once, the connection
		// may stand.
		if err := deliver.Sleep(ctx, pause); err != nil {
			return fail(fate, err)
		}
		pause = min(2*pause, deliver.LongestPause)
	}
}

// links are the senders of one connection, by address.
type links struct {
	conn    Conn
	mayLose bool

	mu      sync.Mutex
	senders map[string]*attached
}

// attached is a sender that one caller attaches and all use.
type attached struct {
	once   sync.Once
	sender Sender
	err    error
}

func (l *links) isLost() bool {
	select {
	case <-l.conn.Done():
		return true
	default:
		return false
	}
}

// attach gives the sender of an address; kept is nil when it is for this one
// message.
func (l *links) attach(ctx context.Context, address string) (s Sender, kept *attached, err error) {
	l.mu.Lock()
	a := l.senders[address]
	if a == nil {
		if len(l.senders) >= mostLinks {
			l.mu.Unlock()
			s, err := l.sender(ctx, address)
			return s, nil, err
		}
		a = &attached{}
		l.senders[address] = a
	}
	l.mu.Unlock()
	a.once.Do(func() { a.sender, a.err = l.sender(ctx, address) })
	return a.sender, a, a.err
}

func (l *links) sender(ctx context.Context, address string) (Sender, error) {
	if l.mayLose {
		return l.conn.NewSettledSender(ctx, address)
	}
	return l.conn.NewSender(ctx, address)
}

// drop forgets a sender; a new one is attached next time.
func (l *links) drop(address string, a *attached) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.senders[address] == a {
		delete(l.senders, address)
	}
}

// send sends a message on the link to an address; isSent tells whether it may
// have gone out.
func (l *links) send(ctx context.Context, address string, m *amqp.Message) (isSent bool, state amqp.DeliveryState, err error) {
	attaching, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliver.SettleTime)
	s, kept, err := l.attach(attaching, address)
	cancel()
	if err != nil {
		l.drop(address, kept)
		return false, nil, err
	}
	state, err = s.Send(ctx, m)
	switch {
	case kept == nil:
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliver.SettleTime)
		defer cancel()
		_ = s.Close(closing)
	case isLost(err):
		l.drop(address, kept)
	}
	return true, state, err
}

// isLost tells that a link, or all of them, is gone.
func isLost(err error) bool {
	var (
		link *amqp.LinkError
		conn *amqp.ConnError
		s    *amqp.SessionError
	)
	return errors.As(err, &link) || errors.As(err, &conn) || errors.As(err, &s)
}

// fateOfRejected tells a message that the broker will never take from one that it
// could not take now.
func fateOfRejected(e *amqp.Error) Fate {
	if e != nil {
		switch e.Condition {
		case amqp.ErrCondResourceLimitExceeded, amqp.ErrCondInternalError, amqp.ErrCondIllegalState, amqp.ErrCondResourceLocked:
			return Nacked
		case amqp.ErrCondMessageSizeExceeded:
			return TooLarge
		}
	}
	return Refused
}

func orRejected(e *amqp.Error) error {
	if e == nil {
		return errors.New("the broker rejected it and does not say why")
	}
	return fmt.Errorf("the broker rejected it: %w", e)
}

// fateOf is the fate that an error decides; 0 where it only says that a link or
// the connection is lost, or that ctx has ended.
func fateOf(err error, isSent bool) Fate {
	var e *amqp.Error
	if errors.As(err, &e) {
		switch e.Condition {
		case amqp.ErrCondNotFound:
			return Unroutable
		case amqp.ErrCondUnauthorizedAccess, amqp.ErrCondNotAllowed, amqp.ErrCondNotImplemented, amqp.ErrCondInvalidField, amqp.ErrCondPreconditionFailed:
			return Refused
		case amqp.ErrCondMessageSizeExceeded:
			return TooLarge
		}
		return 0
	}
	if isLost(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || !isSent {
		return 0
	}
	return Refused // the message could not be written as AMQP
}
