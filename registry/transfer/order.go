package transfer

import (
	"cmp"
	"slices"

	"github.com/cartorio-registry/cartorio/registry"
)

// waves sorts versions so that every reference's target is in an earlier wave
// than its referrers; inside a wave the order is by context, id, subject and
// number. A target that does not come along orders nothing.
func waves(list []registry.Held) [][]*registry.Held {
	at := byPlace(list)
	depth := make(map[*registry.Held]int, len(list))
	type frame struct {
		v    *registry.Held
		next int
	}
	// By hand rather than by recursion: chains of references may be long.
	for i := range list {
		if _, done := depth[&list[i]]; done {
			continue
		}
		stack := []frame{{v: &list[i]}}
		depth[&list[i]] = 0
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			refs := top.v.Source.References
			if top.next == len(refs) {
				d := depth[top.v]
				stack = stack[:len(stack)-1]
				if len(stack) > 0 {
					up := stack[len(stack)-1].v
					depth[up] = max(depth[up], d+1)
				}
				continue
			}
			ref := refs[top.next]
			top.next++
			target := at[place{ref.Target(top.v.Subject.Context), ref.Version}]
			if target == nil || target == top.v {
				continue
			}
			if d, done := depth[target]; done {
				// A circle ends here: its members cannot all come first.
				depth[top.v] = max(depth[top.v], d+1)
				continue
			}
			depth[target] = 0
			stack = append(stack, frame{v: target})
		}
	}
	var out [][]*registry.Held
	for i := range list {
		d := depth[&list[i]]
		for len(out) <= d {
			out = append(out, nil)
		}
		out[d] = append(out[d], &list[i])
	}
	for _, wave := range out {
		slices.SortFunc(wave, func(a, b *registry.Held) int {
			return cmp.Or(cmp.Compare(a.Subject.Context, b.Subject.Context), cmp.Compare(a.ID.Number, b.ID.Number), compareSubjects(a.Subject, b.Subject), cmp.Compare(a.Version, b.Version))
		})
	}
	return out
}

// InOrder gives versions in the order in which they can be registered.
func InOrder(list []registry.Held) []registry.Held {
	out := make([]registry.Held, 0, len(list))
	for _, wave := range waves(list) {
		for _, v := range wave {
			out = append(out, *v)
		}
	}
	return out
}

// liveReferred are the versions that a live version of another wave refers to.
func liveReferred(list []registry.Held) map[place]bool {
	out := map[place]bool{}
	for i := range list {
		v := &list[i]
		if v.Deleted {
			continue
		}
		for _, ref := range v.Source.References {
			out[place{ref.Target(v.Subject.Context), ref.Version}] = true
		}
	}
	return out
}
