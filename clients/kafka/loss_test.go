package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/kafka"
)

// Where losses are acceptable the offset is committed while the work is under way,
// and work that fails is not done again.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	committed := ""
	var release chan struct{}
	w := consume(t, any1(), kafka.ConsumerOptions{LossAcceptable: "presence"}, func(context.Context, *kafka.Delivery) error {
		<-release
		return errors.New("busy")
	}, func(w *bench) {
		release = make(chan struct{})
		w.b.deliver(0, order(1, 0))
		time.Sleep(time.Second)
		committed = w.b.committed()
		close(release)
		time.Sleep(time.Minute)
	})
	if committed != "orders/0:1" {
		t.Errorf("committed %q before the work was done", committed)
	}
	if list := w.settled(); len(list) != 1 || list[0].Action != kafka.Lost || list[0].Attempts != 1 {
		t.Errorf("%+v", list)
	}
}
