// Package claim keeps large payloads beside the broker: the message carries a
// reference, a size and a digest, and the stamps of the schema that the payload is
// valid against. The consumer's validator fetches it, checks both, and judges the
// payload itself.
//
// It knows no broker and no storage product: payloads go into a [Directory], or
// into whatever the caller puts behind [Objects]. A reference is looked up in the
// store alone; no address in it is ever asked.
//
// Start with [New]; hand the [Keeper] to validate.Pin.WithClaims and to
// validate.Expect.Claims.
package claim

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// The headers of a message whose payload is kept elsewhere.
//
// Source: client specification 4.7.
const (
	Ref    = "claimRef"
	Size   = "claimSize"
	SHA256 = "claimSha256"
)

// ErrMissing says that a store has no payload of a name: it expired, or never
// came to be.
var ErrMissing = errors.New("the payload is not there")

// Store keeps payloads by name. A name is 26 letters of a–z and digits 2–7.
type Store interface {
	// Base is what references begin with, a URI; the name follows.
	Base() string
	// Put keeps a payload at least until expires, and answers when it is durable.
	Put(ctx context.Context, name string, payload []byte, expires time.Time) error
	// Open opens a payload; ErrMissing, wrapped or not, when there is none.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
}

// Options shape a keeper. Zero fields mean the defaults.
type Options struct {
	// Threshold is from how many bytes on a payload is kept elsewhere, 64 KiB.
	Threshold int
	// Limit is how large a payload may be, 8 MiB, which is what a validator reads.
	Limit int64
	// Expiry is how long a payload is kept, 14 days. It is not to be shorter than
	// Window.
	Expiry time.Duration
	// Window is how long after it was sent a message may be worked on: the window
	// of dedupe. Naming it has New check Expiry.
	Window time.Duration
	// Retry is how often a payload that is missing is looked for, 4 times with 200
	// ms and more between: a store may show late what it has.
	Retry retry.Policy
	// Now is the clock.
	Now func() time.Time
}

// Keeper is a validate.Claims over a store. It is safe for use by many
// goroutines.
type Keeper struct {
	store Store
	o     Options
}

// New makes a keeper.
//
// Errors: payloads would expire before their messages, or Threshold is above
// Limit.
func New(s Store, o Options) (*Keeper, error) {
	if o.Threshold <= 0 {
		o.Threshold = 64 << 10
	}
	if o.Limit <= 0 {
		o.Limit = 8 << 20
	}
	if o.Expiry <= 0 {
		o.Expiry = 14 * 24 * time.Hour
	}
	if o.Retry.Attempts <= 0 {
		o.Retry.Attempts = 4
	}
	if o.Retry.Base <= 0 {
		o.Retry.Base = 200 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Expiry < o.Window {
		return nil, fmt.Errorf("keep payloads: they expire after %s, and messages may be worked on for %s: keep them at least as long", o.Expiry, o.Window)
	}
	if int64(o.Threshold) > o.Limit {
		return nil, fmt.Errorf("keep payloads: those of %d bytes and more, and %d are allowed: lower Threshold or raise Limit", o.Threshold, o.Limit)
	}
	return &Keeper{store: s, o: o}, nil
}

// reference is the small document that stands in a message for its payload.
type reference struct {
	Ref    string `json:"claimRef"`
	Size   int    `json:"claimSize"`
	SHA256 string `json:"claimSha256"`
}

// CheckIn is validate.Claims': it keeps a payload of Threshold bytes and more.
// The body becomes a small JSON document with the reference, size and digest,
// which are headers too. A CloudEvent in binary mode gets dataref, and no body.
//
// Errors: *validate.Error for a payload above Limit, and for a structured
// CloudEvent, whose data stands inside; what the store answered.
func (k *Keeper) CheckIn(ctx context.Context, m *validate.Message) error {
	if len(m.Payload) < k.o.Threshold {
		return nil
	}
	if int64(len(m.Payload)) > k.o.Limit {
		return refused(validate.PayloadTooLarge, "keep the payload elsewhere: it has %d bytes, and %d are allowed", len(m.Payload), k.o.Limit)
	}
	prefix := eventPrefix(m)
	if prefix == "" && strings.HasPrefix(strings.ToLower(m.ContentType), "application/cloudevents") {
		return refused(validate.PayloadTooLarge, "keep the payload elsewhere: it is a structured CloudEvent, whose data stands inside: send the event in binary mode")
	}
	name := strings.ToLower(rand.Text())
	if err := k.store.Put(ctx, name, m.Payload, k.o.Now().Add(k.o.Expiry)); err != nil {
		return fmt.Errorf("keep the payload elsewhere: %w", err)
	}
	sum := sha256.Sum256(m.Payload)
	r := reference{Ref: k.store.Base() + name, Size: len(m.Payload), SHA256: hex.EncodeToString(sum[:])}
	m.Headers = append(m.Headers, validate.Header{Name: Ref, Value: r.Ref}, validate.Header{Name: Size, Value: strconv.Itoa(r.Size)}, validate.Header{Name: SHA256, Value: r.SHA256})
	if prefix != "" {
		m.Headers = append(m.Headers, validate.Header{Name: prefix + "dataref", Value: r.Ref})
		m.Payload = []byte{}
		return nil
	}
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the reference: %w", err)
	}
	m.Payload = body
	return nil
}

