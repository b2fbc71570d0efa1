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

// clean removes what the example made.
func clean(t *testing.T, broker, name string) {
	t.Helper()
	k, err := kgo.NewClient(kgo.SeedBrokers(broker))
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

func TestExample(t *testing.T) {
	broker := exampletest.Broker(t, "KAFKA")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	name := exampletest.Name("orders")
	defer clean(t, broker, name)
	var out bytes.Buffer
	if err := run(ctx, &out, exampletest.Registry(t), broker, name); err != nil {
		t.Fatalf("%v\nso far: %s", err, out.String())
	}
	want := `registered orders-value version 1
registered orders-value version 2
refused third before it was sent: payload_invalid at /id
failed with first, and try again: what is behind it waits
handled first of version 1: {"id":1}
handled second of version 2: {"id":2,"note":"with care"}
set aside fourth: payload_invalid, [{"pointer":"/id",`
	got := strings.ReplaceAll(out.String(), name, "orders")
	if d := cmp.Diff(want, got[:min(len(want), len(got))]); d != "" {
		t.Errorf("%s\nthe whole: %s", d, got)
	}
}
