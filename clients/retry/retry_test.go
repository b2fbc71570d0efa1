package retry_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/cartorio-registry/cartorio/clients/retry"
)

func TestWaits(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for _, tt := range []struct {
		name   string
		p      retry.Policy
		waits  []time.Duration // after attempts 1, 2, …
		levels []time.Duration // of 2 s and more
	}{
		{"defaults", retry.Policy{}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s}, []time.Duration{2 * s, 4 * s, 8 * s, 16 * s}},
		{"capped", retry.Policy{Attempts: 9}, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s}, []time.Duration{2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s}},
		{"factor 3", retry.Policy{Factor: 3, Attempts: 4}, []time.Duration{s, 3 * s, 9 * s}, []time.Duration{3 * s, 9 * s}},
		{"constant", retry.Policy{Factor: 1, Base: 5 * s, Attempts: 4}, []time.Duration{5 * s, 5 * s, 5 * s}, []time.Duration{5 * s}},
		{"a factor that shrinks does not", retry.Policy{Factor: 0.5, Attempts: 3}, []time.Duration{s, s}, nil},
		{"a cap below the base is the base", retry.Policy{Base: 2 * time.Minute, Cap: s, Attempts: 3}, []time.Duration{2 * time.Minute, 2 * time.Minute}, []time.Duration{2 * time.Minute}},
		{"once", retry.Policy{Attempts: 1}, nil, nil},
		{"short ones only", retry.Policy{Base: time.Millisecond, Cap: s}, []time.Duration{time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond, 16 * time.Millisecond}, nil},
	} {
		p := tt.p.OrDefault()
		var waits []time.Duration
		for attempts := 1; ; attempts++ {
			if _, ok := p.Next(attempts, nil); !ok {
				break
			}
			waits = append(waits, p.Wait(attempts))
		}
		if !slices.Equal(waits, tt.waits) || !slices.Equal(tt.p.Levels(2*s), tt.levels) {
			t.Errorf("%s: waits %v, levels %v", tt.name, waits, tt.p.Levels(2*s))
		}
	}
}

// Whatever the policy, a wait is between its law and its law with the whole
// random share, waits do not shrink, and attempts end.
func TestLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := retry.Policy{
			Attempts: rapid.IntRange(0, 2000).Draw(t, "attempts"),
			Base:     time.Duration(rapid.Int64Range(-1, int64(time.Hour)).Draw(t, "base")),
			Cap:      time.Duration(rapid.Int64Range(-1, int64(24*time.Hour)).Draw(t, "cap")),
			Factor:   rapid.SampledFrom([]float64{0, 0.5, 1, 1.0000001, 1.5, 2, 10, 1e300, math.Inf(1)}).Draw(t, "factor"),
			Jitter:   rapid.SampledFrom([]float64{-1, 0, 0.1, 0.25, 1}).Draw(t, "jitter"),
		}
		full := p.OrDefault()
		r := rand.New(rand.NewPCG(1, uint64(full.Attempts)))
		last := time.Duration(0)
		for attempts := 1; attempts <= full.Attempts; attempts++ {
			wait, ok := p.Next(attempts, r)
			if !ok {
				if attempts != full.Attempts {
					t.Fatalf("%+v ends after %d attempts", full, attempts)
				}
				return
			}
			law := p.Wait(attempts)
			if law < full.Base || law > full.Cap || law < last {
				t.Fatalf("the wait after %d attempts is %v, the one before was %v: %+v", attempts, law, last, full)
			}
			if most := law + time.Duration(float64(law)*max(full.Jitter, 0)); wait < law || wait > most {
				t.Fatalf("%v after %d attempts, want %v to %v: %+v", wait, attempts, law, most, full)
			}
			last = law
		}
		t.Fatalf("%+v has no end", full)
	})
}

// The random share is spread evenly: of many waits a tenth lies in each tenth.
func TestSpread(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const n = 100_000
	var tenths [10]int
	for range n {
		wait, _ := retry.Policy{}.Next(4, r)
		share := float64(wait-8*time.Second) / float64(2*time.Second)
		tenths[min(int(share*10), 9)]++
	}
	for i, got := range tenths {
		if math.Abs(float64(got)-n/10) > 500 { // five standard deviations
			t.Errorf("%d of %d waits in tenth %d: %v", got, n, i, tenths)
		}
	}
}

// By a virtual clock: six attempts, none early, none after the whole of what the
// policy allows.
func TestByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		for attempts := 1; ; attempts++ {
			at = append(at, time.Since(began))
			wait, ok := retry.Policy{}.Next(attempts, nil)
			if !ok {
				break
			}
			time.Sleep(wait)
		}
		if len(at) != 6 {
			t.Fatalf("attempts at %v", at)
		}
		for i, earliest := range []time.Duration{0, 1, 3, 7, 15, 31} {
			earliest *= time.Second
			if at[i] < earliest || at[i] > earliest+earliest/4 {
				t.Errorf("attempt %d after %v, want %v to %v", i+1, at[i], earliest, earliest+earliest/4)
			}
		}
	})
}
