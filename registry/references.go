package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/cartorio-registry/cartorio/schemas"
)

var errSoftDeleted = fmt.Errorf("version is soft-deleted: register it again or refer to another: %w", schemas.ErrVersionUnknown)

// resolve finds what a reference stands for. live refuses soft-deleted
// versions; hidden ones are refused always, since they go without asking who
// refers to them.
func (s *State) resolve(in schemas.Context, ref schemas.Reference, live bool) (schemas.Subject, *version, error) {
	name := ref.Target(in)
	u := s.subject(name)
	if !u.has(WithDeleted) {
		return name, nil, schemas.ErrSubjectUnknown
	}
	v := u.find(ref.Version)
	if ref.Version == schemas.Latest {
		if v = u.latest(); v == nil && !live {
			for i := range u.versions {
				if !u.versions[i].hidden() {
					v = &u.versions[i]
				}
			}
		}
		if v == nil {
			return name, nil, errSoftDeleted
		}
	}
	switch {
	case v == nil || v.hidden():
		return name, nil, schemas.ErrVersionUnknown
	case live && !v.live():
		return name, nil, errSoftDeleted
	}
	return name, v, nil
}

// resolver answers references from the state, soft-deleted versions too: what
// is stored must stay readable. Direct references of something new are judged by
// pin before.
func (r *Registry) resolver() schemas.Resolver {
	return schemas.ResolverFunc(func(_ context.Context, in schemas.Context, ref schemas.Reference) (schemas.Resolved, error) {
		r.mu.RLock()
		defer r.mu.RUnlock()
		name, v, err := r.state.resolve(in, ref, false)
		if err != nil {
			return schemas.Resolved{}, err
		}
		return schemas.Resolved{Subject: name, Version: v.number, Source: r.state.source(v.entry)}, nil
	})
}

// pin checks the references of a source and replaces -1 by the number that is
// the latest now. reads are the subjects that the answer depends on.
//
// Errors: CodeSchemaInvalid with a *schemas.ReferenceError.
// Source: REST contract 5.6.
func (s *State) pin(in schemas.Context, refs []schemas.Reference, live bool) (pinned []schemas.Reference, reads []key, err error) {
	if len(refs) == 0 {
		return nil, nil, nil
	}
	refuse := func(ref schemas.Reference, err error) error {
		return &Error{
			Code: CodeSchemaInvalid, Subject: ref.Target(in), Version: ref.Version, Text: "schema is invalid",
			Err: &schemas.ReferenceError{Reference: ref, Err: err},
		}
	}
	pinned = make([]schemas.Reference, len(refs))
	for i, ref := range refs {
		if ref.Name == "" || ref.Subject == "" || ref.Version == 0 || ref.Version < schemas.Latest {
			return nil, nil, refuse(ref, errors.New("name, subject and version are all needed, and a version is a number from 1 or -1 for the latest"))
		}
		name, v, err := s.resolve(in, ref, live)
		if err != nil {
			return nil, nil, refuse(ref, err)
		}
		ref.Version = v.number
		pinned[i] = ref
		reads = append(reads, key{versions, name})
	}
	return pinned, reads, nil
}
