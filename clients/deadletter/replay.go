package deadletter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// MostReplays is how often a message is sent again before it must be forced.
const MostReplays = 5

// ReplayOptions shape a replay.
type ReplayOptions struct {
	Filter Filter
	// Judge decides about a message as its consumer would; nil sends every one.
	Judge func(ctx context.Context, m *validate.Message) validate.Outcome
	// To sends elsewhere than where a message came from.
	To *Destination
	// Through sends to the exchange that a message came by rather than to the queue
	// that it lay in, and so to every queue that is bound to it.
	Through bool
	// Force also sends what was sent MostReplays times.
	Force bool
	// KeepRules leaves the headers that make Confluent's deserializers skip a rule.
	KeepRules bool
	// Dry sends nothing.
	Dry bool
	// Pace is the time between two messages; 0 for none.
	Pace time.Duration
	// Tell hears of each letter that was chosen, when not nil.
	Tell func(Replayed)
}

// Replayed is what became of one letter. Err says why it stays where it is.
type Replayed struct {
	Letter *Letter
	To     Destination
	Err    error
}

// Result counts a replay: letters that were sent, and that stay.
type Result struct{ Sent, Stayed int }

// Why a letter stays.
var (
	ErrTooOften = errors.New("it was replayed too often")
	ErrInvalid  = errors.New("it is not valid")
	ErrNoOrigin = errors.New("nothing says where it came from")
)

// HeldError says that messages cannot be judged now.
type HeldError struct{ Outcome validate.Outcome }

// Error tells why.
func (e *HeldError) Error() string {
	return fmt.Sprintf("the message cannot be judged now: %s", explain(&e.Outcome))
}

// Unwrap is the cause.
func (e *HeldError) Unwrap() error { return e.Outcome.Err }

func explain(o *validate.Outcome) string {
	text := o.Reason.String()
	if o.Err != nil {
		text += ": " + o.Err.Error()
	}
	if len(o.Violations) > 0 && o.Violations[0].Payload != "" {
		text += " at " + string(o.Violations[0].Payload)
	}
	return text
}

// Replay sends the chosen letters where they came from, one after the other in
// their order, and takes each out of the box once the broker has it. What is
// refused stays, and the next ones go on.
//
// Errors: the broker cannot be asked, or messages cannot be judged now; what was
// sent before is counted.
func Replay(ctx context.Context, b Box, o ReplayOptions) (Result, error) {
	var r Result
	next := time.Time{}
	err := o.Filter.each(ctx, b, func(ctx context.Context, l *Letter) (Fate, error) {
		one := Replayed{Letter: l}
		one.To, one.Err = o.check(ctx, l)
		var held *HeldError
		if errors.As(one.Err, &held) {
			return Stop, one.Err
		}
		if one.Err == nil && !o.Dry {
			if err := wait(ctx, next); err != nil {
				return Stop, err
			}
			next = time.Now().Add(o.Pace)
			one.Err = b.Send(ctx, one.To, again(l, o.KeepRules))
			if one.Err != nil && !errors.Is(one.Err, validate.ErrPermanent) {
				return Stop, fmt.Errorf("replay %s: %w", l.ID(), one.Err)
			}
		}
		if o.Tell != nil {
			o.Tell(one)
		}
		switch {
		case one.Err != nil:
			r.Stayed++
		case o.Dry:
			r.Sent++
		default:
			r.Sent++
			return Remove, nil
		}
		return Keep, nil
	})
	return r, err
}

// check tells where a letter may go.
func (o *ReplayOptions) check(ctx context.Context, l *Letter) (to Destination, err error) {
	if n := l.Replays(); n >= MostReplays && !o.Force {
		return to, fmt.Errorf("%w: %d times: find out why it comes back, or force it", ErrTooOften, n)
	}
	to, ok := l.Origin()
	if o.To != nil {
		to, ok = *o.To, true
	}
	if !ok {
		return to, fmt.Errorf("%w: say where it is to go", ErrNoOrigin)
	}
	// The default exchange shows itself by the queue's name.
	if o.Through && o.To == nil && to.Name != "" && to.Name != to.Queue {
		to.Queue = ""
	}
	if o.Judge == nil {
		return to, nil
	}
	m := l.Message
	if origin, ok := l.Origin(); ok {
		m.Destination, m.RoutingKey = origin.Name, origin.RoutingKey
	}
	out := o.Judge(ctx, &m)
	switch {
	case out.Verdict == validate.Accept:
		return to, nil
	// A name that is unknown is held by consumers for a while; here it is refused.
	case out.Reason.Verdict() == validate.Hold:
		return to, &HeldError{out}
	}
	return to, fmt.Errorf("%w: %s", ErrInvalid, explain(&out))
}

func wait(ctx context.Context, until time.Time) error {
	d := time.Until(until)
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// again is the letter's message as it is sent again: with its id and all that
// its producer wrote. Of the dead letter's headers those stay that a second
// failure keeps: where it came from, when it first failed, how often it was sent
// again.
//
// Source: client specification 3.6 and 4.4.
func again(l *Letter, keepRules bool) *Letter {
	out := *l
	out.Message.Headers = make([]validate.Header, 0, len(l.Message.Headers)+1)
	for _, h := range l.Message.Headers {
		if stays(h.Name, keepRules) {
			out.Message.Headers = append(out.Message.Headers, h)
		}
	}
	out.Message.Headers = append(out.Message.Headers, validate.Header{Name: validate.DLQReplays, Value: strconv.Itoa(l.Replays() + 1)})
	return &out
}

func stays(header string, keepRules bool) bool {
	switch header {
	case validate.DLQOriginalDestination, validate.DLQOriginalRoutingKey, validate.DLQOriginalQueue,
		validate.DLQOriginalPartition, validate.DLQOriginalOffset, validate.DLQOriginalTimestamp, validate.DLQFirstFailedAt:
		return true
	case "retryAttempts", "retryNotBefore", "x-death", "x-delivery-count", "original-destination", "dlqDeliveryFailureCause":
		return false
	}
	for _, prefix := range []string{"x-first-death-", "x-last-death-", "kafka_dlt-"} {
		if strings.HasPrefix(header, prefix) {
			return false
		}
	}
	if strings.HasPrefix(header, "__rule.") {
		return keepRules
	}
	return !strings.HasPrefix(header, "dlq") || len(header) < 4 || header[3] < 'A' || header[3] > 'Z'
}
