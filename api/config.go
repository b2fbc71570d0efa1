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
	o.text("alias", c.Alias)
	o.text("aliasForDeks", c.AliasForDEKs)
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
	o.text("compatibilityGroup", c.Group)
	o.metadata("defaultMetadata", c.DefaultMetadata)
	o.metadata("overrideMetadata", c.OverrideMetadata)
	o.rules("defaultRuleSet", c.DefaultRuleSet)
	o.rules("overrideRuleSet", c.OverrideRuleSet)
	return o.end()
}

// isGlobal tells whether scope is the registry as a whole.
func isGlobal(scope schemas.Subject) bool {
	return scope.IsContext() && scope.Context == schemas.DefaultContext
}

// ownConfig is what scope says of itself, with the level in force where it says
// none: a level is never absent from an answer.
func (x *exchange) ownConfig(scope schemas.Subject) (registry.Config, bool) {
	own, ok := x.view().ConfigOf(scope)
	if own.Level == nil {
		own.Level = x.view().ConfigInForce(scope).Level
	}
	return own, ok
}

// getConfig answers GET /config and GET /config/{subject}.
func getConfig(x *exchange) error {
	scope := x.scope()
	c, ok := x.ownConfig(scope)
	switch {
	case x.flag("defaultToGlobal"):
		c = x.view().ConfigInForce(scope)
	case ok:
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
	c, err := x.server.registry.SetConfig(x.authored(), x.scope(), change)
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
	c, err := x.server.registry.ClearConfig(x.authored(), scope)
	if err != nil {
		return err
	}
	if c.Level == nil {
		if !ok {
			before = x.view().ConfigInForce(scope)
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
	m, err := parse(body, configMembers...)
	if err != nil {
		return change, err
	}
	set := &change.Set
	set.Normalize = m.boolean("normalize")
	set.ValidateFields = m.boolean("validateFields")
	set.ValidateNewSchemas = m.boolean("validateNewSchemas")
	set.ValidateRules = m.boolean("validateRules")
	// An unknown policy is dropped without a word, as in the reference.
	switch name := strings.ToUpper(m.text("compatibilityPolicy")); name {
	case "STRICT", "LENIENT", "LOGICAL":
		policy := compat.Strict
		if name == "LENIENT" {
			policy = compat.Lenient
		}
		set.Policy, set.PolicyName = &policy, name
	}
	m.verdictPolicy(set)
	level := "compatibility"
	if m.get(level).missing() {
		level = "compatibilityLevel"
	}
	text := m.text(level)
	set.Alias, set.AliasForDEKs, set.Group = m.text("alias"), m.text("aliasForDeks"), m.text("compatibilityGroup")
	set.DefaultMetadata, set.OverrideMetadata = m.metadata("defaultMetadata"), m.metadata("overrideMetadata")
	set.DefaultRuleSet, set.OverrideRuleSet = m.rules("defaultRuleSet"), m.rules("overrideRuleSet")
	if m.err != nil {
		return change, m.err
	}
	// An empty text or object says no more than null does.
	empty := map[string]bool{
		"alias": set.Alias == "", "aliasForDeks": set.AliasForDEKs == "", "compatibilityGroup": set.Group == "",
		"defaultMetadata": emptyMetadata(set.DefaultMetadata), "overrideMetadata": emptyMetadata(set.OverrideMetadata),
		"defaultRuleSet": emptyRules(set.DefaultRuleSet), "overrideRuleSet": emptyRules(set.OverrideRuleSet),
	}
	for _, name := range configMembers {
		if v := m.get(name); !v.missing() && (v.null() || empty[name]) && (name != "compatibilityLevel" || level == name) {
			change.Clear = append(change.Clear, name)
		}
	}
	if !m.get(level).null() {
		l, err := compat.ParseLevel(text)
		if err != nil {
			return change, coded(42203, "%s", err)
		}
		set.Level = &l
	}
	return change, nil
}

var configMembers = []string{
	"compatibility", "compatibilityLevel", "normalize", "validateFields", "validateNewSchemas", "validateRules", "compatibilityPolicy", "verdictPolicy",
	"alias", "aliasForDeks", "compatibilityGroup", "defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet",
}

// verdictPolicy reads our own member; unlike the reference's it knows no unknown
// value.
func (m *members) verdictPolicy(set *registry.Config) {
	text := m.text("verdictPolicy")
	if m.get("verdictPolicy").null() {
		return
	}
	for i, name := range verdictPolicies {
		if strings.EqualFold(name, text) {
			policy := compat.VerdictPolicy(i)
			set.VerdictPolicy = &policy
			return
		}
	}
	m.fail(bare(http.StatusBadRequest, "the member /verdictPolicy is none of "+strings.Join(verdictPolicies[:], ", ")))
}
