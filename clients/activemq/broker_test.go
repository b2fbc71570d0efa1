package activemq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/retry"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A thousand messages of two versions, each with the headers it was stamped with.
func TestRealTwoVersions(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	r.registry.Register("orders-value", schemas.JSON, orderV2)
	var handled, versions brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: orders, Reads: validate.MustReads("1..2")}, func(_ context.Context, d *activemq.Delivery) error {
		handled.Add(d.Message.MessageID)
		versions.Add(d.Version.String())
		for name, want := range map[string]string{"schemaVersion": d.Version.String(), "schemaSubject": "orders-value", "schemaGuid": d.GUID.String(), "schemaType": "JSON", "messageId": d.Message.MessageID, "schemaId": d.ID.String()} {
			if got := header(d.Message, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		return nil
	}, activemq.ConsumerOptions{Workers: 4, Prefetch: 50})
	v1, v2 := r.producer(validate.Version(orders, 1)), r.producer(validate.Version(orders, 2))
	var wg sync.WaitGroup
	for n := range 1000 {
		wg.Go(func() {
			p := v1
			if n%2 == 1 {
				p = v2
			}
			if err := p.Publish(ctx, r.queue, &activemq.Message{Body: fmt.Appendf(nil, `{"id":%d}`, n)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	brokertest.Await(t, "1,000 messages handled", func() bool { return handled.IDs() == 1000 })
	stop()
	if versions.Of("1") != 500 || versions.Of("2") != 500 || handled.All() != 1000 {
		t.Errorf("versions %v, %d handled", versions.Order(), handled.All())
	}
	if left, dead := r.depth(r.queue), r.depth(r.dead); left != 0 || dead != 0 {
		t.Errorf("%d left, %d set aside", left, dead)
	}
}

func header(m *activemq.Message, name string) string {
	for _, h := range m.Headers {
		if h.Name == name {
			return h.Value.(string)
		}
	}
	return ""
}

// Every format, and a Protobuf message of zero bytes, which is all defaults (C10).
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
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{10, 1, 0}},
		{"shop-value", "syntax = \"proto3\";\npackage acme;\nmessage Order { int64 id = 1; }\nmessage Refund { string why = 1; }\n", "acme.Refund", schemas.Protobuf, []byte{}},
	} {
		f := r.registry.Register(tt.subject, tt.t, tt.text)
		p := r.producer(validate.Latest(validate.Fixed(tt.subject), 0))
		if err := p.Publish(ctx, r.queue, &activemq.Message{Type: tt.kind, Body: tt.body}); err != nil {
			t.Fatalf("%s: %v", tt.t, err)
		}
		got := make(chan *activemq.Delivery, 1)
		stop := r.consumer(&validate.Expect{Value: true}, func(_ context.Context, d *activemq.Delivery) error {
			got <- d
			return nil
		}, activemq.ConsumerOptions{})
		d := brokertest.Next(t, got)
		stop()
		if d.Type != tt.t || d.GUID != f.GUID || d.ID != f.ID || d.Value == nil || d.Outcome.Message != tt.kind || string(d.Payload) != string(tt.body) {
			t.Errorf("%s: %+v", tt.t, d.Outcome)
		}
	}
}

// Names and values come as they were sent, whatever is in them (H8), and so does
// what a message has beside its headers. An invalid message never leaves (P1).
func TestRealRoundTrip(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	var refused *validate.Error
	if err := p.Publish(ctx, r.queue, &activemq.Message{Body: []byte(`{"id":"x"}`)}); !errors.As(err, &refused) || refused.Reason != validate.PayloadInvalid {
		t.Fatalf("an invalid message: %v", err)
	}
	if n := r.depth(r.queue); n != 0 {
		t.Fatalf("%d messages in the queue", n)
	}
	headers := []validate.Header{
		{Name: "plain", Value: "value"},
		{Name: "empty", Value: ""},
		{Name: "space", Value: " a b "},
		{Name: "colon", Value: "a:b:"},
		{Name: "lines", Value: "a\nb\r\nc"},
		{Name: "backslash", Value: `a\b\\n\c`},
		{Name: "word", Value: "ação 日本 🙂"},
		{Name: "number", Value: 7},
		{Name: "bytes", Value: []byte("b")},
		{Name: "traceparent", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		{Name: "with-dash", Value: "-"},
		{Name: "nothing", Value: nil},
		{Name: "long", Value: strings.Repeat(":", (activemq.LongestLine-5)/2)},
	}
	expires := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	sent := activemq.Message{Headers: headers, ContentType: "application/json", CorrelationID: "c:1", ReplyTo: "/queue/answers", Priority: 7, Expires: expires, Type: "T", MessageID: "m-1", Key: "k 1", Body: []byte("{\"id\":1}\n")}
	if err := p.Publish(ctx, "queue://"+r.queue, &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Headers) != len(headers) || string(sent.Body) != "{\"id\":1}\n" {
		t.Error("the caller's message was changed")
	}
	got := make(chan *activemq.Message, 1)
	r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		got <- d.Message
		return nil
	}, activemq.ConsumerOptions{})
	m := brokertest.Next(t, got)
	for _, h := range headers {
		want := fmt.Sprint(h.Value)
		switch v := h.Value.(type) {
		case nil:
			want = ""
		case []byte:
			want = string(v)
		}
		if text := header(m, h.Name); text != want {
			t.Errorf("%s is %q, want %q", h.Name, text, want)
		}
	}
	if m.ContentType != "application/json" || m.CorrelationID != "c:1" || m.ReplyTo != "/queue/answers" || m.Priority != 7 || !m.Expires.Equal(expires) || m.Type != "T" || m.MessageID != "m-1" || m.Key != "k 1" || string(m.Body) != "{\"id\":1}\n" || m.Timestamp.IsZero() {
		t.Errorf("%+v", m)
	}
}

// What this package calls the longest line is one that the broker takes; one
// byte more is refused before it is sent, and the connection lives.
func TestRealHeaderBound(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := r.producer(validate.Version(orders, 1))
	publish := func(headers ...validate.Header) error {
		return p.Publish(ctx, r.queue, &activemq.Message{Headers: headers, Body: []byte(`{"id":1}`)})
	}
	pad := func(n int) validate.Header {
		return validate.Header{Name: "pad", Value: strings.Repeat("x", n)}
	}
	if err := publish(pad(activemq.LongestLine - 4)); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	for name, list := range map[string][]validate.Header{
		"one byte more":       {pad(activemq.LongestLine - 3)},
		"more when escaped":   {{Name: "pad", Value: strings.Repeat("\n", activemq.LongestLine/2)}},
		"as many as can't be": make([]validate.Header, 0, 1000),
	} {
		if name == "as many as can't be" {
			for n := range 1000 {
				list = append(list, validate.Header{Name: fmt.Sprintf("h%d", n), Value: "x"})
			}
		}
		var e *activemq.Error
		if err := publish(list...); !errors.As(err, &e) || e.Fate != activemq.TooLarge || !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, h := range map[string]validate.Header{"a word of the frame": {Name: "receipt", Value: "x"}, "a zero byte": {Name: "a", Value: "\x00"}, "no name": {Value: "x"}} {
		var e *activemq.Error
		if err := publish(h); !errors.As(err, &e) || e.Fate != activemq.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := publish(validate.Header{Name: "a", Value: "1"}, validate.Header{Name: "a", Value: "2"}); !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("two values: %v", err)
	}
	many := make([]validate.Header, 0, 1000)
	for n := range 980 {
		many = append(many, validate.Header{Name: fmt.Sprintf("h%d", n), Value: "x"})
	}
	if err := publish(many...); err != nil {
		t.Errorf("many headers: %v", err)
	}
	if n := r.depth(r.queue); n != 2 {
		t.Errorf("%d messages in the queue", n)
	}
}

// The connection dies under both sides, again and again: nothing is lost, and
// what comes twice has its id (P3).
func TestRealConnectionLost(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	var conns []activemq.Conn
	open := r.open
	r.open = func(ctx context.Context) (activemq.Conn, error) {
		c, err := open(ctx)
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			conns = append(conns, c)
		}
		return c, err
	}
	var handled brokertest.Tally
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		handled.Add(d.Message.MessageID)
		return nil
	}, activemq.ConsumerOptions{Prefetch: 20})
	p := r.producer(validate.Version(orders, 1))
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for range 5 {
			<-time.NewTimer(300 * time.Millisecond).C
			mu.Lock()
			for _, c := range conns {
				_ = c.Close()
			}
			conns = nil
			mu.Unlock()
		}
	}()
	n := 0
	for done := false; !done; n++ {
		select {
		case <-killed:
			done = true
		default:
		}
		if err := p.Publish(ctx, r.queue, &activemq.Message{MessageID: fmt.Sprint(n), Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	brokertest.Await(t, "every id handled", func() bool { return handled.IDs() == n })
	stop()
	t.Logf("%d messages over 5 lost connections, %d came twice", n, handled.All()-n)
	if dead := r.depth(r.dead); dead != 0 {
		t.Errorf("%d set aside", dead)
	}
}

// A retry of 2 s and more leaves the queue, and the next message does not wait.
func TestRealScheduledRetry(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	var mu sync.Mutex
	var order []string
	var first, again time.Time
	stop := r.consumer(&validate.Expect{Subject: orders}, func(_ context.Context, d *activemq.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, d.Message.MessageID)
		if d.Message.MessageID != "slow" {
			return nil
		}
		if d.Attempt == 1 {
			first = time.Now()
			return errors.New("busy")
		}
		again = time.Now()
		if d.Attempt != 2 || d.Message.Key != "k" || header(d.Message, "mine") != "yes" || d.Message.CorrelationID != "c" {
			t.Errorf("attempt %d: %+v", d.Attempt, d.Message)
		}
		return activemq.Reject(errors.New("no such customer"))
	}, activemq.ConsumerOptions{ScheduledRetries: true, Retry: retry.Policy{Base: 2 * time.Second, Attempts: 3}})
	p := r.producer(validate.Version(orders, 1))
	for _, id := range []string{"slow", "next"} {
		m := activemq.Message{MessageID: id, Key: "k", CorrelationID: "c", Headers: []validate.Header{{Name: "mine", Value: "yes"}}, Body: []byte(`{"id":1}`)}
		if err := p.Publish(ctx, r.queue, &m); err != nil {
			t.Fatal(err)
		}
	}
	d := r.take(r.dead)
	stop()
	if got := strings.Join(order, " "); got != "slow next slow" {
		t.Errorf("order %s: the next message waited", got)
	}
	if waited := again.Sub(first); waited < 1400*time.Millisecond || waited > 20*time.Second {
		t.Errorf("it came after %v, want 1.5 to 3 s", waited)
	}
	for name, want := range map[string]string{"dlqAttempts": "2", "dlqReason": "handler_rejected", "messageId": "slow", "dlqOriginalQueue": r.queue, "dlqOriginalDestination": r.queue, "AMQ_SCHEDULED_DELAY": "", "scheduledJobId": ""} {
		if got := d.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if d.Header.Get("dlqFirstFailedAt") >= d.Header.Get("dlqFailedAt") {
		t.Errorf("failed first %s, last %s", d.Header.Get("dlqFirstFailedAt"), d.Header.Get("dlqFailedAt"))
	}
}
