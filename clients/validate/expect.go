package validate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Framing says where a message keeps its identity.
type Framing uint8

const (
	// Plain payloads are data; the identity stands in headers.
	Plain Framing = iota
	// Confluent payloads begin with a prefix, unless the binary header of
	// newer clients is there.
	Confluent
	// Detect takes payloads with a prefix and without. That is told safely for JSON
	// and Protobuf, whose data never begins with such bytes; for Avro only a
	// prefix that agrees with an id or GUID in the headers is taken as one.
	Detect
)

// Expect is what a consumer expects of its messages. It is not to be changed
// once a validator has seen it.
type Expect struct {
	// Subject names the subject that messages must be of. The zero Strategy
	// takes whatever subject a message says.
	Subject Strategy
	// Reads are the versions that the consumer understands.
	Reads Range
	// Reader asks to read each payload with this version of the subject too, so
	// that defaults and projections hold; 0: with the writer's alone.
	Reader schemas.Version
	// Framing is where messages keep their identity.
	Framing Framing
	// Assume is the version that a message without any identity is of; 0: it is
	// refused. It is the bridge for traffic older than the headers.
	Assume schemas.Version
	// Pass are the reasons for which a message is skipped: acknowledged and
	// counted, neither handled nor put into the dead letter. For streams only.
	Pass []Reason
	// RefuseRetired rejects versions that are soft-deleted; else they are
	// accepted and counted, because data outlives versions.
	RefuseRetired bool
	// Steps translate versions that are not declared into one that is, the
	// shortest way; what comes out is judged by the version it is then of.
	Steps []Step
	// Claims fetches payloads that are kept elsewhere, when not nil.
	Claims Claims
	// Consumer is the name under which the validator reports who reads what: a
	// group or service. Empty reports nothing.
	Consumer string
	// AllowFuture lets Reads and Reader name versions that do not exist yet.
	AllowFuture bool
	// Value asks for the parsed document in Outcome.Value.
	Value bool
	// Formats asserts the keyword format of JSON Schema; Unknown refuses
	// Protobuf's unknown fields.
	Formats, Unknown bool
}

// Check tells whether the members fit together.
//
// Errors: versions are named and no subject is; a Hold reason is in Pass; a step
// that does not lead to the next version, or is there twice.
func (e *Expect) Check() error {
	if e.Subject.kind == noStrategy && (e.Reader != 0 || e.Assume != 0 || e.Reads.compatible != 0) {
		return errors.New("check what a consumer expects: Reader, Assume and ReadsCompatible name a version, so Subject must name the subject")
	}
	if err := checkSteps(e.Steps); err != nil {
		return fmt.Errorf("check what a consumer expects: %w", err)
	}
	if len(e.Steps) > 0 && e.Reads.IsAll() {
		return errors.New("check what a consumer expects: Steps lead to the declared versions, so Reads must declare them")
	}
	for _, r := range e.Pass {
		if r.Verdict() != Reject {
			return errors.New("check what a consumer expects: Pass: " + r.String() + " says nothing about a message, so it cannot be passed over")
		}
	}
	return nil
}

func (e *Expect) passes(r Reason) bool { return len(e.Pass) > 0 && slices.Contains(e.Pass, r) }

// Expected is subject and range, for people and for the dead letter.
func (e *Expect) Expected() string { return e.Subject.String() + " " + e.Reads.String() }

// shape adds what the consumer asks for to the validator's options.
func (e *Expect) shape(o *schemas.ReadOptions) {
	o.Value = o.Value || e.Value
	o.Formats = o.Formats || e.Formats
	o.Unknown = o.Unknown || e.Unknown
}
