// Package bridge is the translation step in one place: it reads messages of one
// destination, translates those of other versions by declared steps, and
// publishes them at another, of the same broker or of another kind.
//
// A message is published, and confirmed, before it is acknowledged where it came
// from: whoever is killed in between has it twice, with one messageId, and loses
// none. Its id, key and trace are kept; what names its schema is stamped anew. A
// message that cannot be translated goes to the dead letter of where it came
// from; one that cannot be published waits, and those behind it.
//
// It wires the packages of the brokers and decides nothing about schemas. Start
// with [ParseConfig] and [Run].
package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deliver"
	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Options are a bridge. All but Recode, Logger and Done are needed.
type Options struct {
	Config   Config
	From, To brokers.Address
	// Validator judges what is read and what is published.
	Validator *validate.Validator
	// Expect is what is read: the version at the target, and the steps to it.
	Expect *validate.Expect
	// Pin is what is published.
	Pin validate.Pin
	// Recode makes a payload of the target's schema of one that was read, where the
	// target's subject is another; nil keeps the payload.
	Recode func(o *validate.Outcome) ([]byte, error)
	// Logger takes alarms; slog.Default() when nil.
	Logger *slog.Logger
	// Done counts, when not nil.
	Done *Counts
}

// Counts are the messages of a bridge since it began.
type Counts struct {
	Published, Translated, DeadLettered atomic.Uint64
}

// Message is a message on its way, whatever its brokers are.
type Message struct {
	Headers []validate.Header
	// Key is Kafka's record key, or the header messageKey; nil for none.
	Key                                 []byte
	Payload                             []byte
	ContentType, CorrelationID, ReplyTo string
	MessageID, RoutingKey               string
	// Type is Protobuf's full name of the message.
	Type string
}

// target publishes at a broker and answers when the message is there for sure.
type target interface {
	publish(ctx context.Context, m *Message) error
	close(ctx context.Context) error
}

// worker carries messages from a source to a target.
type worker struct {
	o    Options
	to   target
	stop context.Context // ends when the bridge is told to stop
	log  *slog.Logger
}

const (
	// drain is how long what is on its way may take when the bridge stops.
	drain = 20 * time.Second
	// firstPause and longestPause are between two tries to publish.
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
	// publishTime bounds one try: a broker that is away answers nothing.
	publishTime = 30 * time.Second
)

// Run carries messages until ctx ends; then it takes no more, finishes what is on
// its way and answers nil. Lost connections are made again.
//
// Errors: at the start only: options that exclude each other, and, unless ctx ends
// in it, a broker that cannot be reached or a destination that does not exist.
func Run(ctx context.Context, o Options) error {
	w := &worker{o: o, stop: ctx, log: o.Logger}
	if w.log == nil {
		w.log = slog.Default()
	}
	if w.o.Done == nil {
		w.o.Done = &Counts{}
	}
	to, err := w.target()
	if err != nil {
		return fmt.Errorf("bridge to %s: %w", o.To, err)
	}
	w.to = to
	err = w.consume(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if closeErr := to.close(closing); closeErr != nil && ctx.Err() != nil {
		// What is on its way there was not acknowledged where it came from.
		w.log.Warn("the bridge stops and cannot take leave of its target: what it had not confirmed comes again", "to", w.o.To.String(), "error", closeErr)
	}
	return err
}

// carry publishes what was accepted, and answers when it is there.
//
// Errors: made by reject for a message that can never be published; any other
// when the bridge stops, and then the message is given back.
func (w *worker) carry(ctx context.Context, o *validate.Outcome, m *Message) error {
	m.Type, m.Payload = o.Message, o.Payload
	if o.Tombstone {
		m.Payload = nil
	} else if w.o.Recode != nil {
		payload, err := w.o.Recode(o)
		if err != nil {
			return deliver.Reject(err)
		}
		m.Payload = payload
	}
	m.Headers = carried(m.Headers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.stop, func() { time.AfterFunc(drain/2, cancel) })()
	pause := firstPause
	for {
		err := w.try(ctx, m)
		var refused *validate.Error
		switch {
		case err == nil:
			w.o.Done.Published.Add(1)
			if o.TranslatedFrom != 0 {
				w.o.Done.Translated.Add(1)
			}
			return nil
		case errors.As(err, &refused) && errors.Is(err, validate.ErrPermanent):
			return deliver.Reject(fmt.Errorf("translated, it is refused at %s: %w", w.o.To, err))
		case ctx.Err() != nil || w.stop.Err() != nil:
			return err
		}
		// It says nothing about the message: the target is away, or is not there.
		w.log.Warn("a message cannot be published and waits", "to", w.o.To.String(), "messageId", m.MessageID, "error", err, "again", pause.String())
		if deliver.Sleep(ctx, pause) != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func (w *worker) try(ctx context.Context, m *Message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTime)
	defer cancel()
	return w.to.publish(ctx, m)
}

// count hears of every message that was settled.
func (w *worker) count(h deliver.Handled) {
	if h.Action == deliver.DeadLettered || h.Action == deliver.LeftToBroker {
		w.o.Done.DeadLettered.Add(1)
		w.log.Warn("a message was set aside", "from", w.o.From.String(), "messageId", h.MessageID, "reason", h.Reason.String(), "error", h.Err)
	}
}

// carried are the headers that a message keeps: all but those that name its
// schema, which are stamped anew, and those that brokers and failures left.
func carried(headers []validate.Header) []validate.Header {
	out := make([]validate.Header, 0, len(headers)+8)
	for _, h := range headers {
		if travels(h.Name) {
			out = append(out, h)
		}
	}
	return out
}

func travels(header string) bool {
	switch header {
	case framing.SchemaVersion, framing.SchemaSubject, framing.SchemaID, framing.SchemaGUID, framing.SchemaType, framing.SchemaMessage, framing.BinaryValue,
		framing.KeySchemaVersion, framing.KeySchemaSubject, framing.KeySchemaID, framing.KeySchemaGUID, framing.KeySchemaType, framing.KeySchemaMessage, framing.BinaryKey,
		"retryAttempts", "retryNotBefore", "x-death", "x-delivery-count":
		return false
	}
	for _, prefix := range []string{"apicurio.", "x-first-death-", "x-last-death-", "kafka_dlt-", "__rule."} {
		if strings.HasPrefix(header, prefix) {
			return false
		}
	}
	for _, prefix := range []string{"ce_", "ce-", "cloudEvents_", "cloudEvents:"} {
		if header == prefix+"dataschema" {
			return false
		}
	}
	return !strings.HasPrefix(header, "dlq") || len(header) < 4 || header[3] < 'A' || header[3] > 'Z'
}

// header is a header's text; "" for none.
func (m *Message) header(name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			if text, ok, err := h.Text(); ok && err == nil {
				return text
			}
		}
	}
	return ""
}

// withKey are the headers with messageKey, by which messages are in order where
// brokers have no key.
func (m *Message) withKey() []validate.Header {
	if m.Key == nil || m.header(framing.MessageKey) != "" {
		return m.Headers
	}
	return append(m.Headers, validate.Header{Name: framing.MessageKey, Value: string(m.Key)})
}
