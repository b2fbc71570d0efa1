package avro_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/compat/checktest"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// hunt holds Truth to pairs and payloads. A direction called safe reads every
// payload unharmed; in one that breaks each change that hurts has a witness, which
// is about that change; nothing stays open, and every law holds. Our own reader
// judges, and after it twmb/avro and goavro, outside of a ledger.
type hunt struct {
	*testing.T
	name   string // of the pair at hand
	ledger ledger
	faults int
	alone  bool // no referee is asked

	pairs, safe, breaks, payloads, refereed, rounded int
	hard, shown, own, besides, endless               int // changes that hurt, and their witnesses
	rules                                            map[string]int
}

func newHunt(t *testing.T) *hunt {
	t.Helper()
	return &hunt{T: t, ledger: ledger{}, rules: map[string]int{}}
}

// duration is how long a hunt runs, and the seed that it draws from: an ordinary
// run is short and the same everywhere, CARTORIO_HUNT gives the time of a long
// one, which draws anew, and CARTORIO_SEED repeats it.
func duration(t *testing.T, short time.Duration) (end time.Time, seed uint64) {
	t.Helper()
	seed = 1
	if text := os.Getenv("CARTORIO_HUNT"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("CARTORIO_HUNT: %v", err)
		}
		short, seed = d, rand.Uint64()
	}
	if text := os.Getenv("CARTORIO_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("CARTORIO_SEED: %v", err)
		}
	}
	return time.Now().Add(short), seed
}

// mostFaults is how many faults a hunt tells of before it ends.
const mostFaults = 20

// fewest is how many pairs a hunt draws however long that takes: on a busy machine
// its time may be over before anything was tried.
const fewest = 40

// goesOn tells whether a hunt draws the ith pair.
func (h *hunt) goesOn(i uint64, end time.Time) bool {
	return h.faults < mostFaults && (i < fewest || time.Now().Before(end))
}

// samples is how many payloads a safe direction is tried with.
const samples = 10

// try asks of one pair; false when a text is no schema.
func (h *hunt) try(r *rand.Rand, oldText, newText string) bool {
	h.Helper()
	law, text := checktest.Broken(avro.Format, compatavro.Checker, oldText, newText)
	if law == "parse" {
		return false
	}
	failed := func(format string, args ...any) {
		h.faults++
		h.Errorf("%s: %s\nold: %s\nnew: %s", h.name, fmt.Sprintf(format, args...), oldText, newText)
	}
	if law != "" {
		failed("breaks %s: %s", law, text)
	}
	h.pairs++
	old, next := parse(h, oldText), parse(h, newText)
	effects, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
	for _, c := range changes {
		h.rules[c.Rule]++
	}
	e := effects[compat.Data]
	for d, outcome := range []compat.Outcome{e.NewReadsOld, e.OldReadsNew} {
		writer, reader := old, next
		if d == 1 {
			writer, reader = next, old
		}
		var others *referee
		if !h.alone {
			others = refereeOf(writer, reader, h.ledger)
		}
		switch {
		case outcome.Answer == compat.Unchecked:
			failed("direction %d stays open", d)
		case outcome.IsHard():
			h.breaks++
			h.proved(d, changes, others, writer, reader, failed)
		default:
			h.safe++
			for range samples {
				w := payload{r: r, ok: true}
				if w.write(writer.Root()); w.ok {
					h.unharmed(w.bytes, others, writer, reader, failed)
				}
			}
		}
	}
	return true
}

// unharmed: a payload of a direction called safe is read as it was written.
func (h *hunt) unharmed(b []byte, others *referee, writer, reader *avro.Schema, failed func(string, ...any)) {
	h.payloads++
	got := reader.Reads(writer, schemas.Payload{Bytes: b}, schemas.ReadOptions{Value: true})
	if !got.OK() {
		failed("called safe, and %x is refused: %s", b, got.Violations[0].Text)
		return
	}
	for _, l := range got.Losses {
		if l.Kind != schemas.AlteredOutOfRange {
			failed("called safe, and %x is changed: %s", b, l.Text)
			return
		}
	}
	if len(got.Losses) > 0 {
		h.rounded++
	}
	if others == nil {
		return
	}
	if err := others.wrote(b, h.ledger); err != nil {
		failed("%v", err)
	}
	value, _, err := others.reads(b)
	switch {
	case err != nil:
		if reason := others.whyRefused(); reason != "" {
			h.ledger[reason]++
			return
		}
		failed("called safe, and a second reader refuses %x: %v", b, err)
	case !reflect.DeepEqual(plain(got.Value), value):
		if reason := others.whyDiffers(); reason != "" {
			h.ledger[reason]++
			return
		}
		failed("called safe, and of %x a second reader makes %v, we %v", b, value, plain(got.Value))
	default:
		h.refereed++
	}
}

// proved: in a direction that breaks, every change that hurts has its witness.
func (h *hunt) proved(d int, changes []compat.Change, others *referee, writer, reader *avro.Schema, failed func(string, ...any)) {
	for _, c := range changes {
		e, at := c.Effects[compat.Data], c.New.Pointer
		outcome := e.NewReadsOld
		if d == 1 {
			outcome, at = e.OldReadsNew, c.Old.Pointer
		}
		if !outcome.IsHard() {
			continue
		}
		w := c.Witness[compat.Data][d]
		if w == nil && hasEndless(writer) {
			h.endless++
			continue
		}
		h.hard++
		if w == nil {
			failed("direction %d: %s at %s is %s without a witness", d, c.Rule, c.Path, outcome.Kind)
			continue
		}
		h.shown++
		if h.holds(w, outcome.Kind, about(c.Rule, at, reader), writer, reader, func(format string, args ...any) {
			failed("direction %d: %s at %s, witness %s %x: %s", d, c.Rule, c.Path, w.JSON, w.Bytes, fmt.Sprintf(format, args...))
		}) {
			h.own++
		}
		if others != nil {
			h.seconded(w, others, failed)
		}
	}
}

