package validate

import (
	"errors"
	"fmt"

	"github.com/cartorio-registry/cartorio/clients/framing"
)

// Header is one header of a message, as its broker's library gives it.
type Header = framing.Header

// Message is a broker's message as a validator sees it.
type Message struct {
	// Destination is where the message was sent: a topic, an exchange, or the
	// queue when it went through the default exchange.
	Destination string
	// RoutingKey is AMQP's; empty elsewhere.
	RoutingKey string
	// Headers keep their order and their duplicates.
	Headers []Header
	// ContentType is the broker's property, or Kafka's header of that name.
	ContentType string
	// Payload is the message's value, with its framing if it has one. Nil is a
	// tombstone; an empty payload that is not nil is a payload.
	Payload []byte
	// IsKey tells that Payload is a Kafka key rather than a value.
	IsKey bool
	// Type is the full name of the record or message that the payload is, for
	// publishing: Protobuf needs it when a file has several messages, and the
	// strategies by type when the schema is not known beforehand.
	Type string
	// MessageID is the producer's id of the message, for publishing. Empty asks
	// for a new random one.
	MessageID string
}

// header finds a header by name; ok is false when there is none with a value.
func (m *Message) header(name string) (h Header, ok bool) {
	for _, h := range m.Headers {
		if h.Name == name && h.Value != nil {
			return h, true
		}
	}
	return Header{}, false
}

// CheckStamped tells whether a message carries what BeforePublish stamps: the id
// of the message, and a name of its schema. It says nothing about the payload.
//
// Errors: *Error with HeaderMissing.
func (m *Message) CheckStamped() error {
	_, version := m.header(framing.SchemaVersion)
	_, guid := m.header(framing.SchemaGUID)
	id, has := m.header(framing.MessageID)
	text, _, err := id.Text()
	switch {
	case !version && !guid:
		return &Error{Reason: HeaderMissing, Err: errors.New("it has neither schemaVersion nor schemaGuid: it was never validated")}
	case !has || err != nil || text != m.MessageID:
		return &Error{Reason: HeaderMissing, Err: fmt.Errorf("its header messageId is not its id %.40q", m.MessageID)}
	}
	return nil
}

// set replaces or adds a header.
func (m *Message) set(name, value string) {
	for i := range m.Headers {
		if m.Headers[i].Name == name {
			m.Headers[i].Value = value
			return
		}
	}
	m.Headers = append(m.Headers, Header{Name: name, Value: value})
}
