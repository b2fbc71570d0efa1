package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// DeleteVersion deletes one version and answers its number. A soft delete hides
// it; a permanent one, only after a soft one, takes it away and never gives its
// number again.
//
// Errors, in the order they are looked for: CodeVersionInvalid,
// CodeVersionSoftDeleted, CodeSubjectUnknown or CodeVersionUnknown,
// CodeNotPermitted, CodeReferenced, CodeVersionNotSoftDeleted.
// Source: REST contract 4.2 and 5.11.
func (r *Registry) DeleteVersion(ctx context.Context, s schemas.Subject, v schemas.Version, permanent bool) (schemas.Version, error) {
	s = filled(s)
	if v == 0 || v < schemas.Latest {
		return 0, badVersion(s, v)
	}
	done, err := r.turns.take(ctx, s)
	if err != nil {
		return 0, err
	}
	defer done()
	var number schemas.Version
	err = r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		u := r.state.subject(s)
		found := u.find(v)
		if v == schemas.Latest {
			found = u.latest()
		}
		switch {
		case !u.has(WithDeleted):
			return nil, subjectUnknown(s)
		case found == nil || found.hidden():
			return nil, versionUnknown(s, v)
		case !permanent && !found.live():
			return nil, &Error{Code: CodeVersionSoftDeleted, Subject: s, Version: v, Text: fmt.Sprintf("Subject '%s' Version %s was soft deleted. Set permanent=true to delete permanently", s, v)}
		}
		if err := r.state.changeable(s, "delete a version of"); err != nil {
			return nil, err
		}
		if err := r.state.unreferenced(u, found.number, permanent, nil); err != nil {
			return nil, err
		}
		if permanent && found.live() {
			return nil, &Error{Code: CodeVersionNotSoftDeleted, Subject: s, Version: v, Text: fmt.Sprintf("Subject '%s' Version %s was not deleted first before being permanently deleted", s, v)}
		}
		number = found.number
		return r.state.retire(u, KindVersionDeleted, []schemas.Version{number}, permanent), nil
	})
	if err != nil {
		return 0, err
	}
	return number, nil
}

// DeleteSubject deletes a subject and answers the versions that went, ascending:
// softly the live ones, permanently all that are left, with the subject's
// config and mode. References among its own versions do not hold it.
//
// Errors: CodeSubjectUnknown, CodeSubjectSoftDeleted, CodeNotPermitted,
// CodeReferenced, CodeSubjectNotSoftDeleted.
// Source: REST contract 4.2 and 5.11.
func (r *Registry) DeleteSubject(ctx context.Context, s schemas.Subject, permanent bool) ([]schemas.Version, error) {
	s = filled(s)
	done, err := r.turns.take(ctx, s)
	if err != nil {
		return nil, err
	}
	defer done()
	var numbers []schemas.Version
	err = r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		numbers = nil
		u := r.state.subject(s)
		switch {
		case !u.has(WithDeleted):
			return nil, subjectUnknown(s)
		case !permanent && !u.has(LiveOnly):
			return nil, &Error{Code: CodeSubjectSoftDeleted, Subject: s, Text: fmt.Sprintf("Subject '%s' was soft deleted. Set permanent=true to delete permanently", s)}
		}
		if err := r.state.changeable(s, "delete"); err != nil {
			return nil, err
		}
		for i := len(u.versions) - 1; i >= 0; i-- {
			v := &u.versions[i]
			if v.hidden() || !permanent && !v.live() {
				continue
			}
			if err := r.state.unreferenced(u, v.number, permanent, u); err != nil {
				return nil, err
			}
			if permanent && v.live() {
				return nil, &Error{Code: CodeSubjectNotSoftDeleted, Subject: s, Text: fmt.Sprintf("Subject '%s' was not deleted first before being permanently deleted", s)}
			}
			numbers = append(numbers, v.number)
		}
		slices.Reverse(numbers)
		return r.state.retire(u, KindSubjectDeleted, numbers, permanent), nil
	})
	if err != nil {
		return nil, err
	}
	return numbers, nil
}

// unreferenced refuses while a version is referenced: a soft delete by live
// referrers, a permanent one by any. Those of the subject except do not count.
func (s *State) unreferenced(u *subject, number schemas.Version, permanent bool, except *subject) error {
	shows := LiveOnly
	if permanent {
		shows = WithDeleted
	}
	by := s.referrers(u, number, shows, except)
	if len(by) == 0 {
		return nil
	}
	return &Error{
		Code: CodeReferenced, Subject: u.subject(), Version: number,
		Text: fmt.Sprintf("One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=%s,version=%d}: id %s references it", u.text, number, schemas.ID{Context: by[0].space.name, Number: by[0].id}),
	}
}

