package dedupe

import (
	"net/http"
)

// IdempotencyHeader is the header in which services look for the key.
//
// Source: draft-ietf-httpapi-idempotency-key-header.
const IdempotencyHeader = "Idempotency-Key"

// IdempotencyKey is what a message's work passes on to a service that must act
// once, such as one that charges a card: work that is repeated, because its
// transaction did not commit, asks with the same key. operation tells several
// calls of one message apart.
//
// It is 64 hexadecimal digits, which every service takes.
func IdempotencyKey(m Message, operation string) string {
	return KeyOf(m.Consumer, m.ID, operation)
}

// SetIdempotencyKey sets the header Idempotency-Key of a request.
//
// The key is sent bare, as the services that have long taken it expect, not in
// the quotes of the draft's structured field.
func SetIdempotencyKey(r *http.Request, m Message, operation string) {
	r.Header.Set(IdempotencyHeader, IdempotencyKey(m, operation))
}
