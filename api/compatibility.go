package api

import (
	"strconv"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// risksHeader counts what may hurt data though the verdict lets it pass.
const risksHeader = "Cartorio-Risks"

// checkVersion answers POST /compatibility/subjects/{subject}/versions/{version}.
func checkVersion(x *exchange) error {
	q, err := x.registration()
	if err != nil {
		return x.undecided(err)
	}
	v, err := x.version()
	if err != nil {
		return err
	}
	return x.check(q, &v)
}

// checkAll answers POST /compatibility/subjects/{subject}/versions.
func checkAll(x *exchange) error {
	q, err := x.registration()
	if err != nil {
		return x.undecided(err)
	}
	return x.check(q, nil)
}

func (x *exchange) check(q registry.Registration, v *schemas.Version) error {
	report, err := x.server.registry.Check(x.ctx(), q, v)
	if err != nil {
		return x.undecided(err)
	}
	x.Header().Set(risksHeader, strconv.Itoa(report.Risks))
	return x.answer(verdict(report.Compatible, x.flag("verbose"), report.Messages))
}

// undecided answers a schema that cannot be taken: an error, or with verbose a
// verdict with the reason as its message.
//
// Source: REST contract 4.3.
func (x *exchange) undecided(err error) error {
	if reason, ok := isInvalid(err); ok && x.flag("verbose") {
		return x.answer(verdict(false, true, []string{reason}))
	}
	return err
}

// verdict is a CompatibilityCheckResponse; with verbose there are messages,
// possibly none.
func verdict(compatible, verbose bool, messages []string) []byte {
	o := begin(64)
	o.boolean("is_compatible", compatible)
	if verbose {
		o.key("messages")
		o.b = append(o.b, stringList(messages)...)
	}
	return o.end()
}
