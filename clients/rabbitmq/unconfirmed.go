package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
)

// unconfirmed publishes what may be lost: it hands a message to the connection
// and asks for no confirm.
type unconfirmed struct {
	open   Open
	turn   chan struct{} // whoever is in it has the channel; a lock would wait longer than a context lasts
	closed atomic.Bool

	ch     Channel // guarded by turn, as is what closes
	closes chan *amqp.Error
}

func newUnconfirmed(open Open) *unconfirmed {
	return &unconfirmed{open: open, turn: make(chan struct{}, 1)}
}

func (u *unconfirmed) publish(ctx context.Context, exchange, key string, msg amqp.Publishing) error {
	fail := func(f Fate, err error) error {
		return &Error{Fate: f, Exchange: exchange, Key: key, MessageID: msg.MessageId, Err: err}
	}
	if size := headerSize(&msg); size > LongestHeader {
		return fail(TooLarge, fmt.Errorf("its headers and properties have %d bytes, and a frame holds %d: carry less in headers", size, LongestHeader))
	}
	if err := msg.Headers.Validate(); err != nil {
		return fail(Refused, fmt.Errorf("a header's value has a type that AMQP does not know: %w", err))
	}
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return fail(Unsent, ctx.Err())
	}
	if ctx.Done() == nil {
		defer func() { <-u.turn }()
		fate, err := u.send(ctx, new(atomic.Bool), exchange, key, msg)
		if err != nil {
			return fail(fate, err)
		}
		return nil
	}
	// A broker that takes no more holds up whoever writes to it, and the library knows
	// no context. The turn ends with the write, which a later message could not pass.
	var begun atomic.Bool
	done := make(chan error, 1)
	go func() {
		var failed error
		if fate, err := u.send(ctx, &begun, exchange, key, msg); err != nil {
			failed = fail(fate, err)
		}
		<-u.turn
		done <- failed
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if begun.Load() {
		return fail(Unknown, ctx.Err())
	}
	return fail(Unsent, ctx.Err())
}

// send is called by whoever has the turn. begun is set before a byte is written;
// none is after ctx has ended.
func (u *unconfirmed) send(ctx context.Context, begun *atomic.Bool, exchange, key string, msg amqp.Publishing) (Fate, error) {
	if u.closed.Load() {
		return Unsent, ErrClosed
	}
	select {
	case <-u.closes: //nolint:errcheck // why it closed is of no use: what was sent may be lost
		u.ch = nil
	default:
	}
	if u.ch == nil {
		ch, err := u.open(ctx)
		if err != nil {
			return Unsent, err
		}
		u.ch, u.closes = ch, ch.NotifyClose(make(chan *amqp.Error, 1))
	}
	begun.Store(true)
	if err := ctx.Err(); err != nil {
		return Unsent, err
	}
	if err := u.ch.PublishWithContext(ctx, exchange, key, false, false, msg); err != nil {
		u.ch = nil
		return Unsent, err
	}
	return 0, nil
}

func (u *unconfirmed) close(ctx context.Context) error {
	u.closed.Store(true)
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("close a publisher with messages on their way: %w", ctx.Err())
	}
	defer func() { <-u.turn }()
	if u.ch == nil {
		return nil
	}
	// The channel's end has an answer: what was sent before is at the broker then.
	if err := u.ch.Close(); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("close a publisher: %w", err)
	}
	return nil
}
