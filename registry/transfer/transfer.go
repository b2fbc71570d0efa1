// Package transfer moves registries: out of and into the REST contract's API, a
// topic dump, a folder and an archive.
//
// Everything passes through one picture of a registry, [Gathered]: the From
// functions make it, the To functions write it, and [Compare] tells two of them
// apart. Nothing is renumbered and no text is printed anew on the way: messages
// carry the old ids. What cannot be carried is a [Loss], told by name.
//
// It serves no HTTP and knows no SQL. Start with [FromRegistry] and
// [ToRegistry].
package transfer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/schemas"
)

// Gathered is what a source holds, as far as it tells.
type Gathered struct {
	registry.Holdings
	// Marked tells that the source told what it remembers beside versions: what
	// was permanently deleted, and which numbers are hidden.
	Marked bool
	// Whole tells that it told everything: exceptions too, and times that the
	// target can keep.
	Whole bool
	// Losses are what the source holds and what could not be read, by name.
	Losses []Loss
	// Notes are what is odd about the source and loses nothing.
	Notes []Loss
}

// FromHeld is what a registry of this process holds.
func FromHeld(r *registry.Registry) Gathered {
	return Gathered{Holdings: r.Holdings(), Marked: true, Whole: true}
}

// Loss is something that could not be carried, and why.
type Loss struct {
	// Subject is the qualified text of a subject or scope; empty for what
	// belongs to the whole registry.
	Subject string          `json:"subject,omitempty"`
	Version schemas.Version `json:"version,omitempty"`
	ID      int32           `json:"id,omitempty"`
	What    string          `json:"what"`
}

// String names the thing and says why.
func (l Loss) String() string {
	var where string
	switch {
	case l.Subject == "":
		return l.What
	case l.Version != 0:
		where = fmt.Sprintf("subject %q version %d", l.Subject, l.Version)
	default:
		where = fmt.Sprintf("%q", l.Subject)
	}
	if l.ID != 0 {
		where += fmt.Sprintf(" (id %d)", l.ID)
	}
	return where + ": " + l.What
}

func lost(v *registry.Held, format string, args ...any) Loss {
	return Loss{v.Subject.String(), v.Version, v.ID.Number, fmt.Sprintf(format, args...)}
}

func sortLosses(list []Loss) {
	slices.SortStableFunc(list, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version), cmp.Compare(a.What, b.What))
	})
}

// place is where a version stands.
type place struct {
	subject schemas.Subject
	version schemas.Version
}

func placeOf(v *registry.Held) place { return place{v.Subject, v.Version} }

// byPlace indexes versions.
func byPlace(list []registry.Held) map[place]*registry.Held {
	m := make(map[place]*registry.Held, len(list))
	for i := range list {
		m[placeOf(&list[i])] = &list[i]
	}
	return m
}

// sortVersions puts versions in the order of Holdings.
func sortVersions(list []registry.Held) {
	slices.SortFunc(list, func(a, b registry.Held) int {
		return cmp.Or(compareSubjects(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version))
	})
}

func compareSubjects(a, b schemas.Subject) int {
	if a == b {
		return 0
	}
	return cmp.Compare(a.String(), b.String())
}

// marks fills the contexts and subjects that a source does not tell from the
// versions that it does.
func (g *Gathered) marks() {
	contexts := map[schemas.Context]int{}
	for i, c := range g.Contexts {
		contexts[c.Name] = i
	}
	subjects := map[schemas.Subject]int{}
	for i, u := range g.Subjects {
		subjects[u.Subject] = i
	}
	for i := range g.Versions {
		v := &g.Versions[i]
		at, ok := contexts[v.Subject.Context]
		if !ok {
			at = len(g.Contexts)
			contexts[v.Subject.Context] = at
			g.Contexts = append(g.Contexts, registry.HeldContext{Name: v.Subject.Context})
		}
		c := &g.Contexts[at]
		c.Listed, c.High = true, max(c.High, v.ID.Number)
		at, ok = subjects[v.Subject]
		if !ok {
			at = len(g.Subjects)
			subjects[v.Subject] = at
			g.Subjects = append(g.Subjects, registry.HeldSubject{Subject: v.Subject})
		}
		g.Subjects[at].High = max(g.Subjects[at].High, v.Version)
	}
	if _, ok := contexts[schemas.DefaultContext]; !ok {
		g.Contexts = append(g.Contexts, registry.HeldContext{Name: schemas.DefaultContext, Listed: true})
	}
	slices.SortFunc(g.Contexts, func(a, b registry.HeldContext) int {
		switch {
		case a.Name == b.Name:
			return 0
		case a.Name == schemas.DefaultContext:
			return -1
		case b.Name == schemas.DefaultContext:
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	slices.SortFunc(g.Subjects, func(a, b registry.HeldSubject) int { return compareSubjects(a.Subject, b.Subject) })
}
