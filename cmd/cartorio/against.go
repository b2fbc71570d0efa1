package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// history compares the schemas of a head with what a registry has of their
// subjects, as registering them would.
type history struct {
	app    *app
	client *sr.Client // nil for a bundle
	past   versioned
	head   *side
	label  string           // registry:, with what follows it
	only   *schemas.Subject // the subject that was named
	at     schemas.Version  // the version that was named, or 0
	q      compat.Question
	chosen choices
	how    comparing
	// consumers are those that the registry knows to read what was compared; deaf
	// tells that it keeps none.
	consumers []compat.Impact
	deaf      bool
	// allowEmpty takes a named subject that is not there as one without versions.
	allowEmpty bool
	gate       *gate // of the command that judges; nil for the others
	// rest reads a folder that holds more of the repository than the head; nil where
	// what the head lacks says nothing.
	rest func(ctx context.Context, dir string) (*side, error)
}

// choices tells which settings were given; the others are the registry's.
type choices struct{ level, policy, verdictPolicy, category bool }

const registryPrefix = "registry:"

// newHistory reads registry:, registry:SUBJECT and registry:SUBJECT@VERSION.
func (a *app) newHistory(ctx context.Context, base, url string, head *side, q compat.Question, chosen choices, how comparing) (*history, error) {
	h := &history{app: a, head: head, label: base, q: q, chosen: chosen, how: how}
	if name, ok := strings.CutPrefix(base, bundlePrefix); ok {
		b, err := openBundle(ctx, name)
		h.past = b
		return h, err
	}
	if text := strings.TrimPrefix(base, registryPrefix); text != "" {
		name, version := subjectAt(text)
		if name == "" {
			return nil, failf(exitUsage, "%s names no subject: write registry:SUBJECT or registry:SUBJECT@VERSION", base)
		}
		if n := head.folder.Selected(); n > 1 {
			return nil, failf(exitUsage, "%s is one subject, and %s holds %d schemas: name one file, or registry: alone", base, head.label, n)
		}
		s := schemas.ParseSubject(name)
		h.only, h.at = &s, version
	}
	var err error
	if h.client, err = dial(url, a.config.Auth); err != nil {
		return nil, err
	}
	h.past = h.client
	return h, nil
}

// prefix stands before a subject where a version is named.
func (h *history) prefix() string {
	if h.client == nil {
		return h.label + ":"
	}
	return registryPrefix
}

// named is what the versions are taken from, in words.
func (h *history) named() string {
	if h.client == nil {
		return "the bundle"
	}
	return "the registry"
}

// subjectAt cuts a version off the end, when there is one; else it is 0.
func subjectAt(text string) (string, schemas.Version) {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		if v, err := schemas.ParseVersion(text[at+1:]); err == nil {
			return text[:at], v
		}
	}
	return text, 0
}

// compare answers one result for each selected schema, in order of path.
//
// Errors: the registry could not be asked, with the exit code for it.
func (h *history) compare(ctx context.Context, p *progress) ([]result, error) {
	var entries []*folder.Entry
	for i := range h.head.folder.Entries {
		if e := &h.head.folder.Entries[i]; e.Selected && (h.how.leftOut == nil || !h.how.leftOut(e)) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b *folder.Entry) int { return strings.Compare(a.Path, b.Path) })
	p.total(len(entries))
	out := make([]result, 0, len(entries))
	for _, e := range entries {
		r, err := h.one(ctx, e)
		if err != nil {
			var known *failure
			if errors.As(err, &known) {
				return nil, err
			}
			return nil, fail(codeOf(err), fmt.Errorf("%s: %w", h.head.show(e.Path), err))
		}
		out = append(out, r)
		p.add()
	}
	gone, err := h.gone(ctx, out)
	return append(out, gone...), err
}

