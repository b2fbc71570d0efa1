package gitops

import (
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// settle puts the steps in order, group by group: subjects whose new versions
// refer to each other are one group.
func (m *maker) settle(context.Context) error {
	group := map[*subject]*subject{}
	root := func(s *subject) *subject {
		for group[s] != nil {
			s = group[s]
		}
		return s
	}
	for _, n := range m.order {
		for _, u := range n.uses {
			if a, b := root(n.of), (*subject)(nil); n.pending && u != nil && u.pending {
				if b = root(u.of); a != b {
					group[b] = a
				}
			}
		}
	}
	number := 0
	done := map[*subject]bool{}
	for _, s := range m.list {
		if done[root(s)] {
			continue
		}
		done[root(s)] = true
		first := len(m.plan.Steps)
		var last []Step
		for _, member := range m.list {
			if root(member) == root(s) {
				before, after := m.settingsSteps(member)
				m.plan.Steps = append(m.plan.Steps, before...)
				last = append(last, after...)
			}
		}
		for _, n := range m.order {
			if n.pending && root(n.of) == root(s) {
				m.plan.Steps = append(m.plan.Steps, *n.step)
			}
		}
		m.plan.Steps = append(m.plan.Steps, last...)
		if len(m.plan.Steps) > first {
			number++
		}
		for i := first; i < len(m.plan.Steps); i++ {
			m.plan.Steps[i].Group = number
		}
	}
	// A subject of which a setting changes is not unchanged.
	for _, s := range m.list {
		waiting := slices.ContainsFunc(s.nodes, func(n *node) bool { return n.pending })
		if !waiting && slices.ContainsFunc(m.plan.Steps, func(step Step) bool { return step.subject == s.Name }) {
			m.plan.Unchanged--
		}
	}
	return nil
}

// prune plans to delete what the scope owns and nothing declares: what refers to
// others first. A subject that something else refers to, or that a consumer reads,
// stays, and is told.
func (m *maker) prune(ctx context.Context) error {
	if !m.options.Prune {
		return nil
	}
	list, err := m.registry.Subjects(ctx, m.desired.Scope.Search(), sr.LiveOnly, sr.Page{})
	if err != nil {
		return fmt.Errorf("looking for the subjects of the scope: %w", err)
	}
	var doomed []*Step
	for _, name := range list {
		if name = filled(name); !m.desired.Scope.Owns(name) || m.subjects[name] != nil {
			continue
		}
		doomed = append(doomed, &Step{Action: Delete, State: Planned, Subject: name.String(), subject: name, do: m.remove})
	}
	slices.SortFunc(doomed, func(a, b *Step) int { return compareText(a.Subject, b.Subject) })
	blocks := map[schemas.Subject][]schemas.Subject{} // subject → who refers to it
	for _, step := range doomed {
		if blocks[step.subject], err = m.referrers(ctx, step); err != nil {
			return fmt.Errorf("looking for what refers to %s: %w", step.Subject, err)
		}
		if err := m.readers(ctx, step); err != nil {
			return fmt.Errorf("looking for who reads %s: %w", step.Subject, err)
		}
	}
	going := map[schemas.Subject]*Step{}
	for _, step := range doomed {
		going[step.subject] = step
	}
	// What stays keeps what it refers to.
	for changed := true; changed; {
		changed = false
		for _, step := range doomed {
			if step.State == Refused {
				continue
			}
			for _, by := range blocks[step.subject] {
				if other := going[by]; other == nil || other.State == Refused {
					step.State, step.Code, changed = Refused, CodeBreaks, true
					step.Reason = append(step.Reason, fmt.Sprintf("%s refers to it", by))
				}
			}
		}
	}
	var ordered []*Step
	seen := map[*Step]bool{}
	var walk func(step *Step)
	walk = func(step *Step) {
		if seen[step] {
			return
		}
		seen[step] = true
		for _, by := range blocks[step.subject] {
			if other := going[by]; other != nil {
				walk(other)
			}
		}
		ordered = append(ordered, step)
	}
	number := 0
	if n := len(m.plan.Steps); n > 0 {
		number = m.plan.Steps[n-1].Group
	}
	for _, step := range doomed {
		walk(step)
	}
	for _, step := range ordered {
		number++
		step.Group = number
		step.Verdict = &Verdict{Verdict: compat.Compatible, Local: compat.Compatible, Registry: notAsked, Compared: []string{}, NotAsked: "nothing that stays refers to it, and no consumer is known to read it"}
		if step.State == Refused {
			step.Verdict = &Verdict{Verdict: compat.Breaking, Local: compat.Breaking, Registry: notAsked, Compared: []string{}, NotAsked: "something still uses it"}
		}
		m.plan.Steps = append(m.plan.Steps, *step)
	}
	return nil
}

// readers refuses to delete what consumers have told that they read. A registry
// that keeps no such reports knows of none.
func (m *maker) readers(ctx context.Context, step *Step) error {
	list, err := m.registry.Readers(ctx, step.subject)
	if err != nil && isSilent(err) && !isForeign(err) {
		return err
	}
	for _, r := range list {
		where := ""
		if r.Environment != "" {
			where = " in " + r.Environment
		}
		step.State, step.Code = Refused, CodeBreaks
		step.Reason = append(step.Reason, fmt.Sprintf("%s reads it%s", r.Consumer, where))
	}
	return nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// referrers lists the other subjects that refer to one that is to go, and notes
// its versions.
func (m *maker) referrers(ctx context.Context, step *Step) ([]schemas.Subject, error) {
	versions, err := m.registry.Versions(ctx, step.subject, sr.LiveOnly, sr.Page{})
	if isUnknown(err) {
		return nil, nil // it went in the meantime
	}
	if err != nil {
		return nil, err
	}
	var list []schemas.Subject
	for _, v := range versions {
		step.Deletes = append(step.Deletes, int(v))
		ids, err := m.registry.ReferencedBy(ctx, step.subject, v, false, sr.Page{})
		if err != nil && !isUnknown(err) {
			return nil, err
		}
		for _, id := range ids {
			uses, err := m.registry.VersionsOf(ctx, schemas.ID{Context: step.subject.Context, Number: id}, sr.LiveOnly, sr.Page{})
			if err != nil && !isUnknown(err) {
				return nil, err
			}
			for _, u := range uses {
				if by := filled(u.Subject); by != step.subject && !slices.Contains(list, by) {
					list = append(list, by)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b schemas.Subject) int { return compareText(a.String(), b.String()) })
	return list, nil
}
