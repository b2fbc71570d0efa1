package rabbitmq_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

func TestRealTLS(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	u, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	connector := func(address string, c *tls.Config) *rabbitmq.Connector {
		to := *u
		to.Scheme, to.Host = "amqps", address
		return rabbitmq.Connect(to.String(), amqp.Config{TLSClientConfig: c})
	}
	workshop.TLS(t, u.Host, brokertest.Encrypted{
		Publish: func(ctx context.Context, address string, c *tls.Config) error {
			conn := connector(address, c)
			defer conn.Close()
			p := rabbitmq.NewProducer(conn.Open, r.v, validate.Version(orders, 1), rabbitmq.ProducerOptions{})
			defer p.Close(ctx)
			return p.Publish(ctx, r.exchange, "k", amqp.Publishing{Body: []byte(`{"id":1}`)})
		},
		Consume: func(ctx context.Context, address string, c *tls.Config) error {
			conn := connector(address, c)
			defer conn.Close()
			handled := make(chan struct{})
			consumer, err := rabbitmq.NewConsumer(conn.Open, r.v, &validate.Expect{Subject: orders}, func(context.Context, *rabbitmq.Delivery) error {
				close(handled)
				return nil
			}, rabbitmq.ConsumerOptions{Queue: r.queue, DeadLetter: rabbitmq.Destination{Key: r.dead}, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return err
			}
			return brokertest.Handled(ctx, consumer.Run, handled)
		},
	})
}

// A wrong password is told as that, and is not repeated.
func TestRealWrongPassword(t *testing.T) {
	t.Parallel()
	r := connect(t)
	r.registry.RegisterOrders()
	u, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("guest", "hush")
	conn := rabbitmq.Connect(u.String(), amqp.Config{})
	defer conn.Close()
	if _, err := conn.Open(ctx); err == nil || !strings.Contains(err.Error(), "username or password not allowed") || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}
