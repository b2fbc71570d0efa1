package rabbitmq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var ctx = context.Background()

// produce runs f with a producer on a fake broker, in a bubble of time.
func produce(t *testing.T, b *broker, s *brokertest.Shelf, f func(p *rabbitmq.Producer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		v := s.Validator()
		defer v.Close()
		p := rabbitmq.NewProducer(b.open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
		f(p)
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); !errors.Is(err, rabbitmq.ErrClosed) && !errors.Is(err, validate.ErrUnavailable) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestPublish(t *testing.T) {
	t.Parallel()
	b := newBroker()
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		table := amqp.Table{"x-mine": int64(7)}
		if err := p.Publish(ctx, "orders", "order.placed", amqp.Publishing{Headers: table, MessageId: "m-1", ContentType: "application/json", Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
		if len(table) != 1 {
			t.Error("the caller's headers were changed")
		}
	})
	log := b.published()
	if len(log) != 1 {
		t.Fatalf("%d messages", len(log))
	}
	want := amqp.Publishing{
		ContentType: "application/json", DeliveryMode: amqp.Persistent, MessageId: "m-1", Body: []byte(`{"id":1}`),
		Headers: amqp.Table{
			"x-mine": int64(7), "messageId": "m-1", "schemaSubject": "orders-value", "schemaVersion": "1", "schemaId": "1",
			"schemaGuid": schemas.GUIDOf(orderV1, nil, nil, nil).String(), "schemaType": "JSON",
		},
	}
	if d := cmp.Diff(want, log[0].msg); d != "" {
		t.Error(d)
	}
}

func TestNothingUnvalidatedReachesTheBroker(t *testing.T) {
	t.Parallel()
	b := newBroker()
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		for _, body := range []string{`{"id":"x"}`, `{`, ``} {
			err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(body)})
			var e *validate.Error
			if !errors.As(err, &e) || !errors.Is(err, validate.ErrPermanent) {
				t.Errorf("%q: %v", body, err)
			}
		}
	})
	down := brokertest.NewShelf(orderV1, orderV2)
	down.Fail(schemas.ErrUnreachable)
	produce(t, b, down, func(p *rabbitmq.Producer) {
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); !errors.Is(err, validate.ErrUnavailable) {
			t.Error(err)
		}
	})
	if n := len(b.published()) + b.opened(); n != 0 {
		t.Errorf("the broker saw %d messages and channels", n)
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer string
		fate   rabbitmq.Fate
		is     error
	}{
		{"return", rabbitmq.Unroutable, validate.ErrPermanent},
		{"refuse", rabbitmq.Refused, validate.ErrPermanent},
		{"nack", rabbitmq.Nacked, validate.ErrUnavailable},
		{"silence", rabbitmq.Unknown, validate.ErrUnavailable},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			t.Parallel()
			b := newBroker()
			b.answer = func(int, published) string { return tt.answer }
			synctest.Test(t, func(t *testing.T) {
				v := brokertest.NewShelf(orderV1, orderV2).Validator()
				defer v.Close()
				p := rabbitmq.NewProducer(b.open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
				patient, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				err := p.Publish(patient, "orders", "k", amqp.Publishing{MessageId: "m-1", Body: []byte(`{"id":1}`)})
				var e *rabbitmq.Error
				if !errors.As(err, &e) || e.Fate != tt.fate || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), "m-1") {
					t.Errorf("%v, want %s", err, tt.fate)
				}
				over, end := context.WithCancel(ctx)
				end()
				_ = p.Close(over)
			})
		})
	}
	b := newBroker()
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		err := p.Publish(ctx, "orders", "k", amqp.Publishing{Headers: amqp.Table{"long": strings.Repeat("x", 131_072)}, Body: []byte(`{"id":1}`)})
		var e *rabbitmq.Error
		if !errors.As(err, &e) || e.Fate != rabbitmq.TooLarge || !errors.Is(err, validate.ErrPermanent) {
			t.Errorf("headers beyond a frame: %v", err)
		}
		err = p.Publish(ctx, "orders", "k", amqp.Publishing{Headers: amqp.Table{"odd": struct{}{}}, Body: []byte(`{"id":1}`)})
		if !errors.As(err, &e) || e.Fate != rabbitmq.Refused {
			t.Errorf("a header of no AMQP type: %v", err)
		}
	})
	if b.opened() != 0 {
		t.Error("what cannot be sent opened a channel")
	}
}

