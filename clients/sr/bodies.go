package sr

import (
	"fmt"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// The bodies of the contract, read and written by hand so that a mistake of the
// server's is not one of ours too.

type referenceBody struct {
	Name    string          `json:"name"`
	Subject string          `json:"subject"`
	Version schemas.Version `json:"version"`
}

type metadataBody struct {
	Tags       map[string][]string `json:"tags,omitempty"`
	Properties map[string]string   `json:"properties,omitempty"`
	Sensitive  []string            `json:"sensitive,omitempty"`
}

type ruleBody struct {
	Name      string            `json:"name"`
	Doc       string            `json:"doc,omitempty"`
	Kind      string            `json:"kind,omitempty"`
	Mode      string            `json:"mode,omitempty"`
	Type      string            `json:"type"`
	Tags      []string          `json:"tags,omitempty"`
	Params    map[string]string `json:"params,omitempty"`
	Expr      string            `json:"expr,omitempty"`
	OnSuccess string            `json:"onSuccess,omitempty"`
	OnFailure string            `json:"onFailure,omitempty"`
	Disabled  bool              `json:"disabled"`
}

type ruleSetBody struct {
	Migration []ruleBody `json:"migrationRules,omitempty"`
	Domain    []ruleBody `json:"domainRules,omitempty"`
	Encoding  []ruleBody `json:"encodingRules,omitempty"`
	EnableAt  string     `json:"enableAt,omitempty"`
}

// schemaBody is an answer that carries a schema. Which members stand depends on
// the endpoint and on the registry's age.
type schemaBody struct {
	Subject    string          `json:"subject"`
	Version    schemas.Version `json:"version"`
	ID         int32           `json:"id"`
	GUID       string          `json:"guid"`
	Type       string          `json:"schemaType"`
	References []referenceBody `json:"references"`
	Metadata   *metadataBody   `json:"metadata"`
	RuleSet    *ruleSetBody    `json:"ruleSet"`
	Schema     *string         `json:"schema"`
	Time       *int64          `json:"ts"`
	Deleted    *bool           `json:"deleted"`
	MaxID      int32           `json:"maxId"`
	Aliases    []string        `json:"aliases"`
}

// sourceBody is a request that carries a schema.
type sourceBody struct {
	Schema     string          `json:"schema,omitempty"`
	Type       string          `json:"schemaType,omitempty"`
	References []referenceBody `json:"references,omitempty"`
	Metadata   *metadataBody   `json:"metadata,omitempty"`
	RuleSet    *ruleSetBody    `json:"ruleSet,omitempty"`
	Version    schemas.Version `json:"version,omitempty"`
	ID         *int32          `json:"id,omitempty"`
}

func sourceBodyOf(s schemas.Source) sourceBody {
	b := sourceBody{Schema: s.Text, Type: string(s.Type)}
	for _, r := range s.References {
		b.References = append(b.References, referenceBody(r))
	}
	return b
}

// found turns an answer into what it found. asked fills what the answer leaves
// out: the subject and the id that were asked for.
func (b schemaBody) found(asked schemas.Found) (schemas.Found, error) {
	f := asked
	if b.Subject != "" {
		f.Subject = schemas.ParseSubject(b.Subject)
	}
	if b.Version != 0 {
		f.Version = b.Version
	}
	if b.ID != 0 {
		f.ID = schemas.ID{Context: f.Subject.Context, Number: b.ID}
	}
	if b.GUID != "" {
		g, err := schemas.ParseGUID(b.GUID)
		if err != nil {
			return f, fmt.Errorf("%w: the member guid: %w", schemas.ErrUnintelligible, err)
		}
		f.GUID = g
	}
	t, err := schemas.ParseType(b.Type)
	if err != nil {
		return f, fmt.Errorf("%w: the member schemaType: %w", schemas.ErrUnintelligible, err)
	}
	if b.Schema != nil {
		f.Source = schemas.Source{Type: t, Text: *b.Schema}
		for _, r := range b.References {
			f.Source.References = append(f.Source.References, schemas.Reference(r))
		}
	}
	f.Metadata = b.Metadata.metadata()
	f.RuleSet = b.RuleSet.rules()
	if b.Time != nil {
		f.Time = time.UnixMilli(*b.Time).UTC()
	}
	if b.Deleted != nil {
		f.Deleted = *b.Deleted
	}
	return f, nil
}

func (b *metadataBody) metadata() *schemas.Metadata {
	if b == nil {
		return nil
	}
	m := schemas.Metadata(*b)
	return &m
}

func metadataBodyOf(m *schemas.Metadata) *metadataBody {
	if m == nil {
		return nil
	}
	b := metadataBody(*m)
	return &b
}

func (b *ruleSetBody) rules() *schemas.RuleSet {
	if b == nil {
		return nil
	}
	list := func(in []ruleBody) (out []schemas.ContractRule) {
		for _, r := range in {
			out = append(out, schemas.ContractRule(r))
		}
		return out
	}
	return &schemas.RuleSet{Migration: list(b.Migration), Domain: list(b.Domain), Encoding: list(b.Encoding), EnableAt: b.EnableAt}
}

func ruleSetBodyOf(s *schemas.RuleSet) *ruleSetBody {
	if s == nil {
		return nil
	}
	list := func(in []schemas.ContractRule) (out []ruleBody) {
		for _, r := range in {
			out = append(out, ruleBody(r))
		}
		return out
	}
	return &ruleSetBody{Migration: list(s.Migration), Domain: list(s.Domain), Encoding: list(s.Encoding), EnableAt: s.EnableAt}
}
