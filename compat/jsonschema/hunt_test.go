package jsonschema_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// hunt holds Truth to pairs and payloads: nothing that one side of a pair called
// safe accepts is refused by the other, judged by our own validator and by both
// referees where they agree with it of the writer; and what is called a break
// has a witness that holds.
type hunt struct {
	*testing.T
	ledger *ledger
	name   string // of the pair at hand

	pairs, safe, breaks, open, payloads, refereed, witnesses int
	misses                                                   int
	formats                                                  int // judgments that differ since the referees assert formats
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
	} else if testing.Short() {
		short /= 4
	}
	if text := os.Getenv("CARTORIO_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &seed); err != nil {
			t.Fatalf("CARTORIO_SEED: %v", err)
		}
	}
	return time.Now().Add(short), seed
}

// side is one schema of a pair, with what judges payloads by it.
type side struct {
	schema schemas.Schema
	text   string
	judges []judge
	old    bool // its drafts, and those of what it refers to, leave format to the reader
	formal bool // some part of it, or of what it refers to, does so
}

func sideOf(text string, refs []reference) (side, bool) {
	s, err := parseWith(text, refs)
	if err != nil {
		return side{}, false
	}
	judges := judgesOf(text, refs)
	js, ok := s.(*jsonschema.Schema)
	old := ok && !js.Root().Dialect.IsModern()
	for _, r := range refs {
		// In a modern dialect format is a remark, whoever refers to it.
		old = old && !strings.Contains(textOf(r.Schema), draft2019) && !strings.Contains(textOf(r.Schema), draft2020)
		text += " with " + r.Name + " " + textOf(r.Schema) // for people
	}
	return side{s, text, judges, old, ok && js.AssertsFormats()}, ok
}

// asserts tells whether our own validator gives an answer when it asserts formats,
// as the referees do in drafts 4 to 7: then they disagree about that alone.
func (s side) asserts(text string, want bool) bool {
	return s.schema.Reads(s.schema, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{Formats: true}).OK() == want && s.formal
}

// try asks of one pair, with payloads that may fit it; false when it is none.
func (h *hunt) try(p grown, payload func(writer schemas.Schema) string, samples int) bool {
	old, ok := sideOf(p.old, p.oldRefs)
	if !ok {
		return false
	}
	next, ok := sideOf(p.next, p.nextRefs)
	if !ok {
		return false
	}
	h.pairs++
	start := time.Now()
	effects, changes := jsoncompat.Checker.Truth(old.schema, next.schema, compat.Budget{})
	if took := time.Since(start); took > 5*time.Second {
		h.Logf("%s took %v: %s => %s", h.name, took, p.old, p.next)
	}
	e := effects[compat.Data]
	for d, outcome := range []compat.Outcome{e.NewReadsOld, e.OldReadsNew} {
		writer, reader := old, next
		if d == 1 {
			writer, reader = next, old
		}
		switch outcome.Answer {
		case compat.Breaks:
			h.breaks++
			h.proved(d, writer, reader, changes)
		case compat.Unchecked:
			h.open++
			if os.Getenv("CARTORIO_OPEN") != "" {
				h.Logf("open: %s => %s", writer.text, reader.text)
			}
		case compat.Safe:
			h.safe++
			for range samples {
				h.judge(payload(writer.schema), writer, reader)
			}
		}
	}
	return true
}

// miss reports what a hunt found; a few end it.
func (h *hunt) miss(format string, args ...any) {
	h.Helper()
	h.misses++
	h.Errorf(format, args...)
}

func (h *hunt) goesOn(end time.Time) bool { return h.misses < 5 && time.Now().Before(end) }

