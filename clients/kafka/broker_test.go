package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var byOrders = validate.Fixed("orders-value")

// Names and values of headers arrive as they were sent, of both versions, and
// every message is handled once (H8).
func TestRealTwoVersions(t *testing.T) {
	t.Parallel()
	r := connect(t, 4)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	r.registry.Register("orders-value", schemas.JSON, orderV2)
	var handled brokertest.Tally
	var mu sync.Mutex
	versions := map[schemas.Version]int{}
	stop := r.consumer(&validate.Expect{Subject: byOrders, Reads: validate.MustReads("1..2")}, func(_ context.Context, d *kafka.Delivery) error {
		mu.Lock()
		versions[d.Version]++
		mu.Unlock()
		id := get(d.Message, "messageId")
		for i, want := range [][2]string{{"first", "ü"}, {"twice", "1"}, {"twice", "2"}, {"empty", ""}} {
			if h := d.Message.Headers[i]; h.Key != want[0] || string(h.Value) != want[1] || h.Value == nil {
				t.Errorf("header %d is %q=%q, want %q", i, h.Key, h.Value, want)
			}
		}
		if h := d.Message.Headers[4]; h.Key != "null" || h.Value != nil {
			t.Errorf("a null header is %q=%q", h.Key, h.Value)
		}
		for name, want := range map[string]string{"schemaVersion": d.Version.String(), "schemaSubject": "orders-value", "schemaGuid": d.GUID.String(), "schemaType": "JSON", "schemaId": d.ID.String()} {
			if got := get(d.Message, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		handled.Add(id)
		return nil
	}, kafka.ConsumerOptions{})
	v1, v2 := r.producer(validate.Version(byOrders, 1), kafka.ProducerOptions{}), r.producer(validate.Version(byOrders, 2), kafka.ProducerOptions{})
	headers := []kgo.RecordHeader{header("first", "ü"), header("twice", "1"), header("twice", "2"), {Key: "empty", Value: []byte{}}, {Key: "null"}}
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			p := v1
			if n%2 == 1 {
				p = v2
			}
			if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Headers: headers, Value: fmt.Appendf(nil, `{"id":%d}`, n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	brokertest.Await(t, "1,000 messages handled", func() bool { return handled.IDs() == 1000 })
	stop()
	if versions[1] != 500 || versions[2] != 500 || handled.All() != 1000 || r.committed() != 1000 || len(r.all(r.dead)) != 0 {
		t.Errorf("versions %v, %d handled, %d committed, %d set aside", versions, handled.All(), r.committed(), len(r.all(r.dead)))
	}
}

func TestRealFormats(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	for _, tt := range []struct {
		subject, text, kind string
		t                   schemas.Type
		body                []byte
	}{
		{"users-value", `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"}]}`, "", schemas.Avro, []byte{2}},
		{"orders-value", orderV1, "", schemas.JSON, []byte(`{"id":1}`)},
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{10, 1, 'x'}},
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{}},
	} {
		for name, o := range map[string]kafka.ProducerOptions{"plain": {}, "StampConfluent": {StampConfluent: true}, "FramePrefix": {FramePrefix: true}} {
			f := r.registry.Register(tt.subject, tt.t, tt.text)
			o.Type = tt.kind
			p := r.producer(validate.Latest(validate.Fixed(tt.subject), 0), o)
			if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: tt.body}); err != nil {
				t.Fatalf("%s: %s: %v", tt.t, name, err)
			}
			e := &validate.Expect{Value: true}
			if o.FramePrefix {
				e.Framing = validate.Confluent
			}
			got := make(chan *kafka.Delivery, 1)
			stop := r.consumer(e, func(_ context.Context, d *kafka.Delivery) error {
				got <- d
				return nil
			}, kafka.ConsumerOptions{})
			d := brokertest.Next(t, got)
			stop()
			if d.Type != tt.t || d.GUID != f.GUID || d.ID != f.ID || d.Value == nil || d.Outcome.Message != tt.kind || string(d.Payload) != string(tt.body) || d.Tombstone {
				t.Errorf("%s: %s: %+v", tt.t, name, d.Outcome)
			}
		}
	}
}

