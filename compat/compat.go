// Package compat is the vocabulary of comparing: what a change is, what it does
// to data, which levels ask about which direction, and the report that command
// line, API and pages print.
//
// It knows no format: checkers are values (see [Checker]) gathered in
// compat/checkers. Two questions are asked of every pair and never mixed: what
// the reference registry would say ([Difference]), and what happens to data
// ([Change], [Effect]).
package compat

import "github.com/cartorio-registry/cartorio/schemas"

// Answer is what is known about one direction. The zero value is "not checked".
type Answer uint8

const (
	// Unchecked could be neither proved nor refuted; on the wire NOT_CHECKED.
	Unchecked Answer = iota
	// Safe is proved: every payload of the writer is read as the same value.
	Safe
	// Breaks is refuted, by a witness where one could be built.
	Breaks
)

// Kind is how data is hurt.
type Kind uint8

const (
	// Unhurt goes with Safe and Unchecked.
	Unhurt Kind = iota
	// Refused payloads cannot be read at all.
	Refused
	// Lost values were written and are not there after reading.
	Lost
	// Altered values read as another value.
	Altered
	// AlteredOutOfRange values change only beyond what the reader holds exactly.
	AlteredOutOfRange
	// MeaningOnly leaves the value and changes what it stands for.
	MeaningOnly
)

// Layer is the place where an effect happens.
type Layer uint8

const (
	// Data is the one layer of Avro and JSON Schema.
	Data Layer = iota
	// Wire is Protobuf's binary form.
	Wire
	// JSONMapping is Protobuf's JSON form.
	JSONMapping
	// SourceCode is what Protobuf generates.
	SourceCode
)

// Outcome is an answer and, when it breaks, how.
type Outcome struct {
	Answer Answer
	Kind   Kind
}

// Effect is what a change does to data in both directions.
type Effect struct {
	NewReadsOld Outcome
	OldReadsNew Outcome
}

// Difference is one entry of the reference verdict, in the peer's words.
// Compatible tells whether the peer accepts it in the direction and under the
// policy asked.
type Difference struct {
	Type       string
	Path       string
	Info       string
	Compatible bool
}

// Witness is a payload that proves a break: written by one side, refused or
// changed by the other, verified by the real reader before it is shown.
type Witness struct {
	JSON    string // the value, for people
	Bytes   []byte // the exact payload
	Message string // Protobuf: the message's full name
	Text    string // what the failing side says
}

// Change is one thing that is different between two schemas.
type Change struct {
	Rule    string
	Old     schemas.Place
	New     schemas.Place
	Path    string // logical path: names, stable when things are inserted before it
	Text    string // one sentence
	Before  string // the old value, short; empty when there was none
	After   string // the new value, short; empty when there is none
	Effects map[Layer]Effect
	// Witness holds per layer: new reads old, old reads new.
	Witness map[Layer][2]*Witness
}

// Rule is a kind of change, as data.
type Rule struct {
	ID     string
	Mirror string   // the rule that the swapped pair reports
	May    []Effect // the effects it may have, on the layers of Layers
	Layers []Layer
	Peers  []string // the peer's names for it
	Claims []string // which keyword, attribute or descriptor field it answers for
}

// Policy is Confluent's compatibilityPolicy; it loosens JSON Schema's closed
// models and nothing else.
type Policy uint8

const (
	// Strict is the default.
	Strict Policy = iota
	// Lenient loosens.
	Lenient
)

// Checker compares the schemas of one format.
type Checker struct {
	Format schemas.Type

	// Reference answers as the reference registry would: can reader read what
	// writer wrote? All differences, the accepted ones too, in the peer's order.
	//
	// Errors: ErrNotChecked (wrapped) when the answer cannot be had; the pair
	// is then refused under every policy.
	Reference func(reader, writer schemas.Schema, policy Policy, budget Budget) ([]Difference, error)

	// Truth tells what happens to data: one effect for the whole pair per
	// layer, and the changes. A missing layer is Unchecked.
	Truth func(old, next schemas.Schema, budget Budget) (map[Layer]Effect, []Change)

	// Rules lists every rule that Truth can report.
	Rules []Rule

	// SameWhenEqual tells that two schemas of one fingerprint need no checker.
	// Avro says no: an ambiguous alias refuses itself.
	SameWhenEqual bool
}

// Budget bounds a comparison in steps. The zero value is the default.
type Budget struct {
	Steps int
}
