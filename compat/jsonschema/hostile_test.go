//go:build unix

package jsonschema_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
)

func repeat(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

// unlessDear leaves a case that is named to the long run of CARTORIO_HUNT: it takes
// about a second, and the ordinary run has a cheaper one of its kind.
func unlessDear(t *testing.T, names ...string) {
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	if slices.Contains(names, strings.ReplaceAll(name, "_", " ")) && os.Getenv("CARTORIO_HUNT") == "" {
		t.Skip("NOT RUN: it takes a second, which an ordinary run has not; CARTORIO_HUNT=1s runs it, and make ci does")
	}
}

// chain is n definitions, each made of the next one twice.
func chain(n int, form, last string) string {
	return fmt.Sprintf(`{"$ref":"#/definitions/a0","definitions":{%s,"a%d":%s}}`, repeat(n, func(i int) string {
		ref := fmt.Sprintf(`{"$ref":"#/definitions/a%d"}`, i+1)
		return fmt.Sprintf(`"a%d":`, i) + strings.ReplaceAll(form, "REF", ref)
	}), n, last)
}

// TestHostilePairs compares pairs whose cost doubles at every level for a
// checker without a memo, or is the product of two large schemas: the reference
// answer, and what is told beside it.
func TestHostilePairs(t *testing.T) {
	union := func(n, from int) string {
		return `{"anyOf":[` + repeat(n, func(i int) string { return fmt.Sprintf(`{"const":%d}`, from+i) }) + `]}`
	}
	objects := func(n int) string {
		return `{"oneOf":[` + repeat(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"k%d":{"$ref":"#"}},"maxProperties":%d}`, i, i)
		}) + `]}`
	}
	list := func(n int, last string) string {
		return `{"$ref":"#/definitions/a0","definitions":{` + repeat(n, func(i int) string {
			return fmt.Sprintf(`"a%d":{"properties":{"x":{"$ref":"#/definitions/a%d"}}}`, i, i+1)
		}) + fmt.Sprintf(`,"a%d":{"type":"%s"}}}`, n, last)
	}
	shapes := func(n int, letter string) string {
		return `{"anyOf":[` + repeat(n, func(i int) string {
			return fmt.Sprintf(`{"type":"object","properties":{"%s%d":{"type":"integer"}}}`, letter, i)
		}) + `]}`
	}
	const yes, no, unchecked = compat.Compatible, compat.Breaking, compat.NotChecked
	for _, c := range []struct {
		name, old, next string
		want            compat.Verdict
	}{
		{"properties that double", chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"string"}`), chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"number"}`), no},
		{"properties that double, equal", chain(60, `{"properties":{"a":REF,"b":REF}}`, `{"type":"string"}`), chain(60, `{"properties":{"a":REF,"b":REF},"title":"t"}`, `{"type":"string"}`), yes},
		{"unions that double", chain(60, `{"anyOf":[REF,REF,{"title":"x"}]}`, `{"type":"string"}`), chain(60, `{"anyOf":[REF,REF,{"title":"x"}]}`, `{"type":"number"}`), yes},
		{"not inside not", chain(60, `{"not":REF}`, `{"type":"string"}`), chain(60, `{"not":REF}`, `{"type":"number"}`), no},
		{"1,000 by 1,000 branches", union(1000, 0), union(1000, 500), no},
		{"5,000 by 5,000 branches", union(5000, 0), union(5000, 1), unchecked},
		{"4,000 by 4,000 objects", shapes(4000, "a"), shapes(4000, "b"), unchecked},
		{"100 recursive branches", objects(100), objects(101), yes},
		{
			"10,000 properties", `{"properties":{` + repeat(10_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`,
			`{"properties":{` + repeat(10_000, func(i int) string { return fmt.Sprintf(`"q%d":{"type":"string"}`, i) }) + `}}`, no,
		},
		{
			"10,000 properties over 300 patterns", `{"additionalProperties":false,"properties":{` + repeat(10_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) }) + `}}`,
			`{"additionalProperties":false,"patternProperties":{` + repeat(300, func(i int) string { return fmt.Sprintf(`"^x%d$":{}`, i) }) + `}}`, unchecked,
		},
		{
			"a pattern that backtracks over a name", `{"properties":{"` + strings.Repeat("a", 1_000) + `":{}}}`,
			`{"patternProperties":{"(?=(a+)+$)b":{}},"additionalProperties":{}}`, unchecked,
		},
		{"a list of 9,000 definitions", list(9_000, "string"), list(9_000, "number"), no},
		{"a list of 9,000 definitions that grew", list(9_000, "integer"), list(9_000, "number"), yes},
		{"allOf at every level", strings.Repeat(`{"allOf":[{"title":"a"},`, 60) + "{}" + strings.Repeat("]}", 60), strings.Repeat(`{"allOf":[{"title":"b"},`, 60) + "{}" + strings.Repeat("]}", 60), yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			unlessDear(t, "a list of 9,000 definitions")
			old, err := parseWith(c.old, nil)
			if err != nil {
				t.Fatal(err)
			}
			next, err := parseWith(c.next, nil)
			if err != nil {
				t.Fatal(err)
			}
			var report compat.Report
			within(t, func() { report = whole(old, next, compat.Backward, compat.Reference) })
			if got := report.Verdict(); got != c.want {
				t.Errorf("want %s, got %s: %.3v", c.want, got, report.Messages)
			}
		})
	}
}
