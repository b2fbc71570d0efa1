package rabbitmq_test

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/rabbitmq"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A bad one whose dead letter had no answer yet may be there twice, under one id
// (C6).
func TestRealKilledConsumer(t *testing.T) {
	t.Parallel()
	workshop.KilledConsumer(t, withOrders, 2, brokertest.Kills()...)
}

func TestRealKilledProducer(t *testing.T) {
	t.Parallel()
	workshop.KilledProducer(t, withOrders)
}

// The registry goes away, or refuses (C2, C3, P4).
func TestRealRegistryAway(t *testing.T) {
	t.Parallel()
	for kind, args := range map[string]amqp.Table{"classic": nil, "quorum": {"x-queue-type": "quorum"}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			workshop.RegistryAway(t, openedWith(args))
		})
	}
}

// Versions that are late, unknown, retired and translated (C4, C5, C9, C10, C11).
func TestRealVersions(t *testing.T) {
	t.Parallel()
	workshop.Versions(t, openedWith(nil))
}

// What is invalid reaches no broker (P1), and one question is enough (P8).
func TestRealPublishing(t *testing.T) {
	t.Parallel()
	workshop.Publishing(t, openedWith(nil))
}

func TestRealNetworkCut(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(workshop.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	workshop.NetworkCut(t, withOrders(t), u.Host)
}

// What was confirmed survives the broker; what has no confirm is unknown or
// unsent (P3).
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	own := workshop.Own(t)
	r := connectTo(t, own.Setting(workshop.Variable), amqp.Table{"x-single-active-consumer": true})
	r.registry.RegisterOrders()
	if err := declare(r.channel(), "kept", nil); err != nil {
		t.Fatal(err)
	}
	kept := r.producer(validate.Version(orders, 1))
	publish := func(ctx context.Context) error {
		return kept.Publish(ctx, "", "kept", amqp.Publishing{MessageId: "kept", Body: []byte(`{"id":1}`)})
	}
	workshop.BrokerTrouble(t, own, r, brokertest.Trouble{
		Before: func() {
			if err := publish(ctx); err != nil {
				t.Fatal(err)
			}
		},
		While: func() {
			brief, giveUp := context.WithTimeout(ctx, 300*time.Millisecond)
			defer giveUp()
			var fate *rabbitmq.Error
			if err := publish(brief); !errors.As(err, &fate) || fate.Fate != rabbitmq.Unsent && fate.Fate != rabbitmq.Unknown || !errors.Is(err, validate.ErrUnavailable) {
				t.Errorf("a publish to a dead broker: %v", err)
			}
		},
		After: func() {
			list := r.look("kept")
			if len(list) == 0 || list[0].MessageId != "kept" || list[0].DeliveryMode != amqp.Persistent {
				t.Errorf("what was confirmed: %v", list)
			}
		},
	})
}
