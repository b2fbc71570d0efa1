package transfer_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cartorio-registry/cartorio/registry"
	"github.com/cartorio-registry/cartorio/registry/transfer"
	"github.com/cartorio-registry/cartorio/schemas"
)

// told writes what was gathered as plainly as it goes.
func told(g transfer.Gathered) (lines []string) {
	for _, v := range g.Versions {
		line := fmt.Sprintf("%s v%d id %d %s %s", v.Subject, v.Version, v.ID.Number, v.Source.Type, v.Source.Text)
		for _, r := range v.Source.References {
			line += fmt.Sprintf(" %s=%s@%d", r.Name, r.Subject, r.Version)
		}
		if v.Metadata != nil {
			line += fmt.Sprint(" ", v.Metadata.Properties)
		}
		if v.Deleted {
			line += " deleted"
		}
		lines = append(lines, line)
	}
	for _, s := range g.Settings {
		line := "scope " + s.Scope.String()
		if s.Config != nil {
			text, _ := json.Marshal(s.Config)
			line += " " + string(text)
		}
		lines = append(lines, strings.TrimSpace(line+" "+string(s.Mode)))
	}
	for _, c := range g.Contexts {
		lines = append(lines, fmt.Sprintf("context %s listed=%v to id %d", c.Name, c.Listed, c.High))
	}
	for _, u := range g.Subjects {
		for _, gone := range u.Gone {
			lines = append(lines, fmt.Sprintf("gone %s v%d", u.Subject, gone.Version))
		}
	}
	for _, l := range g.Losses {
		lines = append(lines, "lost "+l.String())
	}
	for _, l := range g.Notes {
		lines = append(lines, "note "+l.String())
	}
	return lines
}

func schemaKey(subject string, version int) string {
	return fmt.Sprintf(`{"keytype":"SCHEMA","subject":%q,"version":%d,"magic":1}`, subject, version)
}

func schemaValue(subject string, version, id int, text, more string) string {
	return fmt.Sprintf(`{"subject":%q,"version":%d,"id":%d,"schema":%q%s}`, subject, version, id, text, more)
}

