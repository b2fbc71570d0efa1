package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/clients/sr"
	"github.com/cartorio-registry/cartorio/cmd/cartorio/internal/gitops"
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// mostNamed is how many consumers, or runs of versions, one message names.
const mostNamed = 5

// loss is what a registry has of a subject whose schema a change removes.
type loss struct {
	subject  schemas.Subject
	versions []schemas.Version // not deleted, ascending
	readers  []compat.Impact
	deaf     bool // it keeps no readers
}

// lost asks what a deletion takes away.
//
// Errors: the registry could not be asked.
func (h *history) lost(ctx context.Context, subject schemas.Subject) (loss, error) {
	l := loss{subject: subject}
	list, err := h.client.Versions(ctx, subject, sr.LiveOnly, sr.Page{})
	if err != nil && !unknown(err) {
		return l, err
	}
	l.versions = slices.Sorted(slices.Values(list))
	told, err := h.readers(ctx, subject)
	if err != nil {
		return l, err
	}
	l.readers, l.deaf = impactsOf(told), h.deaf
	for i := range l.readers {
		l.readers[i].Answer, l.readers[i].Reason = compat.ImpactMayBreak, "the schema that it reads is removed"
	}
	return l, nil
}

// onto makes a deletion a break where the registry has something to lose, and says
// what that is.
func (l loss) onto(r *result, g *gate) {
	c := &r.report.Compared[0]
	f := &c.Findings[0]
	f.Message += l.words()
	if len(l.versions)+len(l.readers) == 0 {
		return
	}
	r.report.Subject, f.Subject = l.subject.String(), l.subject.String()
	f.Severity = compat.SeverityBreaking
	f.Fix = "keep the file until nobody reads it and its versions are deleted from the registry, or accept the deletion with cartorio except."
	compat.Accept(c.Findings, g.inForce, g.app.now())
	if f.Accepted == nil {
		c.Verdict, r.report.Compatible = compat.Breaking, false
	}
}

// words go on after what the rule says.
func (l loss) words() string {
	who := l.who()
	switch {
	case len(l.versions) > 0 && who != "":
		return fmt.Sprintf(", and the registry has %s of %s, read by %s", versionsWord(l.versions), l.subject, who)
	case len(l.versions) > 0:
		return fmt.Sprintf(", and the registry has %s of %s", versionsWord(l.versions), l.subject)
	case who != "":
		return fmt.Sprintf(", and %s is still read by %s, though the registry has no version of it any more", l.subject, who)
	case l.deaf:
		return fmt.Sprintf("; the registry has no version of %s", l.subject)
	}
	return fmt.Sprintf("; the registry has no version of %s, and knows nobody who reads it", l.subject)
}

func (l loss) who() string {
	names := make([]string, 0, len(l.readers))
	for _, i := range l.readers {
		name := i.Consumer
		if i.Environment != "" {
			name += " in " + i.Environment
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", more))
	}
	return inWords(names)
}

// versionsWord names ascending versions, those that follow one another as a run.
func versionsWord(list []schemas.Version) string {
	if len(list) == 1 {
		return "version " + list[0].String()
	}
	var runs []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		switch end - i {
		case 0:
			runs = append(runs, list[i].String())
		case 1:
			runs = append(runs, list[i].String(), list[end].String())
		default:
			runs = append(runs, list[i].String()+" to "+list[end].String())
		}
		i = end + 1
	}
	if len(runs) > mostNamed {
		return fmt.Sprintf("%d versions between %s and %s", len(list), list[0], list[len(list)-1])
	}
	return "versions " + inWords(runs)
}

