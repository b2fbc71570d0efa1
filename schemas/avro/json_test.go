package avro_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	twmb "github.com/twmb/avro"

	"github.com/cartorio-registry/cartorio/schemas"
)

func TestAvroJSON(t *testing.T) {
	t.Parallel()
	named := `{"type":"record","name":"n.R","fields":[{"name":"u","type":["null",{"type":"enum","name":"E","symbols":["A"]},{"type":"array","items":"int"},{"type":"long","logicalType":"timestamp-millis"}]}]}`
	for name, c := range map[string]struct{ schema, bytes, text string }{
		"null":                {`"null"`, "", `null`},
		"boolean":             {`"boolean"`, "01", `true`},
		"int":                 {`"int"`, "ffffffff0f", `-2147483648`},
		"long":                {`"long"`, "feffffffffffffffff01", `9223372036854775807`},
		"float":               {`"float"`, "cdcccc3d", `0.1`},
		"float, whole":        {`"float"`, "0000803f", `1.0`},
		"double, large":       {`"double"`, "7d6f5bcf2f3b7e44", `8.9E21`},
		"NaN":                 {`"double"`, "010000000000f87f", `"NaN"`},
		"infinity":            {`"float"`, "0000807f", `"Infinity"`},
		"infinity below":      {`"double"`, "000000000000f0ff", `"-Infinity"`},
		"bytes":               {`"bytes"`, "0c ff00 22 5c 61 7f", `"\u00FF\u0000\"\\a\u007F"`},
		"string":              {`"string"`, "12 c3a9 22 5c 0a 61 2f 01", ``},
		"fixed":               {`{"type":"fixed","name":"F","size":2}`, "0180", `"\u0001\u0080"`},
		"enum":                {`{"type":"enum","name":"E","symbols":["A","B"]}`, "02", `"B"`},
		"array":               {`{"type":"array","items":"int"}`, "0402 0400", `[1,2]`},
		"map":                 {`{"type":"map","values":"int"}`, "0402 6b 02 02 6c 04 00", `{"k":1,"l":2}`},
		"null in a union":     {`["null","string"]`, "00", `null`},
		"string in a union":   {`["null","string"]`, "020278", `{"string":"x"}`},
		"enum in a union":     {named, "0200", `{"u":{"n.E":"A"}}`},
		"array in a union":    {named, "04020200", `{"u":{"array":[1]}}`},
		"logical in a union":  {named, "0602", `{"u":{"long":1}}`},
		"fields in order":     {`{"type":"record","name":"P","fields":[{"name":"b","type":"int"},{"name":"a","type":"int"}]}`, "0204", `{"b":1,"a":2}`},
		"record of no fields": {`{"type":"record","name":"P","fields":[]}`, "", `{}`},
	} {
		if name == "string" {
			c.bytes, c.text = "10 c3a9 22 5c 0a 61 2f 01", `"é\"\\\na/\u0001"`
		}
		s := mustParse(t, c.schema)
		payload := unhex(t, c.bytes)
		text, v := s.JSONOf(payload, schemas.ReadOptions{})
		if len(v) > 0 || string(text) != c.text && name != "double, large" {
			t.Errorf("%s: got %s (%v), want %s", name, text, v, c.text)
			continue
		}
		back, v := s.BinaryOf(text, schemas.ReadOptions{})
		if name == "NaN" { // one NaN is as good as another
			continue
		}
		if len(v) > 0 || string(back) != string(payload) {
			t.Errorf("%s: %s became %x (%v), want %x", name, text, back, v, payload)
		}
	}
	s := mustParse(t, `{"type":"record","name":"P","fields":[{"name":"b","type":"int"},{"name":"a","type":"int"}]}`)
	if b, v := s.BinaryOf([]byte(` {"a": 2, "b": 1} `), schemas.ReadOptions{}); len(v) > 0 || string(b) != "\x02\x04" {
		t.Errorf("members in another order became %x (%v)", b, v)
	}
	if _, v := s.JSONOf([]byte{2}, schemas.ReadOptions{}); len(v) != 1 || v[0].Rule != "varint" {
		t.Errorf("a payload that is cut is answered by %v", v)
	}
}

