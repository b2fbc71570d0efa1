package gitops

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// undo takes back what a step did.
type undo func(context.Context) error

// Apply does the steps of a plan that Make has just made. Nothing is done when one
// of them cannot be. What a group did is taken back when one of its steps fails:
// versions are soft-deleted, settings become what they were. Deletions come last,
// each for itself. What became of each step is in its State.
//
// Errors: the first failure; a registry that can no longer be asked ends the run.
func Apply(ctx context.Context, p *Plan) error {
	if p.Blocked() != 0 {
		return errors.New("nothing was done: a step of the plan cannot be done")
	}
	var first error
	for at := 0; at < len(p.Steps); {
		end := at
		for end < len(p.Steps) && p.Steps[end].Group == p.Steps[at].Group {
			end++
		}
		group := p.Steps[at:end]
		at = end
		if first != nil && (isSilent(first) || group[0].Action == Delete) {
			skip(group, "something before it failed")
			continue
		}
		if err := together(ctx, group); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func skip(group []Step, why string) {
	for i := range group {
		group[i].State, group[i].Reason = Skipped, []string{why}
	}
}

// together does the steps of a group, all of them or none.
func together(ctx context.Context, group []Step) error {
	type doneStep struct {
		step *Step
		undo undo
	}
	var done []doneStep
	for i := range group {
		s := &group[i]
		back, err := s.do(ctx, s)
		if err == nil {
			s.State = Done
			done = append(done, doneStep{s, back})
			continue
		}
		s.State, s.Reason = Failed, []string{reason(err)}
		if back != nil {
			// It may have been done all the same: its answer was lost.
			done = append(done, doneStep{s, back})
		}
		skip(group[i+1:], fmt.Sprintf("%s of %s failed, which it belongs together with", s.Action, s.Subject))
		// The run may end because its context does: what was done is taken back
		// all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		for k := len(done) - 1; k >= 0; k-- {
			d := done[k]
			if d.undo == nil {
				continue
			}
			backErr := d.undo(ctx)
			if d.step == s {
				if backErr != nil {
					s.Reason = append(s.Reason, "whether it was done is not known: "+reason(backErr))
				}
				continue
			}
			if backErr != nil {
				d.step.State, d.step.Reason = Left, []string{"it could not be taken back: " + reason(backErr)}
				continue
			}
			d.step.State, d.step.Reason = Undone, []string{fmt.Sprintf("%s of %s failed, which it belongs together with", s.Action, s.Subject)}
		}
		return fmt.Errorf("%s of %s: %w", s.Action, s.Subject, err)
	}
	return nil
}

// undoTime bounds what is taken back after a failure.
const undoTime = 30 * time.Second

// reason is the registry's sentence, where it gave one.
func reason(err error) string {
	var answer *sr.Error
	if errors.As(err, &answer) && answer.Message != "" {
		return fmt.Sprintf("%s (code %d)", answer.Message, answer.Code)
	}
	return err.Error()
}

// register registers a version, with the references that the versions before it
// got.
func (m *maker) register(ctx context.Context, step *Step) (undo, error) {
	n := step.node
	s := n.of
	planned := n.version
	for i, u := range n.uses {
		if u == nil {
			continue
		}
		if want := n.declared().Source.References; i < len(want) && want[i].Version > 0 && want[i].Version != u.version {
			return nil, fmt.Errorf("it refers to version %s of %s, which became version %s: let the reference follow by leaving its version out", want[i].Version, u.of.Name, u.version)
		}
		n.refs[i].Version, step.Pins[i].Version = u.version, u.version
	}
	q := n.registration()
	q.Force = n.takenOver()
	found, err := m.registry.Register(ctx, s.Name, q)
	if err != nil {
		return func(ctx context.Context) error {
			q.Force = false
			found, err := m.registry.Lookup(ctx, s.Name, q, false)
			if isUnknown(err) || isRefusal(err) || err == nil && found.Version < planned {
				return nil
			}
			if err == nil {
				_, err = m.registry.DeleteVersion(ctx, s.Name, found.Version, false)
			}
			return err
		}, err
	}
	n.version, n.pending = found.Version, false
	step.Version, step.ID = found.Version, found.ID.Number
	if found.Version < planned {
		return nil, nil // somebody else has registered it, and it is theirs
	}
	return func(ctx context.Context) error {
		n.pending = true
		_, err := m.registry.DeleteVersion(ctx, s.Name, found.Version, false)
		return err
	}, nil
}

// setConfig sets members, and puts back what the subject itself said of them.
func (m *maker) setConfig(s *subject, changes []Change) func(context.Context, *Step) (undo, error) {
	return func(ctx context.Context, _ *Step) (undo, error) {
		own, err := m.registry.Config(ctx, s.Name, false)
		none := isAbsent(err)
		if err != nil && !none {
			return nil, err
		}
		var next, before sr.Config
		var clear []string
		for _, c := range changes {
			one := memberNamed(c.Name)
			one.set(&next, c.To)
			if had := one.get(own); had != "" {
				one.set(&before, had)
			} else {
				clear = append(clear, c.Name)
			}
		}
		if _, err := m.registry.SetConfig(ctx, s.Name, next); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if none {
				_, err := m.registry.ClearConfig(ctx, s.Name)
				return err
			}
			_, err := m.registry.SetConfig(ctx, s.Name, before, clear...)
			return err
		}, nil
	}
}

func (m *maker) setMode(s *subject) func(context.Context, *Step) (undo, error) {
	return func(ctx context.Context, _ *Step) (undo, error) {
		if _, err := m.registry.SetMode(ctx, s.Name, s.Mode, false); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if s.mode == "" {
				_, err := m.registry.ClearMode(ctx, s.Name, false)
				return err
			}
			_, err := m.registry.SetMode(ctx, s.Name, s.mode, false)
			return err
		}, nil
	}
}

// remove soft-deletes a subject; what went in the meantime is gone as it should.
func (m *maker) remove(ctx context.Context, step *Step) (undo, error) {
	_, err := m.registry.DeleteSubject(ctx, step.subject, false)
	if err != nil && !errors.Is(err, schemas.ErrSubjectUnknown) {
		return nil, err
	}
	return nil, nil
}