// proved holds the witnesses of a direction to both sides.
func (h *hunt) proved(d int, writer, reader side, changes []compat.Change) {
	found := 0
	for _, c := range changes {
		w := c.Witness[compat.Data][d]
		if w == nil {
			continue
		}
		found++
		h.witnesses++
		p := schemas.Payload{Bytes: w.Bytes}
		if !writer.schema.Reads(writer.schema, p, schemas.ReadOptions{}).OK() || reader.schema.Reads(writer.schema, p, schemas.ReadOptions{}).OK() {
			h.miss("%s: the witness %s of %s proves nothing\n%s => %s", h.name, w.JSON, c.Rule, writer.text, reader.text)
		}
		for k := range writer.judges {
			wrote, judged := writer.judges[k].accept(w.JSON)
			read, also := reader.judges[k].accept(w.JSON)
			if !judged || !also {
				continue
			}
			h.refereed++
			if wrote && !read {
				continue
			}
			if !wrote && writer.asserts(w.JSON, false) || read && reader.asserts(w.JSON, true) {
				h.formats++
				continue
			}
			if !h.ledger.excuses(writer.judges[k].name, writer.text, reader.text) {
				h.miss("%s: %s does not see that %s breaks %s (%v, %v)\n%s => %s", h.name, writer.judges[k].name, w.JSON, c.Rule, wrote, read, writer.text, reader.text)
			}
		}
	}
	if found == 0 {
		h.miss("%s: a break without a witness\n%s => %s", h.name, writer.text, reader.text)
	}
}

// judge holds one payload to a pair that is called safe.
func (h *hunt) judge(text string, writer, reader side) {
	p := schemas.Payload{Bytes: []byte(text)}
	for _, formats := range []bool{false, true} {
		if formats && (!writer.old || !reader.old) {
			break // only in the old drafts is a format taken for what it may assert
		}
		o := schemas.ReadOptions{Formats: formats}
		if !writer.schema.Reads(writer.schema, p, o).OK() {
			return
		}
		h.payloads++
		if r := reader.schema.Reads(writer.schema, p, o); !r.OK() && r.Violations[0].Kind == schemas.Invalid {
			h.miss("%s: %s is called safe and breaks (formats asserted: %v): %s\n%s => %s", h.name, text, formats, r.Violations[0].Text, writer.text, reader.text)
		}
	}
	for k := range writer.judges {
		wrote, judged := writer.judges[k].accept(text)
		read, also := reader.judges[k].accept(text)
		if !judged || !also || !wrote {
			continue
		}
		h.refereed++
		if !read && reader.asserts(text, false) {
			h.formats++
			continue
		}
		if !read && !h.ledger.excuses(writer.judges[k].name, writer.text, reader.text) {
			h.miss("%s: %s refuses %s, which is called safe\n%s => %s", h.name, writer.judges[k].name, text, writer.text, reader.text)
		}
	}
}

func (h *hunt) told() {
	h.Helper()
	h.Logf("%d pairs: %d directions safe, %d break with %d witnesses, %d open; %d payloads, %d judgments by the referees, of which %d differ since they assert formats",
		h.pairs, h.safe, h.breaks, h.witnesses, h.open, h.payloads, h.refereed, h.formats)
	h.ledger.told(h.T)
	if h.pairs == 0 {
		h.Fatal("no pair was tried")
	}
}

// TestSoundnessHunt hunts pairs grown from nothing: every draft, every keyword,
// references of all kinds.
func TestSoundnessHunt(t *testing.T) {
	t.Parallel()
	end, seed := duration(t, time.Second)
	h := &hunt{T: t, ledger: readLedger(t)}
	for i := uint64(0); h.goesOn(end); i++ {
		g := grower{Rand: rand.New(rand.NewPCG(seed, i))}
		depth := 1 + g.IntN(3)
		h.name = fmt.Sprintf("seed %d, pair %d", seed, i)
		var p grown
		if g.IntN(3) == 0 {
			p = g.related(depth)
		} else {
			p.old, p.next = g.pair(depth)
		}
		h.try(p, func(schemas.Schema) string { return g.payload(3) }, 40)
	}
	h.told()
}
