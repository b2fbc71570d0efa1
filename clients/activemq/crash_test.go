package activemq_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-stomp/stomp/v3/frame"

	"github.com/cartorio-registry/cartorio/clients/activemq"
	"github.com/cartorio-registry/cartorio/clients/brokertest"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

// A transaction leaves no dead letter in two places.
func TestRealKilledConsumer(t *testing.T) {
	t.Parallel()
	workshop.KilledConsumer(t, withOrders, 0, append(brokertest.Kills(), brokertest.Kill{Step: "committing", Bad: true})...)
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
	workshop.NetworkCut(t, withOrders(t), workshop.Address(t))
}

// What was confirmed survives the broker (P9), delayed messages too; what it has
// no word about is unknown or unsent (P3).
func TestRealBrokerTrouble(t *testing.T) {
	t.Parallel()
	own := workshop.Own(t)
	r := connectTo(t, own.Setting(workshop.Variable))
	r.registry.RegisterOrders()
	kept := r.producer(validate.Version(orders, 1))
	keep := func(queue string, headers ...validate.Header) {
		if err := kept.Publish(ctx, queue, &activemq.Message{Headers: headers, MessageID: queue, Body: []byte(`{"id":1}`)}); err != nil {
			t.Fatal(err)
		}
	}
	workshop.BrokerTrouble(t, own, r, brokertest.Trouble{
		Before: func() {
			keep("kept")
			keep("delayed", validate.Header{Name: "AMQ_SCHEDULED_DELAY", Value: "3000"})
			brokertest.Await(t, "the delayed one is not there at once", func() bool { return r.depth("delayed") == 0 })
		},
		While: func() {
			brief, giveUp := context.WithTimeout(ctx, 300*time.Millisecond)
			defer giveUp()
			var fate *activemq.Error
			if err := kept.Publish(brief, "kept", &activemq.Message{Body: []byte(`{"id":1}`)}); !errors.As(err, &fate) || fate.Fate != activemq.Unsent && fate.Fate != activemq.Unknown || !errors.Is(err, validate.ErrUnavailable) {
				t.Errorf("a publish to a dead broker: %v", err)
			}
		},
		After: func() {
			for _, queue := range []string{"kept", "delayed"} {
				if f := r.take(queue); f.Header.Get("messageId") != queue || f.Header.Get("persistent") != "true" {
					t.Errorf("%s: %v", queue, f.Header)
				}
			}
		},
	})
}

// A broker that is silent is left, though its line stands.
func TestRealSilence(t *testing.T) {
	t.Parallel()
	own := workshop.Own(t)
	address := own.Setting(workshop.Variable)
	const beat, silence = time.Second, 3 * time.Second // after which it is left, which a busy machine may not be
	c, err := activemq.Connect(address, activemq.Options{HeartBeat: beat, Timeout: 10 * time.Second})(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got := make(chan error, 1)
	go func() {
		_, err := c.Read()
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("while it beats: %v", err)
	case <-time.After(2 * silence):
	}
	own.Signal(brokertest.Pause)
	if err := brokertest.Next(t, got); err == nil || !strings.Contains(err.Error(), "silent") {
		t.Errorf("in silence: %v", err)
	}
	if _, err := activemq.Connect(address, activemq.Options{Timeout: 300 * time.Millisecond})(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connect to one that is silent: %v", err)
	}
	body := bytes.Repeat([]byte("x"), 64<<20)
	f := frame.New(frame.SEND, frame.Destination, "/queue/x")
	f.Body = body
	if err := c.Write(f); err == nil {
		t.Error("64 MiB were written to one that does not read")
	}
}
