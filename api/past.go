package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// view is what reads with asOf ask: the registry as it is, or as it was.
type view interface {
	Alias(schemas.Subject) schemas.Subject
	Aliases() map[schemas.Subject][]schemas.Subject
	Subjects(context.Context, schemas.Subject, registry.Deleted, registry.Page) ([]schemas.Subject, error)
	Versions(context.Context, schemas.Subject, registry.Deleted, registry.Page) ([]schemas.Version, error)
	Version(context.Context, schemas.Subject, schemas.Version, bool) (registry.Stored, error)
	ByID(context.Context, int32, *schemas.Subject) (registry.Stored, error)
	ByGUID(context.Context, schemas.GUID) (registry.Stored, error)
	List(context.Context, schemas.Subject, registry.Deleted, bool, string, registry.Page) ([]registry.Stored, error)
	ConfigOf(schemas.Subject) (registry.Config, bool)
	ConfigInForce(schemas.Subject) registry.Config
	ModeOf(schemas.Subject) (registry.Mode, bool)
	ModeInForce(schemas.Subject) registry.Mode
	MaxID(schemas.Context) int32
}

func (x *exchange) view() view {
	if x.past != nil {
		return x.past
	}
	return x.server.registry
}

// revisionHeader says at which revision an answer about the past stands.
const revisionHeader = "Cartorio-Revision"

// lookBack reads asOf=. A route that cannot answer about the past refuses:
// answering about the present would be wrong.
//
// Errors: 400 for text that is neither revision nor time, and for what is not
// there yet.
func (x *exchange) lookBack(can bool) error {
	if query := x.request.URL.RawQuery; query == "" || !strings.Contains(query, asOf.Name) {
		return nil
	}
	text := x.text(asOf.Name)
	if text == "" {
		return nil
	}
	if !can {
		return bare(http.StatusBadRequest, "this request cannot be answered about the past: leave out asOf")
	}
	var m registry.Moment
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		m.Revision = registry.Revision(n)
	} else if m.Time, err = time.Parse(time.RFC3339Nano, text); err != nil || m.Time.IsZero() {
		return bare(http.StatusBadRequest, "asOf is "+strconv.Quote(text)+": write a revision, such as 42, or a time, such as 2026-01-31T12:00:00Z (+ is %2B in a query)")
	}
	past, err := x.server.registry.AsOf(x.ctx(), m)
	if err != nil {
		return err
	}
	x.past = past
	x.Header().Set(revisionHeader, strconv.FormatUint(uint64(past.Revision()), 10))
	return nil
}

// textOf is a text as the whole answer.
//
// Errors: 40403 for one that is erased.
func textOf(v registry.Stored, err error) ([]byte, error) {
	if err == nil && v.Erased {
		err = coded(40403, "the text of version %d of subject '%s' (id %d, GUID %s) is erased: it was permanently deleted since", v.Version, v.Subject, v.ID.Number, v.GUID)
	}
	if err != nil {
		return nil, err
	}
	return []byte(v.Source.Text), nil
}