func TestAvroJSONRefuses(t *testing.T) {
	t.Parallel()
	record := `{"type":"record","name":"P","fields":[{"name":"a","type":"int","default":1},{"name":"b","type":["null","string"],"default":null}]}`
	list := `{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}`
	for name, c := range map[string]struct{ schema, text, want string }{
		"no JSON":               {`"int"`, `{`, "payload_unreadable json at  by  0"},
		"a member twice":        {record, `{"a":1,"a":1,"b":null}`, "payload_unreadable json at  by  7"},
		"invalid UTF-8":         {`"string"`, "\"\xff\"", "payload_unreadable json at  by  1"},
		"a long number":         {`"double"`, strings.Repeat("1", 2000), "payload_too_large json at  by  0"},
		"a fraction":            {`"int"`, `3.0`, "payload_invalid type at  by  0"},
		"beyond 32 bits":        {`"int"`, `2147483648`, "payload_invalid type at  by  0"},
		"beyond 64 bits":        {`"long"`, `-9223372036854775809`, "payload_invalid type at  by  0"},
		"beyond a float":        {`"float"`, `1e39`, "payload_invalid type at  by  0"},
		"another word":          {`"double"`, `"nan"`, "payload_invalid type at  by  0"},
		"text for a boolean":    {`"boolean"`, `"true"`, "payload_invalid type at  by  0"},
		"zero for null":         {`"null"`, `0`, "payload_invalid type at  by  0"},
		"number for a string":   {`"string"`, `1`, "payload_invalid type at  by  0"},
		"beyond U+00FF":         {`"bytes"`, `"日"`, "payload_invalid type at  by  0"},
		"array for bytes":       {`"bytes"`, `[1]`, "payload_invalid type at  by  0"},
		"fixed of another size": {`{"type":"fixed","name":"F","size":2}`, `"abc"`, "payload_invalid fixed-size at  by  0"},
		"no symbol":             {`{"type":"enum","name":"E","symbols":["A"]}`, `"B"`, "payload_invalid enum-symbol at  by  0"},
		"symbol's index":        {`{"type":"enum","name":"E","symbols":["A"]}`, `0`, "payload_invalid enum-symbol at  by  0"},
		"object for an array":   {`{"type":"array","items":"int"}`, `{}`, "payload_invalid type at  by  0"},
		"array for a map":       {`{"type":"map","values":"int"}`, `[]`, "payload_invalid type at  by  0"},
		"array for a record":    {record, `[]`, "payload_invalid type at  by  0"},
		"branch without a name": {`["null","string"]`, `"x"`, "payload_invalid union at  by  0"},
		"branch of another":     {`["null","string"]`, `{"int":1}`, "payload_invalid union at  by  0"},
		"null with a name":      {`["null","string"]`, `{"null":null}`, "payload_invalid union at  by  0"},
		"null in a plain union": {`["int","string"]`, `null`, "payload_invalid union at  by  0"},
		"value in a branch":     {`["null","string"]`, `{"string":1}`, "payload_invalid type at /string by /1 10"},
		"missing and unknown":   {record, `{"b":{"string":2},"c":3}`, "payload_invalid field-missing at  by /fields/0/type 0|payload_invalid type at /b/string by /fields/1/type/1 15|payload_invalid field-unknown at /c by  22"},
		"items":                 {`{"type":"array","items":"int"}`, `[1,"2",3.5]`, "payload_invalid type at /1 by /items 3|payload_invalid type at /2 by /items 7"},
		"key with a slash":      {`{"type":"map","values":"int"}`, `{"a/b":"x"}`, "payload_invalid type at /a~1b by /values 7"},
		"never ends":            {`{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}`, `{"r":{}}`, "payload_invalid endless at  by  0"},
		"too deep":              {list, strings.Repeat(`{"next":{"L":`, 200) + `{"next":null}` + strings.Repeat(`}}`, 200), "payload_too_large json at  by  1672"},
		"a level too deep":      {list, strings.Repeat(`{"next":{"L":`, 128) + `{"next":null}` + strings.Repeat(`}}`, 128), "payload_too_large depth at " + strings.Repeat("/next/L", 128) + " by /fields/0/type/1 1664"},
	} {
		s := mustParse(t, c.schema)
		out, violations := s.BinaryOf([]byte(c.text), schemas.ReadOptions{})
		var got []string
		for _, v := range violations {
			got = append(got, fmt.Sprintf("%v %s at %s by %s %d", v.Kind, v.Rule, v.Payload, v.Schema, v.Offset))
			if v.Text == "" {
				t.Errorf("%s: no text", name)
			}
		}
		if strings.Join(got, "|") != c.want || out != nil {
			t.Errorf("%s\n got %s\nwant %s", name, strings.Join(got, "|"), c.want)
		}
	}
	s := mustParse(t, `{"type":"array","items":"int"}`)
	if _, v := s.BinaryOf([]byte(`["a","b","c","d"]`), schemas.ReadOptions{Violations: 2}); len(v) != 2 {
		t.Errorf("%d violations with a limit of 2", len(v))
	}
	if _, v := s.BinaryOf([]byte(`[1,2,3]`), schemas.ReadOptions{Steps: 2}); len(v) != 1 || v[0].Kind != schemas.TooComplex {
		t.Errorf("three items in two steps are answered by %v", v)
	}
}

