package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// elsewhere lists where a subject is looked for: itself, and for one of the
// default context the same name in the others, in their order.
//
// Source: REST contract 2.4.
func (s *State) elsewhere(name schemas.Subject) []schemas.Subject {
	list := []schemas.Subject{name}
	if name.Context != schemas.DefaultContext {
		return list
	}
	if _, ours := s.contexts[schemas.DefaultContext]; len(s.contexts) == 0 || ours && len(s.contexts) == 1 {
		return list
	}
	for _, n := range s.spaces() {
		if n.name != schemas.DefaultContext {
			list = append(list, schemas.Subject{Context: n.name, Name: name.Name})
		}
	}
	return list
}

func badVersion(s schemas.Subject, v schemas.Version) error {
	return &Error{Code: CodeVersionInvalid, Subject: s, Version: v, Text: fmt.Sprintf("version %d is not valid: a number from 1 to 2147483647, \"latest\" or -1 is expected", int32(v))}
}

// Version answers one version; schemas.Latest is the highest live one. deleted
// also finds what is soft-deleted, and numbers that a registration replaced.
//
// Errors: CodeVersionInvalid, CodeSubjectUnknown, CodeVersionUnknown.
func (r *Registry) Version(ctx context.Context, s schemas.Subject, v schemas.Version, deleted bool) (Stored, error) {
	s = filled(s)
	if v == 0 || v < schemas.Latest {
		return Stored{}, badVersion(s, v)
	}
	return answer(ctx, r, func(state *State) (Stored, error) { return state.version(s, v, deleted) })
}

func (s *State) version(name schemas.Subject, number schemas.Version, deleted bool) (Stored, error) {
	shows := LiveOnly
	if deleted {
		shows = WithDeleted
	}
	known := false
	for _, at := range s.elsewhere(name) {
		u := s.subject(at)
		if !u.has(shows) {
			continue
		}
		known = true
		v := u.find(number)
		if number == schemas.Latest {
			v = u.latest()
		}
		if v != nil && (v.live() || deleted) {
			return s.stored(u, v), nil
		}
	}
	if !known {
		return Stored{}, subjectUnknown(name)
	}
	return Stored{}, versionUnknown(name, number)
}

// WithMetadata answers the newest version of a subject whose metadata has all
// the given properties; deleted also finds soft-deleted ones.
//
// Errors: CodeSubjectUnknown, CodeSchemaUnknown.
// Source: REST contract 4.2, GET /subjects/{s}/metadata.
func (r *Registry) WithMetadata(ctx context.Context, name schemas.Subject, properties map[string]string, deleted bool) (Stored, error) {
	name = filled(name)
	shows := LiveOnly
	if deleted {
		shows = WithDeleted
	}
	return answer(ctx, r, func(s *State) (Stored, error) {
		u := s.subject(name)
		if !u.has(shows) {
			return Stored{}, subjectUnknown(name)
		}
		for i := len(u.versions) - 1; i >= 0; i-- {
			v := &u.versions[i]
			if v.shows(shows) && hasProperties(v.entry.metadata(), properties) {
				return s.stored(u, v), nil
			}
		}
		return Stored{}, schemaUnknown("with this metadata ")
	})
}

func hasProperties(m *schemas.Metadata, want map[string]string) bool {
	for name, value := range want {
		if m == nil {
			return false
		}
		if got, ok := m.Properties[name]; !ok || got != value {
			return false
		}
	}
	return true
}

// entryOf finds what an id stands for, and the use that is asked about: nil
// when any will do.
//
// Source: REST contract 4.1, GET /schemas/ids/{id}.
func (s *State) entryOf(number int32, name *schemas.Subject) (*entry, *subject) {
	in := schemas.DefaultContext
	if name != nil {
		asked := filled(*name)
		if !asked.IsContext() {
			for _, at := range s.elsewhere(asked) {
				n := s.contexts[at.Context]
				if n == nil {
					continue
				}
				e, u := n.entries[number], n.subjects[at.Name]
				if e != nil && u.carrying(e, WithDeleted) != nil {
					return e, u
				}
			}
			if asked.Context != schemas.DefaultContext {
				return nil, nil
			}
		}
		in = asked.Context
	}
	n := s.contexts[in]
	if n == nil {
		return nil, nil
	}
	return n.entries[number], nil
}

// place chooses where an entry is used, inside u if that is given: live before
// deleted, then the smallest subject, then the smallest version.
func (e *entry) place(u *subject) (*subject, *version) {
	var at *subject
	var found *version
	for _, use := range e.uses.list() {
		if u != nil && use.subject != u {
			continue
		}
		v := use.subject.find(use.number)
		if v.live() {
			return use.subject, v
		}
		if found == nil {
			at, found = use.subject, v
		}
	}
	return at, found
}

