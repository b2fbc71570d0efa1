package api

import "net/http"

// Contexts other than the default one come with a later stage. Until then they
// are what any unknown context is: a read finds nothing there (404 with the
// code of what was looked for, or an empty list), and a write is refused with
// 42208. Nothing meant for another context ever lands in the default one.

// listContexts answers GET /contexts.
func listContexts(x *exchange) error {
	page, err := x.page(0)
	if err != nil {
		return err
	}
	list := x.server.registry.Contexts(x.text("contextPrefix"), page)
	return x.list(len(list), func(b []byte, i int) []byte { return appendString(b, string(list[i])) })
}

// deleteContext answers DELETE /contexts/{context}; an unknown one is gone
// already.
func deleteContext(x *exchange) error {
	ctx, err := contextOf(x.segment("context"))
	if err != nil {
		return err
	}
	if err := x.server.registry.DeleteContext(x.ctx(), ctx); err != nil {
		return err
	}
	x.Header()["Cache-Control"] = noCacheValue
	x.write(http.StatusNoContent, nil)
	return nil
}