// A confirm that never came says nothing: the message is sent again, with its id.
func TestLostConfirmIsPublishedAgain(t *testing.T) {
	t.Parallel()
	b := newBroker()
	b.answer = func(n int, _ published) string {
		if n < 2 {
			return "close"
		}
		return "ack"
	}
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
			t.Error(err)
		}
	})
	log := b.published()
	if len(log) != 3 || log[0].msg.MessageId == "" || log[0].msg.MessageId != log[2].msg.MessageId {
		t.Errorf("%d messages, ids %q and %q", len(log), log[0].msg.MessageId, log[len(log)-1].msg.MessageId)
	}
}

// One message of many makes the broker close the channel: that one is refused,
// the others arrive.
func TestTheGuiltyOneIsFound(t *testing.T) {
	t.Parallel()
	b := newBroker()
	isClosed := false
	b.answer = func(_ int, p published) string {
		switch {
		case p.exchange == "missing":
			isClosed = true
			return "refuse"
		case !isClosed:
			return "silence" // on its way when the channel closes
		}
		return "ack"
	}
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() {
				exchange := "orders"
				if n == 13 {
					exchange = "missing"
				}
				err := p.Publish(ctx, exchange, "k", amqp.Publishing{MessageId: fmt.Sprint(n), Body: []byte(`{"id":1}`)})
				var e *rabbitmq.Error
				if n == 13 && (!errors.As(err, &e) || e.Fate != rabbitmq.Refused) || n != 13 && err != nil {
					t.Errorf("message %d: %v", n, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestReturnsAreMatched(t *testing.T) {
	t.Parallel()
	b := newBroker()
	b.answer = func(_ int, p published) string {
		if p.key == "nowhere" {
			return "return"
		}
		return "ack"
	}
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		var wg sync.WaitGroup
		for n := range 3000 {
			wg.Go(func() {
				key := "k"
				if n%3 == 0 {
					key = "nowhere"
				}
				err := p.Publish(ctx, "orders", key, amqp.Publishing{Body: []byte(`{"id":1}`)})
				var e *rabbitmq.Error
				if isReturned := errors.As(err, &e) && e.Fate == rabbitmq.Unroutable; isReturned != (n%3 == 0) {
					t.Errorf("message %d: %v", n, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestBrokerAwayThenBack(t *testing.T) {
	t.Parallel()
	b := newBroker()
	b.openErr = errors.New("connection refused")
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		err := p.Publish(short, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
		var e *rabbitmq.Error
		if !errors.As(err, &e) || e.Fate != rabbitmq.Unsent || !errors.Is(err, validate.ErrUnavailable) {
			t.Errorf("a broker that is away: %v", err)
		}
		done := make(chan error)
		go func() { done <- p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}) }()
		time.Sleep(time.Minute)
		b.mu.Lock()
		b.openErr = nil
		b.mu.Unlock()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if n := len(b.published()); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestIntegersKeepTheirBits(t *testing.T) {
	t.Parallel()
	b := newBroker()
	produce(t, b, brokertest.NewShelf(orderV1, orderV2), func(p *rabbitmq.Producer) {
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Headers: amqp.Table{"n": 1 << 40}, Body: []byte(`{"id":1}`)}); err != nil {
			t.Error(err)
		}
	})
	if got := b.published()[0].msg.Headers["n"]; got != int64(1<<40) {
		t.Errorf("%#v", got)
	}
}

func TestConnectErrorsHideThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"amqp://ana:s3cret@127.0.0.1:1/", "amqp://ana:s3cret@local host/", "http://ana:s3cret@localhost/"} {
		c := rabbitmq.Connect(url, amqp.Config{})
		if _, err := c.Open(ctx); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

// A producer that is closed in a hurry tells those who wait that nothing is known.
func TestCloseInAHurry(t *testing.T) {
	t.Parallel()
	b := newBroker()
	b.answer = func(int, published) string { return "silence" }
	synctest.Test(t, func(t *testing.T) {
		v := brokertest.NewShelf(orderV1, orderV2).Validator()
		defer v.Close()
		p := rabbitmq.NewProducer(b.open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
		done := make(chan error)
		go func() { done <- p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}) }()
		synctest.Wait()
		hurry, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := p.Close(hurry); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		var e *rabbitmq.Error
		if err := <-done; !errors.As(err, &e) || e.Fate != rabbitmq.Unknown {
			t.Errorf("Publish: %v", err)
		}
	})
}
