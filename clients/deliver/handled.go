package deliver

import (
	"errors"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Action is how a message was settled.
type Action uint8

// The ways in which a message is settled.
const (
	Acknowledged Action = iota + 1
	Skipped             // acknowledged without work, by Expect.Pass
	DeadLettered        // published to the dead letter, then acknowledged
	LeftToBroker        // handed to the broker's own dead letter, without a reason
	Delayed             // published to where it waits, then acknowledged
	GivenBack           // left to be handed out again, because the consumer stops or pauses
	Lost                // acknowledged before the work, which failed; see Options.LossAcceptable
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
	case Lost:
		return "lost"
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

// rejection is a handler's word that the message fails the same way again.
type rejection struct{ err error }

func (r *rejection) Error() string { return r.err.Error() }
func (r *rejection) Unwrap() error { return r.err }

// Reject makes a handler's error permanent: the message goes to the dead letter
// at once. It is for messages that are valid and cannot be worked on, such as
// one that names an entity that does not exist.
func Reject(err error) error {
	if err == nil {
		return nil
	}
	return &rejection{err}
}

// later is a handler's word on when to try again.
type later struct {
	err   error
	after time.Duration
}

func (l *later) Error() string { return l.err.Error() }
func (l *later) Unwrap() error { return l.err }

// Retry makes a handler's error transient and says when to try again, up to the
// policy's Cap; 0 leaves that to the policy. Every error that is not made by
// Reject counts as transient.
func Retry(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &later{err, after}
}

// isRejection tells whether err was made by Reject.
func isRejection(err error) bool {
	var r *rejection
	return errors.As(err, &r)
}

// asked is the wait that err was made with by Retry, 0 for none.
func asked(err error) time.Duration {
	var l *later
	if errors.As(err, &l) {
		return max(l.after, 0)
	}
	return 0
}
