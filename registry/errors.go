package registry

import (
	"fmt"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Code is the class of an Error. The list is closed and append-only.
type Code uint8

// The codes, beside the wire number that api gives them.
const (
	CodeInternal              Code = iota // 500
	CodeStore                             // 50001
	CodeSubjectUnknown                    // 40401
	CodeVersionUnknown                    // 40402
	CodeSchemaUnknown                     // 40403
	CodeSubjectSoftDeleted                // 40404
	CodeSubjectNotSoftDeleted             // 40405
	CodeVersionSoftDeleted                // 40406
	CodeVersionNotSoftDeleted             // 40407
	CodeNoConfig                          // 40408
	CodeNoMode                            // 40409
	CodeIncompatible                      // 409
	CodeSchemaInvalid                     // 42201
	CodeVersionInvalid                    // 42202
	CodeLevelInvalid                      // 42203
	CodeModeInvalid                       // 42204
	CodeNotPermitted                      // 42205
	CodeReferenced                        // 42206
	CodeSubjectInvalid                    // 42208
	CodeSchemaTooLarge                    // 42209
	CodeRuleSetInvalid                    // 42210
	CodeContextNotEmpty                   // 42211
	CodeRevisionUnknown                   // 400
	CodeExceptionInvalid                  // 422
	CodeReaderInvalid                     // 422
)

// Error is every failure that the registry answers; anything else is a defect.
type Error struct {
	Code    Code
	Subject schemas.Subject
	Version schemas.Version
	Text    string         // one sentence for people, with the data in it
	Report  *compat.Report // CodeIncompatible
	Err     error          // the cause; for CodeInternal and CodeStore it goes to the log only
}

// Error is the sentence, and the cause where there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Text, e.Err)
	}
	return e.Text
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }
