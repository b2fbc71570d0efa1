package amqp10_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A thousand messages of two versions, each with the properties it was stamped
// with.
func TestRealTwoVersions(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	r.registry.Register("orders-value", schemas.JSON, orderV2)
	var handled, versions brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, func(_ context.Context, d *amqp10.Delivery) error {
		id := prop(d.Message, "messageId")
		handled.Add(id)
		versions.Add(d.Version.String())
		for name, want := range map[string]string{"schemaVersion": d.Version.String(), "schemaSubject": "orders-value", "schemaGuid": d.GUID.String(), "schemaType": "JSON", "schemaId": d.ID.String()} {
			if got := prop(d.Message, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if id == "" || !d.Message.Header.Durable {
			t.Errorf("id %q, %+v", id, d.Message.Header)
		}
		return nil
	}, amqp10.ConsumerOptions{Workers: 4, Prefetch: 50})
	v1, v2 := r.producer(validate.Version(orders, 1)), r.producer(validate.Version(orders, 2))
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			p := v1
			if n%2 == 1 {
				p = v2
			}
			if err := p.Publish(ctx, r.queue, amqp.NewMessage(fmt.Appendf(nil, `{"id":%d}`, n))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	brokertest.Await(t, "1,000 messages handled", func() bool { return handled.IDs() == 1000 })
	stop()
	if versions.Of("1") != 500 || versions.Of("2") != 500 || handled.All() != 1000 {
		t.Errorf("versions %v, %d handled", versions.Order(), handled.All())
	}
	if left, dead := r.depth(r.queue), r.depth(r.dead); left != 0 || dead != 0 {
		t.Errorf("%d left, %d set aside", left, dead)
	}
}

// Every format, and a Protobuf message of zero bytes, which is all defaults (C10).
func TestRealFormats(t *testing.T) {
	t.Parallel()
	r := connect(t)
	const shop = "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n"
	for _, tt := range []struct {
		subject, text, kind string
		t                   schemas.Type
		body                []byte
	}{
		{"users-value", `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"}]}`, "", schemas.Avro, []byte{2}},
		{"orders-value", orderV1, "", schemas.JSON, []byte(`{"id":1}`)},
		{"shop-value", shop, "acme.Refund", schemas.Protobuf, []byte{10, 1, 0}},
		{"shop-value", shop, "acme.Refund", schemas.Protobuf, []byte{}},
	} {
		f := r.registry.Register(tt.subject, tt.t, tt.text)
		p := amqp10.NewProducer(r.open, r.v, validate.Latest(validate.Fixed(tt.subject), 0), amqp10.ProducerOptions{Type: tt.kind})
		if err := p.Publish(ctx, r.queue, amqp.NewMessage(tt.body)); err != nil {
			t.Fatalf("%s: %v", tt.t, err)
		}
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		got := make(chan *amqp10.Delivery, 1)
		stop := r.consumer(&validate.Expect{Value: true}, func(_ context.Context, d *amqp10.Delivery) error {
			got <- d
			return nil
		}, amqp10.ConsumerOptions{})
		d := brokertest.Next(t, got)
		stop()
		if d.Type != tt.t || d.GUID != f.GUID || d.ID != f.ID || d.Value == nil || d.Outcome.Message != tt.kind || string(d.Payload) != string(tt.body) {
			t.Errorf("%s: %+v", tt.t, d.Outcome)
		}
	}
}

// Names and values come as they were sent (H8), and so do the properties of the
// message; an invalid one never leaves (P1). A CloudEvent gets its dataschema, and
// is found by that alone.
func TestRealRoundTrip(t *testing.T) {
	t.Parallel()
	r := connect(t)
	f := r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	var refused *validate.Error
	if err := p.Publish(ctx, r.queue, amqp.NewMessage([]byte(`{"id":"x"}`))); !errors.As(err, &refused) || refused.Reason != validate.PayloadInvalid {
		t.Fatalf("an invalid message: %v", err)
	}
	if n := r.depth(r.queue); n != 0 {
		t.Fatalf("%d messages in the queue", n)
	}
	want := map[string]any{
		"plain": "value", "empty": "", "space": " a b ", "colon": "a:b", "lines": "a\nb\r\nc", "word": "ação 日本 🙂", "number": int64(7), "flag": true,
		"cloudEvents_specversion": "1.0", "cloudEvents_id": "e-1", "with-dash": "-", "long": strings.Repeat("x", 20_000),
	}
	m := amqp.NewMessage([]byte(`{"id":1}`))
	m.ApplicationProperties = want
	kind, answers, group := "application/json", "queue://answers", "k 1"
	m.Properties = &amqp.MessageProperties{MessageID: "m-1", ContentType: &kind, ReplyTo: &answers, CorrelationID: "c", GroupID: &group}
	if err := p.Publish(ctx, "queue://"+r.queue, m); err != nil {
		t.Fatal(err)
	}
	if len(want) != 12 || m.Header != nil {
		t.Error("the caller's message was changed")
	}
	got := make(chan *amqp.Message, 1)
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
		got <- d.Message
		return nil
	}, amqp10.ConsumerOptions{})
	d := brokertest.Next(t, got)
	for name, value := range want {
		if d.ApplicationProperties[name] != value {
			t.Errorf("%s is %#v, want %#v", name, d.ApplicationProperties[name], value)
		}
	}
	if is := d.Properties; prop(d, "messageId") != "m-1" || *is.ContentType != kind || is.CorrelationID != "c" || *is.GroupID != group || prop(d, "messageKey") != group || prop(d, "cloudEvents_dataschema") != "urn:uuid:"+f.GUID.String() {
		t.Errorf("%+v, %v", is, d.ApplicationProperties)
	}
	for _, name := range []string{"cloudEvents_dataschema", "cloudEvents:dataschema"} {
		r.put(message(`{"id":2}`, name, "urn:uuid:"+f.GUID.String()))
		if d := brokertest.Next(t, got); string(d.GetData()) != `{"id":2}` {
			t.Errorf("%s: %s", name, d.GetData())
		}
	}
	// A text body is a payload too; a structured event is judged by its data.
	words := &amqp.Message{Value: `{"id":3}`, ApplicationProperties: map[string]any{"schemaVersion": "1"}}
	r.put(words)
	brokertest.Next(t, got)
	structured := "application/cloudevents+json"
	event := message(`{"specversion":"1.0","id":"e","source":"s","type":"t","dataschema":"urn:uuid:` + f.GUID.String() + `","data":{"id":4}}`)
	event.Properties = &amqp.MessageProperties{ContentType: &structured}
	r.put(event)
	brokertest.Next(t, got)
	stop()
	if n := r.depth(r.dead); n != 0 {
		t.Errorf("%d set aside", n)
	}
}

