package registry

import (
	"context"
	"fmt"
	"strings"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Side is one of two schemas to be compared: a text, or a registered version.
type Side struct {
	// Subject names the version, or says in which context a text's references
	// are looked for.
	Subject schemas.Subject
	Version schemas.Version // with an empty text; 0 and schemas.Latest are the highest live one
	Source  schemas.Source  // an empty Text means the version
}

// Pair asks how two schemas compare, whoever they are.
type Pair struct {
	Old, New Side
	// Subject says whose policies count and what findings are told of; where it
	// is empty the old side's is taken, then the new side's, then the registry's
	// own policies.
	Subject       schemas.Subject
	Level         compat.Level
	Policy        *compat.Policy        // nil: the one in force
	VerdictPolicy *compat.VerdictPolicy // nil: the one in force
	Advise        bool                  // adds advice and repairs
}

// Compare answers a pair. It stores nothing and works in every mode. Advice is
// nil unless it was asked for.
//
// Errors: CodeSchemaInvalid, CodeSchemaTooLarge, CodeSubjectUnknown,
// CodeVersionUnknown, CodeVersionInvalid.
func (r *Registry) Compare(ctx context.Context, p Pair) (compat.Report, *compat.Advice, error) {
	for _, name := range []*schemas.Subject{&p.Subject, &p.Old.Subject, &p.New.Subject} {
		*name = filled(*name)
	}
	if err := r.catchUp(ctx); err != nil {
		return compat.Report{}, nil, err
	}
	old, err := r.side(ctx, "old", p.Old, schemas.Stored)
	if err != nil {
		return compat.Report{}, nil, err
	}
	next, err := r.side(ctx, "new", p.New, schemas.New)
	if err != nil {
		return compat.Report{}, nil, err
	}
	about := p.Subject
	for _, s := range []schemas.Subject{p.Old.Subject, p.New.Subject} {
		if about.Name == "" {
			about = s
		}
	}
	config := r.ConfigInForce(about)
	q := compat.Question{
		Checkers: r.checkers, Level: p.Level, Budget: r.budget, Next: next.schema, Label: next.label,
		History: []compat.Old{{Label: old.label, Version: old.version, Schema: old.schema}},
	}
	if about.Name != "" {
		q.Subject = about.String()
		q.Exceptions, q.At = r.accepted(about), r.now()
	}
	if policy := orElse(p.Policy, config.Policy); policy != nil {
		q.Policy = *policy
	}
	if policy := orElse(p.VerdictPolicy, config.VerdictPolicy); policy != nil {
		q.VerdictPolicy = *policy
	}
	defer r.work()()
	if !p.Advise {
		return compat.Check(q), nil, nil
	}
	q.Variant = func(of schemas.Schema, text string) (schemas.Schema, error) {
		in := p.New.Subject.Context
		if of == old.schema {
			in = p.Old.Subject.Context
		}
		source := of.Source()
		source.Text = text
		// The processor is ours already: asking for another could wait for ever.
		return r.understand(ctx, source, reading{mode: schemas.New, in: in})
	}
	report, advice, _ := compat.Advise(q)
	return report, &advice, nil
}

// sided is a side that was read.
type sided struct {
	schema  schemas.Schema
	label   string
	version schemas.Version
}

// side reads a side; name is what people call it.
func (r *Registry) side(ctx context.Context, name string, s Side, mode schemas.Mode) (sided, error) {
	if strings.TrimSpace(s.Source.Text) == "" {
		if s.Subject.Name == "" {
			return sided{}, &Error{Code: CodeSchemaInvalid, Text: fmt.Sprintf("the %s side has neither a schema nor a subject", name)}
		}
		if s.Version == 0 {
			s.Version = schemas.Latest
		}
		found, err := r.Version(ctx, s.Subject, s.Version, s.Version != schemas.Latest)
		if err != nil {
			return sided{}, err
		}
		f, err := r.form(ctx, found.Source, reading{mode: schemas.Stored, in: found.Subject.Context})
		if err != nil {
			return sided{}, err
		}
		return sided{f.schema, found.Subject.String() + "@" + found.Version.String(), found.Version}, nil
	}
	r.mu.RLock()
	pinned, _, err := r.state.pin(s.Subject.Context, s.Source.References, false)
	r.mu.RUnlock()
	if err == nil && len(s.Source.Text) > r.limits.Text {
		err = parseError(&schemas.LimitError{Limit: schemas.LimitText, Most: r.limits.Text, Found: len(s.Source.Text)})
	}
	var f *form
	if err == nil {
		s.Source.References = pinned
		f, err = r.form(ctx, s.Source, reading{mode: mode, in: s.Subject.Context})
	}
	if err != nil {
		return sided{}, ofSide(name, err)
	}
	return sided{f.schema, name, 0}, nil
}

// ofSide says which side an error is about.
func ofSide(name string, err error) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // ours alone is rewritten; a wrapped one keeps its words
		told := *e
		told.Text = "the " + name + " side: " + told.Text
		return &told
	}
	return fmt.Errorf("the %s side: %w", name, err)
}
