package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/cartorio-registry/cartorio/registry"
)

// problem is a failure as the wire tells it: status, error_code and message.
type problem struct {
	status  int
	code    int
	message string
	risks   int // for Cartorio-Risks, -1 when nothing was compared
}

func (p *problem) Error() string { return p.message }

// body is {"error_code": …, "message": …}; both members are always there.
func (p *problem) body() []byte {
	o := begin(64 + len(p.message))
	o.number("error_code", int64(p.code))
	o.always("message", p.message)
	return o.end()
}

// longestMessage bounds what an error says back of a request, in bytes.
// Findings may take more.
const longestMessage = 8 << 10

// cut shortens a message that goes on about what was sent.
func (p *problem) cut() {
	most := longestMessage
	if p.status == http.StatusConflict {
		most = 64 * longestMessage
	}
	if len(p.message) > most {
		p.message = strings.ToValidUTF8(p.message[:most], "") + " … (" + strconv.Itoa(len(p.message)) + " bytes in all)"
	}
}

// bare is a problem of routing or parsing: its code is the status.
func bare(status int, message string) *problem {
	return &problem{status: status, code: status, message: message, risks: -1}
}

// coded is a problem with a code of the contract; the status is its first three
// digits.
func coded(code int, format string, args ...any) *problem {
	return &problem{status: code / 100, code: code, message: fmt.Sprintf(format, args...), risks: -1}
}

// wire says what each code of the domain is on the wire. A test holds it
// complete.
//
// Source: REST contract 6.
var wire = map[registry.Code]int{
	registry.CodeInternal:              500,
	registry.CodeStore:                 50001,
	registry.CodeSubjectUnknown:        40401,
	registry.CodeVersionUnknown:        40402,
	registry.CodeSchemaUnknown:         40403,
	registry.CodeSubjectSoftDeleted:    40404,
	registry.CodeSubjectNotSoftDeleted: 40405,
	registry.CodeVersionSoftDeleted:    40406,
	registry.CodeVersionNotSoftDeleted: 40407,
	registry.CodeNoConfig:              40408,
	registry.CodeNoMode:                40409,
	registry.CodeIncompatible:          409,
	registry.CodeSchemaInvalid:         42201,
	registry.CodeVersionInvalid:        42202,
	registry.CodeLevelInvalid:          42203,
	registry.CodeModeInvalid:           42204,
	registry.CodeNotPermitted:          42205,
	registry.CodeReferenced:            42206,
	registry.CodeSubjectInvalid:        42208,
	registry.CodeSchemaTooLarge:        42209,
	registry.CodeRuleSetInvalid:        42210,
	registry.CodeContextNotEmpty:       42211,
	registry.CodeRevisionUnknown:       400,
	registry.CodeExceptionInvalid:      422,
	registry.CodeReaderInvalid:         422,
}

// meanings says what each error_code means, for the OpenAPI document.
var meanings = map[int]string{
	400: "malformed body, wrong type of a member, a colon in a context's name, or a revision or time that is not there", 404: "no such path, or an integer that does not parse",
	405: "method not allowed", 406: "none of the contract's media types is acceptable", 409: "incompatible with an earlier version (40901 by setting)",
	413: "body over the limit", 415: "unsupported media type", 422: "the body is required, or an exception or a report of readers in it is not valid", 500: "internal error", 503: "not ready",
	50001: "the store failed", 50002: "the store did not answer in time",
	40401: "subject not found", 40402: "version not found", 40403: "schema not found", 40404: "subject is soft-deleted already",
	40405: "subject must be soft-deleted first", 40406: "version is soft-deleted already", 40407: "version must be soft-deleted first",
	40408: "subject has no config of its own", 40409: "subject has no mode of its own",
	42201: "invalid schema, type, reference, tag path or next version", 42202: "invalid version", 42203: "invalid compatibility level", 42204: "invalid mode",
	42205: "operation not permitted", 42206: "a schema references it", 42208: "invalid subject or context", 42209: "schema over the size limit",
	42210: "invalid rule set", 42211: "context is not empty",
}

// everywhere are the codes that any route may answer.
var everywhere = []int{400, 404, 406, 413, 415, 500, 50001, 50002}

func status(code int) int {
	if code > 999 {
		return code / 100
	}
	return code
}

// problemOf turns any error into what the wire says. hidden is true when the
// error's own text may not leave the server.
func (s *Server) problemOf(err error) (p *problem, hidden bool) {
	var told *registry.Error
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.As(err, &told):
		code, known := wire[told.Code]
		switch {
		case !known || told.Code == registry.CodeInternal:
			return bare(http.StatusInternalServerError, "internal error"), true
		case told.Code == registry.CodeStore:
			return coded(50001, "the store failed"), true
		case told.Code == registry.CodeIncompatible:
			return s.incompatible(told), false
		}
		return &problem{status: status(code), code: code, message: orElse(told.Error(), meanings[code]), risks: -1}, false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return coded(50002, "the request was given up before the store answered"), true
	}
	var routed *echo.HTTPError
	if errors.As(err, &routed) {
		switch routed.Code {
		case http.StatusNotFound:
			return notFound(""), false
		case http.StatusMethodNotAllowed:
			return bare(http.StatusMethodNotAllowed, "HTTP 405 Method Not Allowed"), false
		}
	}
	return bare(http.StatusInternalServerError, "internal error"), true
}

// notFound is the framework's 404, with the reason where there is one to tell.
func notFound(why string) *problem {
	if why != "" {
		why = ": " + why
	}
	return bare(http.StatusNotFound, "HTTP 404 Not Found"+why)
}

// incompatible is the 409 of a registration; its message keeps the form that
// people search for.
//
// Source: REST contract 5.10.
func (s *Server) incompatible(e *registry.Error) *problem {
	p := &problem{status: http.StatusConflict, code: http.StatusConflict, risks: -1}
	if s.options.Incompatible40901 {
		p.code = 40901
	}
	var details []string
	s.metrics.refuse(e.Report)
	if e.Report != nil {
		details, p.risks = e.Report.Messages, e.Report.Risks
	}
	p.message = "schema incompatible with an earlier one for subject " + strconv.Quote(e.Subject.String()) + ", details: [" + strings.Join(details, ", ") + "]"
	return p
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