// What one protocol publishes the other consumes, with every header of ours (H9
// on one broker).
func TestRealAcrossProtocols(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	stomp := activemq.Connect(r.stomp, activemq.Options{})
	names := []string{"schemaVersion", "schemaSubject", "schemaId", "schemaGuid", "schemaType", "messageId", "messageKey", "traceparent", "eventSequence"}
	headers := map[string]any{"messageId": "m-1", "messageKey": "k:1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "eventSequence": "7"}

	p := r.producer(validate.Version(orders, 1))
	m := amqp.NewMessage([]byte(`{"id":1}`))
	m.ApplicationProperties = headers
	if err := p.Publish(ctx, r.queue, m); err != nil {
		t.Fatal(err)
	}
	over := make(chan *activemq.Delivery, 1)
	c, err := activemq.NewConsumer(stomp, r.v, &validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		over <- d
		return nil
	}, activemq.ConsumerOptions{Queue: r.queue})
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(running) }()
	d := brokertest.Next(t, over)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	came := map[string]string{}
	for _, h := range d.Message.Headers {
		came[h.Name] = h.Value.(string)
	}
	for _, name := range names {
		want, _ := headers[name].(string)
		if came[name] == "" || want != "" && came[name] != want {
			t.Errorf("over STOMP %s is %q, want %q", name, came[name], want)
		}
	}

	q := activemq.NewProducer(stomp, r.v, validate.Version(orders, 1), activemq.ProducerOptions{})
	defer q.Close(ctx)
	back := activemq.Message{Body: []byte(`{"id":2}`)}
	for _, name := range []string{"messageId", "messageKey", "traceparent", "eventSequence"} {
		back.Headers = append(back.Headers, validate.Header{Name: name, Value: headers[name]})
	}
	if err := q.Publish(ctx, r.queue, &back); err != nil {
		t.Fatal(err)
	}
	got := make(chan *amqp10.Delivery, 1)
	r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
		got <- d
		return nil
	}, amqp10.ConsumerOptions{})
	a := brokertest.Next(t, got)
	for _, name := range names {
		want, _ := headers[name].(string)
		if is := prop(a.Message, name); is == "" || want != "" && is != want {
			t.Errorf("over AMQP %s is %q, want %q", name, is, want)
		}
	}
	if string(a.Payload) != `{"id":2}` || string(d.Payload) != `{"id":1}` {
		t.Errorf("%s, %s", d.Payload, a.Payload)
	}
}

