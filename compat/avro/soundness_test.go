package avro_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/compat/checktest"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// writer makes random payloads of a schema.
type writer struct {
	r     *rand.Rand
	bytes []byte
	depth int
	ok    bool
}

func (w *writer) long(n int64) { w.bytes = binary.AppendVarint(w.bytes, n) }

func (w *writer) write(t *avro.Type) {
	if w.depth++; w.depth > 30 || len(w.bytes) > 4_000 {
		w.ok = false
	}
	defer func() { w.depth-- }()
	if !w.ok {
		return
	}
	switch t.Kind {
	case avro.Boolean:
		w.bytes = append(w.bytes, byte(w.r.IntN(2)))
	case avro.Int:
		w.long(int64(int32(w.r.Uint32())))
	case avro.Long:
		w.long(int64(w.r.Uint64()) >> w.r.IntN(64))
	case avro.Float:
		w.bytes = binary.LittleEndian.AppendUint32(w.bytes, math.Float32bits(w.r.Float32()))
	case avro.Double:
		w.bytes = binary.LittleEndian.AppendUint64(w.bytes, math.Float64bits(w.r.NormFloat64()))
	case avro.Bytes, avro.String:
		n := w.r.IntN(3)
		w.long(int64(n))
		for range n {
			c := byte(w.r.IntN(256))
			if t.Kind == avro.String {
				c &= 0x7f
			}
			w.bytes = append(w.bytes, c)
		}
	case avro.Fixed:
		for range t.Named.Size {
			w.bytes = append(w.bytes, byte(w.r.IntN(256)))
		}
	case avro.Enum:
		w.long(int64(w.r.IntN(len(t.Named.Symbols))))
	case avro.Array, avro.Map:
		if n := w.r.IntN(3); n > 0 && w.depth < 8 {
			w.long(int64(n))
			for range n {
				if t.Kind == avro.Map {
					w.long(1)
					w.bytes = append(w.bytes, 'a'+byte(w.r.IntN(26)))
				}
				w.write(t.Items)
			}
		}
		w.long(0)
	case avro.Union:
		i := w.r.IntN(len(t.Branches))
		w.long(int64(i))
		w.write(t.Branches[i])
	case avro.Record:
		for _, f := range t.Named.Fields {
			w.write(f.Type)
		}
	default: // null takes no bytes
	}
}

// TestTruthAgainstReader lets the real reader judge random payloads of random
// pairs: a direction called safe must read them all unharmed, one that breaks
// must show a witness, nothing may stay open, and every law holds. CARTORIO_PAIRS sets how many.
func TestTruthAgainstReader(t *testing.T) {
	t.Parallel()
	pairs := pairsToTry(t)
	seed := seedToTry()
	count, rules := map[compat.Answer]int{}, map[string]int{}
	payloads, soft := 0, 0
	for i := range uint64(pairs) {
		r := rand.New(rand.NewPCG(seed, i))
		oldText, newText := generatePair(r, 1+r.IntN(16))
		old, next := parse(t, oldText), parse(t, newText)
		done := false
		defer func() {
			if !done {
				t.Logf("seed %d pair %d ended here\nold: %s\nnew: %s", seed, i, oldText, newText)
			}
		}()
		effects, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
		done = true
		if law, text := checktest.Broken(avro.Format, compatavro.Checker, oldText, newText); law != "" {
			t.Errorf("seed %d pair %d breaks %s: %s\nold: %s\nnew: %s", seed, i, law, text, oldText, newText)
		}
		for _, c := range changes {
			rules[c.Rule]++
		}
		whole := effects[compat.Data]
		for d, side := range []struct {
			writer, reader *avro.Schema
			outcome        compat.Outcome
		}{{old, next, whole.NewReadsOld}, {next, old, whole.OldReadsNew}} {
			count[side.outcome.Answer]++
			if side.outcome.Answer == compat.Unchecked {
				t.Errorf("seed %d pair %d direction %d stays open\nold: %s\nnew: %s", seed, i, d, oldText, newText)
			}
			if side.outcome.IsHard() {
				shown := false
				for _, c := range changes {
					shown = shown || c.Witness[compat.Data][d] != nil
				}
				if !shown {
					t.Errorf("seed %d pair %d direction %d breaks without a witness\nold: %s\nnew: %s", seed, i, d, oldText, newText)
				}
				continue
			}
			for range 10 {
				w := writer{r: r, ok: true}
				if w.write(side.writer.Root()); !w.ok {
					continue
				}
				payloads++
				got := side.reader.Reads(side.writer, schemas.Payload{Bytes: w.bytes}, schemas.ReadOptions{})
				if !got.OK() {
					t.Fatalf("seed %d pair %d direction %d is called %s, and %x is refused: %s\nold: %s\nnew: %s", seed, i, d, side.outcome.Answer, w.bytes, got.Violations[0].Text, oldText, newText)
				}
				for _, l := range got.Losses {
					soft++
					if l.Kind != schemas.AlteredOutOfRange {
						t.Fatalf("seed %d pair %d direction %d is called safe, and %x is changed: %s\nold: %s\nnew: %s", seed, i, d, w.bytes, l.Text, oldText, newText)
					}
				}
			}
		}
	}
	t.Logf("seed %d: %v, %d payloads read, %d of them rounded", seed, count, payloads, soft)
	for _, r := range compatavro.Checker.Rules {
		if rules[r.ID] == 0 && pairs >= 20_000 {
			t.Logf("no pair reported %s", r.ID)
		}
	}
	if count[compat.Safe] == 0 || count[compat.Breaks] == 0 || payloads == 0 {
		t.Errorf("nothing was tested: %v, %d payloads", count, payloads)
	}
}

// seedToTry is the same everywhere in an ordinary run; a hunt draws anew.
func seedToTry() uint64 {
	if os.Getenv("CARTORIO_PAIRS") == "" {
		return 1
	}
	return rand.Uint64()
}

// pairsToTry is 400, or what CARTORIO_PAIRS says.
func pairsToTry(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CARTORIO_PAIRS")
	if text == "" {
		return 400
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func parse(t testing.TB, text string) *avro.Schema {
	t.Helper()
	s, err := avro.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	return s
}
