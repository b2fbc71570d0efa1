package jsonschema

import (
	"slices"

	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas/jsontext"
)

// slots are the positions that items were given.
type slots struct {
	extra map[int][]literal
	twin  [2]int // positions of equal items, when the branch wants some
}

// itemAt lists what is demanded of the item at a position.
func (x *search) itemAt(b *branch, i int, extra []literal) []literal {
	out := append(slices.Clip(extra), b.all...)
	for _, r := range b.rules {
		switch {
		case r.rest != nil:
			if i >= r.from {
				out = append(out, literal{r.rest, false})
			}
		case i < len(r.node.Prefix):
			out = append(out, literal{r.node.Prefix[i], false})
		case r.node.Items != nil:
			out = append(out, literal{r.node.Items, false})
		}
	}
	return out
}

// prefix is the first position from which all are alike.
func (b *branch) prefix() (n int) {
	for _, r := range b.rules {
		if n = max(n, r.from); r.node != nil {
			n = max(n, len(r.node.Prefix))
		}
	}
	for _, s := range b.some {
		n = max(n, s.from, s.at+1)
	}
	return n
}

func (x *search) array(b branch) state {
	if b.unique && b.repeated {
		return empty
	}
	prefix := b.prefix()
	if !x.s.meter.Spend(1 + prefix) {
		return open
	}
	// No item can stand where nothing is allowed, nor behind it.
	for i := 0; i <= prefix && i < b.max; i++ {
		if _, st := x.s.solve(x.s.goal(x.itemAt(&b, i, nil))); st == empty {
			b.max = i
		}
	}
	if b.min > b.max {
		return empty
	}
	out := empty
	x.place(&b, prefix, slots{extra: map[int][]literal{}, twin: [2]int{-1, -1}}, b.some, func(c *branch, s slots) {
		if st := x.fill(c, prefix, s); st > out {
			out = st
		}
	})
	return out
}

// place gives every demand of some item a position.
func (x *search) place(b *branch, prefix int, s slots, left []some, then func(*branch, slots)) {
	if x.isDone() || !x.s.meter.Spend(1) {
		x.open = x.open || x.s.meter.Spent()
		return
	}
	if len(left) > 0 {
		first, last := left[0].at, left[0].at
		if first < 0 {
			first, last = left[0].from, max(prefix, left[0].from)+len(b.some)-1
		}
		for i := first; i <= last && i < b.max; i++ {
			c := *b
			c.min = max(c.min, i+1)
			t := slots{extra: map[int][]literal{}, twin: s.twin}
			for k, v := range s.extra {
				t.extra[k] = v
			}
			t.extra[i] = append(slices.Clip(t.extra[i]), left[0].extra...)
			x.place(&c, prefix, t, left[1:], then)
		}
		return
	}
	if !b.repeated || s.twin[1] >= 0 {
		then(b, s)
		return
	}
	for i := 0; i <= prefix; i++ {
		for j := i + 1; j <= prefix+1 && j < b.max; j++ {
			c := *b
			c.min = max(c.min, j+1)
			t := slots{extra: s.extra, twin: [2]int{i, j}}
			x.place(&c, prefix, t, nil, then)
		}
	}
}

// fill builds an array whose demands have their positions.
func (x *search) fill(b *branch, prefix int, s slots) state {
	const longest = 1 << 10
	goalAt := func(i int, more ...literal) *goal {
		return x.s.goal(x.itemAt(b, i, append(slices.Clip(s.extra[i]), more...)))
	}
	// Positions beyond the prefix and the slots are alike.
	plain := prefix
	for i := range s.extra {
		plain = max(plain, i+1)
	}
	plain = max(plain, s.twin[1]+1)
	out := found
	for i := range min(plain+1, b.min) {
		if _, st := x.s.solve(goalAt(i)); st == empty {
			return empty
		} else if st == open {
			out = open
		}
	}
	if s.twin[1] >= 0 {
		both := append(x.itemAt(b, s.twin[0], s.extra[s.twin[0]]), x.itemAt(b, s.twin[1], s.extra[s.twin[1]])...)
		if _, st := x.s.solve(x.s.goal(both)); st == empty {
			return empty
		} else if st == open {
			out = open
		}
	}
	// How many positions may be, and must be, of a kind.
	for _, c := range b.atLeast {
		could := 0
		for i := 0; i <= plain && i < b.max; i++ {
			if _, st := x.s.solve(goalAt(i, literal{c.node, false})); st == empty {
				continue
			} else if st == open {
				out = open
			}
			if i == plain {
				could += b.max - i
			} else {
				could++
			}
		}
		if could < c.n {
			return empty
		}
		for _, d := range b.atMost {
			if c.n <= d.n {
				continue
			}
			inside := true
			for i := 0; i <= plain && i < b.max; i++ {
				_, st := x.s.solve(goalAt(i, literal{c.node, false}, literal{d.node, true}))
				inside = inside && st == empty
			}
			if inside {
				return empty
			}
		}
	}
	for _, d := range b.atMost {
		must := 0
		for i := 0; i <= plain && i < b.min; i++ {
			if _, st := x.s.solve(goalAt(i, literal{d.node, true})); st == empty {
				if i == plain {
					must += b.min - i
				} else {
					must++
				}
			}
		}
		if must > d.n {
			return empty
		}
	}
	if out == open || b.min > longest || x.s.meter.Spent() {
		return open
	}
	return x.lay(b, s, goalAt)
}

