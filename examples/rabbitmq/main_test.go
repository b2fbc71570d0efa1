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
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/api"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// clean removes what the example declared.
func clean(t *testing.T, broker, name string) {
	t.Helper()
	conn, err := amqp.Dial(broker)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	for _, queue := range []string{name + ".work", name + ".dead"} {
		if _, err := ch.QueueDelete(queue, false, false, false); err != nil {
			t.Error(err)
		}
	}
	if err := ch.ExchangeDelete(name, false, false); err != nil {
		t.Error(err)
	}
}

func TestExample(t *testing.T) {
	broker := os.Getenv("CARTORIO_TEST_RABBITMQ")
	if broker == "" {
		t.Skip("NOT RUN: set CARTORIO_TEST_RABBITMQ to the address of a RabbitMQ; make test starts one and names it when it cannot")
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

	name := "orders" + strings.ToLower(rand.Text()[:8])
	defer clean(t, broker, name)
	var out bytes.Buffer
	if err := run(ctx, &out, server.URL, broker, name); err != nil {
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
