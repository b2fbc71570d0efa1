package registry

import (
	"context"
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Config is what a scope says of itself; nil members say nothing. The members
// that come with the contract stage are refused until then (42210).
type Config struct {
	Level              *compat.Level
	Normalize          *bool
	ValidateFields     *bool
	ValidateNewSchemas *bool
	ValidateRules      *bool
	Policy             *compat.Policy        // compatibilityPolicy
	PolicyName         string                // STRICT, LENIENT or LOGICAL as it was set
	VerdictPolicy      *compat.VerdictPolicy // ours
}

// ConfigChange is a partial update: for each member keep, clear or set. Clear
// goes before Set.
type ConfigChange struct {
	Set   Config
	Clear []string // wire names of the members to clear; others are ignored
}

// over fills the members that c leaves open from what stands above it.
func (c Config) over(above Config) Config {
	c.Level = orElse(c.Level, above.Level)
	c.Normalize = orElse(c.Normalize, above.Normalize)
	c.ValidateFields = orElse(c.ValidateFields, above.ValidateFields)
	c.ValidateNewSchemas = orElse(c.ValidateNewSchemas, above.ValidateNewSchemas)
	c.ValidateRules = orElse(c.ValidateRules, above.ValidateRules)
	c.VerdictPolicy = orElse(c.VerdictPolicy, above.VerdictPolicy)
	if c.Policy == nil {
		c.Policy, c.PolicyName = above.Policy, above.PolicyName
	}
	return c
}

func orElse[T any](p, other *T) *T {
	if p == nil {
		return other
	}
	return p
}

func isTrue(b *bool) bool { return b != nil && *b }

// without clears the members with the wire names.
func (c Config) without(names []string) Config {
	for _, name := range names {
		switch name {
		case "compatibility", "compatibilityLevel":
			c.Level = nil
		case "normalize":
			c.Normalize = nil
		case "validateFields":
			c.ValidateFields = nil
		case "validateNewSchemas":
			c.ValidateNewSchemas = nil
		case "validateRules":
			c.ValidateRules = nil
		case "compatibilityPolicy":
			c.Policy, c.PolicyName = nil, ""
		case "verdictPolicy":
			c.VerdictPolicy = nil
		}
	}
	return c
}

// named fills the policy from its name, or the name from it.
func (c Config) named() (Config, error) {
	switch {
	case c.PolicyName != "":
		policy, err := compat.ParsePolicy(c.PolicyName)
		if err != nil {
			return c, &Error{Code: CodeRuleSetInvalid, Text: "set the config", Err: err}
		}
		c.Policy = &policy
	case c.Policy != nil:
		c.PolicyName = c.Policy.String()
	}
	return c, nil
}

func (c Config) isEmpty() bool { return c == Config{} }

func (c Config) equal(d Config) bool {
	return same(c.Level, d.Level) && same(c.Normalize, d.Normalize) && same(c.ValidateFields, d.ValidateFields) &&
		same(c.ValidateNewSchemas, d.ValidateNewSchemas) && same(c.ValidateRules, d.ValidateRules) &&
		c.PolicyName == d.PolicyName && same(c.VerdictPolicy, d.VerdictPolicy)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// defaultLevel is in force where nobody has set one.
const defaultLevel = compat.Backward

// configInForce is the config that a scope ends up with; Level is never nil.
func (s *State) configInForce(scope schemas.Subject) Config {
	var c Config
	for _, at := range chain(scope) {
		c = c.over(s.configs[at])
	}
	level := defaultLevel
	c.Level = orElse(c.Level, &level)
	return c
}

// ConfigOf answers what a scope says of itself: ok is false when it says
// nothing. An empty subject name is the context; the default context's is the
// global one.
func (r *Registry) ConfigOf(scope schemas.Subject) (c Config, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	c, ok = r.state.configs[filled(scope)]
	return c, ok
}

// ConfigInForce answers the config that a scope ends up with: each member from
// the subject, else its context (for the default one the global config), else
// the scope of the whole registry. Level is never nil: BACKWARD is the default.
func (r *Registry) ConfigInForce(scope schemas.Subject) Config {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.configInForce(filled(scope))
}

// SetConfig changes the config of a scope and answers the merged whole. The
// subject need not exist. A config that has nothing left is none: the scope then
// says nothing of itself.
//
// Errors: CodeSubjectInvalid, CodeNotPermitted in a read-only mode.
func (r *Registry) SetConfig(ctx context.Context, scope schemas.Subject, change ConfigChange) (Config, error) {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return Config{}, err
	}
	wanted, err := change.Set.named()
	if err != nil {
		return Config{}, err
	}
	var merged Config
	err = r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		before, had := r.state.configs[scope]
		merged = wanted.over(before.without(change.Clear))
		if err := r.state.changeable(scope, "change the config of"); err != nil {
			return nil, err
		}
		if had && merged.equal(before) || !had && merged.isEmpty() {
			return nil, nil
		}
		return r.state.reconfigure(scope, before, had, merged), nil
	})
	if err != nil {
		return Config{}, err
	}
	return merged, nil
}

// ClearConfig removes the config of a scope and answers what it was. Clearing
// the global one twice is fine and answers the default level.
//
// Errors: CodeSubjectUnknown when the scope has none, CodeSubjectInvalid,
// CodeNotPermitted in a read-only mode.
func (r *Registry) ClearConfig(ctx context.Context, scope schemas.Subject) (Config, error) {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return Config{}, err
	}
	var before Config
	err := r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		if err := r.state.changeable(scope, "delete the config of"); err != nil {
			return nil, err
		}
		var had bool
		before, had = r.state.configs[scope]
		if !had && scope == globalScope {
			level := defaultLevel
			before = Config{Level: &level}
			return nil, nil
		}
		if !had {
			return nil, &Error{Code: CodeSubjectUnknown, Subject: scope, Text: named(scope) + " has no config of its own"}
		}
		return r.state.reconfigure(scope, before, had, Config{}), nil
	})
	if err != nil {
		return Config{}, err
	}
	return before, nil
}

// changeable refuses under a read-only mode in force.
func (s *State) changeable(scope schemas.Subject, what string) error {
	if mode := s.modeInForce(scope); mode == ReadOnly || mode == ReadOnlyOverride {
		return &Error{Code: CodeNotPermitted, Subject: scope, Text: fmt.Sprintf("cannot %s %s: it is in mode %s", what, named(scope), mode)}
	}
	return nil
}

// reconfigure decides that scope says after, or nothing when after is empty.
func (s *State) reconfigure(scope schemas.Subject, before Config, had bool, after Config) *decision {
	d := s.decide(key{about: settings})
	d.build = func(b *batch) error {
		body := configBody{V: bodyVersion, Context: scope.Context, Subject: scope.Name}
		kind := KindConfigCleared
		if had {
			body.Before = configToBody(before)
		}
		if !after.isEmpty() {
			kind, body.After = KindConfigSet, configToBody(after)
		}
		b.add(d.by(kind, body))
		b.touch(key{about: settings})
		return nil
	}
	return d
}
