package main

import (
	"bytes"
	"context"
	"strings"
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
	if err := run(ctx, &out, exampletest.Registry(t), broker, name); err != nil {
		t.Fatal(err)
	}
	want := `registered orders-value version 1
registered orders-value version 2
refused third before it was sent: payload_invalid at /id
handled first of version 1: {"id":1}
handled second of version 2: {"id":2,"note":"with care"}
set aside fourth: payload_invalid, [{"pointer":"/id",`
	got := strings.ReplaceAll(out.String(), name, "orders")
	if d := cmp.Diff(want, got[:min(len(want), len(got))]); d != "" {
		t.Errorf("%s\nthe whole: %s", d, got)
	}
}
