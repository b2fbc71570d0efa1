package main

import (
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// blameSources moves findings to where they arise. A schema that refers to a
// changed one changes with it and reports the same change, without a place or at
// one of the other's text; the file to look at is that other one.
func blameSources(head *side, results []result) {
	byEntry := map[*folder.Entry]int{}
	for i, r := range results {
		if r.pair.Old != nil && r.pair.New != nil {
			byEntry[r.pair.New] = i
		}
	}
	// Findings are moved from a copy, so that none is moved twice.
	type move struct{ to, from *compat.Finding }
	var moves []move
	for i := range results {
		if results[i].pair.New == nil {
			continue
		}
		for _, c := range results[i].report.Compared {
			for n := range c.Findings {
				for _, to := range reach(head.folder, results[i].pair.New) {
					from, ok := byEntry[to]
					if !ok {
						continue
					}
					if other := sameChange(results[from], c.Findings[n]); other != nil {
						moves = append(moves, move{&c.Findings[n], other})
						break
					}
				}
			}
		}
	}
	for n := len(moves) - 1; n >= 0; n-- {
		m := moves[n]
		m.to.Head, m.to.Base = m.from.Head, m.from.Base
	}
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

// sameChange finds the change of a result that f repeats.
func sameChange(r result, f compat.Finding) *compat.Finding {
	for _, c := range r.report.Compared {
		for n := range c.Findings {
			other := &c.Findings[n]
			if other.Rule != f.Rule || other.Path != f.Path || other.Path == "" || other.Message != f.Message {
				continue
			}
			nowhere := f.Head.Line == 0 && f.Base.Line == 0
			if nowhere || other.Head.Line == f.Head.Line && other.Head.Column == f.Head.Column && other.Base.Line == f.Base.Line {
				return other
			}
		}
	}
	return nil
}
