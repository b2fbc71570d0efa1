package validate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// BeforeConsume decides about a message that a consumer received, before it is
// handled. It asks the registry only for what it does not know yet, and changes
// neither m nor e.
//
// Accept is to be handled and acknowledged; Reject goes to the dead letter, or
// is skipped when Outcome.Pass says so; Hold is kept, and the same message is
// asked about again a little later.
//
// Source: client specification 3.1, 3.2.
func (v *Validator) BeforeConsume(ctx context.Context, m *Message, e *Expect) (o Outcome) {
	var start time.Time
	observes := v.observes()
	if observes {
		start = v.options.Now()
	}
	v.consume(ctx, m, e, &o)
	if o.Verdict == Reject {
		o.Pass = e.passes(o.Reason)
	}
	if observes {
		v.decided(ctx, m, &Event{
			Side: Consume, Verdict: o.Verdict, Reason: o.Reason, Subject: o.Subject, Version: o.Version, Bytes: len(m.Payload),
			Took: v.options.Now().Sub(start), Cached: o.Cached, Assumed: o.Assumed, Passed: o.Pass, Retired: o.Retired,
			Foreign: o.ForeignID, Unknown: o.UnknownVersion, Unproved: o.Unverified, Translated: o.TranslatedFrom != 0,
		})
	}
	return o
}

func (v *Validator) consume(ctx context.Context, m *Message, e *Expect, o *Outcome) {
	if e.Claims != nil {
		payload, there, err := e.Claims.Fetch(ctx, m)
		if err != nil {
			v.refuse(o, e, claimError(err))
			return
		}
		if there {
			whole := *m
			whole.Payload = payload
			m = &whole
		}
	}
	if m.Payload == nil {
		o.Verdict, o.Tombstone, o.Cached = Accept, true, true
		return
	}
	if s := v.cache.sighted(m, e, v.options.Now); s != nil {
		v.judgeAs(o, m, e, s)
		s.binding.count(o, v.options.Now)
		return
	}
	v.collected(ctx, m, e, o)
}

// collected decides about a message by collecting what it says.
func (v *Validator) collected(ctx context.Context, m *Message, e *Expect, o *Outcome) {
	var id identity
	var x extra
	if f := collect(m, e, &id, &x); f != nil {
		o.Cached = true
		v.refuse(o, e, f)
		return
	}
	if x.payload == nil {
		o.Verdict, o.Tombstone, o.Cached = Accept, true, true
		return
	}
	b, cached := v.bind(ctx, m, &id, &x)
	o.Cached = cached
	if x.isOpen(&id, b) {
		if f := v.confirm(ctx, &id, &x, b); f != nil {
			v.refuse(o, e, f)
			return
		}
	}
	if v.judge(o, e, b, &id, &x) && cached {
		v.sight(m, e, b, &x, o.Message)
	}
	b.count(o, v.options.Now)
}

// judge decides about a message whose identity is bound. It tells whether it came
// to the payload.
func (v *Validator) judge(o *Outcome, e *Expect, b *binding, id *identity, x *extra) bool {
	f := b.failure
	if f == nil {
		f = x.detected(id, b)
	}
	if f != nil {
		v.refuse(o, e, f)
		return false
	}
	b.tell(o)
	message, f := x.messageOf(id, b)
	if f != nil {
		v.refuse(o, e, f)
		return false
	}
	o.Message = message
	o.Payload = x.payload
	v.readPayload(o, e, b, message)
	return true
}

// tell says in o what schema is bound.
func (b *binding) tell(o *Outcome) {
	o.Subject, o.Version, o.ID, o.GUID, o.Type = b.subject, b.version, b.id, b.guid, b.typ
	o.Writer = b.parsed.schema
	o.Retired, o.ForeignID, o.UnknownVersion, o.Unverified, o.Assumed = b.retired, b.foreignID, b.unknownVersion, b.unverified, b.assumed
}

