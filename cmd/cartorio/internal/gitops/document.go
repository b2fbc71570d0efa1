package gitops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Action is what a step does.
type Action string

// The actions.
const (
	Create    Action = "create"     // the first version of a subject
	Register  Action = "register"   // a further version
	Configure Action = "config"     // members of a subject's config
	SetMode   Action = "mode"       // a subject's mode
	SetAlias  Action = "alias"      // what a subject stands for
	Except    Action = "exceptions" // tells the registry what was accepted
	Delete    Action = "delete"     // soft-deletes a subject
)

// State is what became of a step.
type State string

// The states.
const (
	Planned    State = "planned"
	Refused    State = "refused"     // it breaks, or the registry will not take it
	NotChecked State = "not_checked" // nobody could tell whether it breaks
	Done       State = "done"
	Failed     State = "failed"
	Undone     State = "undone"  // done, and taken back because its group failed
	Left       State = "left"    // done, and could not be taken back
	Skipped    State = "skipped" // its group failed before its turn
)

// The exit codes that a step can mean.
const (
	CodeBreaks     = 1
	CodeNotChecked = 2
	CodeReadOnly   = 5
)

// Plan is what is to be done. It holds no secret and no text of a schema.
type Plan struct {
	Version  int    `json:"version"` // of this document: 1
	Tool     string `json:"tool"`
	Registry string `json:"registry"` // without user and password
	Prune    bool   `json:"prune"`
	Steps    []Step `json:"steps"`
	// Unchanged counts the declared subjects that need nothing.
	Unchanged int      `json:"unchanged"`
	Notes     []string `json:"notes"`
	// Observed is what the registry had of each declared subject.
	Observed []Observed `json:"observed"`
}

// Observed is the newest version of a subject; zeros where there is none.
type Observed struct {
	Subject string          `json:"subject"`
	Latest  schemas.Version `json:"latest"`
	ID      int32           `json:"id"`
}

// Step is one thing to do. Steps of one group are done together or not at all.
type Step struct {
	Action  Action          `json:"action"`
	State   State           `json:"state"`
	Group   int             `json:"group"`
	Subject string          `json:"subject"`
	Path    string          `json:"path,omitempty"`
	Type    schemas.Type    `json:"type,omitempty"`
	Version schemas.Version `json:"version,omitempty"` // the number it should get, then the one it got
	ID      int32           `json:"id,omitempty"`
	Pins    []Pin           `json:"references,omitempty"`
	Text    string          `json:"fingerprint,omitempty"` // of what is registered
	Verdict *Verdict        `json:"verdict,omitempty"`
	Changes []Change        `json:"changes,omitempty"`
	Deletes []int           `json:"versions,omitempty"`
	// Reason says why it is not done, in sentences.
	Reason []string `json:"reason,omitempty"`
	// Code is the exit code that Reason means, one of the Code constants.
	Code int `json:"-"`

	subject schemas.Subject
	node    *node
	// do does it and gives what takes it back; nil where nothing does.
	do func(context.Context, *Step) (undo, error)
}

// Pin is a reference as it will be registered.
type Pin struct {
	Name    string          `json:"name"`
	Subject string          `json:"subject"`
	Version schemas.Version `json:"version"`
	New     bool            `json:"new"` // the version is of this plan
}

// Change is one member that gets another value; empty is none.
type Change struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Verdict is what two engines say of a new version.
type Verdict struct {
	Verdict  compat.Verdict `json:"verdict"` // both together
	Level    string         `json:"level"`
	Compared []string       `json:"compared"`
	Local    compat.Verdict `json:"local"`
	Registry string         `json:"registry"` // compatible, incompatible or not_asked
	// NotAsked says why the registry was not asked.
	NotAsked string `json:"not_asked,omitempty"`
	// Disagree tells that the two answers differ.
	Disagree bool             `json:"disagree"`
	Messages []string         `json:"messages,omitempty"` // the registry's
	Reason   string           `json:"reason,omitempty"`   // why the local answer is not_checked
	Findings []compat.Finding `json:"findings,omitempty"` // breaking ones and risks, accepted ones too
}

// IsEmpty tells whether there is nothing to do.
func (p *Plan) IsEmpty() bool { return len(p.Steps) == 0 }

// Count counts the steps of an action.
func (p *Plan) Count(a Action) int {
	n := 0
	for _, s := range p.Steps {
		if s.Action == a {
			n++
		}
	}
	return n
}

// Blocked is the gravest code of the steps that cannot be done; 0 when all can.
func (p *Plan) Blocked() int {
	worst := 0
	for _, s := range p.Steps {
		worst = max(worst, s.Code)
	}
	return worst
}

// Bytes is the plan as a document, to be kept and given to apply.
func (p *Plan) Bytes() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(p); err != nil {
		return nil, fmt.Errorf("write a plan: %w", err)
	}
	return b.Bytes(), nil
}

// Read reads a plan that Bytes wrote.
//
// Errors: it is none, or of a version that is not known.
func Read(text []byte) (*Plan, error) {
	var p Plan
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("it is no plan: %w", err)
	}
	if p.Version != 1 {
		return nil, fmt.Errorf("it is a plan of form %d: this cartorio reads form 1", p.Version)
	}
	return &p, nil
}

// Moved says why the plan that was made anew is not the one that was kept; empty
// when it is.
func (p *Plan) Moved(now *Plan) (why string, err error) {
	switch {
	case p.Tool != now.Tool:
		return fmt.Sprintf("it was made by cartorio %s, and this is %s", p.Tool, now.Tool), nil
	case p.Registry != now.Registry:
		return fmt.Sprintf("it was made for %s, and this is %s", p.Registry, now.Registry), nil
	}
	had := map[string]Observed{}
	for _, o := range p.Observed {
		had[o.Subject] = o
	}
	for _, o := range now.Observed {
		if before, ok := had[o.Subject]; ok && before != o {
			return fmt.Sprintf("%s had version %s (id %d), and now has %s (id %d)", o.Subject, number(before.Latest), before.ID, number(o.Latest), o.ID), nil
		}
	}
	before, err := p.Bytes()
	if err != nil {
		return "", err
	}
	after, err := now.Bytes()
	if err != nil {
		return "", err
	}
	if bytes.Equal(before, after) {
		return "", nil
	}
	for i := range max(len(p.Steps), len(now.Steps)) {
		if i >= len(p.Steps) || i >= len(now.Steps) {
			return fmt.Sprintf("it has %d steps, and there would be %d", len(p.Steps), len(now.Steps)), nil
		}
		a, errA := json.Marshal(p.Steps[i])
		b, errB := json.Marshal(now.Steps[i])
		if err := errors.Join(errA, errB); err != nil {
			return "", err
		}
		if !bytes.Equal(a, b) {
			return fmt.Sprintf("its step %d, %s of %s, would be another one", i+1, p.Steps[i].Action, p.Steps[i].Subject), nil
		}
	}
	return "what is declared, or what the registry has, is not the same", nil
}

func number(v schemas.Version) string {
	if v == 0 {
		return "none"
	}
	return v.String()
}

func exceptionsOf(list []compat.Exception) []sr.Exception {
	out := make([]sr.Exception, 0, len(list))
	for _, e := range list {
		out = append(out, sr.Exception{Fingerprint: e.Fingerprint, Reason: e.Reason, Owner: e.Owner, Until: e.Until})
	}
	return out
}
