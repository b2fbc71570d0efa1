package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Options shape ToRegistry.
type Options struct {
	Pace
	// DryRun reads both sides, tells the steps and writes nothing.
	DryRun bool
	// Renumber goes on where the target gives ids and numbers of its own.
	Renumber bool
	// Progress, unless nil, is told how many steps of how many are done. It is
	// called by one goroutine at a time.
	Progress func(done, total int)
}

// Report is what a migration did, or would do.
type Report struct {
	// Present versions were there before, the same.
	Present int `json:"present"`
	// Steps were taken; in a dry run they would be.
	Steps []Step `json:"steps"`
	// Losses are what the target does not hold now, by name.
	Losses []Loss `json:"losses"`
}

// ErrRenumbered says that a target does not keep the ids and numbers of what is
// registered there.
var ErrRenumbered = errors.New("the target gives ids and numbers of its own, so that messages written with the old ids could not be read: nothing more was written, unless it is to be copied all the same")

// ToRegistry makes the registry behind client hold what g holds: texts, ids,
// numbers, references, deletions, configs and modes. What is there already is
// left alone, so that a migration that was interrupted goes on where it stopped;
// what stands in its way, and what the target refuses, is a loss in the report.
//
// The scopes that are written to are in mode IMPORT meanwhile, and have the
// source's mode, or the one they had, afterwards; also when it fails.
//
// Errors: ErrRenumbered; those of clients/sr when the target cannot be asked any
// more. The report tells what was done until then.
// Source: REST contract 10.2.
func ToRegistry(ctx context.Context, client *sr.Client, g Gathered, o Options) (Report, error) {
	p := &peer{client, newGate(o.Pace)}
	there, err := p.gather(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("read the target: %w", err)
	}
	m := &migration{peer: p, plan: makePlan(g, there, o.Renumber), o: o, numbers: map[place]schemas.Version{}}
	m.steps = m.plan.steps()
	if o.DryRun {
		return m.report(), nil
	}
	m.total, m.steps = len(m.steps), nil
	err = m.run(ctx)
	return m.report(), err
}

// migration is a plan being carried out.
type migration struct {
	*peer
	plan  *plan
	o     Options
	total int

	done    atomic.Int64
	mu      sync.Mutex
	steps   []Step
	losses  []Loss
	numbers map[place]schemas.Version // where the target gave others
	scopes  []registry.Setting        // in IMPORT, with the mode that they had
}

func (m *migration) report() Report {
	r := Report{Present: m.plan.present, Steps: m.steps, Losses: append(slices.Clone(m.plan.losses), m.losses...)}
	if r.Steps == nil {
		r.Steps = []Step{}
	}
	if r.Losses == nil {
		r.Losses = []Loss{}
	}
	sortLosses(r.Losses)
	return r
}

func (m *migration) run(ctx context.Context) error {
	err := m.versions(ctx)
	// Set back also when it was told to stop: nobody else knows of it.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err != nil {
		return errors.Join(err, m.setBack(late))
	}
	if err := m.settings(ctx); err != nil {
		return errors.Join(err, m.setBack(late))
	}
	if err := m.setBack(late); err != nil {
		return err
	}
	for _, s := range m.plan.modes {
		err := m.setMode(ctx, s.Scope, s.Mode)
		if err := m.took(Step{Action: ActionMode, Subject: scopeName(s.Scope), Value: string(s.Mode)}, err); err != nil {
			return fmt.Errorf("set the mode of %q: %w", s.Scope, err)
		}
	}
	return nil
}

// took notes a step, or the loss that the target's refusal is. Any other error
// is handed back.
func (m *migration) took(s Step, err error) error {
	if err != nil && !declined(err) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		what := "the target refuses it: "
		if s.Action != ActionImport {
			what = "the target refuses the " + s.Action + ": "
		}
		m.losses = append(m.losses, Loss{s.Subject, s.Version, s.ID, what + err.Error()})
	} else {
		m.steps = append(m.steps, s)
	}
	if n := int(m.done.Add(1)); m.o.Progress != nil {
		m.o.Progress(n, m.total)
	}
	return nil
}

