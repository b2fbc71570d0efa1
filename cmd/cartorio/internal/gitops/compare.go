package gitops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// compare finds the versions that have to be registered, what is referred to
// first: a version is there when its canonical form is, with the same references
// and the metadata that is declared.
func (m *maker) compare(ctx context.Context) error {
	for _, n := range m.order {
		n.pin()
		there, err := m.there(ctx, n)
		if err != nil {
			return fmt.Errorf("comparing %s with %s: %w", n.declared().Path, n.of.Name, err)
		}
		if there {
			continue
		}
		if err := m.propose(ctx, n); err != nil {
			return fmt.Errorf("looking at the versions of %s: %w", n.of.Name, err)
		}
	}
	for _, s := range m.list {
		if !slices.ContainsFunc(s.nodes, func(n *node) bool { return n.pending }) {
			m.plan.Unchanged++
		}
	}
	return nil
}

// there tells whether the registry has a declared version, or is past it.
func (m *maker) there(ctx context.Context, n *node) (bool, error) {
	s := n.of
	if s.latest == nil || !n.settled() {
		return false, nil
	}
	if n.newest() {
		same, err := m.same(ctx, n, *s.latest)
		if err != nil || same {
			n.version = s.latest.Version
			return same, err
		}
	}
	found, err := m.registry.Lookup(ctx, s.Name, n.registration(), false)
	switch {
	case err == nil:
		n.version = found.Version
		if n.newest() && found.Version < s.latest.Version {
			m.note("%s is version %s of %s, and the registry has %s: registering an old version again changes nothing", n.declared().Path, found.Version, s.Name, s.latest.Version)
		}
		return true, nil
	case !isUnknown(err) && !isRefusal(err):
		return false, err
	}
	if n.newest() {
		return false, nil
	}
	whole, err := m.onlyHistory(ctx, s)
	if err == nil && !whole {
		m.note("%s, of the history of %s, is not in the registry, which has newer versions: it is left out", n.declared().Path, s.Name)
	}
	return !whole, err
}

// isRefusal tells whether the registry answered that a text is wrong: what
// registering it would say is told then.
func isRefusal(err error) bool {
	var answer *sr.Error
	return errors.As(err, &answer) && (answer.Status == 422 || answer.Status == 409)
}

// onlyHistory tells whether the registry has nothing of a subject but the first
// versions of its declared history: an apply was interrupted.
func (m *maker) onlyHistory(ctx context.Context, s *subject) (bool, error) {
	if err := m.numbers(ctx, s); err != nil {
		return false, err
	}
	for _, v := range s.live {
		if !slices.ContainsFunc(s.nodes[:len(s.nodes)-1], func(n *node) bool { return !n.pending && n.version == v }) {
			return false, nil
		}
	}
	return true, nil
}

// same tells whether a declared version is what the registry has, whatever the
// layout of either.
func (m *maker) same(ctx context.Context, n *node, f schemas.Found) (bool, error) {
	d := n.declared()
	if d.Source.Type != f.Source.Type || !sameMetadata(d.Metadata, f.Metadata) || !sameReferences(n.refs, f.Source.References, n.of.Name.Context) {
		return false, nil
	}
	if d.Source.Text == f.Source.Text {
		return true, nil
	}
	next, err := m.schema(ctx, n)
	if err != nil {
		if isSilent(err) {
			return false, err
		}
		m.describe(d.Path, err)
		return true, nil // it is told, and nothing is planned
	}
	old, err := m.parse(ctx, f.Subject, f.Source, schemas.Stored)
	if err != nil {
		if isSilent(err) {
			return false, err
		}
		return false, nil // what the registry has cannot be read here, so it decides itself
	}
	if next.Canonical() == old.Canonical() {
		return true, nil
	}
	if !d.Normalize {
		return false, nil
	}
	a, _ := next.Normalized()
	b, _ := old.Normalized()
	return a == b, nil
}

// isSilent tells whether a registry could not be asked, as opposed to what it
// answered.
func isSilent(err error) bool {
	return errors.Is(err, schemas.ErrUnreachable) || errors.Is(err, schemas.ErrRefused) || errors.Is(err, schemas.ErrUnintelligible) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// describe is one fault for each thing that is wrong with a file.
func (m *maker) describe(path string, err error) {
	var list schemas.SyntaxErrors
	if !errors.As(err, &list) {
		m.fault("%s: %v", path, err)
		return
	}
	for _, one := range list {
		at := path
		if one.Position.Line > 0 {
			at += ":" + one.Position.String()
		}
		one.Position = schemas.Position{}
		m.fault("%s: %v", at, one)
	}
}

func (n *node) registration() sr.Registration {
	d := n.declared()
	return sr.Registration{Source: n.source(), Metadata: d.Metadata, Normalize: d.Normalize}
}

// propose plans to register a version.
func (m *maker) propose(ctx context.Context, n *node) error {
	s := n.of
	if err := m.numbers(ctx, s); err != nil {
		return err
	}
	n.version = s.high + 1
	for _, other := range s.nodes[:n.index] {
		if other.pending {
			n.version++
		}
	}
	schema, err := m.schema(ctx, n)
	if err != nil {
		if isSilent(err) {
			return err
		}
		m.describe(n.declared().Path, err)
	}
	n.pending = true
	d := n.declared()
	n.step = &Step{Action: Register, State: Planned, Subject: s.Name.String(), Path: d.Path, Type: d.Source.Type, Version: n.version, subject: s.Name, node: n, do: m.register}
	if s.latest == nil && n.index == 0 {
		n.step.Action = Create
	}
	if schema != nil {
		n.step.Text = schema.Fingerprint().String()
	}
	for i, ref := range n.refs {
		n.step.Pins = append(n.step.Pins, Pin{Name: ref.Name, Subject: ref.Target(s.Name.Context).String(), Version: ref.Version, New: n.uses[i] != nil && n.uses[i].pending})
	}
	return nil
}

func sameReferences(a, b []schemas.Reference, in schemas.Context) bool {
	if len(a) != len(b) {
		return false
	}
	spelt := func(list []schemas.Reference) []string {
		var out []string
		for _, r := range list {
			out = append(out, r.Name+"\x00"+r.Target(in).String()+"\x00"+r.Version.String())
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(spelt(a), spelt(b))
}

// versionProperty is managed by the registry; see the contract, 5.7.
const versionProperty = "confluent:version"

// sameMetadata tells whether a version has the metadata declared. Nothing
// declared is satisfied by anything.
func sameMetadata(declared, has *schemas.Metadata) bool {
	if declared == nil {
		return true
	}
	if has == nil {
		has = &schemas.Metadata{}
	}
	properties := has.Properties
	if _, said := declared.Properties[versionProperty]; !said {
		properties = maps.Clone(properties)
		delete(properties, versionProperty)
	}
	set := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return maps.Equal(declared.Properties, properties) &&
		slices.Equal(set(declared.Sensitive), set(has.Sensitive)) &&
		maps.EqualFunc(declared.Tags, has.Tags, func(a, b []string) bool { return slices.Equal(set(a), set(b)) })
}
