package protobuf_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	checker "github.com/cartorio-registry/cartorio/compat/protobuf"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/protobuf"
)

// wide is a message of n fields; those whose number is a multiple of other have
// another kind.
func wide(n, other int) string {
	var b strings.Builder
	b.WriteString(p3 + "message M {\n")
	for i := 1; i <= n; i++ {
		kind := "int32"
		if other > 0 && i%other == 0 {
			kind = "string"
		}
		fmt.Fprintf(&b, "  %s f%d = %d;\n", kind, i, i)
	}
	b.WriteString("}\n")
	return b.String()
}

func mustParse(tb testing.TB, text string) schemas.Schema {
	tb.Helper()
	s, err := protobuf.Parse(tb.Context(), schemas.Source{Type: schemas.Protobuf, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		tb.Fatalf("%v\n%.500s", err, text)
	}
	return s
}

func BenchmarkTruth(b *testing.B) {
	base := wide(100, 0)
	for _, c := range []struct{ name, next string }{
		{"equal", base},
		{"one field added", strings.Replace(base, "}", "  int32 more = 101;\n}", 1)},
		{"one kind changed", strings.Replace(base, "int32 f50 ", "string f50 ", 1)},
		{"ten kinds changed", wide(100, 10)},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, next := mustParse(b, base), mustParse(b, c.next)
			checker.Checker.Truth(old, next, compat.Budget{})
			b.ReportAllocs()
			for b.Loop() {
				checker.Checker.Truth(old, next, compat.Budget{})
			}
		})
	}
}

// live is the memory that the last collection found in use, in bytes.
func live() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// TestHostilePairs: pairs at the limits of texts stay bounded, or are left not
// checked.
func TestHostilePairs(t *testing.T) {
	deep := func(leaf string) string {
		var b strings.Builder
		b.WriteString(p2)
		for i := range 3000 {
			fmt.Fprintf(&b, "message M%d { required M%d next = 1; }\n", i, i+1)
		}
		fmt.Fprintf(&b, "message M3000 { optional %s leaf = 1; }\n", leaf)
		return b.String()
	}
	web := func(kind string) string {
		var b strings.Builder
		b.WriteString(p3)
		for i := range 120 {
			fmt.Fprintf(&b, "message M%d {\n", i)
			for j := range 120 {
				fmt.Fprintf(&b, "  M%d f%d = %d;\n", j, j, j+1)
			}
			fmt.Fprintf(&b, "  %s leaf = 500;\n}\n", kind)
		}
		return b.String()
	}
	values := func(from int) string {
		var b strings.Builder
		b.WriteString(p3 + "enum E {\n  E_ZERO = 0;\n")
		for i := range 5_000 {
			fmt.Fprintf(&b, "  E_%d = %d;\n", i, i+from)
		}
		b.WriteString("}\nmessage M { E e = 1; }\n")
		return b.String()
	}
	crossed := func(shift int) string { // every field of one message reads every other
		var b strings.Builder
		b.WriteString(p3)
		for i := range 300 {
			fmt.Fprintf(&b, "message M%d { M%d a = 1; M%d b = 2; int32 x%d = 3; }\n", i, (i*7+shift)%300, (i*11+2*shift)%300, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, old, next string }{
		{"wide, all changed", wide(5_000, 0), wide(5_000, 1)},
		{"deep and required", deep("int32"), deep("string")},
		{"a web of messages", web("int32"), web("string")},
		{"many values renumbered", values(1), values(2)},
		{"crossed types", crossed(0), crossed(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, next := mustParse(t, c.old), mustParse(t, c.next)
			runtime.GC()
			at, before := costtest.Spent(), live()
			done, most := make(chan struct{}), make(chan int64)
			go func() {
				peak := before
				for {
					select {
					case <-done:
						most <- max(peak, live())
						return
					case <-time.After(2 * time.Millisecond):
						peak = max(peak, live())
					}
				}
			}()
			effects, changes := checker.Checker.Truth(old, next, compat.Budget{})
			took := costtest.Spent() - at
			close(done)
			held := (<-most - before) >> 20
			t.Logf("%s of processor time, %d MB live: %d changes, wire %v, json %v", took.Round(time.Millisecond), held, len(changes), effects[compat.Wire], effects[compat.JSONMapping])
			if took > slower*2*time.Second {
				t.Errorf("the pair took %s of processor time", took)
			}
			if held > 512 {
				t.Errorf("the pair held %d MB", held)
			}
			if len(changes) == 0 {
				t.Error("nothing is told")
			}
			for _, category := range checker.CategoryNames() {
				if _, err := checker.Categories(old, next, category); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
