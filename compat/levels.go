package compat

import (
	"fmt"
	"strings"
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
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("LEVEL(%d)", uint8(l))
}

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

// Transitive is l asked of every version.
func (l Level) Transitive() Level {
	if l == None || l.IsTransitive() {
		return l
	}
	return l + 1
}

// alone is l without its reach.
func (l Level) alone() Level {
	if l.IsTransitive() {
		return l - 1
	}
	return l
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

var verdictPolicyNames = [...]string{"REFERENCE", "SOUND", "BOTH"}

// String is the wire name, upper case.
func (p VerdictPolicy) String() string {
	if int(p) < len(verdictPolicyNames) {
		return verdictPolicyNames[p]
	}
	return fmt.Sprintf("POLICY(%d)", uint8(p))
}

// ParseVerdictPolicy reads a wire name in any letter case.
//
// Errors: any other text.
func ParseVerdictPolicy(text string) (VerdictPolicy, error) {
	for i, name := range verdictPolicyNames {
		if strings.EqualFold(name, text) {
			return VerdictPolicy(i), nil
		}
	}
	return Reference, fmt.Errorf("verdict policy %q is none of %s", text, strings.Join(verdictPolicyNames[:], ", "))
}

func (p VerdictPolicy) countsReference() bool { return p != Sound }
func (p VerdictPolicy) countsTruth() bool     { return p != Reference }

// ParsePolicy reads STRICT or LENIENT in any letter case; LOGICAL behaves as
// STRICT.
//
// Errors: any other text.
func ParsePolicy(text string) (Policy, error) {
	switch {
	case strings.EqualFold(text, "STRICT"), strings.EqualFold(text, "LOGICAL"):
		return Strict, nil
	case strings.EqualFold(text, "LENIENT"):
		return Lenient, nil
	}
	return Strict, fmt.Errorf("compatibility policy %q is none of STRICT, LENIENT, LOGICAL", text)
}
