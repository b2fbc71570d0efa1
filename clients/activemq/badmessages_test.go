package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Each kind of bad message that STOMP can carry ends in the dead letter, with its
// reason and everything it came with (C1, C5, C8). Two values of one header the
// broker does not deliver.
func TestRealBadMessages(t *testing.T) {
	t.Parallel()
	r := connect(t)
	one := r.registry.Register("orders-value", schemas.JSON, orderV1)
	two := r.registry.Register("orders-value", schemas.JSON, orderV2)
	gone := r.registry.Register("orders-value", schemas.JSON, `{"type":"object","title":"gone"}`)
	other := r.registry.Register("other-value", schemas.JSON, `{"type":"array"}`)
	if _, err := r.registry.Client.DeleteVersion(ctx, gone.Subject, gone.Version, false); err != nil {
		t.Fatal(err)
	}
	stamps := func(f schemas.Found, more ...string) []string {
		h := []string{"schemaSubject", f.Subject.String(), "schemaVersion", f.Version.String(), "schemaId", f.ID.String(), "schemaGuid", f.GUID.String(), "schemaType", string(f.Source.Type), "other", "a:b\nc"}
		for i := 0; i < len(more); i += 2 {
			found := false
			for j := 0; j < len(h); j += 2 {
				if h[j] == more[i] {
					h[j+1], found = more[i+1], true
				}
			}
			if !found {
				h = append(h, more[i], more[i+1])
			}
		}
		return h
	}
	good := []byte(`{"id":1}`)
	e := &validate.Expect{Subject: orders, Reads: validate.MustReads("1,3..9"), RefuseRetired: true}
	errNoCustomer := errors.New("no such customer")
	stop := r.consumer(e, func(_ context.Context, d *activemq.Delivery) error {
		switch header(d.Message, "do") {
		case "reject":
			return activemq.Reject(errNoCustomer)
		case "long":
			return activemq.Reject(errors.New(strings.Repeat("a:\n", 22_000)))
		case "panic":
			panic(strings.Repeat("a long\nstack: ", 10_000))
		case "fail":
			return errNoCustomer
		}
		t.Errorf("handled: %v", d.Message.Headers)
		return nil
	}, activemq.ConsumerOptions{Retry: retry.Policy{Attempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
	for _, tt := range []struct {
		name    string
		headers []string
		body    []byte
		reason  string
	}{
		{"nothing", nil, good, "header_missing"},
		{"lower-cased names", []string{"schemaversion", "1", "schemasubject", "orders-value"}, good, "header_missing"},
		{"version in words", stamps(one, "schemaVersion", "one"), good, "header_malformed"},
		{"version as a float", stamps(one, "schemaVersion", "1.0"), good, "header_malformed"},
		{"version with a space", stamps(one, "schemaVersion", " 1"), good, "header_malformed"},
		{"empty version", stamps(one, "schemaVersion", ""), good, "header_malformed"},
		{"a guid that is none", stamps(one, "schemaGuid", "x"), good, "header_malformed"},
		{"version and guid differ", stamps(one, "schemaGuid", two.GUID.String()), good, "identity_conflict"},
		{"version and id differ", []string{"schemaSubject", "orders-value", "schemaVersion", "1", "schemaId", two.ID.String()}, good, "identity_conflict"},
		{"type differs", stamps(one, "schemaType", "AVRO"), good, "identity_conflict"},
		{"another subject", stamps(other), []byte(`[]`), "subject_mismatch"},
		{"id of another subject", []string{"schemaId", other.ID.String()}, []byte(`[]`), "subject_mismatch"},
		{"unknown version", []string{"schemaVersion", "7"}, good, "version_unknown"},
		{"unknown id", []string{"schemaId", "12345"}, good, "schema_unknown"},
		{"unknown guid", []string{"schemaGuid", schemas.GUID{1: 1}.String()}, good, "schema_unknown"},
		{"unsupported version", stamps(two), good, "version_unsupported"},
		{"retired version", stamps(gone), good, "version_retired"},
		{"no JSON", stamps(one), []byte(`{`), "payload_unreadable"},
		{"no body", stamps(one), []byte{}, "payload_unreadable"},
		{"against the schema", stamps(one), []byte(`{"id":"x"}`), "payload_invalid"},
		{"too large", stamps(one), append(make([]byte, 9<<20), '1'), "payload_too_large"},
		{"the handler rejects", stamps(one, "do", "reject"), good, "handler_rejected"},
		{"the handler has much to say", stamps(one, "do", "long"), good, "handler_rejected"},
		{"the handler panics", stamps(one, "do", "panic"), good, "handler_panicked"},
		{"the handler gives up", stamps(one, "do", "fail"), good, "attempts_exhausted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r.put(tt.body, append([]string{"messageId", "m-" + tt.name, "correlation-id", "c", "type", "T", "priority", "6"}, tt.headers...)...)
			d := r.take(r.dead)
			if got := d.Header.Get("dlqReason"); got != tt.reason {
				t.Fatalf("dlqReason %v, want %s (%v)", got, tt.reason, d.Header.Get("dlqError"))
			}
			want := map[string]string{
				"messageId": "m-" + tt.name, "correlation-id": "c", "type": "T", "priority": "6", "persistent": "true",
				"dlqOriginalDestination": r.queue, "dlqOriginalQueue": r.queue, "dlqExpected": "orders-value 1,3..9",
			}
			for i := 0; i < len(tt.headers); i += 2 {
				want[tt.headers[i]] = tt.headers[i+1]
			}
			for name, text := range want {
				if got := d.Header.Get(name); got != text {
					t.Errorf("%s is %q, want %q", name, got, text)
				}
			}
			if string(d.Body) != string(tt.body) {
				t.Errorf("%d bytes, want %d", len(d.Body), len(tt.body))
			}
			for i := range d.Header.Len() {
				if name, value := d.Header.GetAt(i); strings.HasPrefix(name, "dlq") && len(value) > 8<<10 {
					t.Errorf("%s has %d bytes", name, len(value))
				}
			}
			trace := d.Header.Get("dlqTrace")
			if tt.name == "the handler panics" && !strings.Contains(trace, "goroutine") || tt.name == "the handler has much to say" && len(trace) < 4<<10 {
				t.Errorf("%d bytes of the cause", len(trace))
			}
		})
	}
	stop()
	if left := r.depth(r.queue); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

// wire is a connection to the real broker on which something goes wrong.
type wire struct {
	activemq.Conn
	write func(f *frame.Frame) error
	fail  chan *frame.Frame
}

func (w *wire) Write(f *frame.Frame) error {
	if f != nil {
		if err := w.write(f); err != nil {
			return err
		}
	}
	return w.Conn.Write(f)
}

// Read gives what the test says the broker said, else what it says.
func (w *wire) Read() (*frame.Frame, error) {
	f, err := w.Conn.Read()
	select {
	case f := <-w.fail:
		return f, nil
	default:
		return f, err
	}
}

// The connection is lost just after a dead letter's transaction was committed and
// before the broker's word came: the message is in one place, not in two and not
// in none. That is C6 where a broker has transactions.
func TestRealDeadLetterIsAtomic(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{frame.BEGIN, frame.SEND, frame.ACK, frame.COMMIT, "receipt"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.registry.Register("orders-value", schemas.JSON, orderV1)
			r.put([]byte(`{`), "messageId", "bad", "schemaSubject", "orders-value", "schemaVersion", "1")
			open := r.open
			var losses atomic.Int32
			r.open = func(ctx context.Context) (activemq.Conn, error) {
				c, err := open(ctx)
				if err != nil {
					return nil, err
				}
				w := &wire{Conn: c}
				w.write = func(f *frame.Frame) error {
					switch {
					case lost == "receipt" && f.Command == frame.COMMIT && losses.Add(1) == 1:
						err := c.Write(f)
						// Give the broker the time that it needs, without its answer being read.
						time.AfterFunc(200*time.Millisecond, func() { _ = c.Close() })
						<-time.NewTimer(300 * time.Millisecond).C
						return errors.Join(err, errors.New("the line is cut"))
					case f.Command == lost && losses.Add(1) == 1:
						_ = c.Close()
						return errors.New("the line is cut")
					}
					return nil
				}
				return w, nil
			}
			stop := r.consumer(&validate.Expect{Subject: orders}, nil, activemq.ConsumerOptions{})
			brokertest.Await(t, "it is set aside", func() bool { return r.depth(r.dead) > 0 && losses.Load() > 0 })
			brokertest.Await(t, "it has left the queue", func() bool { return r.depth(r.queue) == 0 })
			stop()
			if dead := r.look(r.dead); len(dead) != 1 || dead[0].Header.Get("messageId") != "bad" {
				t.Errorf("%d in the dead letter", len(dead))
			}
		})
	}
}

// The broker refuses a dead letter: with its own dead letter allowed the message
// goes there, without a reason; otherwise it is held and never acknowledged, and
// that in no hot loop (C7).
func TestRealDeadLetterRefused(t *testing.T) {
	t.Parallel()
	for _, toBroker := range []bool{true, false} {
		t.Run(fmt.Sprintf("to the broker %v", toBroker), func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.registry.Register("orders-value", schemas.JSON, orderV1)
			open := r.open
			var refused, opened atomic.Int32
			r.open = func(ctx context.Context) (activemq.Conn, error) {
				c, err := open(ctx)
				if err != nil {
					return nil, err
				}
				opened.Add(1)
				w := &wire{Conn: c, fail: make(chan *frame.Frame, 1)}
				w.write = func(f *frame.Frame) error {
					if f.Command == frame.COMMIT {
						refused.Add(1)
						w.fail <- frame.New(frame.ERROR, frame.Message, "User app is not authorized to write to: queue://"+r.dead)
						f.Command = frame.ABORT
					}
					return nil
				}
				return w, nil
			}
			var handled brokertest.Tally
			stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
				handled.Add(d.Message.MessageID)
				return nil
			}, activemq.ConsumerOptions{BrokerDeadLetter: toBroker, Workers: 2})
			r.put([]byte(`{`), "messageId", "bad", "schemaSubject", "orders-value", "schemaVersion", "1")
			r.put([]byte(`{"id":1}`), "messageId", "good", "schemaSubject", "orders-value", "schemaVersion", "1")
			brokertest.Await(t, "the good one is handled", func() bool { return handled.IDs() == 1 })
			if toBroker {
				d := r.take(r.dead)
				if d.Header.Get("messageId") != "bad" || d.Header.Get("dlqReason") != "" {
					t.Errorf("%v", d.Header)
				}
				stop()
				if n := refused.Load(); n != 1 {
					t.Errorf("%d dead letters were refused", n)
				}
				return
			}
			brief := time.Now()
			brokertest.Await(t, "it is tried again and again", func() bool { return refused.Load() >= 3 && time.Since(brief) > 2*time.Second })
			stop()
			if n := opened.Load(); n > 20 {
				t.Errorf("%d connections were made: that is a hot loop", n)
			}
			if left := r.look(r.queue); len(left) != 1 || left[0].Header.Get("messageId") != "bad" || r.depth(r.dead) != 0 {
				t.Errorf("%d left, %d set aside", len(left), r.depth(r.dead))
			}
		})
	}
}

