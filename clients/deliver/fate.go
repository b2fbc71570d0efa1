package deliver

import (
	"errors"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Fate is what became of a message that was published and not confirmed.
type Fate uint8

// The fates. An adapter says what each means at its broker.
const (
	Unroutable Fate = iota + 1 // there is nowhere that it could go
	Refused                    // the broker will never take it
	TooLarge                   // its headers, or all of it
	Nacked                     // the broker could not take it now
	Unknown                    // no answer came: it may be there or not
	Unsent                     // it never left this process
)

// String is the fate's word.
func (f Fate) String() string {
	switch f {
	case Unroutable:
		return "unroutable"
	case Refused:
		return "refused"
	case TooLarge:
		return "too_large"
	case Nacked:
		return "nacked"
	case Unknown:
		return "unknown"
	case Unsent:
		return "unsent"
	}
	return "undecided"
}

// Is answers for validate.ErrPermanent and validate.ErrUnavailable: whether it is
// worth trying again.
func (f Fate) Is(target error) bool {
	switch f {
	case Unroutable, Refused, TooLarge:
		return target == validate.ErrPermanent
	case Nacked, Unknown, Unsent:
		return target == validate.ErrUnavailable
	}
	return false
}

// ErrClosed says that a producer or consumer is closed.
var ErrClosed = errors.New("it is closed")
