package registry

import (
	"context"
	"slices"

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
		pair, accepted := about.pair(id), about.accepted(id)
		risks, ok := r.passes.risks(pair)
		if !ok && accepted != pair {
			risks, ok = r.passes.risks(accepted)
		}
		if ok {
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
		if more.Compatible {
			if accepts(more) { // it passes for as long as these exceptions are in force
				pair = accepted
			}
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

// accepts tells whether exceptions had a part in what a report says.
func accepts(r compat.Report) bool {
	return slices.ContainsFunc(r.Compared, func(c compat.Comparison) bool {
		return slices.ContainsFunc(c.Findings, func(f compat.Finding) bool { return f.Accepted != nil })
	})
}

// check compares on a processor of its own.
func (r *Registry) check(q compat.Question) compat.Report {
	defer r.work()()
	return compat.Check(q)
}
