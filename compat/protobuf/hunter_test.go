package protobuf_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
)

// hunter holds what the checker says of pairs to what protobuf-go does.
type hunter struct {
	t                                        *testing.T
	seed                                     uint64
	until                                    time.Time
	drawings                                 int // that were begun
	pairs, moves, messages, calm, soft, open int
	// ledger counts the witnesses that protobuf-go reads unharmed, by the reason
	// why it would not show.
	ledger map[string]int
	// breaks and shown count, per layer, the hard breaks of changes and those
	// with a witness.
	breaks, shown map[compat.Layer]int
}

func newHunter(t *testing.T) *hunter {
	t.Helper()
	length := 2 * time.Second
	// An ordinary run is the same everywhere; a hunt draws anew, and CARTORIO_SEED
	// repeats it.
	seed := uint64(1)
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		seed = rand.Uint64()
	}
	if text := os.Getenv("CARTORIO_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("CARTORIO_SEED: %v", err)
		}
	}
	return &hunter{t: t, seed: seed, until: time.Now().Add(length), ledger: map[string]int{}, breaks: map[compat.Layer]int{}, shown: map[compat.Layer]int{}}
}

// fewest is how many pairs are drawn however long that takes: on a busy machine the
// time may be over before anything was tried.
const fewest = 40

// hunts tells whether one more pair is to be drawn.
func (h *hunter) hunts() bool {
	h.drawings++
	return !h.t.Failed() && (h.drawings <= fewest || time.Now().Before(h.until))
}

func (h *hunter) pair(r *rand.Rand, old, next *judge, told string) {
	h.pairs++
	effects, changes := checker.Checker.Truth(old.schema, next.schema, compat.Budget{})
	for _, layer := range []compat.Layer{compat.Wire, compat.JSONMapping} {
		for d := range 2 {
			h.direction(r, layer, d, old, next, effects[layer], changes, told)
		}
	}
}

func (h *hunter) direction(r *rand.Rand, layer compat.Layer, d int, old, next *judge, effect compat.Effect, changes []compat.Change, told string) {
	pick := func(e compat.Effect) compat.Outcome { return [2]compat.Outcome{e.NewReadsOld, e.OldReadsNew}[d] }
	writer, reader := old, next
	if d == 1 {
		writer, reader = next, old
	}
	whole, worst := pick(effect), compat.Reads
	for _, c := range changes {
		o := pick(c.Effects[layer])
		worst = worst.Combine(o)
		if o.IsHard() {
			h.breaks[layer]++
			h.witness(c, layer, d, writer, reader, told)
		}
	}
	switch {
	case whole.Answer == compat.Unchecked:
		h.open++
		if os.Getenv("CARTORIO_HUNT_OPEN") != "" {
			h.t.Fatalf("direction %d on %s stays open: %+v\n%s", d, layer, changes, told)
		}
		return
	case whole.IsHard():
		return
	case worst == compat.Reads:
		h.calm++
	default:
		h.soft++
	}
	names := writer.schema.Names()
	for range 12 {
		m := writer.message(protoreflect.FullName(names[r.IntN(len(names))]))
		if m == nil {
			continue // an enum
		}
		fill(r, m, 0)
		if proto.CheckInitialized(m.Interface()) != nil {
			continue
		}
		text, _, ok := carry(writer, reader, m, layer)
		if !ok {
			continue
		}
		h.messages++
		if text != "" && (worst == compat.Reads || strings.HasPrefix(text, "proto:")) {
			raw, err := proto.Marshal(m.Interface())
			h.t.Fatalf("direction %d on %s is called safe, and %s %x: %s\n%v, %v\n%s", d, layer, m.Descriptor().FullName(), raw, text, changes, err, told)
		}
	}
}

// witness asks protobuf-go of the witness of a break.
func (h *hunter) witness(c compat.Change, layer compat.Layer, d int, writer, reader *judge, told string) {
	w := c.Witness[layer][d]
	if w == nil {
		h.t.Errorf("%s at %s breaks on %s without a witness\n%s", c.Rule, c.Path, layer, told)
		return
	}
	h.shown[layer]++
	m := writer.message(protoreflect.FullName(w.Message))
	if err := proto.Unmarshal(w.Bytes, m.Interface()); err != nil {
		h.t.Errorf("%s at %s: its writer refuses the witness %x: %v\n%s", c.Rule, c.Path, w.Bytes, err, told)
		return
	}
	if text, excuses, ok := carry(writer, reader, m, layer); ok && text == "" {
		if len(excuses) > 0 {
			_, why, _ := strings.Cut(excuses[0], ": ")
			h.ledger[why]++
			return
		}
		h.t.Errorf("%s at %s on %s: protobuf-go reads the witness %x %s unharmed (%s)\n%s", c.Rule, c.Path, layer, w.Bytes, w.JSON, w.Text, told)
	}
}

func (h *hunter) conclude() {
	h.t.Logf("seed %d: %d pairs, %d of them with types that moved between files, %d messages; directions: %d without a break, %d with soft ones, %d open", h.seed, h.pairs, h.moves, h.messages, h.calm, h.soft, h.open)
	hard := 0
	for _, layer := range []compat.Layer{compat.Wire, compat.JSONMapping} {
		h.t.Logf("%s: %d of %d breaks have a witness that their reader proved", layer, h.shown[layer], h.breaks[layer])
		hard += h.breaks[layer]
	}
	for _, why := range slices.Sorted(maps.Keys(h.ledger)) {
		h.t.Logf("in the ledger: %d witnesses by %s", h.ledger[why], why)
	}
	if h.pairs == 0 || h.messages == 0 || hard == 0 {
		h.t.Error("nothing was hunted")
	}
}
