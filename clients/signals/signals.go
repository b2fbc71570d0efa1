// Package signals tells of validators and adapters in structured logs. Below it
// are the same for Prometheus and OpenTelemetry, in packages of their own, so
// that nobody links what they do not use.
//
// A message is told of by subject, version, outcome and reason; neither its
// payload nor what is wrong in it is ever written.
//
// Start with [NewLog]; hand it to validate.Options.Observer, together with
// others by validate.Observers.
package signals

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cartorio-registry/cartorio/clients/validate"
)

// LogOptions say what is logged. Zero fields mean the defaults.
type LogOptions struct {
	// Logger takes the events; slog.Default() when nil.
	Logger *slog.Logger
	// Accepted logs messages that were accepted, too, at the level Debug.
	Accepted bool
	// Each is how often the same event (side, subject, version, reason) is
	// logged at most, a second; how many were left out is told with the next.
	// Negative: each time.
	Each time.Duration
	// Now is the clock.
	Now func() time.Time
}

// mostKinds bounds the events that are told apart for Each.
const mostKinds = 1_000

// Log is a validate.Observer that writes structured events:
//
//	message judged     one decision
//	message delivered  one message that an adapter is done with
//	registry asked     one question that failed, or whose answer is no
//
// What has to be acted on is an error, what is held or refused a warning.
type Log struct {
	o    LogOptions
	mu   sync.Mutex
	seen map[kind]*lately
	held int
}

// kind is what counts as the same event.
type kind struct {
	event, subject, reason string
	side                   validate.Side
	version                int32
}

type lately struct {
	at      time.Time
	skipped int
}

// NewLog makes a log.
func NewLog(o LogOptions) *Log {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Each == 0 {
		o.Each = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{o: o, seen: map[kind]*lately{}}
}

// Decided logs a decision.
func (l *Log) Decided(ctx context.Context, e *validate.Event) {
	level := levelOf(e.Verdict, e.Reason)
	if level == slog.LevelDebug && !l.o.Accepted || !l.o.Logger.Enabled(ctx, level) {
		return
	}
	skipped, due := l.due(kind{"judged", e.Subject.String(), e.Reason.String(), e.Side, int32(e.Version)})
	if !due {
		return
	}
	attrs := []slog.Attr{
		slog.String("side", e.Side.String()), slog.String("destination", e.Destination), slog.String("outcome", e.Verdict.String()), slog.String("reason", e.Reason.String()),
		slog.String("subject", e.Subject.String()), slog.Int("version", int(e.Version)), slog.Int("bytes", e.Bytes), slog.Duration("took", e.Took),
		slog.Bool("cache_hit", e.Cached), slog.Bool("translated", e.Translated),
	}
	for _, f := range [...]struct {
		name string
		is   bool
	}{{"assumed", e.Assumed}, {"passed", e.Passed}, {"retired", e.Retired}, {"foreign_id", e.Foreign}, {"unknown_version", e.Unknown}, {"unverified", e.Unproved}} {
		if f.is {
			attrs = append(attrs, slog.Bool(f.name, true))
		}
	}
	l.write(ctx, level, "message judged", skipped, attrs)
}

// Delivered logs a message that an adapter is done with.
func (l *Log) Delivered(ctx context.Context, d *validate.Delivery) {
	level := levelOf(d.Verdict, d.Reason)
	if d.Err != nil {
		level = max(level, slog.LevelWarn)
	}
	if level == slog.LevelDebug && !l.o.Accepted || !l.o.Logger.Enabled(ctx, level) {
		return
	}
	skipped, due := l.due(kind{"delivered " + d.Action, d.Subject.String(), d.Reason.String(), validate.Consume, int32(d.Version)})
	if !due {
		return
	}
	attrs := []slog.Attr{
		slog.String("system", d.System), slog.String("destination", d.Destination), slog.String("action", d.Action), slog.String("outcome", d.Verdict.String()), slog.String("reason", d.Reason.String()),
		slog.String("subject", d.Subject.String()), slog.Int("version", int(d.Version)), slog.Int("bytes", d.Bytes), slog.Int("attempts", d.Attempts),
		slog.Bool("redelivered", d.Redelivery), slog.Bool("cache_hit", d.Cached), slog.Bool("translated", d.Translated),
	}
	for _, one := range []struct {
		name string
		at   time.Time
	}{{"received", d.Received}, {"started", d.Started}, {"finished", d.Finished}, {"acknowledged", d.Acknowledged}} {
		if !one.at.IsZero() {
			attrs = append(attrs, slog.Time(one.name, one.at))
		}
	}
	if d.LossAcceptable != "" {
		attrs = append(attrs, slog.String("loss_acceptable", d.LossAcceptable))
	}
	// A handler's error may hold what the handler was given: its type alone is told.
	if d.Err != nil {
		attrs = append(attrs, slog.String("error_type", fmt.Sprintf("%T", d.Err)))
	}
	l.write(ctx, level, "message delivered", skipped, attrs)
}

// Asked logs a question that was not answered with a schema.
func (l *Log) Asked(ctx context.Context, a *validate.Asked) {
	if a.Result == "answered" {
		return
	}
	level := slog.LevelWarn
	if a.Result == "unknown" {
		level = slog.LevelInfo
	}
	if !l.o.Logger.Enabled(ctx, level) {
		return
	}
	skipped, due := l.due(kind{event: "asked " + a.Kind, reason: a.Result})
	if !due {
		return
	}
	attrs := []slog.Attr{slog.String("kind", a.Kind), slog.String("result", a.Result), slog.Duration("took", a.Took)}
	if a.Err != nil {
		attrs = append(attrs, slog.String("error", a.Err.Error()))
	}
	l.write(ctx, level, "registry asked", skipped, attrs)
}

// Held logs when the first message is held and when none is any more.
func (l *Log) Held(ctx context.Context, change int) {
	l.mu.Lock()
	before := l.held
	l.held += change
	after := l.held
	l.mu.Unlock()
	switch {
	case before <= 0 && after > 0:
		l.o.Logger.LogAttrs(ctx, slog.LevelWarn, "messages are held", slog.Int("held", after))
	case before > 0 && after <= 0:
		l.o.Logger.LogAttrs(ctx, slog.LevelInfo, "no message is held any more")
	}
}

// levelOf is how loud an outcome is.
func levelOf(v validate.Verdict, r validate.Reason) slog.Level {
	switch {
	case r.Alarms():
		return slog.LevelError
	case v == validate.Accept:
		return slog.LevelDebug
	default:
		return slog.LevelWarn
	}
}

// due tells whether an event is logged now, and how many like it were not.
func (l *Log) due(k kind) (skipped int, due bool) {
	if l.o.Each < 0 {
		return 0, true
	}
	now := l.o.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.seen[k]
	if one != nil && now.Sub(one.at) < l.o.Each {
		one.skipped++
		return 0, false
	}
	if one == nil {
		if len(l.seen) >= mostKinds {
			clear(l.seen)
		}
		one = &lately{}
		l.seen[k] = one
	}
	skipped, one.skipped, one.at = one.skipped, 0, now
	return skipped, true
}

func (l *Log) write(ctx context.Context, level slog.Level, text string, skipped int, attrs []slog.Attr) {
	if skipped > 0 {
		attrs = append(attrs, slog.Int("left_out", skipped))
	}
	l.o.Logger.LogAttrs(ctx, level, text, attrs...)
}
