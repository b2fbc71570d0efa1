package jsonschema_test

import (
	"fmt"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
)

func fields(n int, last string) string {
	return `{"type":"object","properties":{` + repeat(n, func(i int) string {
		return fmt.Sprintf(`"field%d":{"type":"string","description":"field %d"}`, i, i)
	}) + `,"last":` + last + `},"required":["field0","field1"],"additionalProperties":false}`
}

// BenchmarkTruth answers for pairs of 100 fields: nothing changed but a remark,
// an optional field widened, and one narrowed.
func BenchmarkTruth(b *testing.B) {
	for _, c := range []struct{ name, old, next string }{
		{"remark", fields(100, `{"type":"integer"}`), fields(100, `{"type":"integer","title":"t"}`)},
		{"widened", fields(100, `{"type":"integer"}`), fields(100, `{"type":"number"}`)},
		{"narrowed", fields(100, `{"type":"number"}`), fields(100, `{"type":"integer"}`)},
	} {
		b.Run(c.name, func(b *testing.B) {
			old, err := parseWith(c.old, nil)
			if err != nil {
				b.Fatal(err)
			}
			next, err := parseWith(c.next, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				jsoncompat.Checker.Truth(old, next, compat.Budget{})
			}
		})
	}
}
