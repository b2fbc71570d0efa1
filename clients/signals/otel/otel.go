// Package otel tells of validators and adapters in spans of OpenTelemetry, and
// carries the trace of a producer over the broker in the headers traceparent and
// tracestate of W3C Trace Context.
//
// Spans are "publish DESTINATION" for what is judged before it is sent, "validate
// DESTINATION" before it is consumed and "process DESTINATION" for the work on
// it; their attributes follow the messaging conventions, which are still in
// development. No payload, message id or header's value is an attribute.
//
// Start with [New]; it needs the API of OpenTelemetry alone, and whatever
// exporter the program has set up.
package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

const scope = "github.com/cartorio-registry/cartorio/clients/signals/otel"

// Spans is a validate.Tracer that makes spans.
type Spans struct {
	tracer     trace.Tracer
	propagator propagation.TraceContext
	system     string
}

// New makes spans by a provider. system is the broker in the words of the
// conventions ("rabbitmq", "kafka", "activemq"); empty leaves it to deliveries.
func New(provider trace.TracerProvider, system string) *Spans {
	return &Spans{tracer: provider.Tracer(scope), system: system}
}

// Carry gives traceparent and tracestate of the span that ctx holds, if any.
func (s *Spans) Carry(ctx context.Context) []validate.Header {
	c := carrier{}
	s.propagator.Inject(ctx, &c)
	return c.headers
}

// Extract gives a context with the span that headers carry; one that is no text
// is not there.
func (s *Spans) Extract(ctx context.Context, headers []validate.Header) context.Context {
	return s.propagator.Extract(ctx, &carrier{headers})
}

// Decided makes the span of a decision, which is over.
func (s *Spans) Decided(ctx context.Context, e *validate.Event) {
	name, kind, operation := "validate", trace.SpanKindInternal, "process"
	if e.Side == validate.Publish {
		name, operation = "publish", "send"
	}
	end := time.Now()
	_, span := s.tracer.Start(ctx, named(name, e.Destination), trace.WithSpanKind(kind), trace.WithTimestamp(end.Add(-e.Took)), trace.WithAttributes(
		attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.destination.name", e.Destination),
		attribute.Int("messaging.message.body.size", e.Bytes),
		attribute.String("cartorio.subject", e.Subject.String()),
		attribute.Int("cartorio.version", int(e.Version)),
		attribute.String("cartorio.outcome", e.Verdict.String()),
		attribute.Bool("cartorio.cache_hit", e.Cached),
		attribute.Bool("cartorio.translated", e.Translated),
	))
	s.finish(span, s.system, e.Verdict, e.Reason, end)
}

// Delivered makes the span of the work on a message, which is over.
func (s *Spans) Delivered(ctx context.Context, d *validate.Delivery) {
	if d.Started.IsZero() {
		return // nothing was worked on; the decision has its own span
	}
	system := d.System
	if system == "" {
		system = s.system
	}
	end := d.Finished
	if d.Acknowledged.After(end) {
		end = d.Acknowledged
	}
	_, span := s.tracer.Start(ctx, named("process", d.Destination), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(d.Started), trace.WithAttributes(
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.destination.name", d.Destination),
		attribute.Int("messaging.message.body.size", d.Bytes),
		attribute.String("cartorio.subject", d.Subject.String()),
		attribute.Int("cartorio.version", int(d.Version)),
		attribute.String("cartorio.action", d.Action),
		attribute.Int("cartorio.attempts", d.Attempts),
		attribute.Bool("cartorio.redelivered", d.Redelivery),
	))
	if d.LossAcceptable != "" {
		span.SetAttributes(attribute.String("cartorio.loss_acceptable", d.LossAcceptable))
	}
	verdict := d.Verdict
	if d.Err != nil && d.Reason == validate.NoReason {
		span.SetAttributes(attribute.String("error.type", "handler"))
		span.SetStatus(codes.Error, "")
	}
	s.finish(span, system, verdict, d.Reason, end)
}

// Asked adds an event to the span that ctx holds.
func (s *Spans) Asked(ctx context.Context, a *validate.Asked) {
	trace.SpanFromContext(ctx).AddEvent("registry asked", trace.WithAttributes(
		attribute.String("cartorio.question", a.Kind), attribute.String("cartorio.result", a.Result), attribute.Int64("cartorio.microseconds", a.Took.Microseconds()),
	))
}

// Held makes nothing: a gauge is a metric's.
func (s *Spans) Held(context.Context, int) {}

func (s *Spans) finish(span trace.Span, system string, v validate.Verdict, r validate.Reason, end time.Time) {
	if system != "" {
		span.SetAttributes(attribute.String("messaging.system", system))
	}
	if r != validate.NoReason && (v != validate.Accept || r != validate.VersionRetired) {
		span.SetAttributes(attribute.String("error.type", r.String()))
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(end))
}

func named(operation, destination string) string {
	if destination == "" {
		return operation
	}
	return operation + " " + destination
}

// carrier are headers as the propagator sees them.
type carrier struct{ headers []validate.Header }

func (c *carrier) Get(key string) string {
	for _, h := range c.headers {
		if h.Name == key {
			text, _, _ := h.Text()
			return text
		}
	}
	return ""
}

func (c *carrier) Set(key, value string) {
	if value != "" {
		c.headers = append(c.headers, validate.Header{Name: key, Value: value})
	}
}

// Keys are the names of the headers.
func (c *carrier) Keys() []string {
	out := make([]string, 0, len(c.headers))
	for _, h := range c.headers {
		out = append(out, h.Name)
	}
	return out
}
