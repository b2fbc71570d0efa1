package amqp10_test

import (
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestForward sends on what was stamped, as it is, and nothing else.
func TestForward(t *testing.T) {
	t.Parallel()
	b := &fake{}
	m := &validate.Message{
		Destination: "not looked at", RoutingKey: "order.placed", MessageID: "m-1", ContentType: "text/x", Payload: []byte("not looked at"),
		Headers: []validate.Header{{Name: "schemaGuid", Value: "x"}, {Name: "messageId", Value: "m-1"}, {Name: "messageKey", Value: "k"}, {Name: "number", Value: int64(7)}},
	}
	produce(t, b, amqp10.ProducerOptions{MessageIDProperty: true}, func(p *amqp10.Producer) {
		if err := p.Forward(ctx, "work", m); err != nil {
			t.Fatal(err)
		}
		if err := p.Forward(ctx, "work", &validate.Message{MessageID: "m-1", Headers: m.Headers}); err != nil {
			t.Fatal(err)
		}
		var e *validate.Error
		if err := p.Forward(ctx, "work", &validate.Message{MessageID: "m-2", Headers: m.Headers}); !errors.As(err, &e) || e.Reason != validate.HeaderMissing {
			t.Errorf("a message with another id: %v", err)
		}
		var refused *amqp10.Error
		bad := append([]validate.Header{{Name: "list", Value: []string{"x"}}}, m.Headers...)
		if err := p.Forward(ctx, "work", &validate.Message{MessageID: "m-1", Headers: bad}); !errors.As(err, &refused) || refused.Fate != amqp10.Refused {
			t.Errorf("a list as a header: %v", err)
		}
	})
	got := b.published()
	if len(got) != 2 || string(got[0].GetData()) != "not looked at" || len(got[1].GetData()) != 0 {
		t.Fatalf("%v", got)
	}
	p := got[0].Properties
	if prop(got[0], "schemaGuid") != "x" || prop(got[0], "messageId") != "m-1" || got[0].ApplicationProperties["number"] != int64(7) ||
		*p.GroupID != "k" || *p.ContentType != "text/x" || *p.Subject != "order.placed" || p.MessageID != "m-1" || !got[0].Header.Durable {
		t.Errorf("%+v %+v", got[0].ApplicationProperties, p)
	}
}
