//go:build unix

package jsonschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	jsoncompat "github.com/cartorio-registry/cartorio/compat/jsonschema"
	"github.com/cartorio-registry/cartorio/schemas"
)

// whole asks both questions of a pair.
func whole(old, next schemas.Schema, level compat.Level, policy compat.VerdictPolicy) compat.Report {
	return compat.Check(compat.Question{
		Checkers: []compat.Checker{jsoncompat.Checker}, Level: level, VerdictPolicy: policy,
		Next: next, History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
	})
}

// TestHostileTruth asks of pairs that are made to be dear that they are answered
// within the limits, or left open: never that they hang.
func TestHostileTruth(t *testing.T) {
	word := func(n int, f func(i int) string) string { return repeat(n, f) }
	tagged := func(n int, criterion, extra string) string {
		return `{"` + criterion + `":[` + word(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"k":{"const":"t%d"},"v":{"type":"integer"%s}},"required":["k"]}`, i, extra)
		}) + `]}`
	}
	overlapping := func(n, more int) string {
		return `{"oneOf":[` + word(n, func(i int) string { return fmt.Sprintf(`{"minimum":%d,"maximum":%d}`, i, i+n+more) }) + `]}`
	}
	patterns := func(n int, last string) string {
		return `{"patternProperties":{` + word(n, func(i int) string { return fmt.Sprintf(`"a.{%d}b":{"type":%s}`, i, last) }) + `}}`
	}
	nots := func(n int) string {
		return `{"allOf":[` + word(n, func(i int) string { return fmt.Sprintf(`{"not":{"required":["a%d","b%d"]}}`, i, i) }) + `]}`
	}
	dependencies := func(n int, last string) string {
		return `{"dependencies":{` + word(n, func(i int) string {
			return fmt.Sprintf(`"a%d":{"anyOf":[{"required":["b%d"]},{"required":["c%d"]}]}`, i, i, i)
		}) + last + `}}`
	}
	props := func(n int, kind string) string {
		return `{"type":"object","properties":{` + word(n, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"%s"}`, i, kind) }) + `},"required":[` +
			word(n, func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]}`
	}
	deep := func(n int, last string) string {
		return strings.Repeat(`{"properties":{"a":`, n) + last + strings.Repeat(`}}`, n)
	}
	for _, c := range []struct{ name, old, next string }{
		{"properties that double", chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"string"}`), chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"number"}`)},
		{"required properties that double", chain(60, `{"properties":{"a":REF,"b":REF},"required":["a","b"]}`, `{"type":"string"}`), chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"number"}`)},
		{"unions that double", chain(60, `{"anyOf":[REF,REF,{"title":"x","type":"null"}]}`, `{"type":"string"}`), chain(60, `{"anyOf":[REF,REF,{"title":"x","type":"null"}]}`, `{"type":"number"}`)},
		{"oneOf that doubles", chain(40, `{"oneOf":[REF,{"allOf":[REF,{"minLength":1}]}]}`, `{"type":"string"}`), chain(40, `{"oneOf":[REF,{"allOf":[REF,{"minLength":2}]}]}`, `{"type":"string"}`)},
		{"not inside not", chain(60, `{"not":REF}`, `{"type":"string"}`), chain(60, `{"not":REF}`, `{"type":"number"}`)},
		{"100 tagged branches", tagged(100, "anyOf", ""), tagged(100, "anyOf", `,"minimum":0`)},
		{"60 tagged branches of oneOf", tagged(60, "oneOf", ""), tagged(60, "oneOf", `,"minimum":0`)},
		{"30 branches that overlap", overlapping(30, 0), overlapping(30, 1)},
		{"30 patterns", patterns(30, `"string"`), patterns(30, `["string","null"]`)},
		{"100 patterns", patterns(100, `"string"`), patterns(100, `["string","null"]`)},
		{"30 exclusions", nots(30), nots(31)},
		{"40 dependencies", dependencies(40, ""), dependencies(40, `,"z":["y"]`)},
		{"3,000 required properties", props(3_000, "integer"), props(3_000, "number")},
		{"3,000 required properties, narrowed", props(3_000, "number"), props(3_000, "integer")},
		{"2,000 by 2,000 values", `{"enum":[` + word(2000, func(i int) string { return fmt.Sprint(i) }) + `]}`, `{"enum":[` + word(2000, func(i int) string { return fmt.Sprint(i + 1) }) + `]}`},
		{"counts beyond all bounds", `{"minItems":1000000000,"minProperties":100000000,"minLength":100000000}`, `{"minItems":1000000001,"minProperties":100000001,"minLength":100000001}`},
		{"a step of 900 digits", `{"multipleOf":1` + strings.Repeat("0", 890) + `1}`, `{"multipleOf":3` + strings.Repeat("0", 890) + `1}`},
		{"patterns whose product is large", `{"type":"string","pattern":"^(a|b)*a(a|b){12}$"}`, `{"type":"string","pattern":"^(a|b)*b(a|b){12}$"}`},
		{"a pattern that backtracks", `{"type":"string","pattern":"(?=(a+)+$)b"}`, `{"type":"string","pattern":"(?=(a+)+$)c"}`},
		{"60 levels", deep(60, `{"type":"integer"}`), deep(60, `{"type":"string"}`)},
		{"a recursion of two", `{"anyOf":[{"type":"null"},{"properties":{"l":{"$ref":"#"},"r":{"$ref":"#"}},"required":["l","r"]}]}`, `{"oneOf":[{"type":"null"},{"type":"object","properties":{"l":{"$ref":"#"},"r":{"$ref":"#"}},"required":["l","r"]}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			unlessDear(t, "unions that double", "100 patterns", "3,000 required properties")
			old, err := parseWith(c.old, nil)
			if err != nil {
				t.Fatal(err)
			}
			next, err := parseWith(c.next, nil)
			if err != nil {
				t.Fatal(err)
			}
			var report compat.Report
			within(t, func() { report = whole(old, next, compat.Full, compat.Both) })
			c := report.Compared[0]
			t.Logf("%s, %v, %d changes", c.Verdict, c.Effects[compat.Data], len(c.Changes))
		})
	}
}
