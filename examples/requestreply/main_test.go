package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/examples/exampletest"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Both ways are validated, each requester is answered in a version that it reads,
// and late replies are dropped.
func TestExample(t *testing.T) {
	t.Parallel()
	broker := exampletest.Broker(t, "RABBITMQ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	name := exampletest.Name("prices")
	t.Cleanup(func() {
		s := &story{name: name}
		queues := []string{s.requests(), s.dead()}
		for _, who := range requesters {
			queues = append(queues, s.replies(who))
		}
		exampletest.RemoveFromRabbitMQ(t, broker, "", queues...)
	})
	var out bytes.Buffer
	if err := run(ctx, &out, exampletest.Registry(t), broker, name); err != nil {
		t.Fatalf("%v\nso far: %s", err, out.String())
	}
	want := `the old requester reads 1 and was answered in version 1: {"cents":1250}
the new requester reads 1..2 and was answered in version 2: {"cents":1250,"currency":"EUR"}
a slow request: nobody answered in time
its reply came late, was recognised and dropped
a requester that reads 3.. has no answer: the request is set aside: prices.requests-value handler_rejected
a reply of version 2 to one that reads 1 is set aside: prices.replies-value version_unsupported
`
	if d := cmp.Diff(want, strings.ReplaceAll(out.String(), name, "prices")); d != "" {
		t.Error(d)
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reads string
		want  schemas.Version
	}{{"1", 1}, {"1..2", 2}, {"2..", 2}, {"3", 0}, {"1,3", 1}} {
		if got, ok := newest([]schemas.Version{2, 1}, validate.MustReads(tt.reads)); got != tt.want || ok != (tt.want != 0) {
			t.Errorf("a sender that reads %s is answered in %s, %v; want %s", tt.reads, got, ok, tt.want)
		}
	}
}
