package sr

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Config is what a scope says of itself; nil and empty members say nothing.
type Config struct {
	// Level is the compatibility level in capitals, such as BACKWARD.
	Level              string
	Alias              string
	AliasForDEKs       string
	Normalize          *bool
	ValidateFields     *bool
	ValidateNewSchemas *bool
	ValidateRules      *bool
	// Policy is Confluent's compatibilityPolicy: STRICT, LENIENT or LOGICAL.
	Policy string
	// VerdictPolicy is ours: REFERENCE, SOUND or BOTH.
	VerdictPolicy    string
	Group            string
	DefaultMetadata  *schemas.Metadata
	OverrideMetadata *schemas.Metadata
	DefaultRuleSet   *schemas.RuleSet
	OverrideRuleSet  *schemas.RuleSet
}

type configBody struct {
	Level              *string       `json:"compatibility,omitempty"`      // update form
	LevelInForce       *string       `json:"compatibilityLevel,omitempty"` // answer form
	Alias              *string       `json:"alias,omitempty"`
	AliasForDEKs       *string       `json:"aliasForDeks,omitempty"`
	Normalize          *bool         `json:"normalize,omitempty"`
	ValidateFields     *bool         `json:"validateFields,omitempty"`
	ValidateNewSchemas *bool         `json:"validateNewSchemas,omitempty"`
	ValidateRules      *bool         `json:"validateRules,omitempty"`
	Policy             *string       `json:"compatibilityPolicy,omitempty"`
	VerdictPolicy      *string       `json:"verdictPolicy,omitempty"`
	Group              *string       `json:"compatibilityGroup,omitempty"`
	DefaultMetadata    *metadataBody `json:"defaultMetadata,omitempty"`
	OverrideMetadata   *metadataBody `json:"overrideMetadata,omitempty"`
	DefaultRuleSet     *ruleSetBody  `json:"defaultRuleSet,omitempty"`
	OverrideRuleSet    *ruleSetBody  `json:"overrideRuleSet,omitempty"`
}

func (b configBody) config() Config {
	text := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	level := text(b.LevelInForce)
	if level == "" {
		level = text(b.Level)
	}
	return Config{
		Level: strings.ToUpper(level), Alias: text(b.Alias), AliasForDEKs: text(b.AliasForDEKs),
		Normalize: b.Normalize, ValidateFields: b.ValidateFields, ValidateNewSchemas: b.ValidateNewSchemas, ValidateRules: b.ValidateRules,
		Policy: text(b.Policy), VerdictPolicy: text(b.VerdictPolicy), Group: text(b.Group),
		DefaultMetadata: b.DefaultMetadata.metadata(), OverrideMetadata: b.OverrideMetadata.metadata(),
		DefaultRuleSet: b.DefaultRuleSet.rules(), OverrideRuleSet: b.OverrideRuleSet.rules(),
	}
}

func configBodyOf(g Config) configBody {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return configBody{
		Level: text(g.Level), Alias: text(g.Alias), AliasForDEKs: text(g.AliasForDEKs),
		Normalize: g.Normalize, ValidateFields: g.ValidateFields, ValidateNewSchemas: g.ValidateNewSchemas, ValidateRules: g.ValidateRules,
		Policy: text(g.Policy), VerdictPolicy: text(g.VerdictPolicy), Group: text(g.Group),
		DefaultMetadata: metadataBodyOf(g.DefaultMetadata), OverrideMetadata: metadataBodyOf(g.OverrideMetadata),
		DefaultRuleSet: ruleSetBodyOf(g.DefaultRuleSet), OverrideRuleSet: ruleSetBodyOf(g.OverrideRuleSet),
	}
}

// MarshalJSON writes the members that c has in the form of an update, as SetConfig
// sends them.
func (c Config) MarshalJSON() ([]byte, error) { return marshal(configBodyOf(c)) }

// UnmarshalJSON reads the form of an update or that of an answer.
func (c *Config) UnmarshalJSON(data []byte) error {
	var b configBody
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	*c = b.config()
	return nil
}

// Global is the scope of config and mode that every subject of the default
// context falls back on.
var Global = schemas.Subject{Context: schemas.DefaultContext}

// Config gives the config of a scope: a subject, a context (an empty subject
// name in it) or Global. With inherited it is the config in force, else only
// what the scope itself says.
//
// GET /config, GET /config/{s}
// Errors: an *Error with Code 40408 when the scope says nothing itself.
func (c *Client) Config(ctx context.Context, scope schemas.Subject, inherited bool) (Config, error) {
	return c.config(ctx, request{method: http.MethodGet, path: scopePath("/config", scope), query: query{}.flag("defaultToGlobal", inherited).values()})
}

// SetConfig changes the members of a scope's config that change sets, clears
// those that clear names by their wire names, and gives the merged whole.
//
// PUT /config, PUT /config/{s}
func (c *Client) SetConfig(ctx context.Context, scope schemas.Subject, change Config, clear ...string) (Config, error) {
	r := request{method: http.MethodPut, path: scopePath("/config", scope)}
	text, err := marshal(configBodyOf(change))
	if err != nil {
		return Config{}, fmt.Errorf("set a config: write the body: %w", err)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return Config{}, fmt.Errorf("set a config: write the body: %w", err)
	}
	for _, name := range clear {
		if _, ok := members[name]; ok {
			return Config{}, fmt.Errorf("set a config: the member %s is both set and cleared", name)
		}
		members[name] = json.RawMessage("null")
	}
	r.body = members
	return c.config(ctx, r)
}

// ClearConfig removes a scope's config and gives what it was.
//
// DELETE /config, DELETE /config/{s}
func (c *Client) ClearConfig(ctx context.Context, scope schemas.Subject) (Config, error) {
	return c.config(ctx, request{method: http.MethodDelete, path: scopePath("/config", scope), once: true})
}

func (c *Client) config(ctx context.Context, r request) (Config, error) {
	var b configBody
	err := c.call(ctx, r, &b)
	return b.config(), err
}

// scopePath adds a scope to a path; the global scope has none.
func scopePath(path string, scope schemas.Subject) string {
	if scope.IsContext() && (scope.Context == "" || scope.Context == schemas.DefaultContext) {
		return path
	}
	return path + "/" + segment(scope)
}
