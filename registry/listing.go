package registry

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

// Page cuts a list: Limit ≤ 0, or beyond the most that a list gives, means the
// default of the list. A negative Offset is 0.
type Page struct{ Offset, Limit int }

// mostSchemas is the default and the most of lists of schemas and referrers.
//
// Source: REST contract 4.
const mostSchemas = 1000

// cut gives the part of list that p asks for; most is 0 when there is no bound.
func cut[T any](list []T, p Page, most int) []T {
	from := min(max(p.Offset, 0), len(list))
	limit := p.Limit
	if limit <= 0 || most > 0 && limit > most {
		limit = most
	}
	if limit <= 0 || limit > len(list)-from {
		limit = len(list) - from
	}
	return list[from : from+limit]
}

// Deleted chooses what a list shows of soft-deleted versions.
type Deleted uint8

// The choices.
const (
	LiveOnly Deleted = iota
	WithDeleted
	DeletedOnly
	DeletedAsNegative // versions only
)

// shows tells whether a list of subjects that wants d shows u. A subject is
// deleted when all its versions are.
func (u *subject) shows(d Deleted) bool {
	if d == DeletedOnly {
		return !u.has(LiveOnly) && u.has(WithDeleted)
	}
	return u.has(d)
}

// matches tells whether u is in the context of prefix and its name begins with
// that of prefix.
func (u *subject) matches(prefix schemas.Subject) bool {
	return (prefix.Context == schemas.AnyContext || prefix.Context == u.space.name) && strings.HasPrefix(u.name, prefix.Name)
}

// Subjects lists subjects whose qualified text matches prefix, sorted. A prefix
// of AnyContext searches every context.
func (r *Registry) Subjects(ctx context.Context, prefix schemas.Subject, d Deleted, p Page) ([]schemas.Subject, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.names(filled(prefix), d, p), nil
}

func (s *State) names(prefix schemas.Subject, d Deleted, p Page) []schemas.Subject {
	list := []schemas.Subject{}
	for _, u := range s.subjects() {
		if u.matches(prefix) && u.shows(d) {
			list = append(list, u.subject())
		}
	}
	return cut(list, p, 0)
}

// Versions lists the version numbers of a subject, ascending; for
// DeletedAsNegative those of soft-deleted versions are negative.
//
// Errors: CodeSubjectUnknown when the subject has no version that d may show;
// for d other than LiveOnly live and deleted ones count.
func (r *Registry) Versions(ctx context.Context, s schemas.Subject, d Deleted, p Page) ([]schemas.Version, error) {
	return answer(ctx, r, func(state *State) ([]schemas.Version, error) { return state.numbers(filled(s), d, p) })
}

func (s *State) numbers(name schemas.Subject, d Deleted, p Page) ([]schemas.Version, error) {
	u := s.subject(name)
	if !u.has(LiveOnly) && (d == LiveOnly || !u.has(WithDeleted)) {
		return nil, subjectUnknown(name)
	}
	list := []schemas.Version{}
	for i := range u.versions {
		v := &u.versions[i]
		switch {
		case !v.shows(d):
		case d == DeletedAsNegative && !v.live():
			list = append(list, -v.number)
		default:
			list = append(list, v.number)
		}
	}
	return cut(list, p, 0), nil
}

// usesOf calls each with the newest version per subject, shown by d, that
// carries an id, by subject.
func (r *Registry) usesOf(ctx context.Context, number int32, subject *schemas.Subject, d Deleted, each func(*State, use)) error {
	_, err := answer(ctx, r, func(s *State) (struct{}, error) {
		e, _ := s.entryOf(number, subject)
		if e == nil {
			return struct{}{}, schemaUnknown(strconv.Itoa(int(number)) + " ")
		}
		list := e.uses.list()
		for i := 0; i < len(list); {
			u := list[i].subject
			var newest *version
			for ; i < len(list) && list[i].subject == u; i++ {
				if v := u.find(list[i].number); v.shows(d) {
					newest = v
				}
			}
			if newest != nil {
				each(s, use{u, newest.number})
			}
		}
		return struct{}{}, nil
	})
	return err
}

