package otel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cartorio-registry/cartorio/clients/signals/otel"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var _ validate.Tracer = (*otel.Spans)(nil)

func describe(s tracetest.SpanStub) string {
	var attrs []string
	for _, a := range s.Attributes {
		attrs = append(attrs, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(attrs)
	return fmt.Sprintf("%s %s %s %s: %s", s.Name, s.SpanKind, s.Status.Code, s.EndTime.Sub(s.StartTime), strings.Join(attrs, " "))
}

func TestSpans(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	memory := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(memory))
	s := otel.New(provider, "rabbitmq")

	// The producer's span goes over the broker.
	producing, producer := provider.Tracer("shop").Start(ctx, "place an order")
	headers := s.Carry(producing)
	if len(headers) != 1 || headers[0].Name != "traceparent" {
		t.Fatalf("%v", headers)
	}
	if got := s.Carry(ctx); len(got) != 0 {
		t.Errorf("without a span %v is carried", got)
	}
	orders := schemas.ParseSubject("orders-value")
	s.Decided(producing, &validate.Event{Side: validate.Publish, Verdict: validate.Accept, Destination: "orders", Subject: orders, Version: 2, Bytes: 7, Took: time.Millisecond, Cached: true})
	producer.End()

	// The consumer's hang below it, whatever kind the header has become.
	consuming := s.Extract(ctx, []validate.Header{{Name: "x", Value: 1}, {Name: "traceparent", Value: []byte(headers[0].Value.(string))}})
	s.Decided(consuming, &validate.Event{Side: validate.Consume, Verdict: validate.Reject, Reason: validate.PayloadInvalid, Destination: "orders"})
	at := time.Unix(100, 0)
	s.Delivered(consuming, &validate.Delivery{Destination: "orders", Subject: orders, Version: 2, Action: "delayed", Attempts: 3, Verdict: validate.Accept, Started: at, Finished: at.Add(time.Second), Acknowledged: at.Add(2 * time.Second), Err: errors.New("secret")})
	s.Delivered(consuming, &validate.Delivery{Destination: "orders"})
	working, work := provider.Tracer("shop").Start(consuming, "work")
	s.Asked(working, &validate.Asked{Kind: "id", Result: "answered", Took: time.Millisecond})
	work.End()

	spans := memory.GetSpans()
	var got []string
	for _, one := range spans {
		if one.SpanContext.TraceID() != producer.SpanContext().TraceID() {
			t.Errorf("%s is of another trace", one.Name)
		}
		if one.Name != "place an order" && one.Parent.SpanID() != producer.SpanContext().SpanID() {
			t.Errorf("%s does not hang below the producer", one.Name)
		}
		if one.Name != "place an order" && one.Name != "work" {
			got = append(got, describe(one))
		}
	}
	want := []string{
		"publish orders internal Unset 1ms: cartorio.cache_hit=true cartorio.outcome=accept cartorio.subject=orders-value cartorio.translated=false cartorio.version=2 messaging.destination.name=orders messaging.message.body.size=7 messaging.operation.type=send messaging.system=rabbitmq",
		"validate orders internal Error 0s: cartorio.cache_hit=false cartorio.outcome=reject cartorio.subject= cartorio.translated=false cartorio.version=0 error.type=payload_invalid messaging.destination.name=orders messaging.message.body.size=0 messaging.operation.type=process messaging.system=rabbitmq",
		"process orders consumer Error 2s: cartorio.action=delayed cartorio.attempts=3 cartorio.redelivered=false cartorio.subject=orders-value cartorio.version=2 error.type=handler messaging.destination.name=orders messaging.message.body.size=0 messaging.operation.type=process messaging.system=rabbitmq",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if events := spans[len(spans)-1].Events; len(events) != 1 || events[0].Name != "registry asked" {
		t.Errorf("events: %v", events)
	}
	s.Extract(ctx, []validate.Header{{Name: "traceparent", Value: "junk"}, {Name: "tracestate", Value: 1.5}})
	s.Held(ctx, 1)
}
