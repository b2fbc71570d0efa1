package amqp10_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/cartorio-registry/cartorio/clients/amqp10"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
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
	workshop.RegistryAway(t, opened)
}

// Versions that are late, unknown, retired and translated (C4, C5, C9, C10, C11).
func TestRealVersions(t *testing.T) {
	t.Parallel()
	workshop.Versions(t, opened)
}

// What is invalid reaches no broker (P1), and one question is enough (P8).
func TestRealPublishing(t *testing.T) {
	t.Parallel()
	workshop.Publishing(t, opened)
}

func TestRealNetworkCut(t *testing.T) {
	t.Parallel()
	workshop.NetworkCut(t, withOrders(t), strings.TrimPrefix(workshop.Address(t), "amqp://"))
}

// What was accepted survives the broker (P9), delayed messages too; what has no
// outcome is unknown or unsent (P3).
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	own := workshop.Own(t)
	r := connectTo(t, own.Setting(workshop.Variable), own.Setting(stompVariable))
	r.registry.RegisterOrders()
	kept := r.producer(validate.Version(orders, 1))
	keep := func(queue string, annotations amqp.Annotations) {
		m := message(`{"id":1}`, "messageId", queue)
		m.Annotations = annotations
		if err := kept.Publish(ctx, queue, m); err != nil {
			t.Fatal(err)
		}
	}
	workshop.BrokerTrouble(t, own, r, brokertest.Trouble{
		Before: func() {
			keep("kept", nil)
			keep("delayed", amqp.Annotations{"x-opt-delivery-delay": int64(3000)})
			brokertest.Await(t, "the delayed one is not there at once", func() bool { return r.depth("delayed") == 0 })
		},
		While: func() {
			brief, giveUp := context.WithTimeout(ctx, 300*time.Millisecond)
			defer giveUp()
			var fate *amqp10.Error
			if err := kept.Publish(brief, "kept", message(`{"id":1}`)); !errors.As(err, &fate) || fate.Fate != amqp10.Unsent && fate.Fate != amqp10.Unknown || !errors.Is(err, validate.ErrUnavailable) {
				t.Errorf("a publish to a dead broker: %v", err)
			}
		},
		After: func() {
			for _, queue := range []string{"kept", "delayed"} {
				if m := r.take(queue); prop(m, "messageId") != queue || !m.Header.Durable {
					t.Errorf("%s: %v", queue, m.ApplicationProperties)
				}
			}
		},
	})
}
