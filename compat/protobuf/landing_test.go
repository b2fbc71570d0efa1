package protobuf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// respell makes a field another one, by name and number, that is the same member in
// JSON; now and then of another type.
func respell(r *rand.Rand, f *drawnField) {
	key := f.name
	if _, own, ok := strings.Cut(f.options, "json_name = "); ok {
		key = strings.Trim(own, `"`)
	}
	f.name, f.number = string(rune('i'+r.IntN(8))), 9+r.IntN(8)
	f.options = fmt.Sprintf("json_name = %q", key)
	if r.IntN(3) == 0 {
		f.kind = drawnKinds[r.IntN(len(drawnKinds))]
	}
}

// TestLandingHunt is TestHunt of fields that JSON takes for others.
func TestLandingHunt(t *testing.T) {
	t.Parallel()
	h := newHunter(t)
	for i := uint64(0); h.hunts(); i++ {
		r := rand.New(rand.NewPCG(h.seed, i))
		drawn := draw(r)
		changed := drawn.clone()
		if r.IntN(2) == 0 {
			changed = drawn.change(r)
		}
		for _, m := range changed.messages {
			for f := range m.fields {
				if r.IntN(3) == 0 {
					respell(r, &m.fields[f])
				}
			}
		}
		h.drawn(r, i, drawn, changed)
	}
	h.conclude()
}
