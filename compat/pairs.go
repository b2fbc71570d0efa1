package compat

// Pairs remembers the outcomes of compared pairs while a recursive comparison
// runs, and repeats it to a fixpoint.
//
// A pair met again while it is still open counts by what the round before knew
// of it, Safe in the first. Such a guess never outlives its round: rounds go on
// until one changes nothing, and outcomes only ever get worse, so they end.
// Peers that keep the guess call breaks compatible.
type Pairs[K comparable] struct {
	known   map[K]Outcome
	visited map[K]bool
	changed bool
	guessed bool
	meter   *Meter
}

// NewPairs makes an empty memory whose comparisons are counted by meter.
func NewPairs[K comparable](meter *Meter) *Pairs[K] {
	return &Pairs[K]{known: map[K]Outcome{}, visited: map[K]bool{}, meter: meter}
}

// Run calls compare in rounds until nothing changes. compare asks for the pairs
// it needs with Of.
func (p *Pairs[K]) Run(compare func() Outcome) Outcome {
	for {
		p.changed, p.guessed = false, false
		clear(p.visited)
		whole := compare()
		if p.meter.Spent() {
			return Undecided
		}
		if !p.changed || !p.guessed {
			return whole
		}
	}
}

// Of answers for one pair: from memory when it was met in this round, else by
// compare.
func (p *Pairs[K]) Of(pair K, compare func() Outcome) Outcome {
	if open, met := p.visited[pair]; met {
		if open {
			p.guessed = true
		}
		return p.Known(pair)
	}
	if !p.meter.Spend(1) {
		return Undecided
	}
	p.visited[pair] = true
	before := p.Known(pair)
	now := before.Combine(compare())
	p.visited[pair] = false
	if now != before {
		p.known[pair], p.changed = now, true
	}
	return now
}

// Known is what is known of a pair so far, Safe when nothing is.
func (p *Pairs[K]) Known(pair K) Outcome {
	if o, ok := p.known[pair]; ok {
		return o
	}
	return Reads
}
