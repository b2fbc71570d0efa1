package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Compatibility is the answer to a check.
type Compatibility struct {
	Compatible bool
	// Messages say what breaks, in the registry's words; only when asked for.
	Messages []string
}

// Check compares a schema with one version of a subject; schemas.Latest is the
// highest live one. The level's transitive reach does not count here.
//
// POST /compatibility/subjects/{s}/versions/{v}
// Errors: wraps schemas.ErrVersionUnknown.
func (c *Client) Check(ctx context.Context, s schemas.Subject, v schemas.Version, g Registration, verbose bool) (Compatibility, error) {
	return c.check(ctx, s, "/"+v.String(), g, verbose)
}

// CheckAll compares a schema with what registering it would compare it with.
//
// POST /compatibility/subjects/{s}/versions
func (c *Client) CheckAll(ctx context.Context, s schemas.Subject, g Registration, verbose bool) (Compatibility, error) {
	return c.check(ctx, s, "", g, verbose)
}

func (c *Client) check(ctx context.Context, s schemas.Subject, version string, g Registration, verbose bool) (Compatibility, error) {
	q := query{}.flag("normalize", g.Normalize).flag("verbose", verbose)
	r := request{method: http.MethodPost, path: "/compatibility/subjects/" + segment(s) + "/versions" + version, query: q.values(), body: g.body()}
	var b struct {
		Compatible *bool    `json:"is_compatible"`
		Messages   []string `json:"messages"`
	}
	if err := c.call(ctx, r, &b); err != nil {
		return Compatibility{}, err
	}
	if b.Compatible == nil {
		// Silence is not a yes.
		return Compatibility{}, &Error{Method: r.method, URL: c.bases[c.good.Load()].url + r.path, Status: http.StatusOK, Message: "the answer has no member is_compatible", Err: schemas.ErrUnintelligible}
	}
	return Compatibility{*b.Compatible, b.Messages}, nil
}
