package rabbitmq_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

var workshop = &brokertest.Workshop{
	Name: "RabbitMQ", Broker: "rabbitmq", Variable: "CARTORIO_TEST_RABBITMQ", Parallel: 12, Consume: consumePart, Produce: producePart,
}

func TestMain(m *testing.M) { os.Exit(workshop.Main(m)) }

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t                     *testing.T
	url                   string
	dial                  *rabbitmq.Connector // for channels of the test's own
	ch                    *amqp.Channel
	exchange, queue, dead string
	registry              *brokertest.Registry
	v                     *validate.Validator
	in, out               *rabbitmq.Connector
}

func connect(t *testing.T) *real {
	t.Helper()
	return connectWith(t, nil)
}

// connectWith is connect with arguments for the queues.
func connectWith(t *testing.T, args amqp.Table) *real {
	t.Helper()
	return connectTo(t, workshop.Address(t), args)
}

func connectTo(t *testing.T, url string, args amqp.Table) *real {
	t.Helper()
	suffix := rand.Text()[:8]
	r := &real{
		t: t, url: url, exchange: "orders-" + suffix, queue: "work-" + suffix, dead: "work-" + suffix + ".dead", registry: brokertest.NewRegistry(t),
		dial: rabbitmq.Connect(url, amqp.Config{}), in: rabbitmq.Connect(url, amqp.Config{}), out: rabbitmq.Connect(url, amqp.Config{}),
	}
	t.Cleanup(func() {
		for _, c := range []*rabbitmq.Connector{r.dial, r.in, r.out} {
			_ = c.Close()
		}
	})
	r.ch = r.channel()
	for _, err := range []error{
		r.ch.ExchangeDeclare(r.exchange, "topic", true, false, false, false, nil),
		declare(r.ch, r.queue, args), declare(r.ch, r.dead, args),
		r.ch.QueueBind(r.queue, "#", r.exchange, false, nil),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ch := r.channel()
		defer ch.Close()
		for _, q := range []string{r.queue, r.dead} {
			_, _ = ch.QueueDelete(q, false, false, false)
		}
		_ = ch.ExchangeDelete(r.exchange, false, false)
	})
	r.v = r.registry.Validator(validate.Options{Grace: 500 * time.Millisecond})
	return r
}

// channel opens a channel on which a test does what it likes.
func (r *real) channel() *amqp.Channel {
	r.t.Helper()
	var ch rabbitmq.Channel
	brokertest.Await(r.t, "the broker answers", func() bool {
		var err error
		ch, err = r.dial.Open(context.Background())
		return err == nil
	})
	return ch.(*amqp.Channel)
}

func declare(ch *amqp.Channel, queue string, args amqp.Table) error {
	_, err := ch.QueueDeclare(queue, true, false, false, false, args)
	return err
}

func (r *real) producer(p validate.Pin) *rabbitmq.Producer {
	producer := rabbitmq.NewProducer(r.out.Open, r.v, p, rabbitmq.ProducerOptions{})
	r.t.Cleanup(func() { _ = producer.Close(ctx) })
	return producer
}

// put publishes messages as they are, unvalidated.
func (r *real) put(list ...amqp.Publishing) {
	r.t.Helper()
	ch := r.channel()
	defer ch.Close()
	for _, msg := range list {
		msg.DeliveryMode = amqp.Persistent
		if err := ch.PublishWithContext(ctx, r.exchange, "order.placed", true, false, msg); err != nil {
			r.t.Fatal(err)
		}
	}
	// Publishing has no answer; a question behind it has.
	if _, err := ch.QueueDeclarePassive(r.queue, true, false, false, false, nil); err != nil {
		r.t.Fatal(err)
	}
}

// consumer runs until the test ends, or stop.
func (r *real) consumer(e *validate.Expect, h rabbitmq.Handler, o rabbitmq.ConsumerOptions) (stop func()) {
	r.t.Helper()
	o.Queue, o.DeadLetter = r.queue, rabbitmq.Destination{Key: r.dead}
	o.Logger = slog.New(slog.DiscardHandler)
	c, err := rabbitmq.NewConsumer(r.in.Open, r.v, e, h, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return brokertest.Run(r.t, c.Run)
}

// depth is how many messages a queue has that are not handed out.
func (r *real) depth(queue string) int {
	r.t.Helper()
	ch := r.channel()
	defer ch.Close()
	q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return q.Messages
}

// look gives what is in a queue, and leaves it there.
func (r *real) look(queue string) (list []amqp.Delivery) {
	r.t.Helper()
	ch := r.channel()
	defer ch.Close() // what is not acknowledged goes back to its place
	for {
		d, ok, err := ch.Get(queue, false)
		if err != nil {
			r.t.Fatal(err)
		}
		if !ok {
			return list
		}
		list = append(list, d)
	}
}

// deadLetter takes the next message out of the dead letter.
func (r *real) deadLetter() amqp.Delivery {
	r.t.Helper()
	ch := r.channel()
	defer ch.Close()
	var d amqp.Delivery
	brokertest.Await(r.t, "a dead letter", func() bool {
		var ok bool
		var err error
		if d, ok, err = ch.Get(r.dead, true); err != nil {
			r.t.Fatal(err)
		}
		return ok
	})
	return d
}
