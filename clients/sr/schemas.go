package sr

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Page cuts a list; zero fields mean the registry's defaults.
type Page struct{ Offset, Limit int }

// Deleted chooses what a list or a look-up sees of soft-deleted versions.
type Deleted uint8

// The choices. Not every call knows DeletedOnly and DeletedAsNegative.
const (
	LiveOnly Deleted = iota
	WithDeleted
	DeletedOnly
	DeletedAsNegative // versions only: deleted numbers come negated
)

func (q query) deleted(d Deleted) query {
	return q.flag("deleted", d == WithDeleted).flag("deletedOnly", d == DeletedOnly).flag("deletedAsNegative", d == DeletedAsNegative)
}

// Listed is one entry of List.
type Listed struct {
	schemas.Found
	// Aliases are the subjects whose config points here, when asked for.
	Aliases []string
}

// ListOptions shape List.
type ListOptions struct {
	// Prefix is the beginning of qualified subjects: "" is the default context,
	// ":.ctx:" one context, ":*:" all of them.
	Prefix     string
	Deleted    bool
	LatestOnly bool
	RuleType   string
	Aliases    bool
	Page       Page
}

// List lists versions of many subjects, by subject then version. A registry
// cuts the list (Cartório at 1,000): ask on with Page.
//
// GET /schemas
func (c *Client) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	q := query{}.text("subjectPrefix", o.Prefix).flag("deleted", o.Deleted).flag("latestOnly", o.LatestOnly).
		text("ruleType", o.RuleType).flag("aliases", o.Aliases).page(o.Page)
	r := request{method: http.MethodGet, path: "/schemas", query: q.values()}
	var bodies []schemaBody
	if err := c.call(ctx, r, &bodies); err != nil {
		return nil, err
	}
	out := make([]Listed, 0, len(bodies))
	for _, b := range bodies {
		f, err := c.found(r, b, schemas.Found{})
		if err != nil {
			return nil, err
		}
		out = append(out, Listed{Found: f, Aliases: b.Aliases})
	}
	return out, nil
}

// IDOptions shape Schema.
type IDOptions struct {
	// Subject narrows where the id is looked for; nil: the id's context.
	Subject *schemas.Subject
	// Format is how the text is wanted, such as "resolved" or "serialized".
	Format string
	// Qualified asks for reference subjects with their context.
	Qualified bool
}

// Schema gives the schema with an id; Subject and Version of the answer name
// one place where it is used.
//
// GET /schemas/ids/{id}
// Errors: wraps schemas.ErrSchemaUnknown.
func (c *Client) Schema(ctx context.Context, id schemas.ID, o IDOptions) (schemas.Found, error) {
	q := query{}.text("subject", subjectOf(id, o.Subject)).text("format", o.Format)
	if o.Qualified {
		q = q.text("referenceFormat", "qualified")
	}
	r := request{method: http.MethodGet, path: fmt.Sprintf("/schemas/ids/%d", id.Number), query: q.values()}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	f, err := c.whole(r, b, schemas.Found{Subject: schemas.Subject{Context: id.Context}, ID: id})
	if id.Context == "" {
		f.ID.Context = schemas.DefaultContext
	}
	return f, err
}

// TextByID gives the text of the schema with an id, as it is.
//
// GET /schemas/ids/{id}/schema
func (c *Client) TextByID(ctx context.Context, id schemas.ID, o IDOptions) (string, error) {
	q := query{}.text("subject", subjectOf(id, o.Subject)).text("format", o.Format)
	var text string
	err := c.call(ctx, request{method: http.MethodGet, path: fmt.Sprintf("/schemas/ids/%d/schema", id.Number), query: q.values(), raw: &text}, nil)
	return text, err
}

// MaxID is the highest id that the context of a known id has given.
//
// GET /schemas/ids/{id}?fetchMaxId=true
func (c *Client) MaxID(ctx context.Context, id schemas.ID) (schemas.ID, error) {
	q := query{}.text("subject", subjectOf(id, nil)).flag("fetchMaxId", true)
	var b schemaBody
	err := c.call(ctx, request{method: http.MethodGet, path: fmt.Sprintf("/schemas/ids/%d", id.Number), query: q.values()}, &b)
	return schemas.ID{Context: id.Context, Number: b.MaxID}, err
}

// SubjectsOf lists the subjects that use an id.
//
// GET /schemas/ids/{id}/subjects
func (c *Client) SubjectsOf(ctx context.Context, id schemas.ID, d Deleted, p Page) ([]schemas.Subject, error) {
	q := query{}.text("subject", subjectOf(id, nil)).deleted(d).page(p)
	var names []string
	if err := c.call(ctx, request{method: http.MethodGet, path: fmt.Sprintf("/schemas/ids/%d/subjects", id.Number), query: q.values()}, &names); err != nil {
		return nil, err
	}
	return subjects(names), nil
}

// Use is a place where a schema is used.
type Use struct {
	Subject schemas.Subject
	Version schemas.Version
}

// VersionsOf lists one version per subject that uses an id.
//
// GET /schemas/ids/{id}/versions
func (c *Client) VersionsOf(ctx context.Context, id schemas.ID, d Deleted, p Page) ([]Use, error) {
	q := query{}.text("subject", subjectOf(id, nil)).deleted(d).page(p)
	var bodies []struct {
		Subject string          `json:"subject"`
		Version schemas.Version `json:"version"`
	}
	if err := c.call(ctx, request{method: http.MethodGet, path: fmt.Sprintf("/schemas/ids/%d/versions", id.Number), query: q.values()}, &bodies); err != nil {
		return nil, err
	}
	out := make([]Use, 0, len(bodies))
	for _, b := range bodies {
		out = append(out, Use{schemas.ParseSubject(b.Subject), b.Version})
	}
	return out, nil
}

// IDsOf lists the ids that a GUID has, by context; none when it is unknown.
//
// GET /schemas/guids/{guid}/ids
func (c *Client) IDsOf(ctx context.Context, g schemas.GUID) ([]schemas.ID, error) {
	var bodies []struct {
		Context schemas.Context `json:"context"`
		ID      int32           `json:"id"`
	}
	if err := c.call(ctx, request{method: http.MethodGet, path: "/schemas/guids/" + g.String() + "/ids"}, &bodies); err != nil {
		return nil, err
	}
	out := make([]schemas.ID, 0, len(bodies))
	for _, b := range bodies {
		out = append(out, schemas.ID{Context: b.Context, Number: b.ID})
	}
	return out, nil
}

// Types lists the formats that the registry knows, by their wire names.
//
// GET /schemas/types
func (c *Client) Types(ctx context.Context) ([]schemas.Type, error) {
	var types []schemas.Type
	err := c.call(ctx, request{method: http.MethodGet, path: "/schemas/types"}, &types)
	return types, err
}

// subjectOf writes the subject parameter of the id endpoints: an id outside the
// default context is looked for in its own.
func subjectOf(id schemas.ID, narrow *schemas.Subject) string {
	if narrow != nil {
		return narrow.String()
	}
	if id.Context == "" || id.Context == schemas.DefaultContext {
		return ""
	}
	return schemas.Subject{Context: id.Context}.String()
}

func subjects(names []string) []schemas.Subject {
	out := make([]schemas.Subject, 0, len(names))
	for _, n := range names {
		out = append(out, schemas.ParseSubject(n))
	}
	return out
}
