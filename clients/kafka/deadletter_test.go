package kafka_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/kafka"
)

func TestDeadLetterThatCannotBePublished(t *testing.T) {
	t.Parallel()
	bad := order(1, 1)
	bad.Value = []byte(`{`)
	for name, answer := range map[string]error{"unroutable": kerr.UnknownTopicOrPartition, "silence": errSilence, "away": errUnheard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consume(t, any1(), kafka.ConsumerOptions{}, nil, func(w *bench) {
				w.b.set(func() { w.b.answer = func(int, *kgo.Record) error { return answer } })
				w.b.deliver(0, bad)
				w.b.deliver(1, order(1, 2))
				time.Sleep(time.Hour)
				if got := w.b.committed(); got != "orders/1:1" || w.ids() != "m-2" {
					t.Errorf("it is held, and never committed; others go on: committed %s, handled %s", got, w.ids())
				}
				w.b.set(func() { w.b.answer = func(int, *kgo.Record) error { return nil } })
				time.Sleep(time.Minute)
			})
			if got := w.b.committed(); got != "orders/0:1" {
				t.Errorf("committed %s", got)
			}
		})
	}
}

// A message as large as its topic allows has no room for reasons: they are cut
// until it has.
func TestLargeDeadLetterIsCut(t *testing.T) {
	t.Parallel()
	sizes := []int{}
	w := consume(t, any1(), kafka.ConsumerOptions{SpringHeaders: true}, func(context.Context, *kafka.Delivery) error {
		return kafka.Reject(errors.New(strings.Repeat("é", 1<<20)))
	}, func(w *bench) {
		w.b.set(func() {
			w.b.answer = func(n int, r *kgo.Record) error {
				size := 0
				for _, h := range r.Headers {
					size += len(h.Key) + len(h.Value)
				}
				sizes = append(sizes, size)
				if n < 2 {
					return kerr.MessageTooLarge
				}
				return nil
			}
		})
		w.b.deliver(0, order(1, 1))
		time.Sleep(time.Second)
	})
	if len(sizes) != 3 || sizes[0] > 40<<10 || sizes[1] > 8<<10 || sizes[2] > 1<<10 || get(w.b.published()[2], "dlqReason") != "handler_rejected" {
		t.Errorf("headers of %d bytes", sizes)
	}
	if w.b.committed() != "orders/0:1" {
		t.Errorf("committed %s", w.b.committed())
	}
}
