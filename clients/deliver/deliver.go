// Package deliver is the half of a consumer that is the same on every broker:
// it asks whether a message may be handled, holds what cannot be judged, calls
// the handler until it succeeds or gives up, sets aside what is refused, and
// tells the broker only then. It never settles a message before its work or its
// dead letter is done, unless [Options].LossAcceptable says why it may, and has no
// path that tries again without waiting.
//
// A broker's adapter brings [Item], one message with the few things that are
// done differently there. A [Desk] works on items; a [Session] is the span in
// which what was handed out can be settled (a channel, an assigned partition);
// [Lanes] keep the messages of one key in order.
package deliver

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	// InPlace is the wait from which a retry leaves its place, where it may.
	InPlace = 2 * time.Second
	// FirstPause is the wait before something that failed at the broker is tried
	// again; the waits double.
	FirstPause = 100 * time.Millisecond
	// LongestPause bounds those waits.
	LongestPause = 10 * time.Second
	// SettleTime bounds one publish of a dead letter or of a delayed message, with
	// its reconnections.
	SettleTime = 30 * time.Second
	// MostDead is how many bytes the dead letter's headers may have.
	MostDead = 24 << 10

	firstAsk   = 250 * time.Millisecond
	longestAsk = 5 * time.Second
)

// Item is one message, as its broker handed it out. Its methods are called by
// one goroutine, one after the other.
type Item interface {
	// Facts are what is known of the message beside its content.
	Facts() Facts
	// Judge asks the validator about it.
	Judge(ctx context.Context) validate.Outcome
	// Handle calls the user's handler; attempt counts from 1.
	Handle(ctx context.Context, o *validate.Outcome, attempt int) error
	// DeadLetter publishes the message with its reason, to which it adds where the
	// message came from, and answers nil when the broker has it for sure. It must
	// not validate: that would refuse what is to be set aside.
	DeadLetter(ctx context.Context, d validate.DeadLetter) error
	// Delay publishes the message to where it waits before it comes again, and
	// answers when the broker has it for sure; ok is false when there is no such
	// place, and the message is retried where it is.
	Delay(ctx context.Context, f Failure) (ok bool, err error)
	// Settle tells the broker; where DeadLetter or Delay have done so in one
	// transaction there is nothing left to tell. GivenBack must leave the message
	// to be handed out again.
	Settle(a Action) error
}

// Facts are what an adapter knows of a message.
type Facts struct {
	// Destination is what was read: a queue or a topic.
	Destination string
	Headers     []validate.Header
	MessageID   string
	Bytes       int
	// Attempts were made on the message before it came here.
	Attempts    int
	Redelivered bool
	// NotBefore is when a delayed message may be handled; zero for at once.
	NotBefore time.Time
}

// Failure is what becomes of a handler's error while attempts are left.
type Failure struct {
	Attempts int // made, all in all
	// First is when the handler failed first.
	First time.Time
	// Wait is how long the message is to wait, without a random share.
	Wait time.Duration
	Err  error
}

// Options shape a desk.
type Options struct {
	// Validator's observer is told of deliveries and of messages that are held;
	// System is the broker's kind in its words: "rabbitmq", "kafka", "activemq".
	Validator *validate.Validator
	System    string
	// Source is what is consumed, in log lines: a queue, or a group.
	Source string
	// Consumer and Expected are the dead letter's headers of those names.
	Consumer, Expected string
	Retry              retry.Policy
	// Workers is how many messages are worked on at once; those that wait for the
	// registry or for their next attempt do not count. 0 leaves that to the caller.
	Workers int
	// HoldFor is how long a message that cannot be judged is kept, 0 for as long as
	// it takes. Then HeldTooLong is told, the session is halted and the message is
	// given back; without HeldTooLong it is [Desk.Sessions] that asks about it on.
	HoldFor     time.Duration
	HeldTooLong func(Item)
	// LeaveToBroker settles a message as LeftToBroker when its dead letter cannot
	// be published; otherwise that is tried until it succeeds.
	LeaveToBroker bool
	// LossAcceptable says why messages may be lost; "" when they may not. Then the
	// broker is told before the work, which is tried once.
	LossAcceptable string
	// Prefetch is how many messages the broker hands out at once, and MemoryBudget
	// the bytes that they may have together before that is warned of: DefaultMemory
	// when 0, no limit when negative. Without a Prefetch nobody is warned.
	Prefetch, MemoryBudget int
	// Observe is told of every message that was settled, when not nil. It must
	// not block.
	Observe func(Handled)
	Logger  *slog.Logger // slog.Default() when nil
}

// Desk works on messages. It is safe for use by many goroutines.
type Desk struct {
	o     Options
	log   *slog.Logger
	slots chan struct{}

	mu   sync.Mutex
	told time.Time

	held   held // for Sessions
	weight weight
	lost   atomic.Bool // one was, and was told of
}

// NewDesk makes a desk.
//
// The validator is needed; all else may be zero.
func NewDesk(o Options) *Desk {
	o.Retry = o.Retry.OrDefault()
	d := &Desk{o: o, log: o.Logger}
	if d.log == nil {
		d.log = slog.Default()
	}
	if o.Workers > 0 {
		d.slots = make(chan struct{}, o.Workers)
	}
	if d.o.MemoryBudget == 0 {
		d.o.MemoryBudget = DefaultMemory
	}
	if o.LossAcceptable != "" {
		d.log.Warn("messages may be lost: they are acknowledged before the work", "source", o.Source, "reason", o.LossAcceptable)
	}
	return d
}

// alarm logs why messages are held; once a minute is enough.
func (d *Desk) alarm(o *validate.Outcome) {
	d.mu.Lock()
	now := time.Now()
	due := now.Sub(d.told) >= time.Minute
	if due {
		d.told = now
	}
	d.mu.Unlock()
	if !due {
		return
	}
	level := d.log.Warn
	if o.Reason.Alarms() {
		level = d.log.Error
	}
	level("messages are held: they cannot be judged", "source", d.o.Source, "reason", o.Reason.String(), "error", o.Err)
}