func (m *migration) versions(ctx context.Context) error {
	// What a migration that was interrupted left in IMPORT is taken back at the end.
	m.scopes = slices.Clone(m.plan.leftover)
	pending := m.plan.pending()
	if len(pending) > 0 {
		if err := m.enter(ctx, pending); err != nil {
			return err
		}
		if err := m.unalias(ctx, pending); err != nil {
			return err
		}
	}
	for i, wave := range m.plan.imports {
		if i == 0 && len(wave) > 0 && !m.o.Renumber {
			// The highest id is the least likely one to be given by chance: a
			// target that gives its own shows it before much is written.
			probe := slices.MaxFunc(wave, func(a, b *registry.Held) int { return cmp.Compare(a.ID.Number, b.ID.Number) })
			if err := m.adopt(ctx, probe); err != nil {
				return err
			}
			wave = slices.DeleteFunc(slices.Clone(wave), func(v *registry.Held) bool { return v == probe })
		}
		groups := bySubject(wave)
		err := m.gate.side(ctx, len(groups), func(ctx context.Context, i int) error {
			for _, v := range groups[i] {
				if err := m.adopt(ctx, v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := m.remove(ctx, m.plan.early[i]); err != nil {
			return err
		}
	}
	for _, wave := range slices.Backward(m.plan.late) {
		if err := m.remove(ctx, wave); err != nil {
			return err
		}
	}
	return m.mark(ctx)
}

// bySubject groups a wave, keeping its order: the versions of one subject are
// registered one after the other.
func bySubject(wave []*registry.Held) (groups [][]*registry.Held) {
	at := map[schemas.Subject]int{}
	for _, v := range wave {
		i, ok := at[v.Subject]
		if !ok {
			i = len(groups)
			at[v.Subject] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], v)
	}
	return groups
}

// adopt registers one version with the id and number that it has.
func (m *migration) adopt(ctx context.Context, v *registry.Held) error {
	r := sr.Registration{Source: v.Source, Version: v.Version, ID: &v.ID.Number, Metadata: v.Metadata, RuleSet: v.RuleSet}
	if m.o.Renumber && len(m.scopes) == 0 {
		r.Version, r.ID = 0, nil
		r.Source.References = m.repinned(v)
	}
	found, err := ask(ctx, m.peer, func() (schemas.Found, error) { return m.client.Register(ctx, v.Subject, r) })
	if err := m.took(Step{Action: ActionImport, Subject: v.Subject.String(), Version: v.Version, ID: v.ID.Number}, err); err != nil {
		return fmt.Errorf("import version %d of %q: %w", v.Version, v.Subject, err)
	}
	if err != nil || found.Version == v.Version && found.ID.Number == v.ID.Number {
		return nil
	}
	loss := lost(v, "the target gave it version %d and id %d", found.Version, found.ID.Number)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.losses = append(m.losses, loss)
	m.numbers[placeOf(v)] = found.Version
	if !m.o.Renumber {
		return fmt.Errorf("%w (%s)", ErrRenumbered, loss)
	}
	return nil
}

// repinned are the references of v with the numbers that the target gave.
func (m *migration) repinned(v *registry.Held) []schemas.Reference {
	m.mu.Lock()
	defer m.mu.Unlock()
	refs := slices.Clone(v.Source.References)
	for i := range refs {
		if n, ok := m.numbers[place{refs[i].Target(v.Subject.Context), refs[i].Version}]; ok {
			refs[i].Version = n
		}
	}
	return refs
}

// remove soft-deletes what is deleted at the source.
func (m *migration) remove(ctx context.Context, list []*registry.Held) error {
	return m.gate.side(ctx, len(list), func(ctx context.Context, i int) error {
		v := list[i]
		number := v.Version
		m.mu.Lock()
		if n, ok := m.numbers[placeOf(v)]; ok {
			number = n
		}
		m.mu.Unlock()
		_, err := ask(ctx, m.peer, func() (schemas.Version, error) { return m.client.DeleteVersion(ctx, v.Subject, number, false) })
		var e *sr.Error
		if errors.As(err, &e) && e.Code == alreadyDeleted {
			err = nil
		}
		if err := m.took(Step{Action: ActionDelete, Subject: v.Subject.String(), Version: v.Version, ID: v.ID.Number}, err); err != nil {
			return fmt.Errorf("delete version %d of %q: %w", v.Version, v.Subject, err)
		}
		return nil
	})
}

// alreadyDeleted is the contract's code for a soft-deleted version.
const alreadyDeleted = 40406

// settings writes configs, and tells what the target leaves out of one.
func (m *migration) settings(ctx context.Context) error {
	old := map[schemas.Subject]*registry.Config{}
	for _, s := range m.plan.there.Settings {
		old[s.Scope] = s.Config
	}
	for _, s := range m.plan.configs {
		wanted, err := clientConfig(s.Config)
		if err != nil {
			return fmt.Errorf("write the config of %q: %w", s.Scope, err)
		}
		got, err := ask(ctx, m.peer, func() (sr.Config, error) {
			return m.client.SetConfig(ctx, s.Scope, wanted, surplus(old[s.Scope], s.Config)...)
		})
		step := Step{Action: ActionConfig, Subject: scopeName(s.Scope), Value: textOf(s.Config)}
		if err == nil {
			if kept, err := configOf(got); err != nil || !kept.Equal(*s.Config) {
				m.mu.Lock()
				m.losses = append(m.losses, Loss{Subject: step.Subject, What: fmt.Sprintf("of the config %s the target keeps %s", step.Value, textOf(got))})
				m.mu.Unlock()
			}
		}
		if err := m.took(step, err); err != nil {
			return fmt.Errorf("set the config of %q: %w", s.Scope, err)
		}
	}
	return nil
}
