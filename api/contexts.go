package api

import "net/http"

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
	if err := x.server.registry.DeleteContext(x.authored(), ctx); err != nil {
		return err
	}
	x.Header()["Cache-Control"] = noCacheValue
	x.write(http.StatusNoContent, nil)
	return nil
}
