// Package compat is the vocabulary of comparing: what a change is, what it does
// to data, which levels ask about which direction, and the report that command
// line, API and pages print.
//
// It knows no format: checkers are values (see [Checker]) gathered in
// compat/checkers. Two questions are asked of every pair and never mixed: what
// the reference registry would say ([Difference]), and what happens to data
// ([Change], [Effect]). [Check] asks both and gives the verdict of a level.
package compat

import (
	"errors"

	"github.com/cartorio-registry/cartorio/schemas"
)

// ErrNotChecked says that an answer could not be had: the pair is neither
// called compatible nor breaking. Whoever returns it wraps it with the reason.
var ErrNotChecked = errors.New("not checked")

// Difference is one entry of the reference verdict, in the peer's words.
// Compatible tells whether the peer accepts it in the direction and under the
// policy asked.
type Difference struct {
	Type       string // the peer's name of the kind, such as NAME_MISMATCH
	Path       string // where, in the peer's own path language
	Info       string // the peer's short text that goes with it
	Compatible bool

	// Reader and Writer are the places in the two texts; zero where a checker
	// does not know them. A change whose places lie inside both, and whose rule
	// names Type among its Peers, is what the difference is about.
	Reader, Writer schemas.Place
	// Elsewhere tells, for old and new, that the place is in a text that the
	// schema refers to, not in its own. Categories say it: there old is Writer.
	Elsewhere [2]bool
	// Causes are differences that the peer hides behind this one, as a union
	// hides what is wrong inside its branch.
	Causes []Difference
}

// Witness is a payload that proves a break: written by one side, refused or
// changed by the other, verified by the real reader before it is shown.
type Witness struct {
	JSON    string // the value, for people
	Bytes   []byte // the exact payload
	Message string // Protobuf: the message's full name
	Text    string // what the failing side says
	// Kind is what the failing side does to this very payload, which another
	// change of the pair may decide; Unhurt means what the change does.
	Kind Kind
}

// Change is one thing that is different between two schemas.
type Change struct {
	Rule string // id of a rule of the checker
	Old  schemas.Place
	New  schemas.Place
	// Elsewhere tells, for old and new, that the place is in a text that the
	// schema refers to, not in its own.
	Elsewhere [2]bool
	Path      string // logical path: names, stable when things are inserted before it
	Text      string // one sentence
	Before    string // the old value, short; empty when there was none
	After     string // the new value, short; empty when there is none
	// Effects are what the change does at this node, per layer.
	Effects map[Layer]Effect
	// Witness holds per layer: new reads old, old reads new.
	Witness map[Layer][2]*Witness
	// Blind holds, for new and old as the reader, a payload that a consumer takes
	// for another value without an error when it decodes with its own schema
	// instead of resolving against the writer's. One change of a pair tells it.
	Blind [2]*Witness
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

// String is the wire name.
func (p Policy) String() string {
	if p == Lenient {
		return "LENIENT"
	}
	return "STRICT"
}

// Checker compares the schemas of one format. It is a value: a list of checkers
// is a plain slice.
type Checker struct {
	Format schemas.Type

	// Reference answers as the reference registry would: can reader read what
	// writer wrote? All differences, the accepted ones too, in the peer's order.
	//
	// Errors: ErrNotChecked (wrapped) when the answer cannot be had; the pair
	// is then refused under every policy.
	Reference func(reader, writer schemas.Schema, policy Policy, budget Budget) ([]Difference, error)

	// Truth tells what happens to data: one effect for the whole pair per
	// layer, and the changes in an order that depends on the texts alone. A
	// missing layer is Unchecked; a nil function leaves every layer so. Of what
	// budget.Asked leaves out the whole may be Unchecked, and witnesses missing.
	Truth func(old, next schemas.Schema, budget Budget) (map[Layer]Effect, []Change)

	// Repair proposes how a change of Truth's may be made without the harm that
	// it does in the directions asked, the nearest to what was meant first. Nil,
	// and no proposal, mean that nothing is known. The edits are those of the
	// texts as they were sent.
	Repair func(old, next schemas.Schema, c Change, backward, forward bool) []Patch

	// Within reads a schema anew with a text in the place of what it refers to by
	// a name. Nil where no repair is proposed inside of references.
	Within func(of schemas.Schema, reference, text string) (schemas.Schema, error)

	// Layer is the one that decides when a question names none.
	Layer Layer

	// Rules lists every rule that Truth can report.
	Rules []Rule

	// Categories tells what a rule set refuses in a change from old to next, as
	// another tool's categories do: without a direction, whatever happens to
	// data. Nil where the format has none.
	Categories func(old, next schemas.Schema, category string) ([]Difference, error)

	// CategoryNames lists the categories, the strictest first.
	CategoryNames []string
	// CategoryRules lists every rule that Categories can report.
	CategoryRules []Rule

	// Message writes a difference as the peer's object in text form. reader and
	// writer are "new" and "old", or the reverse; rule is our id, or empty. Nil
	// means [Message].
	Message func(d Difference, reader, writer, rule string) string

	// SameWhenEqual tells that two schemas of one fingerprint need no checker.
	// Avro says no: an ambiguous alias refuses itself.
	SameWhenEqual bool
}
