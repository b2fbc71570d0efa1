package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/cartorio-registry/cartorio/examples/exampletest"
)

// Each subscriber has its own range, its own failures and its own dead letter; a
// stuck one holds up nobody, and one that comes late has missed nothing.
func TestExample(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "RABBITMQ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := exampletest.Name("placed")
	t.Cleanup(func() {
		conn, err := amqp.Dial(broker)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		ch, err := conn.Channel()
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range subscribers {
			for _, queue := range []string{name + "." + who, name + "." + who + ".dead"} {
				if _, err := ch.QueueDelete(queue, false, false, false); err != nil {
					t.Error(err)
				}
			}
		}
		if err := ch.ExchangeDelete(name, false, false); err != nil {
			t.Error(err)
		}
	})
	var out bytes.Buffer
	if err := run(ctx, &out, exampletest.Registry(t), broker, name); err != nil {
		t.Fatalf("%v\nso far: %s", err, out.String())
	}
	want := `billing, which reads 1..2, handled first of version 1
billing, which reads 1..2, handled second of version 2
billing is done, while mail is stuck and archive is not deployed
archive, which reads 1, handled first of version 1
archive, which reads 1, set aside second: version_unsupported
mail, which reads 1..2, set aside first: attempts_exhausted
mail, which reads 1..2, set aside second: attempts_exhausted
the dead letter of billing has 0
the dead letter of archive has 1
the dead letter of mail has 2
`
	if d := cmp.Diff(want, strings.ReplaceAll(out.String(), name, "placed")); d != "" {
		t.Error(d)
	}
}
