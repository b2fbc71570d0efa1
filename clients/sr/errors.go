package sr

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Error is what went wrong with a call: an error answer of the registry, an
// answer that cannot be understood, or no answer at all.
//
// It wraps one of schemas.ErrSubjectUnknown, ErrVersionUnknown,
// ErrSchemaUnknown, ErrUnreachable, ErrRefused and ErrUnintelligible where one
// applies, so that callers ask with errors.Is and never read text.
type Error struct {
	Method string
	URL    string // without credentials
	Status int    // HTTP status; 0 when there was no answer
	Code   int    // error_code of the body; 0 when it had none
	// Message is the registry's sentence, or ours about its answer.
	Message string
	// RetryAfter is how long the registry asks to wait; 0 when it does not.
	RetryAfter time.Duration
	Err        error
}

// Error tells the request, the status and the message, each fact once: a code
// such as 40402 holds its status, and the message beside it says what is unknown.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ask the registry: %s %s", e.Method, e.URL)
	switch {
	case e.Status == 0:
	case e.Code == 0 || e.Code == e.Status:
		fmt.Fprintf(&b, ": status %d", e.Status)
	case e.Code/100 == e.Status:
		fmt.Fprintf(&b, ": code %d", e.Code)
	default:
		fmt.Fprintf(&b, ": status %d, code %d", e.Status, e.Code)
	}
	if e.Message != "" {
		b.WriteString(": " + strings.TrimSuffix(e.Message, "."))
	}
	said := e.Message != "" && (errors.Is(e.Err, schemas.ErrSubjectUnknown) || errors.Is(e.Err, schemas.ErrVersionUnknown) || errors.Is(e.Err, schemas.ErrSchemaUnknown))
	if e.Err != nil && !said {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap is the sentinel, or the cause.
func (e *Error) Unwrap() error { return e.Err }

// classOf gives the sentinel that a status and an error code stand for. isBody
// tells whether the body was an error body at all.
func classOf(status, code int, isBody bool) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return schemas.ErrRefused
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		return schemas.ErrUnreachable
	case !isBody:
		return schemas.ErrUnintelligible
	}
	switch code {
	case 40401:
		return schemas.ErrSubjectUnknown
	case 40402:
		return schemas.ErrVersionUnknown
	case 40403:
		return schemas.ErrSchemaUnknown
	case http.StatusNotFound:
		// The registry knows every path that this client asks for; who answers
		// a bare 404 is something else at that address.
		return schemas.ErrUnintelligible
	}
	return nil
}

// errorOf reads an error answer.
func errorOf(e *Error, body []byte) *Error {
	var b struct {
		Code    *int   `json:"error_code"`
		Message string `json:"message"`
	}
	isBody := json.Unmarshal(body, &b) == nil && b.Code != nil
	if isBody {
		e.Code, e.Message = *b.Code, cut(b.Message, 4<<10)
	} else {
		e.Message = "the answer is no error body of a registry; is the base URL right?"
	}
	e.Err = classOf(e.Status, e.Code, isBody)
	return e
}

// cut shortens a foreign text at a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xc0 == 0x80 {
		most--
	}
	return text[:most] + "…"
}
