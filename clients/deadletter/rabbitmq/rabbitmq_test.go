package rabbitmq_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter/rabbitmq"
)

// A broker that says nothing is waited for as long as the caller does.
func TestSilentBroker(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err = rabbitmq.Open(brokers.Address{Kind: brokers.RabbitMQ, Hosts: []string{l.Addr().String()}, Name: "orders"}).Walk(ctx, nil)
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 15*time.Second {
		t.Errorf("%v after %s", err, took)
	}
}
