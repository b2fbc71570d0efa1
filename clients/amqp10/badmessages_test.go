package amqp10_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Each kind of bad message that AMQP 1.0 can carry ends in the dead letter, with
// its reason and everything it came with (C1, C5, C8).
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
	stamps := func(f schemas.Found, more ...any) map[string]any {
		h := map[string]any{"schemaSubject": f.Subject.String(), "schemaVersion": f.Version.String(), "schemaId": f.ID.String(), "schemaGuid": f.GUID.String(), "schemaType": string(f.Source.Type), "other": int64(7)}
		for i := 0; i < len(more); i += 2 {
			h[more[i].(string)] = more[i+1]
			if more[i+1] == nil {
				delete(h, more[i].(string))
			}
		}
		return h
	}
	good := []byte(`{"id":1}`)
	e := &validate.Expect{Subject: orders, Reads: validate.MustReads("1,3..9"), RefuseRetired: true}
	errNoCustomer := errors.New("no such customer")
	stop := r.consumer(e, func(_ context.Context, d *amqp10.Delivery) error {
		switch prop(d.Message, "do") {
		case "reject":
			return amqp10.Reject(errNoCustomer)
		case "long":
			return amqp10.Reject(errors.New(strings.Repeat("a:\n", 22_000)))
		case "panic":
			panic("it broke")
		case "fail":
			return errNoCustomer
		}
		t.Errorf("handled: %v", d.Message.ApplicationProperties)
		return nil
	}, amqp10.ConsumerOptions{Retry: retry.Policy{Attempts: 2, Base: time.Millisecond, Cap: time.Millisecond}})
	for _, tt := range []struct {
		name       string
		properties map[string]any
		body       []byte
		reason     string
	}{
		{"nothing", nil, good, "header_missing"},
		{"lower-cased names", map[string]any{"schemaversion": "1", "schemasubject": "orders-value"}, good, "header_missing"},
		{"version in words", stamps(one, "schemaVersion", "one"), good, "header_malformed"},
		{"version as a float", stamps(one, "schemaVersion", 1.0), good, "header_malformed"},
		{"version as a bool", stamps(one, "schemaVersion", true), good, "header_malformed"},
		{"empty version", stamps(one, "schemaVersion", ""), good, "header_malformed"},
		{"version and guid differ", stamps(one, "schemaGuid", two.GUID.String()), good, "identity_conflict"},
		{"version and id differ", stamps(one, "schemaGuid", nil, "schemaId", two.ID.String()), good, "identity_conflict"},
		{"type differs", stamps(one, "schemaType", "AVRO"), good, "identity_conflict"},
		{"another subject", stamps(other), []byte(`[]`), "subject_mismatch"},
		{"id of another subject", map[string]any{"schemaId": other.ID.String()}, []byte(`[]`), "subject_mismatch"},
		{"unknown version", map[string]any{"schemaVersion": "7"}, good, "version_unknown"},
		{"unknown id", map[string]any{"schemaId": "12345"}, good, "schema_unknown"},
		{"unknown guid", map[string]any{"schemaGuid": schemas.GUID{1: 1}.String()}, good, "schema_unknown"},
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
			m := amqp.NewMessage(tt.body)
			m.ApplicationProperties = map[string]any{"messageId": "m-" + tt.name}
			for name, value := range tt.properties {
				m.ApplicationProperties[name] = value
			}
			m.Properties = &amqp.MessageProperties{CorrelationID: "c"}
			r.put(m)
			d := r.take(r.dead)
			if got := prop(d, "dlqReason"); got != tt.reason {
				t.Fatalf("dlqReason %v, want %s (%v)", got, tt.reason, prop(d, "dlqError"))
			}
			for name, want := range m.ApplicationProperties {
				if got := d.ApplicationProperties[name]; got != want {
					t.Errorf("%s is %#v, want %#v", name, got, want)
				}
			}
			for name, want := range map[string]string{"dlqOriginalDestination": r.queue, "dlqOriginalQueue": r.queue, "dlqExpected": "orders-value 1,3..9"} {
				if got := prop(d, name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if string(d.GetData()) != string(tt.body) || d.Properties.CorrelationID != "c" || d.Header.Priority != 6 || !d.Header.Durable {
				t.Errorf("%d bytes, want %d; %+v, %+v", len(d.GetData()), len(tt.body), d.Properties, d.Header)
			}
			size := 0
			for name, value := range d.ApplicationProperties {
				text, ok := value.(string)
				if strings.HasPrefix(name, "dlq") && (!ok || len(text) > 8<<10) {
					t.Errorf("%s: %T of %d bytes", name, value, len(text))
				}
				size += len(name) + len(text)
			}
			if size > 26<<10 {
				t.Errorf("%d bytes of properties", size)
			}
		})
	}
	t.Run("a body of another kind", func(t *testing.T) {
		r.put(&amqp.Message{Value: int64(7), ApplicationProperties: stamps(one)})
		if d := r.take(r.dead); prop(d, "dlqReason") != "payload_unreadable" || !strings.Contains(prop(d, "dlqError"), "neither data nor text") {
			t.Errorf("%v", d.ApplicationProperties)
		}
	})
	stop()
	if left := r.depth(r.queue); left != 0 {
		t.Errorf("%d messages left", left)
	}
}

