//go:build unix

package jsonschema_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/jsonschema"
)

// TestHostileRepairs asks for advice on pairs that are large, differ in much or
// are dear to compare: repairs get what the comparison left of one budget.
func TestHostileRepairs(t *testing.T) {
	props := func(n int, f func(i int) string) string {
		return `{"type":"object","properties":{` + repeat(n, f) + `},"additionalProperties":false}`
	}
	shapes := func(n int, letter string) string {
		return `{"anyOf":[` + repeat(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"%s%d":{"type":"integer"}}}`, letter, i)
		}) + `]}`
	}
	values := func(n int, form string) string {
		return `{"anyOf":[` + repeat(n, func(i int) string { return fmt.Sprintf(`{"const":`+form+`}`, i) }) + `]}`
	}
	objects := func(n int, criterion string) string {
		return `{"` + criterion + `":[` + repeat(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","required":["a%d"],"properties":{"a%d":{"type":"string","pattern":"^x{%d}"},"b":{"enum":["u%d","v"]}}}`, i, i, i%50, i)
		}) + `]}`
	}
	ring := func(n int, last string) string {
		return `{"$ref":"#/definitions/d0","definitions":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/definitions/d%d"},"b":%s}}`, i, (i+1)%n, last)
		}) + `}}`
	}
	for _, c := range []struct{ name, old, next string }{
		{
			"1,000 narrowed properties", props(1_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"number"}`, i) }),
			props(1_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"integer"}`, i) }),
		},
		{
			"1,000 renamed properties", props(1_000, func(i int) string { return fmt.Sprintf(`"p%d":{"const":%d}`, i, i) }),
			props(1_000, func(i int) string { return fmt.Sprintf(`"q%d":{"const":%d}`, i, i) }),
		},
		{"a union that lost half", `{"enum":[` + repeat(4_000, func(i int) string { return fmt.Sprint(i) }) + `]}`, `{"enum":[` + repeat(2_000, func(i int) string { return fmt.Sprint(i) }) + `]}`},
		{
			"every property of 9,000 is narrowed", props(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":["string","number"]}`, i) }),
			props(9_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string","maxLength":%d}`, i, i) }),
		},
		{"350 by 355 objects that look alike", shapes(350, "a"), shapes(355, "b")},
		{"300 by 302 objects with patterns", objects(300, "anyOf"), objects(302, "anyOf")},
		{"300 and 302 conditions with patterns", objects(300, "allOf"), objects(302, "allOf")},
		{"a ring of 5,000 definitions", ring(5_000, `{"type":"string"}`), ring(5_000, `{"type":"string","maxLength":9}`)},
		{
			"3,000 properties that look renamed", props(3_000, func(i int) string { return fmt.Sprintf(`"a%d":{"type":"string","maxLength":%d}`, i, i) }),
			props(3_000, func(i int) string { return fmt.Sprintf(`"b%d":{"type":"string","maxLength":%d}`, i, i) }),
		},
		{"1,300 by 1,400 values", values(1_300, "%d"), values(1_400, `"%d"`)},
		{"unions that double", chain(40, `{"anyOf":[REF,REF,{"title":"x","type":"null"}]}`, `{"type":"string"}`), chain(40, `{"anyOf":[REF,REF,{"title":"x","type":"null"}]}`, `{"type":"number"}`)},
		{"definitions that need each other", strings.Replace(chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"string"}`), `"$ref"`, `"additionalProperties":false,"properties":{"a":{"$ref":"#/definitions/a0"}},"x"`, 1), `{"additionalProperties":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			unlessDear(t, "1,000 renamed properties", "every property of 9,000 is narrowed", "1,300 by 1,400 values", "unions that double",
				"300 by 302 objects with patterns", "300 and 302 conditions with patterns", "a ring of 5,000 definitions", "3,000 properties that look renamed")
			old, next := mustParse(t, c.old), mustParse(t, c.next)
			q := compat.Question{
				Checkers: []compat.Checker{jsoncompat.Checker}, Level: compat.Full, VerdictPolicy: compat.Both,
				Next: next, History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
				Variant: func(_ schemas.Schema, text string) (schemas.Schema, error) {
					return jsonschema.Format.Parse(context.Background(), schemas.Source{Type: schemas.JSON, Text: text}, nil, schemas.ParseOptions{})
				},
			}
			repaired := 0
			within(t, func() {
				report, _, _ := compat.Advise(q)
				for _, f := range report.Compared[0].Findings {
					repaired += min(len(f.Repairs), 1)
				}
			})
			t.Logf("%d findings have a repair", repaired)
		})
	}
}
