package schemas

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons for which a look-up gives no schema. Whoever answers look-ups
// wraps them; whoever asks reads them with errors.Is.
var (
	ErrSubjectUnknown = errors.New("subject is unknown")
	ErrVersionUnknown = errors.New("version is unknown")
	ErrSchemaUnknown  = errors.New("schema is unknown")
	ErrUnreachable    = errors.New("registry is unreachable")
	ErrRefused        = errors.New("registry refused the caller")
	ErrUnintelligible = errors.New("registry's answer is unintelligible")
)

// Position is a place in a text: line and column from 1, column in bytes,
// offset in bytes from 0. The zero value is "not known".
type Position struct {
	Line, Column, Offset int
}

// String is "line:column".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// PositionAt finds the position of a byte offset in text.
func PositionAt(text string, offset int) Position {
	if offset > len(text) {
		offset = len(text)
	}
	if offset < 0 {
		offset = 0
	}
	line := 1 + strings.Count(text[:offset], "\n")
	return Position{Line: line, Column: offset - strings.LastIndexByte(text[:offset], '\n'), Offset: offset}
}

// Pointer is an RFC 6901 pointer: "" is the whole document, "/fields/2/type" a
// place in it. Protobuf uses the same form over its descriptor
// ("/messages/Order/fields/3").
type Pointer string

// Append adds one token, escaped.
func (p Pointer) Append(token string) Pointer {
	return p + "/" + Pointer(pointerEscapes.Replace(token))
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Place is where something stands in a schema.
type Place struct {
	Pointer  Pointer
	Position Position
	End      Position
}

// SyntaxError is one thing that is wrong with a text.
type SyntaxError struct {
	Position Position
	Pointer  Pointer
	Summary  string // what is wrong, in one clause, without a period
	Detail   string // what to do, or more of the circumstances; may be empty
}

// Error is "line:column: summary (pointer): detail".
func (e SyntaxError) Error() string {
	var b strings.Builder
	if e.Position.Line > 0 {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Position.Line, e.Position.Column)
	}
	b.WriteString(e.Summary)
	if e.Pointer != "" {
		fmt.Fprintf(&b, " at %s", e.Pointer)
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	return b.String()
}

// SyntaxErrors are all the things that are wrong with a text, in reading order.
// It is never empty when returned as an error.
type SyntaxErrors []SyntaxError

// Error joins the first ten.
func (e SyntaxErrors) Error() string {
	const most = 10
	parts := make([]string, 0, most+1)
	for i, one := range e {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(e)-most))
			break
		}
		parts = append(parts, one.Error())
	}
	return strings.Join(parts, "; ")
}

// ReferenceError says that a reference could not be answered.
type ReferenceError struct {
	Reference Reference
	Err       error
}

// Error names the reference's three members.
func (e *ReferenceError) Error() string {
	return fmt.Sprintf("reference {name=%s, subject=%s, version=%d}: %v", e.Reference.Name, e.Reference.Subject, e.Reference.Version, e.Err)
}

// Unwrap is the cause.
func (e *ReferenceError) Unwrap() error { return e.Err }
