package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

func TestExample(t *testing.T) {
	broker := exampletest.Broker(t, "RABBITMQ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	name := exampletest.Name("orders")
	t.Cleanup(func() { exampletest.RemoveFromRabbitMQ(t, broker, name, name+".work", name+".dead") })
	var out bytes.Buffer
	if err := run(ctx, &out, exampletest.Registry(t), broker, t.TempDir(), name); err != nil {
		t.Fatal(err)
	}
	want := `order o-1 is placed
order o-2 is rolled back with its event: the customer left
order o-3 is refused with its event: payload_invalid at /amount
order o-4 is placed
the shop has 2 orders and 2 events
the relay published 3 times, and 0 events wait
billing received 3 deliveries and wrote 2 invoices for 2 orders
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}
