package rabbitmq

import (
	"context"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// ProducerOptions shape a producer. Zero fields mean the defaults.
type ProducerOptions struct {
	// Window is how many messages may wait for their confirm at once, 256.
	Window int
	// LossAcceptable says why messages of this producer may be lost, as "presence,
	// the next one comes in a second"; it is logged at the start. Then publishing asks
	// for no confirm and waits for none, a message is not kept on disk unless it says
	// so, and Publish answers nil when it is on its way. They are validated and stamped
	// all the same.
	LossAcceptable string
}

// Producer publishes validated messages. It is safe for use by many goroutines.
type Producer struct {
	validator *validate.Validator
	pin       validate.Pin
	mode      uint8 // of delivery, where a message says none
	out       publisher
}

// publisher hands messages to the broker.
type publisher interface {
	publish(ctx context.Context, exchange, key string, msg amqp.Publishing) error
	close(ctx context.Context) error
}

// NewProducer makes a producer that writes with the schema that pin names.
// It opens its channel when the first message comes; Close gives it back.
func NewProducer(open Open, v *validate.Validator, pin validate.Pin, o ProducerOptions) *Producer {
	if o.Window <= 0 {
		o.Window = 256
	}
	if o.LossAcceptable != "" {
		v.Logger().Warn("messages may be lost: they are published without confirms", "reason", o.LossAcceptable)
		return &Producer{validator: v, pin: pin, mode: amqp.Transient, out: newUnconfirmed(open)}
	}
	return &Producer{validator: v, pin: pin, mode: amqp.Persistent, out: newConfirmer(open, o.Window)}
}

// Publish validates, stamps and publishes a message. It answers nil when the
// broker has confirmed the message and a queue has taken it; otherwise nothing,
// or nothing known, is there.
//
// msg is sent persistent unless it says otherwise. Its Type is the full name of
// the record or message that the body is, where that is needed (a Protobuf file
// with several messages, subjects by type). Its MessageId is kept, and made when
// empty. A connection that is lost on the way is made again and the message sent
// again with the same id, for as long as ctx lasts.
//
// Errors: *validate.Error when the message was not let through; *Error for what
// became of it at the broker.
func (p *Producer) Publish(ctx context.Context, exchange, key string, msg amqp.Publishing) error {
	body := msg.Body
	if body == nil {
		body = []byte{}
	}
	m := validate.Message{
		Destination: destination(exchange, key), RoutingKey: key, Headers: headersOf(msg.Headers),
		ContentType: msg.ContentType, Payload: body, Type: msg.Type, MessageID: msg.MessageId,
	}
	if err := p.validator.BeforePublish(ctx, &m, &p.pin); err != nil {
		return err
	}
	msg.Headers, msg.Body, msg.MessageId = tableOf(m.Headers), m.Payload, m.MessageID
	if msg.DeliveryMode == 0 {
		msg.DeliveryMode = p.mode
	}
	return p.out.publish(ctx, exchange, key, msg)
}

// Forward publishes a message that was validated and stamped before, by an outbox
// for one, and answers as Publish does. It validates nothing: the schema may have
// been retired since, and the message was made all the same. m.Destination and
// m.RoutingKey are not looked at.
//
// Errors: *validate.Error with HeaderMissing for a message that was not stamped;
// *Error for what became of it at the broker.
func (p *Producer) Forward(ctx context.Context, exchange, key string, m *validate.Message) error {
	if err := m.CheckStamped(); err != nil {
		return err
	}
	body := m.Payload
	if body == nil {
		body = []byte{} // AMQP has no tombstone
	}
	return p.out.publish(ctx, exchange, key, amqp.Publishing{
		Headers: tableOf(m.Headers), ContentType: m.ContentType, MessageId: m.MessageID, Body: body, DeliveryMode: p.mode,
	})
}

// Close takes no more messages and waits, as long as ctx lasts, for those on
// their way.
func (p *Producer) Close(ctx context.Context) error { return p.out.close(ctx) }
