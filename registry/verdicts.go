package registry

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/schemas"
)

// passes remembers, by content, which pairs passed a comparison, so that a long
// history is not compared anew whenever its next version is tried. Pairs that
// did not pass are compared again: their reasons are wanted, and one is enough
// to end a check.
//
// It has two halves; when the young one is full it becomes the old one, and what
// the old one held goes. What is met in the old half moves to the young.
type passes struct {
	half int // entries of each

	mu         sync.Mutex
	young, old map[Hash]int32 // the risks of a pair
}

// weightOfPass is what an entry takes, with its share of the map.
const weightOfPass = 96

func newPasses(most int) *passes {
	return &passes{half: most / 2 / weightOfPass, young: map[Hash]int32{}, old: map[Hash]int32{}}
}

// risks answers how many risks a pair that passed has.
func (p *passes) risks(pair Hash) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok := p.young[pair]; ok {
		return int(n), true
	}
	n, ok := p.old[pair]
	if ok {
		p.put(pair, n)
	}
	return int(n), ok
}

func (p *passes) keep(pair Hash, risks int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(pair, int32(min(risks, 1<<30)))
}

func (p *passes) put(pair Hash, risks int32) {
	if p.half == 0 {
		return
	}
	if len(p.young) >= p.half {
		p.young, p.old = map[Hash]int32{}, p.young
	}
	p.young[pair] = risks
}

// asked is what all pairs of one question have in common: what a verdict depends
// on, and the exceptions that may change it.
type asked struct {
	sum     []byte
	excepts []byte // empty where none is in force
}

// askedOf covers everything that a verdict depends on but for the old side: the
// new schema with what it refers to, the level and the policies. Checkers, budget
// and limits are the registry's own and never change while it runs.
func askedOf(q compat.Question) asked {
	f := q.Next.Fingerprint()
	a := asked{sum: append([]byte{byte(q.Level), byte(q.Policy), byte(q.VerdictPolicy)}, f[:]...)}
	// Whom an exception is for is part of its fingerprint, so that the subject's name
	// counts with it; when one ends, the others are another list.
	for _, e := range q.Exceptions {
		if e.Until.IsZero() || !q.At.After(e.Until) {
			a.excepts = append(append(a.excepts, e.Fingerprint...), 0)
		}
	}
	if a.excepts != nil {
		a.excepts = append(a.excepts, q.Subject...)
	}
	return a
}

// pair names a pair by its old side's form, whose id covers text, type, context,
// and the references with the numbers that they are pinned to.
func (a asked) pair(old Hash) Hash { return sha256.Sum256(append(old[:], a.sum...)) }

// accepted names a pair that passes because of the exceptions in force; without
// any it is the same as pair.
func (a asked) accepted(old Hash) Hash {
	if a.excepts == nil {
		return a.pair(old)
	}
	return sha256.Sum256(slices.Concat(old[:], a.sum, a.excepts))
}

// passed is a comparison of which no more is known than that it passed.
func passed(v schemas.Version) compat.Comparison {
	return compat.Comparison{Old: compat.Old{Label: v.String(), Version: v}, Verdict: compat.Compatible}
}
