package registry

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Config is what a scope says of itself; nil and empty members say nothing. What
// it points to is shared: it must not be changed.
type Config struct {
	Level              *compat.Level
	Normalize          *bool
	ValidateFields     *bool
	ValidateNewSchemas *bool
	ValidateRules      *bool
	Policy             *compat.Policy        // compatibilityPolicy
	PolicyName         string                // STRICT, LENIENT or LOGICAL as it was set
	VerdictPolicy      *compat.VerdictPolicy // ours
	Alias              string                // the subject that stands for this one
	AliasForDEKs       string                // kept and answered for the key registry, no more
	Group              string                // compatibilityGroup: versions with another value of this property are not compared
	DefaultMetadata    *schemas.Metadata     // under the metadata of every registration
	OverrideMetadata   *schemas.Metadata     // over it
	DefaultRuleSet     *schemas.RuleSet      // under the rules of every registration
	OverrideRuleSet    *schemas.RuleSet      // over them
}

// ConfigChange is a partial update: for each member keep, clear or set. Clear
// goes before Set.
type ConfigChange struct {
	Set   Config
	Clear []string // wire names of the members to clear; others are ignored
}

// over is before with the members that c has: a partial update.
func (c Config) over(before Config) Config {
	c = c.inherit(before)
	c.Alias = cmp.Or(c.Alias, before.Alias)
	c.AliasForDEKs = cmp.Or(c.AliasForDEKs, before.AliasForDEKs)
	c.DefaultMetadata = orElse(c.DefaultMetadata, before.DefaultMetadata)
	c.OverrideMetadata = orElse(c.OverrideMetadata, before.OverrideMetadata)
	c.DefaultRuleSet = orElse(c.DefaultRuleSet, before.DefaultRuleSet)
	c.OverrideRuleSet = orElse(c.OverrideRuleSet, before.OverrideRuleSet)
	return c
}

// inherit fills the members that a config left open takes from the scopes above,
// each for itself. The others count only as part of a whole config.
//
// Source: REST contract 5.8.
func (c Config) inherit(above Config) Config {
	c.Level = orElse(c.Level, above.Level)
	c.Normalize = orElse(c.Normalize, above.Normalize)
	c.ValidateFields = orElse(c.ValidateFields, above.ValidateFields)
	c.ValidateNewSchemas = orElse(c.ValidateNewSchemas, above.ValidateNewSchemas)
	c.ValidateRules = orElse(c.ValidateRules, above.ValidateRules)
	c.VerdictPolicy = orElse(c.VerdictPolicy, above.VerdictPolicy)
	if c.Policy == nil {
		c.Policy, c.PolicyName = above.Policy, above.PolicyName
	}
	c.Group = cmp.Or(c.Group, above.Group)
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
		case "alias":
			c.Alias = ""
		case "aliasForDeks":
			c.AliasForDEKs = ""
		case "compatibilityGroup":
			c.Group = ""
		case "defaultMetadata":
			c.DefaultMetadata = nil
		case "overrideMetadata":
			c.OverrideMetadata = nil
		case "defaultRuleSet":
			c.DefaultRuleSet = nil
		case "overrideRuleSet":
			c.OverrideRuleSet = nil
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
		c.PolicyName == d.PolicyName && same(c.VerdictPolicy, d.VerdictPolicy) &&
		c.Alias == d.Alias && c.AliasForDEKs == d.AliasForDEKs && c.Group == d.Group &&
		equalMetadata(c.DefaultMetadata, d.DefaultMetadata) && equalMetadata(c.OverrideMetadata, d.OverrideMetadata) &&
		equalRules(c.DefaultRuleSet, d.DefaultRuleSet) && equalRules(c.OverrideRuleSet, d.OverrideRuleSet)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// defaultLevel is in force where nobody has set one.
const defaultLevel = compat.Backward

// configInForce is the config that a scope ends up with; Level is never nil.
func (s *State) configInForce(scope schemas.Subject) Config {
	var c Config
	found := false
	for _, at := range chain(scope) {
		own, there := s.configs[at]
		if there && !found && at != scope {
			own.Alias, own.AliasForDEKs = "", "" // another name for that scope, not for this one
		}
		if there && !found {
			c, found = own, true
		}
		c = c.inherit(own)
	}
	level := defaultLevel
	c.Level = orElse(c.Level, &level)
	return c
}

// Alias answers the subject that stands for s: the one that its own config
// names, else s itself. It is one step, whatever that subject's alias is; an
// unqualified alias is of the context of s.
//
// Source: REST contract 2.5.
func (r *Registry) Alias(s schemas.Subject) schemas.Subject {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.alias(filled(s))
}

func (s *State) alias(name schemas.Subject) schemas.Subject {
	alias := s.configs[name].Alias
	if alias == "" || name.IsContext() {
		return name
	}
	return schemas.Reference{Subject: alias}.Target(name.Context)
}

// Aliases lists, for each subject that stands for others, those whose config names
// it as their alias, sorted.
func (r *Registry) Aliases() map[schemas.Subject][]schemas.Subject {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.aliases()
}

func (s *State) aliases() map[schemas.Subject][]schemas.Subject {
	all := map[schemas.Subject][]schemas.Subject{}
	for scope, c := range s.configs {
		if c.Alias != "" && !scope.IsContext() {
			target := schemas.Reference{Subject: c.Alias}.Target(scope.Context)
			all[target] = append(all[target], scope)
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b schemas.Subject) int { return compareText(a.String(), b.String()) })
	}
	return all
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
// Errors: CodeSubjectInvalid, CodeRuleSetInvalid, CodeNotPermitted in a read-only
// mode.
func (r *Registry) SetConfig(ctx context.Context, scope schemas.Subject, change ConfigChange) (Config, error) {
	scope = filled(scope)
	if err := settable(scope); err != nil {
		return Config{}, err
	}
	wanted, err := change.Set.named()
	if err != nil {
		return Config{}, err
	}
	for _, metadata := range []**schemas.Metadata{&wanted.DefaultMetadata, &wanted.OverrideMetadata} {
		if *metadata = tidyMetadata(*metadata); isEmptyMetadata(*metadata) {
			*metadata = nil
		}
	}
	for _, rules := range []**schemas.RuleSet{&wanted.DefaultRuleSet, &wanted.OverrideRuleSet} {
		if *rules, err = tidyRules(scope, *rules); err != nil {
			return Config{}, err
		}
		if isEmptyRuleSet(*rules) {
			*rules = nil
		}
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
