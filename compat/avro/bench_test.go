package avro_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	twmb "github.com/twmb/avro"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// wide is a record of n fields of all common kinds.
func wide(n int, more string) string {
	types := []string{`"string"`, `"long"`, `["null","string"]`, `{"type":"array","items":"int"}`, `{"type":"map","values":"double"}`}
	var b strings.Builder
	b.WriteString(`{"type":"record","name":"Wide","namespace":"bench","fields":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"field_%d","type":%s}`, i, types[i%len(types)])
	}
	b.WriteString(more + `]}`)
	return b.String()
}

const chain = `{"type":"record","name":"Tree","fields":[{"name":"value","type":"%s"},{"name":"kids","type":{"type":"array","items":"Tree"}},{"name":"up","type":["null","Tree"]}]}`

var benchPairs = []struct{ name, old, next string }{
	{"small", wide(5, ""), wide(5, `,{"name":"added","type":"int","default":0}`)},
	{"fields=100", wide(100, ""), wide(100, `,{"name":"added","type":"int","default":0}`)},
	{"fields=500", wide(500, ""), wide(500, `,{"name":"added","type":"int","default":0}`)},
	{"fields=500/breaking", wide(500, ""), wide(500, `,{"name":"added","type":"int"}`)},
	{"recursive", fmt.Sprintf(chain, "int"), fmt.Sprintf(chain, "long")},
}

// BenchmarkDiff asks both questions of a pair, as a registration does.
func BenchmarkDiff(b *testing.B) {
	for _, c := range benchPairs {
		b.Run(c.name, func(b *testing.B) {
			old, next := parse(b, c.old), parse(b, c.next)
			q := compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: next,
				History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
			}
			b.ReportAllocs()
			for b.Loop() {
				compat.Check(q)
			}
		})
	}
}

// BenchmarkReference asks for the verdict alone.
func BenchmarkReference(b *testing.B) {
	for _, c := range benchPairs {
		b.Run(c.name, func(b *testing.B) {
			var old, next schemas.Schema = parse(b, c.old), parse(b, c.next)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := compatavro.Checker.Reference(next, old, compat.Strict, compat.Budget{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLibrary is the check of another library on the same pair.
func BenchmarkLibrary(b *testing.B) {
	for _, c := range benchPairs {
		if strings.Contains(c.name, "breaking") {
			continue
		}
		b.Run(c.name, func(b *testing.B) {
			old, err := twmb.Parse(c.old)
			if err != nil {
				b.Fatal(err)
			}
			next, err := twmb.Parse(c.next)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := twmb.CheckCompatibility(old, next); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBeside runs our whole answer, both questions and all differences, in
// turn with the check of another library that names the first: the goal is at
// most its processor time. It asks as a registration does, and then as a pull-request gate
// does, which shows a payload for each change.
func BenchmarkBeside(b *testing.B) {
	five := strings.NewReplacer(`"field_5","type":"string"`, `"field_5","type":"string","doc":"what it is"`, `"field_8","type":{"type":"map","values":"double"}`, `"field_8","type":{"type":"map","values":"double"},"default":{}`,
		`"field_13","type":{"type":"array","items":"int"}`, `"field_13","type":{"type":"array","items":"long"}`, `"field_23","type":{"type":"array","items":"int"}`, `"field_23x","aliases":["field_23"],"type":{"type":"array","items":"int"}`)
	record := func(field func(i int) string) string {
		return `{"type":"record","name":"R","fields":[` + many(100, field) + `]}`
	}
	plain := record(func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) })
	for _, c := range []struct{ name, old, next string }{
		{"one field added", wide(100, ""), wide(100, `,{"name":"added","type":"int","default":0}`)},
		{"five changes", wide(100, ""), five.Replace(wide(100, `,{"name":"added","type":"int","default":0}`))},
		{"two fields reordered", wide(100, `,{"name":"x","type":"int"},{"name":"y","type":"int"}`), wide(100, `,{"name":"y","type":"int"},{"name":"x","type":"int"}`)},
		{"all fields reordered", plain, record(func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, 99-i) })},
		{"all fields renamed", plain, record(func(i int) string { return fmt.Sprintf(`{"name":"g%d","aliases":["f%d"],"type":"int"}`, i, i) })},
		{"all fields widened", plain, record(func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"long"}`, i) })},
		{"all fields documented", plain, record(func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int","doc":"the %d"}`, i, i) })},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, next := parse(b, c.old), parse(b, c.next)
			theirOld, theirNext := twmb.MustParse(c.old), twmb.MustParse(c.next)
			q := compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: next,
				History: []compat.Old{{Label: "1", Version: 1, Schema: old}}, Brief: true,
			}
			shown := q
			shown.Brief = false
			if r, err := compat.Check(q), twmb.CheckCompatibility(theirOld, theirNext); !r.Compatible || err != nil {
				b.Fatal(r.Messages, err)
			}
			const turn = 20 // so that looking at the time costs nothing
			take := func(do func()) time.Duration {
				start := costtest.Spent()
				for range turn {
					do()
				}
				return costtest.Spent() - start
			}
			var ours, theirs time.Duration
			for b.Loop() {
				ours += take(func() { compat.Check(q) })
				theirs += take(func() { _ = twmb.CheckCompatibility(theirOld, theirNext) })
			}
			all := take(func() { compat.Check(shown) }) * time.Duration(b.N)
			b.ReportMetric(float64(ours)/float64(theirs), "times-the-library")
			b.ReportMetric(float64(all)/float64(theirs), "times-with-payloads")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N)/turn, "theirs-cpu-ns")
		})
	}
}
