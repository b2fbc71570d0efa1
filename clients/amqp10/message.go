package amqp10

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	messageIDHeader  = "messageId"
	messageKeyHeader = "messageKey"

	// RetryAttempts is the application property that counts the attempts made on a
	// message; what brokers count differs between them.
	RetryAttempts = "retryAttempts"

	// deliveryDelay is the annotation that asks ActiveMQ to keep a message for so many
	// milliseconds.
	deliveryDelay = "x-opt-delivery-delay"
)

// Headers are a message's application properties, in the order of their names.
func Headers(m *amqp.Message) []validate.Header { return headersOf(m.ApplicationProperties) }

// Payload is what a message carries: its data sections, or a value that is text or
// bytes. No body is an empty payload.
//
// Errors: the body is of another kind.
func Payload(m *amqp.Message) ([]byte, error) { return body(m) }

// headersOf turns application properties into headers.
func headersOf(properties map[string]any) []validate.Header {
	out := make([]validate.Header, 0, len(properties)+8)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		value := properties[name]
		if id, ok := value.(amqp.UUID); ok {
			value = id.String()
		}
		out = append(out, validate.Header{Name: name, Value: value})
	}
	return out
}

// propertiesOf turns headers into new application properties.
func propertiesOf(headers []validate.Header) map[string]any {
	out := make(map[string]any, len(headers))
	for _, h := range headers {
		out[h.Name] = h.Value
	}
	return out
}

// simple refuses what AMQP allows in no application property.
//
// Source: AMQP 1.0, 3.2.5.
func simple(properties map[string]any) error {
	many := []reflect.Kind{reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Chan, reflect.Func, reflect.Pointer}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		switch v := properties[name].(type) {
		case []byte, time.Time, amqp.UUID:
		default:
			if t := reflect.ValueOf(v); slices.Contains(many, t.Kind()) {
				return fmt.Errorf("the application property %s is a %s: AMQP has room for text, bytes, numbers, booleans and times there", name, t.Type())
			}
		}
	}
	return nil
}

// text is an application property as text, "" when it is none.
func text(m *amqp.Message, name string) string {
	t, _, err := validate.Header{Name: name, Value: m.ApplicationProperties[name]}.Text()
	if err != nil {
		return ""
	}
	return t
}

// properties are a message's, never nil.
func properties(m *amqp.Message) *amqp.MessageProperties {
	if m.Properties == nil {
		return &amqp.MessageProperties{}
	}
	return m.Properties
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// idText is a message id as text.
func idText(id any) string {
	switch v := id.(type) {
	case nil:
		return ""
	case string:
		return v
	case []byte:
		return string(v)
	case uint64:
		return strconv.FormatUint(v, 10)
	case amqp.UUID:
		return v.String()
	}
	return fmt.Sprint(id)
}

// keyOf is what a message is in order with: the property messageKey, else the
// group, else nothing.
func keyOf(m *amqp.Message) string {
	if key := text(m, messageKeyHeader); key != "" {
		return key
	}
	return deref(properties(m).GroupID)
}

var errBody = errors.New("the body is neither data nor text: an AMQP sequence, or a value of another kind")

// body gives a message's payload. Data sections are one after the other; a value
// is text or bytes. There is no tombstone: no body is an empty payload.
func body(m *amqp.Message) ([]byte, error) {
	switch v := m.Value.(type) {
	case nil, amqp.Null:
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	default:
		return []byte{}, fmt.Errorf("%w: %T", errBody, m.Value)
	}
	switch {
	case len(m.Sequence) > 0:
		return []byte{}, errBody
	case len(m.Data) == 1 && m.Data[0] != nil:
		return m.Data[0], nil
	}
	out := bytes.Join(m.Data, nil)
	if out == nil {
		out = []byte{}
	}
	return out, nil
}

// resend is a received message as one to send on, properties kept and headers the
// caller's. It never expires: what is set aside must stay. Nor are the user id,
// which a broker may accept from that user alone, what the broker noted about this
// one delivery, and the message-id, which becomes the property messageId where
// there is none: see [ProducerOptions].
func resend(m *amqp.Message, headers []validate.Header) *amqp.Message {
	p := *properties(m)
	id := idText(p.MessageID)
	p.MessageID, p.UserID, p.To, p.AbsoluteExpiryTime = nil, nil, nil, nil
	out := &amqp.Message{
		Header: &amqp.MessageHeader{Durable: true, Priority: 4}, Properties: &p, ApplicationProperties: propertiesOf(headers),
		Data: m.Data, Value: m.Value, Sequence: m.Sequence,
	}
	if _, there := out.ApplicationProperties[messageIDHeader]; !there && id != "" {
		out.ApplicationProperties[messageIDHeader] = id
	}
	if m.Header != nil {
		out.Header.Priority = m.Header.Priority
	}
	for name, value := range m.Annotations {
		key, isText := name.(string)
		if isText && !strings.HasPrefix(key, "x-opt-delivery-") && key != "x-opt-jms-dest" {
			if out.Annotations == nil {
				out.Annotations = amqp.Annotations{}
			}
			out.Annotations[name] = value
		}
	}
	return out
}

// attemptsOf is how many attempts were made on a message before.
func attemptsOf(m *amqp.Message) int {
	n, err := strconv.ParseUint(text(m, RetryAttempts), 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}
