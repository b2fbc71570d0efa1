package registry

import "context"

// Author is who asks for a write, as the journal keeps it.
type Author struct {
	Actor   string // empty is "anonymous"
	Request string // request id
}

type authorKey struct{}

// By is ctx for the requests of an author: the events of every write that is
// made with it carry them.
func By(ctx context.Context, a Author) context.Context {
	return context.WithValue(ctx, authorKey{}, a)
}

// of makes d a decision of whoever ctx is for.
func (d *decision) of(ctx context.Context) {
	if a, ok := ctx.Value(authorKey{}).(Author); ok {
		d.actor, d.request = a.Actor, a.Request
	}
}
