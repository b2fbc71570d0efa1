package kafka_test

import (
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestForward sends on what was stamped, as it is, and nothing else.
func TestForward(t *testing.T) {
	t.Parallel()
	b := newBroker()
	p := produce(t, b, newShelf(), validate.Version(orders, 2), kafka.ProducerOptions{})
	m := &validate.Message{
		Destination: "orders", MessageID: "m-1", Payload: []byte("not looked at"),
		Headers: []validate.Header{{Name: "schemaGuid", Value: "x"}, {Name: "messageId", Value: "m-1"}, {Name: "raw", Value: []byte{0, 1}}},
	}
	if err := p.Forward(ctx, []byte("k"), m); err != nil {
		t.Fatal(err)
	}
	if err := p.Forward(ctx, nil, &validate.Message{Destination: "orders", MessageID: "m-1", Headers: m.Headers}); err != nil {
		t.Fatal(err)
	}
	got := b.published()
	if len(got) != 2 || got[0].Topic != "orders" || string(got[0].Key) != "k" || string(got[0].Value) != "not looked at" || len(got[0].Headers) != 3 || string(got[0].Headers[2].Value) != "\x00\x01" || got[1].Key != nil || got[1].Value != nil {
		t.Errorf("%+v", got)
	}
	var e *validate.Error
	if err := p.Forward(ctx, nil, &validate.Message{Destination: "orders", MessageID: "m-2", Headers: m.Headers}); !errors.As(err, &e) || e.Reason != validate.HeaderMissing {
		t.Errorf("a message with another id: %v", err)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.Forward(ctx, nil, m); !errors.Is(err, kafka.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
