package activemq_test

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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// brokerVariable holds the STOMP address of an ActiveMQ that tests may use;
// scripts/brokers.sh start sets it.
const brokerVariable = "CARTORIO_TEST_STOMP"

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
		fmt.Fprintf(os.Stderr, "SKIPPED: the tests on a real ActiveMQ: set %s, or run `make test`\n", brokerVariable)
	case filter == "" && brokerTests.Load() == 0:
		fmt.Fprintf(os.Stderr, "FAIL: %s is set and no test used it\n", brokerVariable)
		status = 1
	}
	os.Exit(status)
}

// real is a queue, its dead letter and a registry, all real and of this test's
// own.
type real struct {
	t           *testing.T
	address     string
	open        activemq.Open
	raw         *raw
	queue, dead string
	registry    *door
	client      *sr.Client
	v           *validate.Validator
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
	address := os.Getenv(brokerVariable)
	if address == "" {
		t.Skipf("set %s to the STOMP address of an ActiveMQ", brokerVariable)
	}
	brokerTests.Add(1)
	return connectTo(t, address)
}

func connectTo(t *testing.T, address string) *real {
	t.Helper()
	r := &real{t: t, address: address, open: activemq.Connect(address, activemq.Options{})}
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
	r.raw = r.line()
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

// raw is a connection on which a test says what it likes.
type raw struct {
	t    *testing.T
	conn activemq.Conn
	n    int
}

func (r *real) line() *raw {
	r.t.Helper()
	var conn activemq.Conn
	await(r.t, "the broker answers", func() bool {
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
