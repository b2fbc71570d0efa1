package compat

import (
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Level is a direction and how far back it reaches, or none.
type Level uint8

// The levels of the wire.
const (
	None Level = iota
	Backward
	BackwardTransitive
	Forward
	ForwardTransitive
	Full
	FullTransitive
)

var levelNames = [...]string{"NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"}

// String is the wire name, upper case.
func (l Level) String() string { return levelNames[l] }

// ParseLevel reads a wire name in any letter case.
//
// Errors: any other text.
func ParseLevel(text string) (Level, error) {
	for i, name := range levelNames {
		if strings.EqualFold(name, text) {
			return Level(i), nil
		}
	}
	return None, fmt.Errorf("compatibility level %q is none of %s", text, strings.Join(levelNames[:], ", "))
}

// IsTransitive tells whether l asks about every version.
func (l Level) IsTransitive() bool {
	return l == BackwardTransitive || l == ForwardTransitive || l == FullTransitive
}

// AsksBackward tells whether new must read old.
func (l Level) AsksBackward() bool {
	return l == Backward || l == BackwardTransitive || l == Full || l == FullTransitive
}

// AsksForward tells whether old must read new.
func (l Level) AsksForward() bool {
	return l == Forward || l == ForwardTransitive || l == Full || l == FullTransitive
}

// VerdictPolicy chooses which of the two answers decides.
type VerdictPolicy uint8

// The policies; Reference is the default.
const (
	Reference VerdictPolicy = iota
	Sound
	Both
)

// Old is one version of a history.
type Old struct {
	Label   string // "3", or a file name
	Version schemas.Version
	Schema  schemas.Schema
}

// Question asks whether next may follow a history.
type Question struct {
	Checkers      []Checker
	Subject       string
	Level         Level
	Policy        Policy
	VerdictPolicy VerdictPolicy
	Next          schemas.Schema
	History       []Old // newest first; a level that is not transitive looks at the first only
	Budget        Budget
}

// Report is the answer to a Question.
type Report struct {
	Level      Level
	Compatible bool
	NotChecked bool // not compatible for lack of an answer
	// Messages are the peer's objects as text, in the peer's order; empty when
	// compatible.
	Messages []string
	Risks    int
}

// Check answers q.
func Check(q Question) Report { return Report{Level: q.Level, NotChecked: true} }
