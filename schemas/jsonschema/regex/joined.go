package regex

import (
	"cmp"
	"slices"
	"sync"
	"unicode"
)

// The derived properties that the standard library has only in parts.
var (
	alphabetic = sync.OnceValue(func() table { return joined(unicode.L, unicode.Nl, unicode.Other_Alphabetic) })
	lowercase  = sync.OnceValue(func() table { return joined(unicode.Ll, unicode.Other_Lowercase) })
	uppercase  = sync.OnceValue(func() table { return joined(unicode.Lu, unicode.Other_Uppercase) })
	everything = &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0, Hi: 0xFFFF, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x10000, Hi: unicode.MaxRune, Stride: 1}},
	}
)

// joined is the union of tables, as one table.
func joined(tables ...*unicode.RangeTable) table {
	var pairs [][2]uint32
	for _, t := range tables {
		for _, r := range t.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				if r.Stride == 1 {
					pairs = append(pairs, [2]uint32{c, uint32(r.Hi)})
					break
				}
				pairs = append(pairs, [2]uint32{c, c})
			}
		}
		for _, r := range t.R32 {
			for c := r.Lo; c <= r.Hi; c += r.Stride {
				if r.Stride == 1 {
					pairs = append(pairs, [2]uint32{c, r.Hi})
					break
				}
				pairs = append(pairs, [2]uint32{c, c})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]uint32) int { return cmp.Compare(a[0], b[0]) })
	out := &unicode.RangeTable{}
	for i := 0; i < len(pairs); {
		low, high := pairs[i][0], pairs[i][1]
		for i++; i < len(pairs) && pairs[i][0] <= high+1; i++ {
			high = max(high, pairs[i][1])
		}
		if high <= 0xFFFF {
			out.R16 = append(out.R16, unicode.Range16{Lo: uint16(low), Hi: uint16(high), Stride: 1})
			continue
		}
		if low <= 0xFFFF {
			out.R16 = append(out.R16, unicode.Range16{Lo: uint16(low), Hi: 0xFFFF, Stride: 1})
			low = 0x10000
		}
		out.R32 = append(out.R32, unicode.Range32{Lo: low, Hi: high, Stride: 1})
	}
	return table{table: out}
}
