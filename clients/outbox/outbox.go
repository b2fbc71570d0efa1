// Package outbox publishes what a transaction did, without publishing what it did
// not do: [Put] validates and stamps a message and writes it beside the business
// rows, in their transaction; a [Relay] publishes it after the commit, as often
// as it takes, in order for each aggregate.
//
// A message may be published twice (a relay that dies between the publish and its
// mark), never lost: package dedupe is the other half. It knows no broker; a
// function of the caller's publishes. The database is the caller's too, through
// database/sql.
//
// Start with [Create], [Put] and [Relay].
package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Message is a message to be published once its transaction is committed.
type Message struct {
	// Destination is where it goes: a topic, an exchange, a queue. RoutingKey is
	// AMQP's.
	Destination, RoutingKey string
	// Aggregate is the id of the entity that the message tells of. Messages of one
	// aggregate are published in the order of their commits; it becomes the header
	// messageKey. Empty messages are in no order.
	Aggregate string
	// EventType names what happened, for those who route by it.
	EventType string
	// Pin is the schema that the payload is written with.
	Pin validate.Pin
	// Type is the full name of the record or message that the payload is, where
	// that is needed; see validate.Message.
	Type string
	// ID is the messageId, and the row's id; a random one when empty.
	ID          string
	ContentType string
	// Headers are text, bytes or integers: brokers lose other kinds.
	Headers []validate.Header
	// Payload is the data. Nil is a tombstone.
	Payload []byte
}

// Row is a message in the outbox, validated and stamped.
type Row struct {
	Sequence                                                       int64
	ID, Aggregate, EventType, Destination, RoutingKey, ContentType string
	Headers                                                        []validate.Header
	Payload                                                        []byte
	CreatedAt                                                      time.Time
	// Attempts were made before; LastError is the last one's.
	Attempts  int
	LastError string
}

// lanes is into how many lanes the aggregates are spread. What is published
// in one lane is published by one relay at a time. It is part of what is stored.
const lanes = 32

// laneOf is the lane of an aggregate.
func laneOf(key string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int(h.Sum32() % lanes)
}

// Put validates and stamps a message and writes it into the outbox, inside the
// caller's transaction: it is published when that commits, and never was when it
// rolls back. A message that is refused becomes no row.
//
// Transactions that put messages of one aggregate wait for each other from Put
// to their end, so that the order of their messages is that of their commits. Two
// that put several aggregates in different order may deadlock, which PostgreSQL
// ends by an error; put them in a sorted order.
//
// Errors: *validate.Error when the message is refused (validate.ErrPermanent) or
// could not be judged now (validate.ErrUnavailable); what the database answered.
func Put(ctx context.Context, tx *sql.Tx, d Dialect, v *validate.Validator, m Message) error {
	s, err := d.statements()
	if err != nil {
		return err
	}
	if m.Destination == "" && m.RoutingKey == "" {
		return errors.New("put a message into the outbox: Destination is empty: name where it goes")
	}
	stamped := validate.Message{
		Destination: m.Destination, RoutingKey: m.RoutingKey, Headers: append([]validate.Header(nil), m.Headers...),
		ContentType: m.ContentType, Payload: m.Payload, Type: m.Type, MessageID: m.ID,
	}
	if stamped.Destination == "" {
		stamped.Destination = m.RoutingKey // the default exchange routes to the queue of that name
	}
	if err := v.BeforePublish(ctx, &stamped, &m.Pin); err != nil {
		return err
	}
	if err := stampKey(&stamped, m.Aggregate); err != nil {
		return fmt.Errorf("put message %s into the outbox: %w", stamped.MessageID, err)
	}
	headers, err := encodeHeaders(stamped.Headers)
	if err != nil {
		return fmt.Errorf("put message %s into the outbox: %w", stamped.MessageID, err)
	}
	key := m.Aggregate
	if key == "" {
		key = stamped.MessageID
	} else if s.order != "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(key))
		if _, err := tx.ExecContext(ctx, s.order, int32(h.Sum32())); err != nil { // the hash may wrap
			return fmt.Errorf("put message %s into the outbox: wait for the aggregate %s: %w", stamped.MessageID, key, err)
		}
	}
	names := schemaColumns(stamped.Headers)
	if _, err := tx.ExecContext(ctx, s.insert, stamped.MessageID, m.Aggregate, m.EventType, m.Destination, m.RoutingKey, m.ContentType,
		headers, stamped.Payload, laneOf(key), names[0], names[1], names[2], names[3], names[4], names[5]); err != nil {
		return fmt.Errorf("put message %s into the outbox: %w", stamped.MessageID, err)
	}
	return nil
}

// stampKey adds the header messageKey; one that is there must agree.
func stampKey(m *validate.Message, key string) error {
	if key == "" {
		return nil
	}
	if len(key) > framing.LongestText {
		return fmt.Errorf("the aggregate's id has %d bytes, and %d are allowed", len(key), framing.LongestText)
	}
	for _, h := range m.Headers {
		if h.Name != framing.MessageKey {
			continue
		}
		if text, ok, err := h.Text(); err != nil || ok && text != key {
			return fmt.Errorf("the header messageKey says %.40q already, and the aggregate is %.40q", text, key)
		}
		return nil
	}
	m.Headers = append(m.Headers, validate.Header{Name: framing.MessageKey, Value: key})
	return nil
}

// schemaColumns are the stamps that have a column of their own beside the
// headers, for those who read the table by other means, such as Debezium.
func schemaColumns(headers []validate.Header) (out [6]sql.NullString) {
	for _, h := range headers {
		for i, name := range [...]string{framing.SchemaSubject, framing.SchemaVersion, framing.SchemaID, framing.SchemaGUID, framing.SchemaType, framing.SchemaMessage} {
			if h.Name != name {
				continue
			}
			if text, ok, err := h.Text(); ok && err == nil {
				out[i] = sql.NullString{String: text, Valid: true}
			}
		}
	}
	return out
}

// storedHeader is a header in the table: bytes in Base64, and what is no bytes as
// text, so that no reader's numbers change it.
type storedHeader struct {
	Name  string  `json:"name"`
	Text  *string `json:"text,omitempty"`
	Bytes *[]byte `json:"bytes,omitempty"`
}

func encodeHeaders(list []validate.Header) (string, error) {
	out := make([]storedHeader, 0, len(list))
	for _, h := range list {
		one := storedHeader{Name: h.Name}
		switch v := h.Value.(type) {
		case nil:
		case []byte:
			one.Bytes = &v
		case string:
			one.Text = &v
		default:
			text, _, err := h.Text()
			if err != nil {
				return "", fmt.Errorf("the header %.40q: a value of type %T is lost on the way over some brokers: make it text", h.Name, v)
			}
			one.Text = &text
		}
		out = append(out, one)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "", fmt.Errorf("write down the headers: %w", err)
	}
	return string(text), nil
}

func decodeHeaders(text string) ([]validate.Header, error) {
	var list []storedHeader
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read the headers: %w", err)
	}
	out := make([]validate.Header, 0, len(list))
	for _, one := range list {
		h := validate.Header{Name: one.Name}
		switch {
		case one.Text != nil:
			h.Value = *one.Text
		case one.Bytes != nil:
			h.Value = *one.Bytes
		}
		out = append(out, h)
	}
	return out, nil
}