// Source: REST contract 9 and C90 to C92.
func TestTopic(t *testing.T) {
	t.Parallel()
	const tab = "\t"
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"nothing but a NOOP", []string{`{"keytype":"NOOP","magic":0}` + tab + "null"}, []string{"context . listed=true to id 0"}},
		{"versions, in the console consumer's lines", []string{
			`{"keytype":"NOOP","magic":0}` + tab + "null",
			schemaKey("a", 1) + tab + schemaValue("a", 1, 1, `"int"`, ""),
			schemaKey("a", 2) + tab + schemaValue("a", 2, 2, `{"type":"object"}`, `,"schemaType":"JSON","deleted":true`),
			"",
			"CreateTime:1700000000000" + tab + "Partition:0" + tab + "Offset:7" + tab + schemaKey(":.c:p", 1) + tab + schemaValue(":.c:p", 1, 1, "syntax = \"proto3\";\n", `,"schemaType":"PROTOBUF","references":[{"name":"x","subject":"y","version":3}],"metadata":{"properties":{"k":"v"}},"deleted":false`),
			"Processed a total of 4 messages",
		}, []string{
			":.c:p v1 id 1 PROTOBUF syntax = \"proto3\";\n x=y@3 map[k:v]", "a v1 id 1 AVRO \"int\"", "a v2 id 2 JSON {\"type\":\"object\"} deleted",
			"context . listed=true to id 2", "context .c listed=true to id 1",
		}},
		{"JSON lines, and kcat's", []string{
			`{"offset":0,"timestamp":1700000000000,"key":` + schemaKey("a", 1) + `,"value":` + schemaValue("a", 1, 1, `"int"`, "") + `}`,
			`{"topic":"_schemas","partition":0,"offset":1,"tstype":"create","ts":1700000000000,"key":"{\"keytype\":\"SCHEMA\",\"subject\":\"a\",\"version\":2,\"magic\":1}","payload":"{\"subject\":\"a\",\"version\":2,\"id\":2,\"schema\":\"\\\"long\\\"\"}"}`,
			`{"offset":2,"key":` + schemaKey("a", 1) + `,"value":null}`,
		}, []string{`a v2 id 2 AVRO "long"`, "context . listed=true to id 2", "gone a v1"}},
		{"a deleted subject, and a lower number behind its mark (C90)", []string{
			schemaKey("a", 1) + tab + schemaValue("a", 1, 1, `"int"`, ""),
			schemaKey("a", 3) + tab + schemaValue("a", 3, 3, `"long"`, ""),
			`{"keytype":"DELETE_SUBJECT","subject":"a","magic":0}` + tab + `{"subject":"a","version":3}`,
			schemaKey("a", 2) + tab + schemaValue("a", 2, 2, `"string"`, ""),
			`{"keytype":"CLEAR_SUBJECT","subject":"a","magic":0}` + tab + `{"subject":"a"}`,
		}, []string{`a v1 id 1 AVRO "int" deleted`, `a v2 id 2 AVRO "string"`, `a v3 id 3 AVRO "long" deleted`, "context . listed=true to id 3"}},
		{"oldest records, and keys in another order (C91)", []string{
			`{"subject":"a","version":1,"magic":0,"keytype":"SCHEMA"}` + tab + schemaValue("a", 1, 1, `"int"`, ""),
			`{"keytype":"CONFIG","subject":null,"magic":0}` + tab + `{"compatibilityLevel":"FULL"}`,
			`{"keytype":"CONFIG","subject":"a","magic":0}` + tab + `{"subject":"a","compatibilityLevel":"NONE","normalize":true,"unknown":1}`,
			`{"keytype":"CONFIG","subject":"b","magic":0}` + tab + `{"compatibilityLevel":"NONE"}`,
			`{"keytype":"CONFIG","subject":"b","magic":0}` + tab + `null`,
			`{"keytype":"MODE","subject":"a","magic":0}` + tab + `{"subject":"a","mode":"READONLY"}`,
			`{"keytype":"MODE","subject":"b","magic":0}` + tab + `{"subject":"b","mode":"READONLY"}`,
			`{"keytype":"MODE","subject":"b","magic":0}` + tab + `null`,
		}, []string{
			`a v1 id 1 AVRO "int"`, `scope  {"compatibility":"FULL"}`, `scope a {"compatibility":"NONE","normalize":true} READONLY`, "context . listed=true to id 1",
		}},
		{"an id with another text (C92), until it is gone", []string{
			schemaKey("a", 1) + tab + schemaValue("a", 1, 1, `"int"`, ""),
			schemaKey("b", 1) + tab + schemaValue("b", 1, 1, `"long"`, ""),
			schemaKey("c", 1) + tab + schemaValue("c", 1, 1, `"int"`, ""),
			schemaKey("a", 1) + tab + "null",
			schemaKey("c", 1) + tab + "null",
			schemaKey("d", 1) + tab + schemaValue("d", 1, 1, `"long"`, ""),
		}, []string{
			`d v1 id 1 AVRO "long"`, "context . listed=true to id 1", "gone a v1", "gone c v1",
			`lost "b": line 2: version 1 is skipped: its id 1 stands for another text already (subject "a" version 1)`,
		}},
		{"contexts come and go", []string{
			`{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}` + tab + `{"tenant":"default","context":".c"}`,
			`{"keytype":"CONTEXT","tenant":"default","context":".d","magic":0}` + tab + `{"tenant":"default","context":".d"}`,
			`{"keytype":"CONTEXT","tenant":"default","context":".d","magic":0}` + tab + `null`,
		}, []string{"context . listed=true to id 0", "context .c listed=true to id 0", "context .d listed=false to id 0"}},
		{"what is unknown is told", []string{
			`{"keytype":"ASSOC","magic":0}` + tab + `{}`,
			`{"offset":5,"key":{"keytype":"SCHEMA","subject":"a","version":1,"magic":9},"value":{}}`,
			schemaKey("a", 1) + tab + schemaValue("a", 1, 1, `x`, `,"schemaType":"THRIFT"`),
			schemaKey("a", 1) + tab + schemaValue("a", 1, 0, `"int"`, ""),
			`{"keytype":"MODE","subject":"a","magic":0}` + tab + `{"mode":"ODD"}`,
			`{"keytype":"CONFIG","subject":"a","magic":0}` + tab + `{"compatibilityLevel":"ODD"}`,
		}, []string{
			"context . listed=true to id 0",
			`lost line 1: a record of the unknown kind "ASSOC" is skipped`,
			`lost "a": line 2, offset 5: a SCHEMA record of the unknown form 9 is skipped`,
			`lost "a": line 3: version 1 is skipped: schema type "THRIFT" is unknown: use AVRO, JSON or PROTOBUF`,
			`lost "a": line 4: version 1 is skipped: its id 0 is none`,
			`lost "a": line 5: the unknown mode "ODD" is skipped`,
			`lost "a": line 6: a config is skipped: `,
		}},
		{"an md5 that fits, and one that does not", []string{
			schemaKey("a", 1) + tab + schemaValue("a", 1, 1, `"string"`, `,"md5":"CV1xzxJVa51eMwrVdbPfXQ=="`),
			schemaKey("a", 2) + tab + schemaValue("a", 2, 2, `"int"`, `,"md5":"CV1xzxJVa51eMwrVdbPfXQ=="`),
		}, []string{
			`a v1 id 1 AVRO "string"`, `a v2 id 2 AVRO "int"`, "context . listed=true to id 2",
			`note "a": line 2: version 2: its md5 is not that of its text, which is kept as it stands`,
		}},
		{"records of Redpanda count where they were meant to stand", []string{
			`{"offset":4,"key":{"keytype":"SCHEMA","subject":"a","version":1,"magic":1,"seq":4,"node":0},"value":` + schemaValue("a", 1, 1, `"int"`, "") + `}`,
			`{"offset":5,"key":{"keytype":"SCHEMA","subject":"a","version":1,"magic":1,"seq":4,"node":0},"value":` + schemaValue("a", 1, 9, `"long"`, "") + `}`,
		}, []string{`a v1 id 1 AVRO "int"`, "context . listed=true to id 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := transfer.FromTopic(t.Context(), strings.NewReader(strings.Join(c.in, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			got := told(g)
			if !slices.EqualFunc(c.want, got, func(want, got string) bool {
				return want == got || strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)
			}) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestTopicsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, says string }{
		{"", "the dump holds no record"},
		{"\n \r\n", "the dump holds no record"},
		{"Processed a total of 0 messages\n", "the dump holds no record"},
		{"hello", "line 1: neither an object nor a key and a value"},
		{"\n\n{\"a\":1}", "line 3: the record has no member key"},
		{schemaKey("a", 1) + "\t{", "line 1: the value"},
		{schemaKey("a", 1) + "\t[1]", "is no JSON object"},
		{`"text"` + "\t{}", "line 1: the key"},
		{"Offset:x\t" + schemaKey("a", 1) + "\tnull", `line 1: Offset "x" is no number`},
		{schemaKey("a", 1) + "\t" + `{"id":"one"}`, "line 1: the value"},
		{schemaKey("a", 1) + "\t" + schemaValue("a", 1, 1, `"int"`, `,"metadata":{"properties":{"k":"c2VjcmV0","__enc__":"true"}}`), "line 1: version 1 of subject \"a\" has encrypted metadata"},
	} {
		_, err := transfer.FromTopic(t.Context(), strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want it to say %q", c.in, err, c.says)
		}
	}
}

