package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// surplus names the members that before says and after does not.
func surplus(before, after *registry.Config) []string {
	members := func(c *registry.Config) map[string]json.RawMessage {
		m := map[string]json.RawMessage{}
		if c != nil {
			if text, err := json.Marshal(c); err == nil {
				_ = json.Unmarshal(text, &m) // it was written just now
			}
		}
		return m
	}
	wanted := members(after)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(members(before))), func(name string) bool { _, ok := wanted[name]; return ok })
	return names
}

// unalias takes away the aliases of subjects that are to be written to: a write
// would go to the subject that stands for them. The configs come back later.
func (m *migration) unalias(ctx context.Context, names []schemas.Subject) error {
	for i := range m.plan.there.Settings {
		s := &m.plan.there.Settings[i]
		if s.Config == nil || s.Config.Alias == "" {
			continue
		}
		if _, ours := slices.BinarySearchFunc(names, s.Scope, compareSubjects); !ours {
			continue
		}
		if _, err := ask(ctx, m.peer, func() (sr.Config, error) { return m.client.SetConfig(ctx, s.Scope, sr.Config{}, "alias") }); err != nil {
			return fmt.Errorf("take the alias of %q away for the time of the migration: %w", s.Scope, err)
		}
		before := *s.Config
		without := before
		without.Alias = ""
		s.Config = &without
		if !slices.ContainsFunc(m.plan.configs, func(c registry.Setting) bool { return c.Scope == s.Scope }) {
			m.plan.configs = append(m.plan.configs, registry.Setting{Scope: s.Scope, Config: &before})
		}
	}
	return nil
}

// enter puts what is to be written to into mode IMPORT: a context as a whole
// when nothing in it is live yet, else only the subjects. A target without
// modes may take ids all the same: the first import tells.
func (m *migration) enter(ctx context.Context, pending []schemas.Subject) error {
	live := map[schemas.Context]bool{}
	for i := range m.plan.there.Versions {
		v := &m.plan.there.Versions[i]
		live[v.Subject.Context] = live[v.Subject.Context] || !v.Deleted
	}
	own := map[schemas.Subject]registry.Mode{}
	for _, s := range m.plan.there.Settings {
		own[s.Scope] = s.Mode
	}
	for _, name := range pending {
		scope := schemas.Subject{Context: name.Context}
		if !live[name.Context] && !slices.ContainsFunc(m.scopes, func(s registry.Setting) bool { return s.Scope == scope }) {
			if ok, err := m.enterScope(ctx, scope, own[scope]); err != nil || !ok {
				return err
			}
		}
		if live[name.Context] || own[name] != "" {
			if ok, err := m.enterScope(ctx, name, own[name]); err != nil || !ok {
				return err
			}
		}
	}
	return nil
}

func (m *migration) enterScope(ctx context.Context, scope schemas.Subject, before registry.Mode) (bool, error) {
	if slices.ContainsFunc(m.scopes, func(s registry.Setting) bool { return s.Scope == scope }) {
		return true, nil
	}
	if m.o.Renumber && m.refusesImport(ctx) {
		return false, nil
	}
	err := m.setMode(ctx, scope, registry.Import)
	switch {
	case err == nil:
		m.scopes = append(m.scopes, registry.Setting{Scope: scope, Mode: before})
		return true, nil
	case declined(err):
		m.plan.losses = append(m.plan.losses, Loss{Subject: scopeName(scope), What: "the target does not enter mode IMPORT: " + err.Error()})
		return false, nil
	}
	return false, fmt.Errorf("set mode IMPORT on %q: %w", scope, err)
}

// setMode sets a mode. Some answer nothing at all to that: whether it counts is
// then asked.
func (m *migration) setMode(ctx context.Context, scope schemas.Subject, mode registry.Mode) error {
	_, err := ask(ctx, m.peer, func() (string, error) { return m.client.SetMode(ctx, scope, string(mode), true) })
	var e *sr.Error
	if !errors.As(err, &e) || e.Status != http.StatusOK {
		return err
	}
	told, asked := ask(ctx, m.peer, func() (string, error) { return m.client.Mode(ctx, scope, false) })
	switch {
	case asked != nil && (!errors.As(asked, &e) || e.Status != http.StatusOK):
		return asked
	case told != string(mode):
		return &sr.Error{Method: e.Method, URL: e.URL, Status: http.StatusMethodNotAllowed, Message: "it answers nothing, and the mode is not set"}
	}
	return nil
}

// refusesImport tells whether the target has no modes at all.
func (m *migration) refusesImport(ctx context.Context) bool {
	_, err := ask(ctx, m.peer, func() (string, error) { return m.client.Mode(ctx, sr.Global, false) })
	return absent(err)
}

// setBack gives every scope the source's mode, else the one that it had. A scope
// that was found in IMPORT was left so by a migration that was interrupted, and
// had none.
func (m *migration) setBack(ctx context.Context) error {
	wanted := map[schemas.Subject]registry.Mode{}
	for _, s := range m.plan.from.Settings {
		wanted[s.Scope] = s.Mode
	}
	for _, s := range m.scopes {
		if s.Mode == registry.Import {
			s.Mode = ""
		}
		if s.Mode = cmp.Or(wanted[s.Scope], s.Mode); s.Mode != "" {
			if _, err := m.client.SetMode(ctx, s.Scope, string(s.Mode), true); err != nil {
				return fmt.Errorf("set the mode of %q back to %s: %w", s.Scope, s.Mode, err)
			}
			continue
		}
		_, err := m.client.ClearMode(ctx, s.Scope, false)
		if err != nil && s.Scope == sr.Global && declined(err) {
			_, err = m.client.SetMode(ctx, s.Scope, string(registry.ReadWrite), false)
		}
		if err != nil {
			return fmt.Errorf("take the mode IMPORT of %q back: %w", s.Scope, err)
		}
	}
	m.scopes = nil
	return nil
}
