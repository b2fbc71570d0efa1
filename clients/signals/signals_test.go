package signals_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/clients/signals"
	"github.com/cartorio-registry/cartorio/clients/validate"
	"github.com/cartorio-registry/cartorio/schemas"
)

var _ validate.Observer = (*signals.Log)(nil)

// logs makes a log whose lines have no time.
func logs(o signals.LogOptions, level slog.Level) (*signals.Log, func() []string) {
	var out bytes.Buffer
	o.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return signals.NewLog(o), func() []string {
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		out.Reset()
		return lines
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l, lines := logs(signals.LogOptions{Now: func() time.Time { return now }}, slog.LevelDebug)
	ctx := context.Background()
	orders := schemas.ParseSubject("orders-value")
	refused := &validate.Event{Side: validate.Consume, Verdict: validate.Reject, Reason: validate.PayloadInvalid, Subject: orders, Version: 2, Bytes: 7, Took: time.Microsecond, Cached: true, Retired: true}
	l.Decided(ctx, &validate.Event{Side: validate.Consume, Verdict: validate.Accept, Subject: orders, Version: 2})
	l.Decided(ctx, refused)
	l.Decided(ctx, refused)
	l.Decided(ctx, refused)
	l.Decided(ctx, &validate.Event{Side: validate.Publish, Verdict: validate.Hold, Reason: validate.RegistryRefused, Destination: "orders"})
	now = now.Add(time.Second)
	l.Decided(ctx, refused)
	l.Asked(ctx, &validate.Asked{Kind: "id", Result: "answered"})
	l.Asked(ctx, &validate.Asked{Kind: "id", Result: "unknown", Took: time.Millisecond})
	l.Asked(ctx, &validate.Asked{Kind: "latest", Result: "registry_unreachable", Err: errors.New("no route")})
	l.Held(ctx, 1)
	l.Held(ctx, 1)
	l.Held(ctx, -1)
	l.Held(ctx, -1)
	judged := ` side=consume destination="" outcome=reject reason=payload_invalid subject=orders-value version=2 bytes=7 took=1µs cache_hit=true translated=false retired=true`
	want := []string{
		`level=WARN msg="message judged"` + judged,
		`level=ERROR msg="message judged" side=publish destination=orders outcome=hold reason=registry_refused subject="" version=0 bytes=0 took=0s cache_hit=false translated=false`,
		`level=WARN msg="message judged"` + judged + ` left_out=2`,
		`level=INFO msg="registry asked" kind=id result=unknown took=1ms`,
		`level=WARN msg="registry asked" kind=latest result=registry_unreachable took=0s error="no route"`,
		`level=WARN msg="messages are held" held=1`,
		`level=INFO msg="no message is held any more"`,
	}
	if d := cmp.Diff(want, lines()); d != "" {
		t.Error(d)
	}
}

func TestLogOfDeliveries(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	l, lines := logs(signals.LogOptions{Accepted: true, Each: -1}, slog.LevelDebug)
	d := &validate.Delivery{
		System: "kafka", Destination: "orders", Action: "acknowledged", Verdict: validate.Accept, Subject: schemas.ParseSubject("orders-value"), Version: 1, Bytes: 3, Attempts: 2,
		Redelivery: true, Received: at, Started: at.Add(1), Finished: at.Add(2), Acknowledged: at.Add(3),
	}
	l.Delivered(context.Background(), d)
	d.Err = errors.New("card 4111 1111 1111 1111 was refused")
	d.Action = "delayed"
	l.Delivered(context.Background(), d)
	d.Err, d.Action, d.LossAcceptable = nil, "acknowledged", "presence"
	l.Delivered(context.Background(), d)
	rest := ` outcome=accept reason="" subject=orders-value version=1 bytes=3 attempts=2 redelivered=true cache_hit=false translated=false received=2026-11-30T12:00:00.000Z started=2026-11-30T12:00:00.000Z finished=2026-11-30T12:00:00.000Z acknowledged=2026-11-30T12:00:00.000Z`
	want := []string{
		`level=DEBUG msg="message delivered" system=kafka destination=orders action=acknowledged` + rest,
		`level=WARN msg="message delivered" system=kafka destination=orders action=delayed` + rest + ` error_type=*errors.errorString`,
		`level=DEBUG msg="message delivered" system=kafka destination=orders action=acknowledged` + rest + ` loss_acceptable=presence`,
	}
	got := lines()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if strings.Contains(strings.Join(got, ""), "4111") {
		t.Error("what a handler was given is in the log")
	}
	// What is not asked for costs nothing and writes nothing.
	quiet, lines := logs(signals.LogOptions{}, slog.LevelError)
	quiet.Delivered(context.Background(), d)
	quiet.Decided(context.Background(), &validate.Event{Verdict: validate.Reject, Reason: validate.PayloadInvalid})
	if got := lines(); len(got) != 1 || got[0] != "" {
		t.Errorf("%q", got)
	}
}
