package activemq_test

import (
	"context"
	"crypto/rand"
	"os"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// What RabbitMQ takes over AMQP 0-9-1 it gives over STOMP, and the other way
// round, with every header of ours (H9). This package speaks to its plug-in as to
// ActiveMQ.
func TestRealRabbitMQ(t *testing.T) {
	t.Parallel()
	url, stomp := os.Getenv("CARTORIO_TEST_RABBITMQ"), os.Getenv("CARTORIO_TEST_RABBITMQ_STOMP")
	if url == "" || stomp == "" {
		t.Skip("NOT RUN: set CARTORIO_TEST_RABBITMQ and CARTORIO_TEST_RABBITMQ_STOMP to the addresses of a RabbitMQ with its STOMP plug-in; make test starts one and names it when it cannot")
	}
	r := connect(t)
	r.open = activemq.Connect(stomp, activemq.Options{Login: "guest", Passcode: "guest", Host: "/"})
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	conn := rabbitmq.Connect(url, amqp.Config{})
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Open(ctx); err != nil {
		t.Fatal(err)
	}
	ch, err := conn.Connection().Channel()
	if err != nil {
		t.Fatal(err)
	}
	queue := "h9-" + rand.Text()[:8]
	for _, name := range []string{queue, queue + ".dead"} {
		if _, err := ch.QueueDeclare(name, true, false, false, false, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = ch.QueueDelete(name, false, false, false) })
	}
	headers := map[string]string{"messageId": "m-1", "messageKey": "k:1\\", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "eventSequence": "7", "dlqReplays": "2"}
	names := []string{"schemaVersion", "schemaSubject", "schemaId", "schemaGuid", "schemaType", "messageId", "messageKey", "traceparent", "eventSequence", "dlqReplays"}
	check := func(over string, get func(name string) any) {
		for _, name := range names {
			if got, want := get(name), headers[name]; got == "" || got == nil || want != "" && got != want {
				t.Errorf("over %s %s is %#v, want %q", over, name, got, want)
			}
		}
	}

	table := amqp.Table{}
	for name, value := range headers {
		table[name] = value
	}
	p := rabbitmq.NewProducer(conn.Open, r.v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
	if err := p.Publish(ctx, "", queue, amqp.Publishing{Headers: table, Body: []byte(good)}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	over := make(chan *activemq.Message, 1)
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		over <- d.Message
		return nil
	}, activemq.ConsumerOptions{Queue: "/amq/queue/" + queue, DeadLetter: "/amq/queue/" + queue + ".dead"})
	m := brokertest.Next(t, over)
	check("STOMP", func(name string) any { return header(m, name) })
	// A dead letter in one transaction works there too.
	if err := ch.PublishWithContext(ctx, "", queue, true, false, amqp.Publishing{Headers: amqp.Table{"messageId": "bad", "schemaSubject": "orders-value", "schemaVersion": "1"}, Body: []byte(`{`)}); err != nil {
		t.Fatal(err)
	}
	var dead amqp.Delivery
	brokertest.Await(t, "it is set aside", func() bool {
		var ok bool
		if dead, ok, err = ch.Get(queue+".dead", true); err != nil {
			t.Fatal(err)
		}
		return ok
	})
	if dead.Headers["dlqReason"] != "payload_unreadable" || dead.Headers["messageId"] != "bad" || dead.DeliveryMode != amqp.Persistent {
		t.Errorf("%v", dead.Headers)
	}
	stop()

	var list []validate.Header
	for name, value := range headers {
		list = append(list, validate.Header{Name: name, Value: value})
	}
	if err := r.producer(validate.Version(orders, 1)).Publish(ctx, "/amq/queue/"+queue, &activemq.Message{Headers: list, Body: []byte(good)}); err != nil {
		t.Fatal(err)
	}
	back := make(chan *amqp.Delivery, 1)
	c, err := rabbitmq.NewConsumer(conn.Open, r.v, &validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		back <- d.Message
		return nil
	}, rabbitmq.ConsumerOptions{Queue: queue, DeadLetter: rabbitmq.Destination{Key: queue + ".dead"}})
	if err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.Run(running) }()
	d := brokertest.Next(t, back)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	check("AMQP 0-9-1", func(name string) any { return d.Headers[name] })
	if string(d.Body) != good || d.DeliveryMode != amqp.Persistent {
		t.Errorf("%s, mode %d", d.Body, d.DeliveryMode)
	}
}
