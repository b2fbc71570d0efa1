package rabbitmq_test

import (
	"context"
	"crypto/rand"
	"errors"
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

	"github.com/google/go-cmp/cmp"
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

func connect(t *testing.T) *real {
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
		declare(r.ch, r.queue), declare(r.ch, r.dead),
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

func declare(ch *amqp.Channel, queue string) error {
	_, err := ch.QueueDeclare(queue, true, false, false, false, nil)
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

func TestRealTwoVersions(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.register("orders-value", schemas.JSON, orderV1)
	r.register("orders-value", schemas.JSON, orderV2)
	var mu sync.Mutex
	versions := map[schemas.Version]int{}
	ids := map[string]int{}
	stop := r.consumer(&validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		versions[d.Version]++
		ids[d.Message.MessageId]++
		for name, want := range map[string]any{"schemaVersion": d.Version.String(), "schemaSubject": "orders-value", "schemaGuid": d.GUID.String(), "schemaType": "JSON", "messageId": d.Message.MessageId, "schemaId": d.ID.String()} {
			if d.Message.Headers[name] != want {
				t.Errorf("%s is %#v, want %#v", name, d.Message.Headers[name], want)
			}
		}
		return nil
	}, rabbitmq.ConsumerOptions{Workers: 4, Prefetch: 50})
	v1, v2 := r.producer(validate.Version(orders, 1)), r.producer(validate.Version(orders, 2))
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			p := v1
			if n%2 == 1 {
				p = v2
			}
			if err := p.Publish(ctx, r.exchange, "order.placed", amqp.Publishing{Body: fmt.Appendf(nil, `{"id":%d}`, n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	await(t, "1,000 messages handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ids) == 1000
	})
	stop()
	if versions[1] != 500 || versions[2] != 500 || len(ids) != 1000 {
		t.Errorf("versions %v, %d ids", versions, len(ids))
	}
	if left, dead := r.depth(r.queue), r.depth(r.dead); left != 0 || dead != 0 {
		t.Errorf("%d left, %d set aside", left, dead)
	}
}

func TestRealFormats(t *testing.T) {
	t.Parallel()
	r := connect(t)
	for _, tt := range []struct {
		subject, text, kind string
		t                   schemas.Type
		body                []byte
	}{
		{"users-value", `{"type":"record","name":"User","namespace":"acme","fields":[{"name":"id","type":"long"}]}`, "", schemas.Avro, []byte{2}},
		{"orders-value", orderV1, "", schemas.JSON, []byte(`{"id":1}`)},
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{10, 1, 'x'}},
	} {
		f := r.register(tt.subject, tt.t, tt.text)
		p := r.producer(validate.Latest(validate.Fixed(tt.subject), 0))
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{Type: tt.kind, Body: tt.body}); err != nil {
			t.Fatalf("%s: %v", tt.t, err)
		}
		got := make(chan *rabbitmq.Delivery, 1)
		stop := r.consumer(&validate.Expect{Value: true}, func(_ context.Context, d *rabbitmq.Delivery) error {
			got <- d
			return nil
		}, rabbitmq.ConsumerOptions{})
		d := <-got
		stop()
		if d.Type != tt.t || d.GUID != f.GUID || d.ID != f.ID || d.Value == nil || d.Outcome.Message != tt.kind || string(d.Payload) != string(tt.body) {
			t.Errorf("%s: %+v", tt.t, d.Outcome)
		}
	}
}

// Each kind of bad message that RabbitMQ can carry ends in the dead letter, with
// its reason and everything it came with. Two values of one header it cannot.
func TestRealBadMessages(t *testing.T) {
	t.Parallel()
	r := connect(t)
	one := r.register("orders-value", schemas.JSON, orderV1)
	two := r.register("orders-value", schemas.JSON, orderV2)
	gone := r.register("orders-value", schemas.JSON, `{"type":"object","title":"gone"}`)
	other := r.register("other-value", schemas.JSON, `{"type":"array"}`)
	if _, err := r.client.DeleteVersion(ctx, gone.Subject, gone.Version, false); err != nil {
		t.Fatal(err)
	}
	stamps := func(f schemas.Found, more ...any) amqp.Table {
		h := amqp.Table{"schemaSubject": f.Subject.String(), "schemaVersion": f.Version.String(), "schemaId": f.ID.String(), "schemaGuid": f.GUID.String(), "schemaType": string(f.Source.Type), "x-other": int32(7)}
		for i := 0; i < len(more); i += 2 {
			if more[i+1] == nil {
				delete(h, more[i].(string))
				continue
			}
			h[more[i].(string)] = more[i+1]
		}
		return h
	}
	good := []byte(`{"id":1}`)
	e := &validate.Expect{Subject: orders, Reads: validate.MustReads("1,3..9"), RefuseRetired: true}
	errNoCustomer := errors.New("no such customer")
	stop := r.consumer(e, func(_ context.Context, d *rabbitmq.Delivery) error {
		switch d.Message.Headers["x-do"] {
		case "reject":
			return rabbitmq.Reject(errNoCustomer)
		case "panic":
			panic(strings.Repeat("a long stack ", 10_000))
		case "fail":
			return errNoCustomer
		}
		t.Errorf("handled: %v", d.Message.Headers)
		return nil
	}, rabbitmq.ConsumerOptions{Retry: rabbitmq.Policy{Attempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
	for _, tt := range []struct {
		name    string
		headers amqp.Table
		body    []byte
		reason  string
	}{
		{"nothing", nil, good, "header_missing"},
		{"lower-cased names", amqp.Table{"schemaversion": "1", "schemasubject": "orders-value"}, good, "header_missing"},
		{"version in words", stamps(one, "schemaVersion", "one"), good, "header_malformed"},
		{"version as a float", stamps(one, "schemaVersion", 1.0), good, "header_malformed"},
		{"version as a bool", stamps(one, "schemaVersion", true), good, "header_malformed"},
		{"version as a time", stamps(one, "schemaVersion", time.Unix(1, 0)), good, "header_malformed"},
		{"version as a list", stamps(one, "schemaVersion", []any{"1"}), good, "header_malformed"},
		{"version as a table", stamps(one, "schemaVersion", amqp.Table{"a": "1"}), good, "header_malformed"},
		{"empty version", stamps(one, "schemaVersion", ""), good, "header_malformed"},
		{"bytes that are no UTF-8", stamps(one, "schemaGuid", []byte{0xff}), good, "header_malformed"},
		{"version and guid differ", stamps(one, "schemaGuid", two.GUID.String()), good, "identity_conflict"},
		{"version and id differ", stamps(one, "schemaGuid", nil, "schemaId", two.ID.String()), good, "identity_conflict"},
		{"type differs", stamps(one, "schemaType", "AVRO"), good, "identity_conflict"},
		{"another subject", stamps(other), []byte(`[]`), "subject_mismatch"},
		{"id of another subject", amqp.Table{"schemaId": other.ID.String()}, []byte(`[]`), "subject_mismatch"},
		{"unknown version", amqp.Table{"schemaVersion": "7"}, good, "version_unknown"},
		{"unknown id", amqp.Table{"schemaId": "12345"}, good, "schema_unknown"},
		{"unknown guid", amqp.Table{"schemaGuid": schemas.GUID{1: 1}.String()}, good, "schema_unknown"},
		{"unsupported version", stamps(two), good, "version_unsupported"},
		{"retired version", stamps(gone), good, "version_retired"},
		{"no JSON", stamps(one), []byte(`{`), "payload_unreadable"},
		{"no body", stamps(one), nil, "payload_unreadable"},
		{"against the schema", stamps(one), []byte(`{"id":"x"}`), "payload_invalid"},
		{"too large", stamps(one), append(make([]byte, 9<<20), '1'), "payload_too_large"},
		{"the handler rejects", stamps(one, "x-do", "reject"), good, "handler_rejected"},
		{"the handler panics", stamps(one, "x-do", "panic"), good, "handler_panicked"},
		{"the handler gives up", stamps(one, "x-do", "fail"), good, "attempts_exhausted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.put(amqp.Publishing{Headers: tt.headers, MessageId: "m-" + tt.name, CorrelationId: "c", Body: tt.body})
			d := r.deadLetter()
			if d.Headers["dlqReason"] != tt.reason {
				t.Fatalf("dlqReason %v, want %s (%v)", d.Headers["dlqReason"], tt.reason, d.Headers["dlqError"])
			}
			if string(d.Body) != string(tt.body) || d.MessageId != "m-"+tt.name || d.CorrelationId != "c" {
				t.Errorf("id %q, correlation %q, %d bytes", d.MessageId, d.CorrelationId, len(d.Body))
			}
			for name, want := range tt.headers {
				if diff := cmp.Diff(want, d.Headers[name]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			for name, want := range map[string]any{"dlqOriginalDestination": r.exchange, "dlqOriginalRoutingKey": "order.placed", "dlqOriginalQueue": r.queue, "dlqExpected": "orders-value 1,3..9"} {
				if d.Headers[name] != want {
					t.Errorf("%s = %v, want %v", name, d.Headers[name], want)
				}
			}
			for name, value := range d.Headers {
				if text, ok := value.(string); strings.HasPrefix(name, "dlq") && (!ok || len(text) > 8<<10) {
					t.Errorf("%s: %T of %d bytes", name, value, len(text))
				}
			}
		})
	}
	stop()
	if left := r.depth(r.queue); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

// The registry goes away with 1,000 messages on the way: none is set aside, none
// is lost, the order stays.
func TestRealRegistryAway(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"shut", "guarded"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.register("orders-value", schemas.JSON, orderV1)
			p := r.producer(validate.Version(orders, 1))
			for n := range 1000 {
				if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: fmt.Sprint(n), Body: []byte(`{"id":1}`)}); err != nil {
					t.Fatal(err)
				}
			}
			if how == "shut" {
				r.registry.shut()
			} else {
				r.registry.guarded.Store(true)
			}
			r.v = r.validator(validate.Options{}) // a consumer that starts in the outage
			var mu sync.Mutex
			var handled []string
			redelivered := 0
			r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
				mu.Lock()
				defer mu.Unlock()
				handled = append(handled, d.Message.MessageId)
				if d.Message.Redelivered {
					redelivered++
				}
				return nil
			}, rabbitmq.ConsumerOptions{HoldFor: time.Second})
			asked := r.registry.asked.Load()
			await(t, "the consumer lets go", func() bool { return r.v.Stats().Outage > 3*time.Second })
			if n := r.registry.asked.Load() - asked; n > 50 {
				t.Errorf("the registry was asked %d times while it refused", n)
			}
			if how == "shut" {
				r.registry.open()
			} else {
				r.registry.guarded.Store(false)
			}
			await(t, "all handled", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return len(handled) >= 1000
			})
			mu.Lock()
			defer mu.Unlock()
			for n, id := range handled {
				if id != fmt.Sprint(n) {
					t.Fatalf("message %d is %s", n, id)
				}
			}
			if dead := r.depth(r.dead); dead != 0 || len(handled) != 1000 {
				t.Errorf("%d handled, %d set aside", len(handled), dead)
			}
			if redelivered > 10 {
				t.Errorf("%d messages were handed out twice", redelivered)
			}
		})
	}
}

