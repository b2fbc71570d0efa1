package transfer

import "github.com/cartorio-registry/cartorio/schemas"

// What is attached to a schema, as it stands in files and in topic dumps: the
// members of the wire.
//
// Source: REST contract 3.2 and 3.3.
type (
	metadataBody struct {
		Tags       map[string][]string `json:"tags,omitempty"`
		Properties map[string]string   `json:"properties,omitempty"`
		Sensitive  []string            `json:"sensitive,omitempty"`
	}
	ruleSetBody struct {
		Migration []ruleBody `json:"migrationRules,omitempty"`
		Domain    []ruleBody `json:"domainRules,omitempty"`
		Encoding  []ruleBody `json:"encodingRules,omitempty"`
		EnableAt  string     `json:"enableAt,omitempty"`
	}
	ruleBody struct {
		Name      string            `json:"name"`
		Doc       string            `json:"doc,omitempty"`
		Kind      string            `json:"kind,omitempty"`
		Mode      string            `json:"mode,omitempty"`
		Type      string            `json:"type,omitempty"`
		Tags      []string          `json:"tags,omitempty"`
		Params    map[string]string `json:"params,omitempty"`
		Expr      string            `json:"expr,omitempty"`
		OnSuccess string            `json:"onSuccess,omitempty"`
		OnFailure string            `json:"onFailure,omitempty"`
		Disabled  bool              `json:"disabled,omitempty"`
	}
	referenceBody struct {
		Name    string          `json:"name"`
		Subject string          `json:"subject"`
		Version schemas.Version `json:"version"`
	}
)

func metadataFile(m *schemas.Metadata) *metadataBody { return (*metadataBody)(m) }

func (b *metadataBody) metadata() *schemas.Metadata { return (*schemas.Metadata)(b) }

func ruleSetFile(s *schemas.RuleSet) *ruleSetBody {
	if s == nil {
		return nil
	}
	list := func(rules []schemas.ContractRule) (out []ruleBody) {
		for _, r := range rules {
			out = append(out, ruleBody(r))
		}
		return out
	}
	return &ruleSetBody{list(s.Migration), list(s.Domain), list(s.Encoding), s.EnableAt}
}

func (b *ruleSetBody) rules() *schemas.RuleSet {
	if b == nil {
		return nil
	}
	list := func(rules []ruleBody) (out []schemas.ContractRule) {
		for _, r := range rules {
			out = append(out, schemas.ContractRule(r))
		}
		return out
	}
	return &schemas.RuleSet{Migration: list(b.Migration), Domain: list(b.Domain), Encoding: list(b.Encoding), EnableAt: b.EnableAt}
}

func referenceFiles(refs []schemas.Reference) (out []referenceBody) {
	for _, r := range refs {
		out = append(out, referenceBody(r))
	}
	return out
}

func referencesOf(bodies []referenceBody) (out []schemas.Reference) {
	for _, b := range bodies {
		out = append(out, schemas.Reference(b))
	}
	return out
}