// A retry of 2 s and more leaves the queue, and the next message does not wait.
func TestRealScheduledRetry(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	var order []string
	var first, again time.Time
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		id := prop(d.Message, "messageId")
		order = append(order, id)
		if id != "slow" {
			return nil
		}
		if d.Attempt == 1 {
			first = time.Now()
			return errors.New("busy")
		}
		again = time.Now()
		if d.Attempt != 2 || prop(d.Message, "mine") != "yes" {
			t.Errorf("attempt %d: %+v", d.Attempt, d.Message)
		}
		return amqp10.Reject(errors.New("no such customer"))
	}, amqp10.ConsumerOptions{ScheduledRetries: true, Retry: retry.Policy{Base: 2 * time.Second, Attempts: 3}})
	p := r.producer(validate.Version(orders, 1))
	for _, id := range []string{"slow", "next"} {
		if err := p.Publish(ctx, r.queue, message(`{"id":1}`, "messageId", id, "mine", "yes")); err != nil {
			t.Fatal(err)
		}
	}
	d := r.take(r.dead)
	stop()
	if got := strings.Join(order, " "); got != "slow next slow" {
		t.Errorf("order %s: the next message waited", got)
	}
	if waited := again.Sub(first); waited < 1400*time.Millisecond || waited > 20*time.Second {
		t.Errorf("it came after %v, want 1.5 to 3 s", waited)
	}
	for name, want := range map[string]string{"dlqAttempts": "2", "dlqReason": "handler_rejected", "messageId": "slow", "dlqOriginalQueue": r.queue, "dlqOriginalDestination": r.queue} {
		if got := prop(d, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
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
		if err := p.Publish(ctx, r.queue, message(`{"id":1}`, "messageId", fmt.Sprintf("m%04d", i), "messageKey", fmt.Sprintf("k%d", i%10))); err != nil {
			t.Fatal(err)
		}
	}
	var handled, tried brokertest.Tally
	var stops []func()
	for range 2 { // two consumers share the keys
		stops = append(stops, r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
			id := prop(d.Message, "messageKey") + "/" + prop(d.Message, "messageId")
			tried.Add(id)
			number := 0
			_, _ = fmt.Sscanf(prop(d.Message, "messageId"), "m%d", &number)
			if d.Attempt == 1 && number*7919%5 == 0 {
				return errors.New("busy")
			}
			handled.Add(id)
			return nil
		}, amqp10.ConsumerOptions{Keyed: true, Workers: 4, Prefetch: 40, Retry: retry.Policy{Base: 5 * time.Millisecond, Cap: 20 * time.Millisecond}}))
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
