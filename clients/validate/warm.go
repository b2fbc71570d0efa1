package validate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// mostWarmed bounds how many versions of one range are fetched ahead.
const mostWarmed = 100

// Warm checks what a consumer expects against the registry and fetches it, so
// that the first messages need no question and an outage later does no harm. A
// service is ready when it answers nil.
//
// destination is where the consumer's messages are sent; the strategies by
// destination need it. Strategies by type cannot be settled without a message:
// for them only the members of e are checked.
//
// Errors: as Expect.Check; a bound of Reads, or Reader, that does not exist,
// unless AllowFuture; an *Error with ErrUnavailable when the registry could not
// be asked.
func (v *Validator) Warm(ctx context.Context, e *Expect, destination string) error {
	if err := e.Check(); err != nil {
		return err
	}
	for _, s := range e.Subject.known(destination) {
		v.readers.of(e, s, 0) // it is a reader before the first message comes
		if err := v.warm(ctx, e, s); err != nil {
			return err
		}
	}
	return nil
}

// WarmPin fetches what a producer pins for a destination.
//
// Errors: *Error, as BeforePublish.
func (v *Validator) WarmPin(ctx context.Context, p *Pin, destination string) error {
	for _, s := range p.subject.known(destination) {
		st := stamper{v: v, m: &Message{}, p: &Pin{subject: Strategy{kind: fixed, fixed: s}, kind: p.kind, version: p.version, guid: p.guid, maxAge: p.maxAge, source: p.source, print: p.print}}
		if f := st.pin(ctx, ""); f != nil {
			return f
		}
	}
	return nil
}

// known are the subjects that can be told without a message.
func (s Strategy) known(destination string) []schemas.Subject {
	switch s.kind {
	case fixed:
		return []schemas.Subject{s.fixed}
	case byDestination:
		if destination != "" {
			return []schemas.Subject{schemas.ParseSubject(destination + "-value")}
		}
	case byRoutingKey:
		var out []schemas.Subject
		for _, r := range s.routes {
			out = append(out, schemas.ParseSubject(r.Subject))
		}
		return out
	default:
	}
	return nil
}

func (v *Validator) warm(ctx context.Context, e *Expect, s schemas.Subject) error {
	ask := func(n name, required bool) (*record, error) {
		r, _, err := v.get(ctx, n, asking{})
		if err == nil {
			return r, nil
		}
		reason := reasonOf(err)
		if reason.hasGrace() && !required {
			return nil, nil
		}
		return nil, &Error{Reason: reason, Subject: s, Version: schemas.Version(n.number), Err: fmt.Errorf("warm up: %w", err)}
	}
	latest, err := ask(name{kind: byLatest, subject: s}, !e.AllowFuture)
	if err != nil || latest == nil {
		return err
	}
	need := map[schemas.Version]bool{latest.found.Version: false}
	for _, sp := range e.Reads.spans {
		need[sp.From] = true
		if sp.To != schemas.Unbounded {
			need[sp.To] = true
		}
	}
	for _, one := range []schemas.Version{e.Reader, e.Assume, e.Reads.compatible} {
		if one != 0 {
			need[one] = true
		}
	}
	for n := latest.found.Version; n > 0 && latest.found.Version-n < mostWarmed; n-- {
		if _, bound := need[n]; !bound && e.Reads.Has(n) && !e.Reads.IsAll() {
			need[n] = false
		}
	}
	for i := range e.Steps {
		if st := &e.Steps[i]; st.Subject == s || st.Subject == (schemas.Subject{}) {
			for _, n := range []schemas.Version{st.From, st.To} {
				need[n] = need[n] || e.Reads.Has(n)
			}
		}
	}
	if _, can := comparerOf(v.lookup); e.Reads.compatible != 0 && !can {
		return &Error{Reason: RegistryUnreachable, Subject: s, Version: e.Reads.compatible, Err: errors.New("warm up: ReadsCompatible needs a lookup that compares versions: hand a registry's client to the validator, or declare a range of numbers")}
	}
	var errs []error
	for _, n := range sortedVersions(need) {
		if _, err := ask(name{kind: byVersion, subject: s, number: int32(n)}, need[n] && !e.AllowFuture); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func sortedVersions(set map[schemas.Version]bool) []schemas.Version {
	return slices.Sorted(maps.Keys(set))
}
