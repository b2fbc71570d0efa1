package avro_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
)

// differences spells the reference's answer as lines of kind, path and info.
func differences(t testing.TB, reader, writer string) []string {
	t.Helper()
	list, err := compatavro.Checker.Reference(parse(t, reader), parse(t, writer), compat.Strict, compat.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, d := range list {
		if d.Compatible {
			t.Errorf("%v is accepted; Avro's reference reports refusals only", d)
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Type, d.Path, d.Info)))
	}
	return out
}

func mismatch(path, reader, writer string) string {
	return fmt.Sprintf("TYPE_MISMATCH %s reader type: %s not compatible with writer type: %s", path, reader, writer)
}

func lacking(path, writer string) string {
	return fmt.Sprintf("MISSING_UNION_BRANCH %s reader union lacking writer type: %s", path, writer)
}

// TestReferencePrimitives walks the whole matrix of resolution rules 1 and 11
// to 16.
func TestReferencePrimitives(t *testing.T) {
	t.Parallel()
	reads := map[string][]string{
		"long": {"int"}, "float": {"int", "long"}, "double": {"int", "long", "float"}, "bytes": {"string"}, "string": {"bytes"},
	}
	for _, r := range primitiveKinds {
		for _, w := range primitiveKinds {
			want := []string{}
			if r != w && !slices.Contains(reads[r], w) {
				want = append(want, mismatch("/", strings.ToUpper(r), strings.ToUpper(w)))
			}
			if diff := cmp.Diff(want, differences(t, `"`+r+`"`, `"`+w+`"`)); diff != "" {
				t.Errorf("%s reads %s (-want +got):\n%s", r, w, diff)
			}
		}
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	const (
		enumAB  = `{"type":"enum","name":"E","symbols":["A","B"]}`
		enumA   = `{"type":"enum","name":"E","symbols":["A"]}`
		enumAdf = `{"type":"enum","name":"E","symbols":["A"],"default":"A"}`
		fixed2  = `{"type":"fixed","name":"F","size":2}`
		fixed4  = `{"type":"fixed","name":"F","size":4}`
	)
	record := func(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }
	for _, c := range []struct {
		name, reader, writer string
		want                 []string
	}{
		{"array items", `{"type":"array","items":"int"}`, `{"type":"array","items":"long"}`, []string{mismatch("/items", "INT", "LONG")}},
		{"map values at depth", `{"type":"map","values":{"type":"array","items":"string"}}`, `{"type":"map","values":{"type":"array","items":"int"}}`, []string{mismatch("/values/items", "STRING", "INT")}},
		{"array for map", `{"type":"array","items":"int"}`, `{"type":"map","values":"int"}`, []string{mismatch("/", "ARRAY", "MAP")}},
		{"error is record", `{"type":"error","name":"R","fields":[]}`, record(""), nil},
		{"fixed of another size", fixed2, fixed4, []string{"FIXED_SIZE_MISMATCH /size expected: 4, found: 2"}},
		{"fixed with both faults", fixed2, `{"type":"fixed","name":"G","namespace":"n","size":4}`, []string{"NAME_MISMATCH /name expected: n.G", "FIXED_SIZE_MISMATCH /size expected: 4, found: 2"}},
		{"namespace does not matter", `{"type":"fixed","name":"a.F","size":2}`, `{"type":"fixed","name":"b.F","size":2}`, nil},
		{"enum lacks symbols, sorted", enumA, `{"type":"enum","name":"E","symbols":["D","A","C"]}`, []string{"MISSING_ENUM_SYMBOLS /symbols [C, D]"}},
		{"enum with a default lacks symbols", enumAdf, enumAB, nil},
		{"the writer's enum default is no help", enumA, `{"type":"enum","name":"E","symbols":["A","B"],"default":"B"}`, []string{"MISSING_ENUM_SYMBOLS /symbols [B]"}},
		{"enum with both faults", `{"type":"enum","name":"D","symbols":[]}`, enumA, []string{"NAME_MISMATCH /name expected: E", "MISSING_ENUM_SYMBOLS /symbols [A]"}},
		{"alias without a dot is of the type's namespace", `{"type":"fixed","name":"n.G","aliases":["F"],"size":2}`, fixed2, []string{"NAME_MISMATCH /name expected: F"}},
		{"alias with a full name", `{"type":"fixed","name":"n.G","aliases":["m.F"],"size":2}`, `{"type":"fixed","name":"m.F","size":2}`, nil},
		{"the writer's alias is no help", fixed2, `{"type":"fixed","name":"G","aliases":["F"],"size":2}`, []string{"NAME_MISMATCH /name expected: G"}},
		{"missing field", record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`), record(`{"name":"a","type":"int"}`), []string{"READER_FIELD_MISSING_DEFAULT_VALUE /fields/1 b"}},
		{"nullable is no default", record(`{"name":"b","type":["null","int"]}`), record(""), []string{"READER_FIELD_MISSING_DEFAULT_VALUE /fields/0 b"}},
		{"default null", record(`{"name":"b","type":["null","int"],"default":null}`), record(""), nil},
		{"a default does not rescue a type", record(`{"name":"b","type":"int","default":1}`), record(`{"name":"b","type":"string"}`), []string{mismatch("/fields/0/type", "INT", "STRING")}},
		{"all faults in reading order", record(`{"name":"x","type":"int"},{"name":"a","type":"int"},{"name":"y","type":` + enumA + `}`), record(`{"name":"a","type":"string"},{"name":"y","type":` + enumAB + `}`), []string{
			"READER_FIELD_MISSING_DEFAULT_VALUE /fields/0 x", mismatch("/fields/1/type", "INT", "STRING"), "MISSING_ENUM_SYMBOLS /fields/2/type/symbols [B]",
		}},
		{"field alias", record(`{"name":"b","type":"long","aliases":["a"]}`), record(`{"name":"a","type":"int"}`), nil},
		{"letter case counts", record(`{"name":"A","type":"int"}`), record(`{"name":"a","type":"int"}`), []string{"READER_FIELD_MISSING_DEFAULT_VALUE /fields/0 A"}},
		{"union for union", `["null","int"]`, `["null","int","string"]`, []string{lacking("/2", "STRING")}},
		{"union by promotion", `["null","double"]`, `["int","null","float"]`, nil},
		{"union for one type", `["null","int"]`, `"string"`, []string{lacking("/", "STRING")}},
		{"one type for a union", `"string"`, `["null","string","int"]`, []string{mismatch("/0", "STRING", "NULL"), mismatch("/2", "STRING", "INT")}},
		{"one type for a union in a field", record(`{"name":"a","type":"string"}`), record(`{"name":"a","type":["null","string"]}`), []string{mismatch("/fields/0/type/0", "STRING", "NULL")}},
		{"the empty union is read by anything", `"int"`, `[]`, nil},
		{"the empty union reads nothing", `[]`, `"int"`, []string{lacking("/", "INT")}},
		// Oddities.
		{"a union hides what is wrong inside its branch", `["null",` + record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`) + `]`, `["null",` + record(`{"name":"a","type":"int"}`) + `]`, []string{lacking("/1", "RECORD")}},
		{"one type for a union shows it", record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`), `[` + record(`{"name":"a","type":"int"}`) + `]`, []string{"READER_FIELD_MISSING_DEFAULT_VALUE /0/fields/1 b"}},
		{"missing field whose enum has a default", record(`{"name":"e","type":` + enumAdf + `}`), record(""), []string{mismatch("/fields/0/type", "ENUM", "RECORD")}},
		{
			"and a second one is answered from memory", record(`{"name":"e","type":` + enumAdf + `},{"name":"f","type":"E"}`), record(""),
			[]string{mismatch("/fields/0/type", "ENUM", "RECORD"), mismatch("/fields/0/type", "ENUM", "RECORD")},
		},
		{
			"a repeat shows the path of the first meeting", record(`{"name":"a","type":` + fixed2 + `},{"name":"b","type":"F"}`), record(`{"name":"a","type":` + fixed4 + `},{"name":"b","type":"F"}`),
			[]string{"FIXED_SIZE_MISMATCH /fields/0/type/size expected: 4, found: 2", "FIXED_SIZE_MISMATCH /fields/0/type/size expected: 4, found: 2"},
		},
		{
			"a repeat of a meeting in a union is relative to the branch", record(`{"name":"a","type":["null",` + fixed2 + `]},{"name":"b","type":"F"}`), record(`{"name":"a","type":["null",` + fixed4 + `]},{"name":"b","type":"F"}`),
			[]string{lacking("/fields/0/type/1", "FIXED"), "FIXED_SIZE_MISMATCH /size expected: 4, found: 2"},
		},
		{
			"an ambiguous alias ends the check", record(`{"name":"x","type":"int"},{"name":"a","type":"int","aliases":["b"]}`), record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`),
			[]string{"UNEXPECTED_EXCEPTION /fields/1 Reader record field a matches multiple fields in writer record schema R"},
		},
		{
			"also inside a union", `["null",` + record(`{"name":"a","type":"int","aliases":["b"]}`) + `]`, `["null",` + record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`) + `]`,
			[]string{"UNEXPECTED_EXCEPTION /fields/0 Reader record field a matches multiple fields in writer record schema R"},
		},
		{"two fields with one alias pass", record(`{"name":"u","type":"int","aliases":["v"]},{"name":"t","type":"int","aliases":["v"]}`), record(`{"name":"v","type":"int"}`), nil},
		// Recursion.
		{"a list", listOf("long"), listOf("int"), nil},
		{"a list that breaks", listOf("int"), listOf("long"), []string{mismatch("/fields/0/type", "INT", "LONG")}},
		{"an endless record", `{"type":"record","name":"L","fields":[{"name":"me","type":"L"}]}`, `{"type":"record","name":"L","fields":[{"name":"me","type":"L"}]}`, nil},
		{
			"two names for one circle", `{"type":"record","name":"A","fields":[{"name":"n","type":["null",{"type":"record","name":"B","fields":[{"name":"n","type":["null","A"]}]}]}]}`,
			`{"type":"record","name":"A","fields":[{"name":"n","type":["null",{"type":"record","name":"B","fields":[{"name":"n","type":["null","B"]}]}]}]}`,
			[]string{lacking("/fields/0/type/1", "RECORD")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.want == nil {
				c.want = []string{}
			}
			if diff := cmp.Diff(c.want, differences(t, c.reader, c.writer)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func listOf(item string) string {
	return `{"type":"record","name":"List","fields":[{"name":"head","type":"` + item + `"},{"name":"tail","type":["null","List"]}]}`
}

// TestMessages: what clients and people look for in the peer's texts.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, next, want string }{
		{
			"missing default", `{"type":"record","name":"R","fields":[]}`, `{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}`,
			"{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'a' at path '/fields/0' in the new schema has no default value and is missing in the old schema (avro.field-added-without-default)', additionalInfo:'a'}",
		},
		{
			"type", `"int"`, `"string"`,
			"{errorType:'TYPE_MISMATCH', description:'The type (path '/') of a field in the new schema does not match with the old schema (avro.type-changed)', additionalInfo:'reader type: STRING not compatible with writer type: INT'}",
		},
		{
			"name", `{"type":"fixed","name":"F","size":1}`, `{"type":"fixed","name":"G","size":1}`,
			"{errorType:'NAME_MISMATCH', description:'The name of the schema has changed (path '/name') (avro.type-renamed)', additionalInfo:'expected: F'}",
		},
		{
			"size", `{"type":"fixed","name":"F","size":1}`, `{"type":"fixed","name":"F","size":2}`,
			"{errorType:'FIXED_SIZE_MISMATCH', description:'The size of FIXED type field at path '/size' in the new schema does not match with the old schema (avro.fixed-size-changed)', additionalInfo:'expected: 1, found: 2'}",
		},
		{
			"symbols", `{"type":"enum","name":"E","symbols":["A","B"]}`, `{"type":"enum","name":"E","symbols":["A"]}`,
			"{errorType:'MISSING_ENUM_SYMBOLS', description:'The new schema is missing enum symbols '[B]' at path '/symbols' in the old schema (avro.enum-symbol-removed)', additionalInfo:'[B]'}",
		},
		{
			"branch", `["null","int"]`, `["null"]`,
			"{errorType:'MISSING_UNION_BRANCH', description:'The new schema is missing a type inside a union field at path '/1' in the old schema (avro.union-branch-removed)', additionalInfo:'reader union lacking writer type: INT'}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compat.Check(compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: parse(t, c.next),
				History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, c.old)}},
			})
			if len(r.Messages) == 0 || r.Messages[0] != c.want {
				t.Errorf("got\n%q\nwant\n%s", r.Messages, c.want)
			}
		})
	}
}

// TestAmbiguousAliasRefusesItself: the peer's check fails on a schema that is
// compared with itself, while readers of one schema have no trouble.
func TestAmbiguousAliasRefusesItself(t *testing.T) {
	t.Parallel()
	const text = `{"type":"record","name":"R","fields":[{"name":"a","type":"int","aliases":["b"]},{"name":"b","type":"int"}]}`
	q := compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: parse(t, text),
		History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, text)}},
	}
	if r := compat.Check(q); r.Verdict() != compat.Breaking {
		t.Errorf("REFERENCE: %s", r.Verdict())
	}
	q.VerdictPolicy = compat.Sound
	if r := compat.Check(q); r.Verdict() != compat.Compatible {
		t.Errorf("SOUND: %s %q", r.Verdict(), r.Messages)
	}
}
