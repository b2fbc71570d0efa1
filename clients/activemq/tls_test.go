package activemq_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

func TestRealTLS(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	workshop.TLS(t, r.address, brokertest.Encrypted{
		Publish: func(ctx context.Context, address string, c *tls.Config) error {
			p := activemq.NewProducer(activemq.Connect(address, activemq.Options{TLS: c}), r.v, validate.Version(orders, 1), activemq.ProducerOptions{})
			defer p.Close(ctx)
			return p.Publish(ctx, r.queue, &activemq.Message{Body: []byte(good)})
		},
		Consume: func(ctx context.Context, address string, c *tls.Config) error {
			handled := make(chan struct{})
			consumer, err := activemq.NewConsumer(activemq.Connect(address, activemq.Options{TLS: c}), r.v, &validate.Expect{Subject: orders}, func(context.Context, *activemq.Delivery) error {
				close(handled)
				return nil
			}, activemq.ConsumerOptions{Queue: r.queue, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return err
			}
			return brokertest.Handled(ctx, consumer.Run, handled)
		},
	})
}

// Who is refused is told so, and the password is not repeated.
func TestRealCredentials(t *testing.T) {
	t.Parallel()
	r := connect(t)
	c, err := activemq.Connect(r.address, activemq.Options{Login: "cartorio", Passcode: "s:cret"})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, login := range []string{"cartorio", "nobody"} {
		_, err := activemq.Connect(r.address, activemq.Options{Login: login, Passcode: "hush"})(ctx)
		if err == nil || !strings.Contains(err.Error(), "User name ["+login+"] or password is invalid") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", login, err)
		}
	}
}
