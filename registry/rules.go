package registry

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ruleName is what a rule may be called.
var ruleName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,255}$`)

// What the members of a rule may say, and the modes that each list of rules
// allows.
//
// Source: REST contract 3.3.
var (
	ruleKinds      = []string{"TRANSFORM", "CONDITION"}
	migrationModes = []string{"UPGRADE", "DOWNGRADE", "UPDOWN"}
	domainModes    = []string{"WRITE", "READ", "WRITEREAD"}
	enabledAt      = []string{"", "ALL", "CLIENT", "GATEWAY", "SERVER", "NONE"}
)

// tidyRules is s with the defaults of its rules filled in and its sets sorted;
// nil stays nil.
//
// Errors: CodeRuleSetInvalid naming the rule and what is wrong with it.
// Source: REST contract 3.3.
func tidyRules(about schemas.Subject, s *schemas.RuleSet) (*schemas.RuleSet, error) {
	if s == nil {
		return nil, nil
	}
	refuse := func(format string, args ...any) error {
		return &Error{Code: CodeRuleSetInvalid, Subject: about, Text: "rule set is invalid: " + fmt.Sprintf(format, args...)}
	}
	if !slices.Contains(enabledAt, s.EnableAt) {
		return nil, refuse("enableAt %q is none of %q", s.EnableAt, enabledAt[1:])
	}
	seen := map[string]bool{}
	tidy := func(list string, rules []schemas.ContractRule, modes []string) ([]schemas.ContractRule, error) {
		var out []schemas.ContractRule
		for i, rule := range rules {
			rule.Kind, rule.Mode = cmp.Or(rule.Kind, "TRANSFORM"), cmp.Or(rule.Mode, "WRITEREAD")
			if why := wrongRule(rule, modes); why != "" {
				return nil, refuse("rule %q (%s, number %d): %s", rule.Name, list, i+1, why)
			}
			if seen[rule.Name] {
				return nil, refuse("two rules are called %q: give each a name of its own", rule.Name)
			}
			seen[rule.Name] = true
			rule.Tags, rule.Params = tidySet(rule.Tags), maps.Clone(rule.Params)
			if len(rule.Params) == 0 {
				rule.Params = nil
			}
			out = append(out, rule)
		}
		return out, nil
	}
	out := &schemas.RuleSet{EnableAt: s.EnableAt}
	var err error
	if out.Migration, err = tidy("migrationRules", s.Migration, migrationModes); err != nil {
		return nil, err
	}
	if out.Domain, err = tidy("domainRules", s.Domain, domainModes); err != nil {
		return nil, err
	}
	if out.Encoding, err = tidy("encodingRules", s.Encoding, domainModes); err != nil {
		return nil, err
	}
	return out, nil
}

// wrongRule says what is wrong with a rule of a list that allows modes, or
// nothing.
func wrongRule(r schemas.ContractRule, modes []string) string {
	pair := r.Mode == "WRITEREAD" || r.Mode == "UPDOWN"
	switch {
	case r.Name == "":
		return "it has no name"
	case !ruleName.MatchString(r.Name):
		return "a name begins with a letter or _, goes on with letters, digits, _ and -, and has 256 characters at most"
	case r.Type == "":
		return "it has no type"
	case !slices.Contains(ruleKinds, r.Kind):
		return fmt.Sprintf("its kind %q is none of %q", r.Kind, ruleKinds)
	case !slices.Contains(modes, r.Mode):
		return fmt.Sprintf("its mode %s is none of %q", r.Mode, modes)
	}
	for _, action := range []string{r.OnSuccess, r.OnFailure} {
		switch n := strings.Count(action, ","); {
		case n > 0 && !pair:
			return fmt.Sprintf("it names the two actions %q at once, which only the modes WRITEREAD and UPDOWN have", action)
		case n > 1:
			return fmt.Sprintf("it names more than two actions at once: %q", action)
		}
	}
	return ""
}

// mergeRules puts over on top of under: a later rule takes the place of one with
// its name, whatever the list.
//
// Source: REST contract 5.7.
func mergeRules(under, over *schemas.RuleSet) *schemas.RuleSet {
	switch {
	case under == nil:
		return over
	case over == nil:
		return under
	}
	later := map[string]bool{}
	for _, rule := range slices.Concat(over.Migration, over.Domain, over.Encoding) {
		later[rule.Name] = true
	}
	merge := func(under, over []schemas.ContractRule) (out []schemas.ContractRule) {
		for _, rule := range under {
			if !later[rule.Name] {
				out = append(out, rule)
			}
		}
		return append(out, over...)
	}
	return &schemas.RuleSet{
		Migration: merge(under.Migration, over.Migration), Domain: merge(under.Domain, over.Domain), Encoding: merge(under.Encoding, over.Encoding),
		EnableAt: cmp.Or(over.EnableAt, under.EnableAt),
	}
}

// hasRule tells whether a rule of s has a type.
func hasRule(s *schemas.RuleSet, kind string) bool {
	return s != nil && slices.ContainsFunc(slices.Concat(s.Migration, s.Domain, s.Encoding), func(r schemas.ContractRule) bool { return r.Type == kind })
}
