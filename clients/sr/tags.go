package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Tags are inline tags at one place of a schema.
type Tags struct {
	// Path names a record or a field of the schema.
	Path string
	// Field tells that Path names a field; else a record.
	Field bool
	Tags  []string
}

// TagChange derives a new version from an existing one.
type TagChange struct {
	// Version must be the next number when given.
	Version       schemas.Version
	Add, Remove   []Tags
	Metadata      *schemas.Metadata
	RuleSet       *schemas.RuleSet
	RulesToMerge  *schemas.RuleSet
	RulesToRemove []string
}

type tagsBody struct {
	Entity struct {
		Path string `json:"entityPath"`
		Type string `json:"entityType"`
	} `json:"schemaEntity"`
	Tags []string `json:"tags"`
}

// ChangeTags registers a version derived from v with other inline tags,
// metadata or rules.
//
// POST /subjects/{s}/versions/{v}/tags
func (c *Client) ChangeTags(ctx context.Context, s schemas.Subject, v schemas.Version, change TagChange) (schemas.Found, error) {
	body := struct {
		Version       schemas.Version `json:"newVersion,omitempty"`
		Add           []tagsBody      `json:"tagsToAdd,omitempty"`
		Remove        []tagsBody      `json:"tagsToRemove,omitempty"`
		Metadata      *metadataBody   `json:"metadata,omitempty"`
		RuleSet       *ruleSetBody    `json:"ruleSet,omitempty"`
		RulesToMerge  *ruleSetBody    `json:"rulesToMerge,omitempty"`
		RulesToRemove []string        `json:"rulesToRemove,omitempty"`
	}{
		change.Version, tagsBodies(change.Add), tagsBodies(change.Remove), metadataBodyOf(change.Metadata),
		ruleSetBodyOf(change.RuleSet), ruleSetBodyOf(change.RulesToMerge), change.RulesToRemove,
	}
	r := request{method: http.MethodPost, path: versionPath(s, v) + "/tags", body: body, once: true}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	return c.found(r, b, schemas.Found{Subject: s})
}

func tagsBodies(list []Tags) (out []tagsBody) {
	for _, t := range list {
		b := tagsBody{Tags: t.Tags}
		b.Entity.Path, b.Entity.Type = t.Path, "sr_record"
		if t.Field {
			b.Entity.Type = "sr_field"
		}
		out = append(out, b)
	}
	return out
}
