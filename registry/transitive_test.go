package registry_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"github.com/linkedin/goavro/v2"
	referee "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/sqlite"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

// transitive is how many versions the benchmark's history has.
const transitive = 1000

// historyOf fills a subject with versions that each can follow any other, and
// opens it anew: while it is filled, every version has to be at hand.
func historyOf(b *testing.B, kind schemas.Type, level compat.Level, cache int) (*registry.Registry, schemas.Subject) {
	b.Helper()
	path, scope := filepath.Join(b.TempDir(), "c.db"), schemas.ParseSubject("s")
	with := func(cache int) *registry.Registry {
		j, err := sqlite.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		r, err := registry.Open(b.Context(), j, registry.Options{Formats: formats.All, Checkers: checkers.All(), Cache: cache})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	r := with(1 << 30)
	setLevel(b, r, scope, compat.None)
	for n := range transitive {
		if _, err := r.Register(b.Context(), registry.Registration{Subject: scope, Source: hundredFields(kind, n)}); err != nil {
			b.Fatal(err)
		}
	}
	setLevel(b, r, scope, level)
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	r = with(cache)
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	return r, scope
}

func setLevel(t testing.TB, r *registry.Registry, scope schemas.Subject, level compat.Level) {
	t.Helper()
	if _, err := r.SetConfig(t.Context(), scope, registry.ConfigChange{Set: registry.Config{Level: &level}}); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkTransitive checks a schema of 100 fields against 1,000 versions:
// cold, as after a start; with every version parsed and none compared; and hot,
// as a producer finds it that starts again. Beside Avro stands goavro's parse of the
// 1,000 texts, beside JSON Schema their compilation by v5, beside Protobuf that by
// protocompile.
func BenchmarkTransitive(b *testing.B) {
	check := func(b *testing.B, r *registry.Registry, scope schemas.Subject, source schemas.Source) {
		b.Helper()
		report, err := r.Check(b.Context(), registry.Registration{Subject: scope, Source: source}, nil)
		if err != nil || !report.Compatible || len(report.Compared) != transitive {
			b.Fatalf("%v %v", report.Messages, err)
		}
	}
	for _, kind := range []schemas.Type{schemas.Avro, schemas.JSON, schemas.Protobuf} {
		for _, c := range []struct {
			name  string
			cache int
			fresh bool // another schema each time
		}{{"cold", -1, true}, {"parsed", 1 << 30, true}, {"hot", 0, false}} {
			b.Run(fmt.Sprintf("%s/%s", kind, c.name), func(b *testing.B) {
				r, scope := historyOf(b, kind, compat.BackwardTransitive, c.cache)
				n := transitive
				check(b, r, scope, hundredFields(kind, n))
				b.ReportAllocs()
				defer costtest.Processor(b)()
				for b.Loop() {
					if c.fresh {
						n++
					}
					check(b, r, scope, hundredFields(kind, n))
				}
			})
		}
	}
	b.Run("goavro", func(b *testing.B) {
		defer costtest.Processor(b)()
		for b.Loop() {
			for n := range transitive {
				if _, err := goavro.NewCodec(hundredFields(schemas.Avro, n).Text); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("protocompile", func(b *testing.B) {
		defer costtest.Processor(b)()
		for b.Loop() {
			for n := range transitive {
				text := hundredFields(schemas.Protobuf, n).Text
				c := protocompile.Compiler{MaxParallelism: 1, Resolver: &protocompile.SourceResolver{
					Accessor: protocompile.SourceAccessorFromMap(map[string]string{"s.proto": text}),
				}}
				if _, err := c.Compile(b.Context(), "s.proto"); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("v5", func(b *testing.B) {
		defer costtest.Processor(b)()
		for b.Loop() {
			for n := range transitive {
				c := referee.NewCompiler()
				c.Draft = referee.Draft7
				if err := c.AddResource("mem:///s.json", strings.NewReader(hundredFields(schemas.JSON, n).Text)); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Compile("mem:///s.json"); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// hundredFields is a schema with 100 fields that any other n can follow.
func hundredFields(kind schemas.Type, n int) schemas.Source {
	var fields []string
	for i := range 99 {
		switch kind {
		case schemas.Avro:
			fields = append(fields, fmt.Sprintf(`{"name":"field_%d","type":["null","string"],"doc":"what it is","default":null}`, i))
		case schemas.JSON:
			fields = append(fields, fmt.Sprintf(`"field_%d":{"type":"string","description":"what it is"}`, i))
		default:
			fields = append(fields, fmt.Sprintf("  string field_%d = %d;", i, i+1))
		}
	}
	text := map[schemas.Type]string{
		schemas.Avro:     `{"type":"record","name":"R","fields":[` + strings.Join(fields, ",") + fmt.Sprintf(`,{"name":"last","type":"int","default":%d}]}`, n),
		schemas.JSON:     fmt.Sprintf(`{"type":"object","description":"of %d","properties":{`, n) + strings.Join(fields, ",") + `}}`,
		schemas.Protobuf: "syntax = \"proto3\";\nmessage R {\n" + strings.Join(fields, "\n") + fmt.Sprintf("\n  string last = %d;\n}\n", 101+n),
	}[kind]
	return schemas.Source{Type: kind, Text: text}
}

// countingPairs counts what the checkers are asked.
func countingPairs(asked *int) func(*registry.Options) {
	return func(o *registry.Options) {
		c := fakeChecker(schemas.Avro)
		inner := c.Reference
		c.Reference = func(reader, writer schemas.Schema, p compat.Policy, b compat.Budget) ([]compat.Difference, error) {
			*asked++
			return inner(reader, writer, p, b)
		}
		o.Checkers = []compat.Checker{c}
	}
}

// A pair that passed is not compared again; one that another question, another
// policy or another text makes is, and so is one that did not pass.
func TestWhatPassedIsKept(t *testing.T) {
	t.Parallel()
	asked := 0
	r := open(t, countingPairs(&asked))
	play(t, r, `
		register s "A a?" => id 1 v1 new
		register s "A b?" => id 2 v2 new
		register s "A c?" => id 3 v3 new
		config s level=BACKWARD_TRANSITIVE => {level=BACKWARD_TRANSITIVE}
	`)
	expect := func(what string, n int, text string, verdict compat.Verdict) compat.Report {
		t.Helper()
		before := asked
		report, err := r.Check(t.Context(), inSubject("s", text), nil)
		if err != nil || report.Verdict() != verdict || asked-before != n {
			t.Errorf("%s: %s, %v after %d comparisons, want %s after %d", what, report.Verdict(), err, asked-before, verdict, n)
		}
		return report
	}
	first := expect("a new schema", 3, "A d?", compat.Compatible)
	again := expect("the same again", 0, "A d?", compat.Compatible)
	if len(first.Compared) != 3 || len(again.Compared) != 3 || again.Compared[2].Old.Version != 1 || again.Compared[0].Old.Label != "3" {
		t.Errorf("compared %+v, then %+v", first.Compared, again.Compared)
	}
	expect("another schema", 3, "A e?", compat.Compatible)
	expect("one that breaks", 1, "A x", compat.Breaking)
	failed := expect("the same again", 1, "A x", compat.Breaking)
	if len(failed.Messages) == 0 {
		t.Error("a break that was found before has no reasons")
	}
	play(t, r, `register s "A d?" => id 4 v4 new`)
	expect("a version more", 1, "A e?", compat.Compatible)
	play(t, r, `config s level=FULL_TRANSITIVE => {level=FULL_TRANSITIVE}`)
	expect("another level", 8, "A e?", compat.Compatible)
	expect("the same again", 0, "A e?", compat.Compatible)
}

// With exceptions in force a pair that passed is kept too: for ever where none of
// them had a part in it, else for as long as the very same ones hold there.
func TestWhatPassedByExceptionsIsKept(t *testing.T) {
	t.Parallel()
	asked, now := 0, time.UnixMilli(1_890_000_000_000)
	r := open(t, countingPairs(&asked), func(o *registry.Options) { o.Now = func() time.Time { return now } })
	play(t, r, `
		register s "A a" => id 1 v1 new
		register t "A a" => id 1 v1 new
	`)
	expect := func(what string, n int, subject, text string, verdict compat.Verdict) compat.Report {
		t.Helper()
		before := asked
		report, err := r.Check(t.Context(), inSubject(subject, text), nil)
		if err != nil || report.Verdict() != verdict || asked-before != n {
			t.Errorf("%s: %s, %v after %d comparisons, want %s after %d", what, report.Verdict(), err, asked-before, verdict, n)
		}
		return report
	}
	set := func(list ...compat.Exception) {
		t.Helper()
		for i := range list {
			list[i].Reason, list[i].Owner = "r", "o"
		}
		if err := r.SetExceptions(t.Context(), schemas.Subject{}, list); err != nil {
			t.Fatal(err)
		}
	}
	other := compat.Exception{Fingerprint: strings.Repeat("0", 32), Until: now.Add(48 * time.Hour)}
	set(other)
	broken := expect("one that breaks", 1, "s", "A a x", compat.Breaking)
	expect("the same again", 1, "s", "A a x", compat.Breaking)
	expect("one that passes without them", 1, "s", "A a b?", compat.Compatible)
	expect("the same again", 0, "s", "A a b?", compat.Compatible)
	one := compat.Exception{Fingerprint: broken.Compared[0].Findings[0].Fingerprint, Until: now.Add(24 * time.Hour)}
	set(other, one)
	expect("what needs none of them", 0, "s", "A a b?", compat.Compatible)
	expect("what was accepted", 1, "s", "A a x", compat.Compatible)
	expect("the same again", 0, "s", "A a x", compat.Compatible)
	expect("in another subject", 1, "t", "A a x", compat.Breaking)
	set(one)
	expect("with other exceptions", 1, "s", "A a x", compat.Compatible)
	set(other, one)
	before := asked
	play(t, r, `register s "A a x" => id 2 v2 new`)
	if asked != before {
		t.Errorf("registering compared %d times what the check had compared", asked-before)
	}
	now = now.Add(25 * time.Hour)
	if report, err := r.Check(t.Context(), inSubject("s", "A a x y"), nil); err != nil || report.Compatible {
		t.Errorf("%+v, %v", report, err)
	}
	play(t, r, `delete s 2 => 2`)
	expect("what was accepted and is no more", 1, "s", "A a x", compat.Breaking)
	set()
	expect("without any", 1, "s", "A a x", compat.Breaking)
	expect("what needs none of them", 0, "s", "A a b?", compat.Compatible)
}

// What is kept is bounded, and nothing is kept where nothing may be.
func TestWhatPassedIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cache, again int }{{-1, 40}, {1 << 20, 0}} {
		asked := 0
		r := open(t, countingPairs(&asked), func(o *registry.Options) { o.Cache = c.cache })
		for n := range 40 {
			play(t, r, fmt.Sprintf(`register s "A x%d?" => id %d v%d new`, n, n+1, n+1))
		}
		play(t, r, `config s level=BACKWARD_TRANSITIVE => {level=BACKWARD_TRANSITIVE}`)
		for range 2 {
			asked = 0
			if _, err := r.Check(t.Context(), inSubject("s", "A y?"), nil); err != nil {
				t.Fatal(err)
			}
		}
		if asked != c.again {
			t.Errorf("with a cache of %d bytes %d pairs were compared again, want %d", c.cache, asked, c.again)
		}
	}
	for _, most := range []int{0, 1000, 10_000} {
		kept, entries := registry.PassesKept(most, 100_000)
		if entries*96 > most+192 || most > 0 && kept == 0 {
			t.Errorf("of %d bytes %d entries are kept, the newest: %t", most, entries, kept > 0)
		}
	}
}
