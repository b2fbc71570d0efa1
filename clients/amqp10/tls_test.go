package amqp10_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"strings"
	"testing"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

func TestRealTLS(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	open := func(address string, c *tls.Config) amqp10.Open {
		return amqp10.Connect("amqps://"+address, amqp.ConnOptions{TLSConfig: c})
	}
	workshop.TLS(t, strings.TrimPrefix(r.address, "amqp://"), brokertest.Encrypted{
		Publish: func(ctx context.Context, address string, c *tls.Config) error {
			p := amqp10.NewProducer(open(address, c), r.v, validate.Version(orders, 1), amqp10.ProducerOptions{})
			defer p.Close(ctx)
			return p.Publish(ctx, r.queue, message(`{"id":1}`))
		},
		Consume: func(ctx context.Context, address string, c *tls.Config) error {
			handled := make(chan struct{})
			consumer, err := amqp10.NewConsumer(open(address, c), r.v, &validate.Expect{Subject: orders}, func(context.Context, *amqp10.Delivery) error {
				close(handled)
				return nil
			}, amqp10.ConsumerOptions{Queue: r.queue, Logger: slog.New(slog.DiscardHandler)})
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
	host := strings.TrimPrefix(r.address, "amqp://")
	c, err := amqp10.Connect("amqp://cartorio:s%3Acret@"+host, amqp.ConnOptions{})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, user := range []string{"cartorio", "nobody"} {
		_, err := amqp10.Connect("amqp://"+user+":hush@"+host, amqp.ConnOptions{})(ctx)
		if err == nil || !strings.Contains(err.Error(), "SASL PLAIN auth failed") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", user, err)
		}
	}
}
