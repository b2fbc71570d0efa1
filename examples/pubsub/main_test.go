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

// Each subscriber has its own range, its own failures and its own dead letter; a
// stuck one holds up nobody, and one that comes late has missed nothing.
func TestExample(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "RABBITMQ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := exampletest.Name("placed")
	t.Cleanup(func() {
		var queues []string
		for _, who := range subscribers {
			queues = append(queues, name+"."+who, name+"."+who+".dead")
		}
		exampletest.RemoveFromRabbitMQ(t, broker, name, queues...)
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
