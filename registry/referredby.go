package registry

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas"
)

// referrer is an entry that references a number of a subject.
type referrer struct {
	entry  *entry
	number schemas.Version
}

// referredBy are the referrers of one subject, by number and then as they came. A
// map would cost ten times as much for the few that most subjects have.
type referredBy []referrer

// bounds are those of the part with one number.
func (r referredBy) bounds(number schemas.Version) (from, to int) {
	from, _ = slices.BinarySearchFunc(r, number, func(a referrer, n schemas.Version) int { return int(a.number) - int(n) })
	for to = from; to < len(r) && r[to].number == number; {
		to++
	}
	return from, to
}

// of lists those of one number; the list is shared and good until the next
// change.
func (r referredBy) of(number schemas.Version) referredBy {
	from, to := r.bounds(number)
	return r[from:to]
}

func (r *referredBy) add(number schemas.Version, e *entry) {
	from, to := r.bounds(number)
	if !slices.Contains((*r)[from:to], referrer{e, number}) {
		*r = slices.Insert(*r, to, referrer{e, number})
	}
}

func (r *referredBy) drop(number schemas.Version, e *entry) {
	if at := slices.Index(*r, referrer{e, number}); at >= 0 {
		*r = slices.Delete(*r, at, at+1)
	}
	if len(*r) == 0 {
		*r = nil
	}
}
