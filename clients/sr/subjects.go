package sr

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Registration is a schema to register, to look up or to check.
type Registration struct {
	Source schemas.Source
	// Version: 0 the next; -1 compare with the latest only; N it must be the
	// next, or the number to import.
	Version schemas.Version
	// ID is given only in the modes IMPORT and FORWARD.
	ID       *int32
	Metadata *schemas.Metadata
	RuleSet  *schemas.RuleSet
	// Normalize puts the text into normalized form first.
	Normalize bool
	// Force skips the compatibility check; registering only.
	Force bool
	// Format is how the answer's text is wanted.
	Format string
}

func (g Registration) body() sourceBody {
	b := sourceBodyOf(g.Source)
	b.Version, b.ID = g.Version, g.ID
	b.Metadata, b.RuleSet = metadataBodyOf(g.Metadata), ruleSetBodyOf(g.RuleSet)
	return b
}

// Subjects lists subjects by the beginning of their qualified text, sorted: ""
// is the default context, ":*:" all of them.
//
// GET /subjects
func (c *Client) Subjects(ctx context.Context, prefix string, d Deleted, p Page) ([]schemas.Subject, error) {
	var names []string
	q := query{}.text("subjectPrefix", prefix).deleted(d).page(p)
	if err := c.call(ctx, request{method: http.MethodGet, path: "/subjects", query: q.values()}, &names); err != nil {
		return nil, err
	}
	return subjects(names), nil
}

// Lookup answers which version of a subject a schema is. It registers nothing.
//
// POST /subjects/{s}
// Errors: wraps schemas.ErrSubjectUnknown or ErrSchemaUnknown.
func (c *Client) Lookup(ctx context.Context, s schemas.Subject, g Registration, deleted bool) (schemas.Found, error) {
	q := query{}.flag("normalize", g.Normalize).flag("deleted", deleted).text("format", g.Format)
	r := request{method: http.MethodPost, path: "/subjects/" + segment(s), query: q.values(), body: g.body()}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	return c.found(r, b, schemas.Found{Subject: s, Source: g.Source})
}

// Register stores a schema as the next version of a subject, or answers the
// version that it already is. It is safe to repeat.
//
// Registries that answer the id alone are asked again for the version.
//
// POST /subjects/{s}/versions
// Errors: an *Error whose Code is 409 or 40901 when the schema is incompatible,
// 42201 when it is invalid, and so on by the contract's catalogue.
func (c *Client) Register(ctx context.Context, s schemas.Subject, g Registration) (schemas.Found, error) {
	q := query{}.flag("normalize", g.Normalize).flag("force", g.Force).text("format", g.Format)
	r := request{method: http.MethodPost, path: "/subjects/" + segment(s) + "/versions", query: q.values(), body: g.body()}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	if b.Version == 0 {
		g.Version, g.ID = 0, nil
		f, err := c.Lookup(ctx, s, g, false)
		if err != nil {
			return f, fmt.Errorf("registered as id %d; find its version: %w", b.ID, err)
		}
		return f, nil
	}
	return c.found(r, b, schemas.Found{Subject: s, Source: g.Source})
}

// DeleteSubject deletes a subject and gives the versions that went. It is not
// repeated when the registry may have acted on it.
//
// DELETE /subjects/{s}
func (c *Client) DeleteSubject(ctx context.Context, s schemas.Subject, permanent bool) ([]schemas.Version, error) {
	var out []schemas.Version
	q := query{}.flag("permanent", permanent)
	err := c.call(ctx, request{method: http.MethodDelete, path: "/subjects/" + segment(s), query: q.values(), once: true}, &out)
	return out, err
}

// Property is one pair that WithMetadata looks for.
type Property struct{ Key, Value string }

// WithMetadata gives the highest version of a subject whose metadata has all
// the pairs.
//
// GET /subjects/{s}/metadata
func (c *Client) WithMetadata(ctx context.Context, s schemas.Subject, pairs []Property, o VersionOptions) (schemas.Found, error) {
	q := query{}.flag("deleted", o.Deleted).text("format", o.Format).values()
	for _, p := range pairs {
		q.Add("key", p.Key)
		q.Add("value", p.Value)
	}
	r := request{method: http.MethodGet, path: "/subjects/" + segment(s) + "/metadata", query: q}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	return c.whole(r, b, schemas.Found{Subject: s})
}

// Versions lists the version numbers of a subject, ascending.
//
// GET /subjects/{s}/versions
// Errors: wraps schemas.ErrSubjectUnknown.
func (c *Client) Versions(ctx context.Context, s schemas.Subject, d Deleted, p Page) ([]schemas.Version, error) {
	var out []schemas.Version
	q := query{}.deleted(d).page(p)
	err := c.call(ctx, request{method: http.MethodGet, path: "/subjects/" + segment(s) + "/versions", query: q.values()}, &out)
	return out, err
}

// VersionOptions shape Version and its like.
type VersionOptions struct {
	Deleted   bool   // soft-deleted versions too
	Format    string // how the text is wanted
	Qualified bool   // reference subjects with their context
}

// Version gives one version of a subject; schemas.Latest is the highest live one.
//
// GET /subjects/{s}/versions/{v}
// Errors: wraps schemas.ErrSubjectUnknown or ErrVersionUnknown.
func (c *Client) Version(ctx context.Context, s schemas.Subject, v schemas.Version, o VersionOptions) (schemas.Found, error) {
	q := query{}.flag("deleted", o.Deleted).text("format", o.Format)
	if o.Qualified {
		q = q.text("referenceFormat", "qualified")
	}
	r := request{method: http.MethodGet, path: versionPath(s, v), query: q.values()}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	asked := schemas.Found{Subject: s}
	if v > 0 {
		asked.Version = v
	}
	return c.whole(r, b, asked)
}

// TextByVersion gives the text of a version, as it is.
//
// GET /subjects/{s}/versions/{v}/schema
func (c *Client) TextByVersion(ctx context.Context, s schemas.Subject, v schemas.Version, o VersionOptions) (string, error) {
	var text string
	q := query{}.flag("deleted", o.Deleted).text("format", o.Format)
	err := c.call(ctx, request{method: http.MethodGet, path: versionPath(s, v) + "/schema", query: q.values(), raw: &text}, nil)
	return text, err
}

// ReferencedBy lists the ids of the schemas that reference a version. The
// contract gives them without their contexts.
//
// GET /subjects/{s}/versions/{v}/referencedby
func (c *Client) ReferencedBy(ctx context.Context, s schemas.Subject, v schemas.Version, deleted bool, p Page) ([]int32, error) {
	var out []int32
	q := query{}.flag("deleted", deleted).page(p)
	err := c.call(ctx, request{method: http.MethodGet, path: versionPath(s, v) + "/referencedby", query: q.values()}, &out)
	return out, err
}

// DeleteVersion deletes one version and gives its number. It is not repeated
// when the registry may have acted on it.
//
// DELETE /subjects/{s}/versions/{v}
func (c *Client) DeleteVersion(ctx context.Context, s schemas.Subject, v schemas.Version, permanent bool) (schemas.Version, error) {
	var out schemas.Version
	q := query{}.flag("permanent", permanent)
	err := c.call(ctx, request{method: http.MethodDelete, path: versionPath(s, v), query: q.values(), once: true}, &out)
	return out, err
}

func versionPath(s schemas.Subject, v schemas.Version) string {
	return "/subjects/" + segment(s) + "/versions/" + v.String()
}

func (q query) values() url.Values { return url.Values(q) }
