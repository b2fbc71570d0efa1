package amqp10_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
)

// Where losses are acceptable a message is accepted before the work, which is done
// once.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	before, handled := "", 0
	var w *bench
	told := consume(t, amqp10.ConsumerOptions{LossAcceptable: "presence"}, func(context.Context, *amqp10.Delivery) error {
		before = w.settled()
		handled++
		return errors.New("busy")
	}, func(b *bench) {
		w = b
		b.b.put("m-1", good)
	})
	if got := told.actions(); before != "accept m-1" || got != "m-1 lost" || handled != 1 {
		t.Errorf("settled %q before the work, told %s, handled %d times", before, got, handled)
	}
}