// A dump moves in as a whole: the time of a version is that of its first record,
// and no number or id that is gone is given again.
func TestTopicToRegistry(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1700000000123).UTC()
	lines := []string{
		fmt.Sprintf("CreateTime:%d\t%s\t%s", at.UnixMilli(), schemaKey("a", 1), schemaValue("a", 1, 4, ` "int" `, "")),
		fmt.Sprintf("CreateTime:%d\t%s\t%s", at.UnixMilli()+5000, schemaKey("a", 1), schemaValue("a", 1, 4, ` "int" `, `,"deleted":true`)),
		schemaKey("a", 2) + "\t" + schemaValue("a", 2, 7, `"long"`, ""),
		schemaKey("a", 2) + "\tnull",
	}
	g, err := transfer.FromTopic(t.Context(), strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	r := restore(t, g)
	same(t, "topic", g, transfer.FromHeld(r))
	v, err := r.Version(t.Context(), schemas.Subject{Name: "a"}, 1, true)
	if err != nil || v.Source.Text != ` "int" ` || !v.Deleted || !v.Time.Equal(at) {
		t.Errorf("version 1 is %+v, %v", v, err)
	}
	next, err := r.Register(t.Context(), registry.Registration{Subject: schemas.Subject{Name: "a"}, Source: schemas.Source{Type: schemas.Avro, Text: `"bytes"`}})
	if err != nil || next.Version != 3 || next.ID.Number != 8 {
		t.Errorf("the next version is %d with id %d, %v; want 3 with id 8", next.Version, next.ID.Number, err)
	}
	// The text is found by its canonical form: no twin of id 4.
	if again, err := r.Register(t.Context(), registry.Registration{Subject: schemas.Subject{Name: "b"}, Source: schemas.Source{Type: schemas.Avro, Text: `"int"`}}); err != nil || again.ID.Number != 4 {
		t.Errorf("the same schema has id %d, %v; want 4", again.ID.Number, err)
	}
}