// Fetch is validate.Claims': it gives the payload of a message with the header
// claimRef, of the size and digest that the headers say.
//
// Errors: *validate.Error with HeaderMalformed for headers that no keeper of this
// store wrote, PayloadTooLarge above Limit, ClaimMissing when the payload is not
// there, looked for several times, ClaimInvalid when it is another; what the
// store answered otherwise, after which the message is held.
func (k *Keeper) Fetch(ctx context.Context, m *validate.Message) (payload []byte, there bool, err error) {
	ref, there, err := text(m, Ref)
	if err != nil || !there {
		return nil, false, err
	}
	sizeText, hasSize, err := text(m, Size)
	if err != nil {
		return nil, false, err
	}
	digest, hasDigest, err := text(m, SHA256)
	if err != nil {
		return nil, false, err
	}
	size, parse := strconv.ParseInt(sizeText, 10, 64)
	name, ours := strings.CutPrefix(ref, k.store.Base())
	switch {
	case !ours || !isName(name):
		return nil, false, refused(validate.HeaderMalformed, "fetch the payload: the header claimRef says %.200q, which is no reference into this store (%s…)", ref, k.store.Base())
	case !hasSize || !hasDigest:
		return nil, false, refused(validate.HeaderMalformed, "fetch the payload: claimRef needs claimSize and claimSha256 beside it")
	case parse != nil || size < 0 || strconv.FormatInt(size, 10) != sizeText:
		return nil, false, refused(validate.HeaderMalformed, "fetch the payload: the header claimSize says %.40q, not a number of bytes", sizeText)
	case !isDigest(digest):
		return nil, false, refused(validate.HeaderMalformed, "fetch the payload: the header claimSha256 says %.80q, not 64 hexadecimal digits", digest)
	case size > k.o.Limit:
		return nil, false, refused(validate.PayloadTooLarge, "fetch the payload: it has %d bytes, and %d are allowed", size, k.o.Limit)
	}
	payload, err = k.look(ctx, name, size)
	if err != nil {
		return nil, false, err
	}
	if sum := sha256.Sum256(payload); int64(len(payload)) != size || hex.EncodeToString(sum[:]) != digest {
		if int64(len(payload)) > size {
			return nil, false, refused(validate.ClaimInvalid, "fetch the payload %s: it has more than the %d bytes that claimSize says", ref, size)
		}
		return nil, false, refused(validate.ClaimInvalid, "fetch the payload %s: %d bytes with the SHA-256 %x, and the message says %d bytes with %s", ref, len(payload), sum, size, digest)
	}
	return payload, true, nil
}

// look reads a payload, and looks again while it is missing.
func (k *Keeper) look(ctx context.Context, name string, size int64) ([]byte, error) {
	for attempt := 1; ; attempt++ {
		payload, err := k.read(ctx, name, size)
		if err == nil || !errors.Is(err, ErrMissing) {
			return payload, err
		}
		wait, again := k.o.Retry.Next(attempt, nil)
		if !again {
			return nil, &validate.Error{Reason: validate.ClaimMissing, Err: fmt.Errorf("fetch the payload %s%s: looked %d times: %w", k.store.Base(), name, attempt, ErrMissing)}
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("fetch the payload: %w", ctx.Err())
		case <-t.C:
		}
	}
}

// read reads a payload, and one byte more than it may have.
func (k *Keeper) read(ctx context.Context, name string, size int64) (payload []byte, err error) {
	r, err := k.store.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("fetch the payload: %w", err)
	}
	defer r.Close() //nolint:errcheck // it was read
	payload, err = io.ReadAll(io.LimitReader(r, size+1))
	if err != nil {
		return nil, fmt.Errorf("fetch the payload: %w", err)
	}
	return payload, nil
}

func refused(r validate.Reason, format string, args ...any) *validate.Error {
	return &validate.Error{Reason: r, Err: fmt.Errorf(format, args...)}
}

// text is a header's text; two different values are an error.
func text(m *validate.Message, name string) (value string, there bool, err error) {
	for _, h := range m.Headers {
		if h.Name != name {
			continue
		}
		one, ok, err := h.Text()
		switch {
		case err != nil:
			return "", false, refused(validate.HeaderMalformed, "read the header %s: %w", name, err)
		case ok && there && one != value:
			return "", false, refused(validate.HeaderConflict, "read the header %s: it says %.200q and %.200q", name, value, one)
		case ok:
			value, there = one, true
		}
	}
	return value, there, nil
}

// isName tells whether a text is a name as CheckIn makes them, so that nothing in
// a reference can lead out of the store.
func isName(text string) bool {
	if len(text) != 26 {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

func isDigest(text string) bool {
	if len(text) != 2*sha256.Size {
		return false
	}
	for _, c := range []byte(text) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// eventPrefix is what the attributes of a CloudEvent in binary mode begin with;
// "" when the message is none.
//
// Source: client specification 1.8.
func eventPrefix(m *validate.Message) string {
	for _, h := range m.Headers {
		for _, prefix := range []string{"ce_", "cloudEvents_", "cloudEvents:", "ce-"} {
			if h.Name == prefix+"specversion" && h.Value != nil {
				return prefix
			}
		}
	}
	return ""
}
