package amqp10_test

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
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// brokerVariable holds the AMQP 1.0 address of an ActiveMQ that tests may use, and
// stompVariable that of its STOMP, by which queues are looked into;
// scripts/brokers.sh start sets both.
const (
	brokerVariable = "CARTORIO_TEST_AMQP10"
	stompVariable  = "CARTORIO_TEST_STOMP"
)

const (
	orderV1 = `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`
	orderV2 = `{"type":"object","properties":{"id":{"type":"integer"},"note":{"type":"string"}},"required":["id"]}`
)

var (
	ctx         = context.Background()
	orders      = validate.Fixed("orders-value")
	brokerTests atomic.Int32
)

// TestMain plays a part where a crash test started this process. It fails when a
// broker was given and no test used it, and is loud when none was given.
func TestMain(m *testing.M) {
	if text := os.Getenv(partVariable); text != "" {
		os.Exit(play(text))
	}
	flag.Parse()
	status := m.Run()
	filter := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() + flag.Lookup("test.list").Value.String() + flag.Lookup("test.fuzz").Value.String()
	switch address := os.Getenv(brokerVariable); {
	case address == "":
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real ActiveMQ over AMQP 1.0: set %s, or run `make test`\n", brokerVariable)
	case filter == "" && brokerTests.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", brokerVariable)
		status = 1
	}
	os.Exit(status)
}

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t              *testing.T
	address, stomp string
	open           amqp10.Open
	queue, dead    string
	registry       *door
	client         *sr.Client
	v              *validate.Validator
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
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.address)
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

func connect(t *testing.T) *real {
	t.Helper()
	address, stomp := os.Getenv(brokerVariable), os.Getenv(stompVariable)
	if address == "" || stomp == "" {
		t.Skipf("set %s and %s to the addresses of an ActiveMQ", brokerVariable, stompVariable)
	}
	brokerTests.Add(1)
	return connectTo(t, address, stomp)
}

func connectTo(t *testing.T, address, stomp string) *real {
	t.Helper()
	r := &real{t: t, address: address, stomp: stomp, open: amqp10.Connect(address, amqp.ConnOptions{})}
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
	r.queue = "work-" + rand.Text()[:8]
	r.dead = "DLQ." + r.queue
	r.v = r.validator(validate.Options{Grace: 500 * time.Millisecond})
	return r
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
			case <-time.After(60 * time.Second):
				r.t.Error("the consumer does not stop")
			}
		})
	}
	r.t.Cleanup(stop)
	return stop
}

// put publishes a message as it is, unvalidated.
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
	await(r.t, "the broker answers", func() bool {
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

// await asks until it is so. A real broker tells nobody when it is done.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(90 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came about: %s", what)
		}
	}
}

// next is what comes next, within a minute and a half.
func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case one := <-c:
		return one
	case <-time.After(90 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// tally counts what was done, by id and in order.
type tally struct {
	mu    sync.Mutex
	order []string
	times map[string]int
}

func (c *tally) add(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.order = append(c.order, id)
	c.times[id]++
}

func (c *tally) ids() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

func (c *tally) all() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.order)
}

// orderPerKey checks entries "key/number": each key's numbers rise, but for those
// that came before.
func orderPerKey(t *testing.T, ids []string) {
	t.Helper()
	last, seen := map[string]string{}, map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		key, number, _ := strings.Cut(id, "/")
		if number < last[key] {
			t.Errorf("%s after %s of the same key", number, last[key])
		}
		last[key] = number
	}
}
