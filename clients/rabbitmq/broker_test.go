package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
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

func TestRealTwoVersions(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]amqp.Table{"classic": nil, "quorum": {"x-queue-type": "quorum"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			twoVersions(t, connectWith(t, args))
		})
	}
}

func twoVersions(t *testing.T, r *real) {
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	r.registry.Register("orders-value", schemas.JSON, orderV2)
	var mu sync.Mutex
	versions := map[schemas.Version]int{}
	ids := map[string]int{}
	stop := r.consumer(&validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		versions[d.Version]++
		ids[d.Message.MessageId]++
		for name, want := range map[string]any{"schemaVersion": d.Version.String(), "schemaSubject": "orders-value", "schemaGuid": d.GUID.String(), "schemaType": "JSON", "messageId": d.Message.MessageId, "schemaId": d.ID.String()} {
			if d.Message.Headers[name] != want {
				t.Errorf("%s is %#v, want %#v", name, d.Message.Headers[name], want)
			}
		}
		return nil
	}, rabbitmq.ConsumerOptions{Workers: 4, Prefetch: 50})
	v1, v2 := r.producer(validate.Version(orders, 1)), r.producer(validate.Version(orders, 2))
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			p := v1
			if n%2 == 1 {
				p = v2
			}
			if err := p.Publish(ctx, r.exchange, "order.placed", amqp.Publishing{Body: fmt.Appendf(nil, `{"id":%d}`, n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	brokertest.Await(t, "1,000 messages handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ids) == 1000
	})
	stop()
	if versions[1] != 500 || versions[2] != 500 || len(ids) != 1000 {
		t.Errorf("versions %v, %d ids", versions, len(ids))
	}
	if left, dead := r.depth(r.queue), r.depth(r.dead); left != 0 || dead != 0 {
		t.Errorf("%d left, %d set aside", left, dead)
	}
}

func TestRealFormats(t *testing.T) {
	t.Parallel()
	r := connect(t)
	for _, tt := range []struct {
		subject, text, kind string
		t                   schemas.Type
		body                []byte
	}{
		{"users-value", `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"}]}`, "", schemas.Avro, []byte{2}},
		{"orders-value", orderV1, "", schemas.JSON, []byte(`{"id":1}`)},
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{10, 1, 'x'}},
	} {
		f := r.registry.Register(tt.subject, tt.t, tt.text)
		p := r.producer(validate.Latest(validate.Fixed(tt.subject), 0))
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{Type: tt.kind, Body: tt.body}); err != nil {
			t.Fatalf("%s: %v", tt.t, err)
		}
		got := make(chan *rabbitmq.Delivery, 1)
		stop := r.consumer(&validate.Expect{Value: true}, func(_ context.Context, d *rabbitmq.Delivery) error {
			got <- d
			return nil
		}, rabbitmq.ConsumerOptions{})
		d := <-got
		stop()
		if d.Type != tt.t || d.GUID != f.GUID || d.ID != f.ID || d.Value == nil || d.Outcome.Message != tt.kind || string(d.Payload) != string(tt.body) {
			t.Errorf("%s: %+v", tt.t, d.Outcome)
		}
	}
}

