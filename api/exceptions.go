package api

import (
	"net/http"
	"slices"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

var (
	exceptionScope  = Param{"subject", "string", "a subject, or :.ctx: for a context, or :.__GLOBAL: for the whole registry; the default context when absent", nil}
	exceptionsShape = &Shape{Name: "Exceptions", Type: "object", Members: []Member{
		{"exceptions", &Shape{Type: "array", Items: &Shape{Name: "Exception", Type: "object", Members: []Member{
			{"fingerprint", stringShape, true, "of the finding, 32 hexadecimal digits"},
			{"reason", stringShape, true, "why it does no harm"},
			{"owner", stringShape, true, "who answers for that"},
			{"until", stringShape, false, "RFC 3339, the last moment it counts, at most 366 days from now; required of entries that are new or changed"},
		}}}, true, ""},
	}}
)

// mostListedExceptions bounds what one request makes us read.
const mostListedExceptions = 10_001

// exceptionScope is the scope that the query names.
func (x *exchange) exceptionScope() schemas.Subject {
	name := x.text("subject")
	if name == "" {
		return schemas.Subject{Context: schemas.DefaultContext}
	}
	return schemas.ParseSubject(name)
}

// getExceptions answers GET /api/v1/exceptions.
func getExceptions(x *exchange) error { return x.answerExceptions(x.exceptionScope()) }

func (x *exchange) answerExceptions(scope schemas.Subject) error {
	list := x.server.registry.ExceptionsOf(scope)
	o := begin(64 + 160*len(list))
	o.key("exceptions")
	o.b = appendList(o.b, len(list), func(b []byte, i int) []byte {
		e := object{append(b, '{')}
		e.always("fingerprint", list[i].Fingerprint)
		e.always("reason", list[i].Reason)
		e.always("owner", list[i].Owner)
		if !list[i].Until.IsZero() {
			e.always("until", list[i].Until.UTC().Format(time.RFC3339))
		}
		return e.end()
	})
	return x.answer(o.end())
}

// putExceptions answers PUT /api/v1/exceptions: the list becomes that of the
// scope, all of it or nothing.
func putExceptions(x *exchange) error {
	body, err := x.read()
	if err != nil {
		return err
	}
	all, err := parse(body, "exceptions")
	if err != nil {
		return err
	}
	if all.get("exceptions").missing() {
		return bare(http.StatusUnprocessableEntity, "the member exceptions is missing: send the whole list, or DELETE to take all out")
	}
	var list []compat.Exception
	err = all.get("exceptions").each(mostListedExceptions, func(v value) error {
		one, err := v.pick("fingerprint", "reason", "owner", "until")
		if err != nil {
			return err
		}
		e := compat.Exception{Fingerprint: one.text("fingerprint"), Reason: one.text("reason"), Owner: one.text("owner")}
		until := one.text("until")
		if one.err != nil {
			return one.err
		}
		if until != "" {
			if e.Until, err = time.Parse(time.RFC3339, until); err != nil {
				return bare(http.StatusBadRequest, "until '"+until+"' is no moment as RFC 3339 has it, such as 2026-12-31T23:59:59Z")
			}
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		return err
	}
	scope := x.exceptionScope()
	if err := x.server.registry.SetExceptions(x.authored(), scope, list); err != nil {
		return err
	}
	return x.answerExceptions(scope)
}

// deleteExceptions answers DELETE /api/v1/exceptions. What is not there need not
// be taken out.
func deleteExceptions(x *exchange) error {
	scope := x.exceptionScope()
	var left []compat.Exception
	if f := x.text("fingerprint"); f != "" {
		left = slices.DeleteFunc(x.server.registry.ExceptionsOf(scope), func(e compat.Exception) bool { return e.Fingerprint == f })
	}
	if err := x.server.registry.SetExceptions(x.authored(), scope, left); err != nil {
		return err
	}
	return x.answerExceptions(scope)
}
