package rabbitmq_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// A consumer that may lose messages acknowledges before the work, by itself and
// with its prefetch, and tells the broker why.
func TestLossAcceptable(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"", "presence"} {
		var settledAtWork []string
		var b *broker
		w := consume(t, any1(), rabbitmq.ConsumerOptions{LossAcceptable: reason}, func(context.Context, *rabbitmq.Delivery) error {
			settledAtWork = b.settled()
			if reason == "" {
				return nil
			}
			return errors.New("busy")
		}, func(w *bench) {
			b = w.b
			w.b.deliver(amqp.Delivery{MessageId: "m1", Headers: amqp.Table{"schemaVersion": "1"}, Body: []byte(`{"id":1}`)})
			synctest.Wait()
		})
		if w.b.autoAck {
			t.Errorf("%q: the broker acknowledges by itself", reason)
		}
		if reason == "" {
			if len(settledAtWork) != 0 || w.b.args != nil || w.settled()[0].Action != rabbitmq.Acknowledged {
				t.Errorf("settled %v before the work, arguments %v, %+v", settledAtWork, w.b.args, w.settled())
			}
			continue
		}
		if len(settledAtWork) != 1 || settledAtWork[0] != "ack" || w.b.args[rabbitmq.LossArgument] != reason || w.settled()[0].Action != rabbitmq.Lost {
			t.Errorf("settled %v before the work, arguments %v, %+v", settledAtWork, w.b.args, w.settled())
		}
	}
}

// A producer that may lose messages waits for nothing, says so once, and
// validates all the same.
func TestProducerThatMayLose(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	v := validate.NewWith(brokertest.NewShelf(orderV1, orderV2), validate.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, jsonschema.Format)
	t.Cleanup(v.Close)
	b := newBroker()
	b.answer = func(n int, _ published) string { return []string{"silence", "close", "silence"}[n] }
	p := rabbitmq.NewProducer(b.open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{LossAcceptable: "presence"})
	if text := log.String(); strings.Count(text, "reason=presence") != 1 {
		t.Errorf("log: %s", text)
	}
	if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":"x"}`)}); !errors.Is(err, validate.ErrPermanent) || b.opened() != 0 {
		t.Errorf("invalid: %v, %d channels", err, b.opened())
	}
	for range 3 { // the second one closes the channel
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	list := b.published()
	if len(list) != 3 || b.opened() != 2 || list[0].msg.DeliveryMode != amqp.Transient || list[0].msg.Headers["schemaVersion"] != "1" {
		t.Errorf("%d channels, %+v", b.opened(), list)
	}
	b.mu.Lock()
	b.openErr = errors.New("no route")
	b.mu.Unlock()
	if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Headers: amqp.Table{"x": struct{}{}}, Body: []byte(`{"id":1}`)}); !errors.Is(err, validate.ErrPermanent) {
		t.Errorf("a header of no type: %v", err)
	}
	if err := p.Close(ctx); err != nil {
		t.Error(err)
	}
	var e *rabbitmq.Error
	if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); !errors.As(err, &e) || e.Fate != rabbitmq.Unsent || !errors.Is(err, rabbitmq.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	p = rabbitmq.NewProducer(b.open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{LossAcceptable: "presence"})
	if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); !errors.Is(err, validate.ErrUnavailable) {
		t.Errorf("no broker: %v", err)
	}
}

// One that dials keeps nobody waiting for longer than their own context lasts.
func TestLossWhileAnotherDials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := brokertest.NewShelf(orderV1).Validator()
		defer v.Close()
		dial := func(ctx context.Context) (rabbitmq.Channel, error) {
			<-ctx.Done() // the broker's host says nothing
			return nil, ctx.Err()
		}
		p := rabbitmq.NewProducer(dial, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{LossAcceptable: "presence"})
		begin := time.Now()
		lasting := func(d time.Duration, f func(ctx context.Context) error) {
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != d {
				t.Errorf("after %v of %v: %v", time.Since(begin), d, err)
			}
		}
		publish := func(ctx context.Context) error {
			return p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
		}
		var all sync.WaitGroup
		all.Go(func() { lasting(time.Minute, publish) })
		synctest.Wait()
		all.Go(func() { lasting(time.Second, publish) })
		all.Go(func() { lasting(2*time.Second, publish) })
		synctest.Wait()
		lasting(3*time.Second, p.Close)
		all.Wait()
		if err := publish(ctx); !errors.Is(err, rabbitmq.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// stuck is a channel to a broker that takes no more: writes wait until it does.
type stuck struct {
	rabbitmq.Channel
	takes chan struct{}
}

func (s stuck) PublishWithContext(ctx context.Context, exchange, key string, mandatory, immediate bool, msg amqp.Publishing) error {
	<-s.takes
	return s.Channel.PublishWithContext(ctx, exchange, key, mandatory, immediate, msg)
}

// A broker that takes no more, as one that is short of memory, holds nobody up for
// longer than their context lasts.
func TestLossWhileBrokerIsFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := brokertest.NewShelf(orderV1).Validator()
		defer v.Close()
		b, takes := newBroker(), make(chan struct{})
		open := func(ctx context.Context) (rabbitmq.Channel, error) {
			ch, err := b.open(ctx)
			return stuck{ch, takes}, err
		}
		p := rabbitmq.NewProducer(open, v, validate.Version(orders, 1), rabbitmq.ProducerOptions{LossAcceptable: "presence"})
		begin := time.Now()
		for n, want := range []rabbitmq.Fate{rabbitmq.Unknown, rabbitmq.Unsent} { // the second one waits for its turn
			short, cancel := context.WithTimeout(ctx, time.Second)
			var e *rabbitmq.Error
			err := p.Publish(short, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
			if !errors.As(err, &e) || e.Fate != want || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Duration(n+1)*time.Second {
				t.Errorf("message %d after %v: %v", n, time.Since(begin), err)
			}
			cancel()
		}
		close(takes)
		if err := p.Publish(ctx, "orders", "k", amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
			t.Error(err)
		}
		if n := len(b.published()); n != 2 {
			t.Errorf("%d messages were written, want the first and the last", n)
		}
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// On a real broker what is published arrives, and the consumer's reason does not
// keep it from consuming.
func TestRealLossAcceptable(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.Register("orders-value", schemas.JSON, orderV1)
	p := rabbitmq.NewProducer(r.out.Open, r.registry.Validator(validate.Options{}), validate.Version(orders, 1), rabbitmq.ProducerOptions{LossAcceptable: "presence"})
	for range 10 {
		if err := p.Publish(ctx, "", r.queue, amqp.Publishing{Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	var lost atomic.Int32
	stop := r.consumer(&validate.Expect{Subject: orders}, func(context.Context, *rabbitmq.Delivery) error {
		lost.Add(1)
		return errors.New("busy")
	}, rabbitmq.ConsumerOptions{LossAcceptable: "presence", Workers: 2})
	brokertest.Await(t, "ten messages", func() bool { return lost.Load() == 10 })
	stop()
	if n := r.depth(r.queue); n != 0 || lost.Load() != 10 {
		t.Errorf("%d are left, %d were worked on", n, lost.Load())
	}
}