func TestRealUnroutable(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	if err := r.ch.QueueUnbind(r.queue, "#", r.exchange, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.ch.QueueBind(r.queue, "here.#", r.exchange, false, nil); err != nil {
		t.Fatal(err)
	}
	p := r.producer(validate.Version(orders, 1))
	var wg sync.WaitGroup
	for n := range 3000 {
		wg.Go(func() {
			key, want := "here.x", rabbitmq.Fate(0)
			if n%3 == 0 {
				key, want = "elsewhere", rabbitmq.Unroutable
			}
			err := p.Publish(ctx, r.exchange, key, amqp.Publishing{Body: []byte(`{"id":1}`)})
			var e *rabbitmq.Error
			if errors.As(err, &e); (e == nil && (want != 0 || err != nil)) || (e != nil && e.Fate != want) {
				t.Errorf("message %d to %s: %v", n, key, err)
			}
		})
	}
	wg.Wait()
	if n := r.depth(r.queue); n != 2000 {
		t.Errorf("%d messages in the queue, want 2,000", n)
	}
	err := p.Publish(ctx, "no-such-exchange", "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
	var e *rabbitmq.Error
	if !errors.As(err, &e) || e.Fate != rabbitmq.Refused || !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("an exchange that does not exist: %v", err)
	}
	if err := p.Publish(ctx, r.exchange, "here.again", amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// What headerSize calls one frame is one: at the bound the broker takes it and
// the connection lives.
func TestRealHeaderBound(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	publish := func(size int) error {
		return p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: "m", Headers: amqp.Table{"pad": strings.Repeat("x", size)}, Body: []byte(`{"id":1}`)})
	}
	low, high := 130_000, 131_100
	for low+1 < high {
		mid := (low + high) / 2
		var e *rabbitmq.Error
		switch err := publish(mid); {
		case err == nil:
			low = mid
		case errors.As(err, &e) && e.Fate == rabbitmq.TooLarge:
			high = mid
		default:
			t.Fatalf("a header of %d bytes: %v", mid, err)
		}
	}
	t.Logf("a header of %d bytes is the longest beside the stamps", low)
}

// The connection dies under both sides, again and again: nothing is lost, and
// what comes twice has its id.
func TestRealConnectionLost(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	ids := map[string]int{}
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		ids[d.Message.MessageId]++
		return nil
	}, rabbitmq.ConsumerOptions{})
	p := r.producer(validate.Version(orders, 1))
	if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: "first", Body: []byte(`{"id":1}`)}); err != nil {
		t.Fatal(err)
	}
	brokertest.Await(t, "it begins", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ids) == 1
	})
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range 5 {
			tick := time.NewTimer(200 * time.Millisecond)
			<-tick.C
			for _, c := range []*rabbitmq.Connector{r.in, r.out} {
				if conn := c.Connection(); conn != nil {
					_ = conn.CloseDeadline(time.Now()) // no handshake: as if the line was cut
				}
			}
		}
	}()
	n := 0
	for done := false; !done; n++ {
		select {
		case <-killed:
			done = true
		default:
		}
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: fmt.Sprint(n), Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	brokertest.Await(t, "every id handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ids) == n+1
	})
	stop()
	twice := 0
	for _, times := range ids {
		if times > 1 {
			twice++
		}
	}
	t.Logf("%d messages over 5 lost connections, %d came twice", n, twice)
	if dead := r.depth(r.dead); dead != 0 {
		t.Errorf("%d set aside", dead)
	}
}

func TestRealRetryQueue(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	var order []string
	var first, again time.Time
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, d.Message.MessageId)
		if d.Message.MessageId == "slow" && d.Attempt == 1 {
			first = time.Now()
			return errors.New("busy")
		}
		if d.Message.MessageId == "slow" {
			again = time.Now()
			if d.Attempt != 2 {
				t.Errorf("attempt %d", d.Attempt)
			}
		}
		return nil
	}, rabbitmq.ConsumerOptions{RetryQueues: true, Retry: retry.Policy{Base: 2 * time.Second, Attempts: 2}})
	t.Cleanup(func() { _, _ = r.ch.QueueDelete(r.queue+".retry.2000", false, false, false) })
	p := r.producer(validate.Version(orders, 1))
	for _, id := range []string{"slow", "next"} {
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: id, Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	brokertest.Await(t, "the slow one comes again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(order) == 3
	})
	stop()
	if got := strings.Join(order, " "); got != "slow next slow" {
		t.Errorf("order %s: the next message waited", got)
	}
	if waited := again.Sub(first); waited < 1400*time.Millisecond || waited > 10*time.Second {
		t.Errorf("it came after %v, want 1.5 to 2 s", waited)
	}
}

func TestRealMissingDestinations(t *testing.T) {
	t.Parallel()
	r := connect(t)
	for _, o := range []rabbitmq.ConsumerOptions{
		{Queue: "no-such-queue", DeadLetter: rabbitmq.Destination{Key: r.dead}},
		{Queue: r.queue, DeadLetter: rabbitmq.Destination{Key: "no-such-queue"}},
		{Queue: r.queue, DeadLetter: rabbitmq.Destination{Exchange: "no-such-exchange"}},
	} {
		c, err := rabbitmq.NewConsumer(r.in.Open, r.v, any1(), func(context.Context, *rabbitmq.Delivery) error { return nil }, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), "no-such") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	c, err := rabbitmq.NewConsumer(r.in.Open, r.v, any1(), func(context.Context, *rabbitmq.Delivery) error { return nil }, rabbitmq.ConsumerOptions{Queue: r.queue, DeadLetter: rabbitmq.Destination{Exchange: r.exchange, Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	// A topic exchange as the dead letter is none that is missing.
	stop := brokertest.Run(t, c.Run)
	brokertest.Await(t, "it consumes", func() bool {
		q, err := r.channel().QueueDeclarePassive(r.queue, true, false, false, false, nil)
		return err == nil && q.Consumers == 1
	})
	stop()
}
