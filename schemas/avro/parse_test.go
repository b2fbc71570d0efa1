package avro_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cartorio-registry/cartorio/schemas"
	"github.com/cartorio-registry/cartorio/schemas/avro"
)

func parse(text string, mode schemas.Mode) (*avro.Schema, error) {
	return avro.Parse(context.Background(), schemas.Source{Type: schemas.Avro, Text: text}, nil, schemas.ParseOptions{Mode: mode})
}

// field puts a type into a record, as the type of its only field.
func field(typ string) string {
	return `{"type":"record","name":"Parcel","fields":[{"name":"x","type":` + typ + `}]}`
}

// withDefault gives the only field a default.
func withDefault(typ, value string) string {
	return `{"type":"record","name":"Parcel","fields":[{"name":"x","type":` + typ + `,"default":` + value + `}]}`
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bare word":                               `"int"`,
		"word in an object":                       `{"type":"int"}`,
		"unknown attributes":                      `{"type":"int","owner":{"team":"a"},"pii":null}`,
		"attribute of another kind":               `{"type":"array","items":"int","size":3,"symbols":true}`,
		"block comment":                           `/* why */ {"type": /* word */ "int"}`,
		"line comment":                            "{\"type\":\"int\" // why\n}",
		"duplicate member":                        `{"type":"string","type":"int"}`,
		"white space around":                      " \n\t\"int\"\r\n ",
		"error":                                   `{"type":"error","name":"Failure","fields":[]}`,
		"no fields at all":                        `{"type":"record","name":"Parcel","fields":[]}`,
		"fields that differ in case":              `{"type":"record","name":"P","fields":[{"name":"x","type":"int"},{"name":"X","type":"int"}]}`,
		"no symbols":                              `{"type":"enum","name":"E","symbols":[]}`,
		"enum default null":                       `{"type":"enum","name":"E","symbols":["A"],"default":null}`,
		"enum default that is no text":            `{"type":"enum","name":"E","symbols":["A"],"default":7}`,
		"fixed of no bytes":                       `{"type":"fixed","name":"F","size":0}`,
		"fixed of the most bytes":                 `{"type":"fixed","name":"F","size":2147483647}`,
		"empty union":                             `[]`,
		"union in a union's record":               `["null",{"type":"record","name":"P","fields":[{"name":"x","type":["null","int"]}]}]`,
		"array and map in a union":                `[{"type":"array","items":"int"},{"type":"map","values":"int"}]`,
		"one simple name in two namespaces":       `[{"type":"fixed","name":"a.F","size":1},{"type":"fixed","name":"b.F","size":1}]`,
		"name before its definition":              `{"type":"record","name":"P","fields":[{"name":"x","type":"Q"},{"name":"y","type":{"type":"fixed","name":"Q","size":2}}]}`,
		"branch before its definition":            `["Q",{"type":"record","name":"P","fields":[{"name":"y","type":{"type":"fixed","name":"Q","size":2}}]}]`,
		"same definition twice":                   `{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":2,"doc":"a"}},{"name":"y","type":{"type":"fixed","name":"F","size":2,"aliases":["G"]}}]}`,
		"same record twice":                       `[{"type":"array","items":{"type":"record","name":"Q","fields":[{"name":"x","type":["null","Q"]}]}},{"type":"map","values":{"type":"record","name":"Q","fields":[{"name":"x","type":["null","Q"]}]}}]`,
		"primitive's name in a namespace":         `{"type":"fixed","name":"ns.int","size":1}`,
		"complex word as a name":                  `{"type":"record","name":"record","fields":[{"name":"x","type":["null","record"]}]}`,
		"array as a name":                         `{"type":"enum","name":"array","symbols":["A"]}`,
		"leading dot":                             `{"type":"fixed","name":".F","size":1}`,
		"reference with a leading dot":            `{"type":"record","name":"n.P","fields":[{"name":"x","type":{"type":"fixed","name":".F","size":1}},{"name":"y","type":".F"}]}`,
		"namespace null":                          `{"type":"fixed","name":"F","namespace":null,"size":1}`,
		"namespace that is no text":               `{"type":"fixed","name":"F","namespace":5,"size":1}`,
		"dotted name and a malformed namespace":   `{"type":"fixed","name":"a.F","namespace":"-","size":1}`,
		"simple name found in the null namespace": `{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":{"type":"record","name":"n.Q","fields":[{"name":"z","type":"F"}]}}]}`,
		"field alias of a sibling":                `{"type":"record","name":"P","fields":[{"name":"x","type":"int","aliases":["y"]},{"name":"y","type":"int"}]}`,
		"field alias that is no name":             `{"type":"record","name":"P","fields":[{"name":"x","type":"int","aliases":["not a name"]}]}`,
		"no aliases":                              `{"type":"fixed","name":"F","size":1,"aliases":[]}`,
		"order in any case":                       `{"type":"record","name":"P","fields":[{"name":"x","type":"int","order":"DescEnding"}]}`,
		"doc that is no text":                     `{"type":"fixed","name":"F","size":1,"doc":5}`,
		"logical type unknown":                    `{"type":"int","logicalType":"moon-phase"}`,
		"logical type on the wrong base":          `{"type":"string","logicalType":"date"}`,
		"logical type that is no text":            `{"type":"int","logicalType":["date"]}`,
		"decimal without precision":               `{"type":"bytes","logicalType":"decimal"}`,
		"decimal with a scale over its precision": `{"type":"bytes","logicalType":"decimal","precision":2,"scale":3}`,
		"logical type on the field":               `{"type":"record","name":"P","fields":[{"name":"x","type":"int","logicalType":"date"}]}`,
		"pattern of a validated string":           `{"type":"string","logicalType":"validated-string","pattern":5}`,
		"record that contains itself":             `{"type":"record","name":"P","fields":[{"name":"x","type":"P"}]}`,
		"escapes in names":                        `{"type":"fixed","name":"\u0046","size":1}`,

		"default: null":                         withDefault(`"null"`, `null`),
		"default: boolean":                      withDefault(`"boolean"`, `true`),
		"default: smallest int":                 withDefault(`"int"`, `-2147483648`),
		"default: largest long":                 withDefault(`"long"`, `9223372036854775807`),
		"default: float as an integer":          withDefault(`"float"`, `3`),
		"default: double with an exponent":      withDefault(`"double"`, `1e3`),
		"default: NaN":                          withDefault(`"double"`, `"NaN"`),
		"default: infinity":                     withDefault(`"float"`, `"-Infinity"`),
		"default: double as text":               withDefault(`"double"`, `" 1.5f "`),
		"default: hexadecimal double":           withDefault(`"double"`, `"0x1p3"`),
		"default: bytes beyond U+00FF":          withDefault(`"bytes"`, `"日"`),
		"default: fixed of another length":      withDefault(`{"type":"fixed","name":"F","size":2}`, `"abc"`),
		"default: no symbol":                    withDefault(`{"type":"enum","name":"E","symbols":["A"]}`, `"Z"`),
		"default: array":                        withDefault(`{"type":"array","items":"int"}`, `[1,2]`),
		"default: map":                          withDefault(`{"type":"map","values":"int"}`, `{"a":1}`),
		"default: record, member by its own":    withDefault(`{"type":"record","name":"Q","fields":[{"name":"a","type":"int","default":1}]}`, `{}`),
		"default: record, unknown member":       withDefault(`{"type":"record","name":"Q","fields":[]}`, `{"z":1}`),
		"default: later branch":                 withDefault(`["null","string"]`, `"x"`),
		"default: text that looks like null":    withDefault(`["null","string"]`, `"null"`),
		"default: branch of the base type":      withDefault(`["null",{"type":"long","logicalType":"timestamp-millis"}]`, `5`),
		"default: union inside an array":        withDefault(`{"type":"array","items":["null","int"]}`, `[null,1]`),
		"default: null for its own record":      `{"type":"record","name":"P","fields":[{"name":"next","type":["null","P"],"default":null}]}`,
		"default: of a type defined afterwards": `{"type":"record","name":"P","fields":[{"name":"x","type":"E","default":"A"},{"name":"y","type":{"type":"enum","name":"E","symbols":["A"]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(text, schemas.New)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			// What is accepted is accepted again as it is stored, and stays.
			for _, again := range []string{s.Canonical(), first(s.Normalized())} {
				back, err := parse(again, schemas.New)
				if err != nil {
					t.Fatalf("the stored text %s is refused: %v", again, err)
				}
				if again == s.Canonical() && (back.Canonical() != again || back.Fingerprint() != s.Fingerprint()) {
					t.Errorf("the stored text %s is printed as %s", again, back.Canonical())
				}
				if n, _ := back.Normalized(); n != first(s.Normalized()) {
					t.Errorf("%s normalizes to %s, then to %s", text, first(s.Normalized()), n)
				}
			}
		})
	}
}

func first(text string, _ []schemas.Reference) string { return text }

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		at      string // pointer of the first fault
		summary string // part of its summary
	}{
		"empty":                        {``, "", "the text ends"},
		"no JSON":                      {`{"type":}`, "", "where a JSON value is expected"},
		"text afterwards":              {`"int" "int"`, "", "text after the end"},
		"a number":                     {`5`, "", "a number is no type"},
		"null":                         {`null`, "", "a null is no type"},
		"no type":                      {`{"name":"P","fields":[]}`, "", "an object without type"},
		"type of a type is an object":  {`{"type":{"type":"int"}}`, "/type", "the type of a type is an object"},
		"type of a type is a union":    {field(`{"type":["null","int"]}`), "/fields/0/type/type", "the type of a type is a union"},
		"type of a type is a number":   {`{"type":3}`, "/type", "the type of a type is a number"},
		"defined name in an object":    {`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":{"type":"F"}}]}`, "/fields/1/type/type", `the type "F" is none`},
		"enum on the field":            {`{"type":"record","name":"P","fields":[{"name":"x","type":"enum","symbols":["A"]}]}`, "/fields/0/type", `the type "enum" is not defined`},
		"array on the field":           {`{"type":"record","name":"P","fields":[{"name":"x","type":"array","items":"int"}]}`, "/fields/0/type", `"array"`},
		"map on the field":             {`{"type":"record","name":"P","fields":[{"name":"x","type":"map","values":"int"}]}`, "/fields/0/type", `"map"`},
		"fixed on the field":           {`{"type":"record","name":"P","fields":[{"name":"x","type":"fixed","size":2}]}`, "/fields/0/type", `"fixed"`},
		"record on the field":          {`{"type":"record","name":"P","fields":[{"name":"x","type":"record","fields":[]}]}`, "/fields/0/type", `"record"`},
		"no fields":                    {`{"type":"record","name":"P"}`, "", "record has no fields"},
		"fields that are no array":     {`{"type":"record","name":"P","fields":{}}`, "/fields", "not an array"},
		"field that is no object":      {`{"type":"record","name":"P","fields":["x"]}`, "/fields/0", "a field is a string"},
		"field without a name":         {`{"type":"record","name":"P","fields":[{"type":"int"}]}`, "/fields/0", "field has no name"},
		"field with a malformed name":  {`{"type":"record","name":"P","fields":[{"name":"a b","type":"int"}]}`, "/fields/0/name", `it has a ' '`},
		"field with a dotted name":     {`{"type":"record","name":"P","fields":[{"name":"a.b","type":"int"}]}`, "/fields/0/name", "malformed"},
		"field without a type":         {`{"type":"record","name":"P","fields":[{"name":"x"}]}`, "/fields/0", `field "x" has no type`},
		"field twice":                  {`{"type":"record","name":"P","fields":[{"name":"x","type":"int"},{"name":"x","type":"int"}]}`, "/fields/1/name", "there twice"},
		"no symbols":                   {`{"type":"enum","name":"E"}`, "", "enum has no symbols"},
		"symbols that are no array":    {`{"type":"enum","name":"E","symbols":"A"}`, "/symbols", "not an array"},
		"symbol twice":                 {`{"type":"enum","name":"E","symbols":["A","B","A"]}`, "/symbols/2", `the symbol "A" is there twice`},
		"symbol with a digit first":    {`{"type":"enum","name":"E","symbols":["1A"]}`, "/symbols/0", "it starts with a digit"},
		"symbol that is no text":       {`{"type":"enum","name":"E","symbols":[true]}`, "/symbols/0", "a symbol is a boolean"},
		"enum default is no symbol":    {`{"type":"enum","name":"E","symbols":["A"],"default":"B"}`, "/default", "no symbol"},
		"no size":                      {`{"type":"fixed","name":"F"}`, "", "fixed has no size"},
		"size as text":                 {`{"type":"fixed","name":"F","size":"4"}`, "/size", `the size "4"`},
		"size with a fraction":         {`{"type":"fixed","name":"F","size":4.0}`, "/size", "the size 4.0"},
		"size below zero":              {`{"type":"fixed","name":"F","size":-1}`, "/size", "the size -1"},
		"size beyond 32 bits":          {`{"type":"fixed","name":"F","size":2147483648}`, "/size", "the size"},
		"no items":                     {`{"type":"array"}`, "", "array has no items"},
		"no values":                    {field(`{"type":"map","items":"int"}`), "/fields/0/type", "map has no values"},
		"kind twice in a union":        {`["int","string","int"]`, "/2", `the branch "int" is there twice`},
		"int and date in a union":      {`["int",{"type":"int","logicalType":"date"}]`, "/1", "twice"},
		"two arrays in a union":        {`[{"type":"array","items":"int"},{"type":"array","items":"long"}]`, "/1", `"array"`},
		"two maps in a union":          {`[{"type":"map","values":"int"},{"type":"map","values":"long"}]`, "/1", `"map"`},
		"named type twice in a union":  {`[{"type":"fixed","name":"F","size":1},"F"]`, "/1", `"F"`},
		"union in a union":             {`["null",["int"]]`, "/1", "directly inside a union"},
		"two definitions":              {`[{"type":"array","items":{"type":"fixed","name":"F","size":1}},{"type":"fixed","name":"F","size":2}]`, "/1", "with other size"},
		"two definitions, attributes":  {`[{"type":"array","items":{"type":"fixed","name":"F","size":1}},{"type":"fixed","name":"F","size":1,"x":1}]`, "/1", "with other attributes"},
		"two definitions, defaults":    {`[{"type":"array","items":{"type":"record","name":"Q","fields":[{"name":"x","type":"int","default":1}]}},{"type":"record","name":"Q","fields":[{"name":"x","type":"int","default":2}]}]`, "/1", `fields (see "x")`},
		"definition inside itself":     {`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"record","name":"P","fields":[]}}]}`, "/fields/0/type/name", "defined inside itself"},
		"primitive's name":             {`{"type":"fixed","name":"bytes","size":1}`, "/name", "a type of Avro's own"},
		"empty name":                   {`{"type":"fixed","name":"","size":1}`, "/name", "it is empty"},
		"no name":                      {`{"type":"fixed","size":1}`, "", "fixed has no name"},
		"empty part of a namespace":    {`{"type":"fixed","name":"a..F","size":1}`, "/name", "empty part"},
		"trailing dot":                 {`{"type":"fixed","name":"a.","size":1}`, "/name", "it is empty"},
		"namespace with a leading dot": {`{"type":"fixed","name":"F","namespace":".a","size":1}`, "/namespace", "empty part"},
		"namespace with a dash":        {`{"type":"fixed","name":"F","namespace":"a-b","size":1}`, "/namespace", `"a-b"`},
		"namespace part with a digit":  {`{"type":"fixed","name":"a.1b.F","size":1}`, "/name", "starts with a digit"},
		"name with a dollar":           {`{"type":"fixed","name":"a.b$","size":1}`, "/name", "'$'"},
		"name of another script":       {`{"type":"fixed","name":"Größe","size":1}`, "/name", "'ö'"},
		"simple name elsewhere":        {`{"type":"record","name":"a.P","fields":[{"name":"x","type":{"type":"fixed","name":"b.F","size":1}},{"name":"y","type":"F"}]}`, "/fields/1/type", `"F" is not defined`},
		"alias as a name":              {`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1,"aliases":["G"]}},{"name":"y","type":"G"}]}`, "/fields/1/type", `"G" is not defined`},
		"aliases as text":              {`{"type":"fixed","name":"F","size":1,"aliases":"G"}`, "/aliases", "not an array"},
		"aliases null":                 {`{"type":"fixed","name":"F","size":1,"aliases":null}`, "/aliases", "not an array"},
		"alias that is no text":        {`{"type":"fixed","name":"F","size":1,"aliases":["A",1]}`, "/aliases/1", "an alias is a number"},
		"type alias that is no name":   {`{"type":"fixed","name":"F","size":1,"aliases":["a-b"]}`, "/aliases/0", "malformed"},
		"field aliases as text":        {`{"type":"record","name":"P","fields":[{"name":"x","type":"int","aliases":"y"}]}`, "/fields/0/aliases", "not an array"},
		"order unknown":                {`{"type":"record","name":"P","fields":[{"name":"x","type":"int","order":"sideways"}]}`, "/fields/0/order", "none of ascending"},
		"order null":                   {`{"type":"record","name":"P","fields":[{"name":"x","type":"int","order":null}]}`, "/fields/0/order", "none of ascending"},

		"default: null as text":                {withDefault(`"null"`, `"null"`), "/fields/0/default", `"null" is no null`},
		"default: boolean as text":             {withDefault(`"boolean"`, `"true"`), "/fields/0/default", "no boolean"},
		"default: int with a fraction":         {withDefault(`"int"`, `1.0`), "/fields/0/default", "1.0 is no int"},
		"default: int beyond 32 bits":          {withDefault(`"int"`, `2147483648`), "/fields/0/default", "no int"},
		"default: long beyond 64 bits":         {withDefault(`"long"`, `9223372036854775808`), "/fields/0/default", "no long"},
		"default: long as text":                {withDefault(`"long"`, `"1"`), "/fields/0/default", "no long"},
		"default: float as other text":         {withDefault(`"float"`, `"fast"`), "/fields/0/default", "is no number"},
		"default: double null":                 {withDefault(`"double"`, `null`), "/fields/0/default", "no double"},
		"default: NaN in an array":             {withDefault(`{"type":"array","items":"double"}`, `["NaN"]`), "/fields/0/default/0", "no double"},
		"default: string null":                 {withDefault(`"string"`, `null`), "/fields/0/default", "no string"},
		"default: bytes as a number":           {withDefault(`"bytes"`, `1`), "/fields/0/default", "no bytes"},
		"default: fixed as a number":           {withDefault(`{"type":"fixed","name":"F","size":1}`, `1`), "/fields/0/default", "no fixed"},
		"default: enum as a number":            {withDefault(`{"type":"enum","name":"E","symbols":["A"]}`, `0`), "/fields/0/default", "no enum"},
		"default: array as an object":          {withDefault(`{"type":"array","items":"int"}`, `{}`), "/fields/0/default", "no array"},
		"default: item":                        {withDefault(`{"type":"array","items":"int"}`, `[1,"2"]`), "/fields/0/default/1", "no int"},
		"default: map as an array":             {withDefault(`{"type":"map","values":"int"}`, `[]`), "/fields/0/default", "no map"},
		"default: map's value":                 {withDefault(`{"type":"map","values":"int"}`, `{"a/b":"2"}`), "/fields/0/default/a~1b", "no int"},
		"default: record as an array":          {withDefault(`{"type":"record","name":"Q","fields":[]}`, `[]`), "/fields/0/default", "no record"},
		"default: member missing":              {withDefault(`{"type":"record","name":"Q","fields":[{"name":"a","type":"int"}]}`, `{}`), "/fields/0/default", `the member "a" is missing`},
		"default: member of another kind":      {withDefault(`{"type":"record","name":"Q","fields":[{"name":"a","type":"int"}]}`, `{"a":"x"}`), "/fields/0/default/a", "no int"},
		"default: tagged branch":               {withDefault(`["null","string"]`, `{"string":"x"}`), "/fields/0/default", "no branch"},
		"default: no branch":                   {withDefault(`["null","string"]`, `5`), "/fields/0/default", "no branch"},
		"default: branch of an empty union":    {withDefault(`[]`, `null`), "/fields/0/default", "no branch"},
		"default: one that needs itself":       {`{"type":"record","name":"P","fields":[{"name":"x","type":"P","default":{}}]}`, "/fields/0/default", "never ends"},
		"default: inside a type inside":        {field(`{"type":"record","name":"Q","fields":[{"name":"a","type":"int","default":"x"}]}`), "/fields/0/type/fields/0/default", "no int"},
		"default: of a repeated definition":    {`[{"type":"array","items":{"type":"record","name":"Q","fields":[{"name":"x","type":"int","default":"1"}]}},{"type":"map","values":{"type":"record","name":"Q","fields":[{"name":"x","type":"int","default":"1"}]}}]`, "/0/items/fields/0/default", "no int"},
		"default: double by two words of sign": {withDefault(`"double"`, `"+-1"`), "/fields/0/default", "is no number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(c.text, schemas.New)
			var list schemas.SyntaxErrors
			if !errors.As(err, &list) {
				t.Fatalf("%s\nis answered by %v", c.text, err)
			}
			if string(list[0].Pointer) != c.at || !strings.Contains(list[0].Summary, c.summary) {
				t.Errorf("%s\n got %q at %q\nwant %q at %q", c.text, list[0].Summary, list[0].Pointer, c.summary, c.at)
			}
			if list[0].Position.Line == 0 || list[0].Position.Column == 0 {
				t.Errorf("%s is not placed", list[0])
			}
		})
	}
}

