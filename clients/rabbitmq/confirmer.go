package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// LongestHeader is what fits into a frame of the usual 131,072 bytes.
const LongestHeader = 131_064

// confirmer publishes, and answers when the broker has confirmed and routed. It
// validates nothing. One goroutine owns its channel; what was on its way when a
// channel is lost is published again on the next one.
//
// Source: client specification 0.9 and 2.3.
type confirmer struct {
	open     Open
	window   int // most messages without a confirm
	requests chan *send
	quit     chan struct{}
	done     chan struct{}

	mu        sync.Mutex
	closed    bool
	unreached error // why the last channel was not opened
	busy      sync.WaitGroup
}

// send is one message on its way.
type send struct {
	ctx           context.Context
	exchange, key string
	msg           amqp.Publishing
	sent          atomic.Bool
	careful       bool // was on its way when the broker closed a channel over some message
	answer        chan error
}

func (s *send) fail(f Fate, err error) {
	s.answer <- &Error{Fate: f, Exchange: s.exchange, Key: s.key, MessageID: s.msg.MessageId, Err: err}
}

func newConfirmer(open Open, window int) *confirmer {
	c := &confirmer{open: open, window: window, requests: make(chan *send), quit: make(chan struct{}), done: make(chan struct{})}
	go c.run()
	return c
}

// publish sends a message and waits until its fate is known or ctx ends.
func (c *confirmer) publish(ctx context.Context, exchange, key string, msg amqp.Publishing) error {
	s := &send{ctx: ctx, exchange: exchange, key: key, msg: msg, answer: make(chan error, 1)}
	if size := headerSize(&msg); size > LongestHeader {
		s.fail(TooLarge, fmt.Errorf("its headers and properties have %d bytes, and a frame holds %d: carry less in headers", size, LongestHeader))
		return <-s.answer
	}
	if err := msg.Headers.Validate(); err != nil {
		s.fail(Refused, fmt.Errorf("a header's value has a type that AMQP does not know: %w", err))
		return <-s.answer
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		s.fail(Unsent, ErrClosed)
		return <-s.answer
	}
	c.busy.Add(1)
	c.mu.Unlock()
	defer c.busy.Done()
	select {
	case c.requests <- s:
	case <-ctx.Done():
		s.fail(Unsent, c.orUnreached(ctx.Err()))
		return <-s.answer
	}
	select {
	case err := <-s.answer:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-s.answer: // both came at once: the broker's word counts
		return err
	default:
	}
	fate := Unsent
	if s.sent.Load() {
		fate = Unknown
	}
	return &Error{Fate: fate, Exchange: exchange, Key: key, MessageID: msg.MessageId, Err: c.orUnreached(ctx.Err())}
}

// orUnreached is why a publish's time ran out, with why there is no channel.
func (c *confirmer) orUnreached(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unreached != nil {
		return fmt.Errorf("%w: %w", err, c.unreached)
	}
	return err
}

// close takes no more messages and waits for those on their way.
func (c *confirmer) close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		c.busy.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = fmt.Errorf("close a publisher with messages on their way: %w", ctx.Err())
	}
	if first {
		close(c.quit)
	}
	<-c.done
	return err
}

// link is a channel in confirm mode and what is on its way on it.
type link struct {
	ch       Channel
	confirms chan amqp.Confirmation
	returns  chan amqp.Return
	closes   chan *amqp.Error
	sent     uint64 // the delivery tag of the last message
	waiting  map[uint64]*send
	returned map[route]int
}

// route tells returned messages apart. Two of one id, exchange and key have one
// fate.
type route struct{ id, exchange, key string }

func (c *confirmer) link(ctx context.Context) (*link, error) {
	ch, err := c.open(ctx)
	c.mu.Lock()
	c.unreached = err
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		_ = ch.Close()
		return nil, fmt.Errorf("switch publisher confirms on: %w", err)
	}
	return &link{
		ch: ch,
		// The library's reader waits for whoever is told: room for all.
		confirms: ch.NotifyPublish(make(chan amqp.Confirmation, c.window)),
		returns:  ch.NotifyReturn(make(chan amqp.Return, c.window)),
		closes:   ch.NotifyClose(make(chan *amqp.Error, 1)),
		waiting:  map[uint64]*send{},
		returned: map[route]int{},
	}, nil
}

