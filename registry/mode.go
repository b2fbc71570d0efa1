package registry

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Mode says what a scope allows.
type Mode string

// The modes of the wire. ReadOnlyOverride is deprecated there and acts as
// ReadOnly; Forward is Import for the whole registry, entered without conditions.
const (
	ReadWrite        Mode = "READWRITE"
	ReadOnly         Mode = "READONLY"
	ReadOnlyOverride Mode = "READONLY_OVERRIDE"
	Import           Mode = "IMPORT"
	Forward          Mode = "FORWARD"
)

// modeInForce is the mode that a scope ends up with.
func (s *State) modeInForce(scope schemas.Subject) Mode {
	for _, at := range chain(scope) {
		if m, ok := s.modes[at]; ok {
			return m
		}
	}
	return ReadWrite
}

// ModeOf answers a scope's own mode.
func (r *Registry) ModeOf(scope schemas.Subject) (m Mode, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	m, ok = r.state.modes[filled(scope)]
	return m, ok
}

// ModeInForce answers the mode that a scope ends up with: its own, else its
// context's, else the whole registry's, else READWRITE.
func (r *Registry) ModeInForce(scope schemas.Subject) Mode {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.modeInForce(filled(scope))
}

// SetMode sets a scope's mode. The subject need not exist.
//
// Entering IMPORT, without force and unless it is in force already, wants no live
// subject in the scope, and removes the soft-deleted versions in it for good. For
// the global scope every context counts.
//
// Errors: CodeModeInvalid for a text that is no mode, and for FORWARD anywhere
// but on the whole registry; CodeNotPermitted for IMPORT over live subjects;
// CodeReferenced for IMPORT over a soft-deleted version that another subject
// references; CodeSubjectInvalid.
// Source: REST contract 4.5 and 5.9.
func (r *Registry) SetMode(ctx context.Context, scope schemas.Subject, m Mode, force bool) error {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return err
	}
	switch m {
	case ReadWrite, ReadOnly, ReadOnlyOverride, Import:
	case Forward:
		if scope != registryScope {
			return &Error{Code: CodeModeInvalid, Subject: scope, Text: "mode FORWARD can be set on the whole registry (:.__GLOBAL:) only"}
		}
	default:
		return &Error{Code: CodeModeInvalid, Subject: scope, Text: fmt.Sprintf("mode %q is none of READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD", string(m))}
	}
	return r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		if r.state.modes[scope] == m {
			return nil, nil
		}
		d := r.state.remode([]schemas.Subject{scope}, m)
		if m == Import && !force && r.state.modeInForce(scope) != Import {
			set := d.build
			d.alone = true // what is in the scope is judged where nothing moves
			d.build = func(b *batch) error {
				list, err := b.state.emptied(scope)
				if err != nil {
					return err
				}
				b.retire(d, KindSubjectDeleted, list, true)
				return set(b)
			}
		}
		return d, nil
	})
}

// emptied lists the soft-deleted versions that go when scope enters IMPORT.
//
// Errors: CodeNotPermitted while a subject in the scope is live, CodeReferenced
// while one of the versions is referenced from outside the scope.
func (s *State) emptied(scope schemas.Subject) ([]going, error) {
	var list []going
	inside := map[*subject]bool{}
	for _, u := range s.subjects() {
		every := scope == globalScope || scope == registryScope
		if !every && (u.space.name != scope.Context || !scope.IsContext() && u.name != scope.Name) {
			continue
		}
		if u.has(LiveOnly) {
			return nil, &Error{Code: CodeNotPermitted, Subject: u.subject(), Text: fmt.Sprintf("%s cannot enter mode IMPORT: it has the live subject '%s'; delete it first, or set the mode with force=true", named(scope), u.text)}
		}
		g := going{subject: u}
		for i := range u.versions {
			if v := &u.versions[i]; !v.hidden() {
				g.numbers = append(g.numbers, v.number)
			}
		}
		list = append(list, g)
		inside[u] = true
	}
	for _, g := range list {
		for _, n := range g.numbers {
			for _, e := range s.referrers(g.subject, n, WithDeleted, nil) {
				for _, at := range e.uses.list() {
					if !inside[at.subject] {
						return nil, s.unreferenced(g.subject, n, true, nil)
					}
				}
			}
		}
	}
	return list, nil
}

// ClearMode removes a scope's mode and answers what it was. recursive, on a
// context, also removes the modes of its subjects, and a scope without a mode
// is then no error: the answer is empty. The global mode without one set is
// READWRITE.
//
// Errors: CodeSubjectUnknown when the scope has none, CodeSubjectInvalid.
func (r *Registry) ClearMode(ctx context.Context, scope schemas.Subject, recursive bool) (Mode, error) {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return "", err
	}
	var before Mode
	err := r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		var had bool
		before, had = r.state.modes[scope]
		var scopes []schemas.Subject
		if had {
			scopes = append(scopes, scope)
		}
		if recursive && scope.IsContext() {
			for _, s := range slices.SortedFunc(maps.Keys(r.state.modes), func(a, b schemas.Subject) int { return compareText(a.String(), b.String()) }) {
				if s.Context == scope.Context && s != scope {
					scopes = append(scopes, s)
				}
			}
		}
		switch {
		case !had && scope == globalScope:
			before = ReadWrite
		case !had && !recursive:
			return nil, &Error{Code: CodeSubjectUnknown, Subject: scope, Text: named(scope) + " has no mode of its own"}
		}
		if len(scopes) == 0 {
			return nil, nil
		}
		return r.state.remode(scopes, ""), nil
	})
	if err != nil {
		return "", err
	}
	return before, nil
}

// remode decides that scopes have mode m, or none when m is empty.
func (s *State) remode(scopes []schemas.Subject, m Mode) *decision {
	d := s.decide(key{about: settings})
	kind := KindModeSet
	if m == "" {
		kind = KindModeCleared
	}
	events := make([]Event, len(scopes))
	for i, scope := range scopes {
		events[i] = d.by(kind, modeBody{V: bodyVersion, Context: scope.Context, Subject: scope.Name, Before: s.modes[scope], After: m})
	}
	d.build = func(b *batch) error {
		b.add(events...)
		b.touch(key{about: settings})
		return nil
	}
	return d
}