// SubjectsOf lists the subjects that use an id, sorted; it may be empty.
//
// Errors: CodeSchemaUnknown.
func (r *Registry) SubjectsOf(ctx context.Context, number int32, subject *schemas.Subject, d Deleted, p Page) ([]schemas.Subject, error) {
	list := []schemas.Subject{}
	err := r.usesOf(ctx, number, subject, d, func(_ *State, at use) { list = append(list, at.subject.subject()) })
	if err != nil {
		return nil, err
	}
	return cut(list, p, 0), nil
}

// VersionsOf lists one version per subject that uses an id, the newest that
// carries it, sorted by subject.
//
// Errors: CodeSchemaUnknown.
func (r *Registry) VersionsOf(ctx context.Context, number int32, subject *schemas.Subject, d Deleted, p Page) ([]Stored, error) {
	list := []Stored{}
	err := r.usesOf(ctx, number, subject, d, func(s *State, at use) {
		list = append(list, s.stored(at.subject, at.subject.find(at.number)))
	})
	if err != nil {
		return nil, err
	}
	return cut(list, p, 0), nil
}

// List lists versions of many subjects, by subject then version: at most 1,000
// at a time. latestOnly gives the highest that d shows of each subject. rule,
// unless empty, leaves only those with a rule of that type.
func (r *Registry) List(ctx context.Context, prefix schemas.Subject, d Deleted, latestOnly bool, rule string, p Page) ([]Stored, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state.storedList(filled(prefix), d, latestOnly, rule, p), nil
}

func (s *State) storedList(prefix schemas.Subject, d Deleted, latestOnly bool, rule string, p Page) []Stored {
	limit := p.Limit
	if limit <= 0 || limit > mostSchemas {
		limit = mostSchemas
	}
	skip := max(p.Offset, 0)
	out := []Stored{}
	// What lies before the page is counted, not gathered: a page far behind
	// costs hardly more than the first.
	for _, u := range s.subjects() {
		if !u.matches(prefix) {
			continue
		}
		for i := range u.versions {
			v := &u.versions[i]
			if !v.shows(d) || latestOnly && u.showsAfter(i, d) || rule != "" && !hasRule(v.entry.rules(), rule) {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			if out = append(out, s.stored(u, v)); len(out) == limit {
				return out
			}
		}
	}
	return out
}

// showsAfter tells whether d shows a version behind the i-th.
func (u *subject) showsAfter(i int, d Deleted) bool {
	for i++; i < len(u.versions); i++ {
		if u.versions[i].shows(d) {
			return true
		}
	}
	return false
}

// ReferencedBy lists the ids of schemas that reference a version, ascending: at
// most 1,000 at a time. The version may be soft-deleted; deleted also counts
// soft-deleted referrers.
//
// Errors: those of Version.
func (r *Registry) ReferencedBy(ctx context.Context, s schemas.Subject, v schemas.Version, deleted bool, p Page) ([]schemas.ID, error) {
	s = filled(s)
	if v == 0 || v < schemas.Latest {
		return nil, badVersion(s, v)
	}
	list, err := answer(ctx, r, func(state *State) ([]schemas.ID, error) {
		found, err := state.version(s, v, true)
		if err != nil {
			return nil, err
		}
		shows := LiveOnly
		if deleted {
			shows = WithDeleted
		}
		list := []schemas.ID{}
		for _, e := range state.referrers(state.subject(found.Subject), found.Version, shows, nil) {
			list = append(list, schemas.ID{Context: e.space.name, Number: e.id})
		}
		slices.SortFunc(list, func(a, b schemas.ID) int {
			return cmp.Or(cmp.Compare(a.Number, b.Number), compareText(string(a.Context), string(b.Context)))
		})
		return list, nil
	})
	return cut(list, p, mostSchemas), err
}

// Contexts lists the contexts whose dotted name begins with prefix, the default
// one first. A context is there from its first registration until it is deleted.
func (r *Registry) Contexts(prefix string, p Page) []schemas.Context {
	r.mu.RLock()
	defer r.mu.RUnlock()
	list := []schemas.Context{schemas.DefaultContext}
	for _, n := range r.state.spaces() {
		if n.listed && n.name != schemas.DefaultContext {
			list = append(list, n.name)
		}
	}
	list = slices.DeleteFunc(list, func(c schemas.Context) bool { return !strings.HasPrefix(string(c), prefix) })
	return cut(list, p, 0)
}
