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

	"github.com/cartorio-registry/cartorio/clients/dedupe"
	"github.com/cartorio-registry/cartorio/clients/dedupe/otel"
)

var _ dedupe.Observer = (*otel.Spans)(nil)

func TestSpans(t *testing.T) {
	t.Parallel()
	memory := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(memory))
	s := otel.New(provider)
	working, work := provider.Tracer("shop").Start(context.Background(), "work")
	at := time.Unix(100, 0)
	s.Worked(working, &dedupe.Worked{Message: dedupe.Message{Consumer: "billing", ID: "secret"}, Result: dedupe.Duplicate, Began: at, Took: time.Second})
	s.Worked(working, &dedupe.Worked{Message: dedupe.Message{Consumer: "billing", ID: "secret"}, Result: dedupe.Failed, Began: at, Err: errors.New("secret")})
	spans := memory.GetSpans()
	for i, want := range []struct {
		result string
		code   codes.Code
		took   time.Duration
	}{{"duplicate", codes.Unset, time.Second}, {"failed", codes.Error, 0}} {
		one := spans[i]
		text := fmt.Sprint(one.Attributes, one.Status)
		if one.Name != "once billing" || one.Parent.SpanID() != work.SpanContext().SpanID() || one.Status.Code != want.code || one.EndTime.Sub(one.StartTime) != want.took ||
			!strings.Contains(text, want.result) || strings.Contains(text, "secret") {
			t.Errorf("%s %s", one.Name, text)
		}
	}
}
