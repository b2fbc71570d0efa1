package registry

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Audited is an event of the journal as people and programs are told of it: who
// did what, and what it was before and after. Values of metadata that are
// declared sensitive are not in it, nor those of rule parameters that are called
// like secrets, and no texts.
type Audited struct {
	Revision Revision
	Time     time.Time // milliseconds, UTC
	Actor    string
	Request  string
	Kind     string
	Scope    schemas.Subject // subject, or context with an empty name; zero for the registry

	Registered *schemas.Found    // the new version, without its text
	Versions   []schemas.Version // deleted, or hidden by the new version
	Permanent  bool              // the deletion

	ConfigBefore, ConfigAfter *Config
	ModeBefore, ModeAfter     Mode

	Fingerprint, Reason, Owner string    // of an exception
	Until                      time.Time // of an exception; zero is for ever
}

// Bounds of one reading of the audit trail.
const (
	mostAudited  = 1000
	bytesAudited = 1 << 20
)

// Audit lists the events behind a revision, in order: at most limit and 1,000,
// and fewer when they are long. end is the newest revision there is.
//
// Errors: CodeRevisionUnknown when after is not there; CodeStore; that of ctx.
func (r *Registry) Audit(ctx context.Context, after Revision, limit int) (list []Audited, end Revision, err error) {
	if err := r.catchUp(ctx); err != nil {
		return nil, 0, err
	}
	if end = r.Revision(); after > end {
		return nil, end, revisionUnknown(after, end)
	}
	if after == end {
		return nil, end, nil
	}
	if limit <= 0 || limit > mostAudited {
		limit = mostAudited
	}
	size := 0
	err = readEvents(ctx, r.journal, after, func(record Record) error {
		if record.Revision > end { // not applied yet: whoever asks again must find it in all answers
			return errEnough
		}
		one, err := audited(record)
		if err != nil {
			return err
		}
		list = append(list, one)
		if size += len(record.Body); len(list) == limit || size > bytesAudited {
			return errEnough
		}
		return ctx.Err()
	})
	switch {
	case ctx.Err() != nil:
		return nil, end, ctx.Err()
	case err != nil && !errors.Is(err, errEnough):
		return nil, end, storeError("read the journal", err)
	}
	return list, end, nil
}

// Grown is closed when the registry has changed after the call.
func (r *Registry) Grown() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.grown == nil {
		r.grown = make(chan struct{})
	}
	return r.grown
}

// audited reads an event.
func audited(r Record) (Audited, error) {
	a := Audited{Revision: r.Revision, Time: r.Time, Actor: r.Actor, Request: r.Request, Kind: r.Kind}
	scope := func(c schemas.Context, name string) { a.Scope = schemas.Subject{Context: c, Name: name} }
	switch r.Kind {
	case KindVersionRegistered:
		var b registeredBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		guid, err := schemas.ParseGUID(b.GUID)
		if err != nil {
			return a, err
		}
		scope(b.Context, b.Subject)
		a.Versions = b.Hides
		a.Registered = &schemas.Found{
			Subject: a.Scope, Version: b.Version, ID: schemas.ID{Context: b.Context, Number: b.ID}, GUID: guid,
			Source:   schemas.Source{Type: b.Type, References: referencesFromBody(b.References)},
			Metadata: discreet(metadataFromBody(b.Metadata)), RuleSet: discreetRules(ruleSetFromBody(b.RuleSet)), Time: time.UnixMilli(b.time(r)).UTC(),
		}
	case KindVersionDeleted, KindSubjectDeleted:
		var b deletedBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		scope(b.Context, b.Subject)
		a.Versions, a.Permanent = b.Versions, b.Permanent
	case KindConfigSet, KindConfigCleared:
		var b configBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		scope(b.Context, b.Subject)
		for _, side := range []struct {
			from *configMembers
			to   **Config
		}{{b.Before, &a.ConfigBefore}, {b.After, &a.ConfigAfter}} {
			if side.from == nil {
				continue
			}
			c, err := configFromBody(side.from)
			if err != nil {
				return a, err
			}
			c.DefaultMetadata, c.OverrideMetadata = discreet(c.DefaultMetadata), discreet(c.OverrideMetadata)
			c.DefaultRuleSet, c.OverrideRuleSet = discreetRules(c.DefaultRuleSet), discreetRules(c.OverrideRuleSet)
			*side.to = &c
		}
	case KindModeSet, KindModeCleared:
		var b modeBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		scope(b.Context, b.Subject)
		a.ModeBefore, a.ModeAfter = b.Before, b.After
	case KindContextDeleted, KindMarksSet:
		var b contextBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		scope(b.Context, "")
	case KindExceptionSet, KindExceptionCleared:
		var b exceptionBody
		if err := decodeBody(r, &b); err != nil {
			return a, err
		}
		scope(b.Context, b.Subject)
		a.Fingerprint, a.Reason, a.Owner = b.Fingerprint, b.Reason, b.Owner
		if b.Until != 0 {
			a.Until = time.UnixMilli(b.Until).UTC()
		}
	}
	return a, nil
}

// discreet is m without the values that it declares sensitive.
func discreet(m *schemas.Metadata) *schemas.Metadata {
	if m == nil || len(m.Sensitive) == 0 {
		return m
	}
	out := *m
	out.Properties = maps.Clone(m.Properties)
	for _, name := range m.Sensitive {
		if _, ok := out.Properties[name]; ok {
			out.Properties[name] = hidden
		}
	}
	return &out
}

// secretive is what parameters of rules that hold secrets are called.
var secretive = regexp.MustCompile(`(?i)secret|password|passwd|token|credential|private.?key|access.?key`)

// discreetRules is s without the values of parameters that are called like
// secrets.
func discreetRules(s *schemas.RuleSet) *schemas.RuleSet {
	if s == nil {
		return nil
	}
	list := func(rules []schemas.ContractRule) []schemas.ContractRule {
		rules = slices.Clone(rules)
		for i := range rules {
			rules[i].Params = maps.Clone(rules[i].Params)
			for name := range rules[i].Params {
				if secretive.MatchString(name) {
					rules[i].Params[name] = hidden
				}
			}
		}
		return rules
	}
	return &schemas.RuleSet{Migration: list(s.Migration), Domain: list(s.Domain), Encoding: list(s.Encoding), EnableAt: s.EnableAt}
}

// hidden stands for a sensitive value.
const hidden = "(sensitive)"
