package validate

import (
	"context"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Observer is told what a validator and the adapter around it do, for logs,
// metrics and traces. It is called on the message's own goroutine: it must not
// block, and keeps none of the pointers that it is given. Nothing that it is
// given holds a payload.
//
// Ready ones: package clients/signals and those below it.
type Observer interface {
	// Decided tells of one decision.
	Decided(ctx context.Context, e *Event)
	// Delivered tells of one message that an adapter is done with.
	Delivered(ctx context.Context, d *Delivery)
	// Asked tells of one question to the registry.
	Asked(ctx context.Context, a *Asked)
	// Held tells that one message more (1) or less (-1) waits for a decision.
	Held(ctx context.Context, change int)
}

// Tracer is an Observer that follows messages over the broker.
type Tracer interface {
	Observer
	// Carry gives the headers to stamp on a message that is published, such as
	// traceparent; those that the message has already stay as they are.
	Carry(ctx context.Context) []Header
	// Extract gives a context that holds what headers carried, for a decision on
	// a message that was received and for the work on it.
	Extract(ctx context.Context, headers []Header) context.Context
}

// Delivery is one message that an adapter is done with. Times that do not apply
// are zero. Subject and Version are those that a registry knows.
type Delivery struct {
	// System is the broker's kind in the words of OpenTelemetry ("rabbitmq",
	// "kafka", "activemq"); Destination the queue or topic read.
	System, Destination string

	Received, Started, Finished, Acknowledged time.Time

	Subject    schemas.Subject
	Version    schemas.Version
	Verdict    Verdict
	Reason     Reason
	Attempts   int
	Bytes      int
	Redelivery bool
	Cached     bool
	Translated bool
	// Action is how the message was settled, in the adapter's word.
	Action string
	// LossAcceptable is why the consumer may lose messages; "" when it may not.
	LossAcceptable string
	// Err is the handler's last error, or why the broker could not be told.
	Err error
}

// Asked is one question to the registry.
type Asked struct {
	// Kind is "guid", "id", "version", "latest", "source", "foreign" or "compare".
	Kind string
	// Result is "answered", "unknown", or the code of a Hold reason.
	Result string
	Took   time.Duration
	Err    error
}

// Observers makes one Observer of several; it is a Tracer when one of them is.
func Observers(list ...Observer) Observer {
	all := observers{}
	for _, o := range list {
		if o == nil {
			continue
		}
		all.list = append(all.list, o)
		if t, ok := o.(Tracer); ok && all.tracer == nil {
			all.tracer = t
		}
	}
	if all.tracer != nil {
		return tracers{all}
	}
	return all
}

type observers struct {
	list   []Observer
	tracer Tracer
}

func (o observers) Decided(ctx context.Context, e *Event) {
	for _, one := range o.list {
		one.Decided(ctx, e)
	}
}

func (o observers) Delivered(ctx context.Context, d *Delivery) {
	for _, one := range o.list {
		one.Delivered(ctx, d)
	}
}

func (o observers) Asked(ctx context.Context, a *Asked) {
	for _, one := range o.list {
		one.Asked(ctx, a)
	}
}

func (o observers) Held(ctx context.Context, change int) {
	for _, one := range o.list {
		one.Held(ctx, change)
	}
}

type tracers struct{ observers }

func (t tracers) Carry(ctx context.Context) []Header { return t.tracer.Carry(ctx) }

func (t tracers) Extract(ctx context.Context, headers []Header) context.Context {
	return t.tracer.Extract(ctx, headers)
}

// Delivered tells the validator's Observer of a message that an adapter is done
// with. The headers are the message's, for traces; they are not kept.
func (v *Validator) Delivered(ctx context.Context, headers []Header, d *Delivery) {
	if v.options.Observer == nil {
		return
	}
	if v.tracer != nil {
		ctx = v.tracer.Extract(ctx, headers)
	}
	v.options.Observer.Delivered(ctx, d)
}

// Held tells the validator's Observer that an adapter holds one message more (1)
// or less (-1).
func (v *Validator) Held(ctx context.Context, change int) {
	if v.options.Observer != nil {
		v.options.Observer.Held(ctx, change)
	}
}

// Context gives the context for the work on a message: with a Tracer, the
// trace that its headers carry.
func (v *Validator) Context(ctx context.Context, headers []Header) context.Context {
	if v.tracer == nil {
		return ctx
	}
	return v.tracer.Extract(ctx, headers)
}

// observes tells whether anybody is told of decisions.
func (v *Validator) observes() bool { return v.options.Observe != nil || v.options.Observer != nil }

func (v *Validator) decided(ctx context.Context, m *Message, e *Event) {
	if v.options.Observe != nil {
		v.options.Observe(*e)
	}
	if v.options.Observer == nil {
		return
	}
	if e.Side == Consume && v.tracer != nil {
		ctx = v.tracer.Extract(ctx, m.Headers)
	}
	e.Destination = m.Destination
	v.options.Observer.Decided(ctx, e)
}

// answered counts a question to the registry by how it ended.
func (v *Validator) answered(ctx context.Context, kind string, err error, start time.Time) {
	result := "answered"
	now := v.options.Now()
	if err == nil {
		v.stats.answered.Add(1)
		v.circuit.heal()
	} else {
		switch reason := reasonOf(err); reason {
		case SubjectUnknown, VersionUnknown, SchemaUnknown:
			result = "unknown"
			v.stats.unknown.Add(1)
			v.circuit.heal()
		default:
			result = reason.String()
			v.stats.failed.Add(1)
			v.circuit.fail(err, now)
		}
	}
	if v.options.Observer != nil {
		v.options.Observer.Asked(ctx, &Asked{Kind: kind, Result: result, Took: now.Sub(start), Err: err})
	}
}
