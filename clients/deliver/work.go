package deliver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// worker works on one message.
type worker struct {
	d        *Desk
	s        *Session
	it       Item
	facts    Facts
	received time.Time
	started  time.Time
	finished time.Time
	settled  time.Time // before the work, where losses are acceptable
	outcome  validate.Outcome
	attempts int
	failed   time.Time // when the handler failed first
	hasSlot  bool
	isHeld   bool
}

// Work decides about a message, handles and settles it: receive, validate,
// durable work, then acknowledge. It returns when that is done, and answers
// GivenBack only when the session is halted.
func (d *Desk) Work(s *Session, it Item) Action {
	w := worker{d: d, s: s, it: it, facts: it.Facts(), received: time.Now()}
	w.attempts = w.facts.Attempts
	d.weigh(w.facts.Bytes)
	defer w.free()
	defer w.unhold()
	if wait := time.Until(w.facts.NotBefore); !w.facts.NotBefore.IsZero() && wait > 0 {
		if !w.wait(wait) {
			return w.settle(GivenBack, validate.NoReason, nil)
		}
	}
	if !w.take() {
		return w.settle(GivenBack, validate.NoReason, nil)
	}
	ok := w.judge()
	o := &w.outcome
	switch {
	case !ok:
		return w.settle(GivenBack, o.Reason, o.Err)
	case o.Verdict == validate.Accept && d.o.LossAcceptable != "":
		return w.once()
	case o.Verdict == validate.Accept:
		return w.handle()
	case o.Pass:
		return w.settle(Skipped, o.Reason, o.Err)
	}
	w.attempts++
	return w.reject(validate.DeadLetter{Reason: o.Reason, Err: o.Err, Violations: o.Violations})
}

// judge asks the validator, and asks again while it holds. The message is kept
// meanwhile, so order is kept and nothing is redelivered; ok is false when it is
// to be given back.
func (w *worker) judge() (ok bool) {
	pause := firstAsk
	for {
		w.outcome = w.it.Judge(w.s.work)
		if w.outcome.Verdict != validate.Hold {
			w.unhold()
			return true
		}
		if w.s.Stopping() {
			return false
		}
		w.hold()
		if pause == firstAsk {
			w.d.alarm(&w.outcome)
		}
		if w.d.o.HoldFor > 0 && time.Since(w.received) >= w.d.o.HoldFor {
			if w.d.o.HeldTooLong != nil {
				w.d.o.HeldTooLong(w.it)
			} else {
				w.d.held.keep(w.it)
			}
			w.s.Halt()
			return false
		}
		if !w.pause(w.spread(pause)) {
			return false
		}
		pause = min(2*pause, longestAsk)
	}
}

