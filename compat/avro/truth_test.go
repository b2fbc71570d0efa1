package avro_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

// tell spells a pair's truth: the whole, then each change's rule, path and
// outcomes.
func tell(t testing.TB, old, next string) []string {
	t.Helper()
	effects, changes := compatavro.Checker.Truth(parse(t, old), parse(t, next), compat.Budget{})
	outcome := func(o compat.Outcome) string {
		if o.Answer == compat.Breaks {
			return o.Kind.String()
		}
		return o.Answer.String()
	}
	line := func(name string, e compat.Effect) string {
		return fmt.Sprintf("%s: %s, %s", name, outcome(e.NewReadsOld), outcome(e.OldReadsNew))
	}
	out := []string{line("whole", effects[compat.Data])}
	for _, c := range changes {
		out = append(out, line(strings.TrimPrefix(c.Rule, "avro.")+" "+c.Path, c.Effects[compat.Data]))
	}
	return out
}

// TestTruth walks the change catalogue where more than one rule or place takes
// part; what one rule says by itself is in its example file.
func TestTruth(t *testing.T) {
	t.Parallel()
	record := func(fields string) string {
		return `{"type":"record","name":"R","namespace":"n","fields":[` + fields + `]}`
	}
	for _, c := range []struct {
		name, old, next string
		want            []string
	}{
		{"a branch that another one covers goes", `["null","int","long"]`, `["null","long"]`, []string{"whole: safe, safe", "union-branch-removed : safe, safe"}},
		{"a union is dissolved into what all branches reach", `["int","float"]`, `"double"`, []string{"whole: safe, refused", "type-widened : safe, refused", "union-branch-removed : safe, safe"}},
		{"a union is dissolved into its widest branch", `["int","long"]`, `"long"`, []string{"whole: safe, safe", "union-branch-removed : safe, safe"}},
		{"a branch is replaced", `["null","int"]`, `["null","string"]`, []string{"whole: refused, refused", "union-branch-added : safe, refused", "union-branch-removed : refused, safe"}},
		{"a branch is widened and the old union reaches it", `["int","double"]`, `["long","double"]`, []string{"whole: safe, safe", "type-widened : safe, altered out of range"}},
		{
			"a fault inside a union branch", `["null",` + record(`{"name":"a","type":"int"}`) + `]`, `["null",` + record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`) + `]`,
			[]string{"whole: refused, safe", "field-added-without-default n.R.b: refused, safe"},
		},
		{
			"one definition used twice is one change", record(`{"name":"a","type":{"type":"fixed","name":"F","size":1}},{"name":"b","type":{"type":"array","items":"F"}}`),
			record(`{"name":"a","type":{"type":"fixed","name":"F","size":2}},{"name":"b","type":{"type":"array","items":"F"}}`),
			[]string{"whole: refused, refused", "fixed-size-changed n.F: refused, refused"},
		},
		{"items and values", record(`{"name":"a","type":{"type":"array","items":{"type":"map","values":"int"}}}`), record(`{"name":"a","type":{"type":"array","items":{"type":"map","values":"long"}}}`), []string{"whole: safe, refused", "type-widened n.R.a[]{}: safe, refused"}},
		{"a record without a finite value breaks nobody", `{"type":"record","name":"L","fields":[{"name":"v","type":"int"},{"name":"me","type":"L"}]}`, `{"type":"record","name":"L","fields":[{"name":"v","type":"string"},{"name":"me","type":"L"}]}`, []string{"whole: safe, safe", "type-changed L.v: refused, refused"}},
		{"renamed with alias where the old side had a default", record(`{"name":"a","type":"string","default":"?"}`), record(`{"name":"b","type":"string","aliases":["a"]}`), []string{"whole: safe, safe", "field-renamed-with-alias n.R.b: safe, lost", "field-default-removed n.R.b: safe, safe"}},
		{"renamed with alias and widened", record(`{"name":"a","type":"int"}`), record(`{"name":"b","type":"long","aliases":["a"]}`), []string{"whole: safe, refused", "field-renamed-with-alias n.R.b: safe, refused", "type-widened n.R.b: safe, safe"}},
		{"removed and added elsewhere is no rename", record(`{"name":"a","type":"int","default":1},{"name":"k","type":"int"}`), record(`{"name":"k","type":"int"},{"name":"b","type":"int","default":1}`), []string{"whole: safe, safe", "field-added-with-default n.R.b: safe, safe", "field-removed-with-default n.R.a: safe, safe"}},
		{"removed and added with another type is no rename", record(`{"name":"a","type":"int","default":1}`), record(`{"name":"b","type":"string","default":""}`), []string{"whole: safe, safe", "field-added-with-default n.R.b: safe, safe", "field-removed-with-default n.R.a: safe, safe"}},
		{"renamed behind an inserted field", record(`{"name":"k","type":"int"},{"name":"a","type":"int"}`), record(`{"name":"x","type":"string","default":""},{"name":"k","type":"int"},{"name":"b","type":"int"}`), []string{"whole: refused, refused", "field-added-with-default n.R.x: safe, safe", "field-renamed n.R.b: refused, refused"}},
		{"two fields list one alias", record(`{"name":"v","type":"int"}`), record(`{"name":"u","type":"int","aliases":["v"]},{"name":"t","type":"int","aliases":["v"]}`), []string{"whole: refused, refused", "field-renamed-with-alias n.R.u: safe, refused", "field-added-without-default n.R.t: refused, safe"}},
		{
			"aliases of both sides cross", record(`{"name":"f0","type":"double","aliases":["h0"]},{"name":"f1","type":{"type":"enum","name":"E","symbols":["A","B"]}}`), record(`{"name":"h0","type":{"type":"enum","name":"E","symbols":["B"]},"aliases":["f1"]}`),
			[]string{
				"whole: refused, refused", "field-renamed-from-alias n.R.h0: safe, safe", "field-aliases-changed n.R.h0: safe, safe",
				"type-changed n.R.h0: safe, refused", "field-removed-without-default n.R.f1: safe, refused", "enum-symbol-removed n.E.A: refused, safe",
			},
		},
		{
			"a list fills the field that a guess pairs with another", record(`{"name":"f0","type":"boolean","default":true,"aliases":["h0"]},{"name":"self","type":{"type":"array","items":"R"}}`), record(`{"name":"h0","type":{"type":"array","items":"int"},"aliases":["self"]}`),
			[]string{
				"whole: refused, refused", "field-renamed-from-alias n.R.h0: safe, safe", "field-default-removed n.R.h0: safe, safe", "field-aliases-changed n.R.h0: safe, safe",
				"type-changed n.R.h0: safe, refused", "field-removed-without-default n.R.self: safe, refused", "type-changed n.R.h0[]: refused, safe",
			},
		},
		{
			"a field that two others fill is refused all the same", record(`{"name":"a","type":"int","aliases":["c"]},{"name":"b","type":"int"},{"name":"d","type":"int"}`), record(`{"name":"c","type":"int","aliases":["b","d"]}`),
			[]string{
				"whole: refused, refused", "field-renamed-from-alias n.R.c: safe, safe", "field-aliases-ambiguous n.R.c: refused, safe",
				"field-removed-without-default n.R.b: safe, refused", "field-removed-without-default n.R.d: safe, refused",
			},
		},
		{"a field fits two and nothing but the spelling of a default is another", record(`{"name":"a","type":"double","aliases":["b"],"default":0},{"name":"b","type":"int"}`), record(`{"name":"a","type":"double","aliases":["b"],"default":0.0},{"name":"b","type":"int"}`), []string{"whole: safe, safe"}},
		{
			"another branch takes some symbols of a renamed enum", `["null",{"type":"enum","name":"A","symbols":["X"],"aliases":["B"]},{"type":"enum","name":"B","symbols":["Z","Y","X"],"aliases":["C"]}]`, `["null",{"type":"enum","name":"A","symbols":["X"],"aliases":["B"]},{"type":"enum","name":"C","symbols":["X","Y","Z"]}]`,
			[]string{"whole: refused, safe", "type-renamed-from-alias C: refused, safe", "enum-symbols-reordered C: safe, meaning only"},
		},
		{
			"another branch takes some values of a removed record", `["null",{"type":"record","name":"A","fields":[{"name":"x","type":["null","int"]}]},{"type":"record","name":"B","fields":[{"name":"x","type":["null","int",{"type":"array","items":["null","string"]}]}]}]`,
			`["null",{"type":"record","name":"A","aliases":["B"],"fields":[{"name":"x","type":["null","int",{"type":"array","items":"null"}]}]}]`,
			[]string{"whole: refused, refused", "type-aliases-changed A: safe, safe", "union-branch-added A.x: safe, refused", "union-branch-removed : refused, safe"},
		},
		{
			"another branch takes all values of a renamed fixed", `["null",{"type":"fixed","name":"A","size":3,"aliases":["M"]},{"type":"fixed","name":"B","size":2,"aliases":["M"]}]`, `["null",{"type":"fixed","name":"M","size":2,"aliases":["A"]},{"type":"fixed","name":"B","size":2}]`,
			[]string{"whole: refused, safe", "type-renamed-with-aliases-on-both-sides M: safe, safe", "fixed-size-changed M: refused, safe", "type-aliases-changed B: safe, safe"},
		},
		{
			"a branch of another namespace takes a fixed", `["null",{"type":"fixed","name":"a.F","size":1},{"type":"fixed","name":"b.F","size":2}]`, `["null",{"type":"fixed","name":"a.F","size":2},{"type":"fixed","name":"b.F","size":2}]`,
			[]string{"whole: refused, safe", "fixed-size-changed a.F: refused, safe"},
		},
		{
			"a branch of another namespace takes an enum", `["null",{"type":"enum","name":"a.E","symbols":["X"]},{"type":"enum","name":"b.E","symbols":["X","Y"]}]`, `["null",{"type":"enum","name":"a.E","symbols":["X","Y"]},{"type":"enum","name":"b.E","symbols":["X","Y"]}]`,
			[]string{"whole: safe, safe", "enum-symbol-added a.E.Y: safe, safe"},
		},
		{
			"a branch of another namespace alters an enum", `["null",{"type":"enum","name":"a.E","symbols":["X"]},{"type":"enum","name":"b.E","symbols":["X"],"default":"X"}]`, `["null",{"type":"enum","name":"a.E","symbols":["X","Y"]},{"type":"enum","name":"b.E","symbols":["X"],"default":"X"}]`,
			[]string{"whole: safe, altered", "enum-symbol-added a.E.Y: safe, safe", "enum-symbol-added-under-default a.E.Y: safe, altered"},
		},
		{
			"a branch of another namespace takes a record", `["null",{"type":"record","name":"a.R","fields":[{"name":"x","type":"int"}]},{"type":"record","name":"b.R","fields":[]}]`, `["null",{"type":"record","name":"a.R","fields":[{"name":"y","type":"string"}]},{"type":"record","name":"b.R","fields":[]}]`,
			[]string{"whole: safe, safe", "field-added-without-default a.R.y: safe, safe", "field-removed-without-default a.R.x: safe, safe"},
		},
		{
			"a branch of another namespace alters a record", `["null",{"type":"record","name":"a.R","fields":[{"name":"x","type":"bytes"}]}]`, `["null",{"type":"record","name":"a.R","fields":[{"name":"x","type":"int"}]},{"type":"record","name":"b.R","fields":[{"name":"x","type":"string"}]}]`,
			[]string{"whole: altered, refused", "type-changed a.R.x: safe, refused", "bytes-to-string b.R.x: altered, safe", "union-branch-added : safe, safe"},
		},
		{
			"what another branch takes is refused where there is none", record(`{"name":"u","type":["null",{"type":"fixed","name":"a.F","size":1},{"type":"fixed","name":"b.F","size":2}]},{"name":"f","type":"a.F"}`), record(`{"name":"u","type":["null",{"type":"fixed","name":"a.F","size":2},{"type":"fixed","name":"b.F","size":2}]},{"name":"f","type":"a.F"}`),
			[]string{"whole: refused, refused", "fixed-size-changed a.F: refused, refused"},
		},
		{
			"a renamed type that another branch takes is refused where there is none", record(`{"name":"u","type":["null",{"type":"fixed","name":"b.F","size":1},{"type":"fixed","name":"a.F","size":1}]},{"name":"f","type":"a.F"}`), record(`{"name":"u","type":["null",{"type":"fixed","name":"b.F","size":1},{"type":"fixed","name":"a.G","size":1}]},{"name":"f","type":"a.G"}`),
			[]string{"whole: refused, refused", "type-renamed a.G: refused, refused"},
		},
		{
			"of branches that all refuse the first is blamed", `["null",{"type":"fixed","name":"a.F","size":1},{"type":"fixed","name":"b.F","size":2}]`, `["null",{"type":"fixed","name":"c.F","size":3},{"type":"fixed","name":"d.F","size":4}]`,
			[]string{
				"whole: refused, refused", "namespace-changed c.F: safe, safe", "fixed-size-changed c.F: refused, refused", "namespace-changed d.F: safe, safe", "fixed-size-changed d.F: safe, safe",
				"fixed-size-changed c.F: refused, safe", "fixed-size-changed d.F: safe, refused",
			},
		},
		{"namespace and union change", `["null",{"type":"enum","name":"a.E","symbols":["A"]}]`, `["null","int",{"type":"enum","name":"b.E","symbols":["A"]}]`, []string{"whole: safe, refused", "union-branch-added : safe, refused", "namespace-changed b.E: safe, safe"}},
		{"a named branch is renamed", `["null",{"type":"fixed","name":"F","size":1}]`, `["null",{"type":"fixed","name":"G","size":1}]`, []string{"whole: refused, refused", "type-renamed G: refused, refused"}},
		{"date becomes a timestamp", record(`{"name":"d","type":{"type":"int","logicalType":"date"}}`), record(`{"name":"d","type":{"type":"long","logicalType":"timestamp-millis"}}`), []string{"whole: safe, refused", "type-widened n.R.d: safe, refused", "logical-type-changed n.R.d: meaning only, meaning only"}},
		{"a decimal becomes a string", `{"type":"bytes","logicalType":"decimal","precision":4}`, `"string"`, []string{"whole: altered, safe", "bytes-to-string : altered, safe", "logical-type-removed : meaning only, meaning only"}},
		{"an invalid logical type is an attribute", `"int"`, `{"type":"int","logicalType":"timestamp-millis"}`, []string{"whole: safe, safe", "attribute-changed @logicalType: safe, safe"}},
		{"a moved definition changes nothing", record(`{"name":"a","type":{"type":"fixed","name":"F","size":1}},{"name":"b","type":"F"}`), record(`{"name":"b","type":{"type":"fixed","name":"F","size":1}},{"name":"a","type":"F"}`), []string{"whole: safe, safe", "fields-reordered n.R: safe, safe"}},
		{"error and record are one and the same", `{"type":"record","name":"E","fields":[]}`, `{"type":"error","name":"E","fields":[]}`, []string{"whole: safe, safe"}},
		{"numbers are compared by value", record(`{"name":"d","type":"double","default":1}`), record(`{"name":"d","type":"double","default":1.0}`), []string{"whole: safe, safe"}},
		{"large numbers are compared digit for digit", record(`{"name":"d","type":"long","default":9007199254740992}`), record(`{"name":"d","type":"long","default":9007199254740993}`), []string{"whole: safe, safe", "field-default-changed n.R.d: safe, safe"}},
		{"a default of the wrong size", record(``), record(`{"name":"f","type":{"type":"fixed","name":"F","size":2},"default":"abc"}`), []string{"whole: refused, safe", "field-added-with-unusable-default n.R.f: refused, safe"}},
		{"an unusable default inside a record's", record(``), record(`{"name":"f","type":{"type":"record","name":"S","fields":[{"name":"e","type":{"type":"enum","name":"E","symbols":["A"]},"default":"B"}]},"default":{}}`), []string{"whole: refused, safe", "field-added-with-unusable-default n.R.f: refused, safe"}},
		{"self reference made mandatory", `{"type":"record","name":"L","fields":[{"name":"next","type":["null",{"type":"array","items":"L"}]}]}`, `{"type":"record","name":"L","fields":[{"name":"next","type":{"type":"array","items":"L"}}]}`, []string{"whole: refused, safe", "null-forbidden L.next: refused, safe"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, tell(t, c.old, c.next)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestReferencedTypeChanges: the own text stays the same, and the change is found
// in the text that it refers to, which has lines of its own.
func TestReferencedTypeChanges(t *testing.T) {
	t.Parallel()
	schema := func(referenced string) schemas.Schema {
		resolve := schemas.ResolverFunc(func(context.Context, schemas.Context, schemas.Reference) (schemas.Resolved, error) {
			return schemas.Resolved{Subject: schemas.Subject{Context: schemas.DefaultContext, Name: "money"}, Version: 1, Source: schemas.Source{Type: schemas.Avro, Text: referenced}}, nil
		})
		s, err := avro.Format.Parse(context.Background(), schemas.Source{
			Type: schemas.Avro, Text: `{"type":"record","name":"Order","fields":[{"name":"total","type":"Money"}]}`,
			References: []schemas.Reference{{Name: "Money", Subject: "money", Version: 1}},
		}, resolve, schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := schema(`{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"}]}`)
	next := schema(`{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"},{"name":"currency","type":"string"}]}`)
	r := compat.Check(compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: next,
		History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
	})
	if r.Verdict() != compat.Breaking || len(r.Compared[0].Findings) != 1 {
		t.Fatalf("got %s with %+v", r.Verdict(), r.Compared[0].Findings)
	}
	f := r.Compared[0].Findings[0]
	if f.Rule != "avro.field-added-without-default" || f.Path != "Money.currency" || !f.Head.Elsewhere || f.Head.Line != 0 || f.Head.Pointer != "/fields/1" {
		t.Errorf("got %+v", f)
	}
	if f.Witness == nil || f.Witness.Value != `{"total":{"cents":0}}` {
		t.Errorf("witness %+v", f.Witness)
	}
	if !strings.Contains(r.Messages[0], "/fields/0/type/fields/1'") {
		t.Errorf("message %s", r.Messages[0])
	}
}

// TestBudget: what a small budget cannot decide is not checked, and never called
// compatible.
func TestBudget(t *testing.T) {
	t.Parallel()
	old, next := parse(t, wide(100, "")), parse(t, wide(100, `,{"name":"x","type":"int","default":1}`))
	q := compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, VerdictPolicy: compat.Both, Next: next,
		History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
	}
	for _, steps := range []int{1, 10, 100, 200, 300, 1_000} {
		q.Budget = compat.Budget{Steps: steps}
		if r := compat.Check(q); r.Verdict() == compat.Breaking || steps < 100 && r.Verdict() != compat.NotChecked {
			t.Errorf("%d steps: %s %q", steps, r.Verdict(), r.Messages)
		}
	}
	q.Budget = compat.Budget{}
	if r := compat.Check(q); r.Verdict() != compat.Compatible {
		t.Errorf("unbounded: %s %q", r.Verdict(), r.Messages)
	}
}

