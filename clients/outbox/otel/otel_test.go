package otel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cartorio-registry/cartorio/clients/outbox"
	"github.com/cartorio-registry/cartorio/clients/outbox/otel"
	"github.com/cartorio-registry/cartorio/clients/validate"
)

var _ outbox.Observer = (*otel.Spans)(nil)

func TestSpans(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	memory := tracetest.NewInMemoryExporter()
	s := otel.New(trace.NewTracerProvider(trace.WithSyncer(memory)), "rabbitmq")
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	row := outbox.Row{
		ID: "secret", Destination: "orders", Payload: []byte("secret"), Attempts: 1, CreatedAt: time.Now().Add(-time.Hour),
		Headers: []validate.Header{{Name: "traceparent", Value: "00-" + id + "-00f067aa0ba902b7-01"}, {Name: "x", Value: "secret"}, {Name: "n", Value: 1.5}},
	}
	s.Relayed(ctx, &outbox.Relayed{Row: row, Fate: outbox.Published, Took: time.Second})
	s.Relayed(ctx, &outbox.Relayed{Row: row, Fate: outbox.Failed, Took: time.Second, Err: errors.New("secret")})
	row.Headers = nil
	s.Relayed(ctx, &outbox.Relayed{Row: row, Fate: outbox.Parked})
	s.Waiting(ctx, outbox.Backlog{Waiting: 1})
	spans := memory.GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	for i, want := range []struct {
		fate string
		code codes.Code
	}{{"published", codes.Unset}, {"failed", codes.Error}, {"parked", codes.Error}} {
		one := spans[i]
		text := fmt.Sprint(one.Attributes, one.Status)
		if one.Name != "relay orders" || one.Status.Code != want.code || !strings.Contains(text, want.fate) || !strings.Contains(text, "rabbitmq") || strings.Contains(text, "secret") {
			t.Errorf("%s %s", one.Name, text)
		}
		if got := one.SpanContext.TraceID().String() == id; got != (i < 2) {
			t.Errorf("%s: in the message's trace: %v", want.fate, got)
		}
	}
	if took := spans[0].EndTime.Sub(spans[0].StartTime); took != time.Second {
		t.Errorf("it took %s", took)
	}
}
