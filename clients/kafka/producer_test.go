package kafka_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// produce makes a producer on a fake broker.
func produce(t *testing.T, b *broker, s *brokertest.Shelf, pin validate.Pin, o kafka.ProducerOptions) *kafka.Producer {
	t.Helper()
	v := s.Validator()
	t.Cleanup(v.Close)
	c, err := b.open(ctx, kafka.Group{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := kafka.NewProducer(c, v, pin, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPublish(t *testing.T) {
	t.Parallel()
	b := newBroker()
	p := produce(t, b, newShelf(), validate.Version(orders, 2), kafka.ProducerOptions{})
	r := &kgo.Record{Topic: "orders", Key: []byte("k"), Value: []byte(`{"id":1}`), Headers: []kgo.RecordHeader{header("a", "1"), header("a", "2"), {Key: "null"}, header("messageId", "mine")}}
	if err := p.Publish(ctx, r); err != nil {
		t.Fatal(err)
	}
	got := b.published()[0]
	names := ""
	for _, h := range got.Headers {
		names += h.Key + "=" + string(h.Value) + " "
	}
	want := "a=1 a=2 null= messageId=mine schemaSubject=orders-value schemaVersion=2 schemaId=2 schemaGuid="
	if !strings.HasPrefix(names, want) || got.Headers[2].Value != nil || string(got.Key) != "k" || string(got.Value) != `{"id":1}` {
		t.Errorf("%s", names)
	}
	if len(r.Headers) != 4 {
		t.Errorf("the caller's record has changed: %v", r.Headers)
	}
	// A relay stamps again: nothing changes (P10).
	if err := p.Publish(ctx, got); err != nil {
		t.Fatal(err)
	}
	if again := b.published()[1]; len(again.Headers) != len(got.Headers) {
		t.Errorf("stamped twice: %v", again.Headers)
	}
}

func TestNothingUnvalidatedReachesTheBroker(t *testing.T) {
	t.Parallel()
	key := validate.Version(orders, 1)
	for _, tt := range []struct {
		name   string
		r      kgo.Record
		reason validate.Reason
	}{
		{"against the schema", kgo.Record{Value: []byte(`{"id":"x"}`)}, validate.PayloadInvalid},
		{"no JSON", kgo.Record{Value: []byte(`{`)}, validate.PayloadUnreadable},
		{"empty", kgo.Record{Value: []byte{}}, validate.PayloadUnreadable},
		{"a header that says otherwise", kgo.Record{Value: []byte(`{"id":1}`), Headers: []kgo.RecordHeader{header("schemaVersion", "2")}}, validate.IdentityConflict},
		{"two headers", kgo.Record{Value: []byte(`{"id":1}`), Headers: []kgo.RecordHeader{header("schemaVersion", "1"), header("schemaVersion", "2")}}, validate.HeaderConflict},
		{"an invalid key", kgo.Record{Key: []byte(`"a"`), Value: []byte(`{"id":1}`)}, validate.PayloadInvalid},
	} {
		b := newBroker()
		p := produce(t, b, newShelf(), validate.Version(orders, 1), kafka.ProducerOptions{Key: &key})
		tt.r.Topic = "orders"
		err := p.Publish(ctx, &tt.r)
		var e *validate.Error
		if !errors.As(err, &e) || e.Reason != tt.reason || !errors.Is(err, validate.ErrPermanent) || len(b.published()) != 0 {
			t.Errorf("%s: %v, %d published", tt.name, err, len(b.published()))
		}
	}
}

func TestConventions(t *testing.T) {
	t.Parallel()
	key := validate.Version(orders, 1)
	for _, tt := range []struct {
		name    string
		o       kafka.ProducerOptions
		headers []kgo.RecordHeader
		want    map[string]string // parts of headers; "" for none
		value   string
		key     string
	}{
		{"plain", kafka.ProducerOptions{}, nil, map[string]string{"__value_schema_id": "", "keySchemaVersion": ""}, `{"id":1}`, `"ab"`},
		{"keys with a schema", kafka.ProducerOptions{Key: &key}, nil, map[string]string{"keySchemaVersion": "1", "keySchemaSubject": "orders-key", "schemaSubject": "orders-value", "__key_schema_id": ""}, `{"id":1}`, `"ab"`},
		{"StampConfluent", kafka.ProducerOptions{Key: &key, StampConfluent: true}, nil, map[string]string{"__value_schema_id": "\x01", "__key_schema_id": "\x01"}, `{"id":1}`, `"ab"`},
		{"FramePrefix", kafka.ProducerOptions{Key: &key, FramePrefix: true}, nil, map[string]string{"__value_schema_id": ""}, "\x00\x00\x00\x00\x01{\"id\":1}", "\x00\x00\x00\x00\x03\"ab\""},
		{"a CloudEvent", kafka.ProducerOptions{}, []kgo.RecordHeader{header("ce_specversion", "1.0"), header("content-type", "application/json")}, map[string]string{"ce_dataschema": "urn:uuid:"}, `{"id":1}`, `"ab"`},
	} {
		b := newBroker()
		p := produce(t, b, newShelf(), validate.Version(orders, 1), tt.o)
		if err := p.Publish(ctx, &kgo.Record{Topic: "orders", Key: []byte(`"ab"`), Value: []byte(`{"id":1}`), Headers: tt.headers}); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := b.published()[0]
		for name, part := range tt.want {
			if value := get(got, name); !strings.HasPrefix(value, part) || part == "" && value != "" {
				t.Errorf("%s: %s = %q", tt.name, name, value)
			}
		}
		if string(got.Value) != tt.value || string(got.Key) != tt.key {
			t.Errorf("%s: %q: %q", tt.name, got.Key, got.Value)
		}
	}
	b := newBroker()
	p := produce(t, b, newShelf(), validate.Version(orders, 1), kafka.ProducerOptions{Key: &key, FramePrefix: true})
	if err := p.Publish(ctx, &kgo.Record{Topic: "orders", Key: []byte(`"ab"`)}); err != nil || b.published()[0].Value != nil {
		t.Errorf("a tombstone: %v", err)
	}
}

func TestProducerRefusesOptions(t *testing.T) {
	t.Parallel()
	v := newShelf().Validator()
	t.Cleanup(v.Close)
	for says, options := range map[string][]kgo.Opt{
		"AllISRAcks":             {kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()},
		"DisableIdempotentWrite": {kgo.DisableIdempotentWrite()},
	} {
		c, err := kgo.NewClient(options...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := kafka.NewProducer(c, v, validate.Version(orders, 1), kafka.ProducerOptions{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
		if _, err := kafka.NewProducer(c, v, validate.Version(orders, 1), kafka.ProducerOptions{LossAcceptable: "presence"}); err != nil {
			t.Errorf("%s, and messages may be lost: %v", says, err)
		}
		if _, err := kafka.With(options...)(ctx, kafka.Group{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	if _, err := kafka.NewProducer(nil, v, validate.Version(orders, 1), kafka.ProducerOptions{StampConfluent: true, FramePrefix: true}); err == nil {
		t.Error("StampConfluent and FramePrefix go together")
	}
}

// A member that drains must not be put out of the group meanwhile.
func TestRebalanceTimeout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		group   time.Duration
		options []kgo.Opt
		want    time.Duration
	}{
		{"the client's own", 0, nil, time.Minute},
		{"what the consumer needs", 145 * time.Second, nil, 145 * time.Second},
		{"what the caller says", 145 * time.Second, []kgo.Opt{kgo.RebalanceTimeout(7 * time.Second)}, 7 * time.Second},
	} {
		// A broker at the address that the library takes by itself is somebody's.
		c, err := kafka.With(append(tt.options, kgo.SeedBrokers("127.0.0.1:1"))...)(ctx, kafka.Group{Name: "g", Topics: []string{"orders"}, Rebalance: tt.group})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if got := c.(interface{ OptValue(any) any }).OptValue(kgo.RebalanceTimeout); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	// The consumer says what it needs.
	asked := make(chan time.Duration, 2)
	v := newShelf().Validator()
	t.Cleanup(v.Close)
	b := newBroker()
	consumer, err := kafka.NewConsumer(func(ctx context.Context, g kafka.Group) (kafka.Client, error) {
		if g.Name == "" {
			return b.open(ctx, g)
		}
		asked <- g.Rebalance
		return nil, errSilence
	}, v, any1(), func(context.Context, *kafka.Delivery) error { return nil }, kafka.ConsumerOptions{Group: "work", Topics: []string{"orders"}, DeadLetter: "work.DLT", Drain: 2 * time.Minute, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := consumer.Run(t.Context()); err == nil {
		t.Error("it ran without a client")
	}
	if got := <-asked; got != 145*time.Second {
		t.Errorf("with a drain of two minutes %v", got)
	}
}

func TestCloseWaits(t *testing.T) {
	t.Parallel()
	b := newBroker()
	b.answer = func(int, *kgo.Record) error { return errSilence }
	p := produce(t, b, newShelf(), validate.Version(orders, 1), kafka.ProducerOptions{})
	over := make(chan error, 1)
	patience, give := context.WithCancel(ctx)
	go func() { over <- p.Publish(patience, &kgo.Record{Topic: "orders", Value: []byte(`{"id":1}`)}) }()
	for len(b.published()) == 0 {
		time.Sleep(time.Millisecond)
	}
	brief, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if err := p.Close(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("closed with a message on its way: %v", err)
	}
	err := p.Publish(ctx, &kgo.Record{Topic: "orders", Value: []byte(`{"id":1}`)})
	var e *kafka.Error
	if !errors.As(err, &e) || e.Fate != kafka.Unsent || !errors.Is(err, kafka.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	give()
	if err := <-over; !errors.As(err, &e) || e.Fate != kafka.Unknown {
		t.Errorf("the one on its way: %v", err)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
}
