package amqp10_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// stompVariable holds the address of the same broker's STOMP, by which queues are
// looked into.
const stompVariable = "CARTORIO_TEST_STOMP"

const (
	orderV1 = brokertest.OrderV1
	orderV2 = brokertest.OrderV2
)

var (
	ctx    = context.Background()
	orders = brokertest.Orders
)

var workshop = &brokertest.Workshop{
	Name: "ActiveMQ over AMQP 1.0", Broker: "activemq", Variable: "CARTORIO_TEST_AMQP10", Others: []string{stompVariable}, Parallel: 12,
	Consume: consumePart, Produce: producePart,
}

func TestMain(m *testing.M) { os.Exit(workshop.Main(m)) }

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t              *testing.T
	address, stomp string
	open           amqp10.Open
	queue, dead    string
	registry       *brokertest.Registry
	v              *validate.Validator
}

func connect(t *testing.T) *real {
	t.Helper()
	return connectTo(t, workshop.Address(t), os.Getenv(stompVariable))
}

func connectTo(t *testing.T, address, stomp string) *real {
	t.Helper()
	r := &real{
		t: t, address: address, stomp: stomp, open: amqp10.Connect(address, amqp.ConnOptions{}),
		registry: brokertest.NewRegistry(t), queue: "work-" + rand.Text()[:8],
	}
	r.dead = "DLQ." + r.queue
	r.v = r.registry.Validator(validate.Options{Grace: 500 * time.Millisecond})
	return r
}

// opened is connect, for tests of the workshop that register themselves.
func opened(t *testing.T) (brokertest.Away, *brokertest.Registry) {
	t.Helper()
	r := connect(t)
	return r, r.registry
}

// withOrders is connect, as the tests of the workshop need it.
func withOrders(t *testing.T) brokertest.Place {
	t.Helper()
	r := connect(t)
	r.registry.RegisterOrders()
	return r
}

func (r *real) producer(p validate.Pin) *amqp10.Producer {
	producer := amqp10.NewProducer(r.open, r.v, p, amqp10.ProducerOptions{})
	r.t.Cleanup(func() { _ = producer.Close(ctx) })
	return producer
}

// consumer runs until the test ends, or stop.
func (r *real) consumer(e *validate.Expect, h amqp10.Handler, o amqp10.ConsumerOptions) (stop func()) {
	r.t.Helper()
	if o.Queue == "" {
		o.Queue = r.queue
	}
	o.Logger = slog.New(slog.DiscardHandler)
	c, err := amqp10.NewConsumer(r.open, r.v, e, h, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return brokertest.Run(r.t, c.Run)
}

// put publishes messages as they are, unvalidated.
func (r *real) put(list ...*amqp.Message) {
	r.t.Helper()
	c, err := r.open(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	s, err := c.NewSender(ctx, r.queue)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range list {
		m.Header = &amqp.MessageHeader{Durable: true, Priority: 6}
		if state, err := s.Send(ctx, m); err != nil {
			r.t.Fatal(err)
		} else if _, ok := state.(*amqp.StateAccepted); !ok {
			r.t.Fatalf("%T", state)
		}
	}
}

// look gives what is in a queue, and leaves it there.
func (r *real) look(queue string) []*frame.Frame {
	r.t.Helper()
	var conn activemq.Conn
	brokertest.Await(r.t, "the broker answers", func() bool {
		var err error
		conn, err = activemq.Connect(r.stomp, activemq.Options{})(ctx)
		return err == nil
	})
	defer conn.Close()
	if err := conn.Write(frame.New(frame.SUBSCRIBE, frame.Id, "look", frame.Destination, "/queue/"+queue, frame.Ack, "auto", "browser", "true")); err != nil {
		r.t.Fatal(err)
	}
	var list []*frame.Frame
	for {
		f, err := conn.Read()
		if err != nil {
			r.t.Fatal(err)
		}
		if f.Header.Get("browser") == "end" {
			return list
		}
		list = append(list, f)
	}
}

func (r *real) depth(queue string) int { return len(r.look(queue)) }

// take takes the next message out of a queue.
func (r *real) take(queue string) *amqp.Message {
	r.t.Helper()
	c, err := r.open(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Close()
	receiver, err := c.NewReceiver(ctx, queue, "", 1)
	if err != nil {
		r.t.Fatal(err)
	}
	patience, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	m, err := receiver.Receive(patience, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := receiver.AcceptMessage(ctx, m); err != nil {
		r.t.Fatal(err)
	}
	if err := receiver.Close(ctx); err != nil {
		r.t.Fatal(err)
	}
	return m
}
