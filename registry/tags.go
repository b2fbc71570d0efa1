package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// retags tells whether q changes the inline tags of its text.
func (q Registration) retags() bool {
	return len(q.AddTags) > 0 || len(q.RemoveTags) > 0 || q.PropagateTags
}

// parts are those of a form that can carry inline tags.
func (r *Registry) parts(f *form) []schemas.Tagged {
	format, ok := r.format(f.source.Type)
	if !ok || format.Tags == nil {
		return nil
	}
	return format.Tags(f.schema)
}

// retagged is f with the inline tags that q asks for: those of the latest
// version, where f has the same parts, then those to add, without those to
// remove.
//
// Errors: CodeSchemaInvalid for a part that the text does not have.
// Source: REST contract 3.6, 5.4 (step 5).
func (r *Registry) retagged(ctx context.Context, q Registration, latest *Stored, f *form, how reading) (*form, error) {
	if !q.retags() {
		return f, nil
	}
	format, ok := r.format(f.source.Type)
	if !ok || format.Retag == nil {
		return nil, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: fmt.Sprintf("schemas of type %s have no inline tags", f.source.Type)}
	}
	parts := format.Tags(f.schema)
	at := make(map[schemas.Part]int, 2*len(parts))
	for i := len(parts) - 1; i >= 0; i-- { // of two with one short name, the first
		if p := parts[i]; p.Short != "" {
			at[schemas.Part{Path: p.Short, Field: p.Field}] = i
		}
	}
	for i, p := range parts {
		at[p.Part()] = i
	}
	changed := map[int]bool{}
	if q.PropagateTags && latest != nil && latest.Source.Type == f.source.Type {
		old, err := r.form(ctx, latest.Source, reading{mode: schemas.Stored, in: latest.Subject.Context})
		if err != nil {
			return nil, err
		}
		for _, p := range r.parts(old) {
			if i, ok := at[p.Part()]; ok && len(p.Tags) > 0 {
				parts[i].Tags, changed[i] = schemas.TagSet(slices.Concat(parts[i].Tags, p.Tags)), true
			}
		}
	}
	edit := func(list []schemas.Tagged, change func(have, tags []string) []string) error {
		for _, p := range list {
			i, ok := at[p.Part()]
			if !ok {
				kind := "record"
				if p.Field {
					kind = "field"
				}
				return &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: fmt.Sprintf("tag path %q names no %s of the schema: paths are written as findTags=* answers them, such as %q", p.Path, kind, example(parts))}
			}
			parts[i].Tags, changed[i] = schemas.TagSet(change(parts[i].Tags, p.Tags)), true
		}
		return nil
	}
	if err := edit(q.AddTags, func(have, tags []string) []string { return slices.Concat(have, tags) }); err != nil {
		return nil, err
	}
	if err := edit(q.RemoveTags, func(have, tags []string) []string {
		return slices.DeleteFunc(slices.Clone(have), func(t string) bool { return slices.Contains(tags, t) })
	}); err != nil {
		return nil, err
	}
	var wanted []schemas.Tagged
	for i, p := range parts {
		if changed[i] {
			wanted = append(wanted, p)
		}
	}
	if len(wanted) == 0 {
		return f, nil
	}
	text, err := format.Retag(f.schema, wanted)
	if err != nil {
		return nil, &Error{Code: CodeSchemaInvalid, Subject: q.Subject, Text: "tag the schema", Err: err}
	}
	return r.form(ctx, schemas.Source{Type: f.source.Type, Text: text, References: f.source.References}, how)
}

// example is the path of a part, for a message.
func example(parts []schemas.Tagged) string {
	for _, p := range parts {
		if p.Field {
			return p.Path
		}
	}
	return "Record.field"
}

