package activemq_test

import (
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// TestForward sends on what was stamped, as it is, and nothing else.
func TestForward(t *testing.T) {
	t.Parallel()
	b := &fake{}
	m := &validate.Message{
		Destination: "not looked at", MessageID: "m-1", ContentType: "text/x", Payload: []byte("not looked at"),
		Headers: []validate.Header{{Name: "schemaGuid", Value: "x"}, {Name: "messageId", Value: "m-1"}, {Name: "messageKey", Value: "k"}, {Name: "number", Value: 7}},
	}
	produce(t, b, brokertest.NewShelf(orderV1), activemq.ProducerOptions{}, func(p *activemq.Producer) {
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
		bad := append([]validate.Header{{Name: "receipt", Value: "x"}}, m.Headers...)
		if err := p.Forward(ctx, "work", &validate.Message{MessageID: "m-1", Headers: bad}); fateOf(err) != activemq.Refused {
			t.Errorf("a header of the frame's: %v", err)
		}
	})
	got := b.published()
	if len(got) != 2 || string(got[0].Body) != "not looked at" || len(got[1].Body) != 0 {
		t.Fatalf("%v", got)
	}
	for name, want := range map[string]string{
		"destination": "/queue/work", "persistent": "true", "schemaGuid": "x", "messageId": "m-1", "messageKey": "k", "JMSXGroupID": "k", "number": "7", "content-type": "text/x",
	} {
		if text := got[0].Header.Get(name); text != want {
			t.Errorf("%s is %q, want %q", name, text, want)
		}
	}
}
