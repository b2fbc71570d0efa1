package amqp10

import (
	"context"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// ProducerOptions shape a producer. Zero fields mean the defaults.
type ProducerOptions struct {
	// Window is how many messages may wait for their outcome at once, 256.
	Window int
	// Type is the full name of the record or message that the bodies are, where that
	// is needed (a Protobuf file with several messages, subjects by type).
	Type string
	// MessageIDProperty sets the message-id property to what the application property
	// messageId says. It is off because of ActiveMQ, which cannot read a foreign id
	// back: it ends the connection of a STOMP consumer that acknowledges such a
	// message, again and again. A broker without STOMP, or RabbitMQ, has no such
	// trouble.
	MessageIDProperty bool
	// LossAcceptable says why messages of this producer may be lost, as "presence,
	// the next one comes in a second"; it is logged at the start. Then they are sent
	// settled, are not durable unless they say so, and Publish answers nil when they
	// are on their way. They are validated and stamped all the same.
	LossAcceptable string
}

// Producer publishes validated messages. It is safe for use by many goroutines.
type Producer struct {
	validator *validate.Validator
	pin       validate.Pin
	o         ProducerOptions
	publisher *publisher
}

// NewProducer makes a producer that writes with the schema that pin names. It
// connects when the first message comes; Close ends the connection.
func NewProducer(open Open, v *validate.Validator, pin validate.Pin, o ProducerOptions) *Producer {
	if o.Window <= 0 {
		o.Window = 256
	}
	out := newPublisher(open, o.Window)
	if o.LossAcceptable != "" {
		v.Logger().Warn("messages may be lost: they are sent settled", "reason", o.LossAcceptable)
		out.mayLose = true
	}
	return &Producer{validator: v, pin: pin, o: o, publisher: out}
}

// Publish validates, stamps and publishes a message. It answers nil when the
// broker has accepted it; otherwise nothing, or nothing known, is there. What
// ActiveMQ accepts for a topic that nobody subscribes to is gone all the same.
//
// m is not changed. Its payload is its data sections, or a value that is text or
// bytes. It is sent durable. Its id is its application property messageId, else
// its message-id, else a new one, and is sent as messageId. One with the property
// messageKey, or a group id, has both afterwards, so that a broker gives one key to
// one consumer. A connection that is lost on the way is made again and the message
// sent again with the same id, for as long as ctx lasts.
//
// Errors: *validate.Error when the message was not let through; *Error for what
// became of it at the broker.
func (p *Producer) Publish(ctx context.Context, address string, m *amqp.Message) error {
	is := *properties(m)
	payload, err := body(m)
	if err != nil {
		return &Error{Fate: Refused, Address: address, MessageID: idText(is.MessageID), Err: err}
	}
	id := idText(is.MessageID)
	if text(m, messageIDHeader) != "" {
		id = ""
	}
	judged := validate.Message{
		Destination: validate.DestinationName(address), RoutingKey: deref(is.Subject), Headers: headersOf(m.ApplicationProperties),
		ContentType: deref(is.ContentType), Payload: payload, Type: p.o.Type, MessageID: id,
	}
	key := keyOf(m)
	if key != "" && text(m, messageKeyHeader) == "" {
		judged.Headers = append(judged.Headers, validate.Header{Name: messageKeyHeader, Value: key})
	}
	if err := p.validator.BeforePublish(ctx, &judged, &p.pin); err != nil {
		return err
	}
	is.MessageID = nil
	if p.o.MessageIDProperty {
		is.MessageID = judged.MessageID
	}
	if key != "" && is.GroupID == nil {
		is.GroupID = &key
	}
	sent := *m
	sent.Properties, sent.ApplicationProperties = &is, propertiesOf(judged.Headers)
	if _, isText := m.Value.(string); !isText || string(judged.Payload) != string(payload) {
		sent.Data, sent.Value = [][]byte{judged.Payload}, nil
	}
	head := amqp.MessageHeader{Priority: 4}
	if m.Header != nil {
		head = *m.Header
	}
	head.Durable = head.Durable || !p.publisher.mayLose
	sent.Header = &head
	if err := simple(sent.ApplicationProperties); err != nil {
		return &Error{Fate: Refused, Address: address, MessageID: judged.MessageID, Err: err}
	}
	return p.publisher.publish(ctx, address, &sent)
}

// Forward publishes a message that was validated and stamped before, by an outbox
// for one, and answers as Publish does. It validates nothing: the schema may have
// been retired since, and the message was made all the same. m.Destination is not
// looked at; m.RoutingKey is sent as the subject.
//
// Errors: *validate.Error with HeaderMissing for a message that was not stamped;
// *Error for what became of it at the broker.
func (p *Producer) Forward(ctx context.Context, address string, m *validate.Message) error {
	if err := m.CheckStamped(); err != nil {
		return err
	}
	payload := m.Payload
	if payload == nil {
		payload = []byte{} // AMQP 1.0 has no tombstone
	}
	sent := &amqp.Message{
		Header: &amqp.MessageHeader{Durable: !p.publisher.mayLose, Priority: 4}, Properties: &amqp.MessageProperties{},
		ApplicationProperties: propertiesOf(m.Headers), Data: [][]byte{payload},
	}
	if p.o.MessageIDProperty {
		sent.Properties.MessageID = m.MessageID
	}
	if m.ContentType != "" {
		sent.Properties.ContentType = &m.ContentType
	}
	if m.RoutingKey != "" {
		sent.Properties.Subject = &m.RoutingKey
	}
	if key := text(sent, messageKeyHeader); key != "" {
		sent.Properties.GroupID = &key
	}
	if err := simple(sent.ApplicationProperties); err != nil {
		return &Error{Fate: Refused, Address: address, MessageID: m.MessageID, Err: err}
	}
	return p.publisher.publish(ctx, address, sent)
}

// Close takes no more messages, waits, as long as ctx lasts, for those on their
// way, and ends the connection.
func (p *Producer) Close(ctx context.Context) error { return p.publisher.close(ctx) }
