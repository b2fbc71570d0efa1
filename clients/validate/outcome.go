package validate

import (
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Outcome is the decision about a message before it is consumed.
type Outcome struct {
	Verdict Verdict
	// Reason says why a message is not accepted; of accepted ones it is
	// NoReason, or VersionRetired.
	Reason Reason

	// The identity that the message is bound to; zero members are not known.
	Subject schemas.Subject
	Version schemas.Version
	ID      schemas.ID
	GUID    schemas.GUID
	Type    schemas.Type
	// Message is Protobuf's full message name.
	Message string

	// Writer is the schema that the payload was written with.
	Writer schemas.Schema
	// Payload is the data without framing. It shares the message's memory.
	Payload []byte
	// Value is the document that was read, when Expect.Value asks for it.
	Value any
	// TranslatedFrom is the version that the message was of before it was
	// translated; 0 when it was not.
	TranslatedFrom schemas.Version

	Violations []schemas.Violation // at most 50, and 16 KiB in all
	Losses     []schemas.Loss      // what reading with Expect.Reader changed
	Err        error               // why, when it is not the payload's fault alone

	Tombstone      bool // the payload is nil
	Assumed        bool // no identity; taken for Expect.Assume
	Pass           bool // rejected, and to be skipped by Expect.Pass
	Retired        bool // the version is soft-deleted
	ForeignID      bool // the id is another registry's, the GUID agrees
	UnknownVersion bool // the version is unknown beside an identity that is known
	Unverified     bool // a weaker identity could not be asked
	Cached         bool // no registry was asked
}

// Side tells on which side of the broker a decision was made.
type Side uint8

// The two sides.
const (
	Publish Side = iota + 1
	Consume
)

// String is the side's word.
func (s Side) String() string {
	switch s {
	case Publish:
		return "publish"
	case Consume:
		return "consume"
	}
	return "unknown"
}

// Event is one decision, for logs and metrics. Subject and Version are those
// that a registry knows, so their number is bounded; a message id never is one
// of its members.
type Event struct {
	Side Side
	// Destination is the message's. It may be as many as there are topics.
	Destination string
	Verdict     Verdict
	Reason      Reason
	Subject     schemas.Subject
	Version     schemas.Version
	Bytes       int
	// Large tells that the payload has more bytes than Options.LargePayload.
	Large    bool
	Took     time.Duration
	Cached   bool
	Assumed  bool
	Passed   bool
	Retired  bool
	Foreign  bool // Outcome.ForeignID
	Unknown  bool // Outcome.UnknownVersion
	Unproved bool // Outcome.Unverified
	// Translated tells that the message was of another version.
	Translated bool
}
