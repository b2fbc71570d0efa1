package kafka

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	messageIDHeader   = "messageId"
	messageKeyHeader  = "messageKey"
	contentTypeHeader = "content-type"
)

// headersOf gives a record's headers as a validator sees them: order and
// duplicates kept, a null value as no value.
func headersOf(list []kgo.RecordHeader) []validate.Header {
	out := make([]validate.Header, 0, len(list)+8)
	for _, h := range list {
		one := validate.Header{Name: h.Key}
		if h.Value != nil {
			one.Value = h.Value
		}
		out = append(out, one)
	}
	return out
}

// recordHeaders gives headers as Kafka has them: bytes.
func recordHeaders(list []validate.Header) []kgo.RecordHeader {
	out := make([]kgo.RecordHeader, 0, len(list))
	for _, h := range list {
		one := kgo.RecordHeader{Key: h.Name}
		switch v := h.Value.(type) {
		case nil:
		case []byte:
			one.Value = v
		case string:
			one.Value = []byte(v)
		default:
			one.Value = fmt.Append(nil, v)
		}
		out = append(out, one)
	}
	return out
}

// text is the value of the first header of a name, "" when there is none.
func text(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name && h.Value != nil {
			return string(h.Value)
		}
	}
	return ""
}

// valueOf and keyOf are a record's two halves as a validator sees them. A null
// value is a tombstone; so is a missing key, which nobody validates.
func valueOf(r *kgo.Record) validate.Message {
	return validate.Message{
		Destination: r.Topic, Headers: headersOf(r.Headers), ContentType: text(r, contentTypeHeader),
		Payload: r.Value, MessageID: text(r, messageIDHeader),
	}
}

func keyOf(r *kgo.Record, headers []validate.Header) validate.Message {
	return validate.Message{Destination: r.Topic, Headers: headers, Payload: r.Key, IsKey: true, MessageID: text(r, messageIDHeader)}
}
