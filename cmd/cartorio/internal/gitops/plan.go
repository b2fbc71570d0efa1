package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Options say how a plan is made.
type Options struct {
	Formats  []schemas.Format
	Checkers []compat.Checker
	// Prune plans to delete what the scope owns and nothing declares.
	Prune bool
	// Tool and Label name this binary and the registry, for the document.
	Tool, Label string
}

// Faults are reasons for which nothing can be planned, one line each.
type Faults []string

// Error is all of them.
func (f Faults) Error() string { return strings.Join(f, "\n") }

// maker is a plan in the making.
type maker struct {
	registry Registry
	desired  Desired
	options  Options
	plan     *Plan
	faults   Faults

	subjects map[schemas.Subject]*subject
	list     []*subject // as declared
	order    []*node    // what is referred to first
	parsed   map[*node]schemas.Schema

	mu      sync.Mutex
	found   map[use]schemas.Found // versions of the registry
	unknown map[use]error
}

type use struct {
	subject schemas.Subject
	version schemas.Version
}

// subject is a declared subject and what the registry has of it.
type subject struct {
	Subject
	nodes  []*node
	latest *schemas.Found // nil when there is none
	own    *sr.Config     // what it says itself; nil when that was not asked or is nothing
	force  *sr.Config     // what is in force; nil when that was not asked
	mode   string         // its own; empty when that was not asked or is none
	live   []schemas.Version
	high   schemas.Version // the highest number ever, as far as the registry tells
	asked  bool            // live and high are known
	// exceptions is the step that tells the registry what was accepted.
	exceptions *Step
	notes      []string // of its verdicts
}

func (s *subject) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// node is one declared version.
type node struct {
	of      *subject
	index   int // in of.Versions
	refs    []schemas.Reference
	uses    []*node // declared versions that refs point to, by index; nil for others
	version schemas.Version
	pending bool // it has to be registered
	step    *Step
}

func (n *node) declared() *Declared { return &n.of.Versions[n.index] }
func (n *node) newest() bool        { return n.index == len(n.of.Versions)-1 }
func (n *node) source() schemas.Source {
	s := n.declared().Source
	s.References = n.refs
	return s
}

// settled tells whether every reference points to a version that the registry
// has already.
func (n *node) settled() bool {
	return !slices.ContainsFunc(n.uses, func(u *node) bool { return u != nil && u.pending })
}

// Make compares what is declared with what the registry has. It changes nothing,
// and asks about declared subjects only, but for what they refer to and for what
// Options.Prune looks for.
//
// Errors: Faults in what is declared; the registry could not be asked.
func Make(ctx context.Context, r Registry, d Desired, o Options) (*Plan, error) {
	m := &maker{
		registry: r, desired: d, options: o, subjects: map[schemas.Subject]*subject{}, parsed: map[*node]schemas.Schema{},
		found: map[use]schemas.Found{}, unknown: map[use]error{},
		plan: &Plan{Version: 1, Tool: o.Tool, Registry: o.Label, Prune: o.Prune, Steps: []Step{}, Notes: []string{}, Observed: []Observed{}},
	}
	for _, step := range []func(context.Context) error{m.declare, m.observe, m.connect, m.compare, m.judge, m.settle, m.prune} {
		if err := step(ctx); err != nil {
			return nil, err
		}
		if len(m.faults) > 0 {
			return nil, m.faults
		}
	}
	m.plan.Steps = append([]Step{}, m.plan.Steps...)
	return m.plan, nil
}

func (m *maker) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

func (m *maker) note(format string, args ...any) {
	m.plan.Notes = append(m.plan.Notes, fmt.Sprintf(format, args...))
}

// declare lists the subjects and refuses what the repository does not own.
func (m *maker) declare(context.Context) error {
	if m.options.Prune && !m.desired.Scope.IsSet() {
		m.fault("pruning needs a scope: say in the configuration which subjects this repository owns, scope: {prefix: …}, so that nobody else's are deleted")
	}
	for _, s := range m.desired.Subjects {
		s.Name = filled(s.Name)
		one := &subject{Subject: s}
		for i := range s.Versions {
			one.nodes = append(one.nodes, &node{of: one, index: i})
		}
		if other := m.subjects[s.Name]; other != nil {
			m.fault("subject %s is declared twice%s", s.Name, both(other.Subject, s))
			continue
		}
		if sc := m.desired.Scope; sc.IsSet() && !sc.Owns(s.Name) {
			m.fault("subject %s is outside the scope of this repository (%s): rename it, or widen the scope", s.Name, sc)
		}
		m.subjects[s.Name] = one
		m.list = append(m.list, one)
	}
	return nil
}

