package rabbitmq

import (
	"maps"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// headersOf turns a table into headers, in the order of their names.
func headersOf(t amqp.Table) []validate.Header {
	out := make([]validate.Header, 0, len(t)+8)
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, validate.Header{Name: name, Value: t[name]})
	}
	return out
}

// tableOf turns headers into a new table. The library would write an int as 32
// bits and lose the rest without a word.
func tableOf(headers []validate.Header) amqp.Table {
	t := make(amqp.Table, len(headers))
	for _, h := range headers {
		if n, ok := h.Value.(int); ok {
			t[h.Name] = int64(n)
			continue
		}
		t[h.Name] = h.Value
	}
	return t
}

// destination is where a message was sent: the exchange, or the queue when it
// went through the default exchange, which routes by queue name.
func destination(exchange, key string) string {
	if exchange == "" {
		return key
	}
	return exchange
}

// messageOf is a delivery as a validator sees it. A message that comes back
// from a retry queue or a dead letter keeps the routing key that it had first.
func messageOf(d *amqp.Delivery) validate.Message {
	key := d.RoutingKey
	if first, ok := d.Headers[validate.DLQOriginalRoutingKey].(string); ok && first != "" {
		key = first
	}
	body := d.Body
	if body == nil {
		body = []byte{} // AMQP has no tombstone: an empty body is a payload
	}
	return validate.Message{
		Destination: destination(d.Exchange, d.RoutingKey), RoutingKey: key,
		Headers: headersOf(d.Headers), ContentType: d.ContentType, Payload: body,
	}
}

// republish is a delivery as a message to send on, properties kept. The
// expiration is not: what is set aside must stay. Nor is the user id, which the
// broker accepts from that user alone.
func republish(d *amqp.Delivery, headers []validate.Header) amqp.Publishing {
	return amqp.Publishing{
		Headers: tableOf(headers), ContentType: d.ContentType, ContentEncoding: d.ContentEncoding,
		DeliveryMode: amqp.Persistent, Priority: d.Priority, CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo,
		MessageId: d.MessageId, Timestamp: d.Timestamp, Type: d.Type, AppId: d.AppId, Body: d.Body,
	}
}

// headerSize is the size of a message's content header: what must fit into one
// frame, else the broker closes the connection.
//
// Source: AMQP 0-9-1, 4.2.6.1 and 4.2.5.5.
func headerSize(m *amqp.Publishing) int {
	size := 2 + 2 + 8 + 2 // class, weight, body size, property flags
	for _, s := range []string{m.ContentType, m.ContentEncoding, m.CorrelationId, m.ReplyTo, m.Expiration, m.MessageId, m.Type, m.UserId, m.AppId} {
		if s != "" {
			size += 1 + len(s)
		}
	}
	size += 1 + 1 + 8 // delivery mode, priority, timestamp
	return size + tableSize(m.Headers)
}

func tableSize(t amqp.Table) int {
	size := 4
	for name, value := range t {
		size += 1 + len(name) + fieldSize(value)
	}
	return size
}

// fieldSize is a value with the byte that tells its type.
func fieldSize(value any) int {
	switch v := value.(type) {
	case nil:
		return 1
	case string:
		return 5 + len(v)
	case []byte:
		return 5 + len(v)
	case bool, int8, uint8:
		return 2
	case int16, uint16:
		return 3
	case amqp.Decimal:
		return 6
	case time.Time:
		return 9
	case amqp.Table:
		return 1 + tableSize(v)
	case []any:
		size := 5
		for _, one := range v {
			size += fieldSize(one)
		}
		return size
	}
	return 9
}