func TestRealUnroutable(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.register("orders-value", schemas.JSON, orderV1)
	if err := r.ch.QueueUnbind(r.queue, "#", r.exchange, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.ch.QueueBind(r.queue, "here.#", r.exchange, false, nil); err != nil {
		t.Fatal(err)
	}
	p := r.producer(validate.Version(orders, 1))
	var wg sync.WaitGroup
	for n := range 3000 {
		wg.Go(func() {
			key, want := "here.x", rabbitmq.Fate(0)
			if n%3 == 0 {
				key, want = "elsewhere", rabbitmq.Unroutable
			}
			err := p.Publish(ctx, r.exchange, key, amqp.Publishing{Body: []byte(`{"id":1}`)})
			var e *rabbitmq.Error
			if errors.As(err, &e); (e == nil && (want != 0 || err != nil)) || (e != nil && e.Fate != want) {
				t.Errorf("message %d to %s: %v", n, key, err)
			}
		})
	}
	wg.Wait()
	if n := r.depth(r.queue); n != 2000 {
		t.Errorf("%d messages in the queue, want 2,000", n)
	}
	err := p.Publish(ctx, "no-such-exchange", "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
	var e *rabbitmq.Error
	if !errors.As(err, &e) || e.Fate != rabbitmq.Refused || !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("an exchange that does not exist: %v", err)
	}
	if err := p.Publish(ctx, r.exchange, "here.again", amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// What headerSize calls one frame is one: at the bound the broker takes it and
// the connection lives.
func TestRealHeaderBound(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	publish := func(size int) error {
		return p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: "m", Headers: amqp.Table{"pad": strings.Repeat("x", size)}, Body: []byte(`{"id":1}`)})
	}
	low, high := 130_000, 131_100
	for low+1 < high {
		mid := (low + high) / 2
		var e *rabbitmq.Error
		switch err := publish(mid); {
		case err == nil:
			low = mid
		case errors.As(err, &e) && e.Fate == rabbitmq.TooLarge:
			high = mid
		default:
			t.Fatalf("a header of %d bytes: %v", mid, err)
		}
	}
	t.Logf("a header of %d bytes is the longest beside the stamps", low)
}

// The connection dies under both sides, again and again: nothing is lost, and
// what comes twice has its id.
func TestRealConnectionLost(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	ids := map[string]int{}
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		ids[d.Message.MessageId]++
		return nil
	}, rabbitmq.ConsumerOptions{})
	p := r.producer(validate.Version(orders, 1))
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range 5 {
			tick := time.NewTimer(200 * time.Millisecond)
			<-tick.C
			for _, c := range []*rabbitmq.Connector{r.in, r.out} {
				if conn := c.Connection(); conn != nil {
					_ = conn.CloseDeadline(time.Now()) // no handshake: as if the line was cut
				}
			}
		}
	}()
	n := 0
	for done := false; !done; n++ {
		select {
		case <-killed:
			done = true
		default:
		}
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: fmt.Sprint(n), Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "every id handled", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ids) == n
	})
	stop()
	twice := 0
	for _, times := range ids {
		if times > 1 {
			twice++
		}
	}
	t.Logf("%d messages over 5 lost connections, %d came twice", n, twice)
	if dead := r.depth(r.dead); dead != 0 {
		t.Errorf("%d set aside", dead)
	}
}