// TestDeterministic: the same pair, parsed anew, gives the same report.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	attributes := func(n int) string {
		return `{"type":"record","name":"R","fields":[` + many(5, func(i int) string {
			return fmt.Sprintf(`{"name":"f%d","type":"int","z":%d,"y":%d,"x":%d,"aliases":["q%d","p%d"]}`, i, n, n, n, n+i, n+i+7)
		}) + `]}`
	}
	var first []compat.Finding
	for range 20 {
		r := compat.Check(compat.Question{
			Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, Next: parse(t, attributes(2)),
			History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, attributes(1))}},
		})
		if first == nil {
			first = slices.Clone(r.Compared[0].Findings)
		}
		if diff := cmp.Diff(first, r.Compared[0].Findings); diff != "" {
			t.Fatalf("(-first +now):\n%s", diff)
		}
	}
	if len(first) == 0 {
		t.Error("nothing was found")
	}
}

// TestStoredSchemas: versions that were stored under laxer rules compare too; a
// default that is no value of its type counts for the reference and for nobody
// who reads.
func TestStoredSchemas(t *testing.T) {
	t.Parallel()
	stored := func(text string) schemas.Schema {
		s, err := avro.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{Mode: schemas.Stored})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := stored(`{"type":"record","name":"Größe","namespace":"a-b","fields":[]}`)
	for _, value := range []string{`"x"`, `{}`, `[1,2]`, `1e400`, `null`, `{"a":{"b":[]}}`} {
		for _, kind := range []string{`"int"`, `["null","int"]`, `{"type":"array","items":"int"}`, `{"type":"map","values":"Größe"}`, `"Größe"`, `{"type":"fixed","name":"F","size":9}`} {
			next := stored(`{"type":"record","name":"Größe","namespace":"a-b","fields":[{"name":"é","type":` + kind + `,"default":` + value + `}]}`)
			q := compat.Question{
				Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, Next: next,
				History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
			}
			if r := compat.Check(q); r.Verdict() != compat.Compatible {
				t.Errorf("%s default %s: REFERENCE says %s: %q", kind, value, r.Verdict(), r.Messages)
			}
			q.VerdictPolicy = compat.Sound
			if r := compat.Check(q); r.NotChecked {
				t.Errorf("%s default %s: SOUND says %s: %q", kind, value, r.Verdict(), r.Messages)
			}
		}
	}
}

