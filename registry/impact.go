package registry

import (
	"context"
	"errors"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Impact says what a pair's new side does to the consumers that are known to read
// the pair's subject; the old side counts only where no subject is named. It
// answers none where there is no subject, or nobody reads it.
//
// Errors: as Compare.
func (r *Registry) Impact(ctx context.Context, p Pair) ([]compat.Impact, error) {
	for _, s := range []schemas.Subject{p.Old.Subject, p.New.Subject} {
		if p.Subject.Name == "" {
			p.Subject = s
		}
	}
	p.Subject, p.New.Subject = filled(p.Subject), filled(p.New.Subject)
	if p.Subject.Name == "" {
		return nil, nil
	}
	readers, err := r.ReadersOf(ctx, p.Subject)
	var unknown *Error
	if errors.As(err, &unknown) && unknown.Code == CodeSubjectUnknown {
		return nil, nil // nobody reads what is not there
	}
	if err != nil || len(readers) == 0 {
		return nil, err
	}
	next, err := r.side(ctx, "new", p.New, schemas.New)
	if err != nil {
		return nil, err
	}
	number := next.version
	if number == 0 {
		r.mu.RLock()
		if u := r.state.subject(p.Subject); u != nil {
			number = u.high + 1
		}
		r.mu.RUnlock()
	}
	consumers := make([]compat.Impact, 0, len(readers))
	for i := range readers {
		one := &readers[i]
		c := compat.Impact{Subject: p.Subject.String(), Consumer: one.Consumer, Environment: one.Environment, Accepts: one.Accepts, Pinned: one.Pinned, Versions: []schemas.Version{}}
		for _, u := range one.Uses {
			c.Versions = append(c.Versions, u.Version)
		}
		if at := one.Seen(); !at.IsZero() {
			c.Seen = at.UTC().Format(time.RFC3339)
		}
		consumers = append(consumers, c)
	}
	// All that waits for others is done before a processor is taken.
	known := map[schemas.Version]func() (schemas.Schema, error){}
	for _, v := range compat.ImpactVersions(consumers) {
		f, err := r.Version(ctx, p.Subject, v, true)
		known[v] = func() (schemas.Schema, error) {
			if err != nil {
				return nil, err
			}
			return r.understand(ctx, f.Source, reading{mode: schemas.Stored, in: f.Subject.Context})
		}
	}
	defer r.work()()
	q := compat.Question{Checkers: r.checkers, Subject: p.Subject.String(), Next: next.schema, Budget: r.budget}
	return compat.Impacts(q, number, consumers, func(v schemas.Version) (schemas.Schema, error) { return known[v]() }), nil
}
