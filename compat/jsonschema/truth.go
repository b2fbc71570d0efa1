package jsonschema

import (
	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// truth tells what happens to data: whether every value of one schema fits the
// other, in both directions, and the changes, those that hurt with a payload
// that the validator of one side takes and of the other refuses. A direction is
// Safe when the search for such a payload proves that there is none, Breaks when
// one stands, and Unchecked otherwise. No answer at all is given for schemas of
// another format, or stored ones that do not hold together.
//
// Source: JSON Schema specification 4.
func truth(old, next schemas.Schema, budget compat.Budget) (map[compat.Layer]compat.Effect, []compat.Change) {
	o, err := checkable(old, "old")
	if err != nil {
		return nil, nil
	}
	n, err := checkable(next, "new")
	if err != nil {
		return nil, nil
	}
	d := &differ{meter: budget.Meter(), met: map[[2]*jsonschema.Node]bool{}}
	d.nodes(pairing{o.Root(), n.Root(), "$"})
	backward := direction{writer: o, reader: n, index: 0, side: 1}
	forward := direction{writer: n, reader: o, index: 1, side: 0}
	shared := newTexts()
	dynamic := o.IsDynamic() || n.IsDynamic()
	if !dynamic && newSolver(budget.Meter(), shared, dynamic).alike(o.Root(), n.Root()) {
		d.spare()
		return compat.OnData(compat.Reads, compat.Reads), d.told()
	}
	newReadsOld, proofs := backward.decide(budget, shared)
	oldReadsNew, back := forward.decide(budget, shared)
	d.seen = len(d.changes)
	d.spare()
	// What is proved first: it may add the change that stands for the whole.
	aims := budget.Part(4).Meter()
	d.blame(backward, proofs, shared, aims)
	d.blame(forward, back, shared, aims)
	d.leaveOpen(backward, newReadsOld)
	d.leaveOpen(forward, oldReadsNew)
	return compat.OnData(newReadsOld, oldReadsNew), d.told()
}

// spare says of every change that it hurts nobody; witnesses say otherwise.
func (d *differ) spare() {
	for i := range d.changes {
		d.changes[i].Effects = compat.OnData(compat.Reads, compat.Reads)
		if d.changes[i].misleads {
			d.changes[i].Effects = compat.OnData(compat.Misleads, compat.Misleads)
		}
	}
}

// told are the changes as they stand.
func (d *differ) told() []compat.Change {
	var changes []compat.Change
	for i := range d.changes {
		changes = append(changes, d.changes[i].Change)
	}
	return changes
}
