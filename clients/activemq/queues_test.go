package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Two subscribers of a virtual topic have a queue each, and their own dead
// letters; the subject is the topic's.
func TestRealVirtualTopic(t *testing.T) {
	t.Parallel()
	r := connect(t)
	topic := "VirtualTopic." + r.queue
	r.registry.Register(topic+"-value", schemas.JSON, orderV1)
	byTopic := &validate.Expect{Subject: validate.ByDestination()}
	got := make(chan string, 10)
	one, two := "Consumer.one."+topic, "Consumer.two."+topic
	for _, queue := range []string{one, two} {
		r.consumer(byTopic, func(_ context.Context, d *activemq.Delivery) error {
			if queue == two {
				return activemq.Reject(errors.New("not mine"))
			}
			got <- d.Subject.String()
			return nil
		}, activemq.ConsumerOptions{Queue: queue})
	}
	p := r.producer(validate.Version(validate.ByDestination(), 1))
	// A topic keeps nothing for those who have not subscribed yet.
	brokertest.Await(t, "it comes to both", func() bool {
		if err := p.Publish(ctx, "/topic/"+topic, &activemq.Message{Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
		return len(got) > 0 && r.depth("DLQ."+two) > 0
	})
	if s := brokertest.Next(t, got); s != topic+"-value" {
		t.Errorf("subject %s", s)
	}
	d := r.look("DLQ." + two)[0]
	if d.Header.Get("dlqOriginalDestination") != topic || d.Header.Get("dlqOriginalQueue") != two || r.depth("DLQ."+one) != 0 {
		t.Errorf("%v", d.Header)
	}
}

// A selector on the version leaves other versions in the queue.
func TestRealSelector(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	r.registry.Register("orders-value", schemas.JSON, orderV2)
	for version := schemas.Version(1); version <= 2; version++ {
		if err := r.producer(validate.Version(orders, version)).Publish(ctx, r.queue, &activemq.Message{Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	got := make(chan schemas.Version, 2)
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		got <- d.Version
		return nil
	}, activemq.ConsumerOptions{Selector: "schemaVersion IN ('2')"})
	if v := brokertest.Next(t, got); v != 2 {
		t.Errorf("version %s", v)
	}
	stop()
	if left := r.look(r.queue); len(left) != 1 || left[0].Header.Get("schemaVersion") != "1" {
		t.Errorf("left: %v", left)
	}
}

// Handlers fail at random: each key's messages are handled in order all the same,
// and keys do not wait for each other (C12).
func TestRealOrderByKey(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	const n = 500
	p := r.producer(validate.Version(orders, 1))
	for i := range n {
		if err := p.Publish(ctx, r.queue, &activemq.Message{MessageID: fmt.Sprintf("m%04d", i), Key: fmt.Sprintf("k%d", i%10), Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	var handled, tried brokertest.Tally
	var stops []func()
	for range 2 { // two consumers share the keys
		stops = append(stops, r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
			id := d.Message.Key + "/" + d.Message.MessageID
			tried.Add(id)
			number := 0
			_, _ = fmt.Sscanf(d.Message.MessageID, "m%d", &number)
			if d.Attempt == 1 && number*7919%5 == 0 {
				return errors.New("busy")
			}
			handled.Add(id)
			return nil
		}, activemq.ConsumerOptions{Keyed: true, Workers: 4, Prefetch: 40, Retry: retry.Policy{Base: 5 * time.Millisecond, Cap: 20 * time.Millisecond}}))
	}
	brokertest.Await(t, "all are handled", func() bool { return handled.IDs() == n })
	for _, stop := range stops {
		stop()
	}
	brokertest.OrderPerKey(t, handled.Order())
	overtaken := 0
	for i := 1; i < len(handled.Order()); i++ {
		if handled.Order()[i][3:] < handled.Order()[i-1][3:] {
			overtaken++
		}
	}
	if dead := r.depth(r.dead); dead != 0 || handled.All() != n || overtaken == 0 {
		t.Errorf("%d handled, %d set aside, %d times a key went on while another waited", handled.All(), dead, overtaken)
	}
	t.Logf("%d messages of 10 keys, %d attempts: order per key kept, %d times another key went on", n, tried.All(), overtaken)
}

// The start-up probe refuses a broker that does not know of delays.
func TestRealNoScheduler(t *testing.T) {
	t.Parallel()
	r := connect(t)
	open := func(ctx context.Context) (activemq.Conn, error) {
		c, err := r.open(ctx)
		return &forgetful{c}, err
	}
	// A busy machine may take as long over a message as one that waits would: then the
	// broker seems to know of delays.
	brokertest.Await(t, "a broker without a scheduler is refused", func() bool {
		brief, leave := context.WithTimeout(ctx, 5*time.Second)
		defer leave()
		c, err := activemq.NewConsumer(open, r.v, &validate.Expect{}, nil, activemq.ConsumerOptions{Queue: r.queue, ScheduledRetries: true})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Run(brief)
		if err != nil && !strings.Contains(err.Error(), "schedulerSupport") {
			t.Fatalf("Run: %v", err)
		}
		return err != nil
	})
}

// forgetful drops the header that asks for a delay, as a broker without a
// scheduler does.
type forgetful struct{ activemq.Conn }

func (c *forgetful) Write(f *frame.Frame) error {
	if f != nil {
		f.Header.Del("AMQ_SCHEDULED_DELAY")
	}
	return c.Conn.Write(f)
}
