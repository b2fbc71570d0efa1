package activemq

import (
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/deliver"
)

// Fate is what became of a message that was not confirmed.
type Fate = deliver.Fate

// The fates.
const (
	// Refused messages the broker will not take, as without permission, or they have
	// headers that STOMP has no place for, and nothing was sent.
	Refused = deliver.Refused
	// TooLarge messages have a header line, or so many of them, that the broker
	// would end the connection; nothing was sent.
	TooLarge = deliver.TooLarge
	// Nacked messages the broker had no room for. Publishing again may work.
	Nacked = deliver.Nacked
	// Unknown messages had no receipt, so they may or may not be there. Publishing
	// again with the same message id is right: a consumer tells duplicates by it.
	Unknown = deliver.Unknown
	// Unsent messages never left this process.
	Unsent = deliver.Unsent
)

// Error is why a publish did not succeed. errors.Is with validate.ErrPermanent
// or validate.ErrUnavailable tells whether it is worth trying again.
type Error struct {
	Fate                   Fate
	Destination, MessageID string
	Err                    error
}

// Error tells where the message was going and what became of it.
func (e *Error) Error() string {
	return fmt.Sprintf("publish message %s to %q: %s: %v", e.MessageID, e.Destination, e.Fate, e.Err)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is answers for validate.ErrPermanent and validate.ErrUnavailable.
func (e *Error) Is(target error) bool { return e.Fate.Is(target) }

// ErrClosed says that the producer is closed.
var ErrClosed = deliver.ErrClosed

// Reject makes a handler's error permanent: the message goes to the dead letter
// at once. It is for messages that are valid and cannot be worked on, such as
// one that names an entity that does not exist.
func Reject(err error) error { return deliver.Reject(err) }

// Retry makes a handler's error transient and says when to try again, up to the
// policy's Cap; 0 leaves that to the policy. Every error that is not made by
// Reject counts as transient.
func Retry(err error, after time.Duration) error { return deliver.Retry(err, after) }
