package validate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Step translates documents of one version of a subject to the next. Package
// translate makes steps of a mapping file.
type Step struct {
	// Subject is whose versions these are; the zero Subject is any that the
	// consumer expects.
	Subject schemas.Subject
	// From and To are neighbours. A step may lead down.
	From, To schemas.Version
	// Apply gives the document of version To for one of version From; see
	// [schemas.Documents]. It must not keep or change the bytes it is given.
	//
	// Errors: the document cannot be translated; the message is rejected then.
	Apply func(document []byte) ([]byte, error)
}

// Translate makes a step of a function, for any subject that the consumer
// expects.
func Translate(from, to schemas.Version, apply func(document []byte) ([]byte, error)) Step {
	return Step{From: from, To: to, Apply: apply}
}

// String names the step: "orders-value 1→2".
func (s Step) String() string {
	if s.Subject == (schemas.Subject{}) {
		return fmt.Sprintf("%s→%s", s.From, s.To)
	}
	return fmt.Sprintf("%s %s→%s", s.Subject, s.From, s.To)
}

func (s Step) check() error {
	switch {
	case s.From < 1 || s.To < 1 || s.To-s.From != 1 && s.From-s.To != 1:
		return fmt.Errorf("the step %s: it leads from one version to the next, up or down: make one step for each version between", s)
	case s.Apply == nil:
		return fmt.Errorf("the step %s: it has no function", s)
	}
	return nil
}

// checkSteps refuses steps that cannot work, and two for one pair.
func checkSteps(list []Step) error {
	seen := map[string]bool{}
	for _, s := range list {
		if err := s.check(); err != nil {
			return err
		}
		if seen[s.String()] {
			return fmt.Errorf("the step %s is there twice", s)
		}
		seen[s.String()] = true
	}
	return nil
}

// translation is the way from a message's version to one that is declared.
type translation struct {
	steps  []*Step
	to     schemas.Version
	target *record
}

// String is the versions on the way: "1→2→3".
func (t *translation) String() string {
	var b strings.Builder
	b.WriteString(t.steps[0].From.String())
	for _, s := range t.steps {
		b.WriteString("→" + s.To.String())
	}
	return b.String()
}

// path finds the shortest way from a version to a declared one, upward where two
// are equally long; nil when there is none. declared tells which are.
func (e *Expect) path(s schemas.Subject, from schemas.Version, declared func(schemas.Version) bool) []*Step {
	walk := func(by schemas.Version) (way []*Step) {
		for at := from; ; at += by {
			next := e.step(s, at, at+by)
			if next == nil {
				return nil
			}
			if way = append(way, next); declared(next.To) {
				return way
			}
		}
	}
	up, down := walk(1), walk(-1)
	if up == nil || down != nil && len(down) < len(up) {
		return down
	}
	return up
}

// step finds the step between two versions; one that names the subject first.
func (e *Expect) step(s schemas.Subject, from, to schemas.Version) *Step {
	var any *Step
	for i := range e.Steps {
		one := &e.Steps[i]
		switch {
		case one.From != from || one.To != to:
		case one.Subject == s:
			return one
		case one.Subject == (schemas.Subject{}):
			any = one
		}
	}
	return any
}

// translate turns a payload that is valid in the writer's version into one of
// the target's, which it is judged by.
func (v *Validator) translate(o *Outcome, t *translation, payload schemas.Payload, options schemas.ReadOptions) (schemas.Payload, error) {
	from, ok := o.Writer.(schemas.Documents)
	to, too := t.target.parsed.schema.(schemas.Documents)
	if !ok || !too {
		return payload, fmt.Errorf("translate %s: the format %s cannot show payloads as documents", t, o.Type)
	}
	options.Value = false
	document, violations := from.DocumentOf(payload, options)
	if len(violations) > 0 {
		return payload, &violationsError{fmt.Sprintf("translate %s: the payload has no document", t), violations}
	}
	for _, s := range t.steps {
		next, err := apply(s, document)
		if err != nil {
			return payload, fmt.Errorf("translate %s: the step %s failed: %w", t, s, err)
		}
		if len(next) > options.Bytes {
			return payload, fmt.Errorf("translate %s: the step %s made a document of %d bytes, and %d are allowed", t, s, len(next), options.Bytes)
		}
		document = next
	}
	out := schemas.Payload{Message: payload.Message}
	if out.Bytes, violations = to.PayloadOf(document, payload.Message, options); len(violations) > 0 {
		return payload, &violationsError{fmt.Sprintf("translate %s: what the last step %s made does not fit version %s", t, t.steps[len(t.steps)-1], t.to), violations}
	}
	return out, nil
}

// apply runs a step, which is somebody else's function.
func apply(s *Step, document []byte) (out []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return s.Apply(slices.Clone(document))
}

// violationsError is a translation whose result does not fit.
type violationsError struct {
	what string
	list []schemas.Violation
}

func (e *violationsError) Error() string {
	return fmt.Sprintf("%s: at %q: %s", e.what, string(e.list[0].Payload), e.list[0].Text)
}

// violationsOf are the violations behind an error of translate.
func violationsOf(err error) []schemas.Violation {
	var v *violationsError
	if errors.As(err, &v) {
		return v.list
	}
	return nil
}
