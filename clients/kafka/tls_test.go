package kafka_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

func TestRealTLS(t *testing.T) {
	t.Parallel()
	r := connect(t, 1)
	r.registry.RegisterOrders()
	// The broker tells an address of its own, which is not the line's.
	options := func(address string, c *tls.Config) []kgo.Opt {
		return []kgo.Opt{kgo.SeedBrokers(address), kgo.Dialer(func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&tls.Dialer{Config: c}).DialContext(ctx, network, address)
		})}
	}
	workshop.TLS(t, r.seed, brokertest.Encrypted{
		Publish: func(ctx context.Context, address string, c *tls.Config) error {
			client, err := kgo.NewClient(options(address, c)...)
			if err != nil {
				return err
			}
			defer client.Close()
			p, err := kafka.NewProducer(client, r.v, validate.Version(byOrders, 1), kafka.ProducerOptions{})
			if err != nil {
				return err
			}
			return p.Publish(ctx, &kgo.Record{Topic: r.topic, Value: []byte(`{"id":1}`)})
		},
		Consume: func(ctx context.Context, address string, c *tls.Config) error {
			handled := make(chan struct{})
			consumer, err := kafka.NewConsumer(kafka.With(append(options(address, c), kgo.HeartbeatInterval(200*time.Millisecond))...), r.v, &validate.Expect{Subject: byOrders}, func(context.Context, *kafka.Delivery) error {
				close(handled)
				return nil
			}, kafka.ConsumerOptions{Group: r.group, Topics: []string{r.topic}, DeadLetter: r.dead, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				return err
			}
			return brokertest.Handled(ctx, consumer.Run, handled)
		},
	})
}