// Changes of meaning leave every value and are told as risks; what only adds a
// text is a note.
func TestChangesOfMeaning(t *testing.T) {
	t.Parallel()
	const field = `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"%s}]}`
	for _, c := range []struct {
		name, old, next string
		want            compat.Severity
	}{
		{"another documentation", fmt.Sprintf(field, `, "doc": "in cents"`), fmt.Sprintf(field, `, "doc": "in euros"`), compat.Risk},
		{"a documentation", fmt.Sprintf(field, ``), fmt.Sprintf(field, `, "doc": "in euros"`), compat.Note},
		{"no documentation any more", fmt.Sprintf(field, `, "doc": "in euros"`), fmt.Sprintf(field, ``), compat.Note},
		{"another unit", fmt.Sprintf(field, `, "unit": "ms"`), fmt.Sprintf(field, `, "unit": "s"`), compat.Risk},
		{"a unit", fmt.Sprintf(field, ``), fmt.Sprintf(field, `, "Units": "s"`), compat.Risk},
		{"another attribute", fmt.Sprintf(field, `, "owner": "a"`), fmt.Sprintf(field, `, "owner": "b"`), compat.Note},
		{"another order of symbols", `{"type": "enum", "name": "E", "symbols": ["A", "B"]}`, `{"type": "enum", "name": "E", "symbols": ["B", "A"]}`, compat.Risk},
		{"another decimal scale", `{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}`, `{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 4}`, compat.Risk},
	} {
		for _, policy := range []compat.VerdictPolicy{compat.Reference, compat.Sound, compat.Both} {
			report := mended(t, c.old, c.next, compat.Full, policy)
			list := report.Compared[0].Findings
			if !report.Compatible || len(list) != 1 || list[0].Severity != c.want || list[0].Witness != nil {
				t.Errorf("%s under %s: %s with %+v, want one %s", c.name, policy, report.Verdict(), list, c.want)
			}
		}
	}
}

