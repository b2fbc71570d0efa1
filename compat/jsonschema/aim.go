package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// aim is one change that a search is to prove: of the ways in which a schema may
// fail, only those are taken that lead to what the change answers for. What such
// a search does not find is not proved to be absent.
type aim struct {
	toward   map[*jsonschema.Node]bool // nodes from which a target is reached, the targets too
	whole    map[*jsonschema.Node]bool // targets that may fail in any way
	keywords map[*jsonschema.Node][]string
	members  []string // when there are any: those that the keywords are to speak of
}

// allows tells whether a way of n's to fail leads where the search aims.
func (a *aim) allows(n *jsonschema.Node, keyword string, part *jsonschema.Node, member string) bool {
	switch {
	case a == nil || !a.toward[n] || a.whole[n], part != nil && a.toward[part]:
		return true
	case len(a.members) > 0 && member != "" && !slices.Contains(a.members, member):
		return false
	}
	return slices.Contains(a.keywords[n], keyword)
}

// except are the keywords of n that the search aims at; nil where it does not.
func (a *aim) except(n *jsonschema.Node) []string {
	if a == nil {
		return nil
	}
	return a.keywords[n]
}

// among is the first of some parts that leads on; nil when none does.
func (a *aim) among(parts []*jsonschema.Node) *jsonschema.Node {
	if a == nil {
		return nil
	}
	for _, p := range parts {
		if a.toward[p] {
			return p
		}
	}
	return nil
}

// around knows which nodes of a schema lead to a node.
type around map[*jsonschema.Node][]*jsonschema.Node

func aroundOf(root *jsonschema.Node, meter *compat.Meter) around {
	a := around{root: nil}
	for queue := []*jsonschema.Node{root}; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		list := parts(n)
		if !meter.Spend(1 + len(list)/8) {
			return a
		}
		for _, part := range list {
			if part == nil {
				continue
			}
			if _, met := a[part]; !met {
				queue = append(queue, part)
			}
			a[part] = append(a[part], n)
		}
	}
	return a
}

// aim takes a finding's answers on the reader's side as the target.
func (a around) aim(f *finding, side int, meter *compat.Meter) *aim {
	out := &aim{toward: map[*jsonschema.Node]bool{}, whole: map[*jsonschema.Node]bool{}, keywords: map[*jsonschema.Node][]string{}, members: f.members}
	var queue []*jsonschema.Node
	for _, at := range f.answers[side] {
		n := behind(at.node)
		if at.keyword == "" {
			out.whole[n] = true
		} else {
			out.keywords[n] = append(out.keywords[n], at.keyword)
		}
		if !out.toward[n] {
			out.toward[n] = true
			queue = append(queue, n)
		}
	}
	for ; len(queue) > 0 && meter.Spend(1); queue = queue[1:] {
		for _, n := range a[queue[0]] {
			if !out.toward[n] {
				out.toward[n] = true
				queue = append(queue, n)
			}
		}
	}
	return out
}

// prove looks for a value of the writer that the reader refuses because of one
// change, and rather not because of others.
func (d direction) prove(f *finding, a around, shared *texts, meter *compat.Meter) []*proof {
	s := newSolver(meter, shared, d.writer.IsDynamic() || d.reader.IsDynamic())
	s.aim = a.aim(f, d.side, meter)
	g := s.goal([]literal{{d.writer.Root(), false}, {d.reader.Root(), true}})
	s.pairs.Run(func() compat.Outcome {
		if _, st := s.solve(g); st == found {
			return compat.Refuses
		}
		return compat.Reads
	})
	var proofs []*proof
	for _, v := range s.values[idOf(g)] {
		if p := d.judge(meter, v); p != nil {
			proofs = append(proofs, p)
		}
	}
	return proofs
}
