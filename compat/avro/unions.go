package avro

import (
	"cmp"
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// branchesOf lists the branches of a union; another type is its own one branch.
func branchesOf(t *avro.Type) []*avro.Type {
	if t.Kind == avro.Union {
		return t.Branches
	}
	return []*avro.Type{t}
}

// branchStep is the step to a branch: its index, or -1 where t is no union.
func branchStep(t *avro.Type, i int) int {
	if t.Kind == avro.Union {
		return i
	}
	return -1
}

// inOrder tells whether both lists have the same branches in the same order.
func inOrder(os, ns []*avro.Type) bool {
	return slices.EqualFunc(os, ns, func(o, n *avro.Type) bool {
		return o.Kind == n.Kind && (o.Named == nil || o.Named.Full == n.Named.Full)
	})
}

// branch compares an aligned pair of branches.
func (d *differ) branch(p place, i, j int, o, n *avro.Type) {
	if o.Kind.IsPrimitive() && o.Kind == n.Kind && len(o.Attributes) == 0 && len(n.Attributes) == 0 {
		return
	}
	inner := d.part(p, o, n, p.path, branchStep(p.o, i), branchStep(p.n, j))
	inner.byOld, inner.byNew = p.o, p.n
	byNew, byOld := d.byNew.passedOver(p.n, o, n), d.byOld.passedOver(p.o, n, o)
	inner.live = [2]bool{inner.live[newReadsOld] && byNew == nil, inner.live[oldReadsNew] && byOld == nil}
	d.types(inner)
	if byNew != nil && d.byNew.of(byNew, o) != compat.Reads {
		d.chosen(p, o, byNew, branchStep(p.o, i), slices.Index(p.n.Branches, byNew), newReadsOld)
	}
	if byOld != nil && d.byOld.of(byOld, n) != compat.Reads {
		d.chosen(p, byOld, n, slices.Index(p.o.Branches, byOld), branchStep(p.n, j), oldReadsNew)
	}
}

// chosen compares a branch with the one that a reader chooses for it and that was
// aligned with another: what that one does to its values is told in that direction
// alone.
func (d *differ) chosen(p place, o, n *avro.Type, i, j, direction int) {
	inner := d.part(p, o, n, p.path, i, j)
	inner.byOld, inner.byNew, inner.again, inner.unaligned = p.o, p.n, true, true
	inner.live[1-direction] = false
	d.types(inner)
}

// unions compares two types of which at least one is a union.
func (d *differ) unions(p place) {
	os, ns := branchesOf(p.o), branchesOf(p.n)
	if p.o.Kind == p.n.Kind && inOrder(os, ns) {
		for i, o := range os {
			d.branch(p, i, i, o, ns[i])
		}
		return
	}
	pairs := d.alignBranches(os, ns)
	if p.o.Kind != avro.Union && pairs.ofOld[0] < 0 || p.n.Kind != avro.Union && pairs.ofNew[0] < 0 {
		d.kinds(p)
		return
	}
	whole := true
	for j, branch := range ns {
		if i := pairs.ofNew[j]; i >= 0 {
			d.branch(p, i, j, os[i], branch)
			continue
		}
		whole = false
		what := word(branch)
		t := told{
			old: p.o, new: branch, after: what, pick: [2]int{-1, branchStep(p.n, j)},
			effect: compat.Effect{NewReadsOld: compat.Reads, OldReadsNew: d.byOld.of(p.o, branch)},
			text:   what + " was added to what may stand here",
		}
		rule := &branchAdded
		if branch.Kind == avro.Null {
			rule, t.text = &nullAllowed, "null may stand here now"
		}
		d.report(rule, p, t)
	}
	for i, branch := range os {
		if pairs.ofOld[i] >= 0 {
			continue
		}
		whole = false
		what := word(branch)
		t := told{
			old: branch, new: p.n, before: what, pick: [2]int{branchStep(p.o, i), -1},
			effect: compat.Effect{NewReadsOld: d.byNew.of(p.n, branch), OldReadsNew: compat.Reads},
			text:   what + " was removed from what may stand here",
		}
		rule := &branchRemoved
		if branch.Kind == avro.Null {
			rule, t.text = &nullForbidden, "null may stand here no longer"
		}
		d.report(rule, p, t)
	}
	t := told{old: p.o, new: p.n, effect: reads}
	switch {
	case !ascending(pairs.ofOld):
		t.text = "the branches of the union stand in another order"
		d.report(&unionReordered, p, t)
	case whole && p.o.Kind != avro.Union:
		t.text = word(p.o) + " became a union of that one branch"
		d.report(&unionWrapped, p, t)
	case whole && p.n.Kind != avro.Union:
		t.text = "the union of one branch became plain " + word(p.n)
		d.report(&unionUnwrapped, p, t)
	}
}

// alignBranches pairs branches, best first: one kind and full name; one simple
// name, or an alias; a promotion, the nearest; at last the one named type of a
// kind that is left on each side, which then was renamed.
func (d *differ) alignBranches(os, ns []*avro.Type) *fieldPairs {
	f := &fieldPairs{ofOld: unpaired(len(os)), ofNew: unpaired(len(ns))}
	type key struct {
		kind avro.Kind
		full string
	}
	keyOf := func(t *avro.Type) key {
		if t.Named != nil {
			return key{t.Kind, t.Named.Full}
		}
		return key{kind: t.Kind}
	}
	same := make(map[key]int, len(os))
	for i, o := range os {
		same[keyOf(o)] = i
	}
	for j, n := range ns {
		if i, ok := same[keyOf(n)]; ok {
			f.join(i, j)
		}
	}
	type candidate struct{ rank, i, j int }
	var list []candidate
	left := map[avro.Kind][2]int{} // unpaired named types per kind and side
	count := func(t *avro.Type, side int) {
		if t.Named != nil {
			pair := left[t.Kind]
			pair[side]++
			left[t.Kind] = pair
		}
	}
	collect := func(rank func(o, n *avro.Type) int) {
		list = list[:0]
		for i, o := range os {
			if f.ofOld[i] >= 0 {
				continue
			}
			for j, n := range ns {
				if f.ofNew[j] >= 0 {
					continue
				}
				if !d.meter.Spend(1) {
					return
				}
				if r := rank(o, n); r >= 0 {
					list = append(list, candidate{r, i, j})
				}
			}
		}
		slices.SortFunc(list, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.i+a.j, b.i+b.j), cmp.Compare(min(a.i, a.j), min(b.i, b.j)), cmp.Compare(a.i, b.i))
		})
		for _, c := range list {
			if f.ofOld[c.i] < 0 && f.ofNew[c.j] < 0 {
				f.join(c.i, c.j)
			}
		}
	}
	collect(func(o, n *avro.Type) int {
		switch {
		case o.Named != nil && n.Named != nil && o.Kind == n.Kind:
			if o.Named.Name == n.Named.Name {
				return 0
			}
			if namesMatch(o.Named, n.Named) || namesMatch(n.Named, o.Named) {
				return 1
			}
		case promotes(o.Kind, n.Kind):
			return 2 + int(n.Kind) - int(o.Kind) + 10
		case promotes(n.Kind, o.Kind):
			return 2 + int(o.Kind) - int(n.Kind) + 10
		}
		return -1
	})
	for i, o := range os {
		if f.ofOld[i] < 0 {
			count(o, 0)
		}
	}
	for j, n := range ns {
		if f.ofNew[j] < 0 {
			count(n, 1)
		}
	}
	collect(func(o, n *avro.Type) int {
		if o.Named != nil && o.Kind == n.Kind && left[o.Kind] == [2]int{1, 1} {
			return 0
		}
		return -1
	})
	return f
}