func (c *confirmer) run() {
	defer close(c.done)
	var l *link
	var pending []*send
	pause := deliver.FirstPause
	for {
		if l == nil {
			var ok bool
			if pending, ok = c.gather(pending); !ok {
				return
			}
			var err error
			if l, err = c.link(pending[0].ctx); err != nil {
				l = nil
				if errors.Is(err, errConnectorClosed) {
					fail(pending, Unsent, err)
					pending = nil
					continue
				}
				if !c.sleep(pause) {
					fail(pending, Unsent, err)
					return
				}
				pause = min(2*pause, deliver.LongestPause)
				continue
			}
			pause = deliver.FirstPause
		}
		var lost bool
		pending, lost = l.fill(pending, c.window)
		if !lost {
			var more bool
			if pending, lost, more = c.step(l, pending); !more {
				fail(append(l.lose(), pending...), Unsent, ErrClosed)
				return
			}
		}
		if lost {
			pending = append(l.lose(), pending...)
			l = nil
		}
	}
}

// gather waits for something to publish; ok is false at the end.
func (c *confirmer) gather(pending []*send) (alive []*send, ok bool) {
	for _, s := range pending {
		if s.ctx.Err() == nil {
			alive = append(alive, s)
		}
	}
	if len(alive) > 0 {
		return alive, true
	}
	select {
	case s := <-c.requests:
		return []*send{s}, true
	case <-c.quit:
		return nil, false
	}
}

// fill publishes what is pending, as far as the window allows. A message that
// was on its way when the broker closed a channel goes alone, so that it is
// known which one it was.
func (l *link) fill(pending []*send, window int) (rest []*send, lost bool) {
	for len(pending) > 0 && len(l.waiting) < window {
		s := pending[0]
		if s.ctx.Err() != nil {
			pending = pending[1:]
			continue
		}
		if len(l.waiting) > 0 && (s.careful || l.isCareful()) {
			break
		}
		s.sent.Store(true)
		// The context is the caller's patience, not the message's: an unsent
		// message of a caller that has gone is dropped above.
		if err := l.ch.PublishWithContext(context.WithoutCancel(s.ctx), s.exchange, s.key, true, false, s.msg); err != nil {
			return pending, true
		}
		l.sent++
		l.waiting[l.sent] = s
		pending = pending[1:]
	}
	return pending, false
}

func (l *link) isCareful() bool {
	for _, s := range l.waiting {
		if s.careful {
			return true
		}
	}
	return false
}

// step waits for the next thing to happen; more is false at the end.
func (c *confirmer) step(l *link, pending []*send) (rest []*send, lost, more bool) {
	requests := c.requests
	if len(pending) > 0 || len(l.waiting) >= c.window {
		requests = nil
	}
	select {
	case s := <-requests:
		return append(pending, s), false, true
	case confirm, ok := <-l.confirms:
		if !ok {
			return pending, true, true
		}
		l.settle(confirm)
	case <-c.quit:
		return pending, false, false
	}
	return pending, false, true
}

// settle answers the one whose confirm came. Its return, if any, came first and
// lies in the buffer: the broker sends it first and one reader puts both there.
func (l *link) settle(confirm amqp.Confirmation) {
	for drained := false; !drained; {
		select {
		case r, ok := <-l.returns:
			if !ok {
				l.returns = nil
				continue
			}
			l.returned[route{r.MessageId, r.Exchange, r.RoutingKey}]++
		default:
			drained = true
		}
	}
	s := l.waiting[confirm.DeliveryTag]
	if s == nil {
		return
	}
	delete(l.waiting, confirm.DeliveryTag)
	r := route{s.msg.MessageId, s.exchange, s.key}
	isReturned := l.returned[r] > 0
	if isReturned {
		if l.returned[r]--; l.returned[r] == 0 {
			delete(l.returned, r)
		}
	}
	switch {
	case !confirm.Ack:
		s.fail(Nacked, errors.New("the broker could not take it"))
	case isReturned:
		s.fail(Unroutable, errors.New("the broker confirmed it and no queue took it: bind a queue to the exchange for this key"))
	default:
		s.answer <- nil
	}
}

// lose takes what was on its way off a channel that is gone, oldest first.
func (l *link) lose() []*send {
	_ = l.ch.Close()
	for confirm := range l.confirms { // closed with the channel; what had come is there
		// Closing nacks what waits; only an ack says something.
		if confirm.Ack {
			l.settle(confirm)
		}
	}
	closed := <-l.closes
	blame := closed != nil && closed.Server && closed.Recover // the broker closed this channel, not the connection
	var again []*send
	for _, tag := range slices.Sorted(maps.Keys(l.waiting)) {
		s := l.waiting[tag]
		if blame && len(l.waiting) == 1 {
			s.fail(Refused, closed)
			break
		}
		s.careful = s.careful || blame
		again = append(again, s)
	}
	return again
}

func (c *confirmer) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.quit:
		return false
	}
}

func fail(list []*send, f Fate, err error) {
	for _, s := range list {
		fate := f
		if s.sent.Load() {
			fate = Unknown
		}
		s.fail(fate, err)
	}
}
