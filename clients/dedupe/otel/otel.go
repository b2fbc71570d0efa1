// Package otel tells of messages that are worked on once in spans of
// OpenTelemetry: "once CONSUMER", with the result (done, duplicate, failed), below
// the span of whoever works. No message id is an attribute.
//
// Start with [New]; hand it to dedupe.Observed.
package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/cartorio-registry/cartorio/clients/dedupe"
)

const scope = "github.com/cartorio-registry/cartorio/clients/dedupe/otel"

// Spans is a dedupe.Observer that makes spans.
type Spans struct{ tracer trace.Tracer }

// New makes spans by a provider.
func New(provider trace.TracerProvider) *Spans { return &Spans{provider.Tracer(scope)} }

// Worked makes the span of a message's transaction, which is over.
func (s *Spans) Worked(ctx context.Context, w *dedupe.Worked) {
	_, span := s.tracer.Start(ctx, "once "+w.Message.Consumer, trace.WithTimestamp(w.Began), trace.WithAttributes(
		attribute.String("cartorio.consumer", w.Message.Consumer),
		attribute.String("cartorio.result", w.Result.String()),
	))
	if w.Result == dedupe.Failed {
		span.SetStatus(codes.Error, "") // the error may hold what the work was given
	}
	span.End(trace.WithTimestamp(w.Began.Add(w.Took)))
}
