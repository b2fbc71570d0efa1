package schemas

import (
	"context"
	"errors"
	"fmt"
)

// Dependency is a reference of a closure and what it stands for.
type Dependency struct {
	Reference Reference
	Resolved  Resolved
	// Uses are the indexes, in the closure, of this one's own references.
	Uses []int
}

// Closure resolves every reference of source, and theirs, dependencies first.
// Where two references have one name, the first in that order wins and the
// other is left out, as the wire's contract says; one target is resolved once.
//
// direct[i] is the index in the list of source.References[i].
//
// Errors: *ReferenceError for one that is unknown, incomplete or part of a
// circle; *LimitError over limits.References.
func Closure(ctx context.Context, source Source, in Context, resolver Resolver, limits Limits) (list []Dependency, direct []int, err error) {
	if in == "" {
		in = DefaultContext
	}
	limits = limits.OrDefault()
	type target struct {
		subject Subject
		version Version
	}
	const open = -2
	seen := map[target]int{} // index in list, or open
	byName := map[string]int{}
	var walk func(refs []Reference, in Context) ([]int, error)
	walk = func(refs []Reference, in Context) ([]int, error) {
		var out []int
		for _, ref := range refs {
			if ref.Name == "" || ref.Subject == "" || ref.Version == 0 {
				return nil, &ReferenceError{ref, errors.New("name, subject and version are all needed")}
			}
			if i, ok := byName[ref.Name]; ok {
				out = append(out, i)
				continue
			}
			if resolver == nil {
				return nil, &ReferenceError{ref, fmt.Errorf("nothing resolves it: %w", ErrSubjectUnknown)}
			}
			got, err := resolver.Resolve(ctx, in, ref)
			if err != nil {
				return nil, &ReferenceError{ref, err}
			}
			key := target{got.Subject, got.Version}
			i, ok := seen[key]
			if ok && i == open {
				return nil, &ReferenceError{ref, errors.New("it refers back to itself")}
			}
			if ok && list[i].Reference.Name == ref.Name {
				out = append(out, i)
				continue
			}
			if len(seen) >= limits.References {
				return nil, &LimitError{Limit: LimitReferences, Most: limits.References, Found: len(seen) + 1}
			}
			seen[key] = open
			uses, err := walk(got.Source.References, got.Subject.Context)
			if err != nil {
				return nil, err
			}
			i = len(list)
			list = append(list, Dependency{Reference: ref, Resolved: got, Uses: uses})
			seen[key] = i
			if _, taken := byName[ref.Name]; !taken {
				byName[ref.Name] = i
			}
			out = append(out, i)
		}
		return out, nil
	}
	direct, err = walk(source.References, in)
	return list, direct, err
}