// handle calls the handler until it succeeds, gives up or leaves its place.
func (w *worker) handle() Action {
	panics := 0
	for {
		w.attempts++
		trace, err := w.call()
		if err == nil {
			return w.settle(Acknowledged, validate.NoReason, nil)
		}
		if w.s.work.Err() != nil {
			// It was told to end, which says nothing about the message.
			return w.settle(GivenBack, validate.NoReason, err)
		}
		if w.failed.IsZero() {
			w.failed = w.finished
		}
		switch {
		case trace != "":
			if panics++; panics > 1 {
				return w.reject(validate.DeadLetter{Reason: validate.HandlerPanicked, Err: err, Trace: trace})
			}
		case isRejection(err):
			return w.reject(validate.DeadLetter{Reason: validate.HandlerRejected, Err: err, Trace: chain(err)})
		case w.attempts >= w.d.o.Retry.Attempts:
			return w.reject(validate.DeadLetter{Reason: validate.AttemptsExhausted, Exhausted: true, Err: err, Trace: chain(err)})
		}
		wait := w.d.o.Retry.Wait(w.attempts)
		if after := asked(err); after > 0 {
			wait = min(after, w.d.o.Retry.Cap)
		}
		if trace == "" && wait >= InPlace && w.delay(wait, err) {
			return w.settle(Delayed, validate.NoReason, err)
		}
		if !w.pause(w.spread(wait)) {
			return w.settle(GivenBack, validate.NoReason, err)
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
	return "", w.it.Handle(w.d.o.Validator.Context(w.s.work, w.facts.Headers), &w.outcome, w.attempts)
}

// delay moves the message to where it waits; false when that cannot be done.
func (w *worker) delay(wait time.Duration, cause error) bool {
	ctx, cancel := context.WithTimeout(w.s.work, SettleTime)
	defer cancel()
	ok, err := w.it.Delay(ctx, Failure{Attempts: w.attempts, First: w.failed, Wait: wait, Err: cause})
	if err != nil {
		w.d.log.Warn("a message could not be moved to where it waits and is retried in place", "source", w.d.o.Source, "messageId", w.facts.MessageID, "error", err)
		return false
	}
	return ok
}

// reject sets the message aside: it is published to the dead letter with its
// reason, for sure, and only then acknowledged. When that cannot be done the
// broker's own dead letter takes it, or it is held. It is never acknowledged
// unpublished.
func (w *worker) reject(dead validate.DeadLetter) Action {
	dead.Attempts, dead.FailedAt, dead.FirstFailedAt = w.attempts, time.Now(), w.failed
	dead.Consumer, dead.Expected = w.d.o.Consumer, w.d.o.Expected
	pause := FirstPause
	for {
		ctx, cancel := context.WithTimeout(w.s.work, SettleTime)
		err := w.it.DeadLetter(ctx, dead)
		cancel()
		if err == nil {
			return w.settle(DeadLettered, dead.Reason, dead.Err)
		}
		w.d.log.Error("a rejected message could not be published to the dead letter", "source", w.d.o.Source, "messageId", w.facts.MessageID, "reason", dead.Reason.String(), "error", err)
		if w.d.o.LeaveToBroker {
			return w.settle(LeftToBroker, dead.Reason, err)
		}
		if !w.pause(w.spread(pause)) {
			return w.settle(GivenBack, dead.Reason, err)
		}
		pause = min(2*pause, LongestPause)
	}
}

// settle tells the broker, and whoever observes.
func (w *worker) settle(a Action, reason validate.Reason, cause error) Action {
	if err := w.it.Settle(a); err != nil {
		// The session is lost: the broker hands the message out again.
		cause = errors.Join(cause, settling(err))
	}
	return w.report(a, reason, cause)
}

func settling(err error) error { return fmt.Errorf("settle the message: %w", err) }

// report tells whoever observes.
func (w *worker) report(a Action, reason validate.Reason, cause error) Action {
	if w.settled.IsZero() {
		w.settled = time.Now()
	}
	h := Handled{
		Received: w.received, Started: w.started, Finished: w.finished, Settled: w.settled,
		Outcome: w.outcome, Reason: reason, Action: a, Attempts: w.attempts, Redelivered: w.facts.Redelivered,
		Bytes: w.facts.Bytes, MessageID: w.facts.MessageID, Err: cause,
	}
	if w.d.o.Observe != nil {
		w.d.o.Observe(h)
	}
	w.tell(&h)
	return a
}

// tell tells the validator's observer what Observe is told.
func (w *worker) tell(h *Handled) {
	o := &h.Outcome
	reason := h.Reason
	if reason == validate.NoReason {
		reason = o.Reason
	}
	acknowledged := h.Settled
	if h.Action == GivenBack {
		acknowledged = time.Time{}
	}
	w.d.o.Validator.Delivered(w.s.work, w.facts.Headers, &validate.Delivery{
		System: w.d.o.System, Destination: w.facts.Destination,
		Received: h.Received, Started: h.Started, Finished: h.Finished, Acknowledged: acknowledged,
		Subject: o.Subject, Version: o.Version, Verdict: o.Verdict, Reason: reason, Attempts: h.Attempts, Bytes: h.Bytes,
		Redelivery: h.Redelivered, Cached: o.Cached, Translated: o.TranslatedFrom != 0, Action: h.Action.String(), LossAcceptable: w.d.o.LossAcceptable, Err: h.Err,
	})
}

// hold and unhold count the message among those that wait for a decision.
func (w *worker) hold() {
	if !w.isHeld {
		w.isHeld = true
		w.d.o.Validator.Held(w.s.work, 1)
	}
}

func (w *worker) unhold() {
	if w.isHeld {
		w.isHeld = false
		w.d.o.Validator.Held(w.s.work, -1)
	}
}

// pause waits, and lets others work meanwhile; false when the session halts.
func (w *worker) pause(d time.Duration) bool {
	w.free()
	return w.wait(d) && w.take()
}

func (w *worker) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.s.stop:
		return false
	}
}

// take waits for one of the desk's slots; false when the session halts.
func (w *worker) take() bool {
	if w.d.slots == nil {
		return true
	}
	select {
	case w.d.slots <- struct{}{}:
		w.hasSlot = true
		return true
	case <-w.s.stop:
		return false
	}
}

func (w *worker) free() {
	if w.hasSlot {
		<-w.d.slots
		w.hasSlot = false
	}
}

func (w *worker) spread(d time.Duration) time.Duration { return w.d.o.Retry.Spread(d, nil) }

// chain writes an error and its causes, one a line.
func chain(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += fmt.Sprintf("%T: %v\n", err, err)
	}
	return text
}
