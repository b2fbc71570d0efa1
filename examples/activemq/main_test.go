package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

func TestExample(t *testing.T) {
	b := brokers{stomp: exampletest.Broker(t, "STOMP"), amqp: os.Getenv("CARTORIO_TEST_AMQP10"), registry: exampletest.Registry(t)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	name := exampletest.Name("orders")
	var out bytes.Buffer
	if err := run(ctx, &out, b, name); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	want := `registered orders-value version 1
registered orders-value version 2
refused third before it was sent: payload_invalid at /id
handled first of version 1: {"id":1}
handled second of version 2: {"id":2,"note":"with care"}
set aside fourth: handler_rejected, there is no customer 404
handled fifth over AMQP 1.0: {"id":5}
`
	if b.amqp == "" {
		want = want[:strings.Index(want, "handled fifth")] + "the broker has no AMQP 1.0\n"
	}
	if d := cmp.Diff(want, strings.ReplaceAll(out.String(), name, "orders")); d != "" {
		t.Error(d)
	}
}