func TestAvroJSONAssertsLogicalTypes(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `{"type":"record","name":"P","fields":[
		{"name":"a","type":["null",{"type":"bytes","logicalType":"decimal","precision":2}]},
		{"name":"b","type":{"type":"int","logicalType":"time-millis"}},
		{"name":"c","type":{"type":"string","logicalType":"uuid"}}]}`)
	text := []byte(`{"a":{"bytes":"d"},"b":-1,"c":"x"}`)
	if _, v := s.BinaryOf(text, schemas.ReadOptions{}); len(v) > 0 {
		t.Errorf("without the option: %v", v)
	}
	_, v := s.BinaryOf(text, schemas.ReadOptions{Formats: true})
	if len(v) != 3 || v[0].Payload != "/a/bytes" || v[1].Payload != "/b" || v[2].Payload != "/c" || v[0].Rule != "logical-type" {
		t.Errorf("got %v", v)
	}
}

// Of a key that a map holds twice the last value counts, for whoever reads: in
// the value, in JSON and when the JSON is read again. Avro Java and twmb do the
// same; goavro refuses.
func TestLastOfEqualKeysCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, schema, bytes, text string
		want                      any
	}{
		{"in one block", `{"type":"map","values":"int"}`, "06 026b02 026c04 026b06 00", `{"l":2,"k":3}`, map[string]any{"k": int64(3), "l": int64(2)}},
		{"in two blocks", `{"type":"map","values":"string"}`, "02 026b0278 02 026b0279 00", `{"k":"y"}`, map[string]any{"k": "y"}},
		{"all alike", `{"type":"map","values":"null"}`, "06 026b 026b 026b 00", `{"k":null}`, map[string]any{"k": nil}},
		{"in a map of maps", `{"type":"map","values":{"type":"map","values":"int"}}`, "04 026102 026b02 00 026104 026b02 026b04 00 00", `{"a":{"k":2}}`, map[string]any{"a": map[string]any{"k": int64(2)}}},
	} {
		s, payload := mustParse(t, c.schema), unhex(t, c.bytes)
		got := s.Reads(s, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Value: true})
		if !got.OK() || !reflect.DeepEqual(got.Value, c.want) {
			t.Errorf("%s: read as %v (%v), want %v", c.name, got.Value, got.Violations, c.want)
		}
		text, bad := s.JSONOf(payload, schemas.ReadOptions{})
		if len(bad) > 0 || string(text) != c.text {
			t.Errorf("%s: written as %s (%v), want %s", c.name, text, bad, c.text)
		}
		if _, bad := s.BinaryOf(text, schemas.ReadOptions{}); len(bad) > 0 {
			t.Errorf("%s: its own JSON is refused: %v", c.name, bad)
		}
		var theirs any
		if _, err := twmb.MustParse(c.schema).Decode(payload, &theirs); err != nil || !reflect.DeepEqual(plain(theirs), c.want) {
			t.Errorf("%s: a second reader makes %v of it (%v), want %v", c.name, theirs, err, c.want)
		}
	}
}