func inWords(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func (a *app) scope() gitops.Scope {
	return gitops.Scope{Context: schemas.Context(a.config.Context), Prefix: a.config.Scope.Prefix, Pattern: a.config.Scope.Pattern}
}

// keeps says why a subject is not removed although no schema of the head is it;
// empty where it is.
func (a *app) keeps(s schemas.Subject) string {
	if scope := a.scope(); scope.IsSet() && !scope.Owns(s) {
		return fmt.Sprintf("%s is outside the scope of this repository (%s)", s, scope)
	}
	for _, d := range a.config.Subjects {
		if d.Files == "" && inContextOf(d.Name, a.config.Context) == s {
			return s.String() + " is still declared"
		}
	}
	return ""
}

// removed asks the registry about the schemas that are gone between two trees. The
// verdict depends on it, so a registry that cannot be asked ends the run.
func (h *history) removed(ctx context.Context, g *gate, results []result) error {
	there := subjectsOf(h.head.folder)
	for i := range results {
		r := &results[i]
		if r.pair.New != nil || r.pair.Err != nil || r.broken != nil {
			continue
		}
		f := &r.report.Compared[0].Findings[0]
		subject := g.subjectBefore(r.pair.Old)
		switch why := h.app.keeps(subject); {
		case subject == schemas.Subject{}:
			f.Message += "; nothing tells its subject, so the registry was not asked"
			continue
		case there[subject]:
			f.Message += "; another file is " + subject.String()
			continue
		case why != "":
			f.Message += "; " + why
			continue
		}
		l, err := h.lost(ctx, subject)
		if err != nil {
			return fail(codeOf(err), fmt.Errorf("%s was removed: asking the registry what it has of %s: %w", r.report.Compared[0].Old.Label, subject, err))
		}
		l.onto(r, g)
		h.consumers = append(h.consumers, l.readers...)
	}
	return nil
}

// subjectBefore is the subject that a file of the base had: as the configuration
// declared it there, since a deletion takes the declaration with it.
func (g *gate) subjectBefore(e *folder.Entry) schemas.Subject {
	if g.before == nil {
		return e.Subject
	}
	own := declarations{filepath.Dir(g.app.config.Name), g.before.Subjects, true, ""}.of(g.pathOf(e), "")
	switch {
	case own.Name == "":
		return e.Subject
	case own.Files == "":
		return inContextOf(own.Name, g.app.config.Context)
	}
	s, err := folder.Naming(own.Name).Subject(e, formats.All)
	if err != nil {
		return schemas.Subject{}
	}
	return inContextOf(s.String(), g.app.config.Context)
}

func subjectsOf(f *folder.Folder) map[schemas.Subject]bool {
	there := make(map[schemas.Subject]bool, len(f.Entries))
	for i := range f.Entries {
		there[f.Entries[i].Subject] = true
	}
	return there
}

// gone answers a result for each subject of the scope that the registry has and
// the repository no longer. What it once was in the repository is not known, so
// that without a scope nothing is missed. now are the results of the head: one that
// is new to the registry may be what is gone, under another subject.
//
// Errors: the registry could not be asked, the repository not be read.
func (h *history) gone(ctx context.Context, now []result) ([]result, error) {
	scope := h.app.scope()
	if h.rest == nil || h.client == nil || h.only != nil || h.head.file != "" || h.head.past != nil || !scope.IsSet() {
		return nil, nil
	}
	list, err := h.client.Subjects(ctx, scope.Search(), sr.LiveOnly, sr.Page{})
	if err != nil {
		return nil, fail(codeOf(err), fmt.Errorf("looking for the subjects of the scope: %w", err))
	}
	there := subjectsOf(h.head.folder)
	list = slices.DeleteFunc(list, func(s schemas.Subject) bool { return there[s] || h.app.keeps(s) != "" })
	if len(list) == 0 {
		return nil, nil
	}
	if list, err = h.nowhere(ctx, list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b schemas.Subject) int { return strings.Compare(a.String(), b.String()) })
	fresh := map[string]*folder.Entry{}
	for _, r := range now {
		if name := plainNameOf(r.pair.New); name != "" && !r.old && r.broken == nil {
			fresh[name] = r.pair.New
		}
	}
	var out []result
	for _, s := range list {
		r, err := h.missed(ctx, s, fresh)
		if unknown(err) {
			continue // it was deleted in the meantime
		}
		if err != nil {
			return nil, fail(codeOf(err), fmt.Errorf("asking the registry what it has of %s: %w", s, err))
		}
		out = append(out, r)
	}
	return out, nil
}

