package rabbitmq

import (
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// Fate is what became of a message that was not confirmed and routed.
type Fate = deliver.Fate

// The fates.
const (
	// Unroutable messages are lost: the broker confirmed it and no queue took it.
	Unroutable = deliver.Unroutable
	// Refused messages made the broker close the channel, as for an exchange that does
	// not exist.
	Refused = deliver.Refused
	// TooLarge messages have headers that do not fit a frame; nothing was sent.
	TooLarge = deliver.TooLarge
	// Nacked messages the broker could not take. Publishing again may work.
	Nacked = deliver.Nacked
	// Unknown messages had no confirm, so they may or may not be there. Publishing again
	// with the same message id is right: a consumer tells duplicates by it.
	Unknown = deliver.Unknown
	// Unsent messages never left this process.
	Unsent = deliver.Unsent
)

// Error is why a publish did not succeed. errors.Is with validate.ErrPermanent
// or validate.ErrUnavailable tells whether it is worth trying again.
type Error struct {
	Fate                     Fate
	Exchange, Key, MessageID string
	Err                      error
}

// Error tells where the message was going and what became of it.
func (e *Error) Error() string {
	return fmt.Sprintf("publish message %s to exchange %q with key %q: %s: %v", e.MessageID, e.Exchange, e.Key, e.Fate, e.Err)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is answers for validate.ErrPermanent and validate.ErrUnavailable.
func (e *Error) Is(target error) bool { return e.Fate.Is(target) }

// ErrClosed says that the producer or consumer is closed.
var ErrClosed = deliver.ErrClosed

// Reject makes a handler's error permanent: the message goes to the dead letter
// at once. It is for messages that are valid and cannot be worked on, such as
// one that names an entity that does not exist.
func Reject(err error) error { return deliver.Reject(err) }

// Retry makes a handler's error transient and says when to try again, up to the
// policy's Cap; 0 leaves that to the policy. Every error that is not made by
// Reject counts as transient.
func Retry(err error, after time.Duration) error { return deliver.Retry(err, after) }
