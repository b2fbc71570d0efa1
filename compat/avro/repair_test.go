package avro_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/cartorio-registry/cartorio/schemas/costtest"
)

// mended asks for a pair with repairs.
func mended(t *testing.T, old, next string, level compat.Level, policy compat.VerdictPolicy) compat.Report {
	t.Helper()
	return compat.Check(compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Subject: "s", Level: level, VerdictPolicy: policy,
		Next: parse(t, next), History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, old)}},
		Variant: func(of schemas.Schema, text string) (schemas.Schema, error) {
			return avro.Format.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{})
		},
	})
}

// Every rule whose changes may hurt has a repair that works on its own example,
// at each level under which it is told as a break or a risk.
func TestEveryBreakHasARepair(t *testing.T) {
	t.Parallel()
	for _, r := range compatavro.Checker.Rules {
		if !r.IsHard() {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			broken := 0
			for _, level := range []compat.Level{compat.Backward, compat.Forward, compat.Full} {
				report := mended(t, r.Old, r.New, level, compat.Both)
				f := report.Compared[0].Findings[0]
				if f.Severity == compat.Note || f.Rule == "schema.read-blindly" {
					continue // the note of such a pair stands behind
				}
				broken++
				if f.Rule != r.ID || len(f.Repairs) == 0 {
					t.Errorf("%s: %s (%s) has no repair", level, f.Rule, f.Message)
					continue
				}
				holds(t, r.Old, r.New, level, f)
			}
			if broken == 0 {
				t.Error("the example hurts nobody at any level")
			}
		})
	}
}

// holds reads and compares each repair of f anew, as its reader would.
func holds(t *testing.T, old, next string, level compat.Level, f compat.Finding) {
	t.Helper()
	for _, repair := range f.Repairs {
		pairs := [][2]string{{old, repair.Schema}}
		if repair.First {
			pairs = append(pairs, [2]string{repair.Schema, next})
		}
		for i, pair := range pairs {
			report := mended(t, pair[0], pair[1], level, compat.Both)
			if repair.Whole && !report.Compatible || repair.First && i == 0 && !report.Compatible {
				t.Errorf("%s: %q does not pass: %v", level, repair.Text, report.Messages)
			}
		}
		if !repair.Whole {
			t.Errorf("%s: %q does not mend the only break", level, repair.Text)
		}
	}
}

// A repair says what it does, and keeps what was sent but for that.
func TestRepairTexts(t *testing.T) {
	t.Parallel()
	record := func(fields string) string {
		return `{"type": "record", "name": "R", "fields": [` + fields + `]}`
	}
	const a = `{"name": "a", "type": "int"}`
	for _, c := range []struct {
		name, old, next string
		level           compat.Level
		text, want      string
	}{
		{
			"a field of a union gets null first", record(a), record(a + `, {"name": "b", "type": ["string", "null"]}`), compat.Backward,
			"make field b optional, with the default null", record(a + `, {"name": "b", "type": ["null", "string"], "default": null}`),
		},
		{
			"comments and layout stay", record(a), "// mine\n" + record("\n  "+a+",\n  {\"name\": \"b\", \"type\": \"long\" /* cents */}\n"), compat.Backward,
			"give field b the default 0", "// mine\n" + record("\n  "+a+",\n  {\"name\": \"b\", \"type\": \"long\", \"default\": 0 /* cents */}\n"),
		},
		{
			"a removed field goes back where it stood", record(`{"name": "x", "type": "int"}, ` + a), record(a), compat.Forward,
			"keep field x, and stop to use it", record(`{"name": "x", "type": "int"}, ` + a),
		},
		{
			"a new type beside the old", record(a), record(`{"name": "a", "type": "string"}`), compat.Full,
			"keep field a as it was, and put the optional field a_string of the new type beside it", record(a + `, {"name": "a_string", "type": ["null", "string"], "default": null}`),
		},
		{
			"a step before a new symbol", `{"type": "enum", "name": "E", "symbols": ["A", "OTHER"]}`, `{"type": "enum", "name": "E", "symbols": ["A", "OTHER", "B"]}`, compat.Forward,
			"first roll out a step: give the enum the default OTHER, which old readers then see in the place of B", `{"type": "enum", "name": "E", "symbols": ["A", "OTHER"], "default": "OTHER"}`,
		},
		{
			"null stays possible, and the default a default", record(`{"name": "a", "type": ["null", "int"]}`), record(`{"name": "a", "type": "int", "default": 7}`), compat.Backward,
			"keep null among what may stand here", record(`{"name": "a", "type": ["int", "null"], "default": 7}`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report := mended(t, c.old, c.next, c.level, compat.Reference)
			if report.Compatible {
				t.Fatal("nothing breaks")
			}
			var texts []string
			for _, f := range report.Compared[0].Findings {
				for _, r := range f.Repairs {
					texts = append(texts, r.Text)
					if r.Text == c.text {
						if r.Schema != c.want {
							t.Errorf("got\n%s\nwant\n%s", r.Schema, c.want)
						}
						return
					}
				}
			}
			t.Errorf("no repair %q among\n%s", c.text, strings.Join(texts, "\n"))
		})
	}
}