// TestStoredIsRead lists what a stored schema may have and a new one may not.
func TestStoredIsRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"name of another script":    `{"type":"record","name":"Größe","fields":[{"name":"数","type":{"type":"enum","name":"É","symbols":["ñ"]}}]}`,
		"namespace with a dash":     `{"type":"fixed","name":"F","namespace":"a-b.1c","size":1}`,
		"alias that is no name":     `{"type":"fixed","name":"F","size":1,"aliases":["not a name"]}`,
		"default of another kind":   withDefault(`"string"`, `null`),
		"default that needs itself": `{"type":"record","name":"P","fields":[{"name":"x","type":"P","default":{}}]}`,
		"long name":                 `{"type":"fixed","name":"` + strings.Repeat("N", 5000) + `","size":1}`,
		"deep":                      strings.Repeat(`{"type":"array","items":`, 500) + `"int"` + strings.Repeat(`}`, 500),
		"long number":               `{"type":"int","x":` + strings.Repeat("9", 5000) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := parse(text, schemas.New); err == nil {
				t.Error("it is accepted as new")
			}
			s, err := parse(text, schemas.Stored)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := parse(s.Canonical(), schemas.Stored); err != nil || back.Canonical() != s.Canonical() {
				t.Errorf("the canonical text is not stable: %v", err)
			}
		})
	}
	for name, text := range map[string]string{
		"dash in a name":       `{"type":"fixed","name":"a-b","size":1}`,
		"symbol with a space":  `{"type":"enum","name":"E","symbols":["a b"]}`,
		"default as no number": withDefault(`"double"`, `"fast"`),
	} {
		if _, err := parse(text, schemas.Stored); err == nil {
			t.Errorf("%s is accepted when stored", name)
		}
	}
}

