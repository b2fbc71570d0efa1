package sr

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Exception accepts one break of a scope for a while, as a Cartório keeps it.
type Exception struct {
	Fingerprint string // of the finding, 32 hexadecimal digits
	Reason      string
	Owner       string
	Until       time.Time // the last moment it counts; zero is for ever
}

type exceptionsBody struct {
	Exceptions []exceptionBody `json:"exceptions"`
}

type exceptionBody struct {
	Fingerprint string `json:"fingerprint"`
	Reason      string `json:"reason"`
	Owner       string `json:"owner"`
	Until       string `json:"until,omitempty"` // RFC 3339
}

// Exceptions lists the exceptions that a scope itself has: a subject, or a
// context (an empty subject name in it). Other registries have no such route.
//
// GET /api/v1/exceptions
func (c *Client) Exceptions(ctx context.Context, scope schemas.Subject) ([]Exception, error) {
	r := request{method: http.MethodGet, path: "/api/v1/exceptions", query: exceptionScope(scope)}
	var b exceptionsBody
	if err := c.call(ctx, r, &b); err != nil {
		return nil, err
	}
	list := make([]Exception, 0, len(b.Exceptions))
	for _, e := range b.Exceptions {
		one := Exception{Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner}
		if e.Until != "" {
			at, err := time.Parse(time.RFC3339, e.Until)
			if err != nil {
				return nil, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the member until: " + err.Error(), Err: schemas.ErrUnintelligible}
			}
			one.Until = at
		}
		list = append(list, one)
	}
	return list, nil
}

// SetExceptions makes list the exceptions of a scope, all of it or nothing. It is
// safe to repeat.
//
// PUT /api/v1/exceptions
// Errors: an *Error with the registry's reason for an entry that it refuses.
func (c *Client) SetExceptions(ctx context.Context, scope schemas.Subject, list []Exception) error {
	b := exceptionsBody{Exceptions: []exceptionBody{}}
	for _, e := range list {
		one := exceptionBody{Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner}
		if !e.Until.IsZero() {
			one.Until = e.Until.UTC().Format(time.RFC3339)
		}
		b.Exceptions = append(b.Exceptions, one)
	}
	r := request{method: http.MethodPut, path: "/api/v1/exceptions", query: exceptionScope(scope), body: b}
	if err := c.call(ctx, r, nil); err != nil {
		return fmt.Errorf("set the exceptions of %s: %w", scope, err)
	}
	return nil
}

func exceptionScope(s schemas.Subject) map[string][]string {
	return query{}.text("subject", s.String()).values()
}
