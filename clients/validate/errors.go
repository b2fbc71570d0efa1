package validate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// What a caller asks of an *Error.
var (
	// ErrPermanent: the same message fails the same way again.
	ErrPermanent = errors.New("the message is refused for good")
	// ErrUnavailable: the message could not be judged. Keep it, do not publish.
	ErrUnavailable = errors.New("the message could not be judged now")
)

const (
	mostViolations = 50
	violationBytes = 16 << 10
)

// Error is why a message was not let through to the broker.
type Error struct {
	Reason  Reason
	Subject schemas.Subject
	Version schemas.Version // 0 when not known
	ID      schemas.ID
	// Violations are at most 50, and 16 KiB in all; More counts the rest.
	Violations []schemas.Violation
	More       int
	Err        error
}

// Error tells the reason, the schema and what is wrong.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("validate a message")
	if e.Subject != (schemas.Subject{}) {
		fmt.Fprintf(&b, " of subject %s", e.Subject)
	}
	if e.Version != 0 {
		fmt.Fprintf(&b, " version %s", e.Version)
	}
	fmt.Fprintf(&b, ": %s", e.Reason)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	for i, v := range e.Violations {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Violations)-i+e.More)
			break
		}
		fmt.Fprintf(&b, "; at %q: %s", string(v.Payload), v.Text)
	}
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is answers for ErrPermanent and ErrUnavailable.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrPermanent:
		return e.Reason.Verdict() == Reject
	case ErrUnavailable:
		return e.Reason.Verdict() == Hold
	}
	return false
}

// bounded cuts a list of violations to what an error may carry.
func bounded(list []schemas.Violation) (kept []schemas.Violation, more int) {
	size := 0
	for i, v := range list {
		size += len(v.Payload) + len(v.Schema) + len(v.Rule) + len(v.Text)
		if i >= mostViolations || size > violationBytes && i > 0 {
			return list[:i:i], len(list) - i
		}
		if size > violationBytes {
			v.Text = cut(v.Text, violationBytes/4)
			v.Payload, v.Schema = schemas.Pointer(cut(string(v.Payload), violationBytes/4)), schemas.Pointer(cut(string(v.Schema), violationBytes/4))
			return []schemas.Violation{v}, len(list) - 1
		}
	}
	return list, 0
}

// cut shortens a text to at most most bytes, at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most]
}

// failure is why a message cannot be bound to a schema.
type failure struct {
	reason  Reason
	err     error
	subject schemas.Subject
	version schemas.Version
	// name is what is unknown, for its grace.
	name name
}

func fail(r Reason, format string, args ...any) *failure {
	return &failure{reason: r, err: fmt.Errorf(format, args...)}
}

// reasonOf classifies what a look-up or a parse answered.
func reasonOf(err error) Reason {
	var p *parseError
	isParse := errors.As(err, &p)
	switch {
	case errors.Is(err, schemas.ErrRefused):
		return RegistryRefused
	case errors.Is(err, schemas.ErrUnintelligible):
		return RegistryUnintelligible
	case errors.Is(err, schemas.ErrUnreachable):
		return RegistryUnreachable
	case isParse:
		return SchemaUnparsable
	case errors.Is(err, schemas.ErrSubjectUnknown):
		return SubjectUnknown
	case errors.Is(err, schemas.ErrVersionUnknown):
		return VersionUnknown
	case errors.Is(err, schemas.ErrSchemaUnknown):
		return SchemaUnknown
	}
	return RegistryUnreachable
}

// parseError says that a stored schema cannot be read here.
type parseError struct{ err error }

func (e *parseError) Error() string { return "read the stored schema: " + e.err.Error() }

func (e *parseError) Unwrap() error { return e.err }