func TestParseCollectsAllFaultsInReadingOrder(t *testing.T) {
	t.Parallel()
	_, err := parse(`{"type":"record","name":"Order","fields":[
  {"name":"a b","type":"int"},
  {"name":"c","type":"Text"},
  {"name":"d"},
  {"name":"e","type":{"type":"enum","name":"E","symbols":["A","A"],"default":"Z"}},
  {"name":"f","type":"integer"}]}`, schemas.New)
	var list schemas.SyntaxErrors
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Position.String()+" "+string(e.Pointer))
	}
	want := "2:11 /fields/0/name|3:22 /fields/1/type|4:3 /fields/2|5:63 /fields/3/type/symbols/1|5:78 /fields/3/type/default|6:22 /fields/4/type"
	if strings.Join(got, "|") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "|"), want)
	}
}

func TestParseGuessesWhatWasMeant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		field(`"String"`):                                  `write "string"`,
		field(`"integer"`):                                 `write "int" or "long"`,
		field(`"timestamp-millis"`):                        `{"type": "long", "logicalType": "timestamp-millis"}`,
		field(`"Nowhere"`):                                 `add a reference`,
		field(`{"type":"enumm"}`):                          `a defined type is used by its bare name`,
		withDefault(`["null","string"]`, `{"string":"x"}`): `write the value plainly`,
		withDefault(`"string"`, `null`):                    `["null", "string"]`,
		`{"type":"record","name":"a.P","fields":[{"name":"x","type":{"type":"fixed","name":"b.F","size":1}},{"name":"y","type":"F"}]}`: `did you mean "b.F"?`,
		`{"type":"record","name":"P","fields":[{"name":"x","type":{"type":"fixed","name":"F","size":1}},{"name":"y","type":"f"}]}`:     `did you mean "F"? names are case-sensitive`,
		`{"type":"record","name":"P","fields":[{"name":"x","type":"enum","symbols":["A"]}]}`:                                           `{"type": "enum", "name": …, "symbols": […]}`,
	} {
		if _, err := parse(text, schemas.New); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestParseKeepsPlaces(t *testing.T) {
	t.Parallel()
	s := mustParse(t, "{\"type\":\"record\",\"name\":\"P\",\"fields\":[\n {\"name\":\"x\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"F\",\"size\":1}]},\n {\"name\":\"y\",\"type\":\"F\"}]}")
	record := s.Root().Named
	union := record.Fields[0].Type
	for _, c := range []struct {
		got     schemas.Place
		pointer string
		from    string
	}{
		{s.Root().Place(), "", "1:1"},
		{record.Fields[0].Place(), "/fields/0", "2:2"},
		{union.Place(), "/fields/0/type", "2:21"},
		{union.Branches[1].Place(), "/fields/0/type/1", "2:29"},
		{union.Branches[1].Named.Place(), "/fields/0/type/1", "2:29"},
		{record.Fields[1].Type.Place(), "/fields/1/type", "3:21"},
		{record.Fields[1].Type.Named.Place(), "/fields/0/type/1", "2:29"},
	} {
		if string(c.got.Pointer) != c.pointer || c.got.Position.String() != c.from {
			t.Errorf("got %s at %s, want %s at %s", c.got.Pointer, c.got.Position, c.pointer, c.from)
		}
	}
}
