package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Marks are what a registry remembers beside its versions, and what the wire's
// contract has no words for.
type Marks struct {
	Contexts []HeldContext
	// Subjects are those whose marks say more than their versions do, by
	// qualified text.
	Subjects []MarkedSubject
	// Configs and Modes are the scopes that have one, by qualified text.
	// SetMarks does not look at them.
	Configs, Modes []schemas.Subject
}

// MarkedSubject is what a subject remembers.
type MarkedSubject struct {
	HeldSubject
	Hidden []Hidden // by number
}

// Hidden is a number that another one took the place of.
type Hidden struct{ Version, By schemas.Version }

// Marks answers what the registry remembers.
func (r *Registry) Marks() Marks {
	h := r.Holdings()
	m := Marks{Contexts: h.Contexts}
	hidden, top := map[schemas.Subject][]Hidden{}, map[schemas.Subject]schemas.Version{}
	for i := range h.Versions {
		v := &h.Versions[i]
		top[v.Subject] = v.Version
		if v.HiddenBy != 0 {
			hidden[v.Subject] = append(hidden[v.Subject], Hidden{v.Version, v.HiddenBy})
		}
	}
	for _, u := range h.Subjects {
		if list := hidden[u.Subject]; len(list)+len(u.Gone) > 0 || u.High > top[u.Subject] {
			m.Subjects = append(m.Subjects, MarkedSubject{u, list})
		}
	}
	for _, s := range h.Settings {
		if s.Config != nil {
			m.Configs = append(m.Configs, s.Scope)
		}
		if s.Mode != "" {
			m.Modes = append(m.Modes, s.Scope)
		}
	}
	return m
}

// SetMarks makes a registry remember what another did: counters only rise,
// numbers are marked as gone that nothing has, and soft-deleted versions stand
// hidden behind the version that took their place. Every context and subject
// must be in mode IMPORT.
//
// Errors: CodeNotPermitted in another mode, and for a mark that contradicts what
// is there; CodeSubjectInvalid.
func (r *Registry) SetMarks(ctx context.Context, m Marks) error {
	subjects := map[schemas.Context][]subjectMarks{}
	var order []schemas.Context
	known := func(c schemas.Context) {
		if !slices.Contains(order, c) {
			order = append(order, c)
		}
	}
	contexts := map[schemas.Context]HeldContext{}
	for _, c := range m.Contexts {
		if err := writable(schemas.Subject{Context: c.Name}); err != nil {
			return err
		}
		known(c.Name)
		contexts[c.Name] = c
	}
	for _, u := range m.Subjects {
		u.Subject = filled(u.Subject)
		if err := writable(u.Subject); err != nil {
			return err
		}
		known(u.Subject.Context)
		subjects[u.Subject.Context] = append(subjects[u.Subject.Context], u.toBody())
	}
	d := &decision{alone: true} // it is judged where nothing moves
	d.build = func(b *batch) error {
		for _, c := range contexts {
			if err := b.state.importing(schemas.Subject{Context: c.Name}); err != nil {
				return err
			}
		}
		for _, u := range m.Subjects {
			if err := b.state.markable(u); err != nil {
				return err
			}
		}
		for _, c := range order {
			b.add(d.by(KindMarksSet, marksBody{V: bodyVersion, Context: c, Listed: contexts[c].Listed, High: contexts[c].High, Subjects: subjects[c]}))
		}
		return nil
	}
	return r.write(ctx, func() (*decision, error) { return d, nil })
}

func (u MarkedSubject) toBody() subjectMarks {
	b := subjectMarks{Subject: u.Subject.Name, High: u.High}
	for _, g := range u.Gone {
		b.Gone = append(b.Gone, goneBody{g.Version, g.GUID.String(), g.Type})
	}
	for _, h := range u.Hidden {
		b.Hidden = append(b.Hidden, hiddenBody(h))
	}
	return b
}

func (s *State) importing(scope schemas.Subject) error {
	if m := s.modeInForce(scope); m != Import && m != Forward {
		return &Error{Code: CodeNotPermitted, Subject: scope, Text: fmt.Sprintf("%s is in mode %s: marks can be set in mode IMPORT only", named(scope), m)}
	}
	return nil
}

// markable refuses marks that contradict the versions of a subject.
func (s *State) markable(m MarkedSubject) error {
	m.Subject = filled(m.Subject)
	if err := s.importing(m.Subject); err != nil {
		return err
	}
	refuse := func(v schemas.Version, format string, args ...any) error {
		return &Error{Code: CodeNotPermitted, Subject: m.Subject, Version: v, Text: fmt.Sprintf("version %d of subject '%s' cannot be marked: ", v, m.Subject) + fmt.Sprintf(format, args...)}
	}
	u := s.subject(m.Subject)
	for _, g := range m.Gone {
		if _, ok := s.kindOf(g.Type); g.Version < 1 || !ok || g.Type == "" {
			return refuse(g.Version, "its number or type %q is none", g.Type)
		}
		if u.find(g.Version) != nil {
			return refuse(g.Version, "it is there, and was to be marked as deleted for good")
		}
	}
	seen := map[schemas.Version]bool{}
	for _, h := range m.Hidden {
		old, by := u.find(h.Version), u.find(h.By)
		switch {
		case old == nil || by == nil || old.entry != by.entry || h.By <= h.Version || by.hidden():
			return refuse(h.Version, "version %d is not the same schema under a higher number", h.By)
		case old.live() || seen[h.Version] || old.hidden() && old.gone != h.By:
			return refuse(h.Version, "it is not soft-deleted, or hidden by another")
		}
		seen[h.Version] = true
	}
	return nil
}

// markSubject folds the marks of one subject.
func (s *State) markSubject(c schemas.Context, m subjectMarks, at Revision) error {
	u := s.makeSubject(schemas.Subject{Context: c, Name: m.Subject})
	u.high = max(u.high, m.High)
	u.changed = at
	for _, g := range m.Gone {
		guid, err := schemas.ParseGUID(g.GUID)
		if err != nil {
			return err
		}
		kind, ok := s.kindOf(g.Type)
		switch {
		case !ok:
			return fmt.Errorf("type %q is the 257th", g.Type)
		case u.find(g.Version) != nil:
			return fmt.Errorf("version %d of subject %q is there and was to be marked as gone", g.Version, u.text)
		}
		if u.gone == nil {
			u.gone = map[schemas.Version]mark{}
		}
		u.gone[g.Version] = mark{guid, kind}
		u.high = max(u.high, g.Version)
	}
	for _, h := range m.Hidden {
		v := u.find(h.Version)
		if v == nil || v.live() || u.find(h.By) == nil {
			return fmt.Errorf("version %d of subject %q is to be hidden and is not soft-deleted", h.Version, u.text)
		}
		if !v.hidden() {
			v.entry.uses.drop(use{u, h.Version})
		}
		v.gone = h.By
	}
	return nil
}
