package validate

import (
	"context"
	"errors"

	"github.com/cartorio-registry/cartorio/clients/framing"
	"github.com/cartorio-registry/cartorio/schemas"
)

// InOrder makes one lookup of several: a bundle first, then a registry. The
// first that knows answers. The latest version is asked of the last one first,
// since only a registry knows what came after a bundle was made, and of the
// others when it cannot be asked.
//
// That nobody knows is the answer only when everybody could be asked.
func InOrder(lookups ...Lookup) Lookup { return inOrder(lookups) }

type inOrder []Lookup

// first asks one after the other until one knows.
func first(list []Lookup, ask func(Lookup) (schemas.Found, error)) (found schemas.Found, err error) {
	err = schemas.ErrSchemaUnknown
	var open error
	for _, l := range list {
		if found, err = ask(l); err == nil {
			return found, nil
		}
		if open == nil && !reasonOf(err).hasGrace() {
			open = err
		}
	}
	if open != nil {
		err = open
	}
	return schemas.Found{}, err
}

func (l inOrder) ByGUID(ctx context.Context, g schemas.GUID) (schemas.Found, error) {
	return first(l, func(one Lookup) (schemas.Found, error) { return one.ByGUID(ctx, g) })
}

func (l inOrder) ByID(ctx context.Context, id schemas.ID) (schemas.Found, error) {
	return first(l, func(one Lookup) (schemas.Found, error) { return one.ByID(ctx, id) })
}

func (l inOrder) ByVersion(ctx context.Context, s schemas.Subject, v schemas.Version) (schemas.Found, error) {
	return first(l, func(one Lookup) (schemas.Found, error) { return one.ByVersion(ctx, s, v) })
}

func (l inOrder) Latest(ctx context.Context, s schemas.Subject) (schemas.Found, error) {
	var errs []error
	for i := len(l) - 1; i >= 0; i-- {
		found, err := l[i].Latest(ctx, s)
		if err == nil {
			return found, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return schemas.Found{}, schemas.ErrSubjectUnknown
	}
	return schemas.Found{}, errs[0]
}

func (l inOrder) BySource(ctx context.Context, s schemas.Subject, source schemas.Source) (schemas.Found, error) {
	return first(l, func(one Lookup) (schemas.Found, error) { return one.BySource(ctx, s, source) })
}

// foreigners asks those of a list that know foreign identities.
type foreigners struct{ inOrder }

func (l foreigners) ByForeign(ctx context.Context, f framing.Foreign) (schemas.Found, error) {
	return first(l.inOrder, func(one Lookup) (schemas.Found, error) {
		if knows, ok := foreignOf(one); ok {
			return knows.ByForeign(ctx, f)
		}
		return schemas.Found{}, schemas.ErrSchemaUnknown
	})
}

// foreignOf gives the lookup that knows foreign identities, if there is one.
func foreignOf(l Lookup) (ForeignLookup, bool) {
	if list, ok := l.(inOrder); ok {
		for _, one := range list {
			if _, ok := foreignOf(one); ok {
				return foreigners{list}, true
			}
		}
		return nil, false
	}
	f, ok := l.(ForeignLookup)
	return f, ok
}

// comparers asks those of a list that compare.
type comparers struct{ inOrder }

func (l comparers) CanRead(ctx context.Context, s schemas.Subject, reader, writer schemas.Version) (ok bool, why string, err error) {
	var errs []error
	for _, one := range l.inOrder {
		c, can := comparerOf(one)
		if !can {
			continue
		}
		if ok, why, err = c.CanRead(ctx, s, reader, writer); err == nil {
			return ok, why, nil
		}
		errs = append(errs, err)
	}
	return false, "", errors.Join(errs...)
}

// comparerOf gives the lookup that compares, if there is one.
func comparerOf(l Lookup) (Comparer, bool) {
	if list, ok := l.(inOrder); ok {
		for _, one := range list {
			if _, ok := comparerOf(one); ok {
				return comparers{list}, true
			}
		}
		return nil, false
	}
	c, ok := l.(Comparer)
	return c, ok
}
