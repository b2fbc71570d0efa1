package activemq_test

import (
	"errors"
	"testing"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Where losses are acceptable no receipt is asked for and nothing is stored.
func TestProducerThatMayLose(t *testing.T) {
	t.Parallel()
	b, s := &fake{}, brokertest.NewShelf(orderV1)
	produce(t, b, s, activemq.ProducerOptions{LossAcceptable: "presence"}, func(p *activemq.Producer) {
		if err := p.Publish(ctx, "work", &activemq.Message{Body: []byte(`{"id":"x"}`)}); !errors.Is(err, validate.ErrPermanent) || b.connections() != 0 {
			t.Errorf("invalid: %v", err)
		}
		if err := publish(p, "m"); err != nil {
			t.Fatal(err)
		}
	})
	if h := b.published()[0].Header; h.Get("persistent") != "false" || h.Get(frame.Receipt) != "" || h.Get("schemaVersion") != "1" {
		t.Errorf("%v", h)
	}
}
