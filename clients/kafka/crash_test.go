package kafka_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/kafka"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// What is not committed yet comes again, both bad ones too (C6).
func TestRealKilledConsumer(t *testing.T) {
	t.Parallel()
	workshop.KilledConsumer(t, withOrders, 2, []brokertest.Kill{
		{Step: "received"}, {Step: "worked"}, {Step: "acknowledged"}, {Step: "committed", Once: true}, {Step: "dead_lettered", Bad: true}, {Step: "delayed", Leaves: true},
	}...)
}

func TestRealKilledProducer(t *testing.T) {
	t.Parallel()
	workshop.KilledProducer(t, withOrders)
}

// The registry goes away, or refuses (C2, C3, P4), and the group does not
// rebalance.
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
	workshop.NetworkCut(t, withOrders(t), workshop.Address(t))
}

// What has no answer is unknown (P3): published again with the same id it is
// there, once or twice.
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	own := workshop.Own(t)
	r := connectTo(t, own.Setting(workshop.Variable), 2)
	r.registry.RegisterOrders()
	topic := r.topic + "-lost"
	r.create(topic, 1)
	p := r.producer(validate.Version(byOrders, 1), kafka.ProducerOptions{})
	lost := func() *kgo.Record {
		return &kgo.Record{Topic: topic, Headers: []kgo.RecordHeader{header("messageId", "lost")}, Value: []byte(`{"id":1}`)}
	}
	workshop.BrokerTrouble(t, own, r, brokertest.Trouble{
		Silent: func() {
			brief, giveUp := context.WithTimeout(t.Context(), time.Second)
			defer giveUp()
			var fate *kafka.Error
			if err := p.Publish(brief, lost()); !errors.As(err, &fate) || fate.Fate != kafka.Unknown || !errors.Is(err, validate.ErrUnavailable) {
				t.Errorf("a publish without an answer: %v", err)
			}
		},
		Before: func() {
			if err := p.Publish(t.Context(), lost()); err != nil {
				t.Errorf("published again: %v", err)
			}
		},
		After: func() {
			if n := len(r.all(topic)); n < 1 || n > 2 {
				t.Errorf("what was lost is there %d times", n)
			}
		},
	})
}