// Tags lists the parts of a version that carry one of the inline tags wanted
// ("*" is any), in reading order, with all the tags each has.
//
// Errors: those of reading a stored text.
// Source: REST contract 3.4, findTags.
func (r *Registry) Tags(ctx context.Context, v Stored, wanted []string) ([]schemas.Tagged, error) {
	f, err := r.form(ctx, v.Source, reading{mode: schemas.Stored, in: v.Subject.Context})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.parts(f), func(p schemas.Tagged) bool {
		return len(p.Tags) == 0 || !slices.Contains(wanted, "*") && !slices.ContainsFunc(p.Tags, func(t string) bool { return slices.Contains(wanted, t) })
	}), nil
}

// TagChange asks for a version that is derived from another.
type TagChange struct {
	Subject     schemas.Subject
	Version     schemas.Version // the one it is derived from
	NewVersion  schemas.Version // must be the next number; 0 for whichever it is
	Add, Remove []schemas.Tagged
	Metadata    *schemas.Metadata // nil: that of Version
	RuleSet     *schemas.RuleSet  // nil: that of Version
	MergeRules  *schemas.RuleSet  // over those of the version before the new one, in the place of RuleSet
	RemoveRules []string          // names
}

// Tag registers the version that is derived from another by changing inline
// tags, metadata or rules.
//
// Errors: those of Version and Register.
// Source: REST contract 4.2, POST …/tags.
func (r *Registry) Tag(ctx context.Context, c TagChange) (Stored, error) {
	c.Subject = filled(c.Subject)
	if err := writable(c.Subject); err != nil {
		return Stored{}, err
	}
	if err := r.catchUp(ctx); err != nil {
		return Stored{}, err
	}
	done, err := r.turns.take(ctx, c.Subject)
	if err != nil {
		return Stored{}, err
	}
	defer done()
	from, before, err := r.derived(c)
	if err != nil {
		return Stored{}, err
	}
	q := Registration{
		Subject: c.Subject, Source: from.Source, Version: c.NewVersion, AddTags: c.Add, RemoveTags: c.Remove,
		Metadata: orElse(c.Metadata, from.Metadata), RuleSet: orElse(c.RuleSet, from.RuleSet),
	}
	if c.MergeRules != nil || len(c.RemoveRules) > 0 {
		merge, err := tidyRules(c.Subject, c.MergeRules)
		if err != nil {
			return Stored{}, err
		}
		q.RuleSet = withoutRules(mergeRules(before, merge), c.RemoveRules)
	}
	if q.Metadata == nil {
		q.Metadata = &schemas.Metadata{} // what the latest has is not inherited
	}
	if q.RuleSet == nil {
		q.RuleSet = &schemas.RuleSet{}
	}
	if q, err = q.tidy(); err != nil {
		return Stored{}, err
	}
	return r.registerNow(ctx, q)
}

// derived finds the version that a change begins with, and the rules of the one
// before the new one.
func (r *Registry) derived(c TagChange) (from Stored, before *schemas.RuleSet, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if c.Version == 0 || c.Version < schemas.Latest {
		return Stored{}, nil, badVersion(c.Subject, c.Version)
	}
	u := r.state.subject(c.Subject)
	if !u.has(LiveOnly) {
		return Stored{}, nil, subjectUnknown(c.Subject)
	}
	v, last := u.find(c.Version), u.latest()
	if c.Version == schemas.Latest {
		v = last
	}
	if v == nil || !v.live() {
		return Stored{}, nil, versionUnknown(c.Subject, c.Version)
	}
	if p := u.find(c.NewVersion - 1); c.NewVersion > 0 && p != nil {
		last = p
	}
	return r.state.stored(u, v), last.entry.rules(), nil
}

// withoutRules is s without the rules that are called so.
func withoutRules(s *schemas.RuleSet, names []string) *schemas.RuleSet {
	if s == nil || len(names) == 0 {
		return s
	}
	rest := func(list []schemas.ContractRule) []schemas.ContractRule {
		return slices.DeleteFunc(slices.Clone(list), func(rule schemas.ContractRule) bool { return slices.Contains(names, rule.Name) })
	}
	return &schemas.RuleSet{Migration: rest(s.Migration), Domain: rest(s.Domain), Encoding: rest(s.Encoding), EnableAt: s.EnableAt}
}
