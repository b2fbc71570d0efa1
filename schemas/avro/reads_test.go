package avro_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
	"github.com/google/go-cmp/cmp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadsValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schema, bytes string
		want          any
	}{
		"null":              {`"null"`, "", nil},
		"boolean":           {`"boolean"`, "01", true},
		"int":               {`"int"`, "ffffffff0f", int64(-2147483648)},
		"int written long":  {`"int"`, "8000", int64(0)},
		"long":              {`"long"`, "feffffffffffffffff01", int64(9223372036854775807)},
		"smallest long":     {`"long"`, "ffffffffffffffffff01", int64(-9223372036854775808)},
		"float":             {`"float"`, "0000c03f", 1.5},
		"double":            {`"double"`, "000000000000f83f", 1.5},
		"bytes":             {`"bytes"`, "04 ff00", []byte{0xff, 0}},
		"empty bytes":       {`"bytes"`, "00", []byte{}},
		"string":            {`"string"`, "06 616e61", "ana"},
		"fixed":             {`{"type":"fixed","name":"F","size":2}`, "0102", []byte{1, 2}},
		"fixed of no bytes": {`{"type":"fixed","name":"F","size":0}`, "", []byte{}},
		"enum":              {`{"type":"enum","name":"E","symbols":["A","B"]}`, "02", "B"},
		"array":             {`{"type":"array","items":"int"}`, "04 02 04 00", []any{int64(1), int64(2)}},
		"empty array":       {`{"type":"array","items":"int"}`, "00", []any{}},
		"array in blocks":   {`{"type":"array","items":"int"}`, "02 02 01 02 04 00", []any{int64(1), int64(2)}},
		"array of nulls":    {`{"type":"array","items":"null"}`, "06 00", []any{nil, nil, nil}},
		"map":               {`{"type":"map","values":"int"}`, "02 02 6b 0e 00", map[string]any{"k": int64(7)}},
		"map in blocks":     {`{"type":"map","values":"int"}`, "01 06 02 6b 0e 02 02 6c 10 00", map[string]any{"k": int64(7), "l": int64(8)}},
		"union":             {`["null","string"]`, "02 02 78", "x"},
		"null in a union":   {`["string","null"]`, "02", nil},
		"record":            {`{"type":"record","name":"P","fields":[{"name":"a","type":"int"},{"name":"n","type":"null"},{"name":"b","type":"string"}]}`, "02 02 78", map[string]any{"a": int64(1), "n": nil, "b": "x"}},
		"list":              {`{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}`, "02 02 00", map[string]any{"next": map[string]any{"next": map[string]any{"next": nil}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, c.schema)
			payload := schemas.Payload{Bytes: unhex(t, c.bytes)}
			got := s.Reads(s, payload, schemas.ReadOptions{Value: true})
			if !got.OK() || len(got.Losses) > 0 {
				t.Fatal(got)
			}
			if diff := cmp.Diff(c.want, got.Value); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadsRefuses(t *testing.T) {
	t.Parallel()
	order := `{"type":"record","name":"Order","fields":[{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[{"name":"sku","type":"string"},{"name":"props","type":{"type":"map","values":"boolean"}}]}}}]}`
	for name, c := range map[string]struct {
		schema, bytes string
		kind          schemas.ViolationKind
		rule          string
		payload, at   string
		offset        int
	}{
		"empty":                       {`"int"`, "", schemas.Unreadable, "varint", "", "", 0},
		"left over":                   {`"int"`, "0200", schemas.Unreadable, "leftover", "", "", 1},
		"int beyond 32 bits":          {`"int"`, "8080808010", schemas.Unreadable, "varint", "", "", 0},
		"int of six bytes":            {`"int"`, "808080808000", schemas.Unreadable, "varint", "", "", 0},
		"long beyond 64 bits":         {`"long"`, "80808080808080808002", schemas.Unreadable, "varint", "", "", 0},
		"long of eleven bytes":        {`"long"`, "8080808080808080808000", schemas.Unreadable, "varint", "", "", 0},
		"boolean":                     {`"boolean"`, "02", schemas.Unreadable, "boolean", "", "", 0},
		"float cut":                   {`"float"`, "000000", schemas.Unreadable, "truncated", "", "", 0},
		"fixed cut":                   {`{"type":"fixed","name":"F","size":3}`, "0102", schemas.Unreadable, "truncated", "", "", 0},
		"length below zero":           {`"bytes"`, "01", schemas.Unreadable, "length", "", "", 0},
		"length beyond the end":       {`"string"`, "0a6162", schemas.Unreadable, "length", "", "", 0},
		"length of 64 bits":           {`"bytes"`, "feffffffffffffffff01", schemas.Unreadable, "length", "", "", 0},
		"not UTF-8":                   {`"string"`, "02ff", schemas.Unreadable, "utf8", "", "", 0},
		"surrogate in UTF-8":          {`"string"`, "06eda080", schemas.Unreadable, "utf8", "", "", 0},
		"symbol":                      {`{"type":"enum","name":"E","symbols":["A"]}`, "02", schemas.Unreadable, "enum-index", "", "", 0},
		"symbol below zero":           {`{"type":"enum","name":"E","symbols":["A"]}`, "01", schemas.Unreadable, "enum-index", "", "", 0},
		"enum without symbols":        {`{"type":"enum","name":"E","symbols":[]}`, "00", schemas.Unreadable, "enum-index", "", "", 0},
		"branch":                      {`["null","int"]`, "04", schemas.Unreadable, "union-index", "", "", 0},
		"branch below zero":           {`["null","int","string"]`, "01", schemas.Unreadable, "union-index", "", "", 0},
		"empty union":                 {`[]`, "00", schemas.Unreadable, "union-index", "", "", 0},
		"count beyond the end":        {`{"type":"array","items":"int"}`, "0c0202", schemas.Unreadable, "block-count", "", "", 0},
		"count without an end":        {`{"type":"array","items":"int"}`, "0202", schemas.Unreadable, "varint", "", "", 2},
		"smallest count":              {`{"type":"array","items":"int"}`, "ffffffffffffffffff01 02 02 00", schemas.Unreadable, "block-size", "", "", 0},
		"size of a block is another":  {`{"type":"array","items":"int"}`, "01 04 02 00 00", schemas.Unreadable, "block-size", "", "", 0},
		"size of a block below zero":  {`{"type":"array","items":"int"}`, "01 01 02 00", schemas.Unreadable, "block-size", "", "", 0},
		"key not UTF-8":               {`{"type":"map","values":"int"}`, "02 02 ff 02 00", schemas.Unreadable, "utf8", "", "", 1},
		"inside a record":             {order, "04 02 61 00 02 62 02 06 6b 2f 6c 05 00 00", schemas.Unreadable, "boolean", "/lines/1/props/k~1l", "/fields/0/type/items/fields/1/type/values", 11},
		"record that never ends":      {`{"type":"record","name":"P","fields":[{"name":"x","type":"P"}]}`, "02", schemas.Invalid, "endless", "", "", -1},
		"branch that never ends":      {`["null",{"type":"record","name":"P","fields":[{"name":"x","type":"P"}]}]`, "02", schemas.Unreadable, "endless", "", "/1", 1},
		"two records that never end":  {`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"record","name":"Q","fields":[{"name":"p","type":["P","Q"]}]}}]}`, "00", schemas.Invalid, "endless", "", "", -1},
		"list deeper than the limit":  {`{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]}]}`, strings.Repeat("02", 200) + "00", schemas.TooLarge, "depth", strings.Repeat("/next", 128), "", 128},
		"items deeper than the limit": {`{"type":"record","name":"L","fields":[{"name":"kids","type":{"type":"array","items":"L"}}]}`, strings.Repeat("02", 100) + strings.Repeat("00", 101), schemas.TooLarge, "depth", strings.Repeat("/kids/0", 64), "", 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, c.schema)
			got := s.Reads(s, schemas.Payload{Bytes: unhex(t, c.bytes)}, schemas.ReadOptions{})
			if len(got.Violations) != 1 {
				t.Fatalf("%d violations: %v", len(got.Violations), got.Violations)
			}
			if s.Reads(s, schemas.Payload{Bytes: unhex(t, c.bytes)}, schemas.ReadOptions{Verdict: true}).OK() {
				t.Error("it is taken where only the verdict is asked")
			}
			v := got.Violations[0]
			if v.Text == "" {
				t.Error("it has no text")
			}
			v.Text = ""
			want := schemas.Violation{Kind: c.kind, Payload: schemas.Pointer(c.payload), Schema: schemas.Pointer(c.at), Offset: c.offset, Rule: c.rule}
			if strings.Contains(name, "deeper") {
				v.Schema, want.Schema = "", ""
			}
			if diff := cmp.Diff(want, v); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadsOfAnotherWriter(t *testing.T) {
	t.Parallel()
	user := func(fields string) string { return `{"type":"record","name":"User","fields":[` + fields + `]}` }
	nick, age := `{"name":"nick","type":"string"}`, `{"name":"age","type":"int","default":18}`
	enum := func(symbols string) string { return `{"type":"enum","name":"E","symbols":[` + symbols + `]}` }
	for name, c := range map[string]struct {
		writer, reader, bytes string
		want                  any    // value, where it is read
		loss                  string // kind and pointer of the only loss
		refused               string // rules, where it is not
	}{
		"field added with default":     {user(nick), user(nick + "," + age), "06616e61", map[string]any{"nick": "ana", "age": int64(18)}, "", ""},
		"field added without default":  {user(nick), user(nick + `,{"name":"age","type":"int"}`), "06616e61", nil, "", "field-missing at  by /fields/1"},
		"nullable without default":     {user(nick), user(nick + `,{"name":"note","type":["null","string"]}`), "06616e61", nil, "", "field-missing at  by /fields/1"},
		"field removed":                {user(nick + "," + age), user(nick), "06616e61 3c", map[string]any{"nick": "ana"}, "", ""},
		"removed field is checked":     {user(nick + `,{"name":"b","type":"boolean"}`), user(nick), "06616e61 07", nil, "", "boolean at /b by "},
		"fields reordered":             {user(`{"name":"a","type":"string"},{"name":"b","type":"int"}`), user(`{"name":"b","type":"int"},{"name":"a","type":"string"}`), "0278 02", map[string]any{"a": "x", "b": int64(1)}, "", ""},
		"field renamed by alias":       {user(nick), user(`{"name":"login","aliases":["nick"],"type":"string"}`), "06616e61", map[string]any{"login": "ana"}, "", ""},
		"alias and name both there":    {user(nick + `,{"name":"login","type":"string"}`), user(`{"name":"login","aliases":["nick"],"type":"string"}`), "0261 0262", nil, "", "field-ambiguous at  by /fields/0"},
		"two readers of one alias":     {user(nick), user(`{"name":"a","aliases":["nick"],"type":"string"},{"name":"b","aliases":["nick"],"type":"string","default":"-"}`), "06616e61", map[string]any{"a": "ana", "b": "-"}, "", ""},
		"name before alias":            {user(nick), user(`{"name":"a","aliases":["nick"],"type":"string","default":"-"},{"name":"nick","type":"string"}`), "06616e61", map[string]any{"a": "-", "nick": "ana"}, "", ""},
		"record renamed":               {user(nick), strings.Replace(user(nick), "User", "Person", 1), "06616e61", nil, "", "name at  by "},
		"record renamed by alias":      {user(nick), strings.Replace(user(nick), `"User"`, `"Person","aliases":["User"]`, 1), "06616e61", map[string]any{"nick": "ana"}, "", ""},
		"namespace changed":            {user(nick), strings.Replace(user(nick), "User", "a.User", 1), "06616e61", map[string]any{"nick": "ana"}, "", ""},
		"alias of another namespace":   {strings.Replace(user(nick), "User", "b.User", 1), strings.Replace(user(nick), `"User"`, `"a.Person","aliases":["User"]`, 1), "06616e61", nil, "", "name at  by "},
		"int to long":                  {`"int"`, `"long"`, "0e", int64(7), "", ""},
		"int to float":                 {`"int"`, `"float"`, "0e", 7.0, "", ""},
		"int to float, digits":         {`"int"`, `"float"`, "82808010", 16777216.0, "out of range at ", ""},
		"int to double":                {`"int"`, `"double"`, "ffffffff0f", -2147483648.0, "", ""},
		"long to float":                {`"long"`, `"float"`, "0e", 7.0, "", ""},
		"long to double":               {`"long"`, `"double"`, "0e", 7.0, "", ""},
		"long to double, digits":       {`"long"`, `"double"`, "8280808080808020", 9007199254740992.0, "out of range at ", ""},
		"largest long to double":       {`"long"`, `"double"`, "feffffffffffffffff01", 9223372036854775808.0, "out of range at ", ""},
		"smallest long to double":      {`"long"`, `"double"`, "ffffffffffffffffff01", -9223372036854775808.0, "", ""},
		"float to double":              {`"float"`, `"double"`, "0000c03f", 1.5, "", ""},
		"string to bytes":              {`"string"`, `"bytes"`, "0278", []byte("x"), "", ""},
		"bytes to string":              {`"bytes"`, `"string"`, "0278", "x", "", ""},
		"bytes to string, not UTF-8":   {`"bytes"`, `"string"`, "02ff", "\uFFFD", "altered at ", ""},
		"long to int":                  {`"long"`, `"int"`, "0e", nil, "", "type at  by "},
		"string to int":                {`"string"`, `"int"`, "0278", nil, "", "type at  by "},
		"array to map":                 {`{"type":"array","items":"int"}`, `{"type":"map","values":"int"}`, "00", nil, "", "type at  by "},
		"items widened":                {`{"type":"array","items":"int"}`, `{"type":"array","items":"double"}`, "020e00", []any{7.0}, "", ""},
		"values widened":               {`{"type":"map","values":"int"}`, `{"type":"map","values":"long"}`, "02026b0e00", map[string]any{"k": int64(7)}, "", ""},
		"loss inside":                  {`{"type":"map","values":"long"}`, `{"type":"map","values":"double"}`, "02026b828080808080802000", map[string]any{"k": 9007199254740992.0}, "out of range at /k", ""},
		"made nullable":                {`"string"`, `["null","string"]`, "0278", "x", "", ""},
		"null to string":               {`["null","string"]`, `"string"`, "00", nil, "", "type at  by "},
		"value of a union to its type": {`["null","string"]`, `"string"`, "020278", "x", "", ""},
		"branch unknown":               {`["null","int"]`, `["null","string"]`, "020e", nil, "", "union-branch at  by "},
		"branch widened":               {`["null","int"]`, `["double","null"]`, "020e", 7.0, "", ""},
		"nearest promotion":            {`"int"`, `["double","float","long"]`, "0e", int64(7), "", ""},
		"unions reordered":             {`["null","string"]`, `["string","null"]`, "020278", "x", "", ""},
		"full name before simple name": {`{"type":"record","name":"b.R","fields":[{"name":"x","type":"int"}]}`, `[{"type":"record","name":"a.R","fields":[{"name":"x","type":"double"}]},{"type":"record","name":"b.R","fields":[{"name":"x","type":"int"}]}]`, "0e", map[string]any{"x": int64(7)}, "", ""},
		"the branch that reads it":     {`{"type":"record","name":"c.R","fields":[{"name":"x","type":"int"}]}`, `[{"type":"record","name":"a.R","fields":[{"name":"y","type":"int"}]},{"type":"record","name":"b.R","fields":[{"name":"x","type":"long"}]}]`, "0e", map[string]any{"x": int64(7)}, "", ""},
		"a branch that reads some":     {enum(`"A","B"`), `["null",` + enum(`"A"`) + `]`, "00", "A", "", ""},
		"a branch that reads others":   {enum(`"A","B"`), `["null",` + enum(`"A"`) + `]`, "02", nil, "", "enum-symbol at  by /1"},
		"symbols reordered":            {enum(`"A","B"`), enum(`"B","A"`), "02", "B", "", ""},
		"symbol unknown":               {enum(`"A","B"`), enum(`"A"`), "02", nil, "", "enum-symbol at  by "},
		"symbol known":                 {enum(`"A","B"`), enum(`"A"`), "00", "A", "", ""},
		"symbol replaced":              {enum(`"A","B"`), strings.Replace(enum(`"A"`), `}`, `,"default":"A"}`, 1), "02", "A", "altered at ", ""},
		"enum renamed":                 {enum(`"A"`), strings.Replace(enum(`"A"`), `"E"`, `"F"`, 1), "00", nil, "", "name at  by "},
		"fixed of another size":        {`{"type":"fixed","name":"F","size":2}`, `{"type":"fixed","name":"F","size":4}`, "6162", nil, "", "fixed-size at  by "},
		"default is no symbol":         {user(nick), user(nick + `,{"name":"e","type":` + enum(`"A"`) + `,"default":"Z"}`), "06616e61", nil, "", "default at  by /fields/1"},
		"default of another length":    {user(nick), user(nick + `,{"name":"f","type":{"type":"fixed","name":"F","size":2},"default":"abc"}`), "06616e61", nil, "", "default at  by /fields/1"},
		"defaults of every kind": {
			user(nick), user(nick + `,{"name":"a","type":"null","default":null},{"name":"b","type":"boolean","default":true},{"name":"c","type":"long","default":5},{"name":"d","type":"float","default":1.5},{"name":"e","type":"double","default":"NaN"},{"name":"f","type":"bytes","default":"\u00ff"},{"name":"g","type":` + enum(`"A"`) + `,"default":"A"},{"name":"h","type":{"type":"array","items":["null","int"]},"default":[null,1]},{"name":"i","type":{"type":"map","values":"string"},"default":{"k":"v"}},{"name":"j","type":{"type":"record","name":"Q","fields":[{"name":"x","type":"int","default":3},{"name":"y","type":["null","string"],"default":"null"}]},"default":{}},{"name":"l","type":{"type":"fixed","name":"F","size":1},"default":"\u0001"}`), "06616e61",
			map[string]any{"nick": "ana", "a": nil, "b": true, "c": int64(5), "d": 1.5, "e": "NaN", "f": []byte{0xff}, "g": "A", "h": []any{nil, int64(1)}, "i": map[string]any{"k": "v"}, "j": map[string]any{"x": int64(3), "y": "null"}, "l": []byte{1}},
			"", "",
		},
		"two violations":    {user(`{"name":"a","type":"string"},{"name":"b","type":"int"}`), user(`{"name":"a","type":"int"},{"name":"b","type":"string"}`), "0278 02", nil, "", "type at /a by /fields/0/type; type at /b by /fields/1/type"},
		"decimal rescaled":  {`{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}`, `{"type":"bytes","logicalType":"decimal","precision":9,"scale":4}`, "0403e8", []byte{3, 0xe8}, "", ""},
		"recursive widened": {`{"type":"record","name":"L","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","L"]}]}`, `{"type":"record","name":"L","fields":[{"name":"next","type":["null","L"]},{"name":"v","type":"long"}]}`, "02020400", map[string]any{"v": int64(1), "next": map[string]any{"v": int64(2), "next": nil}}, "", ""},
		"endless reader":    {`{"type":"record","name":"P","fields":[]}`, `{"type":"record","name":"P","fields":[{"name":"x","type":"P"}]}`, "", nil, "", "field-missing at  by /fields/0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writer, reader := mustParse(t, c.writer), mustParse(t, c.reader)
			payload := schemas.Payload{Bytes: unhex(t, c.bytes)}
			got := reader.Reads(writer, payload, schemas.ReadOptions{Value: true})
			again := reader.Reads(writer, payload, schemas.ReadOptions{})
			if diff := cmp.Diff(got.Violations, again.Violations); diff != "" {
				t.Errorf("with and without a value:\n%s", diff)
			}
			if diff := cmp.Diff(got.Losses, again.Losses); diff != "" {
				t.Errorf("with and without a value:\n%s", diff)
			}
			var refused []string
			for _, v := range got.Violations {
				refused = append(refused, fmt.Sprintf("%s at %s by %s", v.Rule, v.Payload, v.Schema))
			}
			if r := strings.Join(refused, "; "); r != c.refused {
				t.Fatalf("\n got %s\nwant %s", r, c.refused)
			}
			if name == "defaults of every kind" {
				value := got.Value.(map[string]any)
				value["e"] = fmt.Sprint(value["e"]) // NaN is unequal to itself
			}
			if diff := cmp.Diff(c.want, got.Value); diff != "" {
				t.Error(diff)
			}
			loss := ""
			for _, l := range got.Losses {
				loss += map[schemas.LossKind]string{schemas.Lost: "lost", schemas.Altered: "altered", schemas.AlteredOutOfRange: "out of range"}[l.Kind] + " at " + string(l.Payload)
			}
			if loss != c.loss {
				t.Errorf("loss is %q, want %q", loss, c.loss)
			}
		})
	}
}

func TestReadsOtherCircumstances(t *testing.T) {
	t.Parallel()
	s := mustParse(t, `"string"`)
	for name, c := range map[string]struct {
		writer  schemas.Schema
		payload string
		options schemas.ReadOptions
		kind    schemas.ViolationKind
		rule    string
	}{
		"no writer":             {nil, "00", schemas.ReadOptions{}, schemas.Invalid, "format"},
		"a nil writer":          {(*avro.Schema)(nil), "00", schemas.ReadOptions{}, schemas.Invalid, "format"},
		"payload over the size": {s, "0278", schemas.ReadOptions{Bytes: 1}, schemas.TooLarge, "bytes"},
		"steps of the caller":   {s, "0278", schemas.ReadOptions{Steps: 1}, schemas.TooComplex, "steps"},
	} {
		got := s.Reads(c.writer, schemas.Payload{Bytes: unhex(t, c.payload)}, c.options)
		if len(got.Violations) != 1 || got.Violations[0].Kind != c.kind || got.Violations[0].Rule != c.rule {
			t.Errorf("%s: %v", name, got.Violations)
		}
	}
	// Two parses of one text are one schema: no resolution, so an alias that
	// would be ambiguous does not matter.
	text := `{"type":"record","name":"P","fields":[{"name":"a","type":"int","aliases":["b"]},{"name":"b","type":"int"}]}`
	if r := mustParse(t, text).Reads(mustParse(t, " "+text), schemas.Payload{Bytes: []byte{2, 4}}, schemas.ReadOptions{}); !r.OK() {
		t.Error(r.Violations)
	}
	// Nor does it where one schema is spelled in another way; a schema that has one
	// thing more is another schema.
	const spelled = `{"type":"record","name":"P","fields":[{"name":"a","type":"double","aliases":["b"],"default":%s},{"name":"b","type":"int"%s}]}`
	payload := schemas.Payload{Bytes: make([]byte, 9)}
	for writer, want := range map[string]bool{
		fmt.Sprintf(spelled, "0", ""): true, fmt.Sprintf(spelled, "0.0", ""): true, fmt.Sprintf(spelled, "1", ""): false, fmt.Sprintf(spelled, "0", `,"doc":"d"`): false,
	} {
		if r := mustParse(t, fmt.Sprintf(spelled, "0", "")).Reads(mustParse(t, writer), payload, schemas.ReadOptions{}); r.OK() != want {
			t.Errorf("%s: %v", writer, r.Violations)
		}
	}
	// Violations stop at the limit.
	list := mustParse(t, `{"type":"array","items":"int"}`)
	texts := mustParse(t, `{"type":"array","items":"string"}`)
	if r := texts.Reads(list, schemas.Payload{Bytes: append([]byte{100}, make([]byte, 51)...)}, schemas.ReadOptions{Violations: 3}); len(r.Violations) != 3 {
		t.Errorf("%d violations", len(r.Violations))
	}
}

// TestReadsStoredDefaults fills in what only stored schemas may have.
func TestReadsStoredDefaults(t *testing.T) {
	t.Parallel()
	writer := mustParse(t, `{"type":"record","name":"Parcel","fields":[]}`)
	for name, text := range map[string]string{
		"null for a string":        withDefault(`"string"`, `null`),
		"text for a number":        withDefault(`"long"`, `"1"`),
		"number for bytes":         withDefault(`"bytes"`, `1`),
		"object for an array":      withDefault(`{"type":"array","items":"int"}`, `{}`),
		"item":                     withDefault(`{"type":"array","items":"int"}`, `[null]`),
		"array for a map":          withDefault(`{"type":"map","values":"int"}`, `[]`),
		"value of a map":           withDefault(`{"type":"map","values":"int"}`, `{"a":null}`),
		"text for a record":        withDefault(`{"type":"record","name":"Q","fields":[]}`, `"x"`),
		"member missing":           withDefault(`{"type":"record","name":"Q","fields":[{"name":"a","type":"int"}]}`, `{}`),
		"no branch":                withDefault(`["null","int"]`, `"x"`),
		"bytes beyond U+00FF":      withDefault(`"bytes"`, `"日"`),
		"a record that needs self": withDefault(`{"type":"record","name":"Q","fields":[{"name":"q","type":"Q","default":{}}]}`, `{}`),
	} {
		reader, err := parse(text, schemas.Stored)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := reader.Reads(writer, schemas.Payload{}, schemas.ReadOptions{Value: true})
		if len(got.Violations) != 1 || got.Violations[0].Rule != "default" || got.Violations[0].Schema != "/fields/0" {
			t.Errorf("%s: %v", name, got.Violations)
		}
	}
	// Defaults that lean on defaults, twice at each level, are too much to build
	// and no reason to refuse the payload.
	reader := mustParse(t, strings.Replace(withDefault(`"R0"`, `{}`), `"fields":[`, `"fields":[{"name":"u","type":[`+strings.Trim(strings.Replace(doubling(30, `"int"`, `,"default":{}`), `"int","default":{}`, `"int","default":1`, 2), "[]")+`],"default":{}},`, 1))
	if got := reader.Reads(writer, schemas.Payload{}, schemas.ReadOptions{}); !got.OK() {
		t.Error(got.Violations)
	}
	if got := reader.Reads(writer, schemas.Payload{}, schemas.ReadOptions{Value: true}); got.OK() || got.Violations[0].Kind != schemas.TooComplex {
		t.Error(got.Violations)
	}
}

func TestReadsForgetsOldWriters(t *testing.T) {
	t.Parallel()
	reader := mustParse(t, `{"type":"record","name":"P","fields":[{"name":"a","type":"int"}]}`)
	for round := range 2 {
		for i := range 100 {
			writer := mustParse(t, fmt.Sprintf(`{"type":"record","name":"P","fields":[{"name":"a","type":"int"},{"name":"f%d","type":"int"}]}`, i))
			if r := reader.Reads(writer, schemas.Payload{Bytes: []byte{2, 4}}, schemas.ReadOptions{}); !r.OK() {
				t.Fatal(round, i, r.Violations)
			}
		}
	}
}

func TestReadsAllocatesNothing(t *testing.T) {
	s := mustParse(t, eventSchema)
	older := mustParse(t, strings.Replace(eventSchema, `{"name":"total"`, `{"name":"gone","type":"null"},{"name":"total"`, 1))
	for _, size := range payloadSizes {
		payload := schemas.Payload{Bytes: eventPayload(size.items)}
		for name, writer := range map[string]*avro.Schema{"own": s, "older": older} {
			if n := testing.AllocsPerRun(20, func() {
				if r := s.Reads(writer, payload, schemas.ReadOptions{}); !r.OK() {
					t.Fatal(r.Violations)
				}
			}); n > 0 {
				t.Errorf("%s, %s writer: %v allocations", size.name, name, n)
			}
		}
	}
}

func TestReadsAssertsLogicalTypes(t *testing.T) {
	t.Parallel()
	decimal := `{"type":"bytes","logicalType":"decimal","precision":3,"scale":1}`
	for name, c := range map[string]struct {
		schema, bytes string
		want          bool
	}{
		"999":                     {decimal, "04 03e7", true},
		"1000":                    {decimal, "04 03e8", false},
		"-999":                    {decimal, "04 fc19", true},
		"-1000":                   {decimal, "04 fc18", false},
		"999 with sign bytes":     {decimal, "0c 0000000003e7", true},
		"-1 with sign bytes":      {decimal, "08 ffffffff", true},
		"no bytes":                {decimal, "00", true},
		"far more digits":         {decimal, "10 7fffffffffffffff", false},
		"fixed decimal":           {`{"type":"fixed","name":"D","size":2,"logicalType":"decimal","precision":2}`, "0064", false},
		"decimal that is ignored": {`{"type":"bytes","logicalType":"decimal","precision":0}`, "04 03e8", true},
		"end of the day":          {`{"type":"int","logicalType":"time-millis"}`, "feef b152", true},
		"the next day":            {`{"type":"int","logicalType":"time-millis"}`, "80f0 b252", false},
		"before the day":          {`{"type":"long","logicalType":"time-micros"}`, "01", false},
		"UUID":                    {`{"type":"string","logicalType":"uuid"}`, "48" + hex.EncodeToString([]byte("03f12125-0e8f-e0b8-3e84-a1ee2bdbbfca")), true},
		"UUID without hyphens":    {`{"type":"string","logicalType":"uuid"}`, "40" + hex.EncodeToString([]byte("03f121250e8fe0b83e84a1ee2bdbbfca")), false},
		"any fixed UUID":          {`{"type":"fixed","name":"U","size":16,"logicalType":"uuid"}`, strings.Repeat("ff", 16), true},
		"any date":                {`{"type":"int","logicalType":"date"}`, "ffffffff0f", true},
	} {
		s := mustParse(t, c.schema)
		payload := schemas.Payload{Bytes: unhex(t, c.bytes)}
		if r := s.Reads(s, payload, schemas.ReadOptions{}); !r.OK() {
			t.Errorf("%s: refused without the option: %v", name, r.Violations)
		}
		r := s.Reads(s, payload, schemas.ReadOptions{Formats: true})
		if r.OK() != c.want || !c.want && r.Violations[0].Rule != "logical-type" {
			t.Errorf("%s: got %v", name, r.Violations)
		}
	}
	large := mustParse(t, `{"type":"bytes","logicalType":"decimal","precision":2000000000}`)
	payload := text(nil, strings.Repeat("\x7f", 4<<20))
	bounded(t, 64<<20, func() { large.Reads(large, schemas.Payload{Bytes: payload}, schemas.ReadOptions{Formats: true}) })
}
