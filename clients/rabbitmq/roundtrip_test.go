package rabbitmq_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// Names and values come as they were sent, whatever is in them (H8), and so does
// what a message has beside its headers.
func TestRealRoundTrip(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	headers := amqp.Table{
		"plain": "value", "empty": "", "space": " a b ", "colon": "a:b:", "lines": "a\nb\r\nc", "word": "ação 日本 🙂", "with-dash": "-", "nothing": nil,
		"bytes": []byte{0, 0xff}, "yes": true, "small": int32(-7), "large": int64(1) << 60, "float": 1.5, "time": time.Unix(1_700_000_000, 0),
		"list": []any{"a", int32(1)}, "table": amqp.Table{"a": "b"}, "long": strings.Repeat("x", 100_000),
		"messageKey": "k 1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	sent := amqp.Publishing{
		Headers: amqp.Table{}, ContentType: "application/json", ContentEncoding: "x", CorrelationId: "c:1", ReplyTo: "answers", Priority: 7,
		MessageId: "m-1", Timestamp: time.Unix(1_700_000_001, 0), Type: "T", AppId: "app", Body: []byte("{\"id\":1}\n"),
	}
	for name, value := range headers {
		sent.Headers[name] = value
	}
	if err := r.producer(validate.Version(orders, 1)).Publish(ctx, r.exchange, "order.placed", sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Headers) != len(headers) {
		t.Error("the caller's headers were changed")
	}
	got := make(chan *amqp.Delivery, 1)
	r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		got <- d.Message
		return nil
	}, rabbitmq.ConsumerOptions{})
	m := brokertest.Next(t, got)
	for name, want := range headers {
		if d := cmp.Diff(want, m.Headers[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	back := amqp.Publishing{
		Headers: sent.Headers, ContentType: m.ContentType, ContentEncoding: m.ContentEncoding, CorrelationId: m.CorrelationId, ReplyTo: m.ReplyTo,
		Priority: m.Priority, MessageId: m.MessageId, Timestamp: m.Timestamp, Type: m.Type, AppId: m.AppId, Body: m.Body,
	}
	if d := cmp.Diff(sent, back); d != "" {
		t.Error(d)
	}
}

// A dead letter's queue that is gone holds the message, which is never
// acknowledged, and blocks nobody else (C7, C12); once it is there the message
// goes into it.
func TestRealDeadLetterGone(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	var handled brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		handled.Add(d.Message.MessageId)
		return nil
	}, rabbitmq.ConsumerOptions{Workers: 2})
	r.Put(brokertest.Message{ID: "first", Body: `{"id":1}`})
	brokertest.Await(t, "it begins", func() bool { return handled.IDs() == 1 })
	if _, err := r.ch.QueueDelete(r.dead, false, false, false); err != nil {
		t.Fatal(err)
	}
	r.Put(brokertest.Message{ID: "bad", Body: `{`}, brokertest.Message{ID: "next", Body: `{"id":1}`})
	brokertest.Await(t, "the next one goes on", func() bool { return handled.IDs() == 2 })
	stop()
	if list := r.Lying(); len(list) != 1 || list[0].ID != "bad" {
		t.Errorf("the queue has %v", list)
	}
	if err := declare(r.ch, r.dead, nil); err != nil {
		t.Fatal(err)
	}
	r.consumer(&validate.Expect{Subject: orders}, func(context.Context, *rabbitmq.Delivery) error { return nil }, rabbitmq.ConsumerOptions{})
	if d := r.deadLetter(); d.MessageId != "bad" || d.Headers["dlqReason"] != "payload_unreadable" {
		t.Errorf("%s: %v", d.MessageId, d.Headers)
	}
}