// Of many changes at once each has a payload that the reader complains of for
// that very change.
func TestManyChangesHaveTheirWitnesses(t *testing.T) {
	t.Parallel()
	const n = 400
	fields := func(kind string) string {
		return many(n, func(i int) string { return fmt.Sprintf(`{"name":"f%d","type":%q}`, i, kind) })
	}
	record := func(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }
	for _, c := range []struct{ name, old, next string }{
		{"types", record(fields("int")), record(fields("string"))},
		{"fields without a default", record(""), record(fields("int"))},
	} {
		old, next := parse(t, c.old), parse(t, c.next)
		_, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
		own := 0
		for _, change := range changes {
			w := change.Witness[compat.Data][0]
			if w == nil {
				t.Errorf("%s: %s has no witness", c.name, change.Path)
				continue
			}
			got := next.Reads(old, schemas.Payload{Bytes: w.Bytes}, schemas.ReadOptions{Violations: 1_000})
			for _, v := range got.Violations {
				if strings.HasPrefix(string(v.Schema)+"/", string(change.New.Pointer)+"/") && v.Text == w.Text {
					own++
				}
			}
		}
		if len(changes) != n || own != n {
			t.Errorf("%s: of %d changes %d have a witness of their own, want %d", c.name, len(changes), own, n)
		}
	}
}

