package deadletter

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// Filter chooses letters; the zero Filter all. Members of one list are
// alternatives, lists add up.
type Filter struct {
	IDs, Reasons, Subjects, Versions []string
	// Before and After bound when letters were set aside; zero for no bound. A
	// letter that does not say when is out of any bound.
	Before, After time.Time
	// Limit is how many letters are chosen at most, the first ones; 0 for all.
	Limit int
}

// Has tells whether the filter chooses a letter, Limit aside.
func (f *Filter) Has(l *Letter) bool {
	in := func(list []string, value string) bool { return len(list) == 0 || slices.Contains(list, value) }
	at := l.FailedAt()
	switch {
	case len(f.IDs) > 0 && !slices.ContainsFunc(f.IDs, l.Is):
	case !in(f.Reasons, l.Reason()), !in(f.Subjects, l.Subject()), !in(f.Versions, l.Version()):
	case !f.Before.IsZero() && (at.IsZero() || !at.Before(f.Before)):
	case !f.After.IsZero() && (at.IsZero() || at.Before(f.After)):
	default:
		return true
	}
	return false
}

// each shows the chosen letters.
func (f *Filter) each(ctx context.Context, b Box, visit func(context.Context, *Letter) (Fate, error)) error {
	n := 0
	return b.Walk(ctx, func(ctx context.Context, l *Letter) (Fate, error) {
		if !f.Has(l) {
			return Keep, nil
		}
		if n++; f.Limit > 0 && n > f.Limit {
			return Stop, nil
		}
		return visit(ctx, l)
	})
}

// Group is how many letters have one reason, subject and version.
type Group struct {
	Reason         string    `json:"reason"`
	Subject        string    `json:"subject,omitempty"`
	Version        string    `json:"version,omitempty"`
	Count          int       `json:"count"`
	Oldest, Newest time.Time `json:"-"`
}

// List counts the chosen letters by reason, subject and version, the largest
// group first. depth is how many there are in all.
func List(ctx context.Context, b Box, f Filter) (groups []Group, depth int, err error) {
	type key struct{ reason, subject, version string }
	all := map[key]*Group{}
	n := 0
	err = b.Walk(ctx, func(_ context.Context, l *Letter) (Fate, error) {
		depth++
		if !f.Has(l) || f.Limit > 0 && n == f.Limit {
			return Keep, nil
		}
		n++
		k := key{l.Reason(), l.Subject(), l.Version()}
		g := all[k]
		if g == nil {
			g = &Group{Reason: k.reason, Subject: k.subject, Version: k.version}
			all[k] = g
		}
		g.Count++
		if at := l.FailedAt(); !at.IsZero() {
			if g.Oldest.IsZero() || at.Before(g.Oldest) {
				g.Oldest = at
			}
			if at.After(g.Newest) {
				g.Newest = at
			}
		}
		return Keep, nil
	})
	for g := range maps.Values(all) {
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version))
	})
	return groups, depth, err
}

// ErrNoLetter says that no letter is chosen.
var ErrNoLetter = errors.New("there is no such letter")

// Find gives the first letter that is chosen. It stays where it is.
//
// Errors: ErrNoLetter.
func Find(ctx context.Context, b Box, f Filter) (*Letter, error) {
	var found *Letter
	err := f.each(ctx, b, func(_ context.Context, l *Letter) (Fate, error) {
		found = l
		return Stop, nil
	})
	if err == nil && found == nil {
		err = ErrNoLetter
	}
	return found, err
}

// Drop removes the chosen letters, or with dry only counts them. Each is told of
// before it goes; an error of tell keeps it and ends the walk.
func Drop(ctx context.Context, b Box, f Filter, dry bool, tell func(*Letter) error) (n int, err error) {
	err = f.each(ctx, b, func(_ context.Context, l *Letter) (Fate, error) {
		if err := tell(l); err != nil {
			return Stop, err
		}
		n++
		if dry {
			return Keep, nil
		}
		return Remove, nil
	})
	return n, err
}
