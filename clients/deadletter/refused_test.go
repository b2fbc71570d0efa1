package deadletter_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/deadletter"
)

// A user that the broker does not take, and a queue that is not there, are told
// from a broker that is away, whatever is done to the box.
func TestRealRefusedAndMissing(t *testing.T) {
	t.Parallel()
	walk := func(ctx context.Context, b deadletter.Box) error {
		_, _, err := deadletter.List(ctx, b, deadletter.Filter{})
		return err
	}
	put := func(ctx context.Context, b deadletter.Box) error { return b.Put(ctx, letter("m00")) }
	onEach(t, func(t *testing.T, broker realBroker, at func(string) string) {
		a, err := brokers.Parse(at("dead"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		a.User, a.Password = "cartorio", "hunter2"
		if a.Kind == brokers.Kafka {
			a.SASL, a.Hosts = "plain", []string{os.Getenv("CARTORIO_TEST_KAFKA_SASL")}
		}
		for name, use := range map[string]func(context.Context, deadletter.Box) error{"walk": walk, "put": put} {
			if a.Hosts[0] == "" {
				t.Log("NOT RUN: CARTORIO_TEST_KAFKA_SASL is not set")
				break
			}
			b := openOf(a)
			err := use(t.Context(), b)
			if !errors.Is(err, brokers.ErrRefused) || errors.Is(err, brokers.ErrMissing) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s with a wrong password: %v", name, err)
			}
			_ = b.Close()
		}
		if broker.isOpen {
			return
		}
		for name, use := range map[string]func(context.Context, deadletter.Box) error{"walk": walk, "put": put} {
			if err := use(t.Context(), mustOpen(t, at("dead")+"-absent")); !errors.Is(err, brokers.ErrMissing) || errors.Is(err, brokers.ErrRefused) {
				t.Errorf("%s a queue that is not there: %v", name, err)
			}
		}
	})
}
