package api

import (
	"errors"
	"strings"

	"github.com/cartorio-registry/cartorio/registry"
)

func modeBody(m registry.Mode) []byte {
	o := begin(32)
	o.text("mode", string(m))
	return o.end()
}

// getMode answers GET /mode and GET /mode/{subject}.
func getMode(x *exchange) error {
	scope := x.scope()
	m, ok := x.view().ModeOf(scope)
	if !ok {
		if !isGlobal(scope) && !x.flag("defaultToGlobal") {
			return coded(40409, "Subject '%s' has no mode of its own; ask with defaultToGlobal=true for the one in force", scope)
		}
		m = x.view().ModeInForce(scope)
	}
	return x.answer(modeBody(m))
}

// putMode answers PUT /mode and PUT /mode/{subject}; null clears.
func putMode(x *exchange) error {
	body, err := x.read()
	if err != nil {
		return err
	}
	members, err := parse(body, "mode")
	if err != nil {
		return err
	}
	text := members.text("mode")
	if members.err != nil {
		return members.err
	}
	given := members.get("mode")
	if given.null() && !given.missing() {
		// Clearing what is not set is no error here: the answer is the request.
		_, err := x.server.registry.ClearMode(x.authored(), x.scope(), false)
		var told *registry.Error
		if err != nil && (!errors.As(err, &told) || told.Code != registry.CodeSubjectUnknown && told.Code != registry.CodeNoMode) {
			return err
		}
		return x.answer(modeBody(""))
	}
	m := registry.Mode(strings.ToUpper(text))
	switch m {
	case registry.ReadWrite, registry.ReadOnly, registry.ReadOnlyOverride, registry.Import, registry.Forward:
	default:
		what := "the member mode is missing"
		if !given.missing() {
			what = "mode '" + text + "' is unknown"
		}
		return coded(42204, "%s: use READWRITE, READONLY, READONLY_OVERRIDE, IMPORT or FORWARD", what)
	}
	if err := x.server.registry.SetMode(x.authored(), x.scope(), m, x.flag("force")); err != nil {
		return err
	}
	return x.answer(modeBody(m))
}

// deleteMode answers DELETE /mode and DELETE /mode/{subject} with what the mode
// was.
func deleteMode(x *exchange) error {
	m, err := x.server.registry.ClearMode(x.authored(), x.scope(), x.flag("recursive"))
	if err != nil {
		return err
	}
	return x.answer(modeBody(m))
}
