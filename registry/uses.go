package registry

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// use is a version that carries an id.
type use struct {
	subject *subject
	number  schemas.Version
}

func (a use) compare(b use) int {
	if a.subject == b.subject {
		return int(a.number) - int(b.number)
	}
	return compareText(a.subject.text, b.subject.text)
}

// uses are sorted by qualified subject, then number. Most ids have one use for
// ever, which needs no memory of its own.
type uses struct {
	one  [1]use
	more *[]use // all of them, when they are more than one
}

// list is shared and good until the uses change.
func (u *uses) list() []use {
	switch {
	case u.more != nil:
		return *u.more
	case u.one[0].subject != nil:
		return u.one[:]
	}
	return nil
}

func (u *uses) add(at use) {
	list := u.list()
	i, there := slices.BinarySearchFunc(list, at, use.compare)
	switch {
	case there:
	case len(list) == 0:
		u.one[0] = at
	case u.more == nil:
		list = slices.Insert(slices.Clone(list), i, at)
		u.more = &list
	default:
		*u.more = slices.Insert(list, i, at)
	}
}

func (u *uses) drop(at use) {
	list := u.list()
	i, there := slices.BinarySearchFunc(list, at, use.compare)
	switch {
	case !there:
	case u.more == nil:
		u.one[0] = use{}
	case len(list) == 2:
		u.one[0], u.more = list[1-i], nil
	default:
		*u.more = slices.Delete(list, i, i+1)
	}
}
