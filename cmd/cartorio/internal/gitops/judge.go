package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// The answers of a registry in a verdict.
const (
	saysYes  = "compatible"
	saysNo   = "incompatible"
	notAsked = "not_asked"
)

// judge asks about every version to be registered: this binary's engine over the
// registry's history, and the registry itself. Subjects do not wait for each other.
func (m *maker) judge(ctx context.Context) error {
	var waiting []*subject
	for _, s := range m.list {
		if slices.ContainsFunc(s.nodes, func(n *node) bool { return n.pending }) {
			waiting = append(waiting, s)
		}
	}
	err := each(ctx, waiting, func(ctx context.Context, s *subject) error {
		for _, n := range s.nodes {
			if !n.pending {
				continue
			}
			if err := m.verdict(ctx, n); err != nil {
				return err
			}
		}
		return nil
	})
	for _, s := range waiting {
		m.plan.Notes = append(m.plan.Notes, s.notes...)
	}
	return err
}

func (m *maker) verdict(ctx context.Context, n *node) error {
	s, step := n.of, n.step
	q := compat.Question{
		Checkers: m.options.Checkers, Subject: s.Name.String(), Label: n.declared().Path, Next: m.parsed[n],
		Exceptions: m.desired.Exceptions, At: m.desired.At,
	}
	v := &Verdict{Compared: []string{}, Registry: notAsked}
	step.Verdict = v
	if n.takenOver() {
		v.Verdict, v.Local, v.NotAsked = compat.Compatible, compat.Compatible, "the history of a new subject is taken over as it is"
		return nil
	}
	if s.latest != nil || n.index > 0 {
		if err := m.level(ctx, s, &q); err != nil {
			return err
		}
		v.Level = q.Level.String()
		if err := m.history(ctx, n, &q); err != nil {
			return err
		}
	}
	report := compat.Check(q)
	v.Local = report.Verdict()
	for _, c := range report.Compared {
		v.Compared = append(v.Compared, c.Old.Label)
		v.Reason = c.Reason
		for _, f := range c.Findings {
			if f.Severity != compat.Note || f.Accepted != nil {
				v.Findings = append(v.Findings, f)
			}
		}
	}
	if err := m.ask(ctx, n, v); err != nil {
		return err
	}
	return m.conclude(ctx, n, v)
}

// takenOver tells whether a version comes into a subject with a history and is
// not compared: the whole of a subject that is not there yet, or the rest of a
// history that an interrupted apply left.
func (n *node) takenOver() bool {
	return len(n.of.nodes) > 1 && (n.of.latest == nil || !n.newest())
}

// level fills in what will be in force once the plan is done.
func (m *maker) level(ctx context.Context, s *subject, q *compat.Question) error {
	if s.force == nil {
		config, err := m.registry.Config(ctx, s.Name, true)
		if err != nil && !isAbsent(err) {
			return err
		}
		s.force = &config
	}
	var err error
	set := func(name string, read func(text string) error) {
		text := s.wants(name)
		if text == "" {
			text = memberNamed(name).get(*s.force)
		}
		if text != "" && err == nil {
			err = read(text)
		}
	}
	q.Level = compat.Backward
	set("compatibility", func(text string) (err error) { q.Level, err = compat.ParseLevel(text); return err })
	set("compatibilityPolicy", func(text string) (err error) { q.Policy, err = compat.ParsePolicy(text); return err })
	set("verdictPolicy", func(text string) (err error) { q.VerdictPolicy, err = compat.ParseVerdictPolicy(text); return err })
	return err
}

// history is what the level compares with, newest first: what this plan registers
// before, then what the registry has.
func (m *maker) history(ctx context.Context, n *node, q *compat.Question) error {
	s := n.of
	for i := n.index - 1; i >= 0; i-- {
		if before := s.nodes[i]; before.pending {
			q.History = append(q.History, compat.Old{Label: before.declared().Path, Version: before.version, Schema: m.parsed[before]})
		}
	}
	live := slices.Clone(s.live)
	slices.Reverse(live)
	if q.Level == compat.None {
		live = nil
	}
	for _, v := range live {
		if !q.Level.IsTransitive() && len(q.History) > 0 {
			break
		}
		found, err := m.version(ctx, s.Name, v)
		if err != nil {
			return err
		}
		old := compat.Old{Label: v.String(), Version: v}
		if old.Schema, err = m.parse(ctx, s.Name, found.Source, schemas.Stored); err != nil && isSilent(err) {
			return err
		}
		q.History = append(q.History, old) // one that cannot be read is not checked
	}
	return nil
}

// ask puts the question to the registry, where it can be put.
func (m *maker) ask(ctx context.Context, n *node, v *Verdict) error {
	s := n.of
	before := slices.ContainsFunc(s.nodes[:n.index], func(o *node) bool { return o.pending })
	switch {
	case !n.settled():
		v.NotAsked = "what it refers to is not registered yet"
	case before:
		v.NotAsked = "an older version is not registered yet"
	case s.latest != nil && s.judgedOtherwise():
		v.NotAsked = "it judges by settings that this plan changes"
	default:
		answer, err := m.registry.CheckAll(ctx, s.Name, n.registration(), true)
		switch {
		case isRefusal(err):
			var said *sr.Error
			errors.As(err, &said)
			v.Registry, v.Messages = saysNo, []string{said.Message}
		case isUnknown(err) && s.latest == nil:
			v.NotAsked = "it has nothing to compare with"
		case err != nil:
			return err
		case answer.Compatible:
			v.Registry = saysYes
		default:
			v.Registry, v.Messages = saysNo, answer.Messages
		}
	}
	return nil
}

// conclude makes one verdict of two answers: either may refuse.
func (m *maker) conclude(ctx context.Context, n *node, v *Verdict) error {
	s, step := n.of, n.step
	v.Verdict = v.Local
	v.Disagree = v.Registry != notAsked && (v.Registry == saysYes) != (v.Local == compat.Compatible)
	if v.Registry == saysNo && v.Local == compat.Compatible {
		v.Verdict = compat.Breaking
		if told, err := m.except(ctx, n, v); err != nil {
			return err
		} else if told {
			v.Verdict, v.Disagree = compat.Compatible, false
			v.Registry, v.NotAsked, v.Messages = notAsked, "it does not know yet what was accepted here: this plan tells it", nil
		}
	} else if v.Local == compat.Compatible && v.Registry == notAsked {
		if _, err := m.except(ctx, n, v); err != nil {
			return err
		}
	}
	switch v.Verdict {
	case compat.Breaking:
		step.State, step.Code = Refused, CodeBreaks
	case compat.NotChecked:
		step.State, step.Code = NotChecked, CodeNotChecked
	case compat.Compatible, compat.NothingCompared:
	}
	if v.Disagree {
		s.note("%s: the registry answers %s, this cartorio %s: it is done only where both say compatible", n.declared().Path, v.Registry, v.Local)
	}
	return m.writable(ctx, s, step)
}

// writable refuses what the mode in force would.
func (m *maker) writable(ctx context.Context, s *subject, step *Step) error {
	if s.Mode == "READWRITE" {
		return nil
	}
	mode, err := m.registry.Mode(ctx, s.Name, true)
	if err != nil {
		if isSilent(err) {
			return err
		}
		return nil // a registry without modes takes what is new
	}
	if mode != "" && mode != "READWRITE" {
		step.State, step.Code = Refused, CodeReadOnly
		step.Reason = append(step.Reason, fmt.Sprintf("the subject is in mode %s: nothing new can be registered", mode))
	}
	return nil
}