// bent is a connection to the real broker whose senders do as a test says.
type bent struct {
	amqp10.Conn
	send func(s amqp10.Sender, m *amqp.Message) (amqp.DeliveryState, error)
}

func (b *bent) NewSender(ctx context.Context, address string) (amqp10.Sender, error) {
	s, err := b.Conn.NewSender(ctx, address)
	return &bentSender{s, b}, err
}

type bentSender struct {
	amqp10.Sender
	b *bent
}

func (s *bentSender) Send(_ context.Context, m *amqp.Message) (amqp.DeliveryState, error) {
	return s.b.send(s.Sender, m)
}

func (r *real) bend(send func(s amqp10.Sender, m *amqp.Message) (amqp.DeliveryState, error)) {
	open := r.open
	r.open = func(ctx context.Context) (amqp10.Conn, error) {
		c, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return &bent{c, send}, nil
	}
}

// The dead letter is refused: with the broker's own allowed the message is
// rejected into that; otherwise it is held and never accepted (C7).
func TestRealDeadLetterRefused(t *testing.T) {
	t.Parallel()
	for _, toBroker := range []bool{true, false} {
		t.Run(fmt.Sprintf("to the broker %v", toBroker), func(t *testing.T) {
			t.Parallel()
			r := connect(t)
			r.registry.Register("orders-value", schemas.JSON, orderV1)
			r.put(message(`{`, "messageId", "bad", "schemaVersion", "1"), message(`{"id":1}`, "messageId", "good", "schemaVersion", "1"))
			var refused atomic.Int32
			r.bend(func(amqp10.Sender, *amqp.Message) (amqp.DeliveryState, error) {
				refused.Add(1)
				return &amqp.StateRejected{Error: &amqp.Error{Condition: amqp.ErrCondUnauthorizedAccess}}, nil
			})
			var handled brokertest.Tally
			stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *amqp10.Delivery) error {
				handled.Add(prop(d.Message, "messageId"))
				return nil
			}, amqp10.ConsumerOptions{BrokerDeadLetter: toBroker, Workers: 2})
			brokertest.Await(t, "the good one is handled", func() bool { return handled.IDs() == 1 })
			if toBroker {
				if d := r.take(r.dead); prop(d, "messageId") != "bad" || prop(d, "dlqReason") != "" {
					t.Errorf("%v", d.ApplicationProperties)
				}
				stop()
				return
			}
			brokertest.Await(t, "it is tried again", func() bool { return refused.Load() >= 3 })
			stop()
			if left := r.look(r.queue); len(left) != 1 || left[0].Header.Get("messageId") != "bad" || r.depth(r.dead) != 0 {
				t.Errorf("%d left, %d set aside", len(left), r.depth(r.dead))
			}
		})
	}
}

