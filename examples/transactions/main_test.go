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
	for _, topic := range topics(name) {
		one := kmsg.NewDeleteTopicsRequestTopic()
		one.Topic = kmsg.StringPtr(topic)
		ask.Topics, ask.TopicNames = append(ask.Topics, one), append(ask.TopicNames, topic)
	}
	if _, err := ask.RequestWith(context.Background(), k); err != nil {
		t.Error(err)
	}
}

// A pipeline that dies with its transaction open has written nothing, for those
// who read what is committed.
func TestExample(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "KAFKA")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := exampletest.Name("orders")
	t.Cleanup(func() { clean(t, broker, name) })
	var out bytes.Buffer
	if err := run(ctx, &out, exampletest.Registry(t), broker, name); err != nil {
		t.Fatalf("%v\nso far: %s", err, out.String())
	}
	want := `a pipeline wrote its invoices and died before the commit
another one took over and committed
who reads all that was written sees 4 invoices and 2 dead letters
who reads what was committed sees 2 invoices and 1 dead letters
`
	if d := cmp.Diff(want, strings.ReplaceAll(out.String(), name, "orders")); d != "" {
		t.Error(d)
	}
}
