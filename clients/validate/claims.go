package validate

import (
	"context"
	"errors"
	"slices"
)

// Claims keeps large payloads elsewhere than in the messages they belong to;
// package clients/claim is one. What is validated is the payload, on both sides.
//
// An *Error tells its reason; any other error counts as ClaimUnreachable.
type Claims interface {
	// CheckIn keeps the payload of a message that is validated and stamped, and
	// puts a reference in its place. A payload that is small enough stays.
	CheckIn(ctx context.Context, m *Message) error
	// Fetch gives the payload that a message refers to; there is false when the
	// message carries its own.
	Fetch(ctx context.Context, m *Message) (payload []byte, there bool, err error)
}

// WithClaims keeps payloads elsewhere, once they are validated.
func (p Pin) WithClaims(c Claims) Pin {
	p.claims = c
	return p
}

// claimError classifies what Claims answered.
func claimError(err error) *failure {
	var e *Error
	if errors.As(err, &e) {
		return &failure{reason: e.Reason, err: e.Err}
	}
	return &failure{reason: ClaimUnreachable, err: err}
}

// claimed stamps a message whose payload is kept elsewhere, or is to be. A message
// that refers to its payload already is judged by that.
func (s *stamper) claimed(ctx context.Context) *Error {
	own := s.m
	payload, there, err := s.p.claims.Fetch(ctx, own)
	if err != nil {
		f := claimError(err)
		return s.fail(f.reason, f.err)
	}
	whole := *own
	whole.Headers = slices.Clone(own.Headers)
	if there {
		whole.Payload = payload
	}
	s.m = &whole
	defer func() { s.m = own }()
	if f := s.stamp(ctx); f != nil {
		return f
	}
	if there {
		whole.Payload = own.Payload
	} else if err := s.p.claims.CheckIn(ctx, &whole); err != nil {
		f := claimError(err)
		return s.fail(f.reason, f.err)
	}
	*own = whole
	return nil
}