// What a broker says of a message, and what becomes of it.
func TestRealOutcomes(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var state amqp.DeliveryState
	var failure error
	tries := 0
	enough := func() {}
	r.bend(func(s amqp10.Sender, m *amqp.Message) (amqp.DeliveryState, error) {
		what, err := state, failure // before the test goes on
		if tries++; tries == 3 {
			enough()
		}
		if what == nil && err == nil {
			return s.Send(ctx, m)
		}
		return what, err
	})
	p := r.producer(validate.Version(orders, 1))
	for _, tt := range []struct {
		state   amqp.DeliveryState
		err     error
		fate    amqp10.Fate
		is      error
		address string
	}{
		{state: &amqp.StateRejected{}, fate: amqp10.Refused, is: validate.ErrPermanent},
		{state: &amqp.StateRejected{Error: &amqp.Error{Condition: amqp.ErrCondUnauthorizedAccess}}, fate: amqp10.Refused, is: validate.ErrPermanent},
		{state: &amqp.StateRejected{Error: &amqp.Error{Condition: amqp.ErrCondResourceLimitExceeded}}, fate: amqp10.Nacked, is: validate.ErrUnavailable},
		{state: &amqp.StateReleased{}, fate: amqp10.Nacked, is: validate.ErrUnavailable},
		{state: &amqp.StateModified{DeliveryFailed: true}, fate: amqp10.Nacked, is: validate.ErrUnavailable},
		{state: &amqp.StateReceived{}, fate: amqp10.Unknown, is: validate.ErrUnavailable},
		{err: &amqp.Error{Condition: amqp.ErrCondMessageSizeExceeded}, fate: amqp10.TooLarge, is: validate.ErrPermanent},
		{err: &amqp.LinkError{RemoteErr: &amqp.Error{Condition: amqp.ErrCondNotFound}}, fate: amqp10.Unroutable, is: validate.ErrPermanent},
		{err: errors.New("it cannot be written"), fate: amqp10.Refused, is: validate.ErrPermanent},
	} {
		state, failure = tt.state, tt.err
		err := p.Publish(ctx, r.queue, message(`{"id":1}`))
		var e *amqp10.Error
		if !errors.As(err, &e) || e.Fate != tt.fate || !errors.Is(err, tt.is) || e.MessageID == "" {
			t.Errorf("%T %v: %v", tt.state, tt.err, err)
		}
	}
	state, failure = nil, &amqp.ConnError{}
	brief, cancel := context.WithCancel(ctx)
	defer cancel()
	tries, enough = 0, cancel
	var e *amqp10.Error
	if err := p.Publish(brief, r.queue, message(`{"id":1}`)); !errors.As(err, &e) || e.Fate != amqp10.Unknown {
		t.Errorf("a connection that is lost every time: %v", err)
	}
	failure = nil
	m := message(`{"id":1}`, "no simple type", []string{"a"})
	if err := p.Publish(ctx, r.queue, m); !errors.As(err, &e) || e.Fate != amqp10.Refused {
		t.Errorf("a value that AMQP does not know: %v", err)
	}
	if n := r.depth(r.queue); n != 0 {
		t.Errorf("%d messages in the queue", n)
	}
	if err := p.Publish(ctx, r.queue, message(`{"id":1}`)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A hundred addresses, more than links are kept for, each get their message.
func TestRealManyAddresses(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	for n := range 100 {
		if err := p.Publish(ctx, fmt.Sprintf("%s.%d", r.queue, n), message(`{"id":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{0, 63, 64, 99} {
		if d := r.depth(fmt.Sprintf("%s.%d", r.queue, n)); d != 1 {
			t.Errorf("%d messages in queue %d", d, n)
		}
	}
}

// The probe refuses a broker that does not know of delays.
func TestRealNoScheduler(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.bend(func(s amqp10.Sender, m *amqp.Message) (amqp.DeliveryState, error) {
		m.Annotations = nil
		return s.Send(ctx, m)
	})
	// A busy machine may take as long over a message as one that waits would: then the
	// broker seems to know of delays.
	brokertest.Await(t, "a broker without a scheduler is refused", func() bool {
		brief, leave := context.WithTimeout(ctx, 5*time.Second)
		defer leave()
		c, err := amqp10.NewConsumer(r.open, r.v, &validate.Expect{}, nil, amqp10.ConsumerOptions{Queue: r.queue, ScheduledRetries: true})
		if err != nil {
			t.Fatal(err)
		}
		err = c.Run(brief)
		if err != nil && !strings.Contains(err.Error(), "schedulerSupport") {
			t.Fatalf("Run: %v", err)
		}
		return err != nil
	})
}