// readsItself tells whether the payload is for its own schema alone to judge.
func (b *binding) readsItself() bool {
	return b.translation == nil && (b.reader == nil || b.reader == b.parsed)
}

// count counts a decision for the readers' report.
func (b *binding) count(o *Outcome, clock func() time.Time) {
	if b.tally != nil && o.Verdict != Hold {
		b.tally.count(o.Verdict == Accept, clock())
	}
}

// readPayload judges the payload with the writer's schema, and with the reader's.
func (v *Validator) readPayload(o *Outcome, e *Expect, b *binding, message string) {
	options := v.options.Read
	e.shape(&options)
	payload := schemas.Payload{Bytes: o.Payload, Message: message}
	writer := b.parsed.schema
	var reading schemas.Reading
	if b.readsItself() {
		reading = writer.Reads(writer, payload, options)
	} else {
		reading = v.readAs(o, e, b, payload, options)
	}
	if o.Reason == TranslationFailed {
		return
	}
	o.read(&reading)
}

// accept says that the payload is good.
func (o *Outcome) accept() {
	o.Verdict = Accept
	if o.Retired {
		o.Reason = VersionRetired
	}
}

// read says what reading the payload told.
func (o *Outcome) read(reading *schemas.Reading) {
	if reading.OK() {
		o.accept()
		o.Value, o.Losses = reading.Value, reading.Losses
		return
	}
	o.Verdict = Reject
	o.Reason = kindReason(reading.Violations[0].Kind)
	var more int
	if o.Violations, more = bounded(reading.Violations); more > 0 && o.Err == nil {
		o.Err = fmt.Errorf("%d more violations are left out", more)
	}
	if o.Err == nil {
		o.Err = errors.New(reading.Violations[0].Text)
	}
}

// readAs judges the payload with its own schema first, so that what is wrong with
// the message and what is beyond the consumer's version are told apart. Then it
// is translated, where that is declared, and read by the consumer's.
func (v *Validator) readAs(o *Outcome, e *Expect, b *binding, payload schemas.Payload, options schemas.ReadOptions) schemas.Reading {
	own := options
	own.Value = false
	reading := b.parsed.schema.Reads(b.parsed.schema, payload, own)
	if !reading.OK() {
		return reading
	}
	if t := b.translation; t != nil {
		var err error
		if payload, err = v.translate(o, t, payload, own); err != nil {
			o.Verdict, o.Reason, o.Err = Reject, TranslationFailed, err
			o.Violations, _ = bounded(violationsOf(err))
			return reading
		}
		f := t.target.found
		o.TranslatedFrom, o.Version, o.ID, o.GUID = b.version, t.to, f.ID, f.GUID
		o.Writer, o.Payload = t.target.parsed.schema, payload.Bytes
	}
	reader := o.Writer
	if b.reader != nil {
		reader = b.reader.schema
	}
	if reader == o.Writer && !options.Value {
		return schemas.Reading{} // it has been judged
	}
	reading = reader.Reads(o.Writer, payload, options)
	if !reading.OK() {
		o.Err = fmt.Errorf("the payload is valid, and version %s of %s, this consumer's, cannot read it", e.Reader, b.subject)
	}
	return reading
}

func kindReason(k schemas.ViolationKind) Reason {
	switch k {
	case schemas.Unreadable:
		return PayloadUnreadable
	case schemas.TooLarge:
		return PayloadTooLarge
	case schemas.TooComplex:
		return PayloadTooComplex
	default:
		return PayloadInvalid
	}
}

// refuse turns a failure into an outcome, and gives an unknown name its grace.
func (v *Validator) refuse(o *Outcome, e *Expect, f *failure) {
	o.Reason, o.Err = f.reason, f.err
	o.Verdict = f.reason.Verdict()
	if f.subject != (schemas.Subject{}) {
		o.Subject, o.Version = f.subject, f.version
	}
	if f.reason.hasGrace() && f.name != (name{}) && v.graces.holds(e, f.name, v.options.Now(), v.options.Grace) {
		o.Verdict = Hold
	}
}
