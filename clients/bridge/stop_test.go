package bridge_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/clients/bridge"
	"github.com/cartorio-registry/cartorio/clients/brokers"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A bridge that is told to stop while its source says nothing, and its target is
// away, has not failed, whatever the two are.
func TestStoppedInSilence(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"amqp://HOST#old":   "kafka://127.0.0.1:1/new",
		"kafka://HOST/old":  "stomp://127.0.0.1:1/new",
		"stomp://HOST/old":  "amqp10://127.0.0.1:1/new",
		"amqp10://HOST/old": "amqp://127.0.0.1:1#new",
	} {
		t.Run(from, func(t *testing.T) {
			t.Parallel()
			brokertest.StoppedInSilence(t, func(ctx context.Context, address string) error {
				v := brokertest.NewShelf(brokertest.OrderV1).Validator()
				defer v.Close()
				o := bridge.Options{
					Validator: v, Expect: &validate.Expect{Subject: brokertest.Orders}, Pin: validate.Version(brokertest.Orders, 1), Logger: slog.New(slog.DiscardHandler),
					Config: bridge.Config{From: bridge.Source{DeadLetter: "dead"}},
				}
				var err error
				if o.From, err = brokers.Parse(strings.Replace(from, "HOST", address, 1), "", ""); err != nil {
					return err
				}
				if o.To, err = brokers.Parse(to, "", ""); err != nil {
					return err
				}
				if o.From.Kind == brokers.Kafka {
					o.Config.From.Group = "old"
				}
				return bridge.Run(ctx, o)
			})
		})
	}
}
