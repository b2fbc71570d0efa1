package rabbitmq_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestForward sends on what was stamped, as it is, and nothing else.
func TestForward(t *testing.T) {
	t.Parallel()
	b := newBroker()
	m := &validate.Message{
		MessageID: "m-1", ContentType: "application/json", Payload: []byte("not looked at"),
		Headers: []validate.Header{{Name: "schemaVersion", Value: "9"}, {Name: "messageId", Value: "m-1"}, {Name: "raw", Value: []byte{1}}},
	}
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		if err := p.Forward(ctx, "orders", "order.placed", m); err != nil {
			t.Fatal(err)
		}
		var e *validate.Error
		if err := p.Forward(ctx, "orders", "k", &validate.Message{MessageID: "m-2"}); !errors.As(err, &e) || e.Reason != validate.HeaderMissing {
			t.Errorf("a message without stamps: %v", err)
		}
	})
	want := []published{{"orders", "order.placed", amqp.Publishing{
		ContentType: "application/json", DeliveryMode: amqp.Persistent, MessageId: "m-1", Body: []byte("not looked at"),
		Headers: amqp.Table{"schemaVersion": "9", "messageId": "m-1", "raw": []byte{1}},
	}}}
	if d := cmp.Diff(want, b.published(), cmp.AllowUnexported(published{})); d != "" {
		t.Error(d)
	}
}
