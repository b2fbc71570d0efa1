package watermill_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"

	"github.com/cartorio-registry/cartorio/clients/validate"
	example "github.com/cartorio-registry/cartorio/examples/watermill"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// lookup is a registry with two versions of one schema, that may be away.
type lookup struct{ away atomic.Bool }

func (l *lookup) found(v schemas.Version) (schemas.Found, error) {
	if l.away.Load() {
		return schemas.Found{}, schemas.ErrUnreachable
	}
	return schemas.Found{
		Subject: schemas.ParseSubject("orders-value"), Version: v, ID: schemas.ID{Number: 7},
		Source: schemas.Source{Type: schemas.JSON, Text: `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`},
	}, nil
}

func (l *lookup) ByGUID(context.Context, schemas.GUID) (schemas.Found, error) { return l.found(1) }
func (l *lookup) ByID(context.Context, schemas.ID) (schemas.Found, error)     { return l.found(1) }
func (l *lookup) ByVersion(_ context.Context, _ schemas.Subject, v schemas.Version) (schemas.Found, error) {
	return l.found(v)
}

func (l *lookup) BySource(context.Context, schemas.Subject, schemas.Source) (schemas.Found, error) {
	return l.found(1)
}

func (l *lookup) Latest(context.Context, schemas.Subject) (schemas.Found, error) { return l.found(1) }

// An invalid message is refused before it is published; a bad one that comes all
// the same is in the poison queue; a handler's failure is not; and while the
// registry is away, messages wait.
func TestRouter(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	registry := &lookup{}
	v := validate.New(registry, jsonschema.Format)
	t.Cleanup(v.Close)
	channel := gochannel.NewGoChannel(gochannel.Config{Persistent: true}, watermill.NopLogger{})
	publisher := example.Publisher{Publisher: channel, Validator: v, Pin: validate.Version(validate.ByDestination(), 1)}
	publish := func(id, body string) error {
		return publisher.Publish("orders", message.NewMessage(id, []byte(body)))
	}
	if err := publish("invalid", `{"id":"one"}`); !errors.Is(err, validate.ErrPermanent) {
		t.Fatalf("an invalid message: %v", err)
	}
	if err := publish("good", `{"id":1}`); err != nil {
		t.Fatal(err)
	}
	bad := message.NewMessage("bad", []byte(`{"id":"two"}`)) // by somebody who validates nothing
	bad.Metadata.Set("schemaSubject", "orders-value")
	bad.Metadata.Set("schemaVersion", "1")
	if err := channel.Publish("orders", bad); err != nil {
		t.Fatal(err)
	}

	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		t.Fatal(err)
	}
	poison, err := example.Poison(channel, "orders.dead")
	if err != nil {
		t.Fatal(err)
	}
	router.AddMiddleware(poison, middleware.Retry{MaxRetries: 2, InitialInterval: time.Millisecond, ShouldRetry: func(p middleware.RetryParams) bool {
		var r *example.Rejected
		return !errors.As(p.Err, &r)
	}}.Middleware, example.Middleware(v, &validate.Expect{Subject: validate.ByDestination(), Reads: validate.MustReads("1..2")}))
	handled, tries := make(chan *message.Message, 10), atomic.Int32{}
	router.AddConsumerHandler("billing", "orders", channel, func(m *message.Message) error {
		if tries.Add(1) == 1 {
			return errors.New("the database is busy")
		}
		if registry.away.Load() {
			t.Errorf("%s is handled although it cannot be judged", m.UUID)
		}
		handled <- m
		return nil
	})
	go func() { _ = router.Run(ctx) }()
	t.Cleanup(func() { _ = router.Close() })

	next := func(from <-chan *message.Message) *message.Message {
		t.Helper()
		select {
		case m := <-from:
			return m
		case <-ctx.Done():
			t.Fatal("nothing came")
			return nil
		}
	}
	if m := next(handled); m.UUID != "good" || m.Metadata.Get("messageId") != "good" || m.Metadata.Get("schemaVersion") != "1" || tries.Load() != 2 {
		t.Errorf("handled %s with %v after %d tries", m.UUID, m.Metadata, tries.Load())
	}
	dead, err := channel.Subscribe(ctx, "orders.dead")
	if err != nil {
		t.Fatal(err)
	}
	m := next(dead)
	m.Ack()
	if m.UUID != "bad" || m.Metadata.Get(middleware.ReasonForPoisonedKey) == "" {
		t.Errorf("set aside %s with %v", m.UUID, m.Metadata)
	}

	held := message.NewMessage("held", []byte(`{"id":3}`)) // of a version that is not known here yet
	held.Metadata.Set("schemaSubject", "orders-value")
	held.Metadata.Set("schemaVersion", "2")
	registry.away.Store(true)
	if err := channel.Publish("orders", held); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(1500*time.Millisecond, func() { registry.away.Store(false) })
	if m := next(handled); m.UUID != "held" {
		t.Errorf("handled %s", m.UUID)
	}
	if n := len(dead); n != 0 {
		t.Errorf("%d more are set aside", n)
	}
}
