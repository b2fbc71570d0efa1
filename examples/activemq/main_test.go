package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func TestExample(t *testing.T) {
	b := brokers{stomp: os.Getenv("CARTORIO_TEST_STOMP"), amqp: os.Getenv("CARTORIO_TEST_AMQP10")}
	if b.stomp == "" {
		t.Skip("set CARTORIO_TEST_STOMP to the STOMP address of an ActiveMQ")
	}
	journal, err := sqlite.Open(sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reg, err := registry.Open(ctx, journal, registry.Options{Formats: formats.All, Checkers: checkers.All()})
	if err != nil {
		t.Fatal(err)
	}
	defer reg.Close()
	server := httptest.NewServer(api.New(reg, api.Options{}))
	defer server.Close()
	b.registry = server.URL

	name := "orders" + strings.ToLower(rand.Text()[:8])
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