func (h *history) one(ctx context.Context, e *folder.Entry) (result, error) {
	r := result{pair: folder.Pairing{New: e}}
	q := h.q
	subject := e.Subject
	if h.only != nil {
		subject = *h.only
	}
	took := h.how.settle(e, &q)
	// A registry's subject is the same for all; the file's own name is what an
	// exception says that was found between files.
	q.Subject, q.Label = subject.String(), h.head.show(e.Path)
	q.Also = identityOf(h.head, e)
	r.identity, r.also, r.from = q.Subject, q.Also, h.head.from
	if e.Err != nil {
		_, err := h.head.parse(ctx, e, schemas.New, nil)
		return r.refuse(q, h.head, err, q.Label), nil //nolint:nilerr // what is wrong with the file is the answer
	}
	if err := h.settle(ctx, subject, took, &q); err != nil {
		return r, err
	}
	known := *e
	if err := outside(ctx, h.past, subject, &known, nil); err != nil {
		return r, err
	}
	next, err := h.head.parse(ctx, &known, schemas.New, besideOf(known, h.past))
	if err != nil {
		return h.broken(r, q, err, q.Label)
	}
	versions, err := h.versions(ctx, subject, q.Level)
	if err != nil {
		return r, err
	}
	if len(versions) == 0 {
		if h.only != nil && !h.allowEmpty {
			return r, failf(exitNotCompared, "the registry has no subject %s%s", subject, emptyHint(h.how.gate))
		}
		return r.conclude(q, "", added(h.head, e, ": "+h.named()+" has no subject "+subject.String())), nil
	}
	q.Next = next
	for _, v := range versions {
		label := fmt.Sprintf("%s%s@%s", h.prefix(), subject, v)
		old, err := h.schema(ctx, subject, v)
		if err != nil {
			return h.broken(r, q, fmt.Errorf("reading %s: %w", label, err), label)
		}
		q.History = append(q.History, compat.Old{Label: label, Version: v, Schema: old})
	}
	if h.how.versions > 0 {
		q.Level = q.Level.Transitive()
	}
	r.old = true
	r.ask(q, h.how, func(text string) (schemas.Schema, error) {
		changed := known
		changed.Source.Text = text
		return h.head.parse(ctx, &changed, schemas.New, besideOf(changed, h.past))
	}, func(text string) (schemas.Schema, error) {
		source := q.History[0].Schema.Source()
		source.Text = text
		return h.read(ctx, subject, source, schemas.New)
	})
	for i := range r.report.Compared {
		for n := range r.report.Compared[i].Findings {
			f := &r.report.Compared[i].Findings[n]
			f.Base.Label, f.Base.File = h.label, r.report.Compared[i].Old.Label
			f.Head.Label, f.Head.File = h.head.label, q.Label
		}
	}
	if err := h.impact(ctx, subject, q, r.report); err != nil {
		return r, err
	}
	if r.report.Category != "" {
		return r, nil // a registry knows no rule sets to agree with
	}
	return r, h.agree(ctx, subject, took, e, &known, r.report)
}

// subjectOf is the subject that a file is compared with.
func (h *history) subjectOf(e *folder.Entry) schemas.Subject {
	if h.only != nil {
		return *h.only
	}
	return e.Subject
}

// now reads a schema of the head, with references from the registry.
func (h *history) now(ctx context.Context, e *folder.Entry) (schemas.Schema, error) {
	where := h.head.show(e.Path)
	wrong := func(err error) error {
		return failf(codeOf(err), "%s", strings.Join(describe(where, err), "\n"))
	}
	known := *e
	if e.Err == nil {
		if err := outside(ctx, h.past, h.subjectOf(e), &known, nil); err != nil {
			return nil, wrong(err)
		}
	}
	schema, err := h.head.parse(ctx, &known, schemas.New, besideOf(known, h.past))
	if err != nil {
		return nil, wrong(err)
	}
	return schema, nil
}