// lay builds the array item by item.
func (x *search) lay(b *branch, s slots, goalAt func(int, ...literal) *goal) state {
	size := b.min
	// Which items are to be of the kinds that the array must contain: the last
	// positions first, which are the freest.
	wanted := map[int][]literal{}
	for _, c := range b.atLeast {
		left := c.n
		for i := size - 1; i >= 0 && left > 0; i-- {
			if i == s.twin[1] { // it is what its twin is
				continue
			}
			more := append(slices.Clip(wanted[i]), literal{c.node, false})
			if _, st := x.s.solve(goalAt(i, more...)); st == found {
				wanted[i] = more
				left--
				if i == s.twin[0] {
					left--
				}
			}
		}
		for ; left > 0 && size < b.max && size < 1<<10; left-- {
			wanted[size] = append(wanted[size], literal{c.node, false})
			size++
		}
	}
	array := &jsontext.Value{Kind: jsontext.Array}
	var variants [][]*jsontext.Value
	for i := range size {
		if i == s.twin[1] {
			both := append(x.itemAt(b, s.twin[0], s.extra[s.twin[0]]), x.itemAt(b, i, s.extra[i])...)
			values, st := x.s.solve(x.s.goal(append(both, wanted[s.twin[0]]...)))
			if st != found {
				return open
			}
			array.Items[s.twin[0]] = values[0]
			array.Items = append(array.Items, values[0])
			variants = append(variants, nil)
			continue
		}
		var values []*jsontext.Value
		st := open
		if len(b.atMost) > 0 { // rather none of what is limited
			few := slices.Clip(wanted[i])
			for _, d := range b.atMost {
				if !slices.Contains(few, literal{d.node, false}) {
					few = append(few, literal{d.node, true})
				}
			}
			values, st = x.s.solve(goalAt(i, few...))
		}
		if st != found {
			values, st = x.s.solve(goalAt(i, wanted[i]...))
		}
		if st != found {
			return open
		}
		item := values[0]
		if b.unique && slices.ContainsFunc(array.Items, func(v *jsontext.Value) bool { return v.String() == item.String() }) {
			g := goalAt(i, wanted[i]...)
			if item, st = x.other(g, array.Items); st != found {
				if st == empty && len(b.rules) <= 1 && b.prefix() == 0 && len(s.extra) == 0 && len(wanted) == 0 && size == b.min {
					return empty // fewer values than items: all positions are alike
				}
				return open
			}
			values = []*jsontext.Value{item}
		}
		array.Items = append(array.Items, item)
		variants = append(variants, values)
	}
	out := x.try(array)
	if out == empty {
		out = open
	}
	for i := range variants {
		for j, v := range variants[i] {
			if j == 0 || x.isDone() {
				continue
			}
			items := slices.Clone(array.Items)
			items[i] = v
			if x.try(&jsontext.Value{Kind: jsontext.Array, Items: items}) == found {
				out = found
			}
		}
	}
	return out
}

// other finds a value of a goal that is none of those taken.
func (x *search) other(g *goal, taken []*jsontext.Value) (*jsontext.Value, state) {
	if g == nil {
		return nil, empty
	}
	y := newSearch(x.s, g)
	y.most = 1
	used := map[string]bool{}
	for _, v := range taken {
		used[v.String()] = true
	}
	y.pick = func(v *jsontext.Value) bool { return !used[v.String()] }
	for _, v := range []*jsontext.Value{nullValue, falseValue, trueValue} {
		if !y.isDone() {
			y.try(v)
		}
	}
	for _, kind := range []jsonschema.Kinds{jsonschema.KindString, anyNumber, jsonschema.KindObject, jsonschema.KindArray} {
		if y.isDone() {
			break
		}
		y.kind = kind
		y.grow(branch{todo: slices.Clone(g.literals), max: jsonschema.Unlimited, excluded: taken})
	}
	values, st := y.result()
	if st == found {
		return values[0], found
	}
	// Objects and arrays are not told apart by what is excluded.
	return nil, st
}
