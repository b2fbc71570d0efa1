package main

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/schemas"
)

// declare takes what the configuration says of a file: its references, its
// metadata, whether it is normalized, and whether the repository owns its subject.
// wrong is what is wrong with that; empty when nothing is.
func (p *plan) declare(j *job) (wrong string) {
	cfg := p.app.config
	if scope := p.app.scope(); scope.IsSet() && !scope.Owns(j.entry.Subject) {
		wrong = fmt.Sprintf("%s: subject %s is outside the scope of this repository (%s): rename it, or widen the scope", j.done.Path, j.entry.Subject, scope)
	}
	declared := p.app.declared()
	s := declared.of(path.Join(declared.from(j.side.root), j.entry.Path), j.entry.Subject.String())
	j.metadata = s.Metadata
	switch {
	case p.g.normalizeSaid:
		j.normalize = p.g.normalize
	case s.Choices.Normalize != nil:
		j.normalize = *s.Choices.Normalize
	case cfg.Defaults.Normalize != nil:
		j.normalize = *cfg.Defaults.Normalize
	}
	if s.References == nil {
		return wrong
	}
	known := *j.entry
	known.Missing = nil
	known.Source.References = slices.Clone(s.References)
	for i := range known.Source.References {
		if ref := &known.Source.References[i]; ref.Version == 0 {
			ref.Version = schemas.Latest
		}
	}
	j.entry, j.source, j.listed = &known, known.Source, true
	j.source.References = slices.Clone(known.Source.References)
	return wrong
}

// link connects the jobs whose references are listed with those that they refer
// to, and puts what is referred to first.
//
// Errors: a circle; the registry could not be asked, or lacks what is listed.
func (p *plan) link(ctx context.Context) error {
	at := map[schemas.Subject]*job{}
	for _, j := range p.jobs {
		at[j.entry.Subject] = j
	}
	for _, j := range p.jobs {
		if !j.listed {
			continue
		}
		j.uses = map[string]*job{}
		for i := range j.source.References {
			ref := &j.source.References[i]
			target := ref.Target(j.entry.Subject.Context)
			if ref.Version != schemas.Latest {
				continue
			}
			if other := at[target]; other != nil {
				j.uses[ref.Name] = other
				continue
			}
			found, err := p.client.Version(ctx, target, schemas.Latest, sr.VersionOptions{})
			if err != nil {
				return failf(codeOf(err), "%s: looking for %s, which its references name: %w", j.done.Path, target, err)
			}
			ref.Version = found.Version
		}
	}
	var ordered []*job
	state := map[*job]int{}
	var walk func(j *job) error
	walk = func(j *job) error {
		switch state[j] {
		case 1:
			return failf(exitNotCompared, "%s: its references lead back to itself, so that none can be registered first", j.done.Path)
		case 2:
			return nil
		}
		state[j] = 1
		for _, ref := range j.source.References {
			if other := j.uses[ref.Name]; other != nil {
				if err := walk(other); err != nil {
					return err
				}
			}
		}
		state[j] = 2
		ordered = append(ordered, j)
		return nil
	}
	for _, j := range p.jobs {
		if err := walk(j); err != nil {
			return err
		}
	}
	p.jobs = ordered
	return nil
}