// P1, P4, P8.
func TestRealProducer(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(byOrders, 1), kafka.ProducerOptions{})
	before := r.registry.Asked()
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.registry.Asked() - before; n != 1 {
		t.Errorf("1,000 publishes of a new version asked the registry %d times", n)
	}
	var refused *validate.Error
	if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{}`)}); !errors.As(err, &refused) || !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("an invalid payload: %v", err)
	}
	r.registry.Shut()
	if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)}); err != nil {
		t.Errorf("a known schema without the registry: %v", err)
	}
	p2 := r.producer(validate.Version(byOrders, 2), kafka.ProducerOptions{})
	if err := p2.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)}); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("an unknown schema without the registry: %v", err)
	}
	var e *kafka.Error
	if err := p.Publish(ctx, &kgo.Record{Topic: "no-such-topic", Value: []byte(`{"id":1}`)}); !errors.As(err, &e) || e.Fate != kafka.Unroutable || !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("a topic that does not exist: %v", err)
	}
	if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1,"pad":"` + strings.Repeat("x", 2<<20) + `"}`)}); !errors.As(err, &e) || e.Fate != kafka.TooLarge || !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("two megabytes: %v", err)
	}
	last := &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)}
	if err := p.Publish(ctx, last); err != nil || last.Offset != 1001 {
		t.Errorf("afterwards: offset %d, %v", last.Offset, err)
	}
	if n := len(r.all(r.topic)); n != 1002 {
		t.Errorf("%d messages in the topic, want 1,002", n)
	}
}

// A retried message leaves its partition, and the next is handled meanwhile.
func TestRealRetryTopic(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var handled brokertest.Tally
	var first, again time.Time
	stop := r.consumer(&validate.Expect{Subject: validate.ByDestination()}, func(_ context.Context, d *kafka.Delivery) error {
		id := get(d.Message, "messageId")
		handled.Add(id)
		switch {
		case id == "slow" && d.Attempt == 1:
			first = time.Now()
			return errors.New("busy")
		case id == "slow":
			again = time.Now()
			if d.Attempt != 2 {
				t.Errorf("attempt %d", d.Attempt)
			}
		}
		return nil
	}, kafka.ConsumerOptions{RetryTopics: true, Retry: retry.Policy{Base: 2 * time.Second, Attempts: 2}})
	t.Cleanup(func() { r.remove(r.group + ".retry.2000") })
	r.registry.Register(r.topic+"-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(validate.ByDestination(), 1), kafka.ProducerOptions{})
	for _, id := range []string{"slow", "next"} {
		if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Headers: []kgo.RecordHeader{header("messageId", id)}, Value: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	brokertest.Await(t, "the slow one comes again", func() bool { return handled.All() == 3 })
	stop()
	if got := strings.Join(handled.Order(), " "); got != "slow next slow" {
		t.Errorf("order %s: the next message waited", got)
	}
	if waited := again.Sub(first); waited < 1400*time.Millisecond || waited > 10*time.Second {
		t.Errorf("it came after %v, want 1.5 to 2 s", waited)
	}
	t.Logf("a retry of 1.5 to 2 s came after %v", again.Sub(first).Round(time.Millisecond))
}

// Two members share the partitions, one leaves, one comes: nothing is lost, order
// per key is kept, and what comes twice is what was not committed.
func TestRealRebalance(t *testing.T) {
	t.Parallel()
	r := connect(t, 4)
	rebalance(t, r)
}

func TestFakeRebalance(t *testing.T) {
	t.Parallel()
	r, _ := connectFake(t, 4)
	rebalance(t, r)
}

func rebalance(t *testing.T, r *real) {
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var handled brokertest.Tally
	e := &validate.Expect{Subject: byOrders}
	h := func(_ context.Context, d *kafka.Delivery) error {
		handled.Add(string(d.Message.Key) + "/" + get(d.Message, "messageId"))
		return nil
	}
	o := kafka.ConsumerOptions{Keyed: true, CommitEvery: 20 * time.Millisecond}
	quick := []kgo.Opt{kgo.HeartbeatInterval(200 * time.Millisecond)}
	first := r.consumer(e, h, o, quick...)
	const n = 2000
	p := r.producer(validate.Version(byOrders, 1), kafka.ProducerOptions{})
	var produced sync.WaitGroup
	produced.Go(func() {
		for i := range n {
			if err := p.Publish(ctx, &kgo.Record{Topic: r.topic, Key: fmt.Appendf(nil, "k%d", i%10), Headers: []kgo.RecordHeader{header("messageId", fmt.Sprintf("%05d", i))}, Value: []byte(`{"id":1}`)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	brokertest.Await(t, "it begins", func() bool { return handled.IDs() > 50 })
	second := r.consumer(e, h, o, quick...)
	brokertest.Await(t, "half is done", func() bool { return handled.IDs() > n/2 })
	first()
	third := r.consumer(e, h, o, quick...)
	produced.Wait()
	brokertest.Await(t, "all are handled", func() bool { return handled.IDs() == n })
	second()
	third()
	brokertest.OrderPerKey(t, handled.Order())
	if r.committed() != n || len(r.all(r.dead)) != 0 {
		t.Errorf("%d committed, %d set aside", r.committed(), len(r.all(r.dead)))
	}
	t.Logf("%d messages over 2 joins and 2 leaves: %d handled, %d of them twice", n, handled.All(), handled.All()-n)
}
