package activemq_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

const (
	orderV1 = brokertest.OrderV1
	orderV2 = brokertest.OrderV2
)

var (
	ctx    = context.Background()
	orders = brokertest.Orders
)

var workshop = &brokertest.Workshop{
	Name: "ActiveMQ", Broker: "activemq", Variable: "CARTORIO_TEST_STOMP", Parallel: 12, Consume: consumePart, Produce: producePart,
}

func TestMain(m *testing.M) { os.Exit(workshop.Main(m)) }

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t           *testing.T
	address     string
	open        activemq.Open
	raw         *raw
	queue, dead string
	registry    *brokertest.Registry
	v           *validate.Validator
}

func connect(t *testing.T) *real {
	t.Helper()
	return connectTo(t, workshop.Address(t))
}

func connectTo(t *testing.T, address string) *real {
	t.Helper()
	r := &real{t: t, address: address, open: activemq.Connect(address, activemq.Options{}), registry: brokertest.NewRegistry(t), queue: "work-" + rand.Text()[:8]}
	r.dead = "DLQ." + r.queue
	r.raw = r.line()
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

func (r *real) producer(p validate.Pin) *activemq.Producer {
	producer := activemq.NewProducer(r.open, r.v, p, activemq.ProducerOptions{})
	r.t.Cleanup(func() { _ = producer.Close(ctx) })
	return producer
}

// consumer runs until the test ends, or stop.
func (r *real) consumer(e *validate.Expect, h activemq.Handler, o activemq.ConsumerOptions) (stop func()) {
	r.t.Helper()
	if o.Queue == "" {
		o.Queue = r.queue
	}
	o.Logger = slog.New(slog.DiscardHandler)
	c, err := activemq.NewConsumer(r.open, r.v, e, h, o)
	if err != nil {
		r.t.Fatal(err)
	}
	return brokertest.Run(r.t, c.Run)
}

// raw is a connection on which a test says what it likes.
type raw struct {
	t    *testing.T
	conn activemq.Conn
	n    int
}

func (r *real) line() *raw {
	r.t.Helper()
	var conn activemq.Conn
	brokertest.Await(r.t, "the broker answers", func() bool {
		var err error
		conn, err = r.open(ctx)
		return err == nil
	})
	r.t.Cleanup(func() { _ = conn.Close() })
	return &raw{t: r.t, conn: conn}
}

// ask sends a frame and gives the messages that come before its receipt.
func (w *raw) ask(f *frame.Frame) []*frame.Frame {
	w.t.Helper()
	w.n++
	receipt := strconv.Itoa(w.n)
	f.Header.Set(frame.Receipt, receipt)
	if err := w.conn.Write(f); err != nil {
		w.t.Fatal(err)
	}
	var messages []*frame.Frame
	for {
		got := w.next()
		switch got.Command {
		case frame.MESSAGE:
			messages = append(messages, got)
		case frame.RECEIPT:
			if got.Header.Get(frame.ReceiptId) == receipt {
				return messages
			}
		default:
			w.t.Fatalf("%s: %s", got.Command, got.Header.Get(frame.Message))
		}
	}
}

func (w *raw) next() *frame.Frame {
	w.t.Helper()
	got, err := w.conn.Read()
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// put publishes a message as it is, unvalidated. headers are names and values.
func (r *real) put(body []byte, headers ...string) {
	r.t.Helper()
	f := frame.New(frame.SEND, append([]string{frame.Destination, "/queue/" + r.queue, "persistent", "true", frame.ContentLength, strconv.Itoa(len(body))}, headers...)...)
	f.Body = body
	r.raw.ask(f)
}

// look gives what is in a queue, and leaves it there.
func (r *real) look(queue string) []*frame.Frame {
	r.t.Helper()
	w := r.line()
	defer w.conn.Close()
	if err := w.conn.Write(frame.New(frame.SUBSCRIBE, frame.Id, "look", frame.Destination, "/queue/"+queue, frame.Ack, "auto", "browser", "true")); err != nil {
		r.t.Fatal(err)
	}
	var list []*frame.Frame
	for {
		f := w.next()
		if f.Command == frame.ERROR {
			r.t.Fatal(f.Header.Get(frame.Message))
		}
		if f.Header.Get("browser") == "end" {
			return list
		}
		list = append(list, f)
	}
}

func (r *real) depth(queue string) int { return len(r.look(queue)) }

// take takes the next message out of a queue.
func (r *real) take(queue string) *frame.Frame {
	r.t.Helper()
	w := r.line()
	defer w.conn.Close()
	if err := w.conn.Write(frame.New(frame.SUBSCRIBE, frame.Id, "take", frame.Destination, "/queue/"+queue, frame.Ack, "client-individual", "activemq.prefetchSize", "1")); err != nil {
		r.t.Fatal(err)
	}
	f := w.next()
	if more := w.ask(frame.New(frame.ACK, frame.Id, f.Header.Get(frame.Ack))); len(more) > 1 {
		r.t.Fatalf("%d messages came though one was asked for", len(more)+1)
	}
	return f
}
