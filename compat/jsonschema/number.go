package jsonschema

import (
	"math/big"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

func ratOf(n *jsonschema.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(n.Text)
	if !ok {
		return new(big.Rat) // the grammar of the text was checked
	}
	return r
}

// numberValue writes r as a JSON number; nil when no finite decimal is r, or it
// is longer than a payload's number may be.
func numberValue(r *big.Rat) *jsontext.Value {
	if r.IsInt() {
		if r.Num().BitLen() > 3_000 {
			return nil
		}
		return &jsontext.Value{Kind: jsontext.Number, Text: r.Num().String()}
	}
	places, exact := r.FloatPrec()
	if !exact || places > 900 {
		return nil
	}
	return &jsontext.Value{Kind: jsontext.Number, Text: strings.TrimSuffix(r.FloatString(places), ".")}
}

// common is the least common multiple of steps.
func common(steps []*jsonschema.Number) *big.Rat {
	var out *big.Rat
	for _, n := range steps {
		r := ratOf(n)
		if out == nil {
			out = r
			continue
		}
		// lcm(a/b, c/d) = lcm(a·d, c·b) / (b·d)
		a := new(big.Int).Mul(out.Num(), r.Denom())
		c := new(big.Int).Mul(r.Num(), out.Denom())
		g := new(big.Int).GCD(nil, nil, a, c)
		lcm := new(big.Int).Mul(a, new(big.Int).Div(c, g))
		out = new(big.Rat).SetFrac(lcm, new(big.Int).Mul(out.Denom(), r.Denom()))
	}
	return out
}

func isMultiple(r, step *big.Rat) bool { return new(big.Rat).Quo(r, step).IsInt() }

// mostMultiples are looked at one by one.
const mostMultiples = 200

// number answers for the numbers of a branch: an interval, a step, and steps and
// values that are excluded.
func (x *search) number(b *branch) state {
	x.s.meter.Spend(4 * (len(b.steps) + len(b.unsteps) + 1))
	step := common(b.steps)
	var low, high *big.Rat
	if b.low != nil {
		low = ratOf(b.low.at)
	}
	if b.high != nil {
		high = ratOf(b.high.at)
	}
	inside := func(r *big.Rat) bool {
		if low != nil && (r.Cmp(low) < 0 || b.low.strict && r.Cmp(low) == 0) {
			return false
		}
		return high == nil || r.Cmp(high) < 0 || !b.high.strict && r.Cmp(high) == 0
	}
	for _, n := range b.unsteps {
		if step != nil && isMultiple(step, ratOf(n)) {
			return empty
		}
	}
	tried := false
	try := func(r *big.Rat) bool {
		if !inside(r) || step != nil && !isMultiple(r, step) {
			return false
		}
		for _, n := range b.unsteps {
			if isMultiple(r, ratOf(n)) {
				return false
			}
		}
		v := numberValue(r)
		if v == nil {
			tried = true
			return false
		}
		before := len(x.values)
		if x.try(v) == open {
			tried = true
		}
		return len(x.values) > before
	}
	if step == nil {
		for _, r := range x.points(b, low, high) {
			if try(r) {
				return found
			}
		}
		// A single point has been tried; of an interval only finitely many values
		// are excluded, so what was not found there is merely not found.
		if low != nil && high != nil && low.Cmp(high) == 0 && !tried {
			return empty
		}
		return open
	}
	// The multiples nearest to the ends, or to 0.
	quotient := func(r *big.Rat) *big.Int {
		q := new(big.Rat).Quo(r, step)
		return new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: rounds down
	}
	var first, last *big.Int
	if low != nil {
		first = quotient(low)
	}
	if high != nil {
		last = new(big.Int).Add(quotient(high), big.NewInt(1))
	}
	all := false
	if first != nil && last != nil {
		n := new(big.Int).Sub(last, first)
		all = n.IsInt64() && n.Int64() < mostMultiples
	}
	from, by := first, int64(1)
	if from == nil {
		from = big.NewInt(0)
		if try(new(big.Rat)) {
			return found
		}
		if last != nil {
			from, by = last, -1
		}
	}
	for i := range int64(mostMultiples + 1) {
		if !x.s.meter.Spend(2) {
			return open
		}
		k := new(big.Int).Add(from, big.NewInt(by*i))
		if try(new(big.Rat).Mul(new(big.Rat).SetInt(k), step)) {
			return found
		}
	}
	if all && !tried {
		return empty
	}
	return open
}

// points are numbers that represent an interval: small ones first, its ends,
// just inside its ends, and its middle.
func (x *search) points(b *branch, low, high *big.Rat) (out []*big.Rat) {
	whole := func(n int64) *big.Rat { return big.NewRat(n, 1) }
	add := func(r *big.Rat, n *big.Rat) *big.Rat { return new(big.Rat).Add(r, n) }
	for _, n := range []int64{0, 1, -1, 2, 3} {
		out = append(out, whole(n))
	}
	fractions := []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 10), big.NewRat(3, 100), big.NewRat(7, 1000), big.NewRat(1, 1_000_000)}
	bases := []*big.Rat{whole(0)}
	for _, end := range []*big.Rat{low, high} {
		if end != nil {
			bases = append(bases, end)
		}
	}
	for _, base := range bases {
		out = append(out, base)
		for _, n := range []int64{1, -1, 2, -2} {
			out = append(out, add(base, whole(n)))
		}
		for _, f := range fractions {
			out = append(out, add(base, f), add(base, new(big.Rat).Neg(f)))
		}
	}
	if low != nil && high != nil {
		width := new(big.Rat).Sub(high, low)
		for _, f := range []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 4), big.NewRat(3, 8), big.NewRat(1, 1000), big.NewRat(999, 1000)} {
			out = append(out, add(low, new(big.Rat).Mul(width, f)))
		}
	}
	for i := range 2 * len(b.excluded) {
		if i >= 64 {
			break
		}
		out = append(out, whole(int64(i+4)))
	}
	for _, n := range b.unsteps {
		r := ratOf(n)
		out = append(out, new(big.Rat).Mul(r, big.NewRat(1, 2)), new(big.Rat).Mul(r, big.NewRat(3, 2)))
	}
	return out
}
