package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// remembered asks a Cartório for what the contract has no words for. false: the
// registry has no such route.
func (p *peer) remembered(ctx context.Context) (sr.Marks, bool, error) {
	m, err := ask(ctx, p, func() (sr.Marks, error) { return p.client.Marks(ctx) })
	if absent(err) {
		return m, false, nil
	}
	return m, err == nil, err
}

// recall adds to g what a Cartório remembers, and reads the versions that it
// hides.
func (p *peer) recall(ctx context.Context, g *Gathered, m sr.Marks) error {
	g.Marked = true
	for _, c := range m.Contexts {
		at := slices.IndexFunc(g.Contexts, func(h registry.HeldContext) bool { return h.Name == c.Context })
		if at < 0 {
			at = len(g.Contexts)
			g.Contexts = append(g.Contexts, registry.HeldContext{Name: c.Context})
		}
		g.Contexts[at].Listed, g.Contexts[at].High = c.Listed, max(g.Contexts[at].High, c.HighestID)
	}
	type behind struct {
		place
		by schemas.Version
	}
	var hidden []behind
	for _, u := range m.Subjects {
		held := registry.HeldSubject{Subject: u.Subject, High: u.HighestVersion}
		for _, gone := range u.Gone {
			held.Gone = append(held.Gone, registry.Gone(gone))
		}
		g.Subjects = append(g.Subjects, held)
		for _, h := range u.Hidden {
			hidden = append(hidden, behind{place{u.Subject, h.Version}, h.By})
		}
	}
	found := make([]registry.Held, len(hidden))
	err := p.gate.side(ctx, len(hidden), func(ctx context.Context, i int) error {
		h := hidden[i]
		v, err := ask(ctx, p, func() (schemas.Found, error) {
			return p.client.Version(ctx, h.subject, h.version, sr.VersionOptions{Deleted: true})
		})
		if err != nil && !declined(err) {
			return err
		}
		if err == nil && v.Subject == h.subject && v.Version == h.version {
			found[i] = registry.Held{Found: v, HiddenBy: h.by}
			found[i].Deleted = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	have := byPlace(g.Versions)
	for i, v := range found {
		if v.Version == 0 {
			// Its subject has an alias: another schema answers. It has the id of
			// the version that hides it, and so its content.
			if by := have[place{hidden[i].subject, hidden[i].by}]; by != nil {
				v = *by
				v.Version, v.HiddenBy, v.Deleted = hidden[i].version, hidden[i].by, true
			} else {
				g.Losses = append(g.Losses, Loss{hidden[i].subject.String(), hidden[i].version, 0, "the registry hides it and does not give it"})
				continue
			}
		}
		identify(&v)
		g.Versions = append(g.Versions, v)
	}
	sortVersions(g.Versions)
	return nil
}

// planMarks finds what the target is to remember and does not.
func (p *plan) planMarks() {
	ids, numbers := map[schemas.Context]registry.HeldContext{}, map[schemas.Subject]schemas.Version{}
	for _, c := range p.there.Contexts {
		ids[c.Name] = c
	}
	for i := range p.from.Versions {
		v := &p.from.Versions[i]
		c := ids[v.Subject.Context]
		c.Listed, c.High = true, max(c.High, v.ID.Number)
		ids[v.Subject.Context] = c
		numbers[v.Subject] = max(numbers[v.Subject], v.Version)
	}
	for _, c := range p.from.Contexts {
		if old := ids[c.Name]; c.High > old.High || c.Listed && !old.Listed && c.Name != schemas.DefaultContext {
			p.marks.Contexts = append(p.marks.Contexts, sr.ContextMarks{Context: c.Name, Listed: c.Listed, HighestID: c.High})
		}
	}
	old := map[schemas.Subject]registry.HeldSubject{}
	for _, u := range p.there.Subjects {
		old[u.Subject] = u
		numbers[u.Subject] = max(numbers[u.Subject], u.High)
	}
	there, hidden := byPlace(p.there.Versions), map[schemas.Subject][]sr.HiddenVersion{}
	for i := range p.from.Versions {
		v := &p.from.Versions[i]
		if at := there[placeOf(v)]; v.HiddenBy != 0 && (at == nil || at.HiddenBy != v.HiddenBy) {
			hidden[v.Subject] = append(hidden[v.Subject], sr.HiddenVersion{Version: v.Version, By: v.HiddenBy})
		}
	}
	for _, u := range p.from.Subjects {
		m := sr.SubjectMarks{Subject: u.Subject, HighestVersion: u.High, Hidden: hidden[u.Subject]}
		for _, g := range u.Gone {
			switch {
			case there[place{u.Subject, g.Version}] != nil:
				p.losses = append(p.losses, Loss{Subject: u.Subject.String(), Version: g.Version, What: "the number was permanently deleted, and the target has a version of it"})
			case !slices.Contains(old[u.Subject].Gone, g):
				m.Gone = append(m.Gone, sr.GoneVersion(g))
			}
		}
		if len(m.Gone)+len(m.Hidden) > 0 || u.High > numbers[u.Subject] {
			p.marks.Subjects = append(p.marks.Subjects, m)
		}
	}
}

// marksInRequest bounds what one request carries.
const marksInRequest = 2000

// mark makes the target remember. One mark that contradicts it is a loss, and
// does not keep the others away.
func (m *migration) mark(ctx context.Context) error {
	all := m.plan.marks
	if len(all.Contexts)+len(all.Subjects) == 0 {
		return nil
	}
	for _, c := range all.Contexts {
		if err := m.ensure(ctx, schemas.Subject{Context: c.Context}); err != nil {
			return err
		}
	}
	for _, u := range all.Subjects {
		if err := m.ensure(ctx, u.Subject); err != nil {
			return err
		}
	}
	set := func(part sr.Marks) error {
		_, err := ask(ctx, m.peer, func() (struct{}, error) { return struct{}{}, m.client.SetMarks(ctx, part) })
		return err
	}
	for _, c := range all.Contexts {
		step := Step{Action: ActionMarks, Subject: scopeName(schemas.Subject{Context: c.Context})}
		if err := m.took(step, set(sr.Marks{Contexts: []sr.ContextMarks{c}})); err != nil {
			return fmt.Errorf("set the marks of %q: %w", step.Subject, err)
		}
	}
	for len(all.Subjects) > 0 {
		n, size := 0, 0
		for n < len(all.Subjects) && (n == 0 || size < marksInRequest) {
			size += 1 + len(all.Subjects[n].Gone) + len(all.Subjects[n].Hidden)
			n++
		}
		part := all.Subjects[:n]
		all.Subjects = all.Subjects[n:]
		together := set(sr.Marks{Subjects: part})
		for _, u := range part {
			err := together
			if declined(together) {
				err = set(sr.Marks{Subjects: []sr.SubjectMarks{u}})
			}
			if err := m.took(Step{Action: ActionMarks, Subject: u.Subject.String()}, err); err != nil {
				return fmt.Errorf("set the marks of %q: %w", u.Subject, err)
			}
		}
	}
	return nil
}

// ensure puts a scope into IMPORT unless it is in it.
func (m *migration) ensure(ctx context.Context, scope schemas.Subject) error {
	own := registry.Mode("")
	for _, s := range m.plan.there.Settings {
		if s.Scope == scope {
			own = s.Mode
		}
	}
	in := slices.ContainsFunc(m.scopes, func(s registry.Setting) bool {
		return s.Scope == scope || own == "" && s.Scope == schemas.Subject{Context: scope.Context}
	})
	if in {
		return nil
	}
	_, err := m.enterScope(ctx, scope, own)
	return err
}
