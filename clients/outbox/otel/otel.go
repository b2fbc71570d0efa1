// Package otel tells of relays of an outbox in spans of OpenTelemetry: "relay
// DESTINATION" for each try to publish a row, in the trace that the message was
// stamped with when it was put into the outbox. So the trace goes from whoever
// put the message over the relay to its consumer. No payload, message id or
// header's value is an attribute.
//
// Start with [New]; hand it to outbox.Relay.Observer.
package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/cartorio-registry/cartorio/clients/outbox"
)

const scope = "github.com/cartorio-registry/cartorio/clients/outbox/otel"

// Spans is an outbox.Observer that makes spans.
type Spans struct {
	tracer     trace.Tracer
	propagator propagation.TraceContext
	system     string
}

// New makes spans by a provider. system is the broker in the words of the
// messaging conventions ("rabbitmq", "kafka", "activemq"); empty for none.
func New(provider trace.TracerProvider, system string) *Spans {
	return &Spans{tracer: provider.Tracer(scope), system: system}
}

// Relayed makes the span of a try, which is over.
func (s *Spans) Relayed(ctx context.Context, r *outbox.Relayed) {
	carried := propagation.MapCarrier{}
	for _, h := range r.Row.Headers {
		if text, ok, err := h.Text(); ok && err == nil {
			carried[h.Name] = text
		}
	}
	end := time.Now()
	_, span := s.tracer.Start(s.propagator.Extract(ctx, carried), "relay "+r.Row.Destination, trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(end.Add(-r.Took)), trace.WithAttributes(
		attribute.String("messaging.operation.type", "send"),
		attribute.String("messaging.destination.name", r.Row.Destination),
		attribute.Int("messaging.message.body.size", len(r.Row.Payload)),
		attribute.String("cartorio.fate", r.Fate.String()),
		attribute.Int("cartorio.attempts", r.Row.Attempts+1),
		attribute.Int64("cartorio.outbox.waited_milliseconds", end.Sub(r.Row.CreatedAt).Milliseconds()),
	))
	if s.system != "" {
		span.SetAttributes(attribute.String("messaging.system", s.system))
	}
	if r.Fate != outbox.Published {
		span.SetAttributes(attribute.String("error.type", r.Fate.String()))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(end))
}

// Waiting makes nothing: a gauge is a metric's.
func (s *Spans) Waiting(context.Context, outbox.Backlog) {}
