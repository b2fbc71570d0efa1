package schemas

import "fmt"

// Limits bound what a schema text may ask of us. They count, they do not time,
// so that an answer is the same everywhere. A zero field means the default.
type Limits struct {
	Text         int // bytes of one text, 1 MiB
	Depth        int // open brackets, 128; for Protobuf see Nesting
	Nesting      int // nested messages of Protobuf, 31
	Declarations int // types, fields, symbols, keywords' subschemas of one text, 20,000
	References   int // references in the whole closure, 1,000
	Digits       int // digits of one number, 1,000
	Exponent     int // a number's exponent, up or down, 400
	Name         int // bytes of one name, 1,024
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits {
	return Limits{Text: 1 << 20, Depth: 128, Nesting: 31, Declarations: 20_000, References: 1_000, Digits: 1_000, Exponent: 400, Name: 1_024}
}

// OrDefault fills the zero fields.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		mine  *int
		other int
	}{
		{&l.Text, d.Text},
		{&l.Depth, d.Depth},
		{&l.Nesting, d.Nesting},
		{&l.Declarations, d.Declarations},
		{&l.References, d.References},
		{&l.Digits, d.Digits},
		{&l.Exponent, d.Exponent},
		{&l.Name, d.Name},
	} {
		if *f.mine == 0 {
			*f.mine = f.other
		}
	}
	return l
}

// Limit names one field of Limits in a LimitError.
type Limit string

// The limits, by the words that people read.
const (
	LimitText         Limit = "size of the text in bytes"
	LimitDepth        Limit = "open brackets"
	LimitNesting      Limit = "nested messages"
	LimitDeclarations Limit = "declarations"
	LimitReferences   Limit = "references in the closure"
	LimitDigits       Limit = "digits of a number"
	LimitExponent     Limit = "exponent of a number"
	LimitName         Limit = "length of a name in bytes"
)

// LimitError says that a text goes beyond a limit. Found may be a lower bound:
// counting stops at the limit.
type LimitError struct {
	Limit    Limit
	Most     int
	Found    int
	Position Position
}

// Error tells the limit and the value.
func (e *LimitError) Error() string {
	at := ""
	if e.Position.Line > 0 {
		at = fmt.Sprintf("line %d, column %d: ", e.Position.Line, e.Position.Column)
	}
	return fmt.Sprintf("%sthe schema is over the limit of %d for %s: found %d", at, e.Most, e.Limit, e.Found)
}