// A witness shows the very change that it stands beside, though all that the
// writer sends is refused for another one.
func TestWitnessesShowTheirOwnChange(t *testing.T) {
	t.Parallel()
	record := func(u, other string) string {
		return `{"type":"record","name":"R","fields":[{"name":"u","type":["null",` + u + `]},{"name":"o","type":"` + other + `"}]}`
	}
	const a = `{"type":"enum","name":"A","symbols":["X","Z"],"aliases":["B"]}`
	old, next := parse(t, record(a+`,{"type":"enum","name":"B","symbols":["X","Y","Z"]}`, "int")), parse(t, record(a, "string"))
	_, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
	for _, c := range changes {
		if c.Rule != "avro.union-branch-removed" {
			continue
		}
		if w := c.Witness[compat.Data][0]; w == nil || w.JSON != `{"u":{"B":"Y"},"o":0}` || w.Text != `the reader's enum "A" has no symbol "Y", and no default` {
			t.Errorf("the witness is %+v", w)
		}
		return
	}
	t.Errorf("no branch was removed: %+v", changes)
}

// What a witness shows is a value that somebody would miss, and what it says is
// what the reader does.
func TestWitnessesTell(t *testing.T) {
	t.Parallel()
	record := func(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }
	for _, c := range []struct{ name, old, next, value, text string }{
		{
			"a nullable field renamed", record(`{"name":"a","type":["null","string"],"default":null}`), record(`{"name":"b","type":["null","string"],"default":null}`),
			`{"a":{"string":"x"}}`, "loses a value under the new one: the value is skipped, and the reader's default takes its place",
		},
		{
			"a list renamed", record(`{"name":"a","type":{"type":"array","items":"int"},"default":[]}`), record(`{"name":"b","type":{"type":"array","items":"int"},"default":[]}`),
			`{"a":[2147483647]}`, "loses a value under the new one",
		},
		{
			"a symbol removed under a default", `{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}`, `{"type":"enum","name":"E","symbols":["A"],"default":"A"}`,
			`"B"`, `reads as another value under the new one: the symbol "B" is read as the default "A"`,
		},
		{
			"a rename beside a branch that is refused", record(`{"name":"u","type":["string","int"]},{"name":"a","type":"int","default":0}`), record(`{"name":"u","type":"int"},{"name":"b","type":"int","default":0}`),
			`{"u":{"int":0},"a":2147483647}`, "loses a value under the new one",
		},
		{
			"a rename where everything is refused", record(`{"name":"u","type":"string"},{"name":"a","type":"int","default":0}`), record(`{"name":"u","type":"int"},{"name":"b","type":"int","default":0}`),
			`{"u":"","a":2147483647}`, "fails under the new one: the value is skipped, and the reader's default takes its place; the payload is refused besides: the writer has a string where the reader expects an int",
		},
		{"a type changed", `"int"`, `"string"`, `2147483647`, "fails under the new one: the writer has an int where the reader expects a string"},
	} {
		r := compat.Check(compat.Question{
			Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Backward, Next: parse(t, c.next),
			History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, c.old)}},
		})
		found := false
		for _, f := range r.Compared[0].Findings {
			found = found || f.Witness != nil && f.Witness.Value == c.value && strings.Contains(f.Witness.Sentence(), c.text)
		}
		if !found {
			for _, f := range r.Compared[0].Findings {
				if f.Witness != nil {
					t.Logf("%s: %s", f.Rule, f.Witness.Sentence())
				}
			}
			t.Errorf("%s: no witness %s that %q", c.name, c.value, c.text)
		}
	}
}