// retire decides the events of a deletion, and which texts die with it.
func (s *State) retire(u *subject, kind string, numbers []schemas.Version, permanent bool) *decision {
	name := u.subject()
	d := s.decide(key{versions, name}, key{referrers, name}, key{about: settings})
	d.alone = permanent // what dies must not be in use by another of the batch
	d.build = func(b *batch) error {
		b.retire(d, kind, []going{{b.state.subject(name), numbers}}, permanent)
		return nil
	}
	return d
}

// going are versions of a subject that are about to go.
type going struct {
	subject *subject
	numbers []schemas.Version
}

// retire adds the events of deletions, all of one kind, and the texts that die
// with them.
func (b *batch) retire(d *decision, kind string, list []going, permanent bool) {
	for _, g := range list {
		u, name := g.subject, g.subject.subject()
		b.add(d.by(kind, deletedBody{V: bodyVersion, Context: name.Context, Subject: name.Name, Versions: g.numbers, Permanent: permanent}))
		b.touch(key{versions, name})
		for _, n := range g.numbers {
			for _, ref := range u.find(n).entry.references() {
				b.touch(key{referrers, ref.Target(name.Context)})
			}
		}
		left := len(u.versions)
		for i := range u.versions {
			if v := &u.versions[i]; v.hidden() || slices.Contains(g.numbers, v.number) {
				left--
			}
		}
		if !permanent || left > 0 {
			continue
		}
		// With its last version a subject loses its config and mode.
		if c, ok := b.state.configs[name]; ok && name.Name != "" {
			b.add(d.by(KindConfigCleared, configBody{V: bodyVersion, Context: name.Context, Subject: name.Name, Before: configToBody(c)}))
			b.touch(key{about: settings})
		}
		if m, ok := b.state.modes[name]; ok && name.Name != "" {
			b.add(d.by(KindModeCleared, modeBody{V: bodyVersion, Context: name.Context, Subject: name.Name, Before: m}))
			b.touch(key{about: settings})
		}
	}
	if permanent {
		b.erase = append(b.erase, b.state.dying(list)...)
	}
}

// dying lists the texts that nothing has any more once versions are gone.
func (s *State) dying(list []going) []Hash {
	uses := map[*entry]int{}
	for _, g := range list {
		for _, n := range g.numbers {
			uses[g.subject.find(n).entry]++
		}
	}
	entries := map[*text]int32{}
	for e, n := range uses {
		if n == len(e.uses.list()) {
			entries[e.text]++
		}
	}
	var hashes []Hash
	for t, n := range entries {
		if n == t.uses && !t.erased {
			hashes = append(hashes, HashOf(t.text))
		}
	}
	slices.SortFunc(hashes, func(a, b Hash) int { return slices.Compare(a[:], b[:]) })
	return hashes
}

// DeleteContext removes an empty context; an unknown one is no error, and the
// default one stays.
//
// Errors: CodeContextNotEmpty while it has a subject, soft-deleted or not.
// Source: REST contract 4.6.
func (r *Registry) DeleteContext(ctx context.Context, c schemas.Context) error {
	c = filled(schemas.Subject{Context: c}).Context
	return r.write(ctx, func() (*decision, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		n := r.state.contexts[c]
		if n == nil {
			return nil, nil
		}
		if u := r.state.first(n); u != nil {
			return nil, &Error{Code: CodeContextNotEmpty, Text: fmt.Sprintf("context '%s' is not empty: it has subject '%s'", c, u.name), Subject: u.subject()}
		}
		if !n.listed || c == schemas.DefaultContext {
			return nil, nil
		}
		d := r.state.decide()
		d.alone = true
		d.build = func(b *batch) error {
			if b.state.first(n) != nil {
				return errMoved
			}
			b.add(d.by(KindContextDeleted, contextBody{V: bodyVersion, Context: c}))
			return nil
		}
		return d, nil
	})
}

// first is the first subject of a context that has versions, or nil.
func (s *State) first(n *namespace) *subject {
	for _, u := range s.subjects() {
		if u.space == n {
			return u
		}
	}
	return nil
}
