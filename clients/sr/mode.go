package sr

import (
	"context"
	"net/http"

	"github.com/cartorio-registry/cartorio/schemas"
)

type modeBody struct {
	Mode *string `json:"mode"`
}

// Mode gives the mode of a scope, such as READWRITE. With inherited it is the
// mode in force, else only the scope's own.
//
// GET /mode, GET /mode/{s}
// Errors: an *Error with Code 40409 when the scope has none of its own.
func (c *Client) Mode(ctx context.Context, scope schemas.Subject, inherited bool) (string, error) {
	return c.mode(ctx, request{method: http.MethodGet, path: scopePath("/mode", scope), query: query{}.flag("defaultToGlobal", inherited).values()})
}

// SetMode sets the mode of a scope and gives it back.
//
// PUT /mode, PUT /mode/{s}
func (c *Client) SetMode(ctx context.Context, scope schemas.Subject, mode string, force bool) (string, error) {
	return c.mode(ctx, request{method: http.MethodPut, path: scopePath("/mode", scope), query: query{}.flag("force", force).values(), body: modeBody{&mode}})
}

// ClearMode removes the mode of a scope and gives what it was. On a context,
// recursive removes the modes of its subjects too.
//
// DELETE /mode, DELETE /mode/{s}
func (c *Client) ClearMode(ctx context.Context, scope schemas.Subject, recursive bool) (string, error) {
	return c.mode(ctx, request{method: http.MethodDelete, path: scopePath("/mode", scope), query: query{}.flag("recursive", recursive).values(), once: true})
}

func (c *Client) mode(ctx context.Context, r request) (string, error) {
	var b modeBody
	if err := c.call(ctx, r, &b); err != nil || b.Mode == nil {
		return "", err
	}
	return *b.Mode, nil
}
