package activemq_test

import (
	"context"
	"errors"
	"strings"
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

// A consumer acknowledges before the work, which is done once.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	before := ""
	var b *fake
	w := consume(t, activemq.ConsumerOptions{LossAcceptable: "presence"}, func(context.Context, *activemq.Delivery) error {
		before = strings.Join(b.settled(), ", ")
		return errors.New("busy")
	}, func(w *bench) {
		b = w.b
		w.b.put("m-1", good)
	})
	if got := w.actions(); before != "ACK m-1" || got != "m-1 lost" {
		t.Errorf("settled %q before the work, told %s", before, got)
	}
}