func TestRealRetryQueue(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	var order []string
	var first, again time.Time
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *rabbitmq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, d.Message.MessageId)
		if d.Message.MessageId == "slow" && d.Attempt == 1 {
			first = time.Now()
			return errors.New("busy")
		}
		if d.Message.MessageId == "slow" {
			again = time.Now()
			if d.Attempt != 2 {
				t.Errorf("attempt %d", d.Attempt)
			}
		}
		return nil
	}, rabbitmq.ConsumerOptions{RetryQueues: true, Retry: rabbitmq.Policy{Base: 2 * time.Second, Attempts: 2}})
	t.Cleanup(func() { _, _ = r.ch.QueueDelete(r.queue+".retry.2000", false, false, false) })
	p := r.producer(validate.Version(orders, 1))
	for _, id := range []string{"slow", "next"} {
		if err := p.Publish(ctx, r.exchange, "k", amqp.Publishing{MessageId: id, Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "the slow one comes again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(order) == 3
	})
	stop()
	if got := strings.Join(order, " "); got != "slow next slow" {
		t.Errorf("order %s: the next message waited", got)
	}
	if waited := again.Sub(first); waited < 1400*time.Millisecond || waited > 10*time.Second {
		t.Errorf("it came after %v, want 1.5 to 2 s", waited)
	}
}

func TestRealMissingDestinations(t *testing.T) {
	t.Parallel()
	r := connect(t)
	for _, o := range []rabbitmq.ConsumerOptions{
		{Queue: "no-such-queue", DeadLetter: rabbitmq.Destination{Key: r.dead}},
		{Queue: r.queue, DeadLetter: rabbitmq.Destination{Key: "no-such-queue"}},
		{Queue: r.queue, DeadLetter: rabbitmq.Destination{Exchange: "no-such-exchange"}},
	} {
		c, err := rabbitmq.NewConsumer(r.in.Open, r.v, any1(), func(context.Context, *rabbitmq.Delivery) error { return nil }, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), "no-such") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	c, err := rabbitmq.NewConsumer(r.in.Open, r.v, any1(), func(context.Context, *rabbitmq.Delivery) error { return nil }, rabbitmq.ConsumerOptions{Queue: r.queue, DeadLetter: rabbitmq.Destination{Exchange: r.exchange, Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := c.Run(over); err != nil {
		t.Errorf("a topic exchange as the dead letter: %v", err)
	}
}
