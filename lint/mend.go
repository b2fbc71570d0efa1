package lint

import (
	"slices"
	"strconv"

	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func itoa(n int) string { return strconv.Itoa(n) }

// rounds bounds how often one text is mended: an edit may make room for another.
const rounds = 10

// Mend applies the edits of remarks as long as they are proved.
//
// look lists the remarks of a text that may be mended; same tells whether a text
// still means what the first one did. All edits of a round are tried together,
// and one by one where that fails; an edit that is not proved is not made.
// Mended counts the remarks whose edits were made, by rule.
func Mend(text string, look func(text string) []Remark, same func(text string) bool) (out string, mended map[string]int) {
	mended = map[string]int{}
	for range rounds {
		var list []Remark
		for _, r := range look(text) {
			if len(r.Edits) > 0 {
				list = append(list, r)
			}
		}
		next, used := apply(text, list)
		if len(used) == 0 {
			return text, mended
		}
		if !same(next) {
			if next, used = oneByOne(text, list, same); len(used) == 0 {
				return text, mended
			}
		}
		for _, r := range used {
			mended[r.Rule]++
		}
		text = next
	}
	return text, mended
}

// oneByOne keeps the remarks whose edits are proved together with those kept
// before.
func oneByOne(text string, list []Remark, same func(string) bool) (string, []Remark) {
	var kept []Remark
	best := text
	const most = 100 // each costs a parse
	for _, r := range list[:min(len(list), most)] {
		next, used := apply(text, append(slices.Clone(kept), r))
		if len(used) == len(kept)+1 && same(next) {
			kept, best = used, next
		}
	}
	return best, kept
}

// apply makes the edits of the remarks that touch nothing another one edits.
func apply(text string, list []Remark) (string, []Remark) {
	var edits []jsontext.Edit
	var used []Remark
	for _, r := range list {
		free := true
		for _, e := range r.Edits {
			free = free && !slices.ContainsFunc(edits, func(o jsontext.Edit) bool { return e.Start <= o.End && o.Start <= e.End })
		}
		if free {
			edits = append(edits, r.Edits...)
			used = append(used, r)
		}
	}
	slices.SortStableFunc(edits, func(a, b jsontext.Edit) int { return b.Start - a.Start })
	for _, e := range edits {
		text = text[:e.Start] + e.Text + text[e.End:]
	}
	return text, used
}
