package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A key that fails waits alone, in its place, even when more keys fail than
// there are workers.
func TestOrderByKey(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{Keyed: true, Workers: 2, Prefetch: 20, Retry: retry.Policy{Base: 10 * time.Second}}, func(_ context.Context, d *rabbitmq.Delivery) error {
		if key, _ := d.Message.Headers["messageKey"].(string); strings.HasPrefix(key, "bad") && d.Attempt == 1 && d.Message.MessageId < "m-4" {
			return errors.New("busy")
		}
		return nil
	}, func(w *bench) {
		for n, key := range []string{"bad1", "bad2", "bad3", "bad1", "good", "bad2", "good", ""} {
			d := order(1, n)
			if key != "" {
				d.Headers["messageKey"] = key
			}
			w.b.deliver(d)
		}
		time.Sleep(5 * time.Second)
		if got := slices.Sorted(slices.Values(w.ids())); !slices.Equal(got, []string{"m-4", "m-6", "m-7"}) {
			t.Errorf("while three keys wait: %s", got)
		}
		time.Sleep(time.Minute)
	})
	got := w.ids()
	for _, pair := range [][2]string{{"m-0", "m-3"}, {"m-1", "m-5"}, {"m-4", "m-6"}} {
		if slices.Index(got, pair[0]) > slices.Index(got, pair[1]) {
			t.Errorf("%s after %s: %s", pair[0], pair[1], got)
		}
	}
	if settled := count(w.b.settled()); len(got) != 8 || settled != "ack 8 cancel 1" {
		t.Errorf("handled %s, settled %s", got, settled)
	}
}

// A key's next message is not begun when the consumer stops before the one
// before it was handled.
func TestOrderByKeyStops(t *testing.T) {
	t.Parallel()
	w := consume(t, any1(), rabbitmq.ConsumerOptions{Keyed: true, Workers: 2, Prefetch: 20}, func(context.Context, *rabbitmq.Delivery) error { return errors.New("busy") }, func(w *bench) {
		for n := range 3 {
			d := order(1, n)
			d.Headers["messageKey"] = "a"
			w.b.deliver(d)
		}
		time.Sleep(500 * time.Millisecond)
	})
	if e := w.settled(); len(e) != 1 || e[0].MessageID != "m-0" || e[0].Action != rabbitmq.GivenBack || strings.Join(w.b.settled(), " ") != "cancel close" {
		t.Errorf("%+v, settled %s", e, w.b.settled())
	}
}

func TestRetryQueuesAreExcluded(t *testing.T) {
	t.Parallel()
	v := brokertest.NewShelf(orderV1, orderV2).Validator()
	t.Cleanup(v.Close)
	for _, o := range []rabbitmq.ConsumerOptions{{Keyed: true}, {LossAcceptable: "presence"}} {
		o.Queue, o.DeadLetter, o.RetryQueues = "work", rabbitmq.Destination{Key: "dead"}, true
		if _, err := rabbitmq.NewConsumer(newBroker().open, v, any1(), nil, o); err == nil || !strings.Contains(err.Error(), "exclude") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Handlers fail at random: each key's messages are handled in order all the same,
// and keys do not wait for each other.
func TestRealOrderByKey(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	const n = 500
	for i := range n {
		r.put(amqp.Publishing{MessageId: fmt.Sprintf("m%04d", i), Headers: amqp.Table{"schemaVersion": "1", "messageKey": fmt.Sprint(i % 10)}, Body: []byte(`{"id":1}`)})
	}
	var mu sync.Mutex
	var handled []string
	attempts := 0
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		attempts++
		if d.Attempt == 1 && (d.Message.DeliveryTag*7919)%5 == 0 {
			return errors.New("busy")
		}
		handled = append(handled, d.Message.MessageId)
		return nil
	}, rabbitmq.ConsumerOptions{Keyed: true, Workers: 4, Prefetch: 100, Retry: retry.Policy{Base: 5 * time.Millisecond, Cap: 20 * time.Millisecond}})
	brokertest.Await(t, "all are handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(handled) == n
	})
	stop()
	last, overtaken := map[byte]string{}, 0
	for i, id := range handled {
		key := id[4] // the number's last digit is its key
		if id <= last[key] {
			t.Errorf("%s after %s of the same key", id, last[key])
		}
		last[key] = id
		if i > 0 && id < handled[i-1] {
			overtaken++
		}
	}
	if overtaken == 0 || r.depth(r.dead) != 0 {
		t.Errorf("%d times a key went on while another waited, %d set aside", overtaken, r.depth(r.dead))
	}
	t.Logf("%d messages of 10 keys, %d attempts: order per key kept, %d times another key went on", n, attempts, overtaken)
}