// Several breaks are mended together.
func TestRepairsGoTogether(t *testing.T) {
	t.Parallel()
	const (
		old  = `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}, {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}, {"name": "u", "type": ["null", "int"]}]}`
		next = `{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}, {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A"]}}, {"name": "u", "type": "int"}, {"name": "n", "type": "string"}, {"name": "m", "type": "string"}]}`
	)
	report := mended(t, old, next, compat.Backward, compat.Reference)
	c := report.Compared[0]
	if c.Repaired == "" {
		t.Fatalf("nothing passes: %v", c.Findings)
	}
	for _, f := range c.Findings {
		for _, r := range f.Repairs {
			if r.Whole {
				t.Errorf("%s mends one of five breaks and is told to mend all", r.Text)
			}
		}
	}
	if again := mended(t, old, c.Repaired, compat.Backward, compat.Reference); !again.Compatible {
		t.Errorf("the repaired text does not pass: %v\n%s", again.Messages, c.Repaired)
	}
}

// A change in a text that the schema refers to is mended there, not here.
func TestNoRepairElsewhere(t *testing.T) {
	t.Parallel()
	resolver := func(text string) schemas.Resolver {
		return schemas.ResolverFunc(func(context.Context, schemas.Context, schemas.Reference) (schemas.Resolved, error) {
			return schemas.Resolved{Version: 1, Source: schemas.Source{Type: schemas.Avro, Text: text}}, nil
		})
	}
	read := func(inner string) schemas.Schema {
		s, err := avro.Format.Parse(context.Background(), schemas.Source{
			Type: schemas.Avro, Text: `{"type": "array", "items": "In"}`, References: []schemas.Reference{{Name: "In", Subject: "in", Version: 1}},
		}, resolver(inner), schemas.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old, next := read(`{"type": "record", "name": "In", "fields": []}`), read(`{"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}`)
	_, changes := compatavro.Checker.Truth(old, next, compat.Budget{})
	if len(changes) != 1 {
		t.Fatalf("%d changes", len(changes))
	}
	if list := compatavro.Checker.Repair(old, next, changes[0], true, true); len(list) > 0 {
		t.Errorf("proposes %q", list[0].Text)
	}
}

// More breaks than are tried one by one are mended together all the same.
func TestManyRepairsGoTogether(t *testing.T) {
	t.Parallel()
	var fields strings.Builder
	for i := range 200 {
		if i > 0 {
			fields.WriteByte(',')
		}
		fmt.Fprintf(&fields, `{"name":"f%d","type":"string"}`, i)
	}
	old := `{"type":"record","name":"R","fields":[]}`
	next := `{"type":"record","name":"R","fields":[` + fields.String() + `]}`
	c := mended(t, old, next, compat.Backward, compat.Reference).Compared[0]
	if c.Repaired == "" {
		t.Fatal("nothing passes")
	}
	if again := mended(t, old, c.Repaired, compat.Backward, compat.Reference); !again.Compatible {
		t.Error("the repaired text does not pass")
	}
}

// Repairs of hostile pairs take time and memory in proportion.
func TestHostileRepairs(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, old, next string }{
		{"added fields", `{"type":"record","name":"R","fields":[]}`, `{"type":"record","name":"R","fields":[` + many(3_000, `{"name":"f%d","type":"string"}`) + `]}`},
		{"removed symbols", `{"type":"enum","name":"E","symbols":[` + many(3_000, `"S%d"`) + `]}`, `{"type":"enum","name":"E","symbols":["A"]}`},
		{"added symbols", `{"type":"enum","name":"E","symbols":["A"]}`, `{"type":"enum","name":"E","symbols":[` + many(3_000, `"S%d"`) + `]}`},
		{"changed types", `{"type":"record","name":"R","fields":[` + many(3_000, `{"name":"f%d","type":"string"}`) + `]}`, `{"type":"record","name":"R","fields":[` + many(5_000, `{"name":"f%d","type":"int"}`) + `]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			old, next := parse(t, c.old), parse(t, c.next)
			began := costtest.Spent()
			compat.Check(compat.Question{Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, VerdictPolicy: compat.Both, Next: next, History: []compat.Old{{Schema: old}}})
			plain := costtest.Spent() - began
			began = costtest.Spent()
			mended(t, c.old, c.next, compat.Full, compat.Both)
			took := costtest.Spent() - began
			t.Logf("%s without repairs, %s with them", plain, took)
			// What is held here is that repairs do not grow with the number of breaks.
			if most := 20*plain + costtest.Slower*time.Second; took > most {
				t.Errorf("took %s, want at most %s", took, most)
			}
		})
	}
}
