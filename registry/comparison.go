package registry

import (
	"context"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// compare asks whether next, with its metadata, may follow the live versions of
// a subject.
func (r *Registry) compare(ctx context.Context, name schemas.Subject, next schemas.Schema, c Config, metadata *schemas.Metadata) (compat.Report, error) {
	var history []Stored
	if *c.Level != compat.None {
		r.mu.RLock()
		u := r.state.subject(name)
		if u != nil {
			for i := len(u.versions) - 1; i >= 0; i-- {
				if !u.versions[i].live() || !c.compares(metadata, u.versions[i].entry.metadata()) {
					continue
				}
				history = append(history, r.state.stored(u, &u.versions[i]))
				if !c.Level.IsTransitive() {
					break
				}
			}
		}
		r.mu.RUnlock()
	}
	return r.compareWith(ctx, name, next, c, history)
}

// compareWith compares next with a history, newest first. A version that cannot
// be parsed is not checked, and so not compatible. The report tells all of the
// last version that was compared, and of those before no more than that they
// passed: a pair that has passed before is not even read.
func (r *Registry) compareWith(ctx context.Context, name schemas.Subject, next schemas.Schema, c Config, history []Stored) (compat.Report, error) {
	q := compat.Question{
		Checkers: r.checkers, Subject: name.String(), Level: *c.Level, Next: next, Budget: r.budget,
		ValidateFields: isTrue(c.ValidateFields), Brief: true,
	}
	if c.Policy != nil {
		q.Policy = *c.Policy
	}
	if c.VerdictPolicy != nil {
		q.VerdictPolicy = *c.VerdictPolicy
	}
	if *c.Level == compat.None {
		history = nil
	}
	q.Exceptions, q.At = r.accepted(name), r.now()
	report := compat.Check(q)
	about := askedOf(q)
	for _, old := range history {
		if err := ctx.Err(); err != nil {
			return compat.Report{}, err
		}
		how := reading{mode: schemas.Stored, in: old.Subject.Context}
		id := formID(old.Source, how)
		pair := about.pair(id)
		if risks, ok := r.passes.risks(pair); ok {
			report.Compared = append(report.Compared, passed(old.Version))
			report.Risks += risks
			continue
		}
		one := compat.Old{Label: old.Version.String(), Version: old.Version}
		if f, err := r.formOf(ctx, id, old.Source, how); err == nil {
			one.Schema = f.schema
		}
		q.History = []compat.Old{one}
		if n := len(report.Compared); n > 0 { // what has passed need not be held in full
			report.Compared[n-1] = passed(report.Compared[n-1].Old.Version)
		}
		more := r.check(q)
		// What passes for a while only must be judged each time.
		if more.Compatible && len(q.Exceptions) == 0 {
			r.passes.keep(pair, more.Risks)
		}
		more.Compared = append(report.Compared, more.Compared...)
		more.Risks += report.Risks
		if report = more; !report.Compatible {
			break
		}
	}
	return report, nil
}

// check compares on a processor of its own.
func (r *Registry) check(q compat.Question) compat.Report {
	defer r.work()()
	return compat.Check(q)
}
