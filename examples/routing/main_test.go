package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

// Each version goes to who reads it, on three brokers, and none to anyone else.
func TestExample(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"RabbitMQ": `version 3 has no queue, and its producer is told so
the queue of version 1 has {"id":1} of version 1
the queue of version 2 has {"id":2} of version 2
`,
		"ActiveMQ": `schemaVersion = '2' takes {"id":2} of version 2
schemaVersion BETWEEN 1 AND 2 takes {"id":1} of version 1
schemaSubject = 'orders-value' AND schemaVersion IN ('1','2','3') takes {"id":3} of version 3
`,
		"Kafka": `the group of version 1 takes {"id":1} of version 1
the group of version 1 passed over 2
the group of version 2 takes {"id":2} of version 2
the group of version 2 passed over 2
`,
	}
	clean := map[string]func(t *testing.T, address, name string){"RabbitMQ": cleanRabbitMQ, "Kafka": cleanKafka}
	for _, b := range brokers {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			address := exampletest.Broker(t, b.setting)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			name := exampletest.Name("orders")
			if f := clean[b.name]; f != nil { // ActiveMQ's queue is empty, and goes
				t.Cleanup(func() { f(t, address, name) })
			}
			var out bytes.Buffer
			if err := run(ctx, &out, exampletest.Registry(t), name, func(s *story) error { return b.play(s, ctx, address) }); err != nil {
				t.Fatalf("%v\nso far: %s", err, out.String())
			}
			if d := cmp.Diff(want[b.name], strings.ReplaceAll(out.String(), name, "orders")); d != "" {
				t.Error(d)
			}
		})
	}
}

// cleanRabbitMQ removes what the story declared, and looks whether a version is
// where it does not belong.
func cleanRabbitMQ(t *testing.T, address, name string) {
	for queue, n := range exampletest.RemoveFromRabbitMQ(t, address, name, name+".v1", name+".v2", name+".dead") {
		if n != 0 {
			t.Errorf("%s: %d left", queue, n)
		}
	}
}

func cleanKafka(t *testing.T, address, name string) {
	k, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	ask := kmsg.NewPtrDeleteTopicsRequest()
	for _, topic := range []string{name, name + ".dead"} {
		one := kmsg.NewDeleteTopicsRequestTopic()
		one.Topic = kmsg.StringPtr(topic)
		ask.Topics, ask.TopicNames = append(ask.Topics, one), append(ask.TopicNames, topic)
	}
	if _, err := ask.RequestWith(context.Background(), k); err != nil {
		t.Error(err)
	}
}