// ByID answers a place where an id is used, by the rules of `subject=` (REST
// contract 4.1): nil means none was given. Live places come first, then the
// smallest subject and version.
//
// Errors: CodeSchemaUnknown.
func (r *Registry) ByID(ctx context.Context, number int32, subject *schemas.Subject) (Stored, error) {
	return answer(ctx, r, func(s *State) (Stored, error) { return s.byID(number, subject) })
}

func (s *State) byID(number int32, subject *schemas.Subject) (Stored, error) {
	e, u := s.entryOf(number, subject)
	if e == nil {
		return Stored{}, schemaUnknown(strconv.Itoa(int(number)) + " ")
	}
	at, v := e.place(u)
	return s.stored(at, v), nil
}

// ByGUID answers the schema with a GUID: default context first, then by name,
// then the smallest id.
//
// Errors: CodeSchemaUnknown.
func (r *Registry) ByGUID(ctx context.Context, g schemas.GUID) (Stored, error) {
	return answer(ctx, r, func(s *State) (Stored, error) { return s.byGUID(g) })
}

func (s *State) byGUID(g schemas.GUID) (Stored, error) {
	var best *entry
	for e := s.guids[guidKey(g)]; e != nil; e = e.next {
		if e.guid == g && (best == nil || e.before(best)) {
			best = e
		}
	}
	if best == nil {
		return Stored{}, schemaUnknown(g.String() + " ")
	}
	at, v := best.place(nil)
	return s.stored(at, v), nil
}

