package rabbitmq_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// brokerVariable holds the address of a RabbitMQ that tests may use;
// scripts/brokers.sh start sets it.
const brokerVariable = "CARTORIO_TEST_RABBITMQ"

var brokerTests atomic.Int32

// TestMain fails when a broker was given and no test used it, and is loud when
// none was given.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	filter := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() + flag.Lookup("test.list").Value.String() + flag.Lookup("test.fuzz").Value.String()
	switch url := os.Getenv(brokerVariable); {
	case url == "":
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real RabbitMQ: set %s, or run `make test`\n", brokerVariable)
	case filter == "" && brokerTests.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", brokerVariable)
		status = 1
	}
	os.Exit(status)
}

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t                     *testing.T
	url                   string
	ch                    *amqp.Channel
	exchange, queue, dead string
	registry              *door
	client                *sr.Client
	v                     *validate.Validator
	in, out               *rabbitmq.Connector
}

// door is the registry's HTTP server, which a test may shut and open again at
// the same address, or guard.
type door struct {
	t       *testing.T
	handler http.Handler
	address string
	mu      sync.Mutex
	server  *http.Server
	guarded atomic.Bool
	asked   atomic.Int64
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.asked.Add(1)
	if d.guarded.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error_code":401,"message":"who are you"}`)
		return
	}
	d.handler.ServeHTTP(w, r)
}

func (d *door) open() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.address == "" {
		d.address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", d.address)
	if err != nil {
		d.t.Fatal(err)
	}
	d.address = l.Addr().String()
	d.server = &http.Server{Handler: d, ReadHeaderTimeout: time.Second}
	server := d.server
	go func() { _ = server.Serve(l) }()
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.server != nil {
		_ = d.server.Close()
	}
}

func connect(t *testing.T) *real { return connectTo(t, nil) }

// connectTo is connect with arguments for the queues.
func connectTo(t *testing.T, args amqp.Table) *real {
	t.Helper()
	url := os.Getenv(brokerVariable)
	if url == "" {
		t.Skipf("set %s to the address of a RabbitMQ", brokerVariable)
	}
	brokerTests.Add(1)
	r := &real{t: t, url: url}

	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	reg, err := registry.Open(ctx, journal, registry.Options{Formats: []schemas.Format{avro.Format, jsonschema.Format, protobuf.Format}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	r.registry = &door{t: t, handler: api.New(reg, api.Options{})}
	r.registry.open()
	t.Cleanup(r.registry.shut)
	if r.client, err = sr.New(sr.Options{URLs: []string{"http://" + r.registry.address}}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.SetConfig(ctx, sr.Global, sr.Config{Level: "NONE"}); err != nil {
		t.Fatal(err)
	}

	conn, err := amqp.Dial(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if r.ch, err = conn.Channel(); err != nil {
		t.Fatal(err)
	}
	suffix := rand.Text()[:8]
	r.exchange, r.queue, r.dead = "orders-"+suffix, "work-"+suffix, "work-"+suffix+".dead"
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
		for _, q := range []string{r.queue, r.dead} {
			_, _ = r.ch.QueueDelete(q, false, false, false)
		}
		_ = r.ch.ExchangeDelete(r.exchange, false, false)
	})
	r.v = r.validator(validate.Options{Grace: 500 * time.Millisecond})
	r.in, r.out = rabbitmq.Connect(url, amqp.Config{}), rabbitmq.Connect(url, amqp.Config{})
	t.Cleanup(func() {
		_ = r.in.Close()
		_ = r.out.Close()
	})
	return r
}

func declare(ch *amqp.Channel, queue string, args amqp.Table) error {
	_, err := ch.QueueDeclare(queue, true, false, false, false, args)
	return err
}

func (r *real) validator(o validate.Options) *validate.Validator {
	v := validate.NewWith(r.client, o, avro.Format, jsonschema.Format, protobuf.Format)
	r.t.Cleanup(v.Close)
	return v
}

func (r *real) register(subject string, t schemas.Type, text string) schemas.Found {
	r.t.Helper()
	f, err := r.client.Register(ctx, schemas.ParseSubject(subject), sr.Registration{Source: schemas.Source{Type: t, Text: text}})
	if err != nil {
		r.t.Fatal(err)
	}
	return f
}

func (r *real) producer(p validate.Pin) *rabbitmq.Producer {
	producer := rabbitmq.NewProducer(r.out.Open, r.v, p, rabbitmq.ProducerOptions{})
	r.t.Cleanup(func() { _ = producer.Close(ctx) })
	return producer
}

// put publishes a message as it is, unvalidated.
func (r *real) put(msg amqp.Publishing) {
	r.t.Helper()
	msg.DeliveryMode = amqp.Persistent
	if err := r.ch.PublishWithContext(ctx, r.exchange, "order.placed", true, false, msg); err != nil {
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
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.Run(running) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					r.t.Errorf("Run: %v", err)
				}
			case <-time.After(30 * time.Second):
				r.t.Error("the consumer does not stop")
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
}

func (r *real) depth(queue string) int {
	r.t.Helper()
	q, err := r.ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	return q.Messages
}

// await asks until it is so. A real broker tells nobody when it is done.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(60 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came about: %s", what)
		}
	}
}

// deadLetter takes the next message out of the dead letter.
func (r *real) deadLetter() amqp.Delivery {
	r.t.Helper()
	var d amqp.Delivery
	await(r.t, "a dead letter", func() bool {
		var ok bool
		var err error
		if d, ok, err = r.ch.Get(r.dead, true); err != nil {
			r.t.Fatal(err)
		}
		return ok
	})
	return d
}
