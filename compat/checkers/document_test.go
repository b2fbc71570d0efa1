package checkers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	"github.com/cartorio-registry/cartorio/compat/checkers"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/formats"
)

func parse(t *testing.T, kind schemas.Type, text string) schemas.Schema {
	t.Helper()
	format, ok := formats.Named(kind)
	if !ok {
		t.Fatalf("no format %s", kind)
	}
	s, err := format.Parse(context.Background(), schemas.Source{Type: kind, Text: text}, nil, schemas.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func question(t *testing.T, kind schemas.Type, old, next string) compat.Question {
	t.Helper()
	return compat.Question{
		Checkers: checkers.All(), Subject: "orders", Label: "new", Level: compat.Full, VerdictPolicy: compat.Both,
		Next: parse(t, kind, next), History: []compat.Old{{Label: "3", Version: 3, Schema: parse(t, kind, old)}},
		Variant: func(of schemas.Schema, text string) (schemas.Schema, error) {
			format, _ := formats.Named(kind)
			return format.Parse(context.Background(), schemas.Source{Type: kind, Text: text}, nil, schemas.ParseOptions{})
		},
	}
}

// The document of every rule's example fits the published schema, with advice
// and repairs.
func TestDocumentsFitTheirSchema(t *testing.T) {
	t.Parallel()
	published := parse(t, schemas.JSON, string(compat.DocumentSchema()))
	fits := func(what string, d compat.Document) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(d); err != nil {
			t.Fatal(err)
		}
		for _, v := range published.Reads(published, schemas.Payload{Bytes: b.Bytes()}, schemas.ReadOptions{}).Violations {
			t.Errorf("%s: %s: %s", what, v.Payload, v.Text)
		}
	}
	fits("nothing", compat.NewDocument("cartorio test"))
	repaired := 0
	for _, c := range checkers.All() {
		for _, r := range c.Rules {
			report, advice, ok := compat.Advise(question(t, c.Format, r.Old, r.New))
			if !ok {
				t.Fatalf("%s: no advice", r.ID)
			}
			d := compat.NewDocument("cartorio test", report)
			d.Advice = []compat.Advice{advice}
			compat.Accept(d.Findings, []compat.Exception{{Fingerprint: d.Findings[0].Fingerprint, Reason: "r", Owner: "o", Source: "s"}}, time.Time{})
			fits(r.ID, d)
			if advice.Repaired != "" {
				repaired++
			}
		}
	}
	if repaired < 20 {
		t.Errorf("only %d examples have a repaired schema", repaired)
	}
	other := question(t, schemas.Avro, `"string"`, `"string"`)
	other.Next = parse(t, schemas.JSON, `{}`)
	fits("another format", compat.NewDocument("cartorio test", compat.Check(other)))
	other.Checkers = nil
	other.Next = parse(t, schemas.Avro, `"int"`)
	report := compat.Check(other)
	if !report.NotChecked {
		t.Error("nobody compared, and it is checked")
	}
	fits("not checked", compat.NewDocument("cartorio test", report))
}

// What is no document does not fit: the schema is not empty talk.
func TestDocumentSchemaRefuses(t *testing.T) {
	t.Parallel()
	published := parse(t, schemas.JSON, string(compat.DocumentSchema()))
	good := `{"version":1,"tool":"t","verdict":"compatible","compared":[],"findings":[],"summary":{"compared":0,"compatible":0,"breaking":0,"not_checked":0,"breaks":0,"risks":0,"notes":0,"accepted":0}}`
	for change, refused := range map[[2]string]bool{
		{"", ""}: false, {"compatible\"", "fine\""}: true, {`"version":1`, `"version":2`}: true, {`"tool":"t",`, ``}: true, {`"compared":[]`, `"compared":[{}]`}: true, {`"notes":0`, `"notes":-1`}: true, {`{"version"`, `{"more":1,"version"`}: true,
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		got := published.Reads(published, schemas.Payload{Bytes: []byte(text)}, schemas.ReadOptions{})
		if got.OK() == refused {
			t.Errorf("%s: refused %t, want %t", text, !got.OK(), refused)
		}
	}
}

// Every member of the document's types stands in the schema, and is required
// there unless it may be left out; the schema names nothing else.
func TestDocumentSchemaIsComplete(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal(compat.DocumentSchema(), &root); err != nil {
		t.Fatal(err)
	}
	definitions := root["$defs"].(map[string]any)
	for name, typed := range map[string]any{
		"": compat.Document{}, "compared": compat.Compared{}, "finding": compat.Finding{}, "location": compat.Location{}, "witness": compat.ShownWitness{},
		"acceptance": compat.Acceptance{}, "summary": compat.Summary{}, "repair": compat.Repair{}, "advice": compat.Advice{},
	} {
		at := root
		if name != "" {
			at = definitions[name].(map[string]any)
		}
		var members, required []string
		for f := range fieldsOf(reflect.TypeOf(typed)) {
			member, options, _ := strings.Cut(f, ",")
			members = append(members, member)
			if options == "" {
				required = append(required, member)
			}
		}
		var known, needed []string
		for member := range at["properties"].(map[string]any) {
			known = append(known, member)
		}
		for _, member := range at["required"].([]any) {
			needed = append(needed, fmt.Sprint(member))
		}
		for _, list := range [][]string{members, required, known, needed} {
			slices.Sort(list)
		}
		if !slices.Equal(members, known) {
			t.Errorf("%s has %q, the schema %q", name, members, known)
		}
		if !slices.Equal(required, needed) {
			t.Errorf("%s always has %q, the schema requires %q", name, required, needed)
		}
	}
}

func fieldsOf(t reflect.Type) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range t.NumField() {
			if tag := t.Field(i).Tag.Get("json"); tag != "-" && !yield(tag) {
				return
			}
		}
	}
}
