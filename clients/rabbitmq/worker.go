package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Action is how a message was settled.
type Action uint8

// The ways in which a message is settled.
const (
	Acknowledged Action = iota + 1
	Skipped             // acknowledged without work, by Expect.Pass
	DeadLettered        // published to the dead letter, then acknowledged
	LeftToBroker        // nacked into the queue's own dead-letter exchange, without a reason
	Delayed             // published to a retry queue, then acknowledged
	GivenBack           // returned to its queue, because the consumer stops or pauses
)

// String is the action's word.
func (a Action) String() string {
	switch a {
	case Acknowledged:
		return "acknowledged"
	case Skipped:
		return "skipped"
	case DeadLettered:
		return "dead_lettered"
	case LeftToBroker:
		return "left_to_broker"
	case Delayed:
		return "delayed"
	case GivenBack:
		return "given_back"
	}
	return "unsettled"
}

// Handled is one message that was settled, for logs and metrics. Started and
// Finished are of the last attempt, and zero when it was not handled.
type Handled struct {
	Received, Started, Finished, Settled time.Time

	Outcome     validate.Outcome
	Reason      validate.Reason // of the dead letter, when it has one
	Action      Action
	Attempts    int
	Redelivered bool
	Bytes       int
	MessageID   string
	// Err is the handler's last error, or why settling failed at the broker;
	// the message comes again then.
	Err error
}

// worker works on one delivery.
type worker struct {
	s        *session
	c        *Consumer
	d        *amqp.Delivery
	received time.Time
	started  time.Time
	finished time.Time
	outcome  validate.Outcome
	attempts int
	failed   time.Time // when the handler failed first
}

// work decides, handles and settles: receive, validate, durable work, then
// acknowledge.
func (w *worker) work() {
	m := messageOf(w.d)
	o, ok := w.judge(&m)
	w.outcome = o
	switch {
	case !ok:
		w.settle(GivenBack, o.Reason, o.Err)
	case o.Verdict == validate.Accept:
		w.handle(&m)
	case o.Pass:
		w.settle(Skipped, o.Reason, o.Err)
	default:
		w.reject(&m, validate.DeadLetter{Reason: o.Reason, Err: o.Err, Violations: o.Violations, Attempts: attemptsOf(w.d) + 1})
	}
}

// handle calls the handler until it succeeds, gives up or leaves the queue.
func (w *worker) handle(m *validate.Message) {
	w.attempts = attemptsOf(w.d)
	panics := 0
	for {
		w.attempts++
		trace, err := w.call()
		if err == nil {
			w.settle(Acknowledged, validate.NoReason, nil)
			return
		}
		if w.failed.IsZero() {
			w.failed = w.finished
		}
		var rejected *rejection
		dead := validate.DeadLetter{Err: err, Attempts: w.attempts, Trace: trace}
		switch {
		case trace != "":
			if panics++; panics > 1 {
				dead.Reason = validate.HandlerPanicked
				w.reject(m, dead)
				return
			}
		case errors.As(err, &rejected):
			dead.Reason, dead.Trace = validate.HandlerRejected, chain(err)
			w.reject(m, dead)
			return
		case w.attempts >= w.c.o.Retry.Attempts:
			dead.Reason, dead.Exhausted, dead.Trace = validate.AttemptsExhausted, true, chain(err)
			w.reject(m, dead)
			return
		}
		wait := w.c.o.Retry.level(w.attempts)
		var asked *retry
		if errors.As(err, &asked) && asked.after > 0 {
			wait = min(asked.after, w.c.o.Retry.Cap)
		}
		if trace == "" && wait >= inPlace {
			if level, ok := levelFor(w.c.levels, wait); ok && w.delay(level, err) {
				return
			}
		}
		if !w.pause(jitter(wait)) {
			w.settle(GivenBack, validate.NoReason, err)
			return
		}
	}
}

// call runs the handler once. trace is the stack of a panic.
func (w *worker) call() (trace string, err error) {
	w.started = time.Now()
	defer func() {
		w.finished = time.Now()
		if p := recover(); p != nil {
			trace = string(debug.Stack())
			err = fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	return "", w.c.handler(w.s.work, &Delivery{Outcome: w.outcome, Message: w.d, Attempt: w.attempts})
}

// pause waits in place; false when the session stops meanwhile.
func (w *worker) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.s.stop:
		return false
	}
}

// delay moves the message to a retry queue; false when that cannot be done, and
// the worker waits itself.
func (w *worker) delay(level time.Duration, cause error) bool {
	ctx, cancel := context.WithTimeout(w.s.work, settleTime)
	defer cancel()
	err := w.c.out.publish(ctx, "", retryQueue(w.c.o.Queue, level), waiting(w.d, w.c.o.Queue, w.attempts, w.failed, level))
	if err != nil {
		w.c.log.Warn("a message could not be moved to its retry queue and is retried in place", "queue", retryQueue(w.c.o.Queue, level), "error", err)
		return false
	}
	w.settle(Delayed, validate.NoReason, cause)
	return true
}

// settle tells the broker, and whoever observes.
func (w *worker) settle(a Action, reason validate.Reason, cause error) {
	var err error
	switch a {
	case GivenBack: // by the session's end
	case LeftToBroker:
		err = w.d.Nack(false, false)
	default:
		err = w.d.Ack(false)
	}
	if err != nil {
		// The channel is lost: the broker hands the message out again.
		cause = errors.Join(cause, fmt.Errorf("settle the message: %w", err))
	}
	if w.c.o.Observe == nil {
		return
	}
	w.c.o.Observe(Handled{
		Received: w.received, Started: w.started, Finished: w.finished, Settled: time.Now(),
		Outcome: w.outcome, Reason: reason, Action: a, Attempts: w.attempts, Redelivered: w.d.Redelivered,
		Bytes: len(w.d.Body), MessageID: w.d.MessageId, Err: cause,
	})
}

// chain writes an error and its causes, one a line.
func chain(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += fmt.Sprintf("%T: %v\n", err, err)
	}
	return text
}
