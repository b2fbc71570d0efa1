package registry

import "cmp"

// compareText orders texts as the wire's contract does: by UTF-16 code unit,
// which differs from byte order only beyond the basic plane.
//
// Source: REST contract 5.12.
func compareText(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return cmp.Compare(len(a), len(b))
	}
	x, y := a[i], b[i]
	// A byte from 0xF0 leads a character that UTF-16 writes with surrogates,
	// and those come before U+E000 to U+FFFF (lead bytes 0xEE and 0xEF).
	switch {
	case x >= 0xF0 && (y == 0xEE || y == 0xEF):
		return -1
	case y >= 0xF0 && (x == 0xEE || x == 0xEF):
		return 1
	}
	return cmp.Compare(x, y)
}