// IDsOf lists the ids that have a GUID, by context (the default one first), then
// by id; nobody's GUID has none.
func (r *Registry) IDsOf(ctx context.Context, g schemas.GUID) ([]schemas.ID, error) {
	list, err := answer(ctx, r, func(s *State) ([]schemas.ID, error) {
		var with []*entry
		for e := s.guids[guidKey(g)]; e != nil; e = e.next {
			if e.guid == g {
				with = append(with, e)
			}
		}
		if len(with) == 0 {
			return nil, schemaUnknown(g.String() + " ")
		}
		slices.SortFunc(with, func(a, b *entry) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		list := make([]schemas.ID, len(with))
		for i, e := range with {
			list[i] = schemas.ID{Context: e.space.name, Number: e.id}
		}
		return list, nil
	})
	var told *Error
	if errors.As(err, &told) && told.Code == CodeSchemaUnknown {
		return []schemas.ID{}, nil
	}
	return list, err
}

// before orders entries by context, the default one first, then by id.
func (e *entry) before(o *entry) bool {
	if e.space == o.space {
		return e.id < o.id
	}
	if e.space.name == schemas.DefaultContext || o.space.name == schemas.DefaultContext {
		return e.space.name == schemas.DefaultContext
	}
	return compareText(string(e.space.name), string(o.space.name)) < 0
}

// Lookup answers "is this schema registered here?". It stores nothing and works
// in every mode. q.Version matters only through the managed version property.
//
// Errors: CodeSubjectUnknown (soft-deleted ones count only with deleted),
// CodeSchemaUnknown, CodeSchemaInvalid.
// Source: REST contract 5.5.
func (r *Registry) Lookup(ctx context.Context, q Registration, deleted bool) (Stored, error) {
	q, err := q.tidy()
	if err != nil {
		return Stored{}, err
	}
	shows := LiveOnly
	if deleted {
		shows = WithDeleted
	}
	known := func() (places []schemas.Subject, err error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		for _, at := range r.state.elsewhere(q.Subject) {
			if r.state.subject(at).has(shows) {
				places = append(places, at)
			}
		}
		if len(places) == 0 {
			return nil, subjectUnknown(q.Subject)
		}
		return places, nil
	}
	try := func() (Stored, error) {
		places, err := known()
		if err != nil {
			return Stored{}, err
		}
		for _, at := range places {
			here := q
			here.Subject = at
			if found, err := r.lookup(ctx, here, shows); err != nil || found != nil {
				return orZero(found), err
			}
		}
		return Stored{}, schemaUnknown("")
	}
	found, err := try()
	if err == nil || !r.shared {
		return found, err
	}
	if err := r.catchUp(ctx); err != nil {
		return Stored{}, err
	}
	return try()
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// lookup looks under one subject; nil is "not found".
func (r *Registry) lookup(ctx context.Context, q Registration, shows Deleted) (*Stored, error) {
	if strings.TrimSpace(q.Source.Text) == "" {
		return nil, nil
	}
	r.mu.RLock()
	q.Normalize = q.Normalize || isTrue(r.state.configInForce(q.Subject).Normalize)
	refs, _, err := r.state.pin(q.Subject.Context, q.Source.References, false)
	r.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	q.Source.References = refs
	f, err := r.form(ctx, q.Source, reading{mode: schemas.Stored, in: q.Subject.Context, normalize: q.Normalize})
	if err != nil {
		return nil, err
	}
	if q.retags() {
		r.mu.RLock()
		var latest *Stored
		if v := r.state.subject(q.Subject).latest(); v != nil {
			found := r.state.stored(r.state.subject(q.Subject), v)
			latest = &found
		}
		r.mu.RUnlock()
		if f, err = r.retagged(ctx, q, latest, f, reading{mode: schemas.Stored, in: q.Subject.Context, normalize: q.Normalize}); err != nil {
			return nil, err
		}
	}
	if found, err := r.find(ctx, q.Subject, f, q.Metadata, q.RuleSet, shows, false); found != nil || err != nil {
		return found, err
	}
	// As a registration would, take what the request leaves out from the latest,
	// and merge.
	r.mu.RLock()
	metadata, rules := q.Metadata, q.RuleSet
	c := r.state.configInForce(q.Subject)
	if v := r.state.subject(q.Subject).latest(); v != nil {
		metadata, rules = orElse(metadata, v.entry.metadata()), orElse(rules, v.entry.rules())
		metadata = mergeMetadata(mergeMetadata(c.DefaultMetadata, metadata), c.OverrideMetadata)
		rules = mergeRules(mergeRules(c.DefaultRuleSet, rules), c.OverrideRuleSet)
	}
	r.mu.RUnlock()
	if metadata == q.Metadata && rules == q.RuleSet {
		return nil, nil
	}
	return r.find(ctx, q.Subject, f, metadata, rules, shows, false)
}

// find looks for a form under one subject, by identity and then by equivalence;
// latestOnly looks at the latest version alone.
//
// Source: REST contract 5.5, steps 1 and 2.
func (r *Registry) find(ctx context.Context, name schemas.Subject, f *form, metadata *schemas.Metadata, rules *schemas.RuleSet, shows Deleted, latestOnly bool) (*Stored, error) {
	if found := r.findIdentity(name, f.identity(metadata, rules), shows, latestOnly); found != nil {
		return found, nil
	}
	return r.findEquivalent(ctx, name, f, metadata, rules, shows, latestOnly)
}

// findIdentity answers the newest version of a subject with an identity.
func (r *Registry) findIdentity(name schemas.Subject, want *identity, shows Deleted, latestOnly bool) *Stored {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.state.known(name.Context, want)
	if e == nil {
		return nil
	}
	u := r.state.subject(name)
	v := u.carrying(e, shows)
	if v == nil || latestOnly && v != u.latest() {
		return nil
	}
	found := r.state.stored(u, v)
	found.ByContent = true
	return &found
}

// findEquivalent answers the newest version of a subject that counts as the
// same inside it.
func (r *Registry) findEquivalent(ctx context.Context, name schemas.Subject, f *form, metadata *schemas.Metadata, rules *schemas.RuleSet, shows Deleted, latestOnly bool) (*Stored, error) {
	mine := f.kin()
	type candidate struct {
		Stored
		known bool // its kin is
	}
	r.mu.RLock()
	var candidates []candidate
	if u := r.state.subject(name); u != nil {
		for i := len(u.versions) - 1; i >= 0; i-- {
			v := &u.versions[i]
			if !v.shows(shows) {
				continue
			}
			e := v.entry
			if r.state.types[e.kind] == f.source.Type && equivalentReferences(f.source, e.references()) &&
				equivalentMetadata(metadata, e.metadata(), v.number) && equalRules(rules, e.rules()) {
				maybe, known := r.kinships.mayBe(e, mine)
				// With other references the texts may differ, and kin says nothing. An
				// imported text need not be canonical.
				other := len(f.source.References) != len(e.references())
				if maybe || other {
					known = known || other || e.more != nil && e.more.canonical != (Hash{})
					candidates = append(candidates, candidate{r.state.stored(u, v), known})
				}
			}
			if latestOnly && v.live() {
				break
			}
		}
	}
	r.mu.RUnlock()
	unlike := 0
	for i := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &candidates[i]
		if !c.known {
			if k, ok := r.likely(c.Source); ok && k != mine {
				if unlike++; unlike > mostUnlike {
					continue
				}
			}
		}
		old, err := r.form(ctx, c.Source, reading{mode: schemas.Stored, in: name.Context})
		if err != nil {
			continue // what cannot be read is not the same as anything
		}
		if f.schema.Equivalent(old.schema) {
			return &c.Stored, nil
		}
		r.kinships.keep(c.ID, c.GUID, old.kin())
	}
	return nil, nil
}
