package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// ProducerOptions shape a producer. Zero fields mean the defaults.
type ProducerOptions struct {
	// Type is the full name of the record or message that the values are, where
	// that is needed (a Protobuf file with several messages, subjects by type).
	Type string
	// Key is the schema of the keys, when they have one; KeyType as Type. Otherwise
	// keys are sent as they are.
	Key     *validate.Pin
	KeyType string
	// StampConfluent adds the binary headers of Confluent's newer clients,
	// __value_schema_id and __key_schema_id.
	StampConfluent bool
	// FramePrefix puts Confluent's prefix before the payload, which older clients
	// look for. It excludes StampConfluent: a reader that honours the header would
	// leave the prefix in the data.
	FramePrefix bool
	// LossAcceptable says why messages of this producer may be lost, as "presence,
	// the next one comes in a second"; it is logged at the start. Then the client may
	// wait for fewer replicas than all, or for none (kgo.RequiredAcks with
	// kgo.NoAck), and Publish answers what such a client answers. They are validated
	// and stamped all the same.
	LossAcceptable string
}

// Producer publishes validated messages. It is safe for use by many goroutines.
type Producer struct {
	client    Publisher
	validator *validate.Validator
	pin       validate.Pin
	o         ProducerOptions

	reach reach

	mu     sync.Mutex
	closed bool
	busy   sync.WaitGroup
}

// NewProducer makes a producer that writes with the schema that pin names, over
// a client that stays the caller's.
//
// Errors: the options exclude each other; the client does not wait for all
// in-sync replicas, or is not idempotent.
func NewProducer(c Publisher, v *validate.Validator, pin validate.Pin, o ProducerOptions) (*Producer, error) {
	if o.StampConfluent && o.FramePrefix {
		return nil, errors.New("make a producer: StampConfluent and FramePrefix exclude each other: a reader that honours the header would leave the prefix in the data")
	}
	if o.LossAcceptable != "" {
		v.Logger().Warn("messages may be lost: their client need not wait for replicas", "reason", o.LossAcceptable)
	} else if err := confirms(c); err != nil {
		return nil, fmt.Errorf("make a producer: %w, or say in LossAcceptable why messages may be lost", err)
	}
	shape := func(p validate.Pin) validate.Pin {
		switch {
		case o.StampConfluent:
			return p.WithBinaryHeader()
		case o.FramePrefix:
			return p.WithPrefix()
		}
		return p
	}
	if o.Key != nil {
		key := shape(*o.Key)
		o.Key = &key
	}
	return &Producer{client: c, validator: v, pin: shape(pin), o: o}, nil
}

// Publish validates, stamps and publishes a record. It answers nil when all
// in-sync replicas have it; otherwise nothing, or nothing known, is there.
//
// r is not changed, but for Partition, Offset and Timestamp, which tell where it
// is. A nil value is a tombstone. The header messageId is kept, and made when
// there is none. franz-go sends again what was lost on the way, without writing
// it twice, for as long as ctx lasts.
//
// Errors: *validate.Error when the message was not let through; *Error for what
// became of it at the broker.
func (p *Producer) Publish(ctx context.Context, r *kgo.Record) error {
	m := valueOf(r)
	m.Type = p.o.Type
	sent := *r
	if p.o.Key != nil && r.Key != nil {
		k := keyOf(r, m.Headers)
		k.Type = p.o.KeyType
		if err := p.validator.BeforePublish(ctx, &k, p.o.Key); err != nil {
			return fmt.Errorf("the key: %w", err)
		}
		sent.Key, m.Headers, m.MessageID = k.Payload, k.Headers, k.MessageID
	}
	if err := p.validator.BeforePublish(ctx, &m, &p.pin); err != nil {
		return err
	}
	sent.Headers, sent.Value = recordHeaders(m.Headers), m.Payload
	if err := p.send(ctx, &sent, m.MessageID); err != nil {
		return err
	}
	r.Partition, r.Offset, r.Timestamp = sent.Partition, sent.Offset, sent.Timestamp
	return nil
}

// Forward publishes a message that was validated and stamped before, by an outbox
// for one, to m.Destination, and answers as Publish does. It validates nothing: the
// schema may have been retired since, and the message was made all the same. A nil
// key is no key.
//
// Errors: *validate.Error with HeaderMissing for a message that was not stamped;
// *Error for what became of it at the broker.
func (p *Producer) Forward(ctx context.Context, key []byte, m *validate.Message) error {
	if err := m.CheckStamped(); err != nil {
		return err
	}
	return p.send(ctx, &kgo.Record{Topic: m.Destination, Key: key, Value: m.Payload, Headers: recordHeaders(m.Headers)}, m.MessageID)
}

// send sends a record, unless the producer is closed.
func (p *Producer) send(ctx context.Context, r *kgo.Record, id string) error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return &Error{Fate: Unsent, Topic: r.Topic, MessageID: id, Err: ErrClosed}
	}
	p.busy.Add(1)
	p.mu.Unlock()
	defer p.busy.Done()
	end := p.reach.watch(ctx, p.client)
	return end(send(ctx, p.client, r, id))
}

// Close takes no more messages and waits, as long as ctx lasts, for those on
// their way. The client stays open.
func (p *Producer) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		p.busy.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close a producer with messages on their way: %w", ctx.Err())
	}
}