// A message that waits for the registry is handed out again and again in its
// place, and never to the broker's dead letter: ten rounds of holding.
func TestRealHoldKeepsPlace(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	for n := range 20 {
		r.put([]byte(`{"id":1}`), "messageId", fmt.Sprintf("%02d", n), "schemaSubject", "orders-value", "schemaVersion", "1")
	}
	for range 10 {
		w := r.line()
		if err := w.conn.Write(frame.New(frame.SUBSCRIBE, frame.Id, "0", frame.Destination, "/queue/"+r.queue, frame.Ack, "client-individual", "activemq.prefetchSize", "5")); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			w.next()
		}
		// Whoever subscribes before the broker has put them back is given others first.
		w.ask(frame.New(frame.UNSUBSCRIBE, frame.Id, "0"))
		_ = w.conn.Close()
	}
	var handled brokertest.Tally
	r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		handled.Add(d.Message.MessageID)
		return nil
	}, activemq.ConsumerOptions{})
	brokertest.Await(t, "all are handled", func() bool { return handled.IDs() == 20 })
	for n, id := range handled.Order() {
		if id != fmt.Sprintf("%02d", n) {
			t.Fatalf("order %v", handled.Order())
		}
	}
	if dead := r.depth(r.dead); dead != 0 {
		t.Errorf("%d set aside", dead)
	}
}
