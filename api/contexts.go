package api

import (
	"net/http"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// listContexts answers GET /contexts.
func listContexts(x *exchange) error {
	page, err := x.page(0)
	if err != nil {
		return err
	}
	list := x.server.registry.Contexts(x.text("contextPrefix"), page)
	return x.answer(appendList(nil, len(list), func(b []byte, i int) []byte { return appendString(b, string(list[i])) }))
}

// deleteContext answers DELETE /contexts/{context}. Only the default context
// exists at this stage: it goes nowhere, full or empty, and any other is gone
// already.
func deleteContext(x *exchange) error {
	ctx, err := contextOf(x.segment("context"))
	if err != nil {
		return err
	}
	for _, known := range x.server.registry.Contexts("", registry.Page{}) {
		if known != ctx {
			continue
		}
		list, err := x.server.registry.Subjects(x.ctx(), schemas.Subject{Context: ctx}, registry.WithDeleted, registry.Page{Limit: 1})
		switch {
		case err != nil:
			return err
		case len(list) > 0:
			return coded(42211, "context '%s' is not empty: delete its subjects permanently first", ctx)
		case ctx != schemas.DefaultContext:
			return later(42208, "deleting the context "+string(ctx))
		}
	}
	x.Header()["Cache-Control"] = noCacheValue
	x.write(http.StatusNoContent, nil)
	return nil
}
