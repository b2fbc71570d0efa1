package avro_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// TestReadsNearest: of many violations the last that is told stands nearest to the
// place asked, the first of several, as a look at all of them says.
func TestReadsNearest(t *testing.T) {
	t.Parallel()
	field := func(kind string) string {
		var list []string
		for i := range 40 {
			list = append(list, fmt.Sprintf(`{"name":"f%d","type":%s}`, i, kind))
		}
		return `{"type":"record","name":"R","fields":[` + strings.Join(list, ",") + `]}`
	}
	writer := mustParse(t, field(`{"type":"array","items":"int"}`))
	reader := mustParse(t, field(`{"type":"array","items":"string"}`))
	payload := []byte(strings.Repeat("\x04\x02\x02\x00", 40))
	all := reader.Reads(writer, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Violations: 1_000})
	if len(all.Violations) != 80 {
		t.Fatalf("%d violations", len(all.Violations))
	}
	for _, at := range []schemas.Pointer{"", "/fields/7", "/fields/7/type/items", "/fields/39/type", "/fields/4", "/fields/41/x", "/nowhere", "/fields/1~0"} {
		var want schemas.Violation
		best := -1
		for _, v := range all.Violations {
			n := 0
			for n < len(v.Schema) && n < len(at) && v.Schema[n] == at[n] {
				n++
			}
			if n > best {
				want, best = v, n
			}
		}
		got, seen := reader.ReadsNearest(writer, payload, schemas.ReadOptions{Violations: 1_000}, at)
		if seen != 80 || len(got.Violations) == 0 || got.Violations[len(got.Violations)-1] != want {
			t.Errorf("%q: of %d violations %v, want %v", at, seen, got.Violations, want)
		}
	}
	if got, seen := reader.ReadsNearest(writer, payload, schemas.ReadOptions{Violations: 5}, "/fields/39"); seen != 5 || got.OK() {
		t.Errorf("%d looked at, want 5", seen)
	}
	if got, _ := writer.ReadsNearest(writer, payload, schemas.ReadOptions{}, "/fields/1"); !got.OK() {
		t.Error(got.Violations)
	}
	if got, seen := writer.ReadsNearest(writer, payload, schemas.ReadOptions{Bytes: 1}, ""); got.OK() || seen != 1 {
		t.Error("a payload over the limit is read")
	}
}

// TestReadsPart: a part of a value is what the whole has there, whoever reads.
func TestReadsPart(t *testing.T) {
	t.Parallel()
	const tree = `{"type":"record","name":"T","fields":[{"name":"a","type":"int"},{"name":"kids","type":{"type":"array","items":"T"}},{"name":"b","type":"int"}%s]}`
	writer := mustParse(t, fmt.Sprintf(tree, ""))
	reader := mustParse(t, fmt.Sprintf(tree, `,{"name":"c","type":"string","default":"x"}`))
	payload := []byte{2, 2, 4, 0, 6, 0, 8} // {a:1, kids:[{a:2, kids:[], b:3}], b:4}
	fields := reader.Root().Named.Fields
	for _, c := range []struct {
		part *avro.Field
		want any
	}{
		{fields[0], map[string]any{"a": int64(1)}},
		{fields[1], map[string]any{"kids": []any{map[string]any{"kids": []any{}}}}},
		{fields[2], map[string]any{"b": int64(4)}},
		{fields[3], map[string]any{"c": "x"}},
	} {
		got := reader.ReadsPart(writer, payload, schemas.ReadOptions{}, c.part)
		if diff := cmp.Diff(c.want, got.Value); diff != "" || !got.OK() {
			t.Errorf("%s: %v (-want +got):\n%s", c.part.Name, got.Violations, diff)
		}
	}
	if got := reader.ReadsPart(writer, payload[:3], schemas.ReadOptions{}, fields[0]); got.OK() || got.Value != nil {
		t.Errorf("a payload that ends early is read: %v", got.Value)
	}
}
