package protobuf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cartorio-registry/cartorio/schemas"
)

func (d *differ) reservations(v *visit) {
	// A number that a field gives up or takes is told with the field.
	explained := func(r reservation, m *message) reservation {
		out := reservation{}
		for _, one := range r.ranges {
			out.ranges = append(out.ranges, without(one, m.fields)...)
		}
		for _, name := range r.names {
			if m.byField()[name] == nil {
				out.names = append(out.names, name)
			}
		}
		return out
	}
	d.reserved(v.o.place, v.n.place, v.elsewhere, v.o.local, explained(v.o.reserved, v.n), v.o.reserved, explained(v.n.reserved, v.o), v.n.reserved)
}

// without cuts the numbers of fields out of a range.
func without(r [2]int64, fields []*field) (out [][2]int64) {
	start := r[0]
	for _, f := range fields {
		if n := int64(f.number); n >= start && n < r[1] {
			if n > start {
				out = append(out, [2]int64{start, n})
			}
			start = n + 1
		}
	}
	if start < r[1] {
		out = append(out, [2]int64{start, r[1]})
	}
	return out
}

// reserved tells what one side reserves and the other does not.
func (d *differ) reserved(old, next schemas.Place, elsewhere [2]bool, path string, before, allBefore, after, allAfter reservation) {
	missing := func(have, from reservation) string {
		var list []string
		for _, r := range have.ranges {
			for _, part := range minus(r, from.ranges) {
				list = append(list, rangeText(part))
			}
		}
		for _, name := range have.names {
			if !slices.Contains(from.names, name) {
				list = append(list, name)
			}
		}
		return strings.Join(list, ", ")
	}
	if lost := missing(before, allAfter); lost != "" {
		t := calm(old, next, path, fmt.Sprintf("%s no longer reserves %s", path, lost))
		t.elsewhere, t.before = elsewhere, lost
		d.report(&reservedRemoved, t)
	}
	if won := missing(after, allBefore); won != "" {
		t := calm(old, next, path, fmt.Sprintf("%s now reserves %s", path, won))
		t.elsewhere, t.after = elsewhere, won
		d.report(&reservedAdded, t)
	}
}

// minus is what is in r and in none of the sorted ranges.
func minus(r [2]int64, ranges [][2]int64) (out [][2]int64) {
	start := r[0]
	for _, one := range ranges {
		if one[1] <= start || one[0] >= r[1] {
			continue
		}
		if one[0] > start {
			out = append(out, [2]int64{start, one[0]})
		}
		start = max(start, one[1])
	}
	if start < r[1] {
		out = append(out, [2]int64{start, r[1]})
	}
	return out
}

func rangeText(r [2]int64) string {
	switch {
	case r[1]-r[0] == 1:
		return fmt.Sprint(r[0])
	case r[1] > 1<<29-1:
		return fmt.Sprintf("%d to max", r[0])
	}
	return fmt.Sprintf("%d to %d", r[0], r[1]-1)
}