// nowhere drops the subjects that files beside the head may be: a folder of many
// was named, or the template names them as seen from another one. A head that is
// not on the disk is taken for all there is, since what the disk has may be newer.
func (h *history) nowhere(ctx context.Context, list []schemas.Subject) ([]schemas.Subject, error) {
	if h.head.root == "" || h.head.commit != "" {
		return list, nil
	}
	dir := filepath.Dir(h.app.config.Name)
	if way, err := relative(h.head.root, dir); err == nil && filepath.IsLocal(way) {
		return list, nil // the head is all there is
	}
	rest, err := h.rest(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer rest.close()
	under, err := relative(dir, h.head.root)
	inHead := func(p string) bool {
		return err == nil && strings.HasPrefix(p, filepath.ToSlash(under)+"/")
	}
	return slices.DeleteFunc(list, func(s schemas.Subject) bool {
		return slices.ContainsFunc(rest.folder.Entries, func(e folder.Entry) bool {
			return !inHead(e.Path) && e.Subject.Context == s.Context && (e.Subject.Name == s.Name || strings.HasSuffix(e.Subject.Name, "/"+s.Name))
		})
	}), nil
}

// plainNameOf is what a schema is known by under whatever subject, with its format;
// empty where nothing in it tells.
func plainNameOf(e *folder.Entry) string {
	s, err := folder.Naming("{name}").Subject(e, formats.All)
	if err != nil {
		return ""
	}
	return string(e.Source.Type) + " " + s.Name
}

// missed tells of one subject that is gone, by its newest version. Where one of the
// fresh files bears its name, it was moved.
func (h *history) missed(ctx context.Context, s schemas.Subject, fresh map[string]*folder.Entry) (result, error) {
	l, err := h.lost(ctx, s)
	if err != nil {
		return result{}, err
	}
	found, err := h.client.Version(ctx, s, schemas.Latest, sr.VersionOptions{})
	if err != nil {
		return result{}, err
	}
	e := &folder.Entry{Path: s.String(), Subject: s, Identity: s, Declared: true, Source: found.Source}
	if format, ok := formats.Named(found.Source.Type); ok {
		if o, err := format.Outline(s.Name, found.Source.Text, schemas.DefaultLimits()); err == nil {
			e.Names = o.Names
		}
	}
	r := result{pair: folder.Pairing{Old: e}, identity: s.String(), from: h.head.from}
	q := h.q
	h.how.settle(e, &q)
	q.Subject = s.String()
	label := fmt.Sprintf("%s%s@%s", h.prefix(), s, found.Version)
	base := compat.Location{Label: h.label, File: label, Line: 1, Column: 1}
	if to := fresh[plainNameOf(e)]; to != nil {
		f := about(ruleMoved, compat.Risk, to)
		f.Base, f.Head = base, compat.Location{Label: h.head.label, File: h.head.show(to.Path), Line: 1, Column: 1}
		f.Message = "its subject was " + s.String()
		f.Why = "Its subject was " + s.String() + " and is now " + to.Subject.String() + ", which starts a history of its own in a registry."
		return r.conclude(q, label, f), nil
	}
	f := about(ruleRemoved, compat.Risk, e)
	f.Base = base
	f.Head = compat.Location{Label: h.head.label}
	r = r.conclude(q, label, f)
	r.report.Compared[0].Old.Version = found.Version
	l.onto(&r, h.gate)
	h.consumers = append(h.consumers, l.readers...)
	return r, nil
}
