package avro_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// many joins n texts made of their number.
func many(n int, each func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = each(i)
	}
	return strings.Join(parts, ",")
}

// doubling is a record that holds two of the next kind, n times over.
func doubling(n int, leaf string) string {
	def := `{"type":"record","name":"R0","fields":[{"name":"a","type":"` + leaf + `"}]}`
	list := []string{def}
	for i := 1; i <= n; i++ {
		list = append(list, fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"x","type":"R%d"},{"name":"y","type":"R%d"}]}`, i, i-1, i-1))
	}
	return `[` + strings.Join(list, ",") + `]`
}

// chained is n records, each holding the next, the last one a leaf.
func chained(n int, leaf string) string {
	return `[` + many(n, func(i int) string {
		next := fmt.Sprintf(`"R%d"`, i+1)
		if i == n-1 {
			next = `"` + leaf + `"`
		}
		return fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"next","type":%s},{"name":"top","type":["null","R0"]}]}`, i, next)
	}) + `]`
}

// TestHostilePairs: no two texts within the limits of parsing take more than 2 s
// or 512 MB to compare, whatever the answer is. The time allowed here is larger,
// since tests share the machine.
func TestHostilePairs(t *testing.T) {
	record := func(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }
	for _, c := range []struct{ name, old, next string }{
		{
			"every field changes", record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) })),
			record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"string"}`, i) })),
		},
		{
			"every field is replaced", record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) })),
			record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"g%d","type":["null","string"]}`, i) })),
		},
		{
			"every field is renamed", record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int","default":0}`, i) })),
			record(many(9_000, func(i int) string { return fmt.Sprintf(`{"name":"g%d","type":"int","default":0}`, i) })),
		},
		{
			"aliases crossed", record(many(5_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"int"}`, i) })),
			record(many(5_000, func(i int) string { return fmt.Sprintf(`{"name":"g%d","type":"int","aliases":["f%d"]}`, i, 4_999-i) })),
		},
		{"doubling records", doubling(60, "int"), doubling(60, "string")},
		{"a chain of records", chained(40, "int"), chained(40, "string")},
		{
			"a union of other records", `[` + many(1_500, func(i int) string { return fmt.Sprintf(`{"type":"record","name":"A%d","fields":[]}`, i) }) + `]`,
			`[` + many(1_500, func(i int) string { return fmt.Sprintf(`{"type":"record","name":"B%d","fields":[]}`, i) }) + `]`,
		},
		{
			"a union of records in other namespaces", `[` + many(3_000, func(i int) string {
				return fmt.Sprintf(`{"type":"record","name":"a%d.A","fields":[{"name":"x","type":"int"}]}`, i)
			}) + `]`,
			`[` + many(3_000, func(i int) string {
				return fmt.Sprintf(`{"type":"record","name":"b%d.A","fields":[{"name":"y","type":"string"}]}`, i)
			}) + `]`,
		},
		{
			"every symbol is replaced", `{"type":"enum","name":"E","symbols":[` + many(15_000, func(i int) string { return fmt.Sprintf(`"A%d"`, i) }) + `]}`,
			`{"type":"enum","name":"E","symbols":[` + many(15_000, func(i int) string { return fmt.Sprintf(`"B%d"`, i) }) + `],"default":"B1"}`,
		},
		{
			"one enum in every field", record(`{"name":"e","type":{"type":"enum","name":"E","symbols":[` + many(4_000, func(i int) string { return fmt.Sprintf(`"A%d"`, i) }) + `]}},` + many(4_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"E"}`, i) })),
			record(`{"name":"e","type":{"type":"enum","name":"E","symbols":[` + many(4_000, func(i int) string { return fmt.Sprintf(`"A%d"`, 4_000-i) }) + `]}},` + many(4_000, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":"E"}`, i) })),
		},
		{"deep arrays", strings.Repeat(`{"type":"array","items":`, 120) + `"int"` + strings.Repeat(`}`, 120), strings.Repeat(`{"type":"array","items":`, 120) + `"string"` + strings.Repeat(`}`, 120)},
		{
			"defaults that hold themselves", record(`{"name":"a","type":"int"}`),
			record(many(200, func(i int) string {
				return fmt.Sprintf(`{"name":"f%d","type":["R",{"type":"map","values":"R"}],"default":{}}`, i)
			})),
		},
		{
			"a huge fixed", `{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":2147483647}},{"name":"a","type":"int"}]}`,
			`{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"F","size":2147483646}}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, next := parse(t, c.old), parse(t, c.next)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := costtest.Spent()
			r := compat.Check(compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, VerdictPolicy: compat.Both, Next: next,
				History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
			})
			took := costtest.Spent() - start
			runtime.ReadMemStats(&after)
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%s, %d findings, %d messages, %s, %d MB allocated in all", r.Verdict(), len(r.Compared[0].Findings), len(r.Messages), took, used)
			if renamed := c.name == "every field is renamed"; r.Compatible != renamed {
				t.Errorf("called %s", r.Verdict())
			}
			if took > costtest.Slower*2*time.Second || used > 512 {
				t.Errorf("took %s and %d MB", took, used)
			}
		})
	}
}
