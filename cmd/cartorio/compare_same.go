package main

import (
	"context"
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/folder"
)

// unchanged tells whether nothing is different between two files and what they
// refer to, so that nothing needs to be parsed to say so.
func (how comparing) unchanged(head, base *side, p folder.Pairing) bool {
	if p.Old == nil || how.advise || len(how.older) > 0 || !folder.Same(head.folder, p.New, base.folder, p.Old) {
		return false
	}
	return slices.ContainsFunc(allCheckers(), func(c compat.Checker) bool { return c.Format == p.New.Source.Type && c.SameWhenEqual })
}

// unread stands for a schema on both sides, where nothing is asked of it but to be
// one and the same.
type unread struct {
	schemas.Schema // nil: whatever reads it has a defect
	source         schemas.Source
}

func (u unread) Source() schemas.Source { return u.source }

func (u unread) Fingerprint() schemas.Fingerprint { return schemas.Fingerprint{} }

// dependents compares files whose own texts did not change, though what they refer
// to did. After a change to a file that all others use they are most of a tree,
// and they need not be compiled for it.
type dependents struct {
	ctx        context.Context
	head, base *side
	made       sync.Map // *folder.Entry of the head → func() *twins
}

// twins are a file's schema on both sides.
type twins struct {
	old, next schemas.Schema // nil where they have to be compiled as any other
	// wrong is why a side does not compile, once somebody found out.
	wrong error
}

// ask answers q for the pair of r; ok is false where both sides must be compiled.
func (d *dependents) ask(r *result, q compat.Question, how comparing) (_ compat.Question, ok bool) {
	p := r.pair
	if d == nil || p.Old == nil || p.Moved() || q.Category != "" || !sameText(p.New, p.Old) || len(p.New.Uses) == 0 {
		return q, false
	}
	t := d.of(p.New, p.Old)
	if t.next == nil {
		return q, false
	}
	q.Next, q.History = t.next, []compat.Old{{Label: d.base.show(p.Old.Path), Schema: t.old}}
	r.old = true
	r.ask(q, how, nil, nil)
	if t.wrong != nil {
		r.report, r.old = compat.Report{}, false
		return q, false
	}
	return q, true
}

func sameText(a, b *folder.Entry) bool {
	return a.Source.Type == b.Source.Type && a.Source.Text == b.Source.Text && slices.Equal(a.Source.References, b.Source.References) &&
		a.Subject == b.Subject && a.Err == nil && b.Err == nil && len(a.Missing)+len(b.Missing) == 0
}

// of makes the twins of a file that is the same text on both sides, once.
func (d *dependents) of(next, old *folder.Entry) *twins {
	made, _ := d.made.LoadOrStore(next, sync.OnceValue(func() *twins { return d.make(next, old) }))
	return made.(func() *twins)()
}

func (d *dependents) make(next, old *folder.Entry) *twins {
	t := &twins{}
	parse := func(s *side, e *folder.Entry, mode schemas.Mode) func() (schemas.Schema, error) {
		return func() (schemas.Schema, error) {
			got, err := s.parse(d.ctx, e, mode, nil)
			if err != nil {
				t.wrong = err
			}
			return got, err
		}
	}
	asked := compat.Dependent{
		Source: next.Source, Old: parse(d.base, old, schemas.Stored), Next: parse(d.head, next, schemas.New),
	}
	for _, ref := range next.Source.References {
		to, ok := d.head.folder.Referred(next, ref)
		was, okOld := d.base.folder.Referred(old, ref)
		if !ok || !okOld {
			return t
		}
		r := compat.Referred{Names: to.Names}
		if !folder.Same(d.head.folder, to, d.base.folder, was) {
			if r.Old, r.Next = d.referred(to, was); r.Next == nil {
				return t
			}
		}
		asked.References = append(asked.References, r)
	}
	for _, e := range reach(d.head.folder, next) {
		asked.Closure = append(asked.Closure, e.Source.Text)
	}
	t.old, t.next, _ = checkers.Dependents(asked)
	return t
}

// referred are the schemas of a file that others refer to; nil where a side has
// none.
func (d *dependents) referred(next, old *folder.Entry) (before, after schemas.Schema) {
	if sameText(next, old) && next.Path == old.Path && len(next.Uses) > 0 {
		if t := d.of(next, old); t.next != nil {
			return t.old, t.next
		}
	}
	made, _ := d.made.LoadOrStore([2]*folder.Entry{next, old}, sync.OnceValue(func() *twins {
		t := &twins{}
		var err error
		if t.next, err = d.head.parse(d.ctx, next, schemas.New, nil); err != nil {
			return &twins{}
		}
		if t.old, err = d.base.parse(d.ctx, old, schemas.Stored, nil); err != nil {
			return &twins{}
		}
		return t
	}))
	t := made.(func() *twins)()
	return t.old, t.next
}