func both(a, b Subject) string {
	if len(a.Versions) == 0 || len(b.Versions) == 0 {
		return ""
	}
	return fmt.Sprintf(", as %s and %s", a.Versions[len(a.Versions)-1].Path, b.Versions[len(b.Versions)-1].Path)
}

// workers is how many requests are under way at once.
const workers = 8

// each calls do for every subject, several at a time. The error is that of the
// first one in the list.
func each(ctx context.Context, list []*subject, do func(context.Context, *subject) error) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	turn := make(chan struct{}, workers)
	for i, s := range list {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = do(ctx, s)
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("looking at %s: %w", list[i].Name, err)
		}
	}
	return nil
}

// observe asks what the registry has of each declared subject: its newest
// version, and the settings about which something is declared.
func (m *maker) observe(ctx context.Context) error {
	err := each(ctx, m.list, func(ctx context.Context, s *subject) error {
		if len(s.Versions) > 0 {
			found, err := m.version(ctx, s.Name, schemas.Latest)
			switch {
			case err == nil:
				s.latest = &found
				m.remember(s.Name, found)
			case !isUnknown(err):
				return err
			default:
				// It will be created, so its numbers matter.
				if err := m.numbers(ctx, s); err != nil {
					return err
				}
			}
		}
		return m.observeSettings(ctx, s)
	})
	for _, s := range m.list {
		o := Observed{Subject: s.Name.String()}
		if s.latest != nil && filled(s.latest.Subject) != s.Name {
			// What is registered under an alias becomes a version of the other subject.
			m.fault("subject %s stands for %s in the registry: declare the schemas of that one, or take the alias away", s.Name, s.latest.Subject)
		}
		if s.latest != nil {
			o.Latest, o.ID = s.latest.Version, s.latest.ID.Number
		}
		if len(s.Versions) > 0 {
			m.plan.Observed = append(m.plan.Observed, o)
		}
	}
	return err
}

// remember keeps the newest version under its number too.
func (m *maker) remember(s schemas.Subject, f schemas.Found) {
	m.mu.Lock()
	m.found[use{s, f.Version}] = f
	m.mu.Unlock()
}

// version asks for a version once.
func (m *maker) version(ctx context.Context, s schemas.Subject, v schemas.Version) (schemas.Found, error) {
	at := use{filled(s), v}
	m.mu.Lock()
	f, ok := m.found[at]
	err := m.unknown[at]
	m.mu.Unlock()
	if ok || err != nil {
		return f, err
	}
	f, err = m.registry.Version(ctx, s, v, sr.VersionOptions{})
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.found[at] = f
	case isUnknown(err):
		m.unknown[at] = err
	}
	return f, err
}

// numbers asks once which numbers a subject has, and had.
func (m *maker) numbers(ctx context.Context, s *subject) error {
	if s.asked {
		return nil
	}
	all, err := m.registry.Versions(ctx, s.Name, sr.WithDeleted, sr.Page{})
	if err != nil && !isUnknown(err) {
		return err
	}
	if len(all) > 0 {
		s.high = slices.Max(all)
	}
	if s.latest != nil {
		if s.live, err = m.registry.Versions(ctx, s.Name, sr.LiveOnly, sr.Page{}); err != nil && !isUnknown(err) {
			return err
		}
	}
	s.asked = true
	return nil
}

func isUnknown(err error) bool {
	return errors.Is(err, schemas.ErrSubjectUnknown) || errors.Is(err, schemas.ErrVersionUnknown) || errors.Is(err, schemas.ErrSchemaUnknown)
}

// Resolve answers a reference from what is declared, else from the registry.
func (m *maker) Resolve(ctx context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
	target := filled(ref.Target(in))
	if s := m.subjects[target]; s != nil {
		for _, n := range s.nodes {
			if n.pending && n.version == ref.Version {
				return schemas.Resolved{Subject: target, Version: n.version, Source: n.source()}, nil
			}
		}
	}
	found, err := m.version(ctx, target, ref.Version)
	if err != nil {
		return schemas.Resolved{}, err
	}
	return schemas.Resolved{Subject: found.Subject, Version: found.Version, Source: found.Source}, nil
}

func (m *maker) parse(ctx context.Context, s schemas.Subject, source schemas.Source, mode schemas.Mode) (schemas.Schema, error) {
	for _, f := range m.options.Formats {
		if f.Type == source.Type {
			return f.Parse(ctx, source, m, schemas.ParseOptions{Mode: mode, From: s.Context})
		}
	}
	return nil, fmt.Errorf("type %s is not part of this binary", source.Type)
}

// schema reads a declared version, once.
func (m *maker) schema(ctx context.Context, n *node) (schemas.Schema, error) {
	if s := m.parsed[n]; s != nil {
		return s, nil
	}
	s, err := m.parse(ctx, n.of.Name, n.source(), schemas.New)
	if err == nil {
		m.parsed[n] = s
	}
	return s, err
}
