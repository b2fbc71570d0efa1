package avro_test

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/compat"
	compatavro "github.com/cartorio-registry/cartorio/compat/avro"
	"github.com/cartorio-registry/cartorio/schemas"
)

// A consumer that decodes with its own schema is told of once a pair, in the
// directions asked, with a payload that it takes for another value without an
// error; and never where an error, or bytes that are left over, would tell.
func TestReadBlindly(t *testing.T) {
	t.Parallel()
	record := func(fields string) string { return `{"type":"record","name":"R","fields":[` + fields + `]}` }
	for _, c := range []struct {
		name, old, next string
		want            string // the direction; empty for none
	}{
		{"fields of one type reordered", record(`{"name":"a","type":"int"},{"name":"b","type":"int"}`), record(`{"name":"b","type":"int"},{"name":"a","type":"int"}`), "both"},
		{"fields of two types reordered", record(`{"name":"a","type":"string"},{"name":"b","type":"int"}`), record(`{"name":"b","type":"int"},{"name":"a","type":"string"}`), "both"},
		{"two pairs of fields reordered are told once", record(`{"name":"r","type":{"type":"record","name":"S","fields":[{"name":"x","type":"int"},{"name":"y","type":"int"}]}},{"name":"a","type":"int"},{"name":"b","type":"int"}`), record(`{"name":"r","type":{"type":"record","name":"S","fields":[{"name":"y","type":"int"},{"name":"x","type":"int"}]}},{"name":"b","type":"int"},{"name":"a","type":"int"}`), "both"},
		{"branches reordered", `["int","string"]`, `["string","int"]`, "both"},
		{"branches reordered, one without a width", `["null","string"]`, `["string","null"]`, ""},
		{"null allowed", record(`{"name":"id","type":"int"},{"name":"a","type":"string"}`), record(`{"name":"id","type":"int"},{"name":"a","type":["null","string"]}`), "both"},
		{"a symbol removed in the middle under a default", `{"type":"enum","name":"E","symbols":["A","B","C"],"default":"A"}`, `{"type":"enum","name":"E","symbols":["A","C"],"default":"A"}`, "forward"},
		{"a branch added at the end", `["null","int"]`, `["null","int","string"]`, ""},
		{"a symbol added at the end", `{"type":"enum","name":"E","symbols":["A"],"default":"A"}`, `{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}`, ""},
		{"a field added", record(`{"name":"a","type":"int"}`), record(`{"name":"a","type":"int"},{"name":"b","type":"int","default":0}`), ""},
		{"an int widened to long", record(`{"name":"a","type":"int"}`), record(`{"name":"a","type":"long"}`), ""},
		{"a field renamed by an alias", record(`{"name":"a","type":"int"}`), record(`{"name":"b","type":"int","aliases":["a"]}`), ""},
		{"a default and a documentation changed", record(`{"name":"a","type":"int","default":1,"doc":"x"}`), record(`{"name":"a","type":"int","default":2,"doc":"y"}`), ""},
		{"what the writer's schema does not read either", `"int"`, `"boolean"`, ""},
	} {
		old, next := parse(t, c.old), parse(t, c.next)
		r := compat.Check(compat.Question{
			Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Full, Next: next,
			History: []compat.Old{{Label: "1", Version: 1, Schema: old}},
		})
		var told []compat.Finding
		for _, f := range r.Compared[0].Findings {
			if f.Rule == "schema.read-blindly" {
				told = append(told, f)
			}
		}
		if c.want == "" {
			if len(told) > 0 {
				t.Errorf("%s: told of %s", c.name, told[0].Witness.Sentence())
			}
			continue
		}
		if len(told) != 1 || told[0].Direction != c.want || told[0].Severity != compat.Risk || told[0].Witness == nil {
			t.Errorf("%s: got %+v, want one risk, %s", c.name, told, c.want)
			continue
		}
		w := told[0].Witness
		writer, reader := old, next
		if w.Writer == "new" {
			writer, reader = next, old
		}
		payload, err := base64.StdEncoding.DecodeString(w.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		p, o := schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true}
		alone, resolved := reader.Reads(reader, p, o), reader.Reads(writer, p, o)
		if !alone.OK() || !resolved.OK() || reflect.DeepEqual(alone.Value, resolved.Value) || !strings.Contains(w.Sentence(), "reads as another value") {
			t.Errorf("%s: the payload %s proves nothing: %v and %v; %s", c.name, w.Hex, alone, resolved, w.Sentence())
		}
	}
	fields := compat.Question{
		Checkers: []compat.Checker{compatavro.Checker}, Level: compat.Forward, Next: parse(t, `["null","int"]`),
		History: []compat.Old{{Label: "1", Version: 1, Schema: parse(t, `"int"`)}},
	}
	for _, f := range compat.Check(fields).Compared[0].Findings {
		if f.Rule == "schema.read-blindly" {
			t.Errorf("FORWARD asks of old readers, and is told of new ones: %s", f.Witness.Sentence())
		}
	}
}
