package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ByGUID gives the schema with a GUID. The answer names neither subject,
// version nor id: a GUID has none.
//
// GET /schemas/guids/{guid}
// Errors: wraps schemas.ErrSchemaUnknown.
func (c *Client) ByGUID(ctx context.Context, g schemas.GUID) (schemas.Found, error) {
	r := request{method: http.MethodGet, path: "/schemas/guids/" + g.String()}
	var b schemaBody
	if err := c.call(ctx, r, &b); err != nil {
		return schemas.Found{}, err
	}
	return c.whole(r, b, schemas.Found{GUID: g})
}

// ByID gives the schema with an id, in the id's context; Subject and Version
// name one place where it is used.
//
// GET /schemas/ids/{id}
// Errors: wraps schemas.ErrSchemaUnknown.
func (c *Client) ByID(ctx context.Context, id schemas.ID) (schemas.Found, error) {
	return c.Schema(ctx, id, IDOptions{})
}

// ByVersion gives a version of a subject, soft-deleted ones too (Found.Deleted
// tells): messages outlive versions.
//
// GET /subjects/{s}/versions/{v}?deleted=true
// Errors: wraps schemas.ErrSubjectUnknown or ErrVersionUnknown.
func (c *Client) ByVersion(ctx context.Context, s schemas.Subject, v schemas.Version) (schemas.Found, error) {
	return c.Version(ctx, s, v, VersionOptions{Deleted: true})
}

// Latest gives the highest version of a subject that is not deleted.
//
// GET /subjects/{s}/versions/latest
// Errors: wraps schemas.ErrSubjectUnknown or ErrVersionUnknown.
func (c *Client) Latest(ctx context.Context, s schemas.Subject) (schemas.Found, error) {
	return c.Version(ctx, s, schemas.Latest, VersionOptions{})
}

// BySource answers which version of a subject a schema is, soft-deleted ones
// too. It registers nothing.
//
// POST /subjects/{s}?deleted=true
// Errors: wraps schemas.ErrSubjectUnknown or ErrSchemaUnknown.
func (c *Client) BySource(ctx context.Context, s schemas.Subject, source schemas.Source) (schemas.Found, error) {
	return c.Lookup(ctx, s, Registration{Source: source}, true)
}

// found wraps what a body says wrongly into the error of its call.
func (c *Client) found(r request, b schemaBody, asked schemas.Found) (schemas.Found, error) {
	f, err := b.found(asked)
	if err != nil {
		return f, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Err: err}
	}
	return f, nil
}

// whole is found for answers that must carry a text.
func (c *Client) whole(r request, b schemaBody, asked schemas.Found) (schemas.Found, error) {
	if b.Schema == nil {
		return asked, &Error{
			Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK,
			Message: "the answer has no member schema", Err: schemas.ErrUnintelligible,
		}
	}
	return c.found(r, b, asked)
}
