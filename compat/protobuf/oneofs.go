package protobuf

import (
	"fmt"
	"strings"
)

// origin is where a member of a oneof stood: in a oneof, or alone.
type origin struct {
	oneof *oneof
	alone *field
}

func originOf(f *field) origin {
	if f.oneof != nil {
		return origin{oneof: f.oneof}
	}
	return origin{alone: f}
}

// oneofs tells which fields came to exclude one another, which no longer do,
// and which moved without harm to data.
//
// Source: protobuf compatibility, B.4 and A.6.
func (d *differ) oneofs(v *visit) {
	gathers, scatters := map[*oneof]bool{}, map[*oneof]bool{}
	for _, o := range v.o.oneofs {
		if members := groups(v.pairs, o, newReadsOld); len(members) > 1 {
			scatters[o] = true
			t := v.within(o.place, v.n.place, o.name, "members of oneof %s can be set together now: %s", o.name, memberNames(members))
			d.together(&t, v, members, oldReadsNew)
			t.source = codeOther
			d.report(&scattered, t)
		}
	}
	for _, o := range v.n.oneofs {
		if members := groups(v.pairs, o, oldReadsNew); len(members) > 1 {
			gathers[o] = true
			t := v.within(v.o.place, o.place, o.name, "fields that could be set together exclude one another in oneof %s: %s", o.name, memberNames(members))
			d.together(&t, v, members, newReadsOld)
			t.source = codeOther
			d.report(&gathered, t)
		}
	}
	told := map[*oneof]bool{}
	for _, a := range v.pairs {
		from, to := a.o.oneof, a.n.oneof
		if gathers[to] || scatters[from] || from == nil && to == nil {
			continue
		}
		t := v.within(a.o.place, a.n.place, a.o.name, "")
		t.source = codeOther
		switch {
		case from == nil:
			t.after = to.name
			t.text = fmt.Sprintf("field %s moved into oneof %s", a.o.name, to.name)
			d.report(&intoOneof, t)
		case to == nil:
			t.before = from.name
			t.text = fmt.Sprintf("field %s moved out of oneof %s", a.o.name, from.name)
			d.report(&outOfOneof, t)
		case from.name != to.name && !told[from]:
			// All its members went together, since nothing was scattered, and
			// they met no others, since nothing was gathered.
			told[from] = true
			t = v.within(from.place, to.place, from.name, "oneof %s was renamed to %s", from.name, to.name)
			t.before, t.after, t.source = from.name, to.name, codeOther
			d.report(&oneofRenamed, t)
		}
	}
}

// groups are the members of one side's oneof by where they stand on the other
// side, one member of each place. side is the direction in which the oneof's
// message is the writer.
func groups(pairs []aligned, o *oneof, side int) (members []aligned) {
	seen := map[origin]bool{}
	for _, a := range pairs {
		mine, other := sides(a.o, a.n, side)
		if mine.oneof != o {
			continue
		}
		if at := originOf(other); !seen[at] {
			seen[at] = true
			members = append(members, a)
		}
	}
	return members
}

func memberNames(members []aligned) string {
	var list []string
	for _, a := range members {
		list = append(list, a.o.name)
	}
	return strings.Join(list, ", ")
}

// together proves what becomes of two members that the writer sets both.
func (d *differ) together(t *told, v *visit, members []aligned, dir int) {
	for layer := range payloadLayers {
		if !v.live[slot(layer, dir)] {
			continue
		}
		_, rm := sides(v.o, v.n, dir)
		var list []aligned
		for _, a := range members {
			w, r := sides(a.o, a.n, dir)
			if layer == 0 && a.moved || layer == 1 && rm.byKey()[w.key] != r {
				continue
			}
			list = append(list, a)
		}
		if len(list) < 2 {
			continue
		}
		d.prove(t, v, layer, dir, nil, nil, func(b *filler) (out [][]byte) {
			for i := 1; i < len(list); i++ {
				first, last := list[0], list[i]
				w1, r1 := sides(first.o, first.n, dir)
				w2, r2 := sides(last.o, last.n, dir)
				out = append(out, b.minimal(b.minimal(nil, w1, r1), w2, r2))
			}
			return out
		})
	}
}