// before reads the newest version of a file's subject, nil where there is none.
func (h *history) before(ctx context.Context, e *folder.Entry) (schemas.Schema, error) {
	subject := h.subjectOf(e)
	list, err := h.versions(ctx, subject, compat.Backward)
	if err != nil {
		return nil, failf(codeOf(err), "looking for the versions of %s: %w", subject, err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return h.atVersion(ctx, e, list[0])
}

// atVersion reads a version of a file's subject.
func (h *history) atVersion(ctx context.Context, e *folder.Entry, v schemas.Version) (schemas.Schema, error) {
	subject := h.subjectOf(e)
	schema, err := h.schema(ctx, subject, v)
	if err != nil {
		return nil, failf(codeOf(err), "reading %s%s@%s: %w", h.prefix(), subject, v, err)
	}
	return schema, nil
}

// broken tells what kept a pair from being compared, unless it is the registry
// itself, which ends the run.
func (h *history) broken(r result, q compat.Question, why error, where string) (result, error) {
	if code := codeOf(why); code == exitUnreachable || code == exitRefused {
		return r, why
	}
	return r.refuse(q, h.head, why, where), nil
}

// settle takes from the registry what was not said here.
func (h *history) settle(ctx context.Context, subject schemas.Subject, took choices, q *compat.Question) error {
	took.level, took.policy, took.verdictPolicy = took.level || h.chosen.level, took.policy || h.chosen.policy, took.verdictPolicy || h.chosen.verdictPolicy
	if h.client == nil || took.level && took.policy && took.verdictPolicy {
		return nil
	}
	config, err := h.client.Config(ctx, subject, true)
	if err != nil {
		return err
	}
	if !took.level && config.Level != "" {
		if q.Level, err = compat.ParseLevel(config.Level); err != nil {
			return err
		}
	}
	if !took.policy && config.Policy != "" {
		if q.Policy, err = compat.ParsePolicy(config.Policy); err != nil {
			return err
		}
	}
	if !took.verdictPolicy && config.VerdictPolicy != "" {
		if q.VerdictPolicy, err = compat.ParseVerdictPolicy(config.VerdictPolicy); err != nil {
			return err
		}
	}
	return nil
}

// versions lists those that the level looks at, newest first.
func (h *history) versions(ctx context.Context, subject schemas.Subject, level compat.Level) ([]schemas.Version, error) {
	if h.at > 0 {
		return []schemas.Version{h.at}, nil
	}
	list, err := h.past.Versions(ctx, subject, sr.LiveOnly, sr.Page{})
	if errors.Is(err, schemas.ErrSubjectUnknown) && (h.only == nil || h.at == 0) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	slices.Reverse(list)
	switch {
	case h.at == schemas.Latest:
		list = list[:1]
	case h.how.versions > 0:
		list = list[:min(len(list), h.how.versions)]
	case !level.IsTransitive():
		list = list[:1]
	}
	return list, nil
}

func (h *history) schema(ctx context.Context, subject schemas.Subject, v schemas.Version) (schemas.Schema, error) {
	found, err := h.past.Version(ctx, subject, v, sr.VersionOptions{})
	if err != nil {
		return nil, err
	}
	return h.read(ctx, subject, found.Source, schemas.Stored)
}

func (h *history) read(ctx context.Context, subject schemas.Subject, source schemas.Source, mode schemas.Mode) (schemas.Schema, error) {
	format, ok := formats.Named(source.Type)
	if !ok {
		return nil, fmt.Errorf("type %s is not part of this binary", source.Type)
	}
	return format.Parse(ctx, source, remote{h.past}, schemas.ParseOptions{Mode: mode, From: subject.Context})
}

// agree puts the same question to the registry, where it can be put: a registry
// with another engine or another version may answer otherwise, and a pipeline
// that is green must not be refused at registration.
func (h *history) agree(ctx context.Context, subject schemas.Subject, took choices, e, known *folder.Entry, report compat.Report) error {
	if h.client == nil || h.head.past != nil || took != (choices{}) || len(e.Uses) > 0 || h.at != 0 || h.chosen != (choices{}) || h.how.versions > 0 {
		return nil
	}
	answer, err := h.client.CheckAll(ctx, subject, sr.Registration{Source: known.Source}, false)
	if err != nil {
		return err
	}
	if !answer.Compatible && report.Compatible && accepts(report) {
		h.app.say("%s: the registry does not know what was accepted here and will refuse it: PUT /api/v1/exceptions?subject=%s tells it", h.head.show(e.Path), url.QueryEscape(subject.String()))
		return nil
	}
	if answer.Compatible != report.Compatible {
		word := map[bool]string{true: "compatible", false: "not compatible"}
		h.app.say("%s: the registry answers %s, this cartorio %s: registering will do what the registry says", h.head.show(e.Path), word[answer.Compatible], word[report.Compatible])
	}
	return nil
}

// accepts tells whether an exception made a report what it is.
func accepts(r compat.Report) bool {
	return slices.ContainsFunc(r.Compared, func(c compat.Comparison) bool {
		return slices.ContainsFunc(c.Findings, func(f compat.Finding) bool { return f.Accepted != nil })
	})
}

// outside adds the references that no file answers: as extra says, else as the
// subject's latest version has them, else to the subject that bears the name, at
// its latest version. What nothing answers stays in Missing.
//
// Errors: the registry could not be asked.
func outside(ctx context.Context, client versioned, subject schemas.Subject, e *folder.Entry, extra map[string]schemas.Reference) error {
	if len(e.Missing) == 0 {
		return nil
	}
	ask := func(s schemas.Subject) (schemas.Found, bool, error) {
		found, err := client.Version(ctx, s, schemas.Latest, sr.VersionOptions{})
		if err != nil && !unknown(err) && codeOf(err) != exitNotCompared {
			return found, false, fmt.Errorf("looking for %s, which no file defines: %w", strings.Join(e.Missing, ", "), err)
		}
		return found, err == nil, nil
	}
	before, _, err := ask(subject)
	if err != nil {
		return err
	}
	answers := map[string]schemas.Reference{}
	for _, ref := range before.Source.References {
		answers[ref.Name] = ref
	}
	maps.Copy(answers, extra)
	e.Source.References = slices.Clone(e.Source.References)
	var lost []string
	for _, need := range e.Missing {
		ref, ok := answers[need]
		if !ok {
			ref = schemas.Reference{Name: need, Subject: need}
			found, there, err := ask(ref.Target(e.Subject.Context))
			if err != nil {
				return err
			}
			if !there {
				lost = append(lost, need)
				continue
			}
			ref.Version = found.Version
		}
		// One text defines its names once, however many of them are needed.
		if e.Source.Type == schemas.Avro && slices.ContainsFunc(e.Source.References, func(r schemas.Reference) bool {
			return r.Subject == ref.Subject && r.Version == ref.Version
		}) {
			continue
		}
		e.Source.References = append(e.Source.References, ref)
	}
	e.Missing = lost
	return nil
}

// besideOf answers references from the registry once every name has an answer.
func besideOf(e folder.Entry, client versioned) schemas.Resolver {
	if len(e.Missing) > 0 {
		return nil
	}
	return remote{client}
}
