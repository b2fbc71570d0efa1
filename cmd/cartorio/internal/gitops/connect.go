package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// connect finds what each declared version refers to, and the order in which
// they can be registered: what is referred to first, and older versions before
// newer ones.
func (m *maker) connect(ctx context.Context) error {
	for _, s := range m.list {
		for _, n := range s.nodes {
			if err := m.references(ctx, n); err != nil {
				return fmt.Errorf("looking for what %s refers to: %w", n.declared().Path, err)
			}
		}
	}
	const open, done = 1, 2
	state := map[*node]int{}
	var path []*node
	var walk func(n *node)
	walk = func(n *node) {
		switch state[n] {
		case done:
			return
		case open:
			m.circle(path[slices.Index(path, n):])
			return
		}
		state[n] = open
		path = append(path, n)
		if n.index > 0 {
			walk(n.of.nodes[n.index-1])
		}
		for _, u := range n.uses {
			if u != nil {
				walk(u)
			}
		}
		path = path[:len(path)-1]
		state[n] = done
		m.order = append(m.order, n)
	}
	for _, s := range m.list {
		for _, n := range s.nodes {
			walk(n)
		}
	}
	return nil
}

// circle tells of references that lead back to where they began.
func (m *maker) circle(nodes []*node) {
	var names []string
	for _, n := range append(slices.Clone(nodes), nodes[0]) {
		names = append(names, fmt.Sprintf("%s (%s)", n.of.Name, n.declared().Path))
	}
	m.fault("references form a circle, so that none can be registered first: %s", strings.Join(names, " → "))
}

// references finds what the references of a version point to: a declared version,
// or one of the registry. Versions stay 0 where the declared one is not known yet.
func (m *maker) references(ctx context.Context, n *node) error {
	d, s := n.declared(), n.of
	n.refs = slices.Clone(d.Source.References)
	for i, ref := range n.refs {
		if ref.Name == "" || ref.Subject == "" {
			m.fault("%s: a reference needs name and subject", d.Path)
			return nil
		}
		target := m.subjects[filled(ref.Target(s.Name.Context))]
		if target != nil && len(target.nodes) > 0 {
			n.uses = append(n.uses, target.at(ref.Version))
			if n.uses[i] == n {
				m.fault("%s: it refers to itself", d.Path)
				return nil
			}
			if n.uses[i] != nil || ref.Version > 0 {
				continue
			}
		} else {
			n.uses = append(n.uses, nil)
		}
		if ref.Version > 0 {
			continue
		}
		found, err := m.version(ctx, ref.Target(s.Name.Context), schemas.Latest)
		switch {
		case err == nil:
			n.refs[i].Version = found.Version
		case isUnknown(err):
			m.fault("%s: it refers to %s as %s, which is neither declared nor in the registry: declare it, or correct the name", d.Path, ref.Subject, ref.Name)
		default:
			return err
		}
	}
	return m.outside(ctx, n)
}

// at is the declared version that a reference to version v points to: the newest
// where it follows, else one that the registry does not have yet; nil where it
// has it.
func (s *subject) at(v schemas.Version) *node {
	newest := s.nodes[len(s.nodes)-1]
	switch {
	case v == 0:
		return newest
	case s.latest == nil && int(v) <= len(s.nodes):
		return s.nodes[v-1]
	case s.latest != nil && v > s.latest.Version:
		// What is missing is registered in the order declared; the newest is last.
		if back := int(v - s.latest.Version); back < len(s.nodes) {
			return s.nodes[len(s.nodes)-back]
		}
		return newest
	}
	return nil
}

// outside adds the references that no declared file answers: as the subject's
// newest version has them, else to the subject that bears the name.
func (m *maker) outside(ctx context.Context, n *node) error {
	d, s := n.declared(), n.of
	for _, need := range d.Missing {
		ref := schemas.Reference{Name: need, Subject: need}
		if s.latest != nil {
			if i := slices.IndexFunc(s.latest.Source.References, func(r schemas.Reference) bool { return r.Name == need }); i >= 0 {
				ref = s.latest.Source.References[i]
			}
		}
		if ref.Version == 0 {
			found, err := m.version(ctx, ref.Target(s.Name.Context), schemas.Latest)
			if isUnknown(err) {
				m.fault("%s: it needs %s, which no declared file defines and no subject of the registry is called: declare the file that defines it, or list it under references", d.Path, need)
				continue
			}
			if err != nil {
				return err
			}
			ref.Version = found.Version
		}
		// One text defines its names once, however many of them are needed.
		if d.Source.Type == schemas.Avro && slices.ContainsFunc(n.refs, func(r schemas.Reference) bool {
			return r.Subject == ref.Subject && r.Version == ref.Version
		}) {
			continue
		}
		n.refs, n.uses = append(n.refs, ref), append(n.uses, nil)
	}
	return nil
}

// pin gives references to declared versions their numbers; what is referred to
// has been compared before.
func (n *node) pin() {
	for i, u := range n.uses {
		if u != nil {
			n.refs[i].Version = u.version
		}
	}
}
