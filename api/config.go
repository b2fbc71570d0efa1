package api

import (
	"net/http"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

var verdictPolicies = [...]string{compat.Reference: "REFERENCE", compat.Sound: "SOUND", compat.Both: "BOTH"}

// configBody writes a config. levels are the names that the level goes under:
// compatibilityLevel in answers to GET, compatibility in those to PUT, both in
// those to DELETE, because clients read either.
//
// Source: REST contract 4.4.
func configBody(c registry.Config, levels ...string) []byte {
	o := begin(128)
	flag := func(name string, b *bool) {
		if b != nil {
			o.boolean(name, *b)
		}
	}
	flag("normalize", c.Normalize)
	flag("validateFields", c.ValidateFields)
	flag("validateNewSchemas", c.ValidateNewSchemas)
	flag("validateRules", c.ValidateRules)
	if c.Level != nil {
		for _, name := range levels {
			o.always(name, c.Level.String())
		}
	}
	o.text("compatibilityPolicy", c.PolicyName)
	if c.VerdictPolicy != nil {
		o.always("verdictPolicy", verdictPolicies[*c.VerdictPolicy])
	}
	return o.end()
}

// isGlobal tells whether scope is the registry as a whole.
func isGlobal(scope schemas.Subject) bool {
	return scope.IsContext() && scope.Context == schemas.DefaultContext
}

// ownConfig is what scope says of itself, with the level in force where it says
// none: a level is never absent from an answer.
func (x *exchange) ownConfig(scope schemas.Subject) (registry.Config, bool) {
	own, ok := x.server.registry.ConfigOf(scope)
	if own.Level == nil {
		own.Level = x.server.registry.ConfigInForce(scope).Level
	}
	return own, ok
}

// getConfig answers GET /config and GET /config/{subject}.
func getConfig(x *exchange) error {
	scope := x.scope()
	c, ok := x.ownConfig(scope)
	switch {
	case ok:
	case x.flag("defaultToGlobal"):
		c = x.server.registry.ConfigInForce(scope)
	case isGlobal(scope):
		// The registry-wide scope shows here only to whoever asks for it.
		level := compat.Backward
		c = registry.Config{Level: &level}
	default:
		return coded(40408, "Subject '%s' has no compatibility config of its own; ask with defaultToGlobal=true for the one in force", scope)
	}
	return x.answer(configBody(c, "compatibilityLevel"))
}

// putConfig answers PUT /config and PUT /config/{subject}: absent members stay,
// null clears, a value sets.
func putConfig(x *exchange) error {
	change, err := x.configChange()
	if err != nil {
		return err
	}
	c, err := x.server.registry.SetConfig(x.ctx(), x.scope(), change)
	if err != nil {
		return err
	}
	if c.PolicyName == "LOGICAL" {
		x.Header().Set("Warning", `299 cartorio "compatibilityPolicy LOGICAL is kept and behaves as STRICT"`)
	}
	return x.answer(configBody(c, "compatibility"))
}

// deleteConfig answers DELETE /config and DELETE /config/{subject} with what
// the config was.
func deleteConfig(x *exchange) error {
	scope := x.scope()
	before, ok := x.ownConfig(scope)
	c, err := x.server.registry.ClearConfig(x.ctx(), scope)
	if err != nil {
		return err
	}
	if c.Level == nil {
		if !ok {
			before = x.server.registry.ConfigInForce(scope)
		}
		c.Level = before.Level
	}
	return x.answer(configBody(c, "compatibilityLevel", "compatibility"))
}

func (x *exchange) configChange() (registry.ConfigChange, error) {
	var change registry.ConfigChange
	body, err := x.read()
	if err != nil {
		return change, err
	}
	set := &change.Set
	clear := func(name string) { change.Clear = append(change.Clear, name) }
	boolean := func(name string, to **bool) func(value) error {
		return func(v value) (err error) {
			if v.null() {
				clear(name)
			}
			*to, err = v.boolean()
			return err
		}
	}
	var level, synonym *value
	keep := func(to **value) func(value) error { return func(v value) error { *to = &v; return nil } }
	fields := map[string]func(value) error{
		"compatibility":      keep(&level),
		"compatibilityLevel": keep(&synonym),
		"normalize":          boolean("normalize", &set.Normalize),
		"validateFields":     boolean("validateFields", &set.ValidateFields),
		"validateNewSchemas": boolean("validateNewSchemas", &set.ValidateNewSchemas),
		"validateRules":      boolean("validateRules", &set.ValidateRules),
		"compatibilityPolicy": func(v value) error {
			if v.null() {
				clear("compatibilityPolicy")
				return nil
			}
			text, err := v.text()
			// An unknown value is dropped without a word, as in the reference.
			switch name := strings.ToUpper(text); name {
			case "STRICT", "LENIENT", "LOGICAL":
				policy := compat.Strict
				if name == "LENIENT" {
					policy = compat.Lenient
				}
				set.Policy, set.PolicyName = &policy, name
			}
			return err
		},
		"verdictPolicy": func(v value) error {
			if v.null() {
				clear("verdictPolicy")
				return nil
			}
			text, err := v.text()
			if err != nil {
				return err
			}
			for i, name := range verdictPolicies {
				if strings.EqualFold(name, text) {
					policy := compat.VerdictPolicy(i)
					set.VerdictPolicy = &policy
					return nil
				}
			}
			return bare(http.StatusBadRequest, "the member /verdictPolicy is none of "+strings.Join(verdictPolicies[:], ", "))
		},
	}
	var refused error
	refuse := func(name string, check func(value) error) {
		fields[name] = typed(func(v value) error {
			if v.says() && refused == nil {
				refused = later(42210, "leave out the member "+name+": it is")
			}
			return nil
		}, check)
	}
	for _, name := range []string{"alias", "aliasForDeks", "compatibilityGroup"} {
		refuse(name, func(v value) error { _, err := v.text(); return err })
	}
	for _, name := range []string{"defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet"} {
		refuse(name, value.beObject)
	}
	if err := parse(body, fields); err != nil {
		return change, err
	}
	if refused != nil {
		return change, refused
	}
	if level == nil {
		level = synonym
	}
	switch {
	case level == nil:
	case level.null():
		clear("compatibility")
	default:
		text, err := level.text()
		if err != nil {
			return change, err
		}
		l, err := compat.ParseLevel(text)
		if err != nil {
			return change, coded(42203, "%s", err)
		}
		set.Level = &l
	}
	return change, nil
}