// about are the places of a reader that it may complain of for a change at one of
// them: of a definition where it is used, of a branch inside the definitions that
// stand there, and of a type renamed everywhere, as another branch may take it by
// an alias.
func about(rule string, at schemas.Pointer, reader *avro.Schema) []schemas.Pointer {
	places := []schemas.Pointer{at}
	switch {
	case strings.HasPrefix(rule, "avro.type-renamed"):
		return []schemas.Pointer{""}
	case strings.HasPrefix(rule, "avro.union-branch"), strings.HasPrefix(rule, "avro.null-"):
		hasType(reader.Root(), func(t *avro.Type) bool {
			if t.Place().Pointer == at {
				hasType(t, func(in *avro.Type) bool {
					if in.Named != nil {
						places = append(places, in.Named.Place().Pointer)
					}
					return false
				})
			}
			return false
		})
	default:
		hasType(reader.Root(), func(t *avro.Type) bool {
			if t.Named != nil && t.Named.Kind != avro.Record && t.Named.Place().Pointer == at {
				places = append(places, t.Place().Pointer)
			}
			return false
		})
	}
	return places
}

// holds tells whether a witness is about its change: the reader complains of one of
// its places, or what it loses is the change's.
func (h *hunt) holds(w *compat.Witness, expected compat.Kind, places []schemas.Pointer, writer, reader *avro.Schema, failed func(string, ...any)) bool {
	h.Helper()
	if own := writer.Reads(writer, schemas.Payload{Bytes: w.Bytes}, schemas.ReadOptions{}); !own.OK() {
		failed("its own writer refuses it: %s", own.Violations[0].Text)
		return false
	}
	near := func(p schemas.Pointer) bool {
		return slices.ContainsFunc(places, func(at schemas.Pointer) bool {
			return p == at || strings.HasPrefix(string(p), string(at)+"/") || strings.HasPrefix(string(at), string(p)+"/")
		})
	}
	got := reader.Reads(writer, schemas.Payload{Bytes: w.Bytes}, schemas.ReadOptions{Violations: 10_000})
	switch w.Kind {
	case compat.Refused:
		if got.OK() {
			failed("the reader takes it")
			return false
		}
		if expected == compat.Lost {
			// Whatever is written, the reader refuses it for another change: the loss
			// is told beside that, and cannot be seen alone.
			h.besides++
			return true
		}
		if expected == compat.Refused && !slices.ContainsFunc(got.Violations, func(v schemas.Violation) bool { return near(v.Schema) }) {
			failed("the reader complains of other places: %v", got.Violations)
			return false
		}
	case compat.Altered:
		if !got.OK() || !slices.ContainsFunc(got.Losses, func(l schemas.Loss) bool { return near(l.Schema) }) {
			failed("nothing is altered there: %v %v", got.Violations, got.Losses)
			return false
		}
	case compat.Lost:
		if !got.OK() {
			failed("it is refused: %v", got.Violations)
			return false
		}
	default:
		failed("its kind is %s", w.Kind)
		return false
	}
	return true
}

// seconded: the other libraries write the witness, and do not read it as it was
// written.
func (h *hunt) seconded(w *compat.Witness, others *referee, failed func(string, ...any)) {
	if err := others.wrote(w.Bytes, h.ledger); err != nil {
		failed("the witness %s: %v", w.JSON, err)
	}
	value, written, err := others.reads(w.Bytes)
	switch {
	case err != nil, w.Kind != compat.Refused && !reflect.DeepEqual(value, written):
		h.refereed++
	default:
		if reason := others.whyTaken(w); reason != "" {
			h.ledger[reason]++
			return
		}
		failed("a second reader takes the witness %s %x as %v", w.JSON, w.Bytes, value)
	}
}

func (h *hunt) told(seed uint64) {
	h.Helper()
	h.Logf("seed %d: %d pairs, %d directions safe and %d broken; %d payloads, %d of them rounded; the referees agreed %d times", seed, h.pairs, h.safe, h.breaks, h.payloads, h.rounded, h.refereed)
	share := 100.0
	if h.hard > 0 {
		share = 100 * float64(h.own) / float64(h.hard)
	}
	h.Logf("changes that hurt: %d, with a witness of their own: %d (%.2f %%), of them %d refused besides; %d that no finite message reaches", h.hard, h.own, share, h.besides, h.endless)
	for _, reason := range slices.Sorted(maps.Keys(h.ledger)) {
		h.Logf("ledger: %6d × %s", h.ledger[reason], reason)
	}
	if h.own < h.hard {
		h.Errorf("%d of %d changes that hurt have no witness of their own", h.hard-h.own, h.hard)
	}
	if h.safe == 0 || h.breaks == 0 || h.payloads == 0 || h.refereed == 0 && !h.alone {
		h.Error("nothing was tested")
	}
}

// TestHunt draws pairs from nothing.
func TestHunt(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, time.Second)
	h := newHunt(t)
	for i := uint64(0); h.goesOn(i, end); i++ {
		r := rand.New(rand.NewPCG(seed, i))
		oldText, newText := generatePair(r, 1+r.IntN(16))
		h.name = fmt.Sprintf("seed %d pair %d", seed, i)
		if !h.try(r, oldText, newText) {
			t.Errorf("%s is no pair of schemas\nold: %s\nnew: %s", h.name, oldText, newText)
		}
	}
	h.told(seed)
	for _, r := range compatavro.Checker.Rules {
		if h.rules[r.ID] == 0 && h.pairs >= 20_000 {
			t.Logf("no pair reported %s", r.ID)
		}
	}
}
