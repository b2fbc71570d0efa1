package main

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// origin is a finding about the text of the file that it was found in.
type origin struct {
	entry      *folder.Entry // of the head
	path       string
	head, base compat.Location
}

// saying is what a finding and those that repeat it have in common.
type saying struct{ rule, message string }

// blameSources moves findings to where they arise. A schema that refers to a
// changed one changes with it and reports the same change, elsewhere; the file to
// look at is the one whose own text it is in, however long the chain to it.
func blameSources(head *side, results []result) {
	origins := map[saying][]origin{}
	each := func(do func(*folder.Entry, *compat.Finding)) {
		for _, r := range results {
			for _, c := range r.report.Compared {
				for n := range c.Findings {
					if r.pair.New != nil {
						do(r.pair.New, &c.Findings[n])
					}
				}
			}
		}
	}
	each(func(e *folder.Entry, f *compat.Finding) {
		if !f.Head.Elsewhere && !f.Base.Elsewhere {
			key := saying{f.Rule, f.Message}
			origins[key] = append(origins[key], origin{e, f.Path, f.Head, f.Base})
		}
	})
	var at *folder.Entry // whose reach is known
	var near map[*folder.Entry]bool
	each(func(e *folder.Entry, f *compat.Finding) {
		list := origins[saying{f.Rule, f.Message}]
		if f.Path == "" || !f.Head.Elsewhere && !f.Base.Elsewhere || f.Head.Line > 0 || f.Base.Line > 0 || len(list) == 0 {
			return
		}
		if at != e {
			at, near = e, map[*folder.Entry]bool{}
			for _, to := range reach(head.folder, e) {
				near[to] = to != e
			}
		}
		if from := source(list, near, f); from != nil {
			f.Head, f.Base = from.head, from.base
		}
	})
}

// reach lists what an entry refers to, directly or not, nearest first.
func reach(f *folder.Folder, e *folder.Entry) []*folder.Entry {
	var out []*folder.Entry
	seen := map[int]bool{}
	next := e.Uses
	for len(next) > 0 {
		var further []int
		for _, i := range next {
			if !seen[i] {
				seen[i] = true
				out = append(out, &f.Entries[i])
				further = append(further, f.Entries[i].Uses...)
			}
		}
		next = further
	}
	return out
}

// source finds which change of the files near f repeats; nil where that is not
// known, as of two files that changed in the same words.
//
// Paths of JSON Schema begin in the schema and are others in each, and Protobuf's
// have no package, so that the place is asked too.
func source(list []origin, near map[*folder.Entry]bool, f *compat.Finding) *origin {
	var found [3][]*origin // by path and place, by path, by place; one of each file
	for i := range list {
		o := &list[i]
		if !near[o.entry] {
			continue
		}
		samePath, samePlace := o.path == f.Path, sameSpot(o.head, f.Head) && sameSpot(o.base, f.Base)
		for n, same := range [3]bool{samePath && samePlace, samePath, samePlace} {
			if same && !slices.ContainsFunc(found[n], func(other *origin) bool { return other.entry == o.entry }) {
				found[n] = append(found[n], o)
			}
		}
	}
	for _, one := range found {
		if len(one) > 0 {
			if len(one) > 1 {
				return nil
			}
			return one[0]
		}
	}
	return nil
}

func sameSpot(a, b compat.Location) bool { return a.Pointer == b.Pointer && a.Text == b.Text }
