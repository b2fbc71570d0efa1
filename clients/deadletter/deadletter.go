// Package deadletter looks into dead letters, sends their messages where they
// came from, drops them, and carries them in and out of files.
//
// It knows no broker: each is a [Box] in a package beside it, and no schema: who
// may be sent again is asked of a function. Nothing is ever lost on the way: a
// letter leaves its box only when the broker has confirmed it elsewhere, so that
// whoever is killed between the two has it twice, with one messageId.
//
// Start with [List], [Find], [Replay] and [Drop].
package deadletter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Letter is a message that was set aside.
type Letter struct {
	// Message is the message with the headers of the dead letter.
	Message validate.Message
	// Place is where the letter lies in its box, where the broker has a word for it:
	// Kafka's partition and offset.
	Place string
	// Key is Kafka's record key; nil for none.
	Key []byte
	// Time is when the broker or the sender says that it was sent; zero if nobody
	// does.
	Time time.Time
	// Properties are what a broker has beside headers, by its own names:
	// "correlation-id".
	Properties map[string]string
}

// Destination is where a message was sent first. Name is an exchange, topic or
// queue; RoutingKey and Queue are RabbitMQ's.
type Destination struct{ Name, RoutingKey, Queue string }

// String names the destination for people.
func (d Destination) String() string {
	switch {
	case d.Queue != "":
		return d.Queue
	case d.RoutingKey != "" && d.RoutingKey != d.Name:
		return d.Name + "/" + d.RoutingKey
	}
	return d.Name
}

// Fate is what becomes of a letter that was looked at.
type Fate uint8

const (
	// Keep leaves the letter where it is.
	Keep Fate = iota
	// Remove takes it out for good.
	Remove
	// Stop keeps it and looks at no more.
	Stop
)

// Box is a dead letter at a broker. It is used by one goroutine.
type Box interface {
	// Walk shows the letters that lie in the box when it begins, in their order, and
	// leaves what is kept as it was. What is removed is gone when Walk returns, also
	// with an error.
	Walk(ctx context.Context, visit func(context.Context, *Letter) (Fate, error)) error
	// Send publishes a letter's message and returns when the broker has it for sure.
	//
	// Errors: wraps validate.ErrPermanent when the broker refuses it for good.
	Send(ctx context.Context, to Destination, l *Letter) error
	// Put adds a letter to the box, likewise.
	Put(ctx context.Context, l *Letter) error
	// Close gives back what was looked at and ends the connection.
	Close() error
}

// Header is the text of a header; "" when there is none, or no text.
func (l *Letter) Header(name string) string {
	for _, h := range l.Message.Headers {
		if h.Name == name {
			if text, ok, err := h.Text(); ok && err == nil {
				return text
			}
		}
	}
	return ""
}

// MessageID is the producer's id of the message, "" for none.
func (l *Letter) MessageID() string {
	if id := l.Header("messageId"); id != "" {
		return id
	}
	return l.Message.MessageID
}

// ID names the letter: where it lies, else its message's id, else the first of
// its payload's SHA-256.
func (l *Letter) ID() string {
	if l.Place != "" {
		return l.Place
	}
	if id := l.MessageID(); id != "" {
		return id
	}
	sum := sha256.Sum256(l.Message.Payload)
	return "sha256-" + hex.EncodeToString(sum[:8])
}

// Is tells whether id names the letter.
func (l *Letter) Is(id string) bool { return id == l.ID() || id != "" && id == l.MessageID() }

// Reason is the code of why it was set aside; "broker" and the broker's own word
// when the broker did it without ours, "unknown" when nobody says.
func (l *Letter) Reason() string {
	if r := l.Header(validate.DLQReason); r != "" {
		return r
	}
	for _, name := range []string{"x-first-death-reason", "dlqDeliveryFailureCause"} {
		if r := l.Header(name); r != "" {
			return "broker " + r
		}
	}
	if l.Header("kafka_dlt-exception-fqcn") != "" || l.Header("original-destination") != "" {
		return "broker"
	}
	return "unknown"
}

// Subject is what the message or the consumer says of its subject; "" for
// nothing.
func (l *Letter) Subject() string {
	if s := l.Header("schemaSubject"); s != "" {
		return s
	}
	// Of a subject that is named by a rule, as "by destination 1..2", it says nothing.
	if words := strings.Fields(l.Header(validate.DLQExpected)); len(words) == 2 {
		return words[0]
	}
	return ""
}

// Version is the schema's version in the headers; "" for none.
func (l *Letter) Version() string { return l.Header("schemaVersion") }

// FailedAt is when the message was set aside; zero when nobody says.
func (l *Letter) FailedAt() time.Time {
	if t, err := time.Parse(time.RFC3339Nano, l.Header(validate.DLQFailedAt)); err == nil {
		return t
	}
	return l.Time
}

// Replays is how often the message was sent again.
func (l *Letter) Replays() int {
	n, err := strconv.ParseUint(l.Header(validate.DLQReplays), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// Origin is where the message was sent first, by our headers, else by those of
// the broker or of other products; ok is false when nobody says.
func (l *Letter) Origin() (d Destination, ok bool) {
	d = Destination{Name: l.Header(validate.DLQOriginalDestination), RoutingKey: l.Header(validate.DLQOriginalRoutingKey), Queue: l.Header(validate.DLQOriginalQueue)}
	if d.Name != "" || d.Queue != "" {
		return d, true
	}
	if q := l.Header("x-first-death-queue"); q != "" {
		return Destination{Name: l.Header("x-first-death-exchange"), Queue: q}, true
	}
	for _, name := range []string{"original-destination", "kafka_dlt-original-topic"} {
		if at := l.Header(name); at != "" {
			return Destination{Name: at}, true
		}
	}
	return Destination{}, false
}