func FuzzTopic(f *testing.F) {
	f.Add(schemaKey("a", 1) + "\t" + schemaValue("a", 1, 1, `"int"`, ""))
	f.Add(`{"offset":0,"timestamp":1,"key":{"keytype":"DELETE_SUBJECT","subject":"a"},"value":{"version":2147483647}}`)
	f.Add("CreateTime:1\tOffset:2\tPartition:3\t{}\tnull")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := transfer.FromTopic(t.Context(), strings.NewReader(text))
		if err == nil {
			_ = told(g)
		}
	})
}

// A schema under very many subjects is read in time that grows with them, and what
// its id cannot stand for beside it is told alike each time.
func TestTopicOfOneSchema(t *testing.T) {
	t.Parallel()
	const subjects = 30_000
	var dump strings.Builder
	put := func(key, value string) { fmt.Fprintf(&dump, "%s\t%s\n", key, value) }
	for n := range subjects {
		name := fmt.Sprint("s", n)
		put(schemaKey(name, 1), schemaValue(name, 1, 7, `"string"`, ""))
	}
	put(schemaKey("other", 1), schemaValue("other", 1, 7, `"int"`, ""))
	put(schemaKey("s0", 1), "null")
	put(schemaKey("other", 2), schemaValue("other", 2, 7, `"int"`, ""))
	// A place may get another text when it alone has the id.
	put(schemaKey("alone", 1), schemaValue("alone", 1, 8, `"int"`, ""))
	put(schemaKey("alone", 1), schemaValue("alone", 1, 8, `"long"`, ""))
	g, err := transfer.FromTopic(t.Context(), strings.NewReader(dump.String()))
	if err != nil || len(g.Versions) != subjects || len(g.Losses) != 2 {
		t.Fatalf("%d versions and %v, %v", len(g.Versions), g.Losses, err)
	}
	for i, want := range []string{`(subject "s0" version 1)`, `(subject "s1" version 1)`} {
		if got := g.Losses[i].String(); !strings.Contains(got, want) {
			t.Errorf("%s, want it to name %s", got, want)
		}
	}
}
